//! Traces of whole jobs, and looks at jobs that run or hang.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use harness::compile::Build;
use harness::run::{Job, Running};
use harness::{system, tree};
use serde_json::Value;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

fn stuck(pes: usize, options: &[&str], way: &str) -> Running {
    let binary = Build::program("live/stuck.c").build();
    Job::oshrun(pes).args(options).arg(binary).arg(way).limit(60).start()
}

fn signal(job: &Running, number: i32) {
    // SAFETY: no pointers.
    unsafe { libc::kill(job.pid() as i32, number) };
}

fn oshprof(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(tree::tool("oshprof")).args(arguments).output().expect("oshprof starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

/// What `oshprof COMMAND` says of a job once it says all of these.
fn looks(job: &Running, command: &[&str], parts: &[&str]) -> String {
    let pid = job.pid().to_string();
    let arguments: Vec<&str> = [&command[..1], &[pid.as_str()], &command[1..]].concat();
    let started = Instant::now();
    loop {
        let (fine, text) = oshprof(&arguments);
        if fine && parts.iter().all(|part| text.contains(part)) {
            return text;
        }
        if started.elapsed() > LONG {
            signal(job, libc::SIGKILL);
            panic!("{parts:?} not in\n{text}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn hang_says_who_waits_for_whom() {
    let job = stuck(4, &[], "barrier");
    let text = looks(&job, &["hang"], &["PEs 0, 2, 3 wait in shmem_barrier_all for PE 1", " barrier, 4 PEs on "]);
    assert!(text.contains("PE 1 (pid ") && text.contains("PEs 0, 2, 3 (pids "), "{text}");
    assert!(text.contains("): in shmem_barrier_all for "), "{text}");
    assert!(text.contains(", called from stand"), "{text}");
    signal(&job, libc::SIGTERM);
    job.wait();

    let job = stuck(2, &[], "wait");
    looks(&job, &["hang"], &["PE 1 waits in shmem_signal_wait_until for word == 1, is 0: a store by any PE"]);
    signal(&job, libc::SIGTERM);
    job.wait();
}

#[test]
fn hang_names_a_ring() {
    let job = stuck(3, &[], "ring");
    looks(
        &job,
        &["hang"],
        &[
            "PEs 0, 2 wait in shmem_barrier_all for PE 1",
            "PE 1 waits in shmem_set_lock (lock) for PE 0, which holds the lock",
            "cycle: PE 0 -> PE 1 -> PE 0: none of them can go on",
        ],
    );
    signal(&job, libc::SIGTERM);
    job.wait();
}

/// How PEs reach each other here.
fn transports() -> Vec<&'static str> {
    let ofi = system::library("libfabric.so.1").map(|()| "ofi");
    std::iter::once("auto").chain(ofi).collect()
}

#[test]
fn hang_sees_who_waits_with_the_profile_off() {
    let cases: [(usize, &str, &[&str]); 6] = [
        (4, "barrier", &["PEs 0, 2, 3 wait in shmem_barrier_all for PE 1", "): does not wait; the profile is off"]),
        (
            2,
            "wait",
            &["): in shmem_signal_wait_until (word) for ", "PE 1 waits in shmem_signal_wait_until for word == 1, is"],
        ),
        (6, "team", &["PEs 2, 4 wait in shmem_team_sync for PE 0\n"]),
        (4, "set", &["PE 1 waits in shmem_barrier for PEs 2, 3\n"]),
        (3, "ring", &["PE 0, which holds the lock", "cycle: PE 0 -> PE 1 -> PE 0: none of them can go on"]),
        (2, "busy", &["nobody waits"]),
    ];
    for transport in transports() {
        for (pes, way, parts) in cases {
            let binary = Build::program("live/stuck.c").build();
            let job =
                Job::oshrun(pes).args(["--profile", "off"]).arg(binary).arg(way).env("SHMEM_TRANSPORT", transport);
            let job = job.limit(60).start();
            let text = looks(&job, &["hang"], parts);
            // All that wait say since when.
            let waiting = text.lines().filter(|line| line.contains("): in shmem_"));
            waiting.for_each(|line| assert!(line.contains(" for "), "{text}"));
            signal(&job, libc::SIGTERM);
            job.wait();
        }
    }
}

/// The process of a PE, from a line of `oshprof hang`: `PE 1 (pid 7): ...`, `PEs 0, 2 (pids 7, 9): ...`.
fn pid_in(line: &str, pe: usize) -> Option<u32> {
    let (pes, rest) = line.strip_prefix("PE")?.trim_start_matches('s').split_once(" (pid")?;
    let pids = rest.trim_start_matches('s').split_once(')')?.0;
    let numbers = pes.split(',').flat_map(|run| match run.trim().split_once(" to ") {
        Some((first, last)) => (first.parse().unwrap_or(1)..=last.parse().unwrap_or(0)).collect(),
        None => run.trim().parse::<usize>().into_iter().collect::<Vec<_>>(),
    });
    let place = numbers.into_iter().position(|number| number == pe)?;
    pids.split(',').nth(place)?.trim().parse().ok()
}

/// The process of a PE that is through with `shmem_init`, as `oshprof hang` tells it.
fn process(job: &Running, pe: usize) -> u32 {
    let started = Instant::now();
    loop {
        let (_, text) = oshprof(&["hang", &job.pid().to_string()]);
        if let Some(pid @ 2..) = text.lines().filter(|l| !l.contains("shmem_init")).find_map(|line| pid_in(line, pe)) {
            return pid;
        }
        assert!(started.elapsed() < LONG, "{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn with_the_profile_off_a_wait_is_over_when_it_is() {
    let job = stuck(2, &["--profile", "off"], "late");
    looks(&job, &["hang"], &["PE 0 waits in shmem_barrier_all for PE 1"]);
    assert!(system::signal(process(&job, 1), libc::SIGUSR2));
    looks(&job, &["hang"], &["nobody waits"]);
    signal(&job, libc::SIGTERM);
    job.wait();
}

#[test]
fn with_the_profile_off_a_death_says_where() {
    let job = stuck(3, &["--profile", "off"], "ring");
    looks(&job, &["hang"], &["cycle: PE 0 -> PE 1 -> PE 0"]);
    assert!(system::signal(process(&job, 1), libc::SIGKILL));
    let outcome = job.wait();
    outcome.expect_text(&["was killed by signal 9 (kill) in shmem_set_lock (lock)"]);
}

#[test]
fn a_quiet_that_is_not_answered_names_the_peer() {
    if !transports().contains(&"ofi") {
        return;
    }
    for level in ["off", "1"] {
        let binary = Build::program("live/stuck.c").build();
        let job = Job::oshrun(2).args(["--profile", level]).arg(binary).arg("quiet").env("SHMEM_TRANSPORT", "ofi");
        let job = job.directory(&tree::fresh("quiet")).limit(60).start();
        let peer = process(&job, 1);
        process(&job, 0);
        assert!(system::signal(peer, libc::SIGSTOP));
        looks(
            &job,
            &["hang"],
            &["): in shmem_quiet (PE 1) for ", "PE 0 waits in shmem_quiet for what is under way to PE 1"],
        );
        signal(&job, libc::SIGKILL);
        job.wait();
    }
}

#[test]
fn hang_names_the_operation_of_a_request_and_who_is_missing() {
    for options in [&["--profile", "off"][..], &[]] {
        for (way, wait, of) in [
            ("request", "shmemx_wait_req", "shmemx_team_sync_nb"),
            ("aset", "shmemx_req_wait", "shmemx_long_sum_to_all_nb"),
        ] {
            let job = stuck(3, options, way);
            let waits = format!(" in {wait} of {of} for PE 2");
            let text = looks(&job, &["hang"], &[&waits, &format!("in {wait} ({of}, PE 2) for ")]);
            assert!(!text.contains("a store by any PE"), "{text}");
            signal(&job, libc::SIGKILL);
            job.wait();
        }
    }
}

#[test]
fn oshrun_reports_at_a_timeout() {
    let binary = Build::program("live/stuck.c").build();
    let outcome = Job::oshrun(3).args(["--timeout", "2"]).arg(binary).arg("ring").limit(60).run();
    assert_eq!(outcome.code(), 124, "{}", outcome.describe());
    outcome.expect_text(&["cycle: PE 0 -> PE 1 -> PE 0", "PE 0, which holds the lock"]);
}

#[test]
fn user_signal_1_reports_where_nobody_handles_it() {
    let job = stuck(2, &[], "barrier");
    looks(&job, &["hang"], &["PE 0 waits in shmem_barrier_all for PE 1"]);
    signal(&job, libc::SIGUSR1);
    // It is still there, and says more at the end.
    std::thread::sleep(Duration::from_millis(300));
    looks(&job, &["hang"], &["PE 0 waits in shmem_barrier_all for PE 1"]);
    signal(&job, libc::SIGQUIT);
    let outcome = job.wait();
    assert_eq!(outcome.code(), 128 + libc::SIGQUIT, "{}", outcome.describe());
    outcome.expect_text(&[
        "oshrun: signal 10 (user signal 1): the PEs now:",
        "oshrun: signal 3 (quit): the PEs now:",
        "PE 0 waits in shmem_barrier_all for PE 1",
    ]);

    let job = stuck(2, &[], "handler");
    looks(&job, &["hang"], &["nobody waits"]);
    std::thread::sleep(Duration::from_millis(300));
    signal(&job, libc::SIGUSR1);
    std::thread::sleep(Duration::from_millis(300));
    signal(&job, libc::SIGTERM);
    let outcome = job.wait();
    let text = outcome.describe();
    assert!(text.contains("handled\n") && !text.contains("the PEs now"), "{text}");
}

#[test]
fn top_shows_rates_states_and_heap() {
    let job = stuck(2, &[], "busy");
    let text = looks(
        &job,
        &["top", "--once", "--interval", "0.2"],
        &["routine", "calls/s", "shmem_uint64_atomic_inc", "977 KiB", "# computing "],
    );
    let rate = text.lines().find(|line| line.starts_with("shmem_uint64_atomic_inc")).unwrap();
    assert!(rate.split_whitespace().nth(1).unwrap().chars().next().unwrap().is_ascii_digit(), "{text}");
    // Looking did not stop it.
    looks(&job, &["top", "--once", "--interval", "0.2"], &["shmem_uint64_atomic_inc"]);
    signal(&job, libc::SIGTERM);
    job.wait();
}

#[test]
fn a_job_that_is_none_is_refused() {
    let mut other = Command::new("sleep").arg("60").spawn().expect("sleep starts");
    let (fine, text) = oshprof(&["hang", &other.id().to_string()]);
    other.kill().and_then(|()| other.wait()).expect("it ends");
    assert!(!fine && text.contains("is neither a launcher nor a PE of a job that runs"), "{text}");
    let (fine, text) = oshprof(&["top", "--once", "0"]);
    assert!(!fine && text.contains("no process 0 runs on this host"), "{text}");
}

fn trace_directory(name: &str) -> PathBuf {
    let directory = tree::scratch("traces").join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory).expect("an old trace can be removed");
    }
    directory
}

#[test]
fn a_job_is_traced_and_its_signals_are_arrows() {
    let binary = Build::program("live/ring.c").build();
    let (pes, rounds) = (4, 20);
    let directory = trace_directory("ring");
    let option = format!("--trace={}", directory.display());
    let outcome = Job::oshrun(pes).arg(option).arg(binary).arg(rounds.to_string()).run().expect_code(0);
    // init, my_pe, n_pes, and finalize of each PE.
    let calls = pes * (4 + 2 * rounds);
    outcome.expect_text(&[&format!("trace of {calls} calls, ")]);
    let directory = directory.to_string_lossy().into_owned();
    let (fine, text) = oshprof(&["trace", &directory, "--to", "chrome"]);
    assert!(fine, "{text}");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let all = value["traceEvents"].as_array().expect("events");
    let of = |phase: &str| all.iter().filter(move |event| event["ph"] == phase).collect::<Vec<_>>();
    assert_eq!(of("X").len(), calls);
    let (from, to) = (of("s"), of("f"));
    assert_eq!(from.len(), to.len());
    // A PE that is late finds its signal there already, and waits for nobody.
    assert!(from.len() > rounds && from.len() <= pes * rounds, "{} arrows", from.len());
    for end in to {
        let begin = from.iter().find(|begin| begin["id"] == end["id"]).expect("its begin");
        let (sender, waiter) = (begin["pid"].as_u64().unwrap(), end["pid"].as_u64().unwrap());
        assert_eq!(waiter, (sender + 1) % pes as u64);
        assert!(begin["ts"].as_f64() <= end["ts"].as_f64());
    }
    let (fine, text) = oshprof(&["trace", &directory, "--to", "csv"]);
    assert!(fine);
    assert_eq!(text.lines().count(), 1 + calls);
}

#[test]
fn a_trace_is_switched_on_and_off() {
    let binary = Build::program("live/switch.c").build();
    for detail in ["auto", "full"] {
        let directory = trace_directory(&format!("switch-{detail}"));
        let option = format!("--trace={}", directory.display());
        let profile = format!("--profile=1,trace-start=off,trace-detail={detail}");
        let kept = format!("--profile-dir={}.prof", directory.display());
        Job::oshrun(2).args([option, profile, kept]).arg(&binary).run().expect_code(0);
        let (fine, text) = oshprof(&["trace", &directory.to_string_lossy(), "--to", "csv"]);
        assert!(fine, "{text}");
        for pe in ["0", "1"] {
            // kind, name, class, PE, ... and in the twelfth place how many calls it is
            let calls = |name: &str| -> u64 {
                let fields = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
                let mine = fields.filter(|f| f[0].starts_with("call") && f[1] == name && f[3] == pe);
                mine.map(|f| f[12].parse::<u64>().expect("a number")).sum()
            };
            assert_eq!((calls("shmem_long_p"), calls("shmem_my_pe")), (5003, 5003), "PE {pe}, {detail}");
            assert_eq!((calls("shmem_barrier_all"), calls("shmem_finalize")), (1, 1), "PE {pe}, {detail}");
        }
        assert_eq!(text.matches("region begin,seen").count(), 2, "{detail}");
    }
}

#[test]
fn a_trace_outlives_its_job() {
    let directory = trace_directory("killed");
    let option = format!("--trace={}", directory.display());
    let job = stuck(2, &[&option], "busy");
    looks(&job, &["hang"], &["shmem_uint64_atomic_inc"]);
    let directory = directory.to_string_lossy().into_owned();
    let started = Instant::now();
    while ["0", "1"].iter().any(|pe| {
        let text = oshprof(&["trace", &directory, "--to", "csv"]).1;
        !text.contains(&format!("call,shmem_uint64_atomic_inc,amo,{pe},"))
    }) {
        assert!(started.elapsed() < LONG, "a PE never got there");
        std::thread::sleep(Duration::from_millis(50));
    }
    // Launcher and PEs alike.
    signal(&job, libc::SIGKILL);
    job.wait();
    let (fine, text) = oshprof(&["trace", &directory, "--to", "csv"]);
    assert!(fine, "{text}");
    for pe in ["0", "1"] {
        let calls = text.lines().filter(|line| line.starts_with(&format!("call,shmem_uint64_atomic_inc,amo,{pe},")));
        assert!(calls.count() > 0, "{text}");
    }
}

#[test]
fn a_trace_without_a_profile_is_refused() {
    let binary = Build::program("live/ring.c").build();
    Job::oshrun(2).args(["--profile", "off", "--trace"]).arg(binary).run().expect_code(2);
}

/// What Python's otf2 says of collectives: PE, window, its PEs, kind, root in it, bytes sent and received.
const OTF2_READER: &str = "
import json, otf2, sys
with otf2.reader.open(sys.argv[1]) as trace:
    for location, event in trace.events:
        if type(event).__name__ == 'RmaCollectiveEnd':
            pes = [member.group.name[3:] for member in event.win.comm.group.members]
            kind = str(event.collective_op).split('.')[-1]
            line = [location.group.name[3:], event.win.comm.name, ' '.join(pes), kind, event.root]
            print(json.dumps(line + [event.bytes_sent, event.bytes_received]))
";

#[test]
fn collectives_have_team_root_and_bytes() {
    let binary = Build::program("live/collectives.c").build();
    let directory = trace_directory("collectives");
    let option = format!("--trace={}", directory.display());
    let kept = format!("--profile-dir={}.prof", directory.display());
    Job::oshrun(4).args([option, kept]).arg(binary).run().expect_code(0);
    let (fine, text) = oshprof(&["trace", &directory.to_string_lossy(), "--to", "csv"]);
    assert!(fine, "{text}");
    let has = |pe: &str, call: &str, end: &str| {
        let is = |line: &&str| {
            line.starts_with(&format!("call,{call},")) && line.contains(&format!("{end},main at collectives.c:"))
        };
        text.lines().filter(is).any(|line| line.split(',').nth(3) == Some(pe))
    };
    assert!(has("1", "shmem_long_broadcast", ",3,world: 4 PEs"), "{text}");
    assert!(has("0", "shmem_long_broadcast", ",2,\"team 4: 2 PEs from PE 0 on, every 2\""), "{text}");
    assert!(has("2", "shmem_broadcast64", ",3,active set: 3 PEs from PE 1 on"), "{text}");
    assert!(has("3", "shmem_barrier_all", ",,world: 4 PEs"), "{text}");
    let archive = directory.with_extension("otf2");
    let _ = std::fs::remove_dir_all(&archive);
    let (fine, said) =
        oshprof(&["trace", &directory.to_string_lossy(), "--to", "otf2", "-o", &archive.to_string_lossy()]);
    if said.contains("libotf2 3 is needed") {
        return eprintln!("no libotf2 here: OTF2 is not tested");
    }
    assert!(fine, "{said}");
    let anchor = archive.join("traces.otf2");
    if let Ok(printed) = Command::new("otf2-print").arg(&anchor).output() {
        let text = String::from_utf8_lossy(&printed.stdout);
        assert!(printed.status.success(), "{text} {}", String::from_utf8_lossy(&printed.stderr));
        // World 3, 7 of 2 PEs, the set, sync_all and barrier_all.
        assert_eq!(text.matches("RMA_COLLECTIVE_END").count(), 4 * 3 + 2 * 5 + 3 + 4 * 2, "{text}");
    }
    let reads =
        |python: &&str| Command::new(python).args(["-c", "import otf2"]).output().is_ok_and(|o| o.status.success());
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(reads) else {
        return eprintln!("no Python package otf2 here: not read");
    };
    let output = Command::new(python).args(["-c", OTF2_READER]).arg(&anchor).output().expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in [
        r#"["3", "SHMEM_TEAM_WORLD", "0 1 2 3", "BCAST", 3, 96, 0]"#,
        r#"["0", "SHMEM_TEAM_WORLD", "0 1 2 3", "BCAST", 3, 0, 32]"#,
        r#"["1", "SHMEM_TEAM_WORLD", "0 1 2 3", "ALLGATHER", 4294967295, 48, 48]"#,
        r#"["2", "SHMEM_TEAM_WORLD", "0 1 2 3", "ALLREDUCE", 4294967295, 72, 72]"#,
        r#"["2", "team 4: 2 PEs from PE 0 on, every 2", "0 2", "BARRIER", 4294967295, 0, 0]"#,
        r#"["2", "team 4: 2 PEs from PE 0 on, every 2", "0 2", "BCAST", 1, 40, 0]"#,
        r#"["0", "team 4: 2 PEs from PE 0 on, every 2", "0 2", "ALLGATHERV", 4294967295, 8, 24]"#,
        r#"["2", "team 4: 2 PEs from PE 0 on, every 2", "0 2", "ALLGATHERV", 4294967295, 24, 8]"#,
        r#"["2", "team 4: 2 PEs from PE 0 on, every 2", "0 2", "SCAN", 4294967295, 0, 8]"#,
        r#"["3", "active set: 3 PEs from PE 1 on", "1 2 3", "BCAST", 2, 96, 0]"#,
        r#"["1", "active set: 3 PEs from PE 1 on", "1 2 3", "BCAST", 2, 0, 48]"#,
        r#"["0", "SHMEM_TEAM_WORLD", "0 1 2 3", "BARRIER", 4294967295, 0, 0]"#,
    ] {
        assert!(read.lines().any(|read| read == line), "{line}\n{read}");
    }
}
