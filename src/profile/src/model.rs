//! The numbers of a profile as plain data: what a snapshot yields, the profile directory stores and reports show.

use crate::histogram::Histogram;
use crate::op::{self, Class};
use crate::size::DISTANCES;
use crate::tables::{Cost, PeTables};

/// Most PEs that a job is believed to have: reports keep some bytes for each, and a damaged number could be any.
pub(crate) const MOST_PES: u32 = 1 << 24;

/// The profile of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The job as a whole.
    pub job: Job,
    /// Its PEs, by world number. PEs that never attached are missing.
    pub pes: Vec<Pe>,
}

/// The job as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Program, as given to the launcher.
    pub program: String,
    /// Its arguments: [`crate::text::arguments`].
    pub arguments: String,
    /// Directory it was started in.
    pub directory: String,
    /// Host of the launcher.
    pub host: String,
    /// PEs of the job.
    pub npes: u32,
    /// Start in nanoseconds since 1970.
    pub start_realtime_ns: u64,
    /// Time from the start of the launcher to the end of the last PE, in nanoseconds.
    pub wall_ns: u64,
    /// Exit status of the job; `None` while it runs.
    pub exit_status: Option<i32>,
    /// The library that it ran with; empty in profiles that do not say.
    pub library: String,
    /// Who it is; empty in profiles that do not say.
    pub identity: JobIdentity,
    /// What its PEs communicated through, by the library's name of it; empty in profiles that do not say.
    pub transport: String,
}

/// Who a job is, beside its numbers. What is not known is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobIdentity {
    /// What tells it from other jobs: see [`crate::segment::identity`].
    pub id: String,
    /// Step of the batch system.
    pub step: String,
    /// What started it.
    pub launcher: String,
}

/// The library that this is part of: that of a job and its launcher are of one release.
pub const LIBRARY: &str = concat!("Pellucid ", env!("CARGO_PKG_VERSION"));

/// How a PE ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// It had not ended when the numbers were read, or nobody knows.
    #[default]
    Unknown,
    /// It exited with this status.
    Exited(i32),
    /// It was ended by this signal.
    Killed(i32),
    /// The launcher ended it, because another PE had failed or ended the job.
    Stopped,
}

/// How far a PE came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// It began to initialize.
    #[default]
    Attached,
    /// It finished initialization.
    Initialized,
    /// It finished finalization.
    Finalized,
}

/// The last operation of a PE that did not finalize.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastOp {
    /// C name of the routine.
    pub routine: String,
    /// `Some(true)`: it was inside; `Some(false)`: the routine had returned; `None`: not recorded.
    pub inside: Option<bool>,
    /// World number of the peer, where the call had one.
    pub peer: Option<u32>,
    /// Nanoseconds from entering the routine to the end of the PE, where recorded.
    pub since_ns: Option<u64>,
}

/// One PE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pe {
    /// World number.
    pub pe: u32,
    /// Process id.
    pub pid: u32,
    /// Its host.
    pub host: String,
    /// How far it came.
    pub progress: Progress,
    /// How it ended.
    pub end: End,
    /// Start of recording, in nanoseconds since the job's start.
    pub start_ns: u64,
    /// End of initialization on the same time line; 0 when it did not get there.
    pub init_ns: u64,
    /// Begin of finalization; 0 when it did not get there.
    pub finalize_ns: u64,
    /// End of the PE's run: end of finalization, or its death, or the time of reading.
    pub end_ns: u64,
    /// Highest profiling level in force.
    pub level: i32,
    /// How often the program changed the level: its profile covers only part of its run.
    pub level_changes: u32,
    /// Threads that recorded something.
    pub threads: u32,
    /// Calls of threads that found no slot of their own (counted and timed exactly, at a higher cost).
    pub shared_calls: u64,
    /// Routines whose latencies and sizes were not kept for lack of room. Their calls, bytes and times were.
    pub overflowed: u32,
    /// Part of what it recorded is not here: its file is damaged.
    pub incomplete: bool,
    /// What it did last; only for PEs that did not finalize.
    pub last: Option<LastOp>,
    /// What it called, in the order of the operation table.
    pub routines: Vec<Routine>,
    /// Peers, call sites and all else that is not by routine.
    pub tables: PeTables,
}

impl Pe {
    /// Length of the PE's run in nanoseconds.
    pub fn wall_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Length of its run from the end of initialization to the begin of finalization, in nanoseconds, without what the
    /// level was 0 of it: what shares are of. 0 where it was never initialized.
    pub fn main_ns(&self) -> u64 {
        let all = main_ns(self.progress, self.init_ns.max(self.start_ns), self.finalize_ns, self.end_ns);
        all.saturating_sub(self.tables.system.unrecorded_ns)
    }

    /// Puts all moments on another time line; durations stay.
    pub fn move_to(&mut self, time: impl Fn(u64) -> u64) {
        let moments = [&mut self.start_ns, &mut self.init_ns, &mut self.finalize_ns, &mut self.end_ns];
        // 0: it has not come to that.
        moments.into_iter().filter(|moment| **moment != 0).for_each(|moment| *moment = time(*moment));
        if let Some(since) = self.last.as_mut().and_then(|last| last.since_ns.as_mut()) {
            *since = time(*since);
        }
        for sync in self.tables.syncs.iter_mut().chain(&mut self.tables.open_syncs) {
            let took = sync.left_ns.saturating_sub(sync.arrived_ns);
            sync.arrived_ns = time(sync.arrived_ns);
            sync.left_ns = sync.arrived_ns.saturating_add(took);
        }
        let begin = &mut self.tables.timeline.begin_ns;
        *begin = if *begin == 0 { 0 } else { time(*begin) };
        let syncs = self.tables.syncs.iter_mut().chain(&mut self.tables.open_syncs);
        let phases = syncs.map(|sync| &mut sync.phase.begin_ns);
        let last = self.tables.last_phases.iter_mut().flat_map(|last| [&mut last.phase.begin_ns, &mut last.end_ns]);
        phases.chain(last).filter(|moment| **moment != 0).for_each(|moment| *moment = time(*moment));
    }

    /// What profiling took of the PE's run, in nanoseconds: by what a call cost when the PE started, and how far calls
    /// overlapped; and by what asking for lines of a script took.
    pub fn overhead_ns(&self) -> u64 {
        // Each begin and each end of a region is a call that is counted, and finds its name, reads the clock and adds
        // up: somewhat more than timing a call takes, which reads the clock twice and finds nothing.
        let changes = self.tables.regions.iter().map(|region| 2 * region.entries).fold(0_u64, u64::saturating_add);
        let is_kept = !self.tables.sites.is_empty();
        let calls: f64 = self.routines.iter().map(|r| r.recording_ns(&self.tables.cost, is_kept)).sum();
        (calls + changes as f64 * OF_REGION * self.tables.cost.timed_ns) as u64 + self.tables.system.script_ns
    }
}

/// What counting a call takes of what counting one took when the PE started, which has a call more and no size or peer:
/// without a peer.
const ALONE: f64 = 0.65;
/// The same of a call with a peer (`./x bench cost`, loops of puts); of atomic operations, of what counting takes
/// beside one.
const BY_PEER: f64 = 1.05;
/// The same of a routine that only says what is known: mostly jumps, which take as long where nothing is counted
/// (`./x bench cost`, a loop of `shmem_n_pes`).
const OF_QUERY: f64 = 0.15;
/// The same of copies, of what counting takes beside one: a put has a size and a peer.
const OF_COPY: f64 = 1.3;
/// What a wait takes of what timing a call took (`./x bench cost`, a flag that goes round): most of it passes while it
/// waits, all of it on some processors.
const OF_WAIT: f64 = 0.5;
/// The same of a collective, which has its team and algorithm counted, too.
const OF_COLLECTIVE: f64 = 0.85;
/// The same of a barrier, which has nothing else to do.
const OF_BARRIER: f64 = 0.7;
/// The same of a call without call site and peer in a profile that has them: `./x bench cost`.
const OF_SITES: f64 = 0.6;
/// What a begin or an end of a region takes of what timing a call took (`./x bench cost`).
const OF_REGION: f64 = 1.5;
/// Bytes of a call from which on what it takes is a copy.
const COPIED: u64 = 1024;
/// The part of a short call's time that recording takes where the processor overlaps calls. As [`ALONE`], measured on
/// one kind of processor (`./x bench cost updates`, and `oshrun --profile-cost` of the same loop); for tables that fit
/// into no cache it is less.
const OF_WINDOW: f64 = 0.17;
/// Most bytes of a call for which that holds: beyond, moving them is what fills the window.
const WORDS: u64 = 64;

/// From the end of initialization to the begin of finalization (0: it did not come to that), or to the end of the run.
pub(crate) fn main_ns(progress: Progress, init_ns: u64, finalize_ns: u64, end_ns: u64) -> u64 {
    let end = if finalize_ns == 0 { end_ns } else { finalize_ns };
    if progress == Progress::Attached { 0 } else { end.saturating_sub(init_ns) }
}

/// Calls and bytes of one size class at one distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// Size class ([`crate::size`]).
    pub class: u8,
    /// Distance, by number.
    pub distance: u8,
    /// Calls.
    pub calls: u64,
    /// Bytes.
    pub bytes: u64,
}

/// One routine of one PE, or of several added up.
#[derive(Clone, Debug, PartialEq)]
pub struct Routine {
    /// C name.
    pub name: String,
    /// What kind of routine it is.
    pub class: Class,
    /// Calls by distance. Exact.
    pub calls: [u64; DISTANCES],
    /// Bytes by distance. Exact.
    pub bytes: [u64; DISTANCES],
    /// Calls that reported failure. Exact.
    pub errors: u64,
    /// Calls that had not returned when the numbers were read.
    pub unfinished: u64,
    /// Time in those calls so far, in nanoseconds.
    pub unfinished_ns: u64,
    /// Calls that were timed.
    pub timed_calls: u64,
    /// Time in all finished calls in nanoseconds: exact, or estimated from the timed ones.
    pub total_ns: u64,
    /// Whether the total is an estimate.
    pub estimated: bool,
    /// Whether its calls by call site and by peer are estimates: those of samples.
    pub sampled_sites: bool,
    /// The part of the total that is for calls since the last sample: it may fall with the next one. Not kept in files.
    pub expected_ns: u64,
    /// Variance of the total, in square nanoseconds; 0 when it is exact.
    pub total_variance: f64,
    /// What samples would have claimed for other calls beyond the time that passed, in nanoseconds; not part of the
    /// total. Calls that overlap in the processor take longer alone, as they are timed, than apart.
    pub denied_ns: u64,
    /// Longest timed call in nanoseconds.
    pub max_ns: u64,
    /// Latencies; a sample counts for the calls that it stands for.
    pub latency: Histogram,
    /// Calls and bytes by size class and distance, for routines with a payload.
    pub sizes: Vec<SizeCount>,
}

impl Routine {
    /// A routine without calls.
    pub fn new(name: &str, class: Class) -> Routine {
        Routine {
            name: name.to_owned(),
            class,
            calls: [0; DISTANCES],
            bytes: [0; DISTANCES],
            errors: 0,
            unfinished: 0,
            unfinished_ns: 0,
            timed_calls: 0,
            total_ns: 0,
            estimated: false,
            sampled_sites: false,
            expected_ns: 0,
            total_variance: 0.0,
            denied_ns: 0,
            max_ns: 0,
            latency: Histogram::default(),
            sizes: Vec::new(),
        }
    }

    /// Calls at all distances.
    pub fn all_calls(&self) -> u64 {
        sum(&self.calls)
    }

    /// Bytes at all distances.
    pub fn all_bytes(&self) -> u64 {
        sum(&self.bytes)
    }

    /// Bytes that move between PEs: all but those of routines that manage memory, and what handlers are given, which
    /// their senders have counted.
    pub fn traffic_bytes(&self) -> u64 {
        match self.class {
            Class::Memory => 0,
            Class::Handler if !op::has(&self.name, op::TRANSFER) => 0,
            _ => self.all_bytes(),
        }
    }

    /// Time in all calls, finished or not, in nanoseconds.
    pub fn spent_ns(&self) -> u64 {
        self.total_ns.saturating_add(self.unfinished_ns)
    }

    /// Time in finished calls as far as calls were timed or stand behind a sample: while the PE runs this only grows.
    pub fn measured_ns(&self) -> u64 {
        self.total_ns.saturating_sub(self.expected_ns)
    }

    /// Mean time of a finished call in nanoseconds; 0 when no call was timed.
    pub fn mean_ns(&self) -> f64 {
        let finished = self.all_calls().saturating_sub(self.unfinished);
        if self.timed_calls == 0 || finished == 0 { 0.0 } else { self.total_ns as f64 / finished as f64 }
    }

    /// The latency below which the share `q` of the calls lies, in nanoseconds; 0 when not kept. To the width of a
    /// bucket, and where all calls are in one bucket it is their mean.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        let ns = match self.latency.counts() {
            [(only, _)] if !self.is_bounded() => {
                let (low, high) = crate::histogram::bounds(usize::from(*only));
                (self.mean_ns().round() as u64).clamp(low, high)
            }
            _ => self.latency.quantile(q),
        };
        ns.min(self.max_ns)
    }

    /// What recording its calls took, in nanoseconds, in a profile of which call sites are kept, or not.
    fn recording_ns(&self, cost: &Cost, is_kept: bool) -> f64 {
        let (all, timed) = (self.all_calls(), self.timed_calls);
        let counted = all.saturating_sub(timed) as f64;
        if matches!(self.class, Class::Wait | Class::Barrier | Class::Collective) {
            // Those that were over at once are looked at before and after as well.
            let part = match self.class {
                Class::Barrier => OF_BARRIER,
                Class::Wait => OF_WAIT,
                _ => OF_COLLECTIVE,
            };
            return timed.max(all) as f64 * part * cost.timed_ns;
        }
        let part = if is_kept && self.sampled_sites { OF_SITES } else { 1.0 };
        let each = part * self.counting_ns(cost);
        // Calls of a word or two that overlap share the processor's window with what is recorded of them.
        let is_access = self.class != Class::Query;
        let overlaps = is_access && self.is_bounded() && self.all_bytes() / all.max(1) <= WORDS;
        let overlap = if overlaps { OF_WINDOW * self.total_ns as f64 / all.max(1) as f64 } else { 0.0 };
        counted * each.max(overlap) + timed as f64 * cost.longest_ns()
    }

    /// What counting one of its calls took, in nanoseconds, without what the processor has under way at once.
    fn counting_ns(&self, cost: &Cost) -> f64 {
        let [amo_ns, copy_ns] = cost.beside_ns;
        let is_copy = self.all_bytes() / self.all_calls().max(1) >= COPIED;
        match self.class {
            Class::Amo if amo_ns > 0.0 => BY_PEER * amo_ns,
            Class::Put | Class::Get if is_copy && copy_ns > 0.0 => OF_COPY * copy_ns,
            Class::Query => OF_QUERY * cost.counted_ns,
            Class::Put | Class::Get | Class::Amo | Class::Signal => BY_PEER * cost.counted_ns,
            _ => ALONE * cost.counted_ns,
        }
    }

    /// Whether the total is at most what is given: samples came to more than the time that passed by over 1 % of it.
    pub fn is_bounded(&self) -> bool {
        self.denied_ns > self.total_ns / 100
    }

    /// Standard error of the total in nanoseconds; 0 when it is exact, or a bound.
    pub fn total_stderr_ns(&self) -> f64 {
        if self.total_variance > 0.0 && !self.is_bounded() { self.total_variance.sqrt() } else { 0.0 }
    }

    /// Adds another thread's or PE's numbers for the same routine.
    pub fn merge(&mut self, other: &Routine) {
        self.merge_but_latency(other);
        self.total_variance += other.total_variance;
        self.latency.merge(&other.latency);
    }

    /// Adds all but latencies and variance.
    pub(crate) fn merge_but_latency(&mut self, other: &Routine) {
        for d in 0..DISTANCES {
            self.calls[d] = self.calls[d].saturating_add(other.calls[d]);
            self.bytes[d] = self.bytes[d].saturating_add(other.bytes[d]);
        }
        self.errors = self.errors.saturating_add(other.errors);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.unfinished_ns = self.unfinished_ns.saturating_add(other.unfinished_ns);
        self.timed_calls = self.timed_calls.saturating_add(other.timed_calls);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.estimated |= other.estimated;
        self.sampled_sites |= other.sampled_sites;
        self.expected_ns = self.expected_ns.saturating_add(other.expected_ns);
        self.denied_ns = self.denied_ns.saturating_add(other.denied_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        for &size in &other.sizes {
            self.add_size(size);
        }
    }

    /// Adds to a size class, kept in the order of class and distance.
    pub fn add_size(&mut self, size: SizeCount) {
        match self.sizes.binary_search_by_key(&(size.class, size.distance), |s| (s.class, s.distance)) {
            Ok(at) => {
                self.sizes[at].calls = self.sizes[at].calls.saturating_add(size.calls);
                self.sizes[at].bytes = self.sizes[at].bytes.saturating_add(size.bytes);
            }
            Err(at) => self.sizes.insert(at, size),
        }
    }
}

fn sum(counts: &[u64; DISTANCES]) -> u64 {
    counts.iter().fold(0, |sum, &n| sum.saturating_add(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_adds_counts_and_keeps_the_maximum() {
        let mut a = Routine::new("shmem_putmem", Class::Put);
        a.calls = [0, 1, 2, 0];
        a.bytes = [0, 8, 16, 0];
        (a.timed_calls, a.total_ns, a.max_ns) = (3, 300, 150);
        a.latency.record(100, 3);
        a.add_size(SizeCount { class: 4, distance: 2, calls: 2, bytes: 16 });
        let mut b = a.clone();
        b.max_ns = 900;
        b.calls[3] = u64::MAX;
        b.add_size(SizeCount { class: 1, distance: 2, calls: 1, bytes: 1 });
        a.merge(&b);
        assert_eq!((a.calls, a.all_calls(), a.all_bytes()), ([0, 2, 4, u64::MAX], u64::MAX, 48));
        assert_eq!((a.timed_calls, a.total_ns, a.max_ns, a.latency.total()), (6, 600, 900, 6));
        assert_eq!(a.sizes.iter().map(|s| (s.class, s.calls)).collect::<Vec<_>>(), [(1, 1), (4, 4)]);
    }

    #[test]
    fn recording_takes_more_of_what_has_a_peer_waits_or_overlaps() {
        let cost = Cost { counted_ns: 2.0, beside_ns: [0.0; 2], timed_ns: 20.0, sample_ns: 25.0 };
        let of = |class, bytes: u64, denied_ns| {
            let mut r = Routine::new("of", class);
            (r.calls[2], r.bytes[2]) = (1000, 1000 * bytes);
            (r.timed_calls, r.total_ns, r.denied_ns) = (10, 60_000, denied_ns);
            r
        };
        let took = |r: Routine| [false, true].map(|is_kept| r.recording_ns(&cost, is_kept));
        let is = |each: f64| 990.0 * each + 250.0;
        assert_eq!(took(of(Class::Query, 0, 9000)), [is(2.0 * OF_QUERY); 2]);
        assert_eq!(took(of(Class::Order, 0, 0)), [is(2.0 * ALONE); 2]);
        assert_eq!(took(of(Class::Put, 4096, 0)), [is(2.0 * BY_PEER); 2]);
        assert_ne!(is(2.0 * ALONE), is(2.0 * BY_PEER));
        assert_eq!(took(of(Class::Barrier, 0, 0)), [20_000.0 * OF_BARRIER; 2]);
        assert_eq!(took(of(Class::Wait, 0, 0)), [20_000.0 * OF_WAIT; 2]);
        assert_eq!(took(of(Class::Collective, 8, 0)), [20_000.0 * OF_COLLECTIVE; 2]);
        // A part of 60 ns, where that is more.
        assert_eq!(took(of(Class::Amo, 8, 9000)), [is(OF_WINDOW * 60_000.0 / 1000.0); 2]);
        assert_eq!(took(of(Class::Put, 4096, 9000)), [is(2.0 * BY_PEER); 2]);
        // What was measured beside the like counts for these.
        let measured = Cost { beside_ns: [1.0, 7.0], ..cost };
        let took = |class, bytes| of(class, bytes, 0).recording_ns(&measured, false);
        assert_eq!((took(Class::Amo, 8), took(Class::Put, 4096)), (is(1.0 * BY_PEER), is(7.0 * OF_COPY)));
        assert_eq!(took(Class::Put, 8), is(2.0 * BY_PEER));
        let measured = Cost { beside_ns: [0.0, 7.0], ..cost };
        assert_eq!(of(Class::Amo, 8, 0).recording_ns(&measured, false), is(2.0 * BY_PEER));
    }

    #[test]
    fn a_change_of_region_takes_somewhat_more_than_timing_a_call() {
        let mut pe = Pe::default();
        pe.tables.cost = Cost { counted_ns: 2.0, beside_ns: [0.0; 2], timed_ns: 20.0, sample_ns: 35.0 };
        pe.tables.regions = vec![crate::tables::Region { entries: 1000, ..Default::default() }];
        assert_eq!(pe.overhead_ns(), (2000.0 * OF_REGION * 20.0) as u64);
        // What looking for lines of a script took is known.
        pe.tables.system.script_ns = 7;
        assert_eq!(pe.overhead_ns(), (2000.0 * OF_REGION * 20.0) as u64 + 7);
    }

    #[test]
    fn a_call_that_never_returned_does_not_lower_the_mean() {
        let mut r = Routine::new("shmem_barrier_all", Class::Barrier);
        assert_eq!((r.mean_ns(), r.quantile_ns(0.5)), (0.0, 0));
        r.calls[0] = 3;
        (r.unfinished, r.timed_calls, r.total_ns, r.max_ns) = (1, 2, 500, 400);
        assert_eq!(r.mean_ns(), 250.0);
        r.latency.record(400, 2);
        assert_eq!(r.quantile_ns(0.99), 400, "a quantile is never above the maximum");
    }
}
