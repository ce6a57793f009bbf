//! Calls within calls: in signal handlers, which interrupt a call that waits or moves data.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::interrupted::{Remembered, look};
use super::tests::{Fixture, op_named, routine};
use super::{claim, nested, sampled, sized, timed, wait_begins, wait_counts, wait_goes_on};
use crate::model::Pe;
use crate::timeline::{MEETINGS, WAITS};

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A wait of a call, in which such a handler runs.
fn wait(handler: impl Fn()) {
    wait_counts();
    let mut kept = Remembered::default();
    wait_begins();
    look(&mut kept);
    for _ in 0..3 {
        handler();
        look(&mut kept);
        wait_goes_on();
    }
}

/// The routine in which the thread is, or was last, and whether it is there.
fn last(pe: &Pe) -> (&str, Option<bool>) {
    pe.last.as_ref().map_or(("", None), |last| (&last.routine, last.inside))
}

#[test]
fn a_wait_shows_itself_again_after_calls_in_a_signal_handler() {
    let fixture = Fixture::new();
    let (p, put, get) = (op_named("shmem_long_p"), op_named("shmem_putmem"), op_named("shmem_long_get"));
    let calls = || {
        sampled(p, 0, 0, 8, || ());
        sized(put, 0, 0, 1 << 20, || ());
    };
    for name in ["shmem_barrier_all", "shmem_long_wait_until", "shmem_set_lock", "shmem_long_sum_reduce"] {
        for handler in [&(|| sampled(p, 0, 0, 8, || ())) as &dyn Fn(), &calls, &|| timed(get, 0, 0, 8, || ())] {
            timed(op_named(name), -1, 16, 0, || {
                wait(handler);
                let pe = fixture.pe();
                assert_eq!(last(&pe), (name, Some(true)));
                assert_eq!(routine(&pe, op_named(name)).unfinished, 1);
            });
        }
        let pe = fixture.pe();
        let of = routine(&pe, op_named(name));
        assert_eq!((of.all_calls(), of.timed_calls, of.unfinished), (3, 3, 0), "{name}");
        assert_eq!(last(&pe), (name, Some(false)));
    }
}

/// The handler waits in turn: either wait keeps what is its own.
#[test]
fn a_wait_in_a_signal_handler_ends_and_the_outer_one_goes_on() {
    let fixture = Fixture::new();
    let (outer, inner) = (op_named("shmem_long_wait_until"), op_named("shmem_int_wait_until"));
    let p = || sampled(op_named("shmem_long_p"), 0, 0, 8, || ());
    timed(outer, -1, 0, 8, || {
        wait(|| {
            timed(inner, -1, 0, 4, || {
                wait(p);
                assert_eq!(last(&fixture.pe()), ("shmem_int_wait_until", Some(true)));
            });
        });
        assert_eq!(last(&fixture.pe()), ("shmem_long_wait_until", Some(true)));
    });
}

#[test]
fn what_a_signal_handler_calls_is_no_time_of_the_wait() {
    let fixture = Fixture::new();
    let put = op_named("shmem_putmem");
    for name in ["shmem_barrier_all", "shmem_long_wait_until"] {
        let before = fixture.pe().routines.iter().map(|of| of.spent_ns()).sum::<u64>();
        let start = Instant::now();
        timed(op_named(name), -1, 0, 8, || {
            wait(|| sized(put, 0, 0, 1 << 20, || spin(Duration::from_millis(5))));
            // So it is of one that has not returned.
            let passed = start.elapsed().as_nanos() as u64;
            let ns = routine(&fixture.pe(), op_named(name)).unfinished_ns;
            assert!(ns <= passed.saturating_sub(14_900_000), "{ns} of {passed}");
        });
        let passed = start.elapsed().as_nanos() as u64;
        let pe = fixture.pe();
        let all = pe.routines.iter().map(|of| of.spent_ns()).sum::<u64>() - before;
        assert!((14_900_000..=passed).contains(&all), "{all} of {passed}");
        let waited = routine(&pe, op_named(name)).spent_ns();
        assert!(waited <= passed.saturating_sub(14_900_000), "{waited} of {passed}");
    }
}

/// How much of each slice is of the kind of a call that takes more than 20 ms, in parts of 1, where calls within it
/// come to the ends of slices: as is known before it returns, and after that.
fn slices_of(name: &str, kind: usize, within: impl Fn(&dyn Fn())) -> [Vec<f64>; 2] {
    let fixture = Fixture::new();
    let (op, short) = (op_named(name), op_named("shmem_putmem"));
    timed(short, 0, 0, 4, || ());
    let parts = |pe: &Pe| {
        let line = &pe.tables.timeline;
        line.slices.iter().map(|slice| slice[kind] as f64 / line.width_ns as f64).collect::<Vec<_>>()
    };
    let mut meanwhile = Vec::new();
    timed(op, -1, 0, 8, || {
        wait_begins();
        within(&|| {
            for _ in 0..20 {
                spin(Duration::from_millis(1));
                timed(short, 0, 0, 4, || ());
            }
        });
        meanwhile = parts(&fixture.pe());
    });
    [meanwhile, parts(&fixture.pe())]
}

#[test]
fn slices_in_which_others_were_called_within_a_call_have_its_time() {
    let in_handlers_of_messages = |calls: &dyn Fn()| nested(calls);
    let in_a_signal_handler = |calls: &dyn Fn()| {
        let mut kept = Remembered::default();
        look(&mut kept);
        calls();
        look(&mut kept);
    };
    for (name, kind) in [("shmem_barrier_all", MEETINGS), ("shmem_long_wait_until", WAITS)] {
        let [first, second] =
            [slices_of(name, kind, in_handlers_of_messages), slices_of(name, kind, in_a_signal_handler)];
        for parts in first.into_iter().chain(second) {
            let full = parts.iter().filter(|part| **part > 0.9).count();
            assert!(full > 15 && parts.iter().all(|part| *part < 1.1), "{name}: {parts:?}");
        }
    }
}

#[test]
fn a_small_call_within_a_large_one_does_not_end_the_look_at_it() {
    let fixture = Fixture::new();
    let (large, small) = (op_named("shmem_putmem"), op_named("shmem_long_put"));
    sized(large, 0, 0, 1 << 20, || ());
    let slot = claim::own().expect("the thread's slot").1;
    let by = || slot.tables.look.opened_by.load(Relaxed);
    let mut looks = 0;
    for _ in 0..64 {
        sized(large, 0, 0, 1 << 20, || {
            let before = by();
            sized(small, 0, 0, 8, || ());
            if before != 0 {
                assert_eq!(by(), before);
                looks += 1;
            }
        });
        assert_eq!(by(), 0, "the call that was looked at is over");
    }
    let pe = fixture.pe();
    let of = |name: &str| pe.tables.rates.iter().find(|rate| rate.routine == name).map_or(0, |rate| rate.looks);
    assert!(looks > 2 && of("shmem_putmem") >= looks, "{} of {looks}", of("shmem_putmem"));
}
