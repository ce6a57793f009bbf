//! `oshrun --hosts`: jobs on several hosts, which are network namespaces, as far as they go well. How they end before
//! their time is in `hosts_endings.rs`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use harness::compile::Build;
use harness::hosts::{Hosts, write_script};
use harness::run::Job;
use harness::wire::Quality;
use harness::{system, tree};

fn plain() -> PathBuf {
    Build::program("hosts/plain.c").build()
}

/// An agent that runs everything here: what is left of HOST is its name.
fn here(name: &str) -> PathBuf {
    let agent = tree::scratch("hosts").join(format!("{name}-{}.sh", std::process::id()));
    write_script(&agent, "#!/bin/sh\nshift\nexec \"$@\"\n");
    agent
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort();
    lines
}

#[test]
fn every_pe_runs_once_on_its_host() {
    for (hosts, pes) in [(2, 1), (2, 4), (3, 2), (4, 1), (4, 3)] {
        let Some(net) = Hosts::new(hosts) else { return };
        let outcome = net.oshrun(pes).arg(plain()).arg("where").limit(30).run().expect_code(0);
        let npes = hosts * pes;
        let mut expected: Vec<String> =
            (0..npes).map(|pe| format!("PE {pe} of {npes} on {}", net.names()[pe / pes])).collect();
        expected.sort();
        assert_eq!(sorted(&outcome.stdout), expected);
        assert_eq!(outcome.stderr, "");
    }
}

/// A host that has another build of the program is named, before anything is written to the wrong place.
#[test]
fn executables_of_hosts_are_compared() {
    let Some(net) = Hosts::new(2) else { return };
    let build = |name: &str, options: &[&str]| Build::program("launcher/build.c").named(name).options(options).build();
    let (one, other) = (build("build-one", &[]), build("build-other", &["-DPAD=4"]));
    let script = format!("test $PMI_RANK = 0 && exec {}; exec {}", one.display(), other.display());
    let outcome = net.oshrun(1).args(["sh", "-c", &script]).limit(30).run().expect_failure();
    let names = net.names();
    let words = ["the executable has a build ID", &names[0], &names[1], "all PEs need the same executable"];
    outcome.expect_text(&words);
    // The same one, under another name.
    let copy = tree::scratch("hosts").join("build-copy");
    std::fs::copy(&one, &copy).expect("copied");
    let script = format!("test $PMI_RANK = 0 && exec {}; exec {}", one.display(), copy.display());
    let outcome = net.oshrun(1).args(["sh", "-c", &script]).limit(30).run().expect_code(0);
    assert_eq!(outcome.stdout, "99 6\n");
}

#[test]
fn hosts_are_filled_as_asked() {
    let agent = here("filled");
    let agent = agent.to_str().expect("text");
    let file = tree::scratch("hosts").join("hostfile");
    std::fs::write(&file, "# two hosts\nx slots=2\ny:1\n").expect("written");
    let file = file.to_str().expect("text");
    for (options, pes) in [
        (&["--hosts", "x,y"][..], 2),
        (&["--hosts", "x:3,y"], 4),
        (&["-n", "5", "--hosts", "x,y"], 5),
        (&["--ppn", "2", "--hosts", "x,y,z"], 6),
        (&["-n", "3", "--ppn", "2", "--hosts", "x,y"], 3),
        (&["-n", "4", "--oversubscribe", "--hosts", "x:1,y:1"], 4),
        (&["-n", "4", "-O", "--hostfile", file], 4),
        (&["--hostfile", file], 3),
        (&["-n", "2", "--hostfile", file], 2),
    ] {
        let job = Job::new(tree::tool("oshrun")).args(options).args(["--launch-agent", agent]);
        let outcome = job.arg(plain()).arg("where").run().expect_code(0);
        assert_eq!(outcome.stdout.lines().count(), pes, "{}", outcome.describe());
    }
    for (options, words) in [
        (&["-n", "4", "--hostfile", file][..], "there are slots for 3 on 2 host(s); --ppn N or --oversubscribe gives"),
        (&["--hosts", "x:0"], "expected a number of PEs above 0"),
        (&["--hosts", ""], "expected the name of a host"),
        (&["--hosts", "-x"], "is no name of a host"),
        (&["--hosts", "x", "--hostfile", file], "cannot be used with '--hostfile <FILE>'"),
        (&["--hostfile", "/no/such/file"], "No such file"),
        (&["--hostfile", "/dev/zero"], "/dev/zero: larger than 16 MiB, which is no list of hosts"),
        (&["--hosts", "x:99999999999"], "too large, at most 16777216 PEs make a job"),
        (&["--launch-agent", " ", "--hosts", "x"], "expected a command"),
        (&["--dashboard", "--hosts", "localhost,x:2"], "PE 1 is to be on x"),
        (&["--gdb", "--survive", "-x", "SHMEM_TRANSPORT=ofi"], "option --gdb: not with --survive"),
    ] {
        let outcome = Job::new(tree::tool("oshrun")).args(options).arg("true").run().expect_code(2);
        outcome.expect_text(&[words]);
    }
    // The only host is this one: nothing is needed to reach it.
    let job = Job::new(tree::tool("oshrun")).args(["--hosts", "localhost:3", "--launch-agent", "/no/such/agent"]);
    assert_eq!(job.arg(plain()).arg("where").run().expect_code(0).stdout.lines().count(), 3);
}

/// Virtual machines and bridges of containers have such networks: nobody reaches another host by them.
#[test]
fn an_address_that_each_host_has_is_named() {
    let Some(net) = Hosts::new(2) else { return };
    for name in net.names() {
        let commands = "ip link add other0 type veth peer name other1 && ip address add 10.0.2.15/24 dev other0 && \
                        ip link set other0 up && ip link set other1 up";
        net.on(name, "sh").args(["-c", commands]).run().expect_code(0);
    }
    let run = |interface: &str| {
        let binary = Build::program("endings/empty.c").named("empty-address").build();
        net.oshrun(1).args(["-x", &format!("SHMEM_OFI_INTERFACE={interface}")]).arg(binary).limit(60).run()
    };
    run("eth0").expect_code(0);
    let outcome = run("other0").expect_failure();
    let names = net.names();
    let words = ["both have the address 10.0.2.15", "SHMEM_OFI_INTERFACE", &names[0], &names[1]];
    outcome.expect_text(&words);
}

/// PEs that look for an interface while a link has no carrier look again.
#[test]
fn a_link_that_is_down_for_a_moment_is_awaited() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = Build::program("endings/empty.c").named("empty-link").build();
    let folder = tree::fresh("hosts-link");
    let script = format!("touch {}/$PMI_RANK; sleep 1; exec {}", folder.display(), binary.display());
    let running = net.oshrun(1).args(["sh", "-c", &script]).limit(60).start();
    let up = || system::entries(&folder).len() == 2;
    assert!(system::wait_until(Duration::from_secs(20), up), "two PEs start");
    net.cut("b");
    std::thread::sleep(Duration::from_secs(3));
    net.mend("b");
    running.wait().expect_code(0);
}

/// PEs of both hosts read and write one file: the programs of the extensions' chapter, which check what is in it.
#[test]
fn files_are_one_on_all_hosts() {
    let Some(net) = Hosts::new(2) else { return };
    let folder = tree::fresh("hosts-files");
    for name in ["files", "file-errors"] {
        let source = tree::package().join("conformance/extensions").join(name).with_extension("c");
        let binary = Build::source(&format!("hosts-{name}"), &source).build();
        for pes in [1, 2] {
            let job = net.oshrun(pes).env("TMPDIR", &folder.display().to_string()).arg(&binary);
            job.limit(120).run().expect_code(0);
        }
    }
}

/// Spaces of PEs of several hosts; what is said of one to a PE of another host, which asks for it.
#[test]
fn spaces_have_members_on_all_hosts() {
    let Some(net) = Hosts::new(2) else { return };
    let source = tree::package().join("conformance/extensions/spaces.c");
    let binary = Build::source("hosts-spaces", &source).build();
    for pes in [1, 2] {
        net.oshrun(pes).arg(&binary).limit(120).run().expect_code(0);
    }
    let isolation = Build::program("misuse/isolation.c").build();
    for (who, words) in [("to", "PE 2 is none of its 2 members"), ("by", "the calling PE 2 is none of its 2 members")] {
        let job = net.oshrun_with(&["--hosts", "a:2,b:1"]).arg(&isolation).args([who, "put"]);
        job.limit(30).run().expect_code(1).expect_text(&["lies in space \"halo\", and ", words]);
    }
}

#[test]
fn info_says_what_would_be_done() {
    let job = Job::new(tree::tool("oshrun")).args(["--hosts", "x:2,y:3", "--launch-agent", "reach -v", "--info"]);
    let outcome = job.run().expect_code(0);
    outcome.expect_text(&["oshrun", "PEs: 5 on 2 hosts", "host y: PEs 2 to 4, started by: reach -v y /"]);
    let outcome = Job::oshrun(3).arg("--info").run().expect_code(0);
    outcome.expect_text(&["PEs: 3, all on this host"]);
}

#[test]
fn arguments_and_variables_arrive() {
    let Some(net) = Hosts::new(2) else { return };
    let job = net.oshrun(1).arg("-n").arg("1").arg(plain());
    let outcome = job.args(["arguments", "a b", "", "-n", "*", "'\"$x", "ü\n"]).run().expect_code(0);
    assert_eq!(outcome.stdout, "[a b][][-n][*]['\"$x][ü\n]");
    // An agent that leaves nothing of the environment, as ssh does.
    let agent = tree::scratch("hosts").join(format!("bare-{}.sh", std::process::id()));
    let through = net.agent().display();
    write_script(
        &agent,
        &format!("#!/bin/sh\ncd /\nexec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin {through} \"$@\"\n"),
    );
    let folder = tree::fresh("hosts-folder");
    let job = net.on("a", tree::tool("oshrun")).arg("--launch-agent").arg(&agent).args(["--hosts", &net.list(2)]);
    let job = job.args(["-x", "FLAVOUR=sour cherry", "--heap", "3m"]).arg(plain()).arg("variables");
    let job = job.env("FI_PROVIDER", "tcp").env("HOME", "/root").env("SHMEM_SYMMETRIC_SIZE", "5m");
    let outcome = job.env("GASNET_MAX_SEGSIZE", "2m").directory(&folder).run().expect_code(0);
    let expected = format!("{} sour cherry 3m tcp 2m no HOME", folder.display());
    assert_eq!(outcome.stdout.lines().collect::<Vec<_>>(), [expected.as_str(); 4]);
}

#[test]
fn output_and_input_are_passed_on() {
    let Some(net) = Hosts::new(3) else { return };
    let outcome = net.oshrun(1).arg("--label").args(["sh", "-c", "echo out; echo err >&2"]).run().expect_code(0);
    assert_eq!(sorted(&outcome.stdout), ["[0] out", "[1] out", "[2] out"]);
    assert_eq!(sorted(&outcome.stderr), ["[0] err", "[1] err", "[2] err"]);
    let outcome = net.oshrun(1).arg(plain()).arg("lines").run().expect_code(0);
    assert_eq!(outcome.stdout.lines().count(), 60_000);
    for pe in 0..3 {
        // In order for each PE.
        let prefix = format!("PE {pe} line ");
        let lines = outcome
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix(&prefix)?.split(' ').next()?.parse::<u32>().ok());
        assert!(lines.eq(0..20_000), "the lines of PE {pe}");
    }
    // PE 0 is on another host than oshrun.
    let input: String = (0..50_000).map(|line| format!("line {line}\n")).collect();
    let bytes = input.len();
    let job = net.oshrun_with(&["--hosts", "c:2,b"]).arg(plain()).arg("input").input(input);
    let expected = [
        format!("PE 0 read 50000 lines, {bytes} bytes"),
        "PE 1 read 0 lines, 0 bytes".to_string(),
        "PE 2 read 0 lines, 0 bytes".to_string(),
    ];
    assert_eq!(sorted(&job.run().expect_code(0).stdout), expected);
}

#[test]
fn output_that_nobody_reads_ends_the_job() {
    let Some(net) = Hosts::new(2) else { return };
    let binary = Build::program("hosts/plain.c").named("plain-unread").build();
    let (agent, oshrun) = (net.agent().display(), tree::tool("oshrun"));
    let line = format!(
        "{} --launch-agent {agent} --hosts {} {} for-ever | head -n 3; echo over",
        oshrun.display(),
        net.list(2),
        binary.display()
    );
    let outcome = net.on("a", "sh").args(["-c", &line]).limit(20).run().expect_code(0);
    assert_eq!((outcome.stdout.lines().count(), outcome.stderr.as_str()), (4, ""), "{}", outcome.describe());
    let left = system::wait_for_no_process(&binary, std::time::Duration::from_secs(5));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn many_hosts_start_together() {
    // Names that are numbers: no resolver is asked.
    let hosts: Vec<String> = (1..=40).map(|host| format!("127.0.0.{host}")).collect();
    let job = Job::new(tree::tool("oshrun")).args(["--hosts", &hosts.join(",")]).arg("--launch-agent");
    let outcome = job.arg(here("many")).arg(plain()).arg("where").limit(60).run().expect_code(0);
    assert_eq!(outcome.stdout.lines().count(), 40);
}

/// A resolver that does not answer holds up all hosts together, and not for long.
#[test]
fn names_that_nobody_resolves_hold_up_no_job() {
    let preload =
        format!("LD_PRELOAD={}", Build::program("hosts/resolver.c").options(["-shared", "-fPIC"]).build().display());
    let hosts: Vec<String> = (0..40).map(|host| format!("silent{host}")).collect();
    let oshrun = tree::tool("oshrun");
    let job = Job::new("env").arg(preload).arg(oshrun).args(["--hosts", &hosts.join(",")]).arg("--launch-agent");
    let outcome = job.arg(here("silent")).arg(plain()).arg("where").limit(60).run().expect_code(0);
    assert_eq!((outcome.stdout.lines().count(), outcome.stderr.as_str()), (40, ""));
}

/// Run by `oshrun` as a PE, from the next tests.
#[test]
fn a_pe_of_the_next_tests() {
    use pellucid_core::bootstrap;
    if std::env::var_os("PELLUCID_WIREUP_FD").is_none() {
        return;
    }
    let launch = bootstrap::find(|_, _| None, |_| ()).expect("a job");
    let wireup = launch.wireup.expect("other hosts");
    let (me, npes) = (wireup.pe(), wireup.npes());
    match std::env::var("FLAVOUR").as_deref() {
        Ok("leaves") if me == 1 => return,
        Ok("aborts") if me == 2 => wireup.abort(9, "had enough"),
        _ => {}
    }
    for round in 0..3 {
        wireup.publish("fabric", format!("PE {me} in round {round}").as_bytes()).expect("published");
        wireup.fence().expect("a fence");
        // In another order on every PE; the first round is for all, the others are asked for each anew.
        for pe in (0..npes).map(|pe| (pe + me) % npes) {
            let card = wireup.lookup(pe, "fabric").expect("a card");
            let text = String::from_utf8(card).expect("text");
            let number: u32 = text.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number");
            assert!(text.starts_with(&format!("PE {pe} in round ")) && number <= round, "{text}");
        }
        wireup.fence().expect("a fence");
    }
    assert!(wireup.lookup((me + 1) % npes, "other").is_err());
    println!("\nPE {me} of {npes}, {:?} here, hosts begin with {:?}", wireup.local(), wireup.hosts());
}

#[test]
fn pes_find_each_other() {
    let Some(net) = Hosts::new(3) else { return };
    let this = std::env::current_exe().expect("this file");
    let job = net.oshrun_with(&["--hosts", "a:2,b:1,c:3"]).arg(&this).args(AS_PE);
    let outcome = job.run().expect_code(0);
    let hosts = ["0..2", "0..2", "2..3", "3..6", "3..6", "3..6"];
    for (pe, local) in hosts.iter().enumerate() {
        let line = format!("PE {pe} of 6, {local} here, hosts begin with Some([0, 2, 3])");
        assert!(outcome.stdout.contains(&line), "{line}\n{}", outcome.describe());
    }
    // One that does not come: the others wait in the library, on all hosts.
    let job = net.oshrun_with(&["--hosts", "a:1,b:2,c:1", "-x", "FLAVOUR=leaves"]).arg(&this).args(AS_PE);
    let outcome = job.limit(30).run().expect_code(1);
    outcome.expect_text(&[
        "PE 1 of 4 on host b (pid ",
        "1 s later others are still inside the library and may wait for it for ever:",
        "PE 0 of 4 on host a (pid ",
        "PE 2 of 4 on host b (pid ",
        "PE 3 of 4 on host c (pid ",
        "in shmem_init",
    ]);
    let job = net.oshrun_with(&["--hosts", "a:1,b:2,c:1", "-x", "FLAVOUR=aborts"]).arg(&this).args(AS_PE);
    job.limit(30).run().expect_code(9).expect_text(&["PE 2 of 4 on host b (pid ", "): had enough"]);
}

/// What has this file be a PE.
const AS_PE: [&str; 4] = ["a_pe_of_the_next_tests", "--exact", "--nocapture", "--test-threads=1"];

#[test]
fn programs_of_the_library_meet() {
    let program = Build::program("launcher/say.c").build();
    for (hosts, pes) in [(2, 1), (2, 3), (4, 2)] {
        let Some(net) = Hosts::new(hosts) else { return };
        let outcome = net.oshrun(pes).arg(&program).arg("numbers").limit(60).run().expect_code(0);
        let npes = hosts * pes;
        let expected: Vec<String> = (0..npes).map(|pe| format!("PE {pe} of {npes}")).collect();
        assert_eq!(sorted(&outcome.stdout), expected);
        assert_eq!(outcome.stderr, "");
    }
}

#[test]
fn a_slow_and_lossy_network_is_no_end() {
    let Some(net) = Hosts::new(2) else { return };
    if !net.disturb("b", Quality { delay: Duration::from_millis(20), loss: 5 }) {
        return;
    }
    let outcome = net.oshrun(2).arg(plain()).arg("where").limit(40).run().expect_code(0);
    assert_eq!(outcome.stdout.lines().count(), 4);
}

/// `oshrun` over a real sshd with keys, configuration and port of its own.
#[test]
fn ssh_reaches_a_host() {
    let Some(server) = Sshd::start() else { return };
    let agent = format!("ssh -F {}", server.folder.join("client").display());
    let job = Job::new(tree::tool("oshrun")).args(["--launch-agent", &agent, "--hosts", "one:2,two:2"]);
    let outcome = job.args(["-x", "FLAVOUR=it's \"sour\" $cherry"]).arg(plain()).arg("variables").run().expect_code(0);
    assert_eq!(outcome.stdout.lines().filter(|line| line.contains("it's \"sour\" $cherry")).count(), 4);
    let job = Job::new(tree::tool("oshrun")).args(["--launch-agent", &agent, "--hosts", "one:2,two:2"]);
    let outcome = job.arg(plain()).args(["signal", "3", "9"]).run().expect_code(137);
    outcome.expect_text(&["PE 3 of 4 on host two", "signal 9"]);
    // What ssh has started goes when oshrun is killed, though no signal gets there.
    let binary = Build::program("hosts/plain.c").named("plain-ssh").build();
    let job = Job::new(tree::tool("oshrun")).args(["--launch-agent", &agent, "--hosts", "one:2,two:2"]);
    let running = job.arg(&binary).arg("stubborn").start();
    let patience = std::time::Duration::from_secs(10);
    assert!(system::wait_until(patience, || system::processes(&binary).len() == 4));
    assert!(system::signal(running.pid(), libc::SIGKILL));
    let left = system::wait_for_no_process(&binary, patience);
    assert!(left.is_empty(), "{left:?}");
    running.wait();
    let job = Job::new(tree::tool("oshrun")).args(["--launch-agent", &agent, "--hosts", "one,closed"]);
    let outcome = job.arg("true").run().expect_code(1);
    outcome.expect_text(&["host closed: oshrun could not be started there", "Connection refused"]);
}

struct Sshd {
    folder: PathBuf,
    child: std::process::Child,
}

impl Sshd {
    fn start() -> Option<Sshd> {
        let program = Path::new("/usr/sbin/sshd");
        if !program.exists() {
            eprintln!("skipped: there is no sshd (Debian package openssh-server)");
            return None;
        }
        // Its keys must be in a place that nobody else can write to.
        let folder = std::env::temp_dir().join(format!("pellucid-sshd-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::create_dir_all("/run/sshd").ok();
        let run = |program: &str, arguments: &[&str]| {
            let output = std::process::Command::new(program).args(arguments).current_dir(&folder).output();
            let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
            assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        };
        for key in ["host", "user"] {
            run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", key]);
        }
        let port = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            listener.local_addr().expect("an address").port()
        };
        let at = |name: &str| folder.join(name).display().to_string();
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n",
            at("host"),
            at("user.pub")
        );
        let client = format!(
            "Host *\nHostName 127.0.0.1\nIdentityFile {}\nIdentitiesOnly yes\nBatchMode yes\nLogLevel ERROR\n\
             StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nHost one two\nPort {port}\nHost closed\nPort 1\n",
            at("user")
        );
        std::fs::write(folder.join("server"), server).expect("written");
        std::fs::write(folder.join("client"), client).expect("written");
        let mut command = std::process::Command::new(program);
        command
            .args(["-D", "-e", "-f", &at("server")])
            .stderr(std::fs::File::create(folder.join("log")).expect("made"));
        let child = command.spawn().expect("sshd starts");
        let server = Sshd { folder, child };
        let up = system::wait_until(std::time::Duration::from_secs(10), || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        let log = std::fs::read_to_string(server.folder.join("log")).unwrap_or_default();
        assert!(up, "sshd does not answer:\n{log}");
        Some(server)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
