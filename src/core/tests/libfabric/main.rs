//! What only libfabric has: providers, endpoints, threads that sleep, strangers, and messages that operations share.
//! What all transports have to do is in `tests/transports`, whose tests run here again under settings that stand for
//! other providers.
//!
//! Skipped, with a message, where the machine has no libfabric.

#[path = "../transports/events.rs"]
mod events;
mod faults;
mod job;
mod order;
#[path = "../transports/order.rs"]
mod ordered;
#[path = "../transports/pes.rs"]
#[allow(dead_code)]
mod pes;
#[path = "../transports/random.rs"]
mod random;
#[path = "../transports/rma.rs"]
mod rma;
#[path = "../transports/segments.rs"]
mod segments;
mod sleep;
mod strangers;
mod strided;
mod threads;

use job::{Pe, job, settings};
use pellucid_core::transport::ofi::{Fabric, Settings, Sleep};
use pellucid_core::transport::{
    AmoOp, Atomic, Atomics, Channel, Completion, OpenRequest, RemoteAddress, SegmentId, Transport,
};
use pes::{Way, heap};

/// Settings under which the same must come out: as the provider is, without delivery completions, without the order of
/// messages behind writes, with atomics by the provider, which takes the orders away, with naps in place of sleep, and
/// with memory registered as for a network card.
fn variants() -> Vec<(&'static str, Settings)> {
    let nic = Settings { atomics: Atomics::Nic, ..settings() };
    let others = [
        ("without delivery", Settings { without_delivery: true, ..settings() }),
        ("without order behind writes", Settings { without_send_after_write: true, ..settings() }),
        ("naps", Settings { sleep: Sleep::Naps, ..settings() }),
        ("as cards do", Settings { as_cards_do: true, ..settings() }),
    ];
    // Another provider that is asked for may have no atomics.
    let nic = std::env::var_os("PELLUCID_TEST_PROVIDER").is_none().then_some(("atomics of the provider", nic));
    [("as it is", settings())].into_iter().chain(others).chain(nic).collect()
}

/// The ways that the tests of all transports take here.
#[allow(unsafe_code)]
fn ways() -> Vec<Way> {
    if let Err(error) = libfabric_sys::Library::open(None) {
        eprintln!("skipped: {error}");
        return Vec::new();
    }
    let way = |(name, settings): (&str, Settings)| {
        let open = move |request: OpenRequest| -> Result<Box<dyn Transport>, _> {
            let regions = [request.segment(SegmentId::HEAP), request.segment(SegmentId::DATA)];
            // SAFETY: a PE's memory outlives its transports, and the tests expect writes there at any time.
            let fabric = unsafe { Fabric::open(&settings, regions, request.pe, request.npes, request.directory)? };
            Ok(Box::new(fabric))
        };
        Way::between(name, Box::new(open))
    };
    variants().into_iter().map(way).collect()
}

fn put(pe: &Pe, to: RemoteAddress, data: &[u8], when: Completion) {
    // SAFETY: the tests keep the data until the quiet.
    unsafe { pe.fabric.put(Channel::DEFAULT, to, data.as_ptr(), data.len(), when).unwrap() }
}

fn get(pe: &Pe, from: RemoteAddress, data: &mut [u8], when: Completion) {
    // SAFETY: as above.
    unsafe { pe.fabric.get(Channel::DEFAULT, data.as_mut_ptr(), from, data.len(), when).unwrap() }
}

fn amo(pe: &Pe, at: RemoteAddress, op: AmoOp, width: u8, operand: u64, compare: u64) -> u64 {
    let mut result = 0u64;
    let atomic = Atomic { op, width, operand, compare, result: (&raw mut result).cast() };
    // SAFETY: the result lives until the return.
    unsafe { pe.fabric.atomic(Channel::DEFAULT, at, atomic, Completion::Local).unwrap() };
    result
}

/// Has PE 0 connected to the others, while all of them serve.
fn connect(pes: &[Pe]) {
    for pe in 1..pes.len() as i32 {
        put(&pes[0], heap(pe, 0), &7u64.to_ne_bytes(), Completion::Local);
        amo(&pes[0], heap(pe, 8), AmoOp::Add, 8, 1, 0);
    }
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
}

/// Each kind of operation is counted by itself.
#[test]
fn operations_are_counted_by_their_kinds() {
    let Some(pes) = job(2, &settings()) else { return };
    println!("{}", pes[0].fabric.describe());
    let (data, mut back) = (vec![3; 65_536], vec![0; 65_536]);
    for bytes in [1, 64, 100, 8192, 65_536] {
        for when in [Completion::Local, Completion::Deferred] {
            put(&pes[0], heap(1, 24), &data[..bytes], when);
            pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
            get(&pes[0], heap(1, 24), &mut back[..bytes], when);
            pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
        }
    }
    let counters = pes[0].fabric.network_counters();
    assert!(counters.writes() > 3 && counters.reads() > 3, "{counters:?}");
    assert!(counters.requests() > 0 && counters.injects() > 0, "{counters:?}");
}
