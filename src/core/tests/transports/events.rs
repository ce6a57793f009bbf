//! Completion events: each operation tells of its own end, and quiets have no part in it.

#![allow(unsafe_code)]

use super::pes::{HEAP, Pe, amo, everywhere, heap};
use super::random::Random;
use super::rma::SIZES;
use super::ways;
use pellucid_core::transport::{AmoOp, Atomic, Channel, Completion, Event, SegmentId, SignalOp};

fn await_event(pe: &Pe, event: &Event) {
    while !event.is_complete() {
        pe.progress();
    }
}

#[test]
fn an_event_tells_of_its_operations() {
    everywhere(ways(), events);
}

fn events(pes: &[Pe], to: i32) {
    let (way, target) = (pes[0].way(to), &pes[to as usize]);
    let event: &'static Event = Box::leak(Box::new(Event::new()));
    let (completion, channel) = (Completion::Event(event.slot()), Channel::DEFAULT);
    let mut random = Random(7);
    assert!(event.is_complete());
    for (round, bytes) in SIZES.into_iter().enumerate() {
        let (data, mut back) = (random.bytes(bytes), vec![0; bytes]);
        // SAFETY: the memory lives until the event has told.
        unsafe { way.put(channel, heap(to, 24), data.as_ptr(), bytes, completion).unwrap() };
        await_event(&pes[0], event);
        assert!(target.bytes(SegmentId::HEAP, 24, bytes) == data, "a put of {bytes} bytes");
        // SAFETY: as above.
        unsafe { way.get(channel, back.as_mut_ptr(), heap(to, 24), bytes, completion).unwrap() };
        await_event(&pes[0], event);
        assert!(back == data, "a get of {bytes} bytes");
        let (at, signal) = (HEAP / 2, heap(to, 8));
        // SAFETY: as above.
        unsafe {
            let (dest, value) = (heap(to, at), round as u64 + 1);
            let result = way.put_signal(channel, dest, data.as_ptr(), bytes, signal, value, SignalOp::Set, completion);
            result.unwrap();
        }
        await_event(&pes[0], event);
        assert_eq!(target.word(8), round as u64 + 1, "the signal of {bytes} bytes");
        assert!(target.bytes(SegmentId::HEAP, at, bytes) == data, "what was put before the signal, {bytes} bytes");
    }
    // Many at a time on one event, and an operation with a result.
    let mut before = [0u64; 50];
    for result in &mut before {
        let result = std::ptr::from_mut(result).cast();
        let atomic = Atomic { op: AmoOp::Add, width: 8, operand: 1, compare: 0, result };
        // SAFETY: as above.
        unsafe { way.atomic(channel, heap(to, 16), atomic, completion).unwrap() };
    }
    await_event(&pes[0], event);
    before.sort_unstable();
    assert!(before.iter().enumerate().all(|(i, value)| *value == i as u64), "{before:?}");
    let plain = Atomic { op: AmoOp::Add, width: 8, operand: 9, compare: 0, result: std::ptr::null_mut() };
    // SAFETY: nothing comes back.
    unsafe { way.atomic(channel, heap(to, 16), plain, completion).unwrap() };
    await_event(&pes[0], event);
    assert_eq!(target.word(16), 59);
    assert_eq!(amo(&pes[0], heap(to, 16), AmoOp::Fetch, 8, 0, 0), 59);
}
