//! What threads that come and go leave to the next owners of their slots.
#![allow(unsafe_code)]

use std::os::fd::AsFd;
use std::sync::{Barrier, atomic::Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::tests::TURN;
use super::{attach_private, marker, region_begin, region_end, sampled, set_level};
use crate::op::{OPS, Timing};
use crate::segment::Segment;
use crate::segment::layout::SLOTS;
use crate::snapshot::{self, Outcome};

fn busy(ns: u64) {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_nanos(ns) {
        std::hint::spin_loop();
    }
}

#[test]
fn the_first_call_of_a_thread_stands_for_itself_only() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let fd = attach_private(1, 4, true).unwrap();
    set_level(1);
    let op = OPS.iter().position(|op| op.timing == Timing::Sampled).unwrap() as u16;
    // Enough calls for the samples to become rare.
    std::thread::spawn(move || (0..20_000).for_each(|_| sampled(op, 1, 0, 8, || ()))).join().unwrap();
    let threads = 300;
    for _ in 0..threads {
        let calls = move || {
            sampled(op, 1, 0, 8, || busy(50_000));
            (0..4).for_each(|_| sampled(op, 1, 0, 8, || ()));
        };
        std::thread::spawn(calls).join().unwrap();
    }
    set_level(0);
    let segment = Segment::map(fd.as_fd()).unwrap();
    let region = segment.region(1).unwrap();
    assert_eq!(region.head.slots_used.load(Relaxed), 1, "each thread has the slot of the one before");
    let cell = region.slots[0].cell(op);
    let (exact, weight) = (cell.exact_calls.load(Relaxed), cell.sample_weight.load(Relaxed));
    assert!(exact > threads, "{exact} calls stand for themselves");
    let calls = 20_000 + 5 * threads;
    assert!(exact + weight <= calls, "samples stand for {weight} and {exact} calls of {calls}");
    let pe = snapshot::take(&segment, &Outcome::default()).pes.remove(0);
    let total = pe.routines.iter().find(|r| r.name == OPS[usize::from(op)].name()).unwrap().total_ns;
    // All long calls are timed; taken for the short ones too they would come to seconds.
    let long = 50_000 * threads;
    assert!(total > long && total < 20 * long, "{total} ns for {long}");
}

#[test]
fn a_thread_that_ends_leaves_its_regions() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let fd = attach_private(1, 4, true).unwrap();
    set_level(1);
    std::thread::spawn(|| assert!(region_begin("outer") && region_begin("inner"))).join().unwrap();
    std::thread::spawn(|| assert!(!region_end(None), "the next thread is in none")).join().unwrap();
    set_level(0);
    let region = Segment::map(fd.as_fd()).unwrap();
    let region = region.region(1).unwrap();
    assert!(region.slots[0].tables.regions[1..3].iter().all(|row| row.open.load(Relaxed) == 0));
    assert_eq!(region.head.region_errors.load(Relaxed), 1);
}

#[test]
fn every_name_finds_its_region() {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let fd = attach_private(1, 4, true).unwrap();
    set_level(1);
    let long = "a name that is cut ".repeat(9);
    let names: Vec<String> = (1..63).map(|i| format!("region {i}")).chain([long]).collect();
    for _ in 0..3 {
        assert!(names.iter().all(|name| region_begin(name) && region_end(Some(name))));
    }
    assert!(!region_begin("one too many") && !region_begin(""));
    set_level(0);
    let segment = Segment::map(fd.as_fd()).unwrap();
    let region = segment.region(1).unwrap();
    for (number, name) in names.iter().enumerate() {
        assert!(name.starts_with(&region.names.regions[number + 1].get()), "{name}");
        assert_eq!(region.slots[0].tables.regions[number + 1].entries.load(Relaxed), 3, "{name}");
    }
}

#[test]
fn regions_and_markers_of_threads_without_a_slot_are_told_of() {
    const MORE: usize = 3;
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let fd = attach_private(1, 4, true).unwrap();
    set_level(1);
    let all_have_begun = Barrier::new(SLOTS + MORE);
    let work = || {
        let began = region_begin("work");
        let marked = marker("value", 1.0);
        all_have_begun.wait();
        assert_eq!((began, marked), (region_end(Some("work")), began));
        usize::from(began)
    };
    let kept: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..SLOTS + MORE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    set_level(0);
    let segment = Segment::map(fd.as_fd()).unwrap();
    // Begin, marker and end of each.
    assert_eq!((kept, segment.region(1).unwrap().head.region_errors.load(Relaxed)), (SLOTS, 3 * MORE as u32));
}
