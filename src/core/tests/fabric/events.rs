//! Completion events: each operation tells of its own end, and quiets have no part in it.

use super::job::{HEAP, Pe, Random, heap, job, settings};
use super::{SIZES, amo};
use pellucid_core::transport::ofi::Settings;
use pellucid_core::transport::{AmoOp, Atomic, Atomics, Channel, Completion, Event, SegmentId, SignalOp, Transport};

fn await_event(pe: &Pe, event: &Event) {
    while !event.is_complete() {
        pe.fabric.progress();
    }
}

fn events(settings: &Settings) {
    let Some(pes) = job(2, settings) else { return };
    let event: &'static Event = Box::leak(Box::new(Event::new()));
    let (completion, channel) = (Completion::Event(event.slot()), Channel::DEFAULT);
    let mut random = Random(7);
    assert!(event.is_complete());
    for (round, bytes) in SIZES.into_iter().enumerate() {
        let (data, mut back) = (random.bytes(bytes), vec![0; bytes]);
        // SAFETY: the memory lives until the event has told.
        unsafe { pes[0].fabric.put(channel, heap(1, 24), data.as_ptr(), bytes, completion).unwrap() };
        await_event(&pes[0], event);
        assert!(pes[1].bytes(SegmentId::HEAP, 24, bytes) == data, "a put of {bytes} bytes");
        // SAFETY: as above.
        unsafe { pes[0].fabric.get(channel, back.as_mut_ptr(), heap(1, 24), bytes, completion).unwrap() };
        await_event(&pes[0], event);
        assert!(back == data, "a get of {bytes} bytes");
        let (at, signal) = (HEAP / 2, heap(1, 8));
        // SAFETY: as above.
        unsafe {
            let (to, value) = (heap(1, at), round as u64 + 1);
            let result =
                pes[0].fabric.put_signal(channel, to, data.as_ptr(), bytes, signal, value, SignalOp::Set, completion);
            result.unwrap();
        }
        await_event(&pes[0], event);
        assert_eq!(pes[1].word(8), round as u64 + 1, "the signal of {bytes} bytes");
        assert!(pes[1].bytes(SegmentId::HEAP, at, bytes) == data, "what was put before the signal, {bytes} bytes");
    }
    // Many at a time on one event, and an operation with a result.
    let mut before = [0u64; 50];
    for result in &mut before {
        let result = std::ptr::from_mut(result).cast();
        let atomic = Atomic { op: AmoOp::Add, width: 8, operand: 1, compare: 0, result };
        // SAFETY: as above.
        unsafe { pes[0].fabric.atomic(channel, heap(1, 16), atomic, completion).unwrap() };
    }
    await_event(&pes[0], event);
    before.sort_unstable();
    assert!(before.iter().enumerate().all(|(i, value)| *value == i as u64), "{before:?}");
    let plain = Atomic { op: AmoOp::Add, width: 8, operand: 9, compare: 0, result: std::ptr::null_mut() };
    // SAFETY: nothing comes back.
    unsafe { pes[0].fabric.atomic(channel, heap(1, 16), plain, completion).unwrap() };
    await_event(&pes[0], event);
    assert_eq!(pes[1].word(16), 59);
    assert_eq!(amo(&pes[0], heap(1, 16), AmoOp::Fetch, 8, 0, 0), 59);
}

#[test]
fn an_event_tells_of_its_operations() {
    events(&settings());
    events(&Settings { as_cards_do: true, ..settings() });
}

#[test]
fn an_event_waits_for_the_data_where_no_completion_tells_of_them() {
    events(&Settings { without_delivery: true, ..settings() });
}

#[test]
fn an_event_tells_of_the_cards_atomics() {
    events(&Settings { atomics: Atomics::Nic, ..settings() });
}
