//! Barriers and waits, of which some are over at once and some are not.

use std::time::{Duration, Instant};

use super::tests::{Fixture, op_named, routine};
use super::{Mark, mark, nested, sampled, timed, unstamped, wait_begins, wait_counts, wait_goes_on};
use crate::model::{Pe, Routine};
use crate::sample;
use crate::segment::meetings::LONGEST;
use crate::tables::Sync;

/// Calls of a barrier, each of which waits or not: how many there are, and what the profile says of them.
fn barriers(calls: u64, waits: impl Fn(u64) -> Option<Duration>) -> Routine {
    let fixture = Fixture::new();
    let op = op_named("shmem_sync_all");
    for call in 0..calls {
        timed(op, -1, 0, 0, || {
            if let Some(wait) = waits(call) {
                wait_begins();
                spin(wait);
            }
        });
    }
    let pe = fixture.pe();
    let team = &pe.tables.teams[0];
    assert_eq!(team.calls, calls, "calls of the team");
    routine(&pe, op).clone()
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn barriers_that_are_over_at_once_are_sampled() {
    let barriers = barriers(200_000, |_| None);
    assert_eq!((barriers.all_calls(), barriers.unfinished), (200_000, 0));
    // All meetings are kept and timed until there are too many of them for the time that they take.
    let timed = barriers.timed_calls;
    assert!((200..30_000).contains(&timed) && barriers.estimated, "{timed} are timed");
}

/// One in how many of these meetings is kept, and how many are.
fn kept_of(meetings: u64, pause: Duration, counts_only: bool) -> (u64, usize) {
    let fixture = Fixture::new();
    crate::arm::set_counts_only(counts_only);
    for _ in 0..meetings {
        timed(op_named("shmem_barrier_all"), -1, 0, 0, || ());
        spin(pause);
    }
    let tables = fixture.pe().tables;
    (tables.sync_every, tables.syncs.len())
}

/// Meetings that are thinned out are kept where they are among the longest.
#[test]
fn the_longest_meetings_are_kept() {
    let fixture = Fixture::new();
    let is_long = |number: u64| number >= 10_000 && number.is_multiple_of(10_007);
    for number in 0..100_000 {
        let waits = || {
            if is_long(number) {
                wait_begins();
                spin(Duration::from_micros(500));
            }
        };
        timed(op_named("shmem_barrier_all"), -1, 0, 0, waits);
    }
    let tables = fixture.pe().tables;
    assert!(tables.sync_every > 1 && tables.longest_from_ns > 0 && tables.longest_from_ns <= 500_000, "{tables:?}");
    let long: Vec<u64> =
        tables.syncs.iter().filter(|sync| sync.left_ns - sync.arrived_ns >= 500_000).map(|sync| sync.number).collect();
    for number in (0..100_000).filter(|number| is_long(*number)) {
        assert!(long.contains(&number), "{number} of {long:?}");
    }
    let kept = tables.syncs.iter().filter(|sync| sample::is_kept(sync.number, tables.sync_every.trailing_zeros()));
    // Those in which it was for longest, and those after the longest phases.
    assert!(kept.count() + 2 * LONGEST >= tables.syncs.len(), "{}", tables.syncs.len());
}

/// So are those after the longest phases, where the meeting before has a stamp.
#[test]
fn the_meetings_after_the_longest_phases_are_kept() {
    let fixture = Fixture::new();
    let is_long = |number: u64| number >= 5_000 && number.is_multiple_of(1_009);
    for number in 0..20_000 {
        if is_long(number) {
            spin(Duration::from_millis(2));
        }
        timed(op_named("shmem_barrier_all"), -1, 0, 0, wait_begins);
    }
    let tables = fixture.pe().tables;
    assert!(tables.sync_every > 1 && tables.longest_phase_from_ns > 0, "{tables:?}");
    let phase_ns = |sync: &&Sync| sync.arrived_ns - sync.phase.begin_ns;
    let long = tables.syncs.iter().filter(|sync| sync.phase.begin_ns > 0 && phase_ns(sync) >= 1_900_000);
    let long: Vec<u64> = long.map(|sync| sync.number).collect();
    for number in (0..20_000).filter(|number| is_long(*number)) {
        // On a busy machine others may be longer.
        let are_others = (1_900_000..u64::MAX).contains(&tables.longest_phase_from_ns);
        assert!(long.contains(&number) || are_others, "{number} of {long:?}");
    }
}

#[test]
fn meetings_are_kept_as_time_pays_for_them() {
    let start = Instant::now();
    let (every, kept) = kept_of(100_000, Duration::ZERO, true);
    let paid = start.elapsed().as_micros() / 10;
    assert!(every > 1 && kept >= 8 && kept as u128 <= paid.max(32), "{kept}, one in {every}; {paid} are paid for");
    assert_eq!(kept_of(3_000, Duration::from_micros(12), true), (1, 3_000));
    assert_eq!(kept_of(4_000, Duration::ZERO, false), (1, 4_000));
}

#[test]
fn each_barrier_that_waits_is_timed() {
    let wait = Duration::from_micros(20);
    let barriers = barriers(40_000, |call| (call % 40 == 39).then_some(wait));
    assert_eq!((barriers.all_calls(), barriers.unfinished), (40_000, 0));
    assert!(barriers.timed_calls < 40_000, "{} are timed", barriers.timed_calls);
    let first = crate::histogram::bucket(20_000) as u16;
    let waited = barriers.latency.counts().iter().filter(|(bucket, _)| *bucket >= first).map(|(_, n)| n).sum::<u64>();
    assert!(waited >= 1000, "{waited} of 1000 waits are in the histogram");
    assert!(barriers.total_ns >= 1000 * 20_000, "{} ns", barriers.total_ns);
    assert!(barriers.max_ns >= 20_000);
}

#[test]
fn where_calls_are_rare_each_is_timed() {
    let pause = Duration::from_micros(30);
    let fixture = Fixture::new();
    let op = op_named("shmem_long_wait_until");
    for _ in 0..3000 {
        timed(op, -1, 0, 0, || ());
        spin(pause);
    }
    let waits = routine(&fixture.pe(), op).clone();
    assert!(waits.timed_calls * 10 > 3000 * 9, "{} of 3000 are timed", waits.timed_calls);
}

#[test]
fn a_call_is_counted_before_what_comes_in_between() {
    let fixture = Fixture::new();
    let (outer, inner) = (op_named("shmem_long_wait_until"), op_named("shmem_int_wait_until"));
    for _ in 0..50_000 {
        timed(outer, -1, 0, 0, || nested(|| timed(inner, -1, 0, 0, || ())));
    }
    for op in [outer, inner] {
        assert_eq!(routine(&fixture.pe(), op).all_calls(), 50_000);
    }
}

#[test]
fn a_call_that_does_not_return_is_unfinished() {
    let fixture = Fixture::new();
    let op = op_named("shmem_long_wait_until");
    (0..50_000).for_each(|_| timed(op, -1, 0, 0, || ()));
    timed(op, -1, 0, 0, || {
        let of = |fixture: &Fixture| routine(&fixture.pe(), op).clone();
        assert_eq!((of(&fixture).all_calls(), of(&fixture).unfinished), (50_000, 0), "it has not come to wait");
        wait_counts();
        let waits = of(&fixture);
        assert_eq!((waits.all_calls(), waits.unfinished, waits.unfinished_ns), (50_001, 1, 0));
        wait_begins();
        spin(Duration::from_millis(2));
        let waits = routine(&fixture.pe(), op).clone();
        assert_eq!(waits.unfinished, 1);
        assert!(waits.unfinished_ns >= 2_000_000, "{} ns", waits.unfinished_ns);
        let sites = fixture.pe().tables.sites;
        let site = sites.iter().find(|site| site.routine == "shmem_long_wait_until").expect("its call site");
        assert_eq!((site.calls, site.unfinished), (50_001, 1));
        assert!(site.unfinished_ns >= 2_000_000, "{} ns", site.unfinished_ns);
        assert!(site.total_ns.is_some_and(|ns| ns <= waits.total_ns), "{:?} of {} ns", site.total_ns, waits.total_ns);
    });
    assert_eq!(routine(&fixture.pe(), op).unfinished, 0);
}

#[test]
fn collectives_of_nothing_have_a_size() {
    let fixture = Fixture::new();
    let (collect, barrier) = (op_named("shmem_double_collect"), op_named("shmem_barrier_all"));
    for call in 0..5000 {
        timed(collect, -1, 0, if call % 2 == 0 { 0 } else { 8 }, || ());
        timed(barrier, -1, 0, 0, || ());
    }
    let pe = fixture.pe();
    let sizes = |op| routine(&pe, op).sizes.iter().map(|size| (size.calls, size.bytes)).collect::<Vec<_>>();
    assert_eq!(sizes(collect), [(2500, 0), (2500, 20_000)]);
    assert_eq!(sizes(barrier), []);
}

#[test]
fn a_barrier_that_does_not_return_ends_the_phase_before_it() {
    let fixture = Fixture::new();
    let op = op_named("shmem_barrier_all");
    (0..3).for_each(|_| timed(op, -1, 0, 0, || ()));
    timed(op, -1, 0, 0, || {
        wait_counts();
        wait_begins();
        spin(Duration::from_millis(2));
        let pe = fixture.pe();
        let [open] = pe.tables.open_syncs[..] else { panic!("{:?}", pe.tables.open_syncs) };
        assert_eq!((open.op, open.number, pe.tables.last_phases.len()), (op, 3, 0));
        assert!(open.left_ns == pe.end_ns && open.left_ns - open.arrived_ns >= 2_000_000, "{open:?}");
        assert!(open.phase.from.is_some_and(|(_, from)| from == op), "{open:?}");
    });
    assert!(fixture.pe().tables.open_syncs.is_empty());
}

#[test]
fn a_call_in_a_signal_handler_is_not_taken_for_the_one_that_waits() {
    let fixture = Fixture::new();
    let (barrier, p) = (op_named("shmem_barrier_all"), op_named("shmem_long_p"));
    // The thread has its slot from the first call on, and the team's calls are not kept one by one.
    (0..50_000).for_each(|_| timed(barrier, -1, 0, 0, || ()));
    let before = fixture.pe();
    let known = unstamped::world_again().expect("the thread has a slot");
    assert!(unstamped::begin(barrier, known, 0, 0), "it needs a stamp");
    wait_begins();
    sampled(p, 0, 0, 8, || ());
    spin(Duration::from_millis(2));
    unstamped::leave(barrier, known);
    let after = fixture.pe();
    let ns = |pe: &Pe, op| routine(pe, op).spent_ns();
    assert!(ns(&after, barrier) >= ns(&before, barrier) + 2_000_000, "the barrier has waited");
    assert!(ns(&after, p) < 1_000_000, "p has not");
    assert_eq!(routine(&after, barrier).all_calls(), 50_001);
    assert_eq!(after.tables.teams[0].calls, 50_001);
}

/// Else a thread that only waits would be one that works, and what the others of its PE do would be lost.
#[test]
fn a_wait_that_is_the_first_call_of_a_thread_is_on_no_core() {
    let fixture = Fixture::new();
    let op = op_named("shmem_long_wait_until");
    let (threads, sleep) = (16, Duration::from_millis(20));
    let wait = || {
        wait_counts();
        wait_begins();
        wait_goes_on();
        std::thread::sleep(sleep);
        wait_goes_on();
    };
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| drop(scope.spawn(|| timed(op, -1, 0, 8, wait))));
    });
    let pe = fixture.pe();
    assert_eq!(routine(&pe, op).all_calls(), threads);
    let (off_core, slept) = (pe.tables.system.off_core_ns, threads * sleep.as_nanos() as u64);
    assert!(off_core >= slept / 10 * 9 && off_core <= routine(&pe, op).spent_ns(), "{off_core} of {slept} ns");
}

/// What a PE waits at its end it does not lack in the run.
#[test]
fn a_wait_in_finalization_is_no_part_of_the_run() {
    let fixture = Fixture::new();
    let sleep = || {
        wait_counts();
        wait_begins();
        wait_goes_on();
        std::thread::sleep(Duration::from_millis(5));
        wait_goes_on();
    };
    timed(op_named("shmem_long_wait_until"), -1, 0, 8, sleep);
    mark(Mark::Finalizing);
    let before = fixture.pe().tables.system.off_core_ns;
    assert!(before > 2_000_000, "{before}");
    timed(op_named("shmem_finalize"), -1, 0, 0, sleep);
    assert_eq!(fixture.pe().tables.system.off_core_ns, before);
}

/// A share of the run that shmem_pcontrol takes once the run is over could be more than all of it.
#[test]
fn a_short_call_after_the_run_is_counted_and_takes_no_time_of_it() {
    let fixture = Fixture::new();
    let (op, call) = (op_named("shmem_pcontrol"), || spin(Duration::from_micros(300)));
    (0..4).for_each(|_| sampled(op, -1, 0, 0, call));
    let before = routine(&fixture.pe(), op).clone();
    assert!(before.spent_ns() > 1_000_000, "{}", before.spent_ns());
    mark(Mark::Finalizing);
    (0..4).for_each(|_| sampled(op, -1, 0, 0, call));
    let after = routine(&fixture.pe(), op).clone();
    assert_eq!((after.all_calls(), after.spent_ns()), (8, before.spent_ns()));
}

/// Efficiency takes all time in them for waiting, of phases as of the run.
#[test]
fn a_phase_knows_its_waits_and_locks() {
    let fixture = Fixture::new();
    let call = |name: &str, peer: i32, bytes: usize| timed(op_named(name), peer, 0, bytes, wait_begins);
    for _ in 0..5 {
        call("shmem_barrier_all", -1, 0);
        call("shmem_long_wait_until", -1, 8);
        // What a handler does meanwhile is part of the call.
        timed(op_named("shmem_set_lock"), -1, 0, 0, || nested(|| call("shmem_int_wait_until", -1, 4)));
        call("shmem_long_wait_until_all", -1, 8);
        timed(op_named("shmem_putmem"), 2, 0, 1 << 20, || spin(Duration::from_micros(50)));
    }
    call("shmem_barrier_all", -1, 0);
    let pe = fixture.pe();
    let names = ["shmem_long_wait_until", "shmem_set_lock", "shmem_long_wait_until_all"];
    let spent: u64 = names.iter().map(|name| routine(&pe, op_named(name)).spent_ns()).sum();
    let phases = || pe.tables.syncs.iter().map(|sync| sync.phase);
    assert_eq!((phases().count(), phases().filter(|phase| phase.waits_ns > 0).count()), (6, 5));
    let (waits, library) = phases().fold((0, 0), |sum, phase| (sum.0 + phase.waits_ns, sum.1 + phase.library_ns));
    // A share of 65535 parts of each phase and of the barrier after it.
    let all = library + routine(&pe, op_named("shmem_barrier_all")).spent_ns();
    assert!(waits.abs_diff(spent) <= all / 65535 + 6, "{waits} of {spent}");
    assert!(waits < library, "the put is no wait");
}
