//! How fast puts, gets and atomics were, against what the machine does, and what held them up.

use super::row::{Bars, Chart, Tables, View};
use crate::calibration::{Calibration, MEMORY, Measured};
use crate::merge::Merged;
use crate::model::{Routine, SizeCount};
use crate::op::{self, Class};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;
use crate::report::{Options, units};
use crate::size::{Distance, size_bounds};
use crate::tables::Rate;

pub(super) static VIEW: View = View {
    name: "rates",
    title: "Rates: against what the machine does",
    help: "how fast puts, gets and atomics were, beside what oshrun --calibrate has measured, and what held them up",
    hint: "How fast puts, gets and atomics were, beside the best that oshrun --calibrate has measured here, and what \
           held them up: memory that is touched for the first time, others on the same link, strides.",
    chart: Chart::Bars(Bars { title: "time beyond the best", label: |of| of("of"), value: "over_ns" }),
    tables: Tables::Made(|p, o, s| vec![grid(p, o, s)]),
    ..View::BASE
};

const COLUMNS: [Column; 15] = [
    column("of", "routine, size", Kind::Text),
    column("routine", "", Kind::Text),
    column("size", "", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("rate", "rate", Kind::Rate),
    column("best", "best here", Kind::Rate),
    column("share", "of", Kind::Share),
    column("over_ns", "lost", Kind::Time),
    column("why", "", Kind::Text),
    column("distance", "", Kind::Text),
    column("bytes", "", Kind::Bytes),
    column("total_ns", "", Kind::Time),
    column("page_faults", "", Kind::Count),
    column("busy", "", Kind::Share),
    column("preempted", "", Kind::Share),
];

/// From this share of the best on nothing holds calls up.
const WELL: f64 = 0.8;
/// Part of the pages of a call that are touched for the first time, from which on that is told.
const TOUCHED: f64 = 0.25;
/// Part of the calls beside which others moved data, or which lost their core, from which on that is told.
const OFTEN: f64 = 0.25;
const PAGE: f64 = 4096.0;
/// Rows whose reasons are shown as text.
const REASONS: usize = 8;

/// Whether a routine moves single elements with a stride between.
pub(crate) fn is_strided(name: &str) -> bool {
    op::has(name, op::STRIDED)
}

/// One routine, size and distance.
struct Line<'p> {
    rate: &'p Rate,
    calls: u64,
    bytes: u64,
    /// Time of all calls, in nanoseconds: of those that were timed, times what they stand for.
    ns: f64,
    best_ns: Option<f64>,
    /// Whether that time is an estimate.
    estimated: bool,
}

impl Line<'_> {
    fn about(&self, cell: Cell) -> Cell {
        if self.estimated { cell.about() } else { cell }
    }

    fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.calls.max(1) as f64
    }

    fn share(&self) -> Option<f64> {
        self.best_ns.filter(|_| self.ns > 0.0).map(|best| (best / self.ns).min(1.0))
    }

    fn over_ns(&self) -> Option<f64> {
        self.best_ns.map(|best| (self.ns - best).max(0.0))
    }

    /// A part of the calls, at the least: nothing is known of those for which no look stands.
    fn looked(&self, part: u64) -> f64 {
        part as f64 / self.rate.calls.max(self.rate.looks).max(1) as f64
    }

    /// What held them up, in words.
    fn why(&self, strided_ns: Option<f64>) -> Option<String> {
        let touched = self.looked(self.rate.faults) / (self.mean_bytes() / PAGE).max(1.0);
        let mut reasons = Vec::new();
        if is_strided(&self.rate.routine) {
            let elem = op::lookup(&self.rate.routine).and_then(op::get).map_or(0, |row| row.elem);
            let size = if elem > 0 { format!(" of {elem} bytes") } else { String::new() };
            // Elements of 8 bytes are what was measured.
            let best = strided_ns.filter(|_| elem == 8).map(|ns| self.mean_bytes() / ns);
            let best = best.map(|rate| format!(", for which {} is the best here", units::rate(rate)));
            reasons.push(format!("strided: elements{size} one by one{}", best.unwrap_or_default()));
        } else if self.share().is_some_and(|share| share >= WELL) {
            return None;
        }
        if touched >= TOUCHED {
            let faults = units::count(self.rate.faults);
            reasons.push(format!("{faults} page faults: memory was touched for the first time"));
        }
        if self.looked(self.rate.busy) >= OFTEN {
            let percent = 100.0 * self.looked(self.rate.busy);
            reasons.push(format!("beside {percent:.0} % of them other PEs or threads of the host moved data, too"));
        }
        if self.looked(self.rate.preempted) >= OFTEN {
            reasons.push(format!("{:.0} % of them lost their core", 100.0 * self.looked(self.rate.preempted)));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

fn grid(profile: &Merged, options: &Options, _: &dyn Symbols) -> Grid {
    let ways = Ways::new(profile);
    let (unseen, moved) = (Unseen::of(profile, &ways), moved(profile));
    let empty = match moved {
        Some(0) => "no put, get or atomic moved data",
        _ => "no put, get or atomic was timed, or the profile is of an earlier version",
    };
    let mut grid = Grid::new("rates", "Rates", &COLUMNS, empty);
    let mut lines: Vec<(Line<'_>, Option<&Calibration>)> =
        profile.rates.iter().filter_map(|rate| line(profile, rate, &ways)).collect();
    lines.sort_by(|(a, _), (b, _)| {
        let lost = |line: &Line<'_>| line.over_ns().unwrap_or(line.ns);
        lost(b).total_cmp(&lost(a)).then_with(|| (&a.rate.routine, a.rate.class).cmp(&(&b.rate.routine, b.rate.class)))
    });
    let mut reasons = Vec::new();
    for (line, way) in &lines {
        let Rate { routine, class, distance, .. } = line.rate;
        let size = size(*class, line.mean_bytes());
        let far = match *distance {
            distance if distance == Distance::Remote as u8 => ", to other hosts",
            distance if distance == Distance::Own as u8 => ", to itself",
            _ => "",
        };
        let of = format!("{routine} {size}{far}");
        let strided = way.and_then(|way| way.ns(Measured::Strided, line.mean_bytes()));
        let why = line.why(strided);
        if let Some(why) = why.as_ref().filter(|_| reasons.len() < REASONS) {
            reasons.push(format!("{of}: {why}."));
        }
        grid.row([
            of.into(),
            routine.as_str().into(),
            size.into(),
            line.calls.into(),
            line.about(Cell::Real(line.bytes as f64 / line.ns.max(1.0))),
            line.best_ns.map(|ns| line.bytes as f64 / ns.max(1.0)).into(),
            line.about(line.share().into()),
            line.about(line.over_ns().into()),
            why.into(),
            Distance::ALL[usize::from(*distance)].name().into(),
            line.bytes.into(),
            line.about(Cell::Real(line.ns)),
            Cell::Whole(line.rate.faults),
            Cell::Real(line.looked(line.rate.busy)),
            Cell::Real(line.looked(line.rate.preempted)),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.extend(reasons);
        grid.notes.extend(grid.estimates());
        grid.notes.extend(unseen.notes());
        grid.notes.extend(ways.notes());
    }
    grid
}

/// `4-8 MiB`; what all calls have where it is less than a range.
fn size(class: u8, mean: f64) -> String {
    let (low, high) = size_bounds(usize::from(class));
    if low == high || (mean - low as f64).abs() < 0.5 {
        return units::bytes(low);
    }
    let (from, to) = (units::bytes(low), units::bytes(high.saturating_add(1)));
    match (from.split_once(' '), to.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}-{to}"),
        _ => format!("{from}-{to}"),
    }
}

/// Whether a routine moves data to or from a single PE.
fn is_transfer(routine: &Routine) -> bool {
    op::lookup(&routine.name).is_some_and(|op| op::traits(op) & op::TRANSFER != 0)
}

/// Bytes of all transfers; `None` where there is none.
fn moved(profile: &Merged) -> Option<u64> {
    profile
        .routines
        .iter()
        .filter(|r| is_transfer(r) && r.all_calls() > 0)
        .map(Routine::all_bytes)
        .reduce(u64::saturating_add)
}

/// Transfers that have no row: calls and bytes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unseen {
    /// Those of sizes and distances of which no call was timed.
    untimed: (u64, u64),
    /// Those that go on after their call.
    later: (u64, u64),
}

impl Unseen {
    fn of(profile: &Merged, ways: &Ways<'_>) -> Unseen {
        let mut unseen = Unseen::default();
        for routine in profile.routines.iter().filter(|routine| is_transfer(routine)) {
            let of = |rate: &&Rate| rate.routine == routine.name && rate.calls > 0;
            let timed: Vec<(u8, u8)> = profile.rates.iter().filter(of).map(|r| (r.class, r.distance)).collect();
            let has_peer = |size: &&SizeCount| size.bytes > 0 && size.distance != Distance::None as u8;
            for size in routine.sizes.iter().filter(has_peer) {
                let sum = if is_later(routine, size.distance, ways) {
                    &mut unseen.later
                } else if timed.contains(&(size.class, size.distance)) {
                    continue;
                } else {
                    &mut unseen.untimed
                };
                *sum = (sum.0.saturating_add(size.calls), sum.1.saturating_add(size.bytes));
            }
        }
        unseen
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        let note = |(calls, bytes): (u64, u64), why: &str| {
            let (how_many, bytes) = (units::count(calls), units::bytes(bytes));
            let (kind, together) = if calls == 1 { ("call", "") } else { ("calls", " together") };
            (calls > 0).then(|| format!("Without a row: {how_many} {kind} of {bytes}{together}{why}"))
        };
        let untimed = note(self.untimed, ": no call of that size and distance was timed.");
        let later = note(self.later, ", nonblocking and not over when they return: see --view nbi.");
        untimed.into_iter().chain(later)
    }
}

/// What is issued now and moves later has no rate of its own: --view nbi.
fn is_later(routine: &Routine, distance: u8, ways: &Ways<'_>) -> bool {
    (distance == Distance::Remote as u8 || !ways.by_memory) && op::is_nonblocking(&routine.name)
}

fn line<'p, 'w>(
    profile: &'p Merged,
    rate: &'p Rate,
    ways: &'w Ways<'p>,
) -> Option<(Line<'p>, Option<&'w Calibration>)> {
    let routine = profile.routines.iter().find(|routine| routine.name == rate.routine)?;
    if rate.calls == 0 || is_later(routine, rate.distance, ways) {
        return None;
    }
    let (calls, bytes) = counted(routine, rate)?;
    if bytes == 0 {
        return None;
    }
    let kind = match routine.class {
        Class::Get => Measured::Get,
        Class::Amo => Measured::Amo,
        _ => Measured::Put,
    };
    let way = if rate.distance == Distance::Remote as u8 { ways.far } else { ways.near };
    let best_ns = way.and_then(|way| way.ns(kind, bytes as f64 / calls as f64)).map(|ns| ns * calls as f64);
    let ns = rate.ns as f64 / rate.calls as f64 * calls as f64;
    Some((Line { rate, calls, bytes, ns, best_ns, estimated: routine.estimated }, way))
}

/// Exact calls and bytes of a size class and distance.
fn counted(routine: &Routine, rate: &Rate) -> Option<(u64, u64)> {
    let size = routine.sizes.iter().find(|size| (size.class, size.distance) == (rate.class, rate.distance))?;
    Some((size.calls, size.bytes)).filter(|(calls, _)| *calls > 0)
}

/// What calls within a host and between hosts are compared with.
struct Ways<'p> {
    near: Option<&'p Calibration>,
    far: Option<&'p Calibration>,
    /// Whether PEs of a host go through its memory.
    by_memory: bool,
    is_far: bool,
}

impl<'p> Ways<'p> {
    fn new(profile: &'p Merged) -> Ways<'p> {
        let mut hosts: Vec<&str> = profile.pes.iter().map(|pe| &*pe.host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        // Hosts may have the same name: containers do.
        let is_far = hosts.len() > 1 || profile.rates.iter().any(|rate| rate.distance == Distance::Remote as u8);
        // A job on one host that has a network uses it for all (SHMEM_TRANSPORT=ofi).
        let by_memory = is_far || profile.network.is_empty();
        Ways {
            near: profile.calibrations.find(&hosts, by_memory),
            far: profile.calibrations.find(&hosts, false).filter(|_| is_far),
            by_memory,
            is_far,
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for way in [self.near, self.far].into_iter().flatten() {
            let by = if way.way == MEMORY { "through memory" } else { way.way.as_str() };
            let loud = if way.is_loud() { ": others were at work, the best may be better" } else { "" };
            let [from, to] = &way.hosts;
            let place = if from == to { format!("on {from}") } else { format!("between {from} and {to}") };
            notes.push(crate::text::visible(&format!(
                "best here: oshrun --calibrate {place}, {by}, {}{loud}. lost: time in these calls beyond what the best \
                 takes, summed over the PEs.",
                way.quality()
            )));
        }
        if self.near.is_none() {
            notes.push("What is best here is not known: run oshrun --calibrate once on this host.".to_owned());
        }
        if self.is_far && self.far.is_none() {
            notes.push("Between these hosts: oshrun --calibrate --hosts A,B.".to_owned());
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pe, Profile};
    use crate::report::NoSymbols;
    use crate::size::size_class;

    #[test]
    fn sizes_are_ranges_or_what_all_calls_have() {
        assert_eq!(size(4, 8.0), "8 B");
        assert_eq!(size(23, 5e6), "4-8 MiB");
        assert_eq!(size(23, 4_194_304.0), "4 MiB");
        assert_eq!(size(10, 700.0), "512 B-1 KiB");
    }

    /// Puts of these sizes, of which calls of the first one were timed.
    fn profile(calls: &[(usize, u64)]) -> Profile {
        let mut put = Routine::new("shmem_putmem", Class::Put);
        for &(bytes, calls) in calls {
            let moved = bytes as u64 * calls;
            (put.calls[2], put.bytes[2]) = (put.calls[2] + calls, put.bytes[2] + moved);
            put.add_size(SizeCount { class: size_class(bytes) as u8, distance: 2, calls, bytes: moved });
        }
        let rate = |bytes: usize| {
            let class = size_class(bytes) as u8;
            Rate { routine: "shmem_putmem".into(), class, distance: 2, calls: 100, ns: 1000, ..Rate::default() }
        };
        let mut pe = Pe { routines: vec![put], ..Pe::default() };
        pe.tables.rates = calls.first().map(|(bytes, _)| rate(*bytes)).into_iter().collect();
        Profile { pes: vec![pe], ..Profile::default() }
    }

    fn shown(profile: &Profile) -> Grid {
        grid(&profile.into(), &Options::default(), &NoSymbols)
    }

    #[test]
    fn what_has_no_row_is_counted() {
        let note = "Without a row: 3 calls of 192 KiB together: no call of that size and distance was timed.";
        assert!(shown(&profile(&[(8, 100), (1 << 16, 3)])).notes.contains(&note.to_owned()));
        assert!(!shown(&profile(&[(8, 100), (0, 3)])).notes.iter().any(|note| note.contains("Without a row")));
    }

    #[test]
    fn calls_of_no_bytes_are_said_to_be_that() {
        assert_eq!(shown(&profile(&[(0, 100)])).empty, "no put, get or atomic moved data");
        let none = "no put, get or atomic was timed, or the profile is of an earlier version";
        assert_eq!(shown(&profile(&[])).empty, none);
    }
}
