//! From a job to its metrics.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;
use std::sync::atomic::Ordering::Relaxed;

use pellucid_profile::histogram::Histogram as Latency;
use pellucid_profile::merge::{Merged, PeRow};
use pellucid_profile::model::{Job, JobIdentity, Routine, SizeCount};
use pellucid_profile::op::{self, Class};
use pellucid_profile::segment::{Segment, handover};
use pellucid_profile::size::{DISTANCES, Distance};
use pellucid_profile::text::visible;

use super::family::{Family, Value};
use super::histogram::{Histogram, seconds};
use super::live::{KINDS, Now};
use super::op::template;
use super::pes;
use super::series::{Memory, OTHERS};
use super::table::Id;

/// States of a job, as labels.
pub const STATES: [&str; 5] = ["starting", "running", "finished", "failed", "killed"];
/// Classes whose calls move data.
const MOVING: [Class; 5] = [Class::Put, Class::Get, Class::Amo, Class::Signal, Class::Collective];

/// The state of a job whose profile is kept. Without an exit status it runs, or nobody knows.
pub fn state_of(merged: &Merged) -> &'static str {
    let ends = merged.pes.iter().map(|pe| pe.end);
    merged.job.exit_status.map_or("running", |status| handover::state(status, ends))
}

/// The program's name without its folder.
pub fn program(job: &Job) -> &str {
    job.program.rsplit('/').next().unwrap_or_default()
}

/// What is known of a job beside its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// What tells it from other jobs.
    pub job_id: String,
    /// Step of the batch system.
    pub step: String,
    /// Its user; empty where that is not to be shown.
    pub user: String,
    /// What started it.
    pub launcher: String,
    /// `host` or `job`.
    pub scope: String,
    /// Whether it goes on without PEs that are killed, where that is known.
    pub survives: Option<bool>,
}

impl Identity {
    /// That of a job that runs, by its memory.
    pub fn of(segment: &Segment, user: String) -> Identity {
        let all_here = segment.pes().len() == segment.npes() as usize;
        let JobIdentity { id, step, launcher } = segment.header().identity();
        Identity {
            job_id: visible(&id),
            step,
            user,
            launcher,
            scope: if all_here { "job".into() } else { "host".into() },
            survives: Some(segment.header().survives.load(Relaxed) != 0),
        }
    }
}

/// A job, ready to be turned into metrics.
#[derive(Debug)]
pub struct View<'a> {
    /// Who.
    pub identity: &'a Identity,
    /// One of [`STATES`].
    pub state: &'static str,
    /// Sums over its PEs.
    pub merged: &'a Merged,
    /// What is only known of a job that runs.
    pub now: &'a Now,
    /// How many PEs have series of their own, where there are such.
    pub top: usize,
}

/// Sums of one operation, or of several.
#[derive(Clone, Debug, Default)]
struct OpSum {
    moves: bool,
    has_peer: bool,
    calls: [u64; DISTANCES],
    /// Of what moves data: the bytes of a call of `shmem_malloc` go nowhere.
    bytes: [u64; DISTANCES],
    errors: u64,
    ns: u64,
}

impl OpSum {
    fn of(routine: &Routine) -> OpSum {
        let moves = MOVING.contains(&routine.class);
        OpSum {
            moves,
            has_peer: MOVING[..4].contains(&routine.class),
            calls: routine.calls,
            bytes: if moves { routine.bytes } else { [0; DISTANCES] },
            errors: routine.errors,
            // With those that are under way: who waits for minutes has not been elsewhere meanwhile.
            ns: routine.measured_ns().saturating_add(routine.unfinished_ns),
        }
    }

    fn join(&mut self, other: &OpSum) {
        self.moves |= other.moves;
        self.has_peer |= other.has_peer;
        for d in 0..DISTANCES {
            self.calls[d] = self.calls[d].saturating_add(other.calls[d]);
            self.bytes[d] = self.bytes[d].saturating_add(other.bytes[d]);
        }
        self.errors = self.errors.saturating_add(other.errors);
        self.ns = self.ns.saturating_add(other.ns);
    }

    /// Distances that have a series: all that can be, and whatever was counted.
    fn distances(&self) -> impl Iterator<Item = Distance> {
        Distance::ALL.into_iter().filter(|&d| self.calls[d as usize] > 0 || (d != Distance::None) == self.has_peer)
    }
}

/// All metrics of a job, in the order of the table.
pub fn collect(view: &View<'_>, memory: &mut Memory) -> Vec<Family> {
    let mut families = about(view);
    families.extend(by_op(view, memory));
    families.extend(by_class(view));
    families.extend(waiting(view));
    families.extend(rest(view, memory));
    pes::add(view, &mut families);
    families.sort_by_key(|family| family.row.id);
    families.retain(|family| !family.is_empty());
    memory.hold(&mut families);
    families
}

fn one(id: Id, view: &View<'_>, value: Value) -> Family {
    let mut family = Family::new(id);
    family.add(&[&view.identity.job_id], value);
    family
}

fn about(view: &View<'_>) -> Vec<Family> {
    let (id, job) = (view.identity, &view.merged.job);
    let program = program(job);
    let level = view.merged.pes.iter().map(|pe| pe.level).max().unwrap_or(0).to_string();
    let version = env!("CARGO_PKG_VERSION");
    let mut info = Family::new(Id::JobInfo);
    let about = [&id.job_id, &id.step, program, &id.user, &id.launcher, &job.transport, version, &level, &id.scope];
    info.add(&about.map(|text: &str| text), Value::Count(1));
    let mut state = Family::new(Id::JobState);
    for name in STATES {
        state.add(&[&id.job_id, name], Value::Count(u64::from(name == view.state)));
    }
    let mut survives = Family::new(Id::JobSurvives);
    if let Some(does) = id.survives {
        survives.add(&[&id.job_id], Value::Count(does.into()));
    }
    vec![
        info,
        state,
        survives,
        one(Id::JobPes, view, Value::Count(job.npes.into())),
        one(Id::JobLocalPes, view, Value::Count(view.merged.pes.len() as u64)),
        one(Id::JobStart, view, Value::Number(seconds(job.start_realtime_ns))),
    ]
}

fn by_op(view: &View<'_>, memory: &mut Memory) -> Vec<Family> {
    let mut sums: BTreeMap<String, OpSum> = BTreeMap::new();
    for routine in &view.merged.routines {
        sums.entry(visible(&template(&routine.name))).or_default().join(&OpSum::of(routine));
    }
    let mut late: BTreeMap<String, u64> = BTreeMap::new();
    for row in &view.merged.late {
        let lost = late.entry(visible(&template(&row.routine))).or_default();
        *lost = lost.saturating_add(row.lost_ns);
    }
    let mut order: Vec<(&String, u64)> = sums.iter().map(|(op, sum)| (op, sum.calls.iter().sum())).collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let known: Vec<String> = memory.choose_ops(order.into_iter().map(|(op, _)| op.clone())).to_vec();
    let mut others = OpSum { has_peer: true, moves: true, ..OpSum::default() };
    let mut others_late = 0_u64;
    for (op, sum) in sums.iter().filter(|(op, _)| !known.contains(op)) {
        others.join(sum);
        others_late = others_late.saturating_add(late.get(op).copied().unwrap_or(0));
    }
    let job = view.identity.job_id.as_str();
    let mut made = [Id::Calls, Id::CallBytes, Id::CallErrors, Id::CallSeconds, Id::Late].map(Family::new);
    let [calls, bytes, errors, time, lost] = &mut made;
    let none = OpSum::default();
    let rows = known.iter().map(|op| (op.as_str(), sums.get(op).unwrap_or(&none), late.get(op).copied().unwrap_or(0)));
    for (op, sum, late) in rows.chain([(OTHERS, &others, others_late)]) {
        for distance in sum.distances() {
            calls.add(&[job, op, distance.name()], Value::Count(sum.calls[distance as usize]));
            if sum.moves {
                bytes.add(&[job, op, distance.name()], Value::Count(sum.bytes[distance as usize]));
            }
        }
        errors.add(&[job, op], Value::Count(sum.errors));
        time.add(&[job, op], Value::Number(seconds(sum.ns)));
        if is_together(op) {
            lost.add(&[job, op], Value::Number(seconds(late)));
        }
    }
    made.into()
}

/// Whether all PEs of a team call it together.
fn is_together(name: &str) -> bool {
    static TEMPLATES: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let together = (0..).zip(op::OPS.iter()).filter(|(id, _)| op::traits(*id) & op::TOGETHER != 0);
        together.map(|(_, row)| template(row.name())).collect()
    });
    name == OTHERS || TEMPLATES.contains(name)
}

fn by_class(view: &View<'_>) -> Vec<Family> {
    let job = view.identity.job_id.as_str();
    let mut durations = Family::new(Id::CallDuration);
    let mut sizes = Family::new(Id::MessageSize);
    for class in Class::ALL {
        let of_class = || view.merged.routines.iter().filter(move |routine| routine.class == class);
        let mut latency = Latency::default();
        of_class().for_each(|routine| latency.merge(&routine.latency));
        let ns = of_class().fold(0_u64, |sum, routine| sum.saturating_add(routine.measured_ns()));
        let histogram = Histogram::of_durations(&latency, ns);
        durations.add(&[job, class.name()], Value::Histogram(Box::new(histogram)));
        if MOVING.contains(&class) {
            let all: Vec<SizeCount> = of_class().flat_map(|routine| routine.sizes.iter().copied()).collect();
            sizes.add(&[job, class.name()], Value::Histogram(Box::new(Histogram::of_sizes(&all))));
        }
    }
    vec![durations, sizes]
}

fn waiting(view: &View<'_>) -> Vec<Family> {
    let job = view.identity.job_id.as_str();
    let mut made = [Id::Waiting, Id::BlockedPes, Id::LongestWait, Id::SlowestPe].map(Family::new);
    let [time, blocked, longest, slowest] = &mut made;
    for (at, (kind, class)) in KINDS.into_iter().enumerate() {
        let ns = view.merged.pes.iter().map(|pe| pe.time_ns(|c| c == class)).fold(0, u64::saturating_add);
        let now = &view.now.blocked[at];
        time.add(&[job, kind], Value::Number(seconds(ns)));
        blocked.add(&[job, kind], Value::Count(now.pes));
        longest.add(&[job, kind, ""], Value::Number(seconds(now.longest_ns)));
        let pe = now.on.or_else(|| latest(view.merged, class)).map_or(-1.0, f64::from);
        slowest.add(&[job, kind], Value::Number(pe));
    }
    made.into()
}

/// The PE by whose late arrival in calls of a class most was lost.
fn latest(merged: &Merged, class: Class) -> Option<u32> {
    let mut by_pe: BTreeMap<u32, u64> = BTreeMap::new();
    for row in &merged.late {
        if op::class_of(&row.routine) == Some(class) {
            for (pe, (_, lost)) in &row.by_pe {
                let sum = by_pe.entry(*pe).or_default();
                *sum = sum.saturating_add(*lost);
            }
        }
    }
    let most = by_pe.into_iter().max_by_key(|(pe, lost)| (*lost, std::cmp::Reverse(*pe)))?;
    Some(most.0).filter(|_| most.1 > 0)
}

fn rest(view: &View<'_>, memory: &mut Memory) -> Vec<Family> {
    let (job, pes) = (view.identity.job_id.as_str(), &view.merged.pes);
    let ratios: Vec<f64> = pes.iter().filter_map(communication_ratio).collect();
    let mut ratio = Family::new(Id::CommunicationRatio);
    // While the job is starting no PE has one, nor where nothing is recorded.
    if !ratios.is_empty() {
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let (min, max) = ratios.iter().fold((f64::INFINITY, 0.0_f64), |(min, max), &r| (min.min(r), max.max(r)));
        for (stat, value) in [("min", min), ("mean", mean), ("max", max)] {
            ratio.add(&[job, stat, ""], Value::Number(value));
        }
    }
    let sum = |of: fn(&PeRow) -> u64| pes.iter().map(of).fold(0_u64, u64::saturating_add);
    let (nbi, overlapped) = (sum(|pe| pe.nbi.ns), sum(PeRow::overlapped_ns));
    // Of no operation there is no share.
    let mut overlap = Family::new(Id::NbiOverlap);
    if nbi > 0 {
        overlap.add(&[job], Value::Number(overlapped as f64 / nbi as f64));
    }
    let mut made = vec![
        ratio,
        overlap,
        one(Id::LostPes, view, Value::Count(view.now.lost)),
        one(Id::WaitCycles, view, Value::Count(view.now.cycles)),
        one(Id::Overhead, view, Value::Number(seconds(sum(|pe| pe.overhead_ns)))),
        one(Id::TraceDropped, view, Value::Count(sum(|pe| pe.trace_dropped))),
        regions(view, memory),
    ];
    let mut network = Family::new(Id::Network);
    for (event, total) in by_label(view.merged.network.iter().map(|(event, sum)| (event.as_str(), sum.total))) {
        network.add(&[job, &event], Value::Count(total));
    }
    made.push(network);
    made.extend(heap(view));
    made
}

/// How full heaps are; nothing where that was not written down, as in profiles of earlier versions.
fn heap(view: &View<'_>) -> Vec<Family> {
    let (job, pes) = (view.identity.job_id.as_str(), &view.merged.pes);
    let has_ended = !["starting", "running"].contains(&view.state);
    if has_ended && pes.iter().all(|pe| pe.system.memory[1] == 0) {
        return Vec::new();
    }
    let (mut in_use, mut there) = (Family::new(Id::HeapUsed), Family::new(Id::HeapSize));
    let sums = |of: fn(&PeRow) -> u64| {
        pes.iter().map(of).fold((0_u64, 0), |(sum, most), bytes| (sum.saturating_add(bytes), bytes.max(most)))
    };
    let (used, size) = (sums(|pe| pe.system.heap_used), sums(|pe| pe.system.memory[1]));
    for (stat, used, size) in [("sum", used.0, size.0), ("max", used.1, size.1)] {
        in_use.add(&[job, stat, ""], Value::Count(used));
        there.add(&[job, stat], Value::Count(size));
    }
    vec![in_use, there]
}

/// As in reports: between initialization and finalization, and of what is recorded.
pub(super) fn communication_ratio(pe: &PeRow) -> Option<f64> {
    let main = pe.main_ns();
    (main > 0).then(|| (pe.library_ns() as f64 / main as f64).min(1.0))
}

fn regions(view: &View<'_>, memory: &mut Memory) -> Family {
    let job = view.identity.job_id.as_str();
    let named = by_label(view.merged.regions.iter().map(|(name, sum)| (name.as_str(), sum.own_ns)));
    // One that the program calls as the sum is called is part of the sum.
    let mut own: Vec<_> = named.iter().filter(|(name, _)| *name != OTHERS).collect();
    own.sort_by_key(|(_, own_ns)| std::cmp::Reverse(**own_ns));
    let known: Vec<String> = memory.choose_regions(own.into_iter().map(|(name, _)| name.clone())).to_vec();
    let mut family = Family::new(Id::Region);
    for region in &known {
        family.add(&[job, region], Value::Number(seconds(named.get(region).copied().unwrap_or(0))));
    }
    if !named.is_empty() || !known.is_empty() {
        let others = named.iter().filter(|(name, _)| !known.contains(name)).map(|(_, ns)| *ns);
        family.add(&[job, OTHERS], Value::Number(seconds(others.fold(0, u64::saturating_add))));
    }
    family
}

/// Sums by name, as labels show names: two that look the same there would be one series twice. Without those that have
/// no name.
fn by_label<'a>(rows: impl Iterator<Item = (&'a str, u64)>) -> BTreeMap<String, u64> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (name, value) in rows.filter(|(name, _)| !name.is_empty()) {
        let sum = sums.entry(visible(name)).or_default();
        *sum = sum.saturating_add(value);
    }
    sums
}

#[cfg(test)]
mod tests {
    use pellucid_profile::merge::{NetworkSum, RegionSum};
    use pellucid_profile::model::{Pe, Profile, Progress};

    use super::*;

    #[test]
    fn a_region_may_be_called_as_the_sum_of_others() {
        let mut merged = Merged::from(&Profile::default());
        for (name, own_ns) in [(OTHERS, 2_000_000_000), ("solve", 5_000_000_000)] {
            merged.regions.push((name.to_owned(), RegionSum { own_ns, ..RegionSum::default() }));
        }
        let (identity, now) = (Identity::default(), Now::default());
        let series = |merged: &Merged| -> Vec<(String, f64)> {
            let view = View { identity: &identity, state: "running", merged, now: &now, top: 0 };
            let family = regions(&view, &mut Memory::default());
            family.series.iter().map(|series| (series.labels[1].clone(), series.value.number())).collect()
        };
        assert_eq!(series(&merged), [("solve".to_owned(), 5.0), (OTHERS.to_owned(), 2.0)]);
        merged.regions.pop();
        assert_eq!(series(&merged), [(OTHERS.to_owned(), 2.0)], "no other has a name");
    }

    /// A label shows the end of a line as `\\n`, as another region may be called.
    #[test]
    fn names_that_look_the_same_are_one_series() {
        let mut merged = Merged::from(&Profile::default());
        for (name, own_ns) in [("a\nb", 2_000_000_000), ("a\\nb", 3_000_000_000), ("c", 1_000_000_000)] {
            merged.regions.push((name.to_owned(), RegionSum { own_ns, ..RegionSum::default() }));
            merged.network.push((name.to_owned(), NetworkSum { total: own_ns, ..NetworkSum::default() }));
        }
        let (identity, now) = (Identity::default(), Now::default());
        let families = rest(&view(&identity, &merged, &now), &mut Memory::default());
        let of = |id| values(families.iter().find(|family| family.row.id == id).unwrap());
        let named = |name: &str, value: f64| (name.to_owned(), value);
        assert_eq!(of(Id::Region), [named("a\\nb", 5.0), named("c", 1.0), named(OTHERS, 0.0)]);
        assert_eq!(of(Id::Network), [named("a\\nb", 5e9), named("c", 1e9)]);
    }

    /// What was not recorded, and initialization, is neither in nor out of the library.
    #[test]
    fn the_ratio_is_of_the_time_that_is_recorded() {
        let ms = |ms: u64| ms * 1_000_000;
        let mut pe = Pe { progress: Progress::Initialized, init_ns: ms(500), end_ns: ms(9_500), ..Pe::default() };
        pe.tables.system.unrecorded_ns = ms(8_000);
        for (name, class, time) in
            [("shmem_init", Class::Setup, ms(500)), ("shmem_barrier_all", Class::Barrier, ms(750))]
        {
            let mut routine = Routine::new(name, class);
            (routine.calls[0], routine.timed_calls, routine.total_ns) = (1, 1, time);
            pe.routines.push(routine);
        }
        let of = |pe: &Pe| {
            let profile = Profile { pes: vec![pe.clone()], ..Profile::default() };
            communication_ratio(&Merged::from(&profile).pes[0])
        };
        assert_eq!(of(&pe), Some(0.75));
        // Not a moment of it.
        pe.tables.system.unrecorded_ns = ms(9_000);
        assert_eq!(of(&pe), None);
        pe.progress = Progress::Attached;
        assert_eq!(of(&pe), None);
    }

    /// Whatever hosts a job is on, it says itself what its PEs communicate through.
    #[test]
    fn a_job_is_of_the_transport_that_it_has() {
        let (identity, now) = (Identity { job_id: "7".into(), ..Identity::default() }, Now::default());
        for name in ["", "a new one"] {
            let job = Job { transport: name.into(), ..Job::default() };
            let merged = Merged::from(&Profile { job, pes: Vec::new() });
            let view = View { identity: &identity, state: "running", merged: &merged, now: &now, top: 0 };
            assert_eq!(about(&view)[0].series[0].labels[5], name);
        }
    }

    /// Beyond as many as have series of their own, those with least time are the others.
    #[test]
    fn the_longest_regions_have_series() {
        let mut merged = Merged::from(&Profile::default());
        for number in 0..25_u64 {
            merged
                .regions
                .push((number.to_string(), RegionSum { own_ns: number * 1_000_000_000, ..RegionSum::default() }));
        }
        let (identity, now) = (Identity::default(), Now::default());
        let view = View { identity: &identity, state: "running", merged: &merged, now: &now, top: 0 };
        let family = regions(&view, &mut Memory::default());
        let names: Vec<&str> = family.series.iter().map(|series| series.labels[1].as_str()).collect();
        assert_eq!((names.len(), names[0], names[19], names[20]), (21, "24", "5", OTHERS));
        assert_eq!(family.series[20].value.number(), 10.0);
    }

    /// A call that one PE has been in for long is time of the library before it returns.
    #[test]
    fn calls_that_are_under_way_count() {
        let mut routine = Routine::new("shmem_barrier_all", Class::Barrier);
        (routine.calls[0], routine.unfinished, routine.unfinished_ns) = (3, 1, 7_000_000_000);
        (routine.timed_calls, routine.total_ns) = (2, 1_000_000_000);
        assert_eq!(OpSum::of(&routine).ns, 8_000_000_000);
    }

    fn view<'a>(identity: &'a Identity, merged: &'a Merged, now: &'a Now) -> View<'a> {
        View { identity, state: "running", merged, now, top: 0 }
    }

    fn values(family: &Family) -> Vec<(String, f64)> {
        family.series.iter().map(|series| (series.labels[1..].join(" "), series.value.number())).collect()
    }

    /// What is asked of the heap goes nowhere, and is not among the bytes of the other operations.
    #[test]
    fn the_bytes_of_the_others_are_those_that_were_moved() {
        let mut merged = Merged::from(&Profile::default());
        for (name, class, distance) in [
            ("shmem_malloc", Class::Setup, Distance::None),
            ("shmem_long_put", Class::Put, Distance::Host),
            ("shmem_long_sum_reduce", Class::Collective, Distance::None),
        ] {
            let mut routine = Routine::new(name, class);
            (routine.calls[distance as usize], routine.bytes[distance as usize]) = (2, 4096);
            merged.routines.push(routine);
        }
        let (identity, now) = (Identity::default(), Now::default());
        let mut memory = Memory::default();
        // All of them are beyond those that have series of their own.
        let _ = memory.choose_ops((0..1000).map(|number| format!("other{number}")));
        let families = by_op(&view(&identity, &merged, &now), &mut memory);
        let bytes = families.iter().find(|family| family.row.id == Id::CallBytes).unwrap();
        let of_others: Vec<(String, f64)> =
            values(bytes).into_iter().filter(|(labels, value)| labels.starts_with(OTHERS) && *value > 0.0).collect();
        let of = |distance: &str| (format!("{OTHERS} {distance}"), 4096.0);
        assert_eq!(of_others, [of("none"), of("host")]);
    }

    #[test]
    fn a_ratio_that_is_not_known_yet_is_absent() {
        let merged = Merged::from(&Profile::default());
        let (identity, now) = (Identity::default(), Now::default());
        let families = rest(&view(&identity, &merged, &now), &mut Memory::default());
        assert!(!families.iter().any(|family| family.row.id == Id::CommunicationRatio && !family.is_empty()));
    }
}
