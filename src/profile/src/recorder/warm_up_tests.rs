//! Which calls are samples: none that finds its way out of the caches.

use std::sync::atomic::Ordering::Relaxed;

use super::cold::LONG_NS;
use super::set_sampling;
use super::tests::{Fixture, op_named, routine};
use super::warm_up::SPARSE;
use super::{claim, sampled, sized};
use crate::segment::layout::Slot;

/// What a call was: whether it took the way of samples, whether it was looked at, and how many calls its sample stands
/// for (0: it is none).
#[derive(Clone, Copy, Default)]
struct Seen {
    is_on_the_way: bool,
    is_looked_at: bool,
    stands_for: u64,
}

/// Makes so many calls of an operation, each by `call`, which gets what goes on in it. Gives what they were.
fn seen(slot: &Slot, op: u16, calls: usize, call: impl Fn(&mut dyn FnMut())) -> Vec<Seen> {
    let cell = slot.cell(op);
    let mut all = Vec::new();
    // One that is interrupted would stand for itself only.
    assert!(set_sampling(None, Some(u64::MAX)));
    for _ in 0..calls {
        let (samples, weight) = (cell.samples.load(Relaxed), cell.sample_weight.load(Relaxed));
        let mut seen = Seen::default();
        call(&mut || {
            // It was 0, and one was taken from it.
            seen.is_on_the_way = cell.countdown.load(Relaxed) == u32::MAX;
            seen.is_looked_at = slot.tables.look.opened_by.load(Relaxed) != 0;
        });
        if cell.samples.load(Relaxed) > samples {
            seen.stands_for = cell.sample_weight.load(Relaxed) - weight;
        }
        all.push(seen);
    }
    assert!(set_sampling(None, Some(LONG_NS)));
    all
}

#[test]
fn before_a_sample_far_from_the_last_a_call_takes_its_way() {
    const CALLS: usize = 100_000;
    let fixture = Fixture::new();
    let op = op_named("shmem_long_p");
    sampled(op, 1, 0, 8, || ());
    let slot = claim::own().unwrap().1;
    let all = seen(slot, op, CALLS, |body| sampled(op, 1, 0, 8, body));
    let is_far = |seen: &Seen| seen.stands_for >= SPARSE.into();
    let far = all.windows(2).filter(|calls| is_far(&calls[1]));
    assert!(far.clone().count() > 50, "{} samples are far from the last", far.count());
    for calls in far {
        assert!(calls[0].is_on_the_way && calls[0].stands_for == 0);
    }
    // Each call but those after the last sample, and that which claimed the slot, has one that stands for it.
    let last = all.iter().rposition(|seen| seen.stands_for > 0).unwrap();
    assert_eq!(all.iter().map(|seen| seen.stands_for).sum::<u64>(), last as u64 + 1);
    assert_eq!(routine(&fixture.pe(), op).all_calls(), CALLS as u64 + 1);
}

#[test]
fn a_call_that_is_looked_at_is_no_sample() {
    const BYTES: usize = 16 << 10;
    let fixture = Fixture::new();
    let op = op_named("shmem_putmem");
    sized(op, 1, 64, BYTES, || ());
    let slot = claim::own().unwrap().1;
    // A host with one PE has no other to which such puts were sampled.
    slot.head.local_pes.store(4, Relaxed);
    slot.head.first_local.store(0, Relaxed);
    let all = seen(slot, op, 100_000, |body| sized(op, 1, 64, BYTES, body));
    let looked = all.windows(3).filter(|calls| calls[0].is_looked_at && calls[0].is_on_the_way);
    let far = looked.filter(|calls| calls[0].stands_for == 0);
    assert!(far.clone().count() > 20, "{} are looked at", far.count());
    for calls in far {
        assert!(calls[1].is_on_the_way && calls[1].stands_for == 0, "the warm-up call");
        assert!(calls[2].stands_for >= SPARSE.into(), "the sample");
    }
    let both = all.iter().filter(|seen| seen.is_looked_at && seen.stands_for >= SPARSE.into());
    assert_eq!(both.count(), 0, "looked at and a sample");
    let rates = &fixture.pe().tables.rates;
    assert!(rates.iter().any(|rate| rate.looks > 0), "{rates:?}");
}
