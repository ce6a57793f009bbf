//! Who came late to which barrier, collective or wait, and what the others lost by it.

use std::collections::BTreeMap;

use super::callsites::with_time;
use super::{in_file, place, region_name, shown_region};
use crate::detail::TeamKey;
use crate::model::Profile;
use crate::op::{self, Class};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;
use crate::report::{Options, merge};

/// Calls of one routine from one place in one region, over all members that meet there.
#[derive(Clone, Debug, Default)]
pub struct Late {
    /// C name.
    pub routine: String,
    /// Region, empty outside of all.
    pub region: String,
    /// File and address in it of the place that the last PE came from.
    pub site: Option<(String, u64)>,
    /// Meetings of which every arrival is known.
    pub meetings: u64,
    /// Time from arriving to the arrival of the last, summed over the others, in nanoseconds. Where only one in some
    /// meetings was kept, times that many.
    pub lost_ns: u64,
    /// Longest time from the first arrival to the last.
    pub max_skew_ns: u64,
    /// By PE that came last: how often, and what the others lost by it.
    pub by_pe: BTreeMap<u32, (u64, u64)>,
}

impl Late {
    /// The PE by which most was lost, how often it was last, and what was lost by it.
    pub fn worst(&self) -> Option<(u32, u64, u64)> {
        let most = self.by_pe.iter().max_by_key(|(pe, (_, lost))| (*lost, std::cmp::Reverse(**pe)))?;
        Some((*most.0, most.1.0, most.1.1))
    }
}

/// A team and a number among its calls.
type Meeting = (TeamKey, u64);
/// A file and an address in it.
type Place<'a> = Option<(&'a str, u64)>;

struct Arrival<'a> {
    pe: u32,
    at: u64,
    routine: u16,
    region: &'a str,
    site: Place<'a>,
}

/// Meetings by routine, region and place, most lost first; and of how many meetings one was kept.
pub fn late(profile: &Profile) -> (Vec<Late>, u64) {
    let every = profile.pes.iter().map(|pe| pe.detail.sync_every).max().unwrap_or(1).max(1);
    let mut meetings: BTreeMap<Meeting, Vec<Arrival<'_>>> = BTreeMap::new();
    for pe in &profile.pes {
        for sync in pe.detail.syncs.iter().filter(|sync| sync.number % every == 0) {
            let Some(team) = pe.detail.teams.get(usize::from(sync.team)) else { continue };
            meetings.entry((team.key(), sync.number)).or_default().push(Arrival {
                pe: pe.pe,
                at: sync.arrived_ns,
                routine: sync.op,
                region: region_name(pe, sync.region),
                site: in_file(pe, sync.address),
            });
        }
    }
    let mut sums: BTreeMap<(u16, &str, Place<'_>), Late> = BTreeMap::new();
    for ((team, _), arrivals) in &meetings {
        // One that is not complete would blame whoever is known.
        if arrivals.len() != usize::try_from(team.3).unwrap_or(0) || arrivals.len() < 2 {
            continue;
        }
        let Some(last) = arrivals.iter().max_by_key(|a| (a.at, std::cmp::Reverse(a.pe))) else { continue };
        let first = arrivals.iter().map(|a| a.at).min().unwrap_or(last.at);
        let lost: u64 = arrivals.iter().map(|a| last.at - a.at).sum::<u64>().saturating_mul(every);
        let sum = sums.entry((last.routine, last.region, last.site)).or_default();
        sum.meetings += every;
        sum.lost_ns = sum.lost_ns.saturating_add(lost);
        sum.max_skew_ns = sum.max_skew_ns.max(last.at - first);
        let of = sum.by_pe.entry(last.pe).or_default();
        *of = (of.0 + every, of.1.saturating_add(lost));
    }
    let mut list: Vec<Late> = sums
        .into_iter()
        .map(|((routine, region, site), late)| Late {
            routine: op::get(routine).map_or("(not known)", |row| row.name).to_owned(),
            region: region.to_owned(),
            site: site.map(|(path, address)| (path.to_owned(), address)),
            ..late
        })
        .collect();
    list.sort_by(|a, b| b.lost_ns.cmp(&a.lost_ns).then_with(|| (&a.routine, &a.region).cmp(&(&b.routine, &b.region))));
    (list, every)
}

const COLUMNS: [Column; 10] = [
    column("site", "where", Kind::Text),
    column("routine", "routine", Kind::Text),
    column("region", "region", Kind::Text),
    column("calls", "meetings", Kind::Count),
    column("lost_ns", "lost", Kind::Time),
    column("mean_lost_ns", "", Kind::Time),
    column("max_skew_ns", "longest", Kind::Time),
    column("late_pe", "late PE", Kind::Text),
    column("late_calls", "last", Kind::Count),
    column("late_share", "its part", Kind::Share),
];

const WAITS: [Column; 8] = [
    column("site", "where", Kind::Text),
    column("routine", "routine", Kind::Text),
    column("region", "region", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("lost_ns", "waited", Kind::Time),
    column("pes", "PEs", Kind::Count),
    column("most_pe", "most: PE", Kind::Text),
    column("most_ns", "its time", Kind::Time),
];

pub(super) fn grids(profile: &Profile, options: &Options, symbols: &dyn Symbols) -> Vec<Grid> {
    let mut grid =
        Grid::new("imbalance", "Barriers and collectives", &COLUMNS, "no meeting of several PEs was recorded");
    let (list, every) = late(profile);
    for late in &list {
        let (pe, times, lost) = late.worst().unwrap_or_default();
        let site = late.site.as_ref().map(|(path, address)| (path.as_str(), *address));
        grid.row([
            place(site, symbols).into(),
            late.routine.as_str().into(),
            shown_region(&late.region).into(),
            late.meetings.into(),
            late.lost_ns.into(),
            (late.lost_ns as f64 / late.meetings.max(1) as f64).into(),
            late.max_skew_ns.into(),
            Cell::Text(pe.to_string()),
            times.into(),
            Cell::Real(if late.lost_ns > 0 { lost as f64 / late.lost_ns as f64 } else { 0.0 }),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.push(
            "lost: time from arriving to the arrival of the last PE, summed over those that came before it.".to_owned(),
        );
    }
    if every > 1 {
        grid.notes.push(format!(
            "One in {every} meetings was kept; calls and lost times are those of the kept ones, times {every}."
        ));
    }
    if merge::hosts(profile).len() > 1 {
        grid.notes.push(
            "Arrivals are compared across hosts: their clocks may differ by what it takes to align them.".to_owned(),
        );
    }
    vec![grid, waits(profile, options, symbols)]
}

/// Waits and locks: how long, and where. Who ended them is in a trace only (`oshprof trace DIR --to waits`).
fn waits(profile: &Profile, options: &Options, symbols: &dyn Symbols) -> Grid {
    #[derive(Default)]
    struct Sum {
        calls: u64,
        ns: u64,
        pes: BTreeMap<u32, u64>,
    }
    let mut sums: BTreeMap<(&str, Place<'_>, &str), Sum> = BTreeMap::new();
    for pe in &profile.pes {
        for site in &pe.detail.sites {
            let class = op::lookup(&site.routine).and_then(op::get).map(|row| row.class);
            if matches!(class, Some(Class::Wait | Class::Lock)) {
                let key = (site.routine.as_str(), in_file(pe, site.address), region_name(pe, site.region));
                let (sum, ns) = (sums.entry(key).or_default(), with_time(pe, site).total_ns.unwrap_or(0));
                sum.calls += site.calls;
                sum.ns += ns;
                *sum.pes.entry(pe.pe).or_default() += ns;
            }
        }
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|a, b| b.1.ns.cmp(&a.1.ns).then_with(|| a.0.cmp(&b.0)));
    let mut grid = Grid::new("waits", "Waits and locks", &WAITS, "no wait and no lock was recorded");
    for ((routine, site, region), sum) in rows {
        let most = sum.pes.iter().max_by_key(|(pe, ns)| (**ns, std::cmp::Reverse(**pe)));
        grid.row([
            place(site, symbols).into(),
            routine.into(),
            shown_region(region).into(),
            sum.calls.into(),
            sum.ns.into(),
            (sum.pes.len() as u64).into(),
            Cell::Text(most.map_or_else(String::new, |(pe, _)| pe.to_string())),
            Cell::from(most.map(|(_, ns)| *ns)),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.push(
            "Who ended a wait, a profile cannot know: oshrun --trace, then oshprof trace DIR --to waits.".to_owned(),
        );
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::{Detail, Sync, Team};
    use crate::model::{Job, Pe};

    fn profile(arrivals: &[&[u64]], every: u64) -> Profile {
        let npes = arrivals.len() as i32;
        let pe = |(pe, times): (usize, &&[u64])| {
            let sync =
                |(k, &at): (usize, &u64)| Sync { number: k as u64 * every, arrived_ns: at, op: 0, ..Sync::default() };
            let detail = Detail {
                teams: vec![Team { stride: 1, size: npes, ..Team::default() }],
                syncs: times.iter().enumerate().map(sync).collect(),
                sync_every: every,
                ..Detail::default()
            };
            Pe { pe: pe as u32, detail, ..Pe::default() }
        };
        Profile { job: Job { npes: npes as u32, ..Job::default() }, pes: arrivals.iter().enumerate().map(pe).collect() }
    }

    #[test]
    fn the_last_to_arrive_is_blamed_for_what_the_others_lost() {
        let (list, every) = late(&profile(&[&[100, 500], &[100, 900], &[700, 500]], 1));
        assert_eq!((list.len(), every), (1, 1));
        assert_eq!((list[0].meetings, list[0].lost_ns, list[0].max_skew_ns), (2, 600 + 600 + 400 + 400, 600));
        assert_eq!(list[0].worst(), Some((2, 1, 1200)));
    }

    #[test]
    fn kept_meetings_stand_for_the_others_and_incomplete_ones_blame_nobody() {
        let (list, every) = late(&profile(&[&[0, 0], &[10]], 4));
        assert_eq!(every, 4);
        assert_eq!((list[0].meetings, list[0].lost_ns), (4, 40));
    }
}
