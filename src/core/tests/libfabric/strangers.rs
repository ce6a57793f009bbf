//! Somebody who reaches the endpoint of a PE and is not of its job. Here it is a PE of another job, which has an
//! endpoint address of the PE's with everything in it but what only the job knows.

use super::job::{Pe, job, open, settings};
use super::pes::heap;
use super::{amo, put};
use pellucid_core::base::Fault;
use pellucid_core::transport::ofi::Settings;
use pellucid_core::transport::{AmoOp, Atomic, Channel, Completion, Directory, SegmentId, SignalOp, Tag, Transport};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Where keys of heap and data, and the token, are in an endpoint address.
const KEYS: std::ops::Range<usize> = 4..20;
const TOKEN: std::ops::Range<usize> = 36..44;

fn directory(address: Vec<u8>, notes: &Arc<AtomicUsize>) -> Directory {
    let notes = notes.clone();
    Directory {
        address: Box::new(move |_| -> Result<Vec<u8>, Fault> { Ok(address.clone()) }),
        host: Box::new(|pe| format!("host{pe}")),
        answer: Box::new(|_| 0),
        note: Box::new(move |text| {
            assert!(text.contains("outside this job"), "{text}");
            notes.fetch_add(1, Ordering::Relaxed);
        }),
        lost: Box::new(|_| ()),
        unreached: Box::new(|_, _| false),
    }
}

/// PE 0 of a job of its own, which takes a PE of another job for its PE 1.
fn stranger(target: &[u8], forget: std::ops::Range<usize>) -> Pe {
    let mut address = target.to_vec();
    address[forget].iter_mut().for_each(|byte| *byte ^= 0x5a);
    open(0, 2, &settings(), directory(address, &Arc::default())).unwrap()
}

fn await_strangers(pe: &Pe, count: u64) {
    let until = Instant::now() + Duration::from_secs(30);
    while pe.fabric.network_counters().strangers() < count {
        assert!(Instant::now() < until, "{:?}", pe.fabric.network_counters());
        pe.fabric.progress();
    }
}

#[test]
fn messages_of_strangers_are_dropped_and_counted() {
    let Some(_) = job(1, &settings()) else { return };
    let notes = Arc::<AtomicUsize>::default();
    let target = open(1, 2, &settings(), directory(Vec::new(), &notes)).unwrap();
    let stranger = stranger(target.fabric.endpoint_address(), TOKEN);
    let add = Atomic { op: AmoOp::Add, width: 8, operand: 7, compare: 0, result: ptr::null_mut() };
    // Atomics, small puts with a signal, and mail: what a message can hold. None is answered, so none is waited for.
    // SAFETY: sources live until the end of the test.
    unsafe {
        stranger.fabric.atomic(Channel::DEFAULT, heap(1, 0), add, Completion::Deferred).unwrap();
        let (from, signal) = ([9u8; 8], heap(1, 64));
        let other = stranger.fabric.open_channel().unwrap();
        stranger
            .fabric
            .put_signal(other, heap(1, 8), from.as_ptr(), 8, signal, 5, SignalOp::Set, Completion::Deferred)
            .unwrap();
    }
    let tag = Tag { group: 1, number: 2, step: 3 };
    stranger.fabric.send(1, tag, b"hello").unwrap();
    await_strangers(&target, 3);
    assert_eq!(target.bytes(SegmentId::HEAP, 0, 128), [0; 128]);
    assert_eq!(target.fabric.take(0, tag).unwrap(), None);
    assert_eq!(notes.load(Ordering::Relaxed), 1, "one line, however many messages");
    assert_eq!((target.fabric.network_counters().received(), target.fabric.network_counters().served()), (0, 0));
}

#[test]
fn memory_is_closed_to_whoever_does_not_know_its_key() {
    let Some(pes) = job(2, &settings()) else { return };
    put(&pes[0], heap(1, 0), &[3; 64], Completion::Local);
    pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
    let stranger = stranger(pes[1].fabric.endpoint_address(), KEYS);
    let mut seen = [0u8; 64];
    // Both are refused by the provider, which ends the connection.
    // SAFETY: the memory lives until the end of the test.
    unsafe {
        let get = stranger.fabric.get(Channel::DEFAULT, seen.as_mut_ptr(), heap(1, 0), 64, Completion::Local);
        assert!(get.is_err() && seen == [0; 64], "{seen:?}");
    }
    let again = self::stranger(pes[1].fabric.endpoint_address(), KEYS);
    // SAFETY: as above.
    unsafe {
        let _ = again.fabric.put(Channel::DEFAULT, heap(1, 0), [9u8; 64].as_ptr(), 64, Completion::Local);
        assert!(again.fabric.quiet(Channel::DEFAULT).is_err());
    }
    // The job goes on.
    assert_eq!(pes[1].bytes(SegmentId::HEAP, 0, 64), [3; 64]);
    assert_eq!(amo(&pes[0], heap(1, 0), AmoOp::Fetch, 8, 0, 0), u64::from_ne_bytes([3; 8]));
}

/// Keys and tokens of two PEs have nothing in common, and are no small numbers.
#[test]
fn what_opens_memory_cannot_be_guessed() {
    for settings in [settings(), Settings { provider: Some("sockets".into()), ..settings() }] {
        let Some(pes) = job(2, &settings) else { return };
        let secrets = |pe: &Pe| -> Vec<u64> {
            let words = KEYS.step_by(8).chain([TOKEN.start]);
            words.map(|at| u64::from_le_bytes(pe.fabric.endpoint_address()[at..at + 8].try_into().unwrap())).collect()
        };
        let mut all: Vec<u64> = pes.iter().flat_map(secrets).collect();
        assert!(all.iter().all(|secret| *secret > u64::from(u32::MAX)), "{all:x?}");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 6);
    }
}
