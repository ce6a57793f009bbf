//! Active messages over every transport, with PEs that are threads of this process: over shared memory, over libfabric,
//! over a transport that delays, reorders and refuses, and over pairs of these, with two PEs a host.
//!
//! libfabric is skipped, with a message, where the machine has none. Under the launcher:
//! `tests/suites/active_messages.rs`.

mod delayed;
#[path = "../fabric/job.rs"]
#[allow(dead_code)]
mod job;
mod pes;
mod rules;
mod traffic;

use pes::{Pe, Way};

/// Runs `part` on every PE at once, each with a thread of its own, for every way there is.
fn everywhere(npes: &[usize], part: impl Fn(&Pe) + Sync) {
    for way in Way::ALL {
        for npes in npes {
            let Some(pes) = pes::job(way, *npes) else { continue };
            run(&pes, &part);
            println!("{way:?} of {npes}: passed");
        }
    }
}

fn run(pes: &[Pe], part: &(impl Fn(&Pe) + Sync)) {
    std::thread::scope(|scope| {
        for pe in pes {
            scope.spawn(move || {
                let _alarm = pe.alarm();
                part(pe);
            });
        }
    });
}
