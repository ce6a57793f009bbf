//! `oshrun` with programs of the library: output, input, environment, statuses, signals, and what is left behind.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use harness::compile::Build;
use harness::run::{Job, Outcome};
use harness::{system, tree};

/// The tests that look at the whole machine run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn program() -> PathBuf {
    Build::program("launcher/say.c").build()
}

fn say(pes: usize, options: &[&str], arguments: &[&str]) -> Outcome {
    Job::oshrun(pes).args(options).arg(program()).args(arguments).limit(30).run()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort();
    lines
}

#[test]
fn every_pe_runs_once() {
    for pes in [1, 2, 5, 16] {
        let outcome = say(pes, &[], &["numbers"]).expect_code(0);
        let mut expected: Vec<String> = (0..pes).map(|pe| format!("PE {pe} of {pes}")).collect();
        expected.sort();
        assert_eq!(sorted(&outcome.stdout), expected);
        assert_eq!(outcome.stderr, "");
    }
    // -np is -n, and without it there is one.
    let job = Job::new(tree::tool("oshrun")).args(["-np", "3"]).arg(program()).arg("numbers");
    assert_eq!(job.run().expect_code(0).stdout.lines().count(), 3);
    let job = Job::new(tree::tool("oshrun")).arg(program()).arg("numbers");
    assert_eq!(job.run().expect_code(0).stdout, "PE 0 of 1\n");
}

#[test]
fn arguments_arrive_unchanged() {
    let outcome = say(1, &[], &["arguments", "a b", "", "-n", "--label", "*", "'\"$x"]).expect_code(0);
    assert_eq!(outcome.stdout, "[a b][][-n][--label][*]['\"$x]");
    let job = Job::oshrun(1).arg("--").arg(program()).args(["arguments", "x"]);
    assert_eq!(job.run().expect_code(0).stdout, "[x]");
}

#[test]
fn labels_name_the_pe() {
    let outcome = say(3, &["--label"], &["numbers"]).expect_code(0);
    assert_eq!(sorted(&outcome.stdout), ["[0] PE 0 of 3", "[1] PE 1 of 3", "[2] PE 2 of 3"]);
}

/// However long they are, lines of PEs do not get into each other.
#[test]
fn long_lines_stay_whole() {
    let script = "head -c 300000 /dev/zero | tr '\\0' $PMI_RANK; echo";
    for (options, label) in [(&[][..], ""), (&["--label"][..], "[2] ")] {
        let job = Job::new(tree::tool("oshrun")).args(["-n", "4"]).args(options).args(["sh", "-c", script]);
        let outcome = job.limit(60).run().expect_code(0);
        let lines = sorted(&outcome.stdout);
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[2], format!("{label}{}", "2".repeat(300_000)));
    }
}

/// A file that the kernel does not execute is not read as a script.
#[test]
fn what_is_no_program_of_this_machine_is_not_run() {
    let folder = tree::fresh("launcher/formats");
    let whole = std::fs::read("/bin/true").expect("a program");
    let mut foreign = whole.clone();
    foreign[18] = 8;
    for (name, bytes, why) in [
        ("foreign", foreign.as_slice(), "another kind of machine"),
        ("cut", &whole[..100], "damaged"),
        ("data", b"\0\x01\0\xff".as_slice(), "neither a program nor a script"),
    ] {
        let file = folder.join(name);
        std::fs::write(&file, bytes).expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("executable");
        let job = Job::new(tree::tool("oshrun")).args(["-n", "2"]).arg(&file);
        job.run().expect_code(126).expect_text(&[name, why]);
    }
}

/// Static objects of one build are not taken for those of another.
#[test]
fn static_objects_of_different_builds_are_not_symmetric() {
    let build = |name: &str, options: &[&str]| Build::program("launcher/build.c").named(name).options(options).build();
    let (one, other) = (build("build-one", &[]), build("build-other", &["-DPAD=4"]));
    assert_eq!(Job::oshrun(2).arg(&one).run().expect_code(0).stdout, "99 6\n");
    let script = format!("test $PMI_RANK = 0 && exec {}; exec {}", one.display(), other.display());
    let outcome = Job::oshrun(2).env("SHMEM_DEBUG", "1").args(["sh", "-c", &script]).run().expect_failure();
    outcome.expect_text(&["PE 1 runs another executable", "is not a symmetric address"]);
}

#[test]
fn environment_is_passed_on() {
    let outcome = say(2, &["-x", "FLAVOUR=sour cherry"], &["variable"]).expect_code(0);
    assert_eq!(sorted(&outcome.stdout), ["0:sour cherry", "1:sour cherry"]);
    let job = Job::oshrun(1).args(["-x", "FLAVOUR"]).arg(program()).arg("variable").env("FLAVOUR", "plum");
    assert_eq!(job.run().expect_code(0).stdout, "0:plum\n");
    let outcome = say(2, &[], &["pmi"]).expect_code(0);
    assert_eq!(sorted(&outcome.stdout), ["0 0 2", "1 1 2"]);
}

#[test]
fn pe_0_reads_the_standard_input() {
    let input: String = (0..50_000).map(|line| format!("line {line}\n")).collect();
    let bytes = input.len();
    let outcome = Job::oshrun(3).arg(program()).arg("input").input(input).run().expect_code(0);
    let expected = [
        format!("PE 0 read 50000 lines, {bytes} bytes"),
        "PE 1 read 0 lines, 0 bytes".to_string(),
        "PE 2 read 0 lines, 0 bytes".to_string(),
    ];
    assert_eq!(sorted(&outcome.stdout), expected);
}

#[test]
fn lines_stay_whole() {
    let outcome = say(4, &[], &["lines"]).expect_code(0);
    for letter in ["a", "b", "c", "d"] {
        assert_eq!(outcome.stdout.lines().filter(|line| *line == letter.repeat(20)).count(), 300, "{letter}");
    }
    assert_eq!(outcome.stdout.lines().count(), 1200);
    let outcome = say(3, &[], &["big-output"]).expect_code(0);
    assert_eq!(outcome.stdout.lines().count(), 60_000);
    for pe in 0..3 {
        // In order for each PE.
        let prefix = format!("PE {pe} line ");
        let numbers = outcome
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix(&prefix)?.split(' ').next()?.parse::<u32>().ok());
        assert!(numbers.eq(0..20_000), "the lines of PE {pe}");
    }
    let outcome = say(2, &[], &["no-newline"]).expect_code(0);
    assert!(outcome.stdout.contains("open end 0") && outcome.stdout.contains("open end 1"), "{}", outcome.describe());
    let outcome = say(1, &[], &["both"]).expect_code(0);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("to stdout\n", "to stderr\n"));
}

#[test]
fn the_status_is_that_of_the_pe_that_failed() {
    say(3, &[], &["status", "1", "0"]).expect_code(0);
    for (pe, status) in [("0", 1), ("2", 42), ("1", 255)] {
        say(3, &[], &["status", pe, &status.to_string()]).expect_code(status);
    }
    for (number, pe) in [(6, "0"), (9, "1"), (11, "2"), (15, "1")] {
        let outcome = say(3, &[], &["signal", pe, &number.to_string()]).expect_code(128 + number);
        let outcome = outcome.expect_text(&[&format!("PE {pe} of 3"), &format!("signal {number}")]);
        assert!(outcome.elapsed < Duration::from_secs(5), "{}", outcome.describe());
    }
}

#[test]
fn wrong_options_are_explained() {
    let oshrun = || Job::new(tree::tool("oshrun")).limit(10);
    for (arguments, words) in [
        (vec!["-n", "0", "true"], vec!["-n", "0"]),
        (vec!["-n", "-3", "true"], vec!["-n", "-3"]),
        (vec!["-n", "many", "true"], vec!["-n", "many"]),
        (vec!["-n"], vec!["-n"]),
        (vec!["-n", "2"], vec!["PROGRAM"]),
        (vec!["--frobnicate", "true"], vec!["--frobnicate"]),
        (vec!["--timeout", "soon", "true"], vec!["--timeout", "soon"]),
        (vec!["--heap", "huge", "true"], vec!["--heap", "huge"]),
        (vec!["--bind", "drawer", "true"], vec!["--bind", "drawer"]),
        (vec!["--profile-dir"], vec!["--profile-dir"]),
        (vec!["-x"], vec!["-x"]),
    ] {
        let outcome = oshrun().args(&arguments).run().expect_failure();
        assert!(outcome.code() < 126, "{}", outcome.describe());
        for word in words {
            assert!(outcome.stderr.contains(word), "the message lacks \"{word}\"\n{}", outcome.describe());
        }
    }
    oshrun()
        .args(["-n", "2", "no-such-program-anywhere"])
        .run()
        .expect_code(127)
        .expect_text(&["no-such-program-anywhere"]);
    oshrun().args(["-n", "2", "./no/such/file"]).run().expect_code(127).expect_text(&["./no/such/file"]);
    oshrun().args(["-n", "2", "/etc/passwd"]).run().expect_code(126).expect_text(&["/etc/passwd"]);
    for option in ["-h", "--help"] {
        let outcome = oshrun().arg(option).run().expect_code(0);
        for word in ["-n, --np", "-np", "-x", "--bind", "--label", "--timeout", "--heap", "--profile", "--profile-dir"]
        {
            assert!(outcome.stdout.contains(word), "{word} is not in the help text");
        }
    }
}

#[test]
fn the_heap_option_sets_the_size() {
    say(2, &["--heap", "8m"], &["heap", "7000000"]).expect_code(0).expect_text(&["fits"]);
    let outcome = say(2, &["--heap", "2m"], &["heap", "7000000"]).expect_code(0);
    assert_eq!(sorted(&outcome.stdout), ["too large", "too large"]);
}

#[test]
fn a_time_limit_ends_a_job_that_hangs_and_says_where() {
    let outcome = say(3, &["--timeout", "1"], &["hang"]).expect_code(124);
    assert!(outcome.elapsed < Duration::from_secs(5), "{}", outcome.describe());
    outcome.expect_text(&["PE 0 of 3", "shmem_long_wait_until", "1, 2 of 3", "shmem_barrier_all"]);
}

#[test]
fn nothing_is_left_behind() {
    let _alone = ALONE.lock();
    // A program of its own: the other tests run theirs meanwhile.
    let binary = Build::program("launcher/say.c").named("say-alone").build();
    let (before, temporary) = (ours(), tree::fresh("launcher/temporary"));
    let folder = temporary.to_str().expect("a path in UTF-8");
    for (arguments, options) in [
        (vec!["numbers"], vec![]),
        (vec!["signal", "1", "9"], vec![]),
        (vec!["signal", "0", "11"], vec![]),
        (vec!["status", "2", "3"], vec![]),
        (vec!["hang"], vec!["--timeout", "1"]),
        (vec!["before-init"], vec![]),
    ] {
        Job::oshrun(3).args(&options).arg(&binary).args(&arguments).env("TMPDIR", folder).limit(20).run();
        let left = system::wait_for_no_process(&binary, Duration::from_secs(2));
        assert!(left.is_empty(), "after {arguments:?} processes are left: {left:?}");
    }
    assert_eq!(before, ours(), "names are left in /dev/shm");
    let left = system::entries(&temporary);
    assert!(left.is_empty(), "files are left: {left:?}");
}

/// Names in /dev/shm that the library or its tools could have made.
fn ours() -> Vec<String> {
    let marks = ["pellucid", "oshrun", "shmem", "sma"];
    system::shared_names().into_iter().filter(|name| marks.iter().any(|mark| name.contains(mark))).collect()
}

#[test]
fn signals_reach_every_pe() {
    let _alone = ALONE.lock();
    let binary = Build::program("launcher/say.c").named("say-signals").build();
    for (number, what) in
        [(libc::SIGTERM, "sleep"), (libc::SIGINT, "compute"), (libc::SIGHUP, "sleep"), (libc::SIGKILL, "compute")]
    {
        let running = Job::oshrun(3).arg(&binary).arg(what).limit(20).start();
        let up = system::wait_until(Duration::from_secs(10), || system::processes(&binary).len() == 3);
        assert!(up, "three PEs start");
        std::thread::sleep(Duration::from_millis(100));
        assert!(system::signal(running.pid(), number));
        let left = system::wait_for_no_process(&binary, Duration::from_secs(4));
        let outcome = running.wait();
        assert!(left.is_empty(), "signal {number} leaves {left:?}\n{}", outcome.describe());
        assert_eq!(outcome.code(), 128 + number, "{}", outcome.describe());
        assert!(outcome.elapsed < Duration::from_secs(10), "{}", outcome.describe());
    }
}

/// Python's handler takes a note only, which comes to something when a call returns.
#[test]
fn an_interrupt_ends_a_python_program_at_once() {
    let Some(python) = system::find(&["python3"]) else {
        println!("not tested: no python3");
        return;
    };
    let script = tree::package().join("programs/launcher/interrupt.py");
    for what in ["sleeps", "waits"] {
        let folder = tree::fresh(&format!("interrupt-{what}"));
        let job = Job::oshrun(3).arg(&python).arg(&script).arg(tree::library("libsma.so")).arg(what).arg(&folder);
        let running = job.limit(30).start();
        assert!(system::wait_until(Duration::from_secs(15), || system::entries(&folder).len() == 3), "three PEs start");
        std::thread::sleep(Duration::from_millis(300));
        let before = std::time::Instant::now();
        assert!(system::signal(running.pid(), libc::SIGINT));
        let outcome = running.wait();
        assert!(before.elapsed() < Duration::from_secs(4), "{what}: {}", outcome.describe());
        assert_eq!(outcome.code(), 128 + libc::SIGINT, "{what}: {}", outcome.describe());
        assert!(!outcome.stderr.contains("pellucid:"), "{what}: {}", outcome.describe());
    }
}

#[test]
fn jobs_run_side_by_side() {
    let jobs: Vec<_> = (0..6).map(|_| Job::oshrun(3).arg(program()).arg("numbers").limit(30).start()).collect();
    for job in jobs {
        assert_eq!(job.wait().expect_code(0).stdout.lines().count(), 3);
    }
}

#[test]
fn many_pes() {
    let outcome = say(64, &[], &["numbers"]).expect_code(0);
    assert_eq!(outcome.stdout.lines().count(), 64);
}

#[test]
fn a_program_behind_a_script() {
    let binary = program();
    for script in [format!("exec {} numbers", binary.display()), format!("{} numbers; exit $?", binary.display())] {
        let outcome = Job::oshrun(3).args(["sh", "-c", &script]).limit(20).run().expect_code(0);
        assert_eq!(sorted(&outcome.stdout), ["PE 0 of 3", "PE 1 of 3", "PE 2 of 3"]);
    }
    // The variables of the launcher do not confuse a job within the job.
    let script = format!("{} -n 2 {} numbers", tree::tool("oshrun").display(), binary.display());
    let outcome = Job::oshrun(2).args(["sh", "-c", &script]).limit(20).run().expect_code(0);
    assert_eq!(sorted(&outcome.stdout), ["PE 0 of 2", "PE 0 of 2", "PE 1 of 2", "PE 1 of 2"]);
}

/// The names by which jobs of one user keep off each other's cores can be taken by anybody: that changes nothing.
#[test]
fn another_user_cannot_switch_binding_off() {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if !harness::system::is_root() || cpus < 2 {
        return println!("not root, or one CPU: not tested");
    }
    let squat = Build::program("launcher/squat.c").build();
    let place = Build::program("launcher/where.c").build();
    // Names and processes of its own, so that jobs of other tests have no part in it.
    let alone = || Job::new(PathBuf::from("unshare")).args(["--net", "--pid", "--fork", "--mount-proc"]).limit(20);
    let oshrun = tree::tool("oshrun").to_string_lossy().into_owned();
    let job = [&*oshrun, "-n", "2", &*place.to_string_lossy()].map(str::to_owned);
    let bound = ["PE 0: bound", "PE 1: bound"];
    alone().args(&job).run().expect_code(0).expect_text(&bound);
    for listens in ["0", "1"] {
        alone().arg(&squat).arg(listens).args(&job).run().expect_code(0).expect_text(&bound);
    }
    // A job of the same user beside it has the cores, and is left alone.
    let both = format!("{oshrun} -n 2 sleep 3 & sleep 1; {}", job.join(" "));
    if cpus == 2 {
        let beside = ["PE 0: anywhere", "PE 1: anywhere"];
        alone().args(["sh", "-c", &both]).run().expect_code(0).expect_text(&beside);
        for listens in ["0", "1"] {
            alone().arg(&squat).args([listens, "sh", "-c", &both]).run().expect_code(0).expect_text(&beside);
        }
    }
}
