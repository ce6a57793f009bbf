//! What is in a trace: for who wants to know before it is converted, or instead.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use pellucid_profile::file::ReadError;
use pellucid_profile::output::OutputDir;
use pellucid_profile::report::grid::{Cell, Column, Grid, Kind, column};
use pellucid_profile::report::{shown_count, shown_date, shown_filled, shown_time};
use pellucid_profile::text::{pe_list, shell_word, visible};
use pellucid_profile::trace::read::{Event, Trace, What};

use super::flows::{At, Flows};
use super::rows;
use super::sites::Sites;

/// Waits that are listed, and PEs.
const WAITS: usize = 10;
const PES: usize = 16;

const PE_COLUMNS: [Column; 7] = [
    column("pe", "PE", Kind::Text),
    column("host", "host", Kind::Text),
    column("threads", "threads", Kind::Count),
    column("events", "events", Kind::Count),
    column("calls", "calls", Kind::Count),
    column("waiting_ns", "waits", Kind::Time),
    column("missing", "missing", Kind::Count),
];

const REGION_COLUMNS: [Column; 6] = [
    column("region", "region", Kind::Text),
    column("entries", "entries", Kind::Count),
    column("total_ns", "total", Kind::Time),
    column("max_ns", "longest", Kind::Time),
    column("max_pe", "PE", Kind::Text),
    column("pes", "PEs", Kind::Count),
];

const WAIT_COLUMNS: [Column; 5] = [
    column("routine", "longest waits in", Kind::Text),
    column("pe", "PE", Kind::Text),
    column("at_ns", "from", Kind::Time),
    column("ns", "for", Kind::Time),
    column("by", "ended by", Kind::Text),
];

const UNRETURNED_COLUMNS: [Column; 5] = [
    column("routine", "never returned", Kind::Text),
    column("pe", "PE", Kind::Text),
    column("at_ns", "from", Kind::Time),
    column("ns", "for", Kind::Time),
    column("site", "called from", Kind::Text),
];

/// A PE.
#[derive(Default)]
struct PeSum {
    host: String,
    threads: BTreeSet<u32>,
    events: u64,
    calls: u64,
    waiting_ns: u64,
    missing: u64,
}

/// A region, over all PEs.
#[derive(Default)]
struct RegionSum {
    entries: u64,
    total_ns: u64,
    longest: (u64, Reverse<u32>),
    pes: BTreeSet<u32>,
    /// Entries that have no end in the trace.
    open: u64,
}

/// One call that waited.
struct Wait {
    ns: u64,
    from_ns: u64,
    pe: u32,
    routine: &'static str,
    at: At,
}

/// A call that never returned.
struct Unreturned {
    pe: u32,
    event: Event,
}

/// Sums of all events.
#[derive(Default)]
struct Sums {
    pes: BTreeMap<u32, PeSum>,
    regions: BTreeMap<String, RegionSum>,
    waits: Vec<Wait>,
    unreturned: Vec<Unreturned>,
    first_ns: Option<u64>,
    last_ns: u64,
    /// Regions that a thread of a file is in.
    open: HashMap<(usize, u32), Vec<(String, u64)>>,
}

impl Sums {
    fn of(trace: &Trace, problems: &mut Vec<ReadError>) -> Sums {
        let mut sums = Sums::default();
        for (number, file) in trace.files.iter().enumerate() {
            let of = sums.pes.entry(file.facts.pe).or_default();
            of.host.clone_from(&file.facts.host);
            of.missing = of.missing.saturating_add(file.facts.dropped);
            let mut event_number = 0;
            let mut ends: HashMap<u32, u64> = HashMap::new();
            file.for_each(problems, |event| {
                sums.add(file.facts.pe, (number, event_number), event);
                let end = ends.entry(event.thread).or_default();
                *end = (*end).max(event.end_ns);
                event_number += 1;
            });
            for (thread, end_ns) in ends {
                sums.end_open(file.facts.pe, (number, thread), end_ns);
            }
        }
        sums
    }

    fn add(&mut self, pe: u32, at: At, event: &Event) {
        self.first_ns = Some(self.first_ns.map_or(event.start_ns, |first| first.min(event.start_ns)));
        self.last_ns = self.last_ns.max(event.end_ns);
        let of = self.pes.entry(pe).or_default();
        of.threads.insert(event.thread);
        of.events += 1;
        of.calls = of.calls.saturating_add(event.what.calls());
        match &event.what {
            What::Call(call) if rows::routine(call).class.waits() => {
                let ns = event.end_ns - event.start_ns;
                of.waiting_ns = of.waiting_ns.saturating_add(ns);
                self.wait(Wait { ns, from_ns: event.start_ns, pe, routine: rows::routine(call).name(), at });
            }
            What::Unreturned(call) => {
                if rows::routine(call).class.waits() {
                    of.waiting_ns = of.waiting_ns.saturating_add(event.end_ns - event.start_ns);
                }
                self.unreturned.push(Unreturned { pe, event: event.clone() });
            }
            What::RegionBegin(name) => {
                self.open.entry((at.0, event.thread)).or_default().push((name.clone(), event.start_ns));
            }
            What::RegionEnd(name) => self.end(pe, (at.0, event.thread), name, event.start_ns),
            _ => {}
        }
    }

    /// Keeps the longest ones.
    fn wait(&mut self, wait: Wait) {
        self.waits.push(wait);
        if self.waits.len() >= 64 * WAITS {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.waits.sort_by_key(|wait| (Reverse(wait.ns), wait.from_ns, wait.pe));
        self.waits.truncate(WAITS);
    }

    /// A region ends, which its thread has begun, unless that was before the trace. Within another one of its name it
    /// is part of that one's time.
    fn end(&mut self, pe: u32, thread: (usize, u32), name: &str, now: u64) {
        let Some(open) = self.open.get_mut(&thread) else { return };
        let Some(at) = open.iter().rposition(|(begun, _)| begun == name) else { return };
        let ns = now.saturating_sub(open[at].1);
        open.truncate(at);
        let sum = self.regions.entry(name.to_owned()).or_default();
        sum.entries += 1;
        if !open.iter().any(|(begun, _)| begun == name) {
            sum.total_ns = sum.total_ns.saturating_add(ns);
        }
        sum.longest = sum.longest.max((ns, Reverse(pe)));
        sum.pes.insert(pe);
    }

    /// A thread has no event after this: the regions that it is in are as long as that.
    fn end_open(&mut self, pe: u32, thread: (usize, u32), now: u64) {
        while let Some((name, _)) = self.open.get(&thread).and_then(|open| open.last()).cloned() {
            self.end(pe, thread, &name, now);
            self.regions.entry(name).or_default().open += 1;
        }
    }
}

/// The text.
pub(super) fn text(trace: &Trace, dir: &Path, problems: &mut Vec<ReadError>) -> String {
    let mut sums = Sums::of(trace, problems);
    sums.cut();
    let mut out = head(trace, &sums, !problems.is_empty(), OutputDir::is_claimed(dir));
    let unreturned = (!sums.unreturned.is_empty()).then(|| unreturned(&sums));
    let grids = [pes(&sums), regions(&sums), waits(trace, &sums, problems)];
    for grid in unreturned.into_iter().chain(grids) {
        let _ = write!(out, "\n{}", grid.text());
    }
    let dir = shell_word(dir);
    let _ = write!(
        out,
        "\nto look at it in ui.perfetto.dev: oshprof trace {dir} --to perfetto -o {dir}.pftrace\n\
         other forms: oshprof trace --help\n"
    );
    out
}

/// `is_claimed`: whether its job has not let go of the directory.
fn head(trace: &Trace, sums: &Sums, is_damaged: bool, is_claimed: bool) -> String {
    let facts = trace.files.first().map(|file| &file.facts);
    let program = facts.map(|facts| visible(&facts.program)).unwrap_or_default();
    let (npes, start) = facts.map_or((0, 0), |facts| (facts.npes, facts.start_realtime));
    let duration = sums.first_ns.map_or(0, |first| sums.last_ns.saturating_sub(first));
    let all = |of: fn(&PeSum) -> u64| sums.pes.values().map(of).fold(0, u64::saturating_add);
    let (events, calls) = (all(|pe| pe.events), all(|pe| pe.calls));
    let without = (npes as usize).saturating_sub(sums.pes.len());
    let mut out = format!("trace of {}\n", if program.is_empty() { "(program not known)" } else { &program });
    let _ = writeln!(out, "{npes} PEs, {} from the first event to the last", shown_time(duration as f64));
    if start > 0 {
        let _ = writeln!(out, "started {}", shown_date(start));
    }
    let _ = writeln!(out, "{} events, which stand for {} calls", shown_count(events), shown_count(calls));
    let ones = if without == 1 { "PE has" } else { "PEs have" };
    if without > 0 {
        let _ = writeln!(out, "{without} {ones} no event in it, or the file is not here");
    }
    let losses = trace.losses().phrases();
    if is_damaged {
        let _ = writeln!(out, "events are missing where files are damaged (see the messages)");
    }
    let open_ended = trace.open_ended();
    if !losses.is_empty() {
        let text = format!("{} events are missing: {}", shown_count(trace.dropped()), losses.join(", "));
        out.push_str(&shown_filled(&text));
    } else if open_ended.is_empty() && !is_damaged {
        let of = if without > 0 { " of the others" } else { "" };
        let _ = writeln!(out, "no event{of} is missing");
    }
    if !open_ended.is_empty() {
        out.push_str(&shown_filled(&end_is_missing(&open_ended, is_claimed)));
    }
    out
}

/// What is said of PEs that have not closed their files.
fn end_is_missing(pes: &[u32], is_claimed: bool) -> String {
    let (whose, they) = if pes.len() == 1 { ("its", "it was") } else { ("their", "they were") };
    let pes = pe_list(pes);
    let why = match is_claimed {
        true => "the job still runs, or was killed with its launcher".to_owned(),
        false => format!("{they} killed, ended the job, or left a thread running"),
    };
    format!("short calls of {pes} after {whose} last event may be missing: {why}")
}

/// Those that wait most and least, where there are many.
fn pes(sums: &Sums) -> Grid {
    let mut grid = Grid::new("pes", "PEs", &PE_COLUMNS, "no PE has a file in it");
    let mut order: Vec<(&u32, &PeSum)> = sums.pes.iter().collect();
    let left_out = order.len().saturating_sub(PES);
    if left_out > 0 {
        order.sort_by_key(|(number, pe)| (Reverse(pe.waiting_ns), **number));
        order.drain(PES - PES / 4..PES - PES / 4 + left_out);
        grid.notes.push(format!("{PES} of {} PEs: those that wait most and those that wait least", sums.pes.len()));
    }
    for (number, pe) in order {
        grid.row([
            Cell::Pe(*number),
            pe.host.as_str().into(),
            (pe.threads.len() as u64).into(),
            pe.events.into(),
            pe.calls.into(),
            pe.waiting_ns.into(),
            pe.missing.into(),
        ]);
    }
    grid
}

fn regions(sums: &Sums) -> Grid {
    let mut grid = Grid::new("regions", "Regions", &REGION_COLUMNS, "no region is in it");
    let mut rows: Vec<(&String, &RegionSum)> = sums.regions.iter().collect();
    rows.sort_by_key(|(name, sum)| (Reverse(sum.total_ns), name.as_str()));
    let open = rows.iter().filter(|(_, sum)| sum.open > 0);
    let open: Vec<String> = open.map(|(name, sum)| format!("{} ({})", visible(name), shown_count(sum.open))).collect();
    if !open.is_empty() {
        grid.notes.push(format!("open at the end, counted until their thread's last event: {}", open.join(", ")));
    }
    for (name, sum) in rows {
        grid.row([
            name.as_str().into(),
            sum.entries.into(),
            sum.total_ns.into(),
            sum.longest.0.into(),
            Cell::Pe(sum.longest.1.0),
            (sum.pes.len() as u64).into(),
        ]);
    }
    grid
}

fn waits(trace: &Trace, sums: &Sums, problems: &mut Vec<ReadError>) -> Grid {
    let mut grid = Grid::new("waits", "Longest waits", &WAIT_COLUMNS, "no call in it waited");
    let flows = Flows::find(trace, problems);
    let from: Vec<Option<At>> = sums.waits.iter().map(|wait| flows.to.get(&wait.at).map(|(_, from)| *from)).collect();
    let by = named(trace, from.iter().flatten().copied().collect(), problems);
    for (wait, from) in sums.waits.iter().zip(&from) {
        let by = from.and_then(|from| by.get(&from));
        let short = |name: &'static str| name.strip_prefix("shmem_").unwrap_or(name);
        grid.row([
            wait.routine.into(),
            Cell::Pe(wait.pe),
            wait.from_ns.into(),
            wait.ns.into(),
            by.map(|(pe, name)| format!("PE {pe} {}", short(name))).into(),
        ]);
    }
    grid
}

/// The calls that PEs were in when they ended, the longest first.
fn unreturned(sums: &Sums) -> Grid {
    let mut grid = Grid::new("unreturned", "Calls that never returned", &UNRETURNED_COLUMNS, "");
    let mut order: Vec<&Unreturned> = sums.unreturned.iter().collect();
    let ns = |call: &Unreturned| call.event.end_ns - call.event.start_ns;
    order.sort_by_key(|call| (Reverse(ns(call)), call.pe));
    let left_out = order.len().saturating_sub(PES);
    if left_out > 0 {
        grid.notes.push(format!("and {left_out} more"));
    }
    let sites = Sites::default();
    for call in order.into_iter().take(PES) {
        let site = call.event.what.call().and_then(|call| sites.of(call));
        grid.row([
            rows::name(&call.event).into(),
            Cell::Pe(call.pe),
            call.event.start_ns.into(),
            ns(call).into(),
            site.map(|site| site.to_string()).into(),
        ]);
    }
    grid
}

/// PE and routine of some events.
fn named(trace: &Trace, wanted: BTreeSet<At>, problems: &mut Vec<ReadError>) -> HashMap<At, (u32, &'static str)> {
    let mut found = HashMap::new();
    for (number, file) in trace.files.iter().enumerate() {
        if !wanted.iter().any(|at| at.0 == number) {
            continue;
        }
        let mut event_number = 0;
        file.for_each(problems, |event| {
            let at = (number, event_number);
            event_number += 1;
            if let (true, What::Call(call)) = (wanted.contains(&at), &event.what) {
                found.insert(at, (file.facts.pe, rows::routine(call).name()));
            }
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Sums, end_is_missing};

    #[test]
    fn a_region_within_one_of_its_name_is_part_of_it() {
        let mut sums = Sums::default();
        let thread = (0, 1);
        for (depth, begun) in [10, 20, 30].into_iter().enumerate() {
            sums.open.entry(thread).or_default().push(("rec".into(), begun));
            assert_eq!(sums.open[&thread].len(), depth + 1);
        }
        [70, 80, 90].into_iter().for_each(|now| sums.end(3, thread, "rec", now));
        let sum = &sums.regions["rec"];
        assert_eq!((sum.entries, sum.total_ns, sum.longest.0), (3, 80, 80));
    }

    #[test]
    fn a_region_without_an_end_is_as_long_as_its_thread() {
        let mut sums = Sums::default();
        let (thread, other) = ((0, 1), (0, 2));
        sums.open.insert(thread, vec![("outer".into(), 10), ("inner".into(), 20), ("outer".into(), 30)]);
        sums.open.insert(other, vec![("inner".into(), 15)]);
        sums.end_open(3, thread, 100);
        let of = |name: &str| &sums.regions[name];
        assert_eq!((of("outer").entries, of("outer").total_ns, of("outer").open), (2, 90, 2));
        assert_eq!((of("inner").entries, of("inner").total_ns, of("inner").open), (1, 80, 1));
    }

    #[test]
    fn what_may_be_missing_is_said_of_whom() {
        let one = "short calls of PE 1 after its last event may be missing: it was killed, ended the job, or left a ";
        assert_eq!(end_is_missing(&[1], false), format!("{one}thread running"));
        let three = "short calls of PEs 0 to 2 after their last event may be missing: ";
        assert!(end_is_missing(&[0, 1, 2], false).starts_with(three));
        let runs = format!("{three}the job still runs, or was killed with its launcher");
        assert_eq!(end_is_missing(&[0, 1, 2], true), runs);
    }
}
