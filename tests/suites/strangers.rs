//! Somebody on another host of the network who finds the ports of a job's PEs: connects, sends messages, and asks for
//! memory. Nothing of the job's memory is read or written, and the job ends as if nobody had been there. Hosts are
//! network namespaces.
//!
//! The stranger is this program itself, started once more on a host that has no part in the job.

#[path = "strangers/endpoint.rs"]
mod endpoint;

use endpoint::{Access, Endpoint};
use harness::compile::Build;
use harness::hosts::Hosts;
use harness::{system, tree};
use libfabric_sys::Library;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::time::Duration;

/// What makes this program the stranger: the addresses that it is to try, and the provider to do it with.
const TARGETS: &str = "PELLUCID_TEST_TARGETS";
const PROVIDER: &str = "PELLUCID_TEST_PROVIDER";

/// Addresses at which a process listens.
fn listens(pid: u32) -> Vec<SocketAddrV4> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|fd| std::fs::read_link(fd.path()).ok()?.to_str().map(str::to_owned))
        .collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    let rows = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (host, port) = fields[1].split_once(':')?;
        let host = Ipv4Addr::from(u32::from_str_radix(host, 16).ok()?.to_ne_bytes());
        let own = fields[3] == "0A" && sockets.contains(&format!("socket:[{}]", fields[9]));
        own.then(|| SocketAddrV4::new(host, u16::from_str_radix(port, 16).unwrap()))
    });
    rows.collect()
}

/// Words that differ from run to run, as guesses do.
fn guesses(count: usize) -> Vec<u64> {
    let mut state = u64::from(std::process::id()) << 32 | 88_172_645;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count).map(next).collect()
}

/// Messages such as PEs send to each other, for each PE that the sender can claim to be: 64 bytes for the begin of the
/// heap, and a fetch-add there. With the place for the token empty, guessed, and left out as older versions did.
fn messages() -> Vec<Vec<u8>> {
    let mut entries = vec![1, 0, 0, 0, 64, 0, 0, 0];
    entries.extend([0; 8]);
    entries.extend([0xee; 64]);
    entries.extend([2, 0, 4, 8, 0, 0, 0, 0]);
    entries.extend([[0u8; 8], 1u64.to_ne_bytes(), [0; 8]].concat());
    let mut all = vec![Vec::new(), vec![1], vec![0xff; 23], vec![0; 24], vec![0xff; 9000]];
    for (from, number) in [0u32, 1, 7].into_iter().flat_map(|from| (0..20u32).map(move |number| (from, number))) {
        for token in [None, Some(0), Some(guesses(1)[0])] {
            for what in 1..=3 {
                let mut message = vec![what, 0, 0, 0];
                message.extend([from, number, 0].map(u32::to_ne_bytes).concat());
                message.extend(token.iter().flat_map(|token: &u64| token.to_ne_bytes()));
                message.extend(&entries);
                all.push(message);
            }
        }
    }
    all
}

/// The stranger. Not a test by itself: it does nothing where nobody says what it is to try.
#[test]
fn stranger() {
    let Ok(targets) = std::env::var(TARGETS) else { return };
    let provider = std::env::var(PROVIDER).unwrap();
    let library = Library::open(None).unwrap();
    for target in targets.split(',').map(|text| text.parse::<SocketAddrV4>().unwrap()) {
        let keys = (0..6).chain([1 << 32, u64::MAX >> 1]).chain(guesses(8));
        for (key, access) in keys.flat_map(|key| [(key, Access::Read), (key, Access::Write)]) {
            let reached = Endpoint::new(&library, &provider, target).reaches(access, 0, key);
            println!("{target}: {access:?} with key {key:x}: {}", if reached { "REACHED" } else { "refused" });
        }
        // Whoever is no libfabric at all. The connections stay open.
        for text in [&b"GET / HTTP/1.0\r\n\r\n"[..], &[0; 512], &[0xff; 512], b""] {
            let stream = TcpStream::connect(target).unwrap();
            let _ = (&stream).write_all(text);
            std::mem::forget(stream);
        }
        let mut sender = Endpoint::new(&library, &provider, target);
        let sent = messages().iter().filter(|message| sender.sends(message)).count();
        println!("{target}: messages taken: {sent}");
    }
}

fn attack(net: &Hosts, provider: &str) {
    let binary = Build::program("network/strangers.c").named(&format!("strangers-{provider}")).build();
    let sign = tree::scratch("strangers").join(format!("{}-{provider}", std::process::id()));
    let _ = std::fs::remove_file(&sign);
    // The stranger's, which has both providers.
    let job = net.oshrun_with(&["--hosts", "a:1,b:1"]).env("SHMEM_OFI_LIBRARY", "libfabric.so.1");
    let running =
        job.args(["-x", &format!("SHMEM_OFI_PROVIDER={provider}")]).arg(&binary).arg(&sign).limit(120).start();
    let ready = || system::processes(&binary).into_iter().flat_map(listens).count() >= 2;
    let up = system::wait_until(Duration::from_secs(20), ready);
    // Its arrays are allocated and filled soon after; what comes before finds as little.
    std::thread::sleep(Duration::from_millis(300));
    let targets: Vec<String> =
        system::processes(&binary).into_iter().flat_map(listens).map(|target| target.to_string()).collect();
    let own = std::env::current_exe().unwrap();
    let stranger = net.on("c", &own).args(["--exact", "stranger", "--nocapture"]);
    let stranger = stranger.env(TARGETS, &targets.join(",")).env(PROVIDER, provider);
    // As little memory for each endpoint as can be.
    let stranger = stranger.env("FI_OFI_RXM_MSG_RX_SIZE", "16").env("FI_UNIVERSE_SIZE", "2").limit(100).run();
    std::fs::write(&sign, "").unwrap();
    let outcome = running.wait();
    let _ = std::fs::remove_file(&sign);
    assert!(up && !targets.is_empty(), "{targets:?}\n{}", outcome.describe());
    let stranger = stranger.expect_code(0);
    assert!(!stranger.stdout.contains("REACHED"), "{}\n{}", stranger.describe(), outcome.describe());
    assert_eq!(stranger.stdout.matches("refused").count(), 32 * targets.len(), "{}", stranger.describe());
    let outcome = outcome.expect_code(0).expect_text(&["PE 0: unchanged", "PE 1: unchanged"]);
    // One line a PE, however many messages.
    let lines = outcome.stderr.lines().filter(|line| line.contains("a message from outside this job was dropped"));
    assert_eq!(lines.count(), 2, "{}\n{}", stranger.describe(), outcome.describe());
}

#[test]
fn who_does_not_know_the_secrets_of_a_job_reaches_none_of_its_memory() {
    if system::library("libfabric.so.1").is_none() {
        eprintln!("skipped: there is no libfabric");
        return;
    }
    let Some(net) = Hosts::new(3) else { return };
    for provider in ["tcp;ofi_rxm", "net"] {
        attack(&net, provider);
    }
}
