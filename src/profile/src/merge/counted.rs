//! How many meetings there were, where only some are kept one by one: their calls are counted all the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::meetings::Late;
use super::sites::SiteRow;
use crate::op;
use crate::tables::TeamKey;

/// Routine, region, place.
type Line<'a> = (&'a str, &'a str, Option<(&'a str, u64)>);

/// Has as many meetings as were counted stand where those that are kept stand for others. The calls of a place say how
/// many, where all members of the only team that meets there have made equally many. `only`: the team of all of them,
/// where there is no other: then places of which no meeting was kept are known, too, as places where nothing is known
/// to be lost.
pub(super) fn count(late: &mut Vec<Late>, sites: &[SiteRow], only: Option<TeamKey>) {
    count_kept(late, sites);
    let Some(team) = only else { return };
    let known: HashSet<Line<'_>> = late.iter().map(|row| (&*row.routine, &*row.region, row.place())).collect();
    let is_left_out =
        |row: &&SiteRow| op::meets(&row.routine) && !known.contains(&(&*row.routine, &*row.region, row.place()));
    let row = |site: &SiteRow| {
        let calls = site.sum.calls_of_each().filter(|calls| *calls > 0 && are_all(site, team))?;
        let place = site.place().map(|(path, address)| (path.to_owned(), address));
        let (routine, region) = (site.routine.to_string(), site.region.to_string());
        Some(Late { routine, region, site: place, meetings: calls, teams: [(team, calls)].into(), ..Late::default() })
    };
    let left_out: Vec<Late> = sites.iter().filter(is_left_out).filter_map(row).collect();
    late.extend(left_out);
}

/// Whether as many PEs called there as the team has members.
fn are_all(site: &SiteRow, (.., members): TeamKey) -> bool {
    i64::try_from(site.sum.pes).is_ok_and(|pes| pes == i64::from(members))
}

fn count_kept(late: &mut [Late], sites: &[SiteRow]) {
    let known: HashMap<Line<'_>, &SiteRow> =
        sites.iter().map(|row| ((&*row.routine, &*row.region, row.place()), row)).collect();
    let mut rows: BTreeMap<Line<'_>, Vec<usize>> = BTreeMap::new();
    late.iter().enumerate().for_each(|(at, late)| {
        rows.entry((&late.routine, &late.region, late.place())).or_default().push(at);
    });
    let counted: Vec<(Vec<usize>, u64)> = rows
        .into_iter()
        .filter_map(|(line, rows)| {
            let calls = counted_at(known.get(&line)?, rows.iter().map(|&at| &late[at]))?;
            Some((rows, calls))
        })
        .collect();
    for (rows, calls) in counted {
        let mut share = Share::new(rows.iter().map(|&at| late[at].meetings).sum(), calls);
        rows.into_iter().for_each(|at| set(&mut late[at], &mut share));
    }
}

/// The number of meetings at a place.
fn counted_at<'a>(site: &SiteRow, mut late: impl Iterator<Item = &'a Late>) -> Option<u64> {
    let mut team = None;
    let is_one = late.all(|late| late.open == 0 && late.teams.keys().all(|key| *team.get_or_insert(*key) == *key));
    let team = team.filter(|_| is_one)?;
    site.sum.calls_of_each().filter(|_| are_all(site, team))
}

fn set(late: &mut Late, share: &mut Share) {
    let before = late.meetings;
    late.meetings = share.of(before);
    let mut times = Share::new(before, late.meetings);
    late.by_pe.values_mut().for_each(|(count, _)| *count = times.of(*count));
    late.teams.values_mut().for_each(|count| *count = late.meetings);
}

/// Numbers that add up to another whole than they did.
struct Share {
    from: u64,
    to: u64,
    seen: u64,
    given: u64,
}

impl Share {
    fn new(from: u64, to: u64) -> Share {
        Share { from, to, seen: 0, given: 0 }
    }

    fn of(&mut self, part: u64) -> u64 {
        self.seen = self.seen.saturating_add(part);
        let upto = u128::from(self.seen) * u128::from(self.to) / u128::from(self.from.max(1));
        let part = (upto as u64).saturating_sub(self.given);
        self.given = self.given.saturating_add(part);
        part
    }
}
