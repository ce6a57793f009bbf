//! Signals to the launcher, those that it cannot catch included.
mod common;

use common::{Folder, SOON, finish, mark, processes_with, signal, start, wait_until};
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

#[test]
fn a_signal_that_ends_reaches_every_pe() {
    let all = [
        (libc::SIGINT, "INT"),
        (libc::SIGTERM, "TERM"),
        (libc::SIGHUP, "HUP"),
        (libc::SIGALRM, "ALRM"),
        (libc::SIGXCPU, "XCPU"),
    ];
    for (number, name) in all {
        let folder = Folder::new(&format!("ends-{name}"));
        // The shell waits in `wait`, which a trap interrupts. It may hear of its child's end first, and would say so.
        let script = format!(
            "exec 2>/dev/null; trap 'echo got {name}; exit 9' {name}; touch {0}/$PMI_RANK; sleep 30 & wait",
            folder.0.display()
        );
        let child = start(&["-n", "3"], &script);
        wait_until("PEs wait", || (0..3).all(|pe| folder.0.join(pe.to_string()).exists()));
        let started = Instant::now();
        signal(&child, number);
        let result = finish(child, started);
        assert_eq!(result.status, 9, "{name}: {}", result.err);
        assert_eq!(result.err, "", "{name}");
        assert!(result.out.contains(&format!("got {name}\n")), "{name}: {}", result.out);
        assert!(result.time < SOON, "{name}: {:?}", result.time);
    }
}

#[test]
fn a_pe_that_does_not_catch_it_gives_the_status() {
    let mark = mark(11);
    let child = start(&["-n", "3"], &format!("exec sleep {mark}"));
    wait_until("PEs run", || processes_with(&mark).len() == 3);
    let started = Instant::now();
    signal(&child, libc::SIGINT);
    let result = finish(child, started);
    assert_eq!((result.status, result.err.as_str()), (130, ""));
    assert!(processes_with(&mark).is_empty());
}

#[test]
fn a_second_signal_insists() {
    let mark = mark(12);
    let child = start(&["-n", "2"], &format!("trap '' INT TERM; sleep {mark}; sleep {mark}"));
    wait_until("PEs run", || processes_with(&mark).len() == 2);
    signal(&child, libc::SIGINT);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(processes_with(&mark).len(), 2, "the first one is only forwarded");
    let started = Instant::now();
    signal(&child, libc::SIGINT);
    let result = finish(child, started);
    assert_eq!(result.status, 130, "{}", result.err);
    assert!(result.time < SOON, "{:?}", result.time);
    assert!(processes_with(&mark).is_empty());
}

#[test]
fn user_signals_are_forwarded_and_end_nothing() {
    let folder = Folder::new("user-signals");
    let script = format!(
        "trap 'n=1' USR1; trap 'echo both $n; exit 0' USR2; touch {0}/$PMI_RANK; while :; do sleep 0.05; done",
        folder.0.display()
    );
    let child = start(&["-n", "2"], &script);
    wait_until("PEs wait", || (0..2).all(|pe| folder.0.join(pe.to_string()).exists()));
    let started = Instant::now();
    signal(&child, libc::SIGUSR1);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, libc::SIGUSR2);
    let result = finish(child, started);
    assert_eq!((result.status, result.out.as_str()), (0, "both 1\nboth 1\n"), "{}", result.err);
}

/// The state letter of a process: `T` is stopped.
fn state(pid: i32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").map(|(_, rest)| rest[..1].to_string()).unwrap_or_default()
}

/// The name of a process.
fn command_of(pid: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_string()
}

#[test]
fn a_pause_stops_launcher_and_pes_and_the_clock() {
    let mark = mark(13);
    // In a group of its own: nobody stops a group whose parents are all in another session, as they may be here.
    let mut command = common::command(&["-n", "2", "--timeout", "3", "sleep", &mark]);
    let child = command.process_group(0).spawn().unwrap();
    let launcher = child.id() as i32;
    let running = || processes_with(&mark).into_iter().filter(|pid| command_of(*pid) == "sleep").collect::<Vec<_>>();
    wait_until("PEs run", || running().len() == 2);
    let pes = running();
    signal(&child, libc::SIGTSTP);
    wait_until("the launcher is stopped", || state(launcher) == "T");
    std::thread::sleep(Duration::from_millis(3500));
    assert!(pes.iter().all(|pe| state(*pe) == "T"));
    signal(&child, libc::SIGCONT);
    wait_until("PEs go on", || pes.iter().all(|pe| state(*pe) == "S"));
    assert_eq!(running().len(), 2, "the time limit did not run meanwhile");
    let started = Instant::now();
    signal(&child, libc::SIGTERM);
    assert_eq!(finish(child, started).status, 143);
}

#[test]
fn nothing_is_left_when_the_launcher_is_killed() {
    for (test, script) in [(14, "exec sleep MARK"), (15, "sleep MARK & sh -c 'sleep MARK; :'; wait")] {
        let mark = mark(test);
        let script = script.replace("MARK", &mark);
        let mut child = start(&["-n", "4"], &script);
        wait_until("PEs run", || processes_with(&mark).len() >= 4);
        std::thread::sleep(Duration::from_millis(100));
        signal(&child, libc::SIGKILL);
        child.wait().unwrap();
        let started = Instant::now();
        wait_until("nothing is left", || processes_with(&mark).is_empty());
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
        // Launcher, watchdog and shells have the script as a word of their command lines.
        wait_until("the watchdog is gone", || processes_with(&script).is_empty());
    }
}

#[test]
fn nothing_is_left_when_the_launchers_group_is_killed() {
    let mark = mark(16);
    let script = format!("sleep {mark} & wait");
    let mut command = common::command(&["-n", "3", "sh", "-c", &script]);
    let mut child = command.process_group(0).spawn().unwrap();
    wait_until("PEs run", || processes_with(&mark).len() == 3);
    common::signal_group(&child, libc::SIGKILL);
    child.wait().unwrap();
    wait_until("nothing is left", || processes_with(&mark).is_empty());
}

#[test]
fn ignored_signals_stay_ignored() {
    let mark = mark(17);
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    let script = format!("trap '' HUP; exec {oshrun} -n 2 sleep {mark}");
    let child = std::process::Command::new("sh").args(["-c", &script]).spawn().unwrap();
    wait_until("PEs run", || processes_with(&mark).len() == 4);
    signal(&child, libc::SIGHUP);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(processes_with(&mark).len(), 4);
    signal(&child, libc::SIGTERM);
    assert_eq!(finish(child, Instant::now()).status, 143);
}
