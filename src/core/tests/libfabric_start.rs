//! What a process keeps when a fabric is opened: its handlers of signals, its environment, and most of its memory.
#![allow(unsafe_code)]

use pellucid_core::transport::Directory;
use pellucid_core::transport::ofi::{Fabric, Settings};

/// The handlers of signals that libraries of adapters like to take.
fn handlers() -> Vec<usize> {
    let signals = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGABRT, libc::SIGINT, libc::SIGTERM];
    signals
        .map(|signal| {
            // SAFETY: asks for the action, and a zeroed one is valid.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &raw mut action);
                action.sa_sigaction
            }
        })
        .to_vec()
}

/// KiB of memory that is this process's own.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let row = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    row.and_then(|row| row.trim().trim_end_matches(" kB").parse().ok()).expect("the kernel says what is resident")
}

#[test]
fn a_fabric_leaves_a_process_as_it_was() {
    let (handled, before, variables) = (handlers(), resident(), std::env::vars_os().count());
    let heap = vec![0u64; 4096].into_boxed_slice();
    let settings = Settings {
        provider: Some("tcp;ofi_rxm".into()),
        interface: Some("127.0.0.1".into()),
        loopback: true,
        ..Settings::default()
    };
    let directory = Directory {
        address: Box::new(|_| Ok(Vec::new())),
        host: Box::new(|pe| format!("host{pe}")),
        answer: Box::new(|_| 0),
        note: Box::new(|_| ()),
        lost: Box::new(|_| ()),
        unreached: Box::new(|_, _| false),
    };
    // SAFETY: the heap outlives the fabric, and nobody else looks at it.
    let opened = unsafe { Fabric::open(&settings, [(heap.as_ptr() as usize, 32768), (0, 0)], 0, 1, directory) };
    let fabric = match opened {
        Ok(fabric) => fabric,
        Err(fault) => return eprintln!("skipped: {fault}"),
    };
    assert_eq!(handlers(), handled, "libfabric's libraries have taken over signals");
    assert_eq!(std::env::vars_os().count(), variables);
    let grown = resident() - before;
    assert!(grown < 40 << 10, "{grown} KiB for one endpoint");
    drop(fabric);
}
