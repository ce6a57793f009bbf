//! Reading a segment, of a running job or of a dead one, into plain numbers.
//!
//! A reader takes what is there and never makes a PE wait. Each number is whole; numbers that belong together (calls
//! and bytes, a total and its count) may be one call apart while the PE runs.

mod callers;
mod causes;
mod counters;
mod flows;
mod lines;
mod locks;
mod phases;
mod rates;
mod sampled;
mod sites;
mod tables;
mod threads;
mod timeline;
mod unfinished;

use std::collections::BTreeMap;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

pub(crate) use self::flows::Flows;
use self::tables::SeenMeetings;
use self::threads::Threads;
pub use self::threads::in_library;
use self::unfinished::Unfinished;
use crate::model::{End, Job, LIBRARY, LastOp, Pe, Profile, Progress, Routine, SizeCount};
use crate::op::{self, Class, NONBLOCKING, TIMED_IF_WAITS, Timing};
use crate::segment::layout::{
    Cell, NOT_COUNTED, PE_ABSENT, PE_FINALIZED, PE_INITIALIZED, ROW_NONE, ROW_OVERFLOW, Region, Row, SLOTS,
    STATE_INSIDE, Slot, state_of,
};
use crate::segment::tables::ops_in;
use crate::segment::{Phase, Segment};
use crate::size::{DISTANCES, Distance, SIZE_CLASSES, size_class};
use crate::tables::PeTables;

/// How a PE ended, as its launcher saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeOutcome {
    /// Exit status or signal.
    pub end: End,
    /// When, by [`Segment::now_ns`]; `None` when not known.
    pub ended_ns: Option<u64>,
}

/// How a job ended, as its launcher saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Exit status of the job; `None` while it runs.
    pub exit_status: Option<i32>,
    /// One entry a PE, in the order of [`Segment::pes`]; missing ones are unknown.
    pub pes: Vec<PeOutcome>,
}

/// How much is read of a PE.
#[derive(Debug)]
enum Depth<'a> {
    /// All that there is.
    All,
    /// See [`take_sums`].
    Sums(&'a mut SeenMeetings),
}

/// Threads that read.
const THREADS: usize = 4;
/// PEs from which on a second thread is worth starting.
const MANY: usize = 256;

/// How much of each PE's meetings has been read.
#[derive(Debug, Default)]
pub struct Seen(Vec<SeenMeetings>);

/// Reads what sums over PEs need, for those who read often: routines, regions, nonblocking operations, what the network
/// says, and the meetings that have not been seen. Peers, call sites, contexts, markers, time lines, counters and
/// phases are left out, which are most of the memory.
pub fn take_sums(segment: &Segment, seen: &mut Seen) -> Profile {
    let (now, numbers) = (segment.now_ns(), segment.pes());
    seen.0.resize_with(numbers.len(), SeenMeetings::default);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let each = numbers.len().div_ceil(threads).max(MANY);
    let read = |(first, seen): (u32, &mut [SeenMeetings])| -> Vec<Pe> {
        let one = |(pe, seen)| take_pe(segment, pe, (PeOutcome::default(), now), Depth::Sums(seen));
        (first..).zip(seen).filter_map(one).collect()
    };
    let mut parts = (numbers.start..).step_by(each).zip(seen.0.chunks_mut(each));
    let first = parts.next();
    let pes = std::thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(|| read(part))).collect();
        let mut pes = first.map(read).unwrap_or_default();
        pes.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
        pes
    });
    Profile { job: job(segment, &Outcome::default(), &pes, now), pes }
}

/// Reads the whole segment.
pub fn take(segment: &Segment, outcome: &Outcome) -> Profile {
    let now = segment.now_ns();
    let outcomes = outcome.pes.iter().copied().chain(std::iter::repeat(PeOutcome::default()));
    let one = |(pe, outcome)| take_pe(segment, pe, (outcome, now), Depth::All);
    let pes: Vec<Pe> = segment.pes().zip(outcomes).filter_map(one).collect();
    Profile { job: job(segment, outcome, &pes, now), pes }
}

fn job(segment: &Segment, outcome: &Outcome, pes: &[Pe], now: u64) -> Job {
    let last_end = outcome.pes.iter().filter_map(|pe| pe.ended_ns).chain(pes.iter().map(|pe| pe.end_ns)).max();
    let header = segment.header();
    Job {
        program: header.program.get(),
        arguments: header.arguments.get(),
        directory: header.directory.get(),
        host: header.host.get(),
        npes: segment.npes(),
        start_realtime_ns: header.start_realtime.load(Relaxed),
        wall_ns: if outcome.exit_status.is_some() { last_end.unwrap_or(now) } else { now },
        exit_status: outcome.exit_status,
        library: LIBRARY.to_owned(),
        identity: header.identity(),
        transport: header.transport(),
    }
}

/// Reads one PE; `None` when it never attached.
fn take_pe(segment: &Segment, number: u32, (outcome, now): (PeOutcome, u64), depth: Depth<'_>) -> Option<Pe> {
    let region = segment.region(number)?;
    let head = &region.head;
    let progress = match head.state.load(Acquire) {
        PE_ABSENT => return None,
        PE_INITIALIZED => Progress::Initialized,
        PE_FINALIZED => Progress::Finalized,
        _ => Progress::Attached,
    };
    let stamp = |word: &AtomicU64| match word.load(Relaxed) {
        0 => 0,
        ticks => segment.since_start(ticks),
    };
    let ended = outcome.ended_ns.unwrap_or(now);
    let end_ns = match stamp(&head.end_ticks) {
        end if end > 0 && progress == Progress::Finalized => end,
        _ => ended,
    };
    let mut pe = Pe {
        pe: number,
        pid: head.pid.load(Relaxed),
        host: head.host.get(),
        progress,
        end: outcome.end,
        start_ns: stamp(&head.attach_ticks),
        init_ns: stamp(&head.init_ticks),
        finalize_ns: stamp(&head.finalize_ticks),
        end_ns,
        level: head.max_level.load(Relaxed),
        level_changes: head.level_changes.load(Relaxed),
        threads: head.threads.load(Relaxed),
        shared_calls: head.shared_calls.load(Relaxed),
        overflowed: 0,
        incomplete: false,
        last: None,
        routines: Vec::new(),
        tables: PeTables::default(),
    };
    if progress != Progress::Finalized && matches!(depth, Depth::All) {
        pe.last = last_op(segment, number, end_ns);
    }
    add_slots(segment, region, &mut pe, depth);
    Some(pe)
}

fn last_op(segment: &Segment, pe: u32, end_ns: u64) -> Option<LastOp> {
    let current = segment.current(pe).into_iter().next()?;
    Some(LastOp {
        routine: current.routine.to_owned(),
        inside: match current.phase {
            Phase::Inside => Some(true),
            Phase::Returned => Some(false),
            Phase::Entered => None,
        },
        peer: current.peer,
        since_ns: current.start_ns.map(|start| end_ns.saturating_sub(start)),
    })
}

/// What a sample takes, in nanoseconds with all their digits: what is subtracted from a mean must not be rounded.
fn sample_overhead_ns(segment: &Segment, region: &Region) -> f64 {
    region.head.sample_overhead.load(Relaxed) as f64 / 256.0 * segment.scale().ns_per_tick()
}

fn add_slots(segment: &Segment, region: &Region, pe: &mut Pe, depth: Depth<'_>) {
    let overhead_ns = sample_overhead_ns(segment, region);
    let mut by_op: BTreeMap<u16, Routine> = BTreeMap::new();
    let used = (region.head.slots_used.load(Acquire) as usize).min(SLOTS);
    let shared = (pe.shared_calls > 0).then_some(&region.slots[SLOTS]);
    let slots = region.slots[..used].iter().chain(shared);
    let flows: Vec<Flows> = slots.clone().map(Flows::of_thread).collect();
    let is_whole = matches!(depth, Depth::All);
    match depth {
        Depth::All => {
            pe.tables = tables::take(segment, region, &flows, pe.end_ns);
            pe.tables.timeline = timeline::take(segment, &region.head, slots.clone(), pe.end_ns, overhead_ns);
            pe.tables.locks = locks::take(segment, region, slots.clone(), pe.end_ns);
            pe.tables.lines = lines::take(segment, &region.head, slots.clone());
            pe.tables.causes = causes::take(segment, slots.clone());
            pe.tables.callers = callers::take(segment, slots.clone());
            pe.tables.rates = rates::take(segment, slots.clone());
        }
        Depth::Sums(seen) => pe.tables = tables::take_sums(segment, region, slots.clone(), (pe.end_ns, seen)),
    }
    let mut threads = Threads::default();
    for (at, flows) in flows.iter().enumerate() {
        let slot = flows.slot;
        let mut library_ns = 0_u64;
        pe.overflowed += slot.tables.rows_overflowed.load(Relaxed);
        let visit = |op: u16, cell: &Cell| {
            if let (Some(row), Some(routine)) = (op::get(op), read_cell(flows, op, cell, overhead_ns)) {
                if row.class.is_library_time() {
                    library_ns = library_ns.saturating_add(routine.spent_ns());
                }
                by_op.entry(op).or_insert_with(|| Routine::new(row.name(), row.class)).merge(&routine);
            }
        };
        // In the slot that threads share, several calls may be the first of their kind.
        if is_whole || at >= used {
            for_each_cell(segment, slot, visit)
        } else {
            for_each_called(slot, visit)
        }
        if let Some(unfinished) = Unfinished::of(segment, slot, pe.end_ns)
            && let Some(routine) = by_op.get_mut(&unfinished.op).filter(|routine| routine.unfinished > 0)
        {
            routine.unfinished_ns += unfinished.ns;
            if routine.class.is_library_time() {
                library_ns = library_ns.saturating_add(unfinished.ns);
            }
        }
        threads.add(slot, tables::life_ns(segment, &region.head, slot, pe.end_ns), library_ns);
    }
    if is_whole {
        threads.note(&mut pe.tables.system);
        sampled::peers_add_up(&mut pe.tables.peers, &by_op);
        pe.tables.sites = sites::take(segment, &flows, (overhead_ns, pe.end_ns), &by_op);
    }
    if pe.tables.nbi.issued > 0 {
        pe.tables.nbi.bytes = nonblocking_bytes(&by_op);
    }
    pe.routines = by_op.into_values().collect();
}

fn nonblocking_bytes(by_op: &BTreeMap<u16, Routine>) -> u64 {
    let routines = by_op.iter().filter(|(op, _)| op::traits(**op) & NONBLOCKING != 0);
    routines.map(|(_, routine)| routine.all_bytes()).fold(0, u64::saturating_add)
}

/// Visits the cells of operations of which a call has returned, and that of the present one: for those who look often.
fn for_each_called(slot: &Slot, mut visit: impl FnMut(u16, &Cell)) {
    let word = slot.head.current.word.load(Acquire);
    let mut current = (state_of(word) != 0).then_some(word as u16);
    let is_known = |op: &u16| usize::from(*op) < op::TOTAL;
    for op in ops_in(&slot.tables.used).filter(is_known) {
        current = current.filter(|now| *now != op);
        visit(op, slot.cell(op));
    }
    current.into_iter().filter(is_known).for_each(|op| visit(op, slot.cell(op)));
}

/// Visits the cells that lie on pages that were ever written.
fn for_each_cell(segment: &Segment, slot: &Slot, mut visit: impl FnMut(u16, &Cell)) {
    let begin = segment.offset_of(&slot.cells);
    let cells = begin..begin + op::TOTAL * size_of::<Cell>();
    segment.data_ranges(cells, |data| {
        let first = (data.start - begin) / size_of::<Cell>();
        let end = (data.end - begin).div_ceil(size_of::<Cell>());
        for op in first..end.min(op::TOTAL) {
            visit(op as u16, &slot.cells[op]);
        }
    });
}

/// One operation of one thread; `None` where it was never called.
pub(crate) fn read_cell(flows: &Flows<'_>, op: u16, cell: &Cell, overhead_ns: f64) -> Option<Routine> {
    let get = |word: &AtomicU64| word.load(Relaxed);
    let slot = flows.slot;
    let row_table = op::get(op)?;
    let row = match cell.row.load(Acquire) {
        ROW_NONE | ROW_OVERFLOW => None,
        number => Some(slot.row(number)),
    };
    // As most cells are.
    if row.is_none() && cell.calls.iter().all(|calls| get(calls) == 0) && get(&cell.errors) == 0 {
        return None;
    }
    let mut routine = counted(flows, op, cell, row, row_table);
    routine.errors = get(&cell.errors);
    let calls = routine.all_calls();
    if calls == 0 && routine.errors == 0 {
        return None;
    }

    let (exact_calls, exact_ns) = (get(&cell.exact_calls), get(&cell.exact_ns));
    let (samples, weight, sample_ns) = (get(&cell.samples), get(&cell.sample_weight), get(&cell.sample_ns));
    routine.timed_calls = exact_calls + samples;
    let untimed = calls.saturating_sub(exact_calls).saturating_sub(weight);
    if row_table.timing == Timing::Timed {
        // Where calls that did not wait have no stamp, a thread that has a slot of its own is inside of one at most.
        let inside =
            if op::traits(op) & TIMED_IF_WAITS != 0 && samples > 0 { is_inside(slot, op).into() } else { untimed };
        routine.unfinished = untimed.min(inside);
    }
    let estimate = Estimate {
        weight: weight as f64,
        ns: sample_ns as f64,
        ns2: row.map_or(0.0, |row| f64::from_bits(get(&row.sample_ns2))),
        spread: row.map_or(0, |row| get(&row.sample_spread)) as f64,
        samples: samples as f64,
        overhead_ns,
        beyond: if samples > 0 { (untimed - routine.unfinished) as f64 } else { 0.0 },
    };
    routine.estimated = weight > samples || estimate.beyond > 0.0;
    routine.sampled_sites = slot.tables.samples_sites_of(op);
    routine.total_ns = exact_ns.saturating_add(estimate.total().round() as u64);
    routine.expected_ns = estimate.expected().round() as u64;
    routine.total_variance = estimate.variance();
    routine.denied_ns = row.map_or(0, |row| get(&row.denied_ns));
    Some(routine)
}

/// What an operation has of calls, bytes and latencies.
fn counted(flows: &Flows<'_>, op: u16, cell: &Cell, row: Option<&Row>, of_op: &op::Op) -> Routine {
    let get = |word: &AtomicU64| word.load(Relaxed);
    let mut routine = Routine::new("", of_op.class);
    for (d, of_flows) in flows.missing(op).into_iter().enumerate() {
        routine.calls[d] = get(&cell.calls[d]).saturating_add(of_flows);
        let bytes = if d == Distance::None as usize { flows.bytes_without_peer(op, cell) } else { get(&cell.bytes[d]) };
        routine.bytes[d] = bytes.saturating_add(op::bytes_of_calls(op, routine.calls[d]));
        // Calls counted here have no size class: routines of one size, whose class follows from the mean, and calls
        // without bytes, which belong to a class where the routine has a payload.
        let has_payload = of_op.class == Class::Collective && usize::from(op) < op::COUNT;
        let mean = routine.bytes[d].checked_div(routine.calls[d]);
        if let Some(mean) = mean.filter(|&mean| mean > 0 || has_payload) {
            let class = size_class(usize::try_from(mean).unwrap_or(usize::MAX)) as u8;
            routine.add_size(SizeCount { class, distance: d as u8, calls: routine.calls[d], bytes: routine.bytes[d] });
        }
    }
    if let Some(row) = row {
        read_row(&mut routine, row, of_op.timing);
    }
    flows.sizes(op).for_each(|size| add_calls(&mut routine, size));
    routine
}

/// Whether the slot's owner is inside of a call of this operation, and has counted it.
fn is_inside(slot: &Slot, op: u16) -> bool {
    let word = slot.head.current.word.load(Relaxed);
    word as u16 == op && state_of(word) == STATE_INSIDE && word & NOT_COUNTED == 0
}

/// What the row of an operation has of it: sizes and latencies.
fn read_row(routine: &mut Routine, row: &Row, timing: Timing) {
    let get = |word: &AtomicU64| word.load(Relaxed);
    // Short calls are counted in the cell.
    let classes = if timing == Timing::Sampled { 0 } else { SIZE_CLASSES };
    for class in 0..classes {
        for d in 0..DISTANCES {
            let size = row.size(class, d);
            let (calls, bytes) = (get(&size.calls), get(&size.bytes));
            if calls > 0 {
                add_calls(routine, SizeCount { class: class as u8, distance: d as u8, calls, bytes });
            }
        }
    }
    routine.max_ns = get(&row.max_ns);
    // No call was longer than the longest: nothing is in the buckets beyond, which are most of them. The maximum is
    // written after the count, so that a reader may miss a call that returns at this moment.
    let used = crate::histogram::bucket(routine.max_ns) + 1;
    let latency = row.latency[..used].iter().enumerate().map(|(bucket, count)| (bucket as u16, get(count)));
    routine.latency = crate::histogram::Histogram::from_counts(latency);
}

/// Adds calls that are counted by size.
fn add_calls(routine: &mut Routine, size: SizeCount) {
    let d = usize::from(size.distance);
    routine.calls[d] = routine.calls[d].saturating_add(size.calls);
    routine.bytes[d] = routine.bytes[d].saturating_add(size.bytes);
    routine.add_size(size);
}

/// The time of all sampled calls, from the samples.
struct Estimate {
    /// Calls that the samples stand for.
    weight: f64,
    /// Sum of weight times nanoseconds.
    ns: f64,
    /// Sum of weight times squared nanoseconds.
    ns2: f64,
    /// Sum of `w * (w - 1)`.
    spread: f64,
    /// Samples.
    samples: f64,
    /// What timing takes: part of each sample.
    overhead_ns: f64,
    /// Calls since the last sample.
    beyond: f64,
}

impl Estimate {
    fn mean(&self) -> f64 {
        let mean = if self.weight > 0.0 { self.ns / self.weight - self.overhead_ns } else { 0.0 };
        mean.max(0.0)
    }

    fn total(&self) -> f64 {
        self.mean() * (self.weight + self.beyond)
    }

    /// The part of the total that is for the calls since the last sample.
    fn expected(&self) -> f64 {
        self.mean() * self.beyond
    }

    /// A sample that stands for `w` calls of variance `s2` is off their sum by a variance of `w * (w - 1) * s2`; the
    /// calls beyond the last sample take the mean.
    fn variance(&self) -> f64 {
        if self.weight <= 0.0 {
            return 0.0;
        }
        let mean = self.ns / self.weight;
        let s2 = (self.ns2 / self.weight - mean * mean).max(0.0);
        s2 * (self.spread + self.beyond * self.beyond / self.samples.max(1.0) + self.beyond)
    }
}
