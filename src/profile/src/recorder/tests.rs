//! Recording, read back through a snapshot.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Barrier, Mutex, MutexGuard, atomic::Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::{Mark, Stamp, record};
use super::{
    attach, attach_private, began, claim, cold, detach_after_fork, error, hot, is_attached, mark, sampled, set_level,
    sized, timed, tls,
};
use crate::arm;
use crate::clock::Scale;
use crate::model::{Pe, Progress, Routine};
use crate::op::{self, OPS, Timing};
use crate::segment::layout::{ROWS, SLOTS};
use crate::segment::{JobInfo, Phase, Segment, create, create_with};
use crate::snapshot::{self, Outcome};
use crate::timeline::DATA;

/// A process records into one segment and has one arm table: the tests take turns.
pub(crate) static TURN: Mutex<()> = Mutex::new(());

pub(crate) struct Fixture {
    pub(super) fd: OwnedFd,
    _turn: MutexGuard<'static, ()>,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Fixture { fd: attach_private(1, 4, true).unwrap(), _turn: turn }
    }

    fn segment(&self) -> Segment {
        Segment::map(self.fd.as_fd()).unwrap()
    }

    pub(crate) fn pe(&self) -> Pe {
        snapshot::take(&self.segment(), &Outcome::default()).pes.remove(0)
    }
}

/// The id of some operation with this timing.
fn op_with(timing: Timing, nth: usize) -> u16 {
    let all = OPS.iter().enumerate().filter(|(_, op)| op.timing == timing);
    all.map(|(id, _)| id as u16).nth(nth).expect("the table has operations of every timing")
}

/// The id of the operation with this name.
pub(crate) fn op_named(name: &str) -> u16 {
    OPS.iter().position(|op| op.name() == name).unwrap_or_else(|| panic!("there is no {name}")) as u16
}

pub(crate) fn routine(pe: &Pe, op: u16) -> &Routine {
    let name = OPS[usize::from(op)].name();
    pe.routines.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("{name} is not in the profile"))
}

/// What timing a sample takes, in nanoseconds.
fn overhead_ns(fixture: &Fixture) -> u64 {
    let segment = fixture.segment();
    segment.scale().ns(segment.region(1).unwrap().head.sample_overhead.load(Relaxed)) / 256
}

/// One round of calls, every kind of them.
fn round() {
    let (s, z, t) = (op_with(Timing::Sampled, 0), op_with(Timing::Sized, 0), op_with(Timing::Timed, 0));
    sampled(s, 1, 0, 8, || ());
    sampled(s, 2, 0, 8, || ());
    sized(z, 3, 64, 0, || ());
    sized(z, 2, 64, 1024, || ());
    sized(z, 2, 64, 1025, || ());
    timed(t, -1, 0, 0, || ());
    error(t);
}

fn check_rounds(pe: &Pe, rounds: u64) {
    let s = routine(pe, op_with(Timing::Sampled, 0));
    // The private segment of PE 1 has one local PE: all others are remote.
    assert_eq!((s.calls, s.bytes), ([0, rounds, 0, rounds], [0, 8 * rounds, 0, 8 * rounds]));
    let z = routine(pe, op_with(Timing::Sized, 0));
    assert_eq!((z.all_calls(), z.all_bytes()), (3 * rounds, 2049 * rounds));
    let sizes: Vec<_> = z.sizes.iter().map(|s| (s.class, s.distance, s.calls, s.bytes)).collect();
    assert_eq!(sizes, [(0, 3, rounds, 0), (11, 3, 2 * rounds, 2049 * rounds)]);
    let t = routine(pe, op_with(Timing::Timed, 0));
    assert_eq!((t.all_calls(), t.errors, t.timed_calls, t.unfinished), (rounds, rounds, rounds, 0));
    assert_eq!((t.latency.total(), t.estimated), (rounds, false));
}

#[test]
fn counts_of_32_threads_are_exact() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| (0..5_000).for_each(|_| round()));
        }
    });
    let pe = fixture.pe();
    check_rounds(&pe, 32 * 5_000);
    assert_eq!((pe.threads, pe.shared_calls, pe.overflowed), (32, 0, 0));
    let s = routine(&pe, op_with(Timing::Sampled, 0));
    assert!(s.estimated && s.timed_calls > 32 * 24 && s.timed_calls < s.all_calls() / 20, "{} timed", s.timed_calls);
    assert!((s.total_stderr_ns() > 0.0 || s.is_bounded()) && s.max_ns > 0);
}

#[test]
fn more_threads_than_slots_share_one_and_stay_exact() {
    let fixture = Fixture::new();
    let threads = SLOTS + 40;
    let all_here = Barrier::new(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                round();
                all_here.wait();
                (0..200).for_each(|_| round());
            });
        }
    });
    let pe = fixture.pe();
    check_rounds(&pe, threads as u64 * 201);
    assert!(pe.shared_calls >= 40 * 6, "{} calls in the shared slot", pe.shared_calls);
}

#[test]
fn slots_of_ended_threads_are_used_again_and_add_up() {
    let fixture = Fixture::new();
    for _ in 0..SLOTS + 50 {
        std::thread::spawn(round).join().unwrap();
    }
    let pe = fixture.pe();
    check_rounds(&pe, SLOTS as u64 + 50);
    let segment = fixture.segment();
    assert_eq!(pe.threads, SLOTS as u32 + 50);
    assert_eq!(segment.region(1).unwrap().head.slots_used.load(Relaxed), 1);
    assert_eq!(segment.current(1).len(), 1, "the last operation of an ended thread is still known");
}

#[test]
fn calls_from_thread_destructors_are_counted() {
    extern "C" fn late(_: *mut libc::c_void) {
        round();
    }
    let fixture = Fixture::new();
    let mut key = 0;
    // SAFETY: the key lives until the end of the process; its destructor takes any value.
    assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(late)) }, 0);
    std::thread::spawn(move || {
        round();
        // SAFETY: the key was created above; the value is never dereferenced.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(1)) };
    })
    .join()
    .unwrap();
    let pe = fixture.pe();
    check_rounds(&pe, 2);
    std::thread::spawn(round).join().unwrap();
    assert_eq!(fixture.segment().region(1).unwrap().head.slots_used.load(Relaxed), 1, "the slot was given back");
}

#[test]
fn without_rows_the_totals_stay_exact_and_the_loss_is_told() {
    let fixture = Fixture::new();
    let (first, z, t) = (op_with(Timing::Sampled, 0), op_with(Timing::Sized, 0), op_with(Timing::Timed, 0));
    sampled(first, 1, 0, 8, || ());
    let slot = tls::slot().unwrap();
    slot.head.rows_used.store(ROWS as u32 - 1, Relaxed);
    for _ in 0..100 {
        round();
    }
    let pe = fixture.pe();
    assert_eq!(pe.overflowed, 2);
    assert_eq!(routine(&pe, first).all_calls(), 201);
    let (z, t) = (routine(&pe, z), routine(&pe, t));
    assert_eq!((z.all_calls(), z.all_bytes()), (300, 204_900));
    assert_eq!((t.all_calls(), t.timed_calls, t.errors), (100, 100, 100));
    assert_eq!((t.max_ns, t.latency.total()), (0, 0), "latencies in the shared row belong to nobody");
    assert!(routine(&pe, first).latency.total() > 0);
}

/// Makes a call, and so many that take what `ns` says of each: what the machine lets them take has no part in it, nor
/// what is drawn by it. Gives the time of all.
pub(super) fn known_calls(fixture: &Fixture, op: u16, calls: u64, ns: impl Fn(u64) -> u64) -> u64 {
    sampled(op, 1, 0, 8, || ());
    let (region, slot) = claim::own().unwrap();
    // A whole number of nanoseconds, or a little more.
    let ticks = (u128::from(256 * 25_u32) << 32).div_ceil(slot.head.clock_mult.load(Relaxed).into());
    region.head.sample_overhead.store(ticks as u64, Relaxed);
    slot.head.random.store(0x9e37_79b9_7f4a_7c15, Relaxed);
    let (cell, overhead) = (slot.cell(op), overhead_ns(fixture));
    // The first took what it took.
    let mut truth = cell.exact_ns.load(Relaxed);
    for call in 0..calls {
        let ns = ns(call);
        truth += ns;
        if hot::begin_sampled(op, 1, 0, 8) != 0 {
            cold::add_sample(slot, cell, 0, (ns + overhead, overhead), u64::MAX);
        }
    }
    truth
}

#[test]
fn samples_estimate_the_total_even_against_a_pattern() {
    let fixture = Fixture::new();
    let (op, calls) = (op_with(Timing::Sampled, 0), 400_000);
    // Falls in step with any fixed period of 128.
    let truth = known_calls(&fixture, op, calls, |call| if call % 128 == 7 { 10_000 } else { 20 });
    let pe = fixture.pe();
    let r = routine(&pe, op);
    let off = (r.total_ns as f64 - truth as f64).abs();
    assert!(
        off < 4.0 * r.total_stderr_ns(),
        "{} estimated, {truth} true, standard error {}",
        r.total_ns,
        r.total_stderr_ns()
    );
    assert!(r.total_stderr_ns() < truth as f64 / 4.0);
    let share = r.timed_calls as f64 / calls as f64;
    assert!((0.006..0.010).contains(&share), "{share} of the calls were timed");
    assert!((r.mean_ns() - r.total_ns as f64 / (calls + 1) as f64).abs() < 1e-6);
}

/// Calls of 20 ns of which one in `period` takes `long` ns: what is estimated, and what is true.
fn with_long_calls(calls: u64, period: u64, long: u64) -> (Routine, u64) {
    let fixture = Fixture::new();
    let op = op_with(Timing::Sampled, 0);
    // Spread by a hash, so that neither they nor the samples follow a pattern.
    let ns = |call: u64| if (call * 0x9e37_79b9).is_multiple_of(period) { long } else { 20 };
    let truth = known_calls(&fixture, op, calls, ns);
    (routine(&fixture.pe(), op).clone(), truth)
}

#[test]
fn a_preempted_call_does_not_stand_for_others() {
    // One call in ten thousand takes 4 ms. One of them in 128 is seen; its time must not be counted 128 times.
    let (r, truth) = with_long_calls(400_000, 9_973, 4_000_000);
    assert!(r.total_ns < truth, "{} estimated, {truth} true", r.total_ns);
    assert!(r.total_ns >= 400_000 * 20);
    assert!(r.timed_calls < 400_000 / 4);
}

#[test]
fn where_long_calls_are_not_rare_each_call_is_timed() {
    let (r, truth) = with_long_calls(100_000, 101, 1_000_000);
    assert!(r.total_ns.abs_diff(truth) < truth / 50, "{} estimated, {truth} true", r.total_ns);
    let (r, truth) = with_long_calls(1000, 1, 5_000);
    assert!(r.total_ns.abs_diff(truth) < 1000, "{} estimated, {truth} true", r.total_ns);
    assert_eq!((r.timed_calls, r.estimated), (1001, false));
}

#[test]
fn a_killed_pe_leaves_its_numbers_and_where_it_was() {
    let fixture = Fixture::new();
    let fd = create(4, &JobInfo { program: "victim".into(), ..JobInfo::default() }).unwrap();
    let (p, barrier) = (op_with(Timing::Sampled, 0), op_with(Timing::Timed, 0));
    // SAFETY: the child only calls the recorder and pauses until it is killed.
    let child = unsafe { libc::fork() };
    if child == 0 {
        attach(fd.as_raw_fd(), 2, 4, 0, 4).unwrap();
        mark(Mark::Initialized);
        for _ in 0..1000 {
            sampled(p, 3, 0, 8, || ());
        }
        timed(barrier, 3, 0x1000, 24, || {
            loop {
                // SAFETY: waits for a signal.
                unsafe { libc::pause() };
            }
        });
    }
    let segment = Segment::map(fd.as_fd()).unwrap();
    let begin = Instant::now();
    while segment.current(2).first().is_none_or(|c| c.phase != Phase::Inside) {
        assert!(begin.elapsed() < Duration::from_secs(10), "the child never got into its last call");
        std::thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: our own child.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    let current = &segment.current(2)[0];
    assert_eq!((current.op, current.phase, current.peer), (barrier, Phase::Inside, Some(3)));
    assert_eq!((current.addr, current.bytes, current.thread), (Some(0x1000), Some(24), child as u32));
    assert!(current.elapsed_ns.unwrap() > 0);

    let profile = snapshot::take(&segment, &Outcome::default());
    assert_eq!((profile.job.program.as_str(), profile.job.npes, profile.pes.len()), ("victim", 4, 1));
    let pe = &profile.pes[0];
    assert_eq!((pe.pe, pe.pid, pe.progress), (2, child as u32, Progress::Initialized));
    assert_eq!(routine(pe, p).calls, [0, 0, 1000, 0]);
    let last = routine(pe, barrier);
    assert_eq!((last.all_calls(), last.unfinished, last.timed_calls, last.mean_ns()), (1, 1, 0, 0.0));
    assert_eq!(pe.last.as_ref().unwrap().inside, Some(true));
    assert!(last.unfinished_ns > 0 && last.spent_ns() == last.unfinished_ns);
    drop(fixture);
}

#[test]
fn a_forked_child_does_not_write_to_its_parents_slot() {
    let fixture = Fixture::new();
    round();
    // SAFETY: the child only calls the recorder and exits without running anything of its parent's.
    let child = unsafe { libc::fork() };
    if child == 0 {
        (0..100).for_each(|_| round());
        let silent = !is_attached();
        detach_after_fork();
        (0..100).for_each(|_| round());
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!silent)) };
    }
    let mut status = 0;
    // SAFETY: our own child.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
    round();
    check_rounds(&fixture.pe(), 2);
}

#[test]
fn the_fallback_clock_times_too() {
    let fixture = Fixture::new();
    let fd = create_with(2, &JobInfo::default(), Scale::monotonic()).unwrap();
    attach(fd.as_raw_fd(), 0, 2, 0, 2).unwrap();
    let op = op_with(Timing::Timed, 1);
    timed(op, 1, 0, 0, || std::thread::sleep(Duration::from_millis(5)));
    let begin = Stamp::now();
    std::thread::sleep(Duration::from_millis(1));
    record(op, -1, 0, 0, begin);
    let profile = snapshot::take(&Segment::map(fd.as_fd()).unwrap(), &Outcome::default());
    let r = routine(&profile.pes[0], op);
    assert_eq!(r.calls, [1, 0, 1, 0]);
    assert!((5_000_000..2_000_000_000).contains(&r.max_ns), "{} ns", r.max_ns);
    assert!(r.total_ns >= 6_000_000, "{} ns", r.total_ns);
    drop(fixture);
}

/// What the kernel says of the process's first thread, which goes on beside the tests.
#[test]
fn how_long_a_process_stood_in_line_before_it_began_is_kept() {
    let of_first = || {
        let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
        text.split_ascii_whitespace().nth(1).map_or(0, |queued| queued.parse::<u64>().unwrap())
    };
    let before = of_first();
    let fixture = Fixture::new();
    let noted = fixture.pe().tables.system.queued_before_ns;
    assert!((before..=of_first()).contains(&noted), "{noted} ns");
}

#[test]
fn initialization_fills_the_slices_that_it_took() {
    let fixture = Fixture::new();
    let begin = Stamp::now();
    std::thread::sleep(Duration::from_millis(20));
    mark(Mark::Initialized);
    began(begin);
    record(op::find("shmem_init").unwrap_or(0), -1, 0, 0, begin);
    let pe = fixture.pe();
    let line = &pe.tables.timeline;
    let data: Vec<u64> = line.slices.iter().map(|slice| slice[DATA]).collect();
    assert_eq!(data.iter().sum::<u64>(), pe.routines[0].max_ns, "{data:?}");
    // All but the first and the last slice, which may begin before it and end after it, are full.
    let whole = data.iter().filter(|ns| **ns >= line.width_ns - line.width_ns / 50).count() as u64;
    assert!((whole + 2) * line.width_ns >= pe.init_ns - line.begin_ns, "{data:?} of {} ns each", line.width_ns);
}

#[test]
fn initialization_and_finalization_are_in_no_slice_between_them() {
    let fixture = Fixture::new();
    let [short, long] = [5, 40].map(Duration::from_millis);
    let (init, finalize) = (op_named("shmem_init"), op_named("shmem_finalize"));
    let begin = Stamp::now();
    std::thread::sleep(short);
    began(begin);
    record(init, -1, 0, 0, begin);
    mark(Mark::Initialized);
    std::thread::sleep(long);
    // The next one of which the slices know, long after.
    timed(op_named("shmem_long_wait_until"), -1, 0, 8, || std::thread::sleep(short));
    std::thread::sleep(long);
    timed(finalize, -1, 0, 0, || {
        mark(Mark::Finalizing);
        std::thread::sleep(short);
        mark(Mark::Finalized);
    });
    let pe = fixture.pe();
    let line = &pe.tables.timeline;
    let begins = |at: usize| line.begin_ns + at as u64 * line.width_ns;
    let of = |is_there: &dyn Fn(usize) -> bool| {
        let slices = line.slices.iter().enumerate().filter(|(at, _)| is_there(*at));
        slices.map(|(_, slice)| slice[DATA]).sum::<u64>()
    };
    // Slices that they share with what is between are left to them. Widths are cut to nanoseconds.
    let (first, last) = (pe.init_ns, pe.finalize_ns);
    assert_eq!(of(&|at| begins(at) > first && begins(at + 1) + 1000 < last), 0, "{line:?} from {first} until {last}");
    assert_eq!(of(&|at| begins(at) <= first), routine(&pe, init).max_ns, "{line:?} until {first}");
    // It returns after the end of the PE.
    let of_last = of(&|at| begins(at + 1) + 1000 >= last);
    assert!(of_last >= short.as_nanos() as u64 / 5 * 4 && of_last <= routine(&pe, finalize).max_ns, "{line:?}");
}

#[test]
fn marks_and_levels() {
    let fixture = Fixture::new();
    let begin = Stamp::now();
    std::thread::sleep(Duration::from_millis(3));
    record(op::find("shmem_init").unwrap_or(0), -1, 0, 0, begin);
    set_level(1);
    mark(Mark::Initialized);
    set_level(0);
    set_level(2);
    mark(Mark::Finalizing);
    mark(Mark::Finalized);
    let pe = fixture.pe();
    assert_eq!((pe.progress, pe.level, pe.level_changes), (Progress::Finalized, 2, 2));
    assert!(
        pe.start_ns > 0 && pe.start_ns <= pe.init_ns && pe.init_ns <= pe.finalize_ns && pe.finalize_ns <= pe.end_ns
    );
    assert!(pe.routines[0].max_ns >= 3_000_000, "{} ns", pe.routines[0].max_ns);
    assert!(pe.last.is_none());
    detach_after_fork();
    assert!(!is_attached() && arm::level() == 0);
    set_level(1);
    assert!(arm::level() <= 0, "no segment, no recording");
    round();
    assert_eq!(fixture.pe(), pe, "nothing is written after detaching");
}

#[test]
fn a_segment_that_does_not_fit_is_refused() {
    let fixture = Fixture::new();
    let fd = create(3, &JobInfo { first_pe: 1, ..JobInfo::default() }).unwrap();
    for (pe, npes) in [(0, 3), (3, 3), (1, 4)] {
        let error = attach(fd.as_raw_fd(), pe, npes, 1, 2).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
    assert!(create(0, &JobInfo::default()).is_err());
    assert!(create(2, &JobInfo { first_pe: 1, local_pes: Some(2), ..JobInfo::default() }).is_err());
    assert!(attach(-1, 0, 1, 0, 1).is_err());
    let null = std::fs::File::open("/dev/null").unwrap();
    let error = attach(null.as_raw_fd(), 0, 1, 0, 1).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData, "{error}");
    drop(fixture);
}

#[test]
fn a_long_wait_is_shown_where_recording_does_not_show_it() {
    let fixture = Fixture::new();
    let (timed_op, sampled_op) = (op_with(Timing::Timed, 0), op_with(Timing::Sampled, 0));
    let shown = || fixture.segment().current(1).into_iter().next();
    let wait = |op| {
        assert!(super::may_stall());
        let before = super::stall(op, 2, 64, 8, Duration::from_secs(3)).expect("the thread has a slot");
        let now = shown().expect("it is shown");
        assert_eq!((now.op, now.phase, now.peer), (op, Phase::Inside, Some(2)));
        assert_eq!((now.addr, now.bytes), (Some(64), Some(8)));
        assert!((2.9e9..60e9).contains(&(now.elapsed_ns.unwrap() as f64)), "{now:?}");
        super::stall_over(&before);
    };
    set_level(0);
    wait(timed_op);
    assert_eq!(shown(), None, "it waits no longer, and nothing else is known");
    set_level(1);
    timed(timed_op, -1, 0, 0, || assert!(!super::may_stall(), "recording shows it"));
    sampled(sampled_op, 3, 0, 8, || wait(sampled_op));
    assert!(shown().is_some_and(|now| now.op == sampled_op && now.phase != Phase::Inside));
    assert_eq!(routine(&fixture.pe(), sampled_op).all_calls(), 1);
    set_level(0);
}

/// Calls by which a thread waits, one after the other: each is counted, some are timed, and what it waits for is seen.
#[test]
fn calls_by_which_a_thread_waits_leave_its_wait_to_be_seen() {
    const CALLS: u64 = 10_000;
    let fixture = Fixture::new();
    let op = op_with(Timing::Sampled, 0);
    let shown = || fixture.segment().current(1).into_iter().next();
    assert!(super::may_stall());
    super::stall(op, 2, 64, 8, Duration::from_secs(3)).expect("the thread has a slot");
    let before = shown().expect("it is shown");
    assert_eq!((before.phase, before.peer), (Phase::Inside, Some(2)));
    let same =
        || shown().is_some_and(|now| (now.phase, now.peer, now.addr) == (before.phase, before.peer, before.addr));
    for call in 0..CALLS {
        super::sampled_in_wait(op, || assert!(same(), "in call {call}: {:?}", shown()));
        assert!(same(), "after call {call}: {:?}", shown());
    }
    let pe = fixture.pe();
    let routine = routine(&pe, op);
    assert_eq!(routine.all_calls(), CALLS);
    assert!(routine.timed_calls > 10, "{} are timed", routine.timed_calls);
}
