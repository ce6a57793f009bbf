//! What every transport has to do, over every row of the registry, over a transport that delays, reorders and refuses,
//! and over pairs of these, with two PEs a host. PEs are threads of this process, or taken in turns by one.
//!
//! A new row is tested without a word here: nothing names a transport. A row whose probe fails is skipped, with a
//! message. What only one transport has is in a suite of its own (`tests/libfabric`). Under the launcher:
//! `tests/suites/active_messages.rs`.

mod amo;
mod delayed;
mod events;
mod messages;
mod order;
mod pes;
mod random;
mod rma;
mod rules;
mod segments;
mod service;
mod strided;
mod traffic;

use messages::Pe;
use pellucid_core::transport::registry::{Open, ROWS};
use pes::Way;

/// Every way there is.
fn ways() -> Vec<Way> {
    let within = ROWS.iter().find(|row| matches!(row.open, Open::WithinHost(_))).expect("a row within a host");
    ROWS.iter().chain([&delayed::ROW]).flat_map(|row| Way::of(row, within)).collect()
}

/// Runs `part` on every PE at once, each with a thread of its own, for every way there is.
fn on_all_pes(npes: &[usize], part: impl Fn(&Pe) + Sync) {
    for way in ways() {
        for npes in npes {
            run(&messages::job(&way, *npes), &part);
            println!("{} of {npes}: passed", way.name);
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

/// As many as there are rows and pairs of them, but for those that the machine cannot have.
#[test]
fn every_row_has_a_way_alone_and_beside_another_one() {
    let names: Vec<String> = ways().into_iter().map(|way| way.name).collect();
    for row in ROWS.iter().filter(|row| (row.probe)().is_ok()) {
        assert!(names.iter().any(|name| name == row.name), "{} is not in {names:?}", row.name);
    }
    assert!(names.iter().any(|name| name.contains(" and ")), "{names:?}");
}
