//! Hardware and software counters.

use std::collections::BTreeMap;

use super::region_name;
use crate::counters::KNOWN;
use crate::model::{Pe, Profile};
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};

const COLUMNS: [Column; 10] = [
    column("of", "counter, of", Kind::Text),
    column("counter", "", Kind::Text),
    column("around", "", Kind::Text),
    column("name", "", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("value", "value", Kind::Count),
    column("per_call", "a call", Kind::Number),
    column("max_pe", "most: PE", Kind::Text),
    column("max_value", "its value", Kind::Count),
    column("pes", "PEs", Kind::Count),
];

const MISSING: [Column; 3] =
    [column("counter", "counter", Kind::Text), column("pes", "PEs", Kind::Count), column("reason", "why", Kind::Text)];

/// What a value is of, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Around {
    Run,
    Library,
    Outside,
    Region,
    RegionLibrary,
    Routine,
}

impl Around {
    fn name(self) -> &'static str {
        match self {
            Around::Run => "run",
            Around::Library => "library",
            Around::Outside => "outside",
            Around::Region => "region",
            Around::RegionLibrary => "library in region",
            Around::Routine => "routine",
        }
    }
}

#[derive(Default)]
struct Sum {
    calls: Option<u64>,
    value: u64,
    most: (u64, u32),
    pes: u64,
}

/// Sums by counter (as asked for), what it is of, and a name.
#[derive(Default)]
struct Sums<'a>(BTreeMap<(usize, Around, &'a str), Sum>);

impl<'a> Sums<'a> {
    fn add(&mut self, pe: u32, key: (usize, Around, &'a str), value: u64, calls: Option<u64>) {
        let sum = self.0.entry(key).or_default();
        sum.value = sum.value.saturating_add(value);
        if let Some(calls) = calls {
            *sum.calls.get_or_insert(0) += calls;
        }
        if sum.pes == 0 || value > sum.most.0 {
            sum.most = (value, pe);
        }
        sum.pes += 1;
    }

    fn add_pe(&mut self, pe: &'a Pe) {
        let counters = &pe.detail.counters;
        for (at, counter) in counters.list.iter().enumerate().filter(|(_, counter)| counter.available) {
            // The same place on every PE, whatever the order there.
            let rank = KNOWN.iter().position(|known| known.name == counter.name).unwrap_or(KNOWN.len());
            self.add(pe.pe, (rank, Around::Run, ""), counter.total, None);
            let of = |values: &[u64]| values.get(at).copied().unwrap_or(0);
            let library: u64 = counters.regions.iter().map(|region| of(&region.library)).sum();
            let calls = counters.routines.iter().map(|routine| routine.calls).sum();
            self.add(pe.pe, (rank, Around::Library, ""), library, Some(calls));
            self.add(pe.pe, (rank, Around::Outside, ""), counter.total.saturating_sub(library), None);
            for region in counters.regions.iter().filter(|region| region.region > 0) {
                let name = region_name(pe, region.region);
                self.add(pe.pe, (rank, Around::Region, name), of(&region.values), None);
                self.add(pe.pe, (rank, Around::RegionLibrary, name), of(&region.library), None);
            }
            for routine in &counters.routines {
                let key = (rank, Around::Routine, routine.routine.as_str());
                self.add(pe.pe, key, of(&routine.values), Some(routine.calls));
            }
        }
    }
}

pub(super) fn grids(profile: &Profile, options: &Options) -> Vec<Grid> {
    let mut grid = Grid::new(
        "counters",
        "Counters",
        &COLUMNS,
        "no counter was recorded: oshrun --counters cycles,page-faults (or SHMEM_COUNTERS) asks for them",
    );
    let mut sums = Sums::default();
    profile.pes.iter().for_each(|pe| sums.add_pe(pe));
    for ((rank, around, name), sum) in sums.0 {
        let counter = KNOWN.get(rank).map_or("(other)", |known| known.name);
        let unit = if counter == "task-clock" { ", ns" } else { "" };
        let of = if name.is_empty() { around.name().to_owned() } else { format!("{} {name}", around.name()) };
        grid.row([
            Cell::Text(format!("{counter}{unit}, {of}")),
            counter.into(),
            around.name().into(),
            Cell::from(Some(name).filter(|name| !name.is_empty())),
            sum.calls.into(),
            sum.value.into(),
            sum.calls.filter(|&calls| calls > 0).map(|calls| sum.value as f64 / calls as f64).into(),
            Cell::Text(sum.most.1.to_string()),
            sum.most.0.into(),
            sum.pes.into(),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.extend([
            "run: all threads from initialization on. library: in timed calls; short calls are not read for, and"
                .to_owned(),
            "count as outside. Regions are without inner ones, of threads that call the library.".to_owned(),
        ]);
    }
    let shared = |pe: &&Pe| pe.detail.counters.list.iter().any(|c| c.counted_ns < c.wanted_ns);
    if profile.pes.iter().any(|pe| shared(&pe)) {
        grid.notes.push("The processor had no room for all at once: their values are estimates.".to_owned());
    }
    let mut missing = Grid::new("counters_unavailable", "Not available", &MISSING, "");
    let mut reasons: BTreeMap<(bool, &str, &str), u64> = BTreeMap::new();
    for counter in profile.pes.iter().flat_map(|pe| &pe.detail.counters.list).filter(|c| !c.remark.is_empty()) {
        *reasons.entry((counter.available, &counter.name, &counter.remark)).or_default() += 1;
    }
    for ((_, name, remark), pes) in reasons {
        missing.row([name.into(), pes.into(), remark.into()]);
    }
    if missing.rows.is_empty() { vec![grid] } else { vec![grid, missing] }
}
