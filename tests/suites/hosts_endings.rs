//! How jobs on several hosts end before their time: PEs, parts, hosts and `oshrun` itself that die, networks that are
//! cut, agents that do not get there. The job is over everywhere within 10 s, and what is said names the host.

use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use harness::compile::Build;
use harness::hosts::{Hosts, write_script};
use harness::run::{Job, Outcome, Running, at_once};
use harness::{system, tree};

/// How soon a job is over after something went wrong.
const SOON: Duration = Duration::from_secs(10);

/// A program of the test's own, so that its processes can be told from those of other tests.
fn plain(name: &str) -> PathBuf {
    Build::program("hosts/plain.c").named(&format!("plain-{name}")).build()
}

/// A job whose PEs all run.
fn started(job: Job, binary: &Path, pes: usize) -> Running {
    let running = job.limit(60).start();
    let up = system::wait_until(Duration::from_secs(20), || system::processes(binary).len() == pes);
    if !up {
        panic!("{pes} PEs start\n{}", running.wait().describe());
    }
    running
}

/// The job ends soon after `what` was done to it, everywhere.
fn ends(running: Running, binary: &Path, what: impl FnOnce()) -> Outcome {
    ends_within(SOON, running, binary, what)
}

fn ends_within(limit: Duration, running: Running, binary: &Path, what: impl FnOnce()) -> Outcome {
    let before = Instant::now();
    what();
    let outcome = running.wait();
    assert!(before.elapsed() < limit, "{:?}\n{}", before.elapsed(), outcome.describe());
    let left = system::wait_for_no_process(binary, limit.saturating_sub(before.elapsed()));
    assert!(left.is_empty(), "processes are left: {left:?}\n{}", outcome.describe());
    outcome
}

#[test]
fn a_pe_that_leaves_or_dies_takes_all_hosts_along() {
    let Some(net) = Hosts::new(3) else { return };
    let binary = plain("dies");
    for (pe, host, number) in [(0, "a", 9), (3, "b", 11), (5, "c", 15)] {
        let job = net.oshrun(2).arg(&binary).args(["signal", &pe.to_string(), &number.to_string()]);
        let outcome = ends(job.limit(20).start(), &binary, || ()).expect_code(128 + number);
        outcome.expect_text(&[&format!("PE {pe} of 6 on host {host} (pid "), &format!("signal {number} (")]);
    }
    for (pe, host, status) in [(1, "a", 1), (4, "c", 255)] {
        let job = net.oshrun(2).arg(&binary).args(["status", &pe.to_string(), &status.to_string()]);
        let outcome = ends(job.limit(20).start(), &binary, || ()).expect_code(status);
        let texts = [format!("PE {pe} of 6 on host {host} (pid "), format!("exited with status {status}")];
        let outcome = outcome.expect_text(&[&texts[0], &texts[1]]);
        // One verdict, and nothing about those that were ended because of it.
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.describe());
    }
}

/// Connections to a PE that ends are closed, which PEs of other hosts may see before they hear why.
#[test]
fn transfers_that_fail_because_a_pe_ends_are_no_news() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = Build::program("endings/busy.c").named("busy-hosts").build();
    let turns = if system::is_long() { 30 } else { 4 };
    for (how, code, words) in [
        ("global-exit", 18, ""),
        ("exit", 18, "PE 0 of 2 on host a (pid "),
        ("6", 134, "was killed by signal 6 ("),
        ("9", 137, "was killed by signal 9 ("),
        ("11", 139, "was killed by signal 11 ("),
    ] {
        for _ in 0..turns {
            let job = net.oshrun(1).arg(&binary).arg(how);
            let outcome = ends(job.limit(20).start(), &binary, || ()).expect_code(code).expect_text(&[words]);
            assert!(!outcome.stderr.contains("pellucid: PE 1"), "{how}: {}", outcome.describe());
        }
    }
}

#[test]
fn pes_that_do_not_want_to_end_are_made_to() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("stubborn");
    let running = started(net.oshrun(2).arg(&binary).arg("stubborn"), &binary, 4);
    let victim = system::processes(&binary).into_iter().max().expect("a PE");
    let outcome = ends(running, &binary, || assert!(system::signal(victim, libc::SIGKILL)));
    outcome.expect_code(137).expect_text(&["was killed by signal 9"]);
}

#[test]
fn a_part_that_is_killed_is_a_lost_host() {
    let Some(net) = Hosts::new(3) else { return };
    let binary = plain("part");
    for (host, pes) in [("b", "PEs 2 to 3"), ("a", "PEs 0 to 1")] {
        let running = started(net.oshrun(2).arg(&binary).arg("wait"), &binary, 6);
        let part = net.part(host);
        let outcome = ends(running, &binary, || assert!(system::signal(part, libc::SIGKILL)));
        outcome.expect_code(1).expect_text(&[&format!("lost host {host} ({pes})"), "was killed by signal 9"]);
    }
}

/// From a person or a batch system there: PEs may have handlers for it.
#[test]
fn a_signal_to_a_part_is_named_with_its_host() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("part-signal");
    for (host, number, name) in [("b", libc::SIGTERM, "15 (termination)"), ("a", libc::SIGHUP, "1 (hang-up)")] {
        let running = started(net.oshrun(2).arg(&binary).arg("wait"), &binary, 4);
        let part = net.part(host);
        let outcome = ends(running, &binary, || assert!(system::signal(part, number))).expect_code(128 + number);
        let text = format!("oshrun: host {host}: its oshrun got signal {name}\n");
        assert_eq!(outcome.stderr, text, "{}", outcome.describe());
    }
}

#[test]
fn nothing_outlives_an_oshrun_that_is_killed() {
    let Some(net) = Hosts::new(3) else { return };
    let binary = plain("root");
    let running = started(net.oshrun(2).arg(&binary).arg("stubborn"), &binary, 6);
    let root = running.pid();
    let outcome = ends(running, &binary, || assert!(system::signal(root, libc::SIGKILL)));
    assert_eq!(outcome.code(), 137);
    let gone = system::wait_until(SOON, || net.names().iter().all(|name| net.processes(name).is_empty()));
    let left: Vec<_> = net.names().iter().map(|name| net.processes(name)).collect();
    assert!(gone, "processes are left: {left:?}");
}

/// What its PEs have not recorded is nobody's: hosts remove it.
#[test]
fn an_oshrun_that_is_killed_leaves_no_empty_traces() {
    let Some(net) = Hosts::new(2) else { return };
    let (binary, folder) = (plain("traces"), tree::fresh("hosts-traces"));
    let parts = tree::fresh("hosts-traces-of-parts");
    let trace = format!("--trace={}", folder.join("trace").display());
    let job = net.oshrun_with(&["--hosts", &net.list(1), &trace]).env("TMPDIR", &parts.display().to_string());
    let running = started(job.arg(&binary).arg("wait"), &binary, 2);
    assert_eq!(system::entries(&parts).len(), 2);
    let root = running.pid();
    ends(running, &binary, || assert!(system::signal(root, libc::SIGKILL)));
    assert!(system::wait_until(SOON, || system::entries(&parts).is_empty()), "{:?}", system::entries(&parts));
}

#[test]
fn a_network_that_is_cut_is_noticed_on_both_sides() {
    let Some(net) = Hosts::new(3) else { return };
    let binary = plain("cut");
    let running = started(net.oshrun(2).arg(&binary).arg("wait"), &binary, 6);
    let outcome = ends(running, &binary, || net.cut("b")).expect_code(1);
    // The agent of these hosts is no network connection: what the other side says comes through it.
    outcome.expect_text(&[
        "lost host b (PEs 2 to 3): nothing was heard of it for 7 s",
        "host b: the oshrun that runs the job is lost: nothing was heard of it for 7 s; ending PEs 2 to 3",
    ]);
}

/// TCP tries less and less often: what was lost is sent again in time all the same.
#[test]
fn a_link_that_is_back_after_some_seconds_is_no_end() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("back");
    let running = started(net.oshrun(2).arg(&binary).arg("wait"), &binary, 4);
    let victim = system::processes(&binary).into_iter().max().expect("a PE");
    net.cut("b");
    std::thread::sleep(Duration::from_millis(4500));
    net.mend("b");
    // Longer than until it would have been lost.
    std::thread::sleep(Duration::from_secs(5));
    let outcome = ends(running, &binary, || assert!(system::signal(victim, libc::SIGKILL)));
    outcome.expect_code(137).expect_text(&["was killed by signal 9"]);
}

/// Its kernel answers: others may keep `oshrun` from the cores there for that long.
#[test]
fn a_part_that_stands_still_is_lost_in_the_end() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("still");
    let running = started(net.oshrun(2).arg(&binary).arg("wait"), &binary, 4);
    let part = net.part("b");
    let within = Duration::from_secs(30) + SOON;
    let outcome = ends_within(within, running, &binary, || assert!(system::signal(part, libc::SIGSTOP)));
    let why = "lost host b (PEs 2 to 3): nothing was heard of it for 30 s, although its host answers";
    outcome.expect_code(1).expect_text(&[why]);
}

/// Whoever asks for the end is told who holds it up, and need not wait.
#[test]
fn a_part_that_stands_still_is_named_and_left_at_a_second_interrupt() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("waits");
    let running = started(net.oshrun(2).arg(&binary).arg("wait"), &binary, 4);
    let (root, part) = (running.pid(), net.part("b"));
    assert!(system::signal(part, libc::SIGSTOP));
    assert!(system::signal(root, libc::SIGINT));
    // Longer than until it is named.
    std::thread::sleep(Duration::from_secs(6));
    let outcome = ends(running, &binary, || assert!(system::signal(root, libc::SIGINT))).expect_code(130);
    outcome.expect_text(&["waiting for host b (PEs 2 to 3): nothing was heard from there for "]);
}

/// As many seconds as were too many before.
#[test]
fn a_part_that_does_not_run_for_a_while_is_not_lost() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("pause");
    let running = started(net.oshrun(2).arg(&binary).arg("wait"), &binary, 4);
    let (part, victim) = (net.part("b"), system::processes(&binary).into_iter().max().expect("a PE"));
    assert!(system::signal(part, libc::SIGSTOP));
    std::thread::sleep(Duration::from_secs(9));
    assert!(system::signal(part, libc::SIGCONT));
    let outcome = ends(running, &binary, || assert!(system::signal(victim, libc::SIGKILL)));
    outcome.expect_code(137).expect_text(&["was killed by signal 9"]);
}

/// With the library between the hosts, what is said tells where in it the PEs are.
#[test]
fn pes_inside_the_library_say_where() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = Build::program("launcher/say.c").named("say-hosts").build();
    let run = |options: &[&str], arguments: &[&str]| {
        let job = net.oshrun(2).args(options).arg(&binary).args(arguments);
        ends(job.limit(40).start(), &binary, || ())
    };
    let outcome = run(&["--timeout", "3"], &["hang"]).expect_code(124);
    outcome.expect_text(&[
        "PE 0 of 4 on host a (pid ",
        "in shmem_long_wait_until",
        "3 of 4 on host b (pid",
        "in shmem_barrier_all",
        "in shmem_barrier_all for PE 0",
    ]);
    let outcome = run(&[], &["signal", "3", "9"]).expect_code(137);
    outcome.expect_text(&["PE 3 of 4 on host b (pid ", "signal 9 (kill) in or after shmem_"]);
    run(&[], &["status", "2", "5"]).expect_code(5).expect_text(&["PE 2 of 4 on host b (pid ", "after shmem_finalize"]);
}

#[test]
fn a_time_limit_ends_the_job_everywhere() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("limit");
    let job = net.oshrun(2).args(["--timeout", "1"]).arg(&binary).arg("wait");
    let outcome = ends(job.limit(20).start(), &binary, || ()).expect_code(124);
    outcome.expect_text(&["--timeout", "1 of 4 on host a (pid", "3 of 4 on host b (pid", "not in the library"]);
}

#[test]
fn signals_reach_every_host() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("signals");
    for (number, what) in [(libc::SIGINT, "wait"), (libc::SIGTERM, "wait"), (libc::SIGHUP, "wait")] {
        let running = started(net.oshrun(2).arg(&binary).arg(what), &binary, 4);
        let root = running.pid();
        let outcome = ends(running, &binary, || assert!(system::signal(root, number)));
        assert_eq!((outcome.code(), outcome.stderr.as_str()), (128 + number, ""), "{}", outcome.describe());
    }
    // A report where nobody has a handler; the signal where somebody has.
    let running = started(net.oshrun(2).arg(&binary).arg("nap"), &binary, 4);
    assert!(system::signal(running.pid(), libc::SIGUSR1));
    let outcome = running.wait().expect_code(0);
    assert_eq!(outcome.stdout.lines().filter(|line| *line == "woken").count(), 4, "{}", outcome.describe());
    outcome.expect_text(&["signal 10 (user signal 1): the PEs now:", "3 of 4 on host b (pid"]);
    let running = started(net.oshrun(2).arg(&binary).arg("handler"), &binary, 4);
    // Not before the handlers are there.
    let ready = || system::processes(&binary).iter().all(|pid| system::handles(*pid, libc::SIGUSR1));
    assert!(system::wait_until(Duration::from_secs(10), ready));
    assert!(system::signal(running.pid(), libc::SIGUSR1));
    let outcome = running.wait().expect_code(0);
    assert_eq!(outcome.stdout.lines().filter(|line| *line == "handled").count(), 4, "{}", outcome.describe());
}

#[test]
fn a_job_that_is_paused_goes_on() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = plain("paused");
    let running = started(net.oshrun(1).arg(&binary).arg("nap"), &binary, 2);
    let root = running.pid();
    assert!(system::signal(root, libc::SIGTSTP));
    let stopped = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        text.lines().any(|line| line.starts_with("State:") && line.contains('T'))
    };
    assert!(system::wait_until(Duration::from_secs(5), || stopped(root)));
    let all = || system::processes(&binary).iter().all(|pid| stopped(*pid));
    assert!(system::wait_until(Duration::from_secs(5), all), "PEs are stopped too");
    // Longer than the silence after which a host would be lost.
    std::thread::sleep(Duration::from_secs(8));
    assert!(system::signal(root, libc::SIGCONT));
    let outcome = running.wait().expect_code(0);
    assert_eq!(outcome.stdout.lines().filter(|line| *line == "woken").count(), 2, "{}", outcome.describe());
}

#[test]
fn a_host_that_cannot_be_reached_is_named_with_what_the_agent_printed() {
    let Some(net) = Hosts::new(2) else { return };
    let folder = tree::scratch("hosts");
    let agent = |name: &str, on_b: &str| {
        let path = folder.join(format!("{name}-{}.sh", std::process::id()));
        let text = format!("#!/bin/sh\nif [ \"$1\" = b ]; then\n{on_b}\nfi\nexec {} \"$@\"\n", net.agent().display());
        write_script(&path, &text);
        path
    };
    let run = |agent: &Path| {
        let job = net.on("a", tree::tool("oshrun")).arg("--launch-agent").arg(agent).args(["--hosts", "a:2,b:2"]);
        let outcome = job.args(["sh", "-c", "echo started; sleep 60"]).limit(30).run();
        assert!(outcome.elapsed < SOON, "{}", outcome.describe());
        // Where not all hosts are there, nothing runs.
        assert_eq!(outcome.stdout, "", "{}", outcome.describe());
        // Those that are there are ended without a word.
        assert!(!outcome.stderr.contains("signal 15"), "{}", outcome.describe());
        outcome
    };
    let start = "host b: oshrun could not be started there: `";
    let outcome = run(&agent("refused", "echo b says no >&2; exit 255")).expect_code(1);
    outcome.expect_text(&[start, "exited with status 255; it printed:", "b says no"]);
    let outcome = run(&agent("absent", "exec sh -c /no/such/oshrun")).expect_code(1);
    outcome.expect_text(&[start, "exited with status 127; it printed:", "/no/such/oshrun"]);
    let outcome = run(&agent("old", "echo 'oshrun: unknown option --daemon' >&2; exit 2")).expect_code(1);
    outcome.expect_text(&[start, "unknown option --daemon"]);
    let outcome = run(&agent("silent", "kill -9 $$")).expect_code(1);
    outcome.expect_text(&[start, "was killed by signal 9 (kill); it printed nothing"]);
    let outcome = run(Path::new("/no/such/agent")).expect_code(1);
    outcome.expect_text(&["host a: the launch agent \"/no/such/agent\" cannot be started: not found"]);
    // The way back is closed.
    net.forbid("b", &net.address(0));
    let outcome = run(net.agent()).expect_code(1);
    outcome.expect_text(&[start, "cannot connect back to the oshrun that runs the job: 10.77.0.1:"]);
}

#[test]
fn what_is_missing_on_a_host_is_named_with_the_host() {
    let Some(net) = Hosts::new(2) else { return };
    let outcome = net.oshrun(1).arg("no-such-program-anywhere").run().expect_code(127);
    outcome.expect_text(&["host ", "program \"no-such-program-anywhere\" not found in PATH"]);
    let outcome = net.oshrun(1).arg("/etc/passwd").run().expect_code(126);
    outcome.expect_text(&["host ", "program \"/etc/passwd\" cannot be run: it is not executable"]);
}

#[test]
fn another_version_and_strangers_are_turned_away() {
    let folder = tree::fresh("hosts-strangers");
    let invitation = folder.join("invitation");
    // Host b has somebody who waits, and shows its invitation to this test.
    let agent = folder.join("agent.sh");
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = b ]; then head -n 1 >{0}.new; mv {0}.new {0}; exec sleep 30; fi\nshift\nexec \
         \"$@\"\n",
        invitation.display()
    );
    write_script(&agent, &text);
    let job = Job::new(tree::tool("oshrun")).arg("--launch-agent").arg(&agent).args(["--hosts", "a,b", "true"]);
    let running = job.limit(30).start();
    assert!(system::wait_until(Duration::from_secs(10), || invitation.exists()));
    let line = std::fs::read_to_string(&invitation).expect("an invitation");
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (secret, address) = (words[2], words[4].split(',').next().expect("an address"));
    let hello = |secret: &str| {
        let mut body = vec![1, 1, 0, 0, 0];
        for text in ["0.0.1", secret] {
            body.extend((text.len() as u32).to_le_bytes());
            body.extend(text.as_bytes());
        }
        body.extend([1, 0, 0, 0, 1, 0, 0, 0, b'x']);
        [&(body.len() as u32).to_le_bytes()[..], &body].concat()
    };
    let say = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(address).expect("oshrun listens");
        stream.write_all(bytes).expect("it takes what is said");
        stream
    };
    // Nonsense, a length beyond all bounds, and somebody who does not know the secret: none of them ends anything.
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[255; 64], &hello("0123456789abcdef0123456789abcdef")] {
        let mut stream = say(bytes);
        let closed = std::io::Read::read(&mut stream, &mut [0; 1]);
        assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    }
    let _part = say(&hello(secret));
    let outcome = running.wait().expect_code(1);
    outcome.expect_text(&["host b (x) has oshrun 0.0.1, and this is oshrun ", "all hosts need the same version"]);
}

/// More of them than `oshrun` may have files open.
#[test]
fn strangers_who_stay_do_not_keep_a_job_from_starting() {
    let folder = tree::fresh("hosts-silent");
    let [agent, invitation, go] = ["agent.sh", "invitation", "go"].map(|name| folder.join(name));
    // Host b comes when the strangers are there.
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = b ]; then\n  read -r line\n  echo \"$line\" >{0}.new\n  mv {0}.new {0}\n  while [ ! \
         -e {1} ]; do sleep 0.05; done\n  shift\n  echo \"$line\" | \"$@\"\nelse\n  shift\n  exec \"$@\"\nfi\n",
        invitation.display(),
        go.display()
    );
    write_script(&agent, &text);
    let start = "ulimit -n 100 && exec \"$@\"";
    let job = Job::new(Path::new("sh")).args(["-c", start, "sh"]).arg(tree::tool("oshrun"));
    let job = job.arg("--launch-agent").arg(&agent).args(["--hosts", "a,b", "echo", "started"]);
    let running = job.limit(50).start();
    assert!(system::wait_until(Duration::from_secs(10), || invitation.exists()));
    let line = std::fs::read_to_string(&invitation).expect("an invitation");
    let address = line.split_ascii_whitespace().nth(4).and_then(|all| all.split(',').next()).expect("an address");
    let connect = |number: usize| {
        let mut stream = TcpStream::connect(address).expect("oshrun listens");
        // One in two begins to say something. It may be dropped before.
        let _ = stream.write_all(&[0][number % 2..]);
        stream
    };
    let _strangers: Vec<TcpStream> = (0..300).map(connect).collect();
    std::fs::write(&go, "").expect("the sign");
    let outcome = running.wait().expect_code(0);
    assert_eq!(outcome.stdout.lines().filter(|line| *line == "started").count(), 2, "{}", outcome.describe());
}

#[test]
fn a_host_whose_agent_does_not_answer_is_named_soon() {
    let agent = tree::scratch("hosts").join(format!("mute-{}.sh", std::process::id()));
    write_script(&agent, "#!/bin/sh\nexec sleep 60\n");
    let job = Job::new(tree::tool("oshrun")).arg("--launch-agent").arg(&agent).args(["--hosts", "x,y", "true"]);
    let running = job.limit(60).start();
    // Nothing of the job's end is meant here: whoever sees the message ends it.
    std::thread::sleep(Duration::from_secs(7));
    assert!(system::signal(running.pid(), libc::SIGINT));
    let outcome = running.wait();
    let (x, y) = (format!("host x: no answer from `{}", agent.display()), "host y: no answer from `");
    assert!(outcome.elapsed < SOON && outcome.code() != 0, "{}", outcome.describe());
    outcome.expect_text(&[&x, y]);
}

#[test]
fn a_host_that_has_not_answered_is_named_at_a_time_limit() {
    let agent = tree::scratch("hosts").join(format!("mute-limit-{}.sh", std::process::id()));
    write_script(&agent, "#!/bin/sh\nif [ \"$1\" = y ]; then exec sleep 60; fi\nshift\nexec \"$@\"\n");
    let job = Job::new(tree::tool("oshrun")).arg("--launch-agent").arg(&agent).args(["--timeout", "2"]);
    let outcome = job.args(["--hosts", "x,y", "true"]).limit(60).run().expect_code(124);
    assert!(outcome.elapsed < SOON, "{}", outcome.describe());
    outcome.expect_text(&["--timeout", "host y (PE 1) has not answered yet, and no PE is started before"]);
}

/// A link that is down for a moment, while the part of a host looks for the way back.
#[test]
fn the_way_back_is_tried_again() {
    let Some(net) = Hosts::new(2) else { return };
    net.cut("b");
    let running = net.oshrun(1).args(["sh", "-c", "echo started"]).limit(60).start();
    // Longer than one try.
    std::thread::sleep(Duration::from_secs(5));
    net.mend("b");
    assert_eq!(running.wait().expect_code(0).stdout, "started\nstarted\n");
}

/// No PE waits for answers of those that have ended before it; in a long test, often.
#[test]
fn a_job_on_four_hosts_ends_at_once() {
    let Some(net) = Hosts::new(4) else { return };
    let binary = Build::program("endings/empty.c").named("empty-hosts").build();
    // By the PEs of a host: 4, 8 and 16 in all.
    for (pes, few) in [(1, 5), (2, 1), (4, 1)] {
        let runs = system::repetitions(few, 200);
        let mut longest = Duration::ZERO;
        for _ in 0..runs {
            let outcome = at_once(Duration::from_secs(2), || net.oshrun(pes).arg(&binary).limit(20));
            longest = longest.max(outcome.elapsed);
        }
        println!("{pes} PEs on each of 4 hosts: {runs} runs, the longest {longest:?}");
    }
}

/// Whether it is the PE of the host, its neighbour there or one of another host that waits.
#[test]
fn a_finalize_is_no_part_of_another_collective_of_other_hosts() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = Build::program("endings/mixed.c").named("mixed-hosts").build();
    let cases = ["barrier", "sum", "return", "malloc", "team", "part", "set"].map(|what| (2, what));
    for (pes, what) in [(1, "barrier"), (1, "team")].into_iter().chain(cases) {
        let outcome = ends(net.oshrun(pes).arg(&binary).arg(what).limit(20).start(), &binary, || ()).expect_code(1);
        let named = outcome.stderr.contains("PE 1") && outcome.stderr.contains("shmem_finalize");
        assert!(named && !outcome.stdout.contains("went on"), "{what}: {}", outcome.describe());
    }
}

/// Nobody there says that it leaves: `oshrun` sees its end, and that others wait for it.
#[test]
fn a_pe_that_ends_without_a_word_is_named_while_others_wait_for_it() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = Build::program("endings/ending.c").named("ending-hosts").build();
    for (pes, how, host) in [(1, "_exit-0", "b"), (1, "exec", "b"), (2, "_exit-0", "a")] {
        let job = net.oshrun(pes).arg(&binary).args([how, "1", "barrier"]);
        let outcome = ends(job.limit(20).start(), &binary, || ()).expect_code(1);
        let who = format!("PE 1 of {} on host {host} (pid ", 2 * pes);
        outcome.expect_text(&[&who, "ended after its last routine ", " in shmem_barrier_all for PE 1\n"]);
    }
}

/// Python's handler takes a note only, which comes to something when a call returns.
#[test]
fn an_interrupt_ends_a_python_program_on_all_hosts() {
    let (Some(net), Some(python)) = (Hosts::new(2), system::find(&["python3"])) else { return };
    let script = tree::package().join("programs/launcher/interrupt.py");
    for (what, options) in [("sleeps", &[][..]), ("waits", &[]), ("waits", &["--profile", "off"])] {
        let folder = tree::fresh(&format!("interrupt-hosts-{what}"));
        let job = net.oshrun(2).args(options).arg(&python).arg(&script).arg(tree::library("libsma.so"));
        let running = job.arg(what).arg(&folder).limit(40).start();
        assert!(system::wait_until(SOON, || system::entries(&folder).len() == 4), "four PEs start");
        std::thread::sleep(Duration::from_millis(300));
        let before = Instant::now();
        assert!(system::signal(running.pid(), libc::SIGINT));
        let outcome = running.wait();
        assert!(before.elapsed() < Duration::from_secs(4), "{what}: {:?} {}", before.elapsed(), outcome.describe());
        assert_eq!(outcome.code(), 128 + libc::SIGINT, "{what}: {}", outcome.describe());
        assert!(!outcome.stderr.contains("pellucid:"), "{what}: {}", outcome.describe());
    }
}
