//! What is written for a user, and what is read of others: nobody else decides where it goes, nothing is written over,
//! and a disk without room is called so.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::{system, tree};

/// A user that is not the one who runs the tests.
const STRANGER: u32 = 65_534;

/// A new directory of this test.
fn folder(name: &str) -> PathBuf {
    let path = tree::scratch("files").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

fn ring() -> PathBuf {
    Build::program("live/ring.c").build()
}

fn oshprof(arguments: &[&str]) -> Outcome {
    Job::new(tree::tool("oshprof")).args(arguments).run()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("a directory").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_directory_that_another_user_prepared_gets_nothing() {
    if !system::is_root() {
        eprintln!("skipped: another user is played by root only");
        return;
    }
    let folder = folder("prepared");
    let victim = folder.join("victim");
    fs::write(&victim, "precious").unwrap();
    let trap = folder.join("trap");
    fs::create_dir(&trap).unwrap();
    for name in ["job.json", "job.new", "pe-00000.prof", "pe-00000.new", "pe-00000-000.trace", ".probe"] {
        symlink(&victim, trap.join(name)).unwrap();
    }
    chown(&trap, Some(STRANGER), Some(STRANGER)).unwrap();
    let both =
        |directory: &Path| [format!("--profile-dir={}", text(directory)), format!("--trace={}", text(directory))];
    for option in both(&trap) {
        Job::oshrun(1).arg(&option).arg(ring()).run().expect_code(0);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{option}");
    }
    assert_eq!(names(&trap).len(), 6, "nothing is added");
    assert!(names(&folder.join("trap.2")).contains(&"job.json".to_string()));
    // An empty one would be taken, and could be filled by its owner meanwhile.
    let empty = folder.join("empty");
    fs::create_dir(&empty).unwrap();
    chown(&empty, Some(STRANGER), Some(STRANGER)).unwrap();
    for option in both(&empty) {
        let outcome = Job::oshrun(1).arg(&option).arg(ring()).run().expect_code(1);
        assert!(outcome.stderr.contains("empty belongs to user 65534, who could"), "{}", outcome.describe());
        assert!(outcome.stdout.is_empty() && names(&empty).is_empty(), "{}", outcome.describe());
    }
}

/// `SHMEM_TRACE` and `SHMEM_PROFILE_DIR` without oshrun, and with it.
#[test]
fn directories_that_variables_name_are_not_written_over() {
    let folder = folder("variables");
    let (profile, trace) = (folder.join("p"), folder.join("t"));
    let job = |job: Job| job.env("SHMEM_PROFILE_DIR", &text(&profile)).env("SHMEM_TRACE", &text(&trace));
    let first = job(Job::new(ring())).run().expect_code(0);
    assert!(first.stderr.contains(&format!("oshprof report {}\n", text(&profile))), "{}", first.describe());
    assert!(first.stderr.contains(&format!("oshprof trace {} --to", text(&trace))), "{}", first.describe());
    let of = |path: &Path| names(path).iter().map(|name| fs::read(path.join(name)).unwrap()).collect::<Vec<_>>();
    let before = (of(&profile), of(&trace));
    job(Job::new(ring())).run().expect_code(0);
    job(Job::oshrun(2)).arg(ring()).run().expect_code(0);
    assert_eq!((of(&profile), of(&trace)), before);
    for (number, pes) in [(2, 1), (3, 2)] {
        let (profile, trace) = (format!("{}.{number}", text(&profile)), format!("{}.{number}", text(&trace)));
        let files = names(Path::new(&profile));
        let of_pes = files.iter().filter(|name| name.ends_with(".prof")).count();
        let others: Vec<_> = files.iter().map(String::as_str).filter(|name| !name.ends_with(".prof")).collect();
        // That of oshrun has its lines.
        let expected = if pes == 1 { vec!["job.json"] } else { vec!["job.json", "lines.json"] };
        assert_eq!((of_pes, others), (pes, expected));
        assert!(oshprof(&["report", &profile]).expect_code(0).stdout.contains("shmem_"));
        oshprof(&["trace", &trace, "--to", "csv"]).expect_code(0);
    }
    let refused = Job::new(ring()).env("SHMEM_TRACE", "/proc/zz").run().expect_failure();
    assert!(refused.stderr.contains("SHMEM_TRACE: cannot make /proc/zz"), "{}", refused.describe());
}

#[test]
fn an_empty_trace_recommends_nothing_and_leaves_nothing() {
    let folder = folder("empty-trace");
    let trace = folder.join("t");
    let outcome = Job::oshrun(1).arg(format!("--trace={}", text(&trace))).arg("true").run().expect_code(0);
    assert!(
        outcome.stderr.contains("the trace is empty") && !outcome.stderr.contains("oshprof"),
        "{}",
        outcome.describe()
    );
    assert!(!trace.exists());
}

/// What oshrun proposes can be pasted, whatever the name, and wherever oshprof is.
#[test]
fn the_proposed_commands_work() {
    let folder = folder("proposed");
    let tools = tree::tool("oshprof").parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let without = path.split(':').filter(|folder| !Path::new(folder).join("oshprof").exists());
    let without = without.collect::<Vec<_>>().join(":");
    let with = format!("{}:{without}", text(&tools));
    for (name, file, path) in [("t/", "t.pftrace", &with), ("my trace", "my trace.pftrace", &without)] {
        let job = Job::oshrun(2).arg(format!("--trace={name}")).arg("--profile").arg(ring()).directory(&folder);
        let outcome = job.env("PATH", path).run().expect_code(0);
        let proposed = |what: &str| {
            let rest = outcome.stderr.split(what).nth(1).unwrap_or_else(|| panic!("{what}: {}", outcome.describe()));
            rest.lines().next().unwrap().to_owned()
        };
        let pasted = |line: &str| {
            let job = Job::new("sh").args(["-c", line]).directory(&folder);
            job.env("PATH", path).run().expect_code(0).stdout
        };
        assert_eq!(proposed("to convert it: ").starts_with("oshprof "), *path == with, "{}", outcome.describe());
        assert_eq!(pasted(&proposed("to convert it: ")), "");
        assert!(fs::metadata(folder.join(file)).unwrap().len() > 1000);
        let seen = pasted(&proposed("to see what is in it: "));
        for part in ["2 PEs, ", "no event is missing", "longest waits in", "shmem_"] {
            assert!(seen.contains(part), "{part} is not in {seen}");
        }
        assert!(pasted(&proposed("to see it again: ")).contains("profile of "));
    }
}

#[test]
fn a_full_disk_is_called_so_and_no_empty_file_is_left() {
    let folder = folder("full");
    let profile = folder.join("p");
    Job::oshrun(1).args(["--profile", "--profile-dir"]).arg(&profile).arg(ring()).run().expect_code(0);
    let full = oshprof(&["report", &text(&profile), "--html", "/dev/full"]).expect_code(1);
    assert!(full.stderr.contains("cannot write /dev/full: the disk is full"), "{}", full.describe());
    let disk = folder.join("disk");
    fs::create_dir(&disk).unwrap();
    let script = "mount -t tmpfs -o size=16k none \"$1\" || exit 99; shift; \"$@\"; echo status $?; ls -A \"$LEFT\"";
    let outcome = Job::new("unshare")
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(&disk)
        .env("LEFT", &text(&disk))
        .arg(tree::tool("oshprof"))
        .args(["report", &text(&profile), "--html"])
        .arg(disk.join("r.html"))
        .run();
    if outcome.code() == 99 || outcome.stderr.contains("unshare") {
        eprintln!("skipped: no mount in a namespace here");
        return;
    }
    assert_eq!(outcome.stdout, "status 1\n", "nothing is left\n{}", outcome.describe());
    assert!(outcome.stderr.contains("r.html: the disk is full: No space left"), "{}", outcome.describe());
}

/// No file of the trace has room: what the PEs say of that stands, and no other cause is named.
#[test]
fn a_trace_for_which_there_was_no_room_is_not_said_to_be_of_no_calls() {
    let folder = folder("no-trace");
    let script =
        "mount -t tmpfs -o size=64k none \"$1\" && head -c 61440 /dev/zero >\"$1/fill\" || exit 99; shift; \"$@\"";
    let job = Job::new("unshare").args(["-Urm", "sh", "-c", script, "sh"]).arg(&folder).arg(tree::tool("oshrun"));
    let outcome = job.args(["-n", "2"]).arg(format!("--trace={}/t", text(&folder))).arg(ring()).run();
    if outcome.code() == 99 || outcome.stderr.contains("unshare") {
        eprintln!("skipped: no mount in a namespace here");
        return;
    }
    let outcome = outcome.expect_code(0).expect_text(&["trace: ", "oshrun: the trace is empty"]);
    assert!(!outcome.stderr.contains("no PE has recorded a call"), "{}", outcome.describe());
}

#[test]
fn a_trace_that_a_full_disk_cut_short_says_so() {
    let folder = folder("full-trace");
    let script = "mount -t tmpfs -o size=300k none \"$1\" || exit 99; shift; \"$@\"";
    let job = Job::new("unshare").args(["-Urm", "sh", "-c", script, "sh"]).arg(&folder).arg(tree::tool("oshrun"));
    // Its profile goes to where it is.
    let job = job.directory(&folder);
    let trace = format!("--trace={}", text(&folder.join("t")));
    let calls = Build::program("files/many.c").build();
    let outcome = job.args(["-n", "1", "--profile", "1,trace-detail=full", &trace]).arg(calls).run();
    if outcome.code() == 99 || outcome.stderr.contains("unshare") {
        eprintln!("skipped: no mount in a namespace here");
        return;
    }
    let parts = ["are lost: the disk is full: No space left"];
    assert!(parts.iter().all(|part| outcome.stderr.contains(part)), "{}", outcome.describe());
    assert!(!outcome.stderr.contains("SHMEM_TRACE_SIZE"), "{}", outcome.describe());
}

/// A process that calls itself oshrun and offers memory that it could take back.
#[test]
fn what_is_not_sealed_is_not_mapped() {
    let program = Build::program("files/pretends.c").build();
    let oshrun = folder("pretends").join("oshrun");
    fs::copy(program, &oshrun).unwrap();
    let start = |user: Option<u32>| {
        let mut command = Command::new(&oshrun);
        user.map(|user| command.uid(user).gid(user));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut ready = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).expect("it is ready");
        child
    };
    let mut child = start(None);
    for command in ["hang", "top"] {
        let outcome = oshprof(&[command, &child.id().to_string()]).expect_code(1);
        assert!(outcome.stderr.contains("the memory is not sealed"), "{}", outcome.describe());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    if !system::is_root() {
        eprintln!("skipped: another user is played by root only");
        return;
    }
    let mut child = start(Some(STRANGER));
    let named = oshprof(&["hang", &child.id().to_string()]).expect_code(1);
    assert!(named.stderr.contains("the memory is not sealed"), "root may name it\n{}", named.describe());
    let opened = Command::new("strace").arg("--version").stdout(Stdio::null()).status().is_ok();
    if opened {
        let log = oshrun.with_file_name("log");
        let traced = Job::new("strace").args(["-f", "-e", "trace=openat", "-o"]).arg(&log);
        traced.arg(tree::tool("oshprof")).arg("hang").run();
        let touched = format!("/proc/{}/fd", child.id());
        assert!(!fs::read_to_string(log).unwrap_or_default().contains(&touched), "unasked, it is not even looked at");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn names_with_control_bytes_are_text() {
    let folder = folder("names");
    let binary = folder.join("a\u{1b}[31m\nb");
    fs::copy(ring(), &binary).unwrap();
    let outcome = Job::oshrun(2).args(["--profile", "--trace"]).arg(&binary).directory(&folder).run().expect_code(0);
    let named = |wanted: &str| names(&folder).into_iter().find(|name| name.ends_with(wanted)).expect("a directory");
    let (profile, trace) = (folder.join(named(".prof")), folder.join(named(".trace")));
    let shown = oshprof(&["report", &text(&profile)]).expect_code(0);
    let none = oshprof(&["report", &text(&trace)]).expect_code(1);
    for said in [&outcome.stderr, &shown.stdout, &none.stderr] {
        assert!(!said.contains('\u{1b}') && said.contains("\\u{1b}[31m\\nb"), "{said:?}");
    }
}

/// What messages show of options and variables, too.
#[test]
fn values_with_control_bytes_are_text() {
    let binary = Build::program("endings/empty.c").named("empty-values").build();
    let odd = "a\u{1b}[31m\u{9b}b";
    let said = |job: Job| {
        let said = job.limit(20).run().stderr;
        assert!(!said.contains(['\u{1b}', '\u{9b}']) && said.contains("a\\u{1b}[31m\\u{9b}b"), "{said:?}");
    };
    let options: &[&[&str]] = &[
        &["-x", odd],
        &["--bind", odd],
        &["--hostfile", odd],
        &["--tool", odd],
        &["--heap", odd],
        &["-n", odd],
        &[odd],
    ];
    for options in options {
        said(Job::oshrun(1).args(*options).arg(&binary));
    }
    said(Job::oshrun(1).arg(format!("--{odd}")).arg(&binary));
    for name in ["SHMEM_TOOLS", "SHMEM_PROFILE", "SHMEM_SYMMETRIC_SIZE"] {
        said(Job::oshrun(1).env(name, odd).arg(&binary));
    }
    said(Job::oshrun(1).env(&format!("SHMEM_{odd}"), "1").arg(&binary));
    said(Job::oshrun(2).env("SHMEM_TRANSPORT", "ofi").env("SHMEM_OFI_LIBRARY", odd).arg(&binary));
}

#[test]
fn a_stopped_pe_is_called_stopped() {
    let binary = Build::program("live/stuck.c").build();
    let job = Job::oshrun(2).arg(binary).arg("ring").limit(60).start();
    let look = || oshprof(&["hang", &job.pid().to_string()]).stdout;
    let pid_of = |text: &str| text.split("(pid ").nth(2)?.split(')').next()?.parse::<u32>().ok();
    let mut pid = None;
    assert!(system::wait_until(std::time::Duration::from_secs(30), || {
        pid = pid_of(&look()).filter(|pid| *pid != 0);
        pid.is_some()
    }));
    let pid = pid.unwrap();
    assert!(system::signal(pid, libc::SIGSTOP));
    let said = format!("PE 1 (pid {pid}): stopped (by a signal or a debugger)");
    assert!(system::wait_until(std::time::Duration::from_secs(10), || look().contains(&said)), "{}", look());
    system::signal(pid, libc::SIGCONT);
    system::signal(job.pid(), libc::SIGTERM);
    job.wait();
}

/// A job of a program that closes all descriptors and opens its own.
fn closes(folder: &Path, mode: &str, options: &[&str]) -> Outcome {
    let binary = Build::program("files/closes.c").build();
    Job::oshrun(2).args(options).arg(binary).arg(mode).directory(folder).limit(120).run()
}

fn is_right(outcome: &Outcome) {
    let right = ["PE 0: right", "PE 1: right"].iter().all(|line| outcome.stdout.contains(line));
    assert!(right, "{}", outcome.describe());
}

#[test]
fn a_program_that_closes_all_descriptors_keeps_what_it_opens_then() {
    let options: [&[&str]; 4] =
        [&[], &["--trace=t", "-x", "SHMEM_TRACE_DETAIL=full"], &["--counters=page-faults"], &["--metrics-file=m.prom"]];
    for options in options {
        let folder = folder("closes");
        is_right(&closes(&folder, "files", options).expect_code(0));
    }
}

/// Calls and files, whatever stands in the place of what the library had opened.
#[test]
fn a_trace_is_whole_where_the_program_closes_its_files() {
    for mode in ["files", "pipes", "closed"] {
        let folder = folder("closes-trace");
        is_right(&closes(&folder, mode, &["--trace=t", "-x", "SHMEM_TRACE_DETAIL=full"]).expect_code(0));
        let shown = oshprof(&["trace", &folder.join("t").display().to_string()]).expect_code(0);
        let said = format!("{}{}", shown.stdout, shown.stderr);
        assert!(said.contains("no event is missing") && !said.contains("damaged"), "{mode}: {said}");
        // Each PE puts 40,001 times.
        let events = said.lines().find_map(|line| line.split_once(" events, ")?.0.parse::<u64>().ok());
        assert!(events.is_some_and(|events| events >= 80_002), "{mode}: {said}");
    }
}

/// A pipe of the program's has nothing to read: who reads it waits for ever.
#[test]
fn counters_that_the_program_has_closed_are_lost_and_no_more() {
    for mode in ["files", "pipes", "closed"] {
        let folder = folder("closes-counters");
        is_right(&closes(&folder, mode, &["--counters=page-faults", "--profile-dir=p"]).expect_code(0));
        let profile = folder.join("p").display().to_string();
        oshprof(&["report", &profile, "--view", "counters"]).expect_code(0).expect_text(&["the program has closed"]);
    }
}

/// A path that the system takes in parts only, and PEs not at all.
#[test]
fn a_trace_in_a_folder_with_a_long_path_is_refused() {
    let folder = folder("long-path");
    let name = "n".repeat(250);
    let deep = "for i in $(seq 20); do mkdir -p $0 && cd -P $0 || exit 9; done; exec \"$@\"";
    let oshrun = tree::tool("oshrun").display().to_string();
    let words = [&oshrun, "-n", "2", "--trace=t", "sh", "-c", "echo it has run"];
    let outcome = Job::new("sh").args(["-c", deep, &name]).args(words).directory(&folder).limit(60).run();
    let outcome = outcome.expect_code(1).expect_text(&["cannot write the trace t", "and the system takes 4095"]);
    assert!(!outcome.stdout.contains("it has run"), "{}", outcome.describe());
}
