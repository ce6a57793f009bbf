//! Where the processes of a job listen: on no more addresses than docs/security.md says. Network namespaces are hosts,
//! each of which has a second network that is none of the job's business.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use harness::compile::Build;
use harness::hosts::{Hosts, write_script};
use harness::launchers::{self, Launcher};
use harness::ports::listening;
use harness::run::{Job, is_over_network};
use harness::{system, tree};

const PATIENCE: Duration = Duration::from_secs(20);

/// A program that waits for ever, and the file that says that it does.
fn waiting(name: &str) -> (PathBuf, PathBuf) {
    let name = format!("ports-{name}");
    (Build::program("launchers/waits.c").named(&name).build(), tree::fresh(&name).join("ready"))
}

/// Runs a job whose PEs wait; gives where its PEs listen, and where `oshrun` does, if it is asked for.
fn listeners(job: Job, binary: &Path, ready: &Path) -> (Vec<BTreeSet<SocketAddr>>, BTreeSet<SocketAddr>) {
    let running = job.arg(binary).arg("until").arg(ready).limit(40).start();
    if !system::wait_until(PATIENCE, || ready.exists()) {
        panic!("the PEs do not start\n{}", running.wait().describe());
    }
    // The ring of hosts is joined by a thread, while PEs run already.
    std::thread::sleep(Duration::from_millis(500));
    let pes = system::processes(binary).into_iter().map(own).collect();
    let launchers = oshruns(binary).into_iter().flat_map(listening).collect();
    system::signal(running.pid(), libc::SIGINT);
    running.wait();
    assert_eq!(system::wait_for_no_process(binary, PATIENCE), [0; 0]);
    (pes, launchers)
}

/// Where a PE itself listens: Hydra's `mpiexec` hands its own port down to what it starts.
fn own(pe: u32) -> BTreeSet<SocketAddr> {
    let inherited = system::parent(pe).map(listening).unwrap_or_default();
    listening(pe).difference(&inherited).copied().collect()
}

/// Processes of the `oshrun` under test that start this program.
fn oshruns(binary: &Path) -> Vec<u32> {
    let is_ours = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let text = String::from_utf8_lossy(&line).into_owned();
        text.contains("--daemon") || text.contains(&*binary.to_string_lossy())
    };
    system::processes(&tree::tool("oshrun")).into_iter().filter(is_ours).collect()
}

#[test]
fn on_one_host_nobody_listens() {
    if is_over_network() {
        return;
    }
    let (binary, ready) = waiting("one");
    let (pes, oshrun) = listeners(Job::oshrun(3), &binary, &ready);
    assert_eq!((pes, oshrun), (vec![BTreeSet::new(); 3], BTreeSet::new()));
}

#[test]
fn libfabric_on_one_host_uses_the_loopback_interface() {
    if system::library("libfabric.so.1").is_none() {
        return println!("skipped: there is no libfabric");
    }
    let (binary, ready) = waiting("ofi");
    let job = Job::oshrun(2).env("SHMEM_TRANSPORT", "ofi").env("SHMEM_OFI_PROVIDER", "tcp;ofi_rxm");
    let (pes, oshrun) = listeners(job, &binary, &ready);
    assert!(pes.iter().all(|all| !all.is_empty() && all.iter().all(|place| place.ip().is_loopback())), "{pes:?}");
    assert_eq!(oshrun, BTreeSet::new());
}

/// Hosts with a second network, 10.78.0.x, besides their 10.77.0.x.
fn two_networks() -> Option<Hosts> {
    if system::library("libfabric.so.1").is_none() {
        println!("skipped: there is no libfabric");
        return None;
    }
    let hosts = Hosts::new(2)?;
    for (place, name) in hosts.names().iter().enumerate() {
        let commands = format!(
            "ip link add other0 type veth peer name other1 && ip address add 10.78.0.{}/24 dev other0 && \
             ip link set other0 up && ip link set other1 up",
            place + 1
        );
        hosts.on(name, "sh").args(["-c", &commands]).run().expect_code(0);
    }
    Some(hosts)
}

/// Whether all of these are on the network of the job.
fn are_inside(all: &BTreeSet<SocketAddr>) -> bool {
    all.iter().all(|place| place.ip().to_string().starts_with("10.77.0."))
}

/// The agent waits for a file before it starts the part of host `b`: until then, oshrun waits for it.
#[test]
fn oshrun_listens_where_its_hosts_are_until_they_have_come() {
    let Some(net) = two_networks() else { return };
    let (binary, ready) = waiting("hosts");
    let (agent, go) = (ready.with_file_name("agent.sh"), ready.with_file_name("go"));
    let text = format!(
        "#!/bin/sh\ncase $1 in {}) host=a;; *) host=b; for n in $(seq 200); do [ -e {} ] && break; sleep 0.1; done;; \
         esac\nshift\nexec {} $host \"$@\"\n",
        net.address(0),
        go.display(),
        net.agent().display()
    );
    write_script(&agent, &text);
    let hosts = format!("{}:2,{}:2", net.address(0), net.address(1));
    let job = net.on("a", tree::tool("oshrun")).args(["-x", "SHMEM_OFI_INTERFACE=eth0", "--hosts", &hosts]);
    let job = job.arg("--launch-agent").arg(&agent);
    let before = std::thread::spawn({
        let binary = binary.clone();
        move || {
            let found = || oshruns(&binary).into_iter().flat_map(listening).collect::<BTreeSet<_>>();
            system::wait_until(PATIENCE, || !found().is_empty());
            let found = found();
            std::fs::write(go, "").expect("a file");
            found
        }
    });
    let (pes, oshrun) = listeners(job, &binary, &ready);
    let before = before.join().expect("the hosts come");
    assert!(before.len() == 1 && are_inside(&before), "{before:?}");
    assert_eq!(oshrun, BTreeSet::new(), "all have come");
    assert!(pes.len() == 4 && pes.iter().all(|all| !all.is_empty() && are_inside(all)), "{pes:?}");
}

#[test]
fn under_other_launchers_pes_listen_on_the_interface_chosen() {
    for (name, launcher) in [("mpirun", launchers::open_mpi()), ("mpiexec.hydra", launchers::hydra())] {
        let launcher: Launcher = match launcher {
            Ok(launcher) => launcher,
            Err(reason) => {
                println!("not tested: {name}: {reason}");
                continue;
            }
        };
        let Some(net) = two_networks() else { return };
        let (binary, ready) = waiting(name);
        let launcher = launcher.across(&net, 2).expect("two hosts").with(&exported(&launcher));
        let job = launcher.job(4).env("SHMEM_OFI_INTERFACE", "eth0");
        let (pes, _) = listeners(job, &binary, &ready);
        // That of the ring of hosts is closed when the ring is.
        assert!(pes.len() == 4 && pes.iter().all(|all| all.len() == 1 && are_inside(all)), "{name}: {pes:?}");
    }
}

/// What has a launcher pass the variable on.
fn exported(launcher: &Launcher) -> Vec<&'static str> {
    match launcher.family {
        launchers::Family::Orte | launchers::Family::Prrte => vec!["-x", "SHMEM_OFI_INTERFACE"],
        _ => Vec::new(),
    }
}
