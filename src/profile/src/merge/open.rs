//! Meetings that had not ended when their PEs did: of a job that hangs or fails, these are the ones that matter.
//!
//! All is kept that is needed to say who had not come: how many calls on its team each PE has begun. Those that have
//! finalized are left out: nearly always all of them have.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::meetings::{Late, Meeting};
use crate::model::{Pe, Progress};
use crate::op;
use crate::tables::TeamKey;

/// What is known of one.
#[derive(Clone, Debug)]
struct Open {
    /// Time from arriving to the end, summed over those that had come, in nanoseconds.
    lost_ns: u64,
    first: u64,
    end: u64,
    /// The first of those PEs, and its call: routine, region, file and address in it.
    pe: u32,
    routine: u16,
    region: String,
    site: Option<(String, u64)>,
}

impl Open {
    fn add(&mut self, other: Open) {
        let lost_ns = self.lost_ns.saturating_add(other.lost_ns);
        let (first, end) = (self.first.min(other.first), self.end.max(other.end));
        if other.pe < self.pe {
            *self = other;
        }
        (self.lost_ns, self.first, self.end) = (lost_ns, first, end);
    }
}

#[derive(Debug, Default)]
pub(super) struct OpenMeetings {
    meetings: HashMap<Meeting, Open>,
    /// Calls that PEs have begun on each team.
    begun: HashMap<TeamKey, Vec<(u32, u64)>>,
}

impl OpenMeetings {
    pub(super) fn add(&mut self, pe: &Pe) {
        if pe.progress == Progress::Finalized {
            return;
        }
        for (at, team) in pe.tables.teams.iter().enumerate().filter(|(_, team)| team.size >= 2) {
            let inside = pe.tables.open_syncs.iter().filter(|sync| usize::from(sync.team) == at);
            self.begun.entry(team.key()).or_default().push((pe.pe, team.calls + inside.count() as u64));
        }
        // Where several threads call on a team, the number is not known.
        for sync in pe.tables.open_syncs.iter().filter(|sync| sync.number != u64::MAX) {
            let Some(team) = pe.tables.teams.get(usize::from(sync.team)).filter(|team| team.size >= 2) else {
                continue;
            };
            let open = Open {
                lost_ns: sync.left_ns.saturating_sub(sync.arrived_ns),
                first: sync.arrived_ns,
                end: sync.left_ns,
                pe: pe.pe,
                routine: sync.op,
                region: pe.region_name(sync.region).to_owned(),
                site: pe.in_file(sync.address).map(|(path, address)| (path.to_owned(), address)),
            };
            self.put((team.key(), sync.number), open);
        }
    }

    fn put(&mut self, meeting: Meeting, open: Open) {
        match self.meetings.entry(meeting) {
            Entry::Occupied(mut known) => known.get_mut().add(open),
            Entry::Vacant(place) => _ = place.insert(open),
        }
    }

    /// Adds those of another heap.
    pub(super) fn join(&mut self, other: OpenMeetings) {
        other.meetings.into_iter().for_each(|(meeting, open)| self.put(meeting, open));
        other.begun.into_iter().for_each(|(team, begun)| self.begun.entry(team).or_default().extend(begun));
    }

    /// What the others lost by those that had not come, where these are PEs of which all is known.
    pub(super) fn finish(self, is_known: impl Fn(u32) -> bool) -> Vec<Late> {
        let mut list = Vec::new();
        for (meeting, open) in &self.meetings {
            let missing = self.missing(meeting);
            if missing.is_empty() || !missing.iter().all(|pe| is_known(*pe)) {
                continue;
            }
            // Where several had not come, nobody knows who would have been the last.
            let by_pe = match missing.as_slice() {
                [one] => BTreeMap::from([(*one, (1, open.lost_ns))]),
                _ => BTreeMap::new(),
            };
            list.push(Late {
                routine: op::get(open.routine).map_or("(not known)", |row| row.name()).to_owned(),
                region: open.region.clone(),
                site: open.site.clone(),
                caller: None,
                meetings: 1,
                lost_ns: open.lost_ns,
                max_skew_ns: open.end.saturating_sub(open.first),
                by_pe,
                teams: BTreeMap::from([(meeting.0, 1)]),
                open: 1,
                worst_ones: Vec::new(),
            });
        }
        list
    }

    /// The members that had not come.
    fn missing(&self, (team, number): &Meeting) -> Vec<u32> {
        let (_, start, stride, size) = team;
        let begun = self.begun.get(team).map(Vec::as_slice).unwrap_or_default();
        let came: HashSet<u32> = begun.iter().filter(|(_, calls)| calls > number).map(|(pe, _)| *pe).collect();
        let members = (0..i64::from(*size)).map(|at| i64::from(*start) + at * i64::from(*stride));
        members.filter_map(|pe| u32::try_from(pe).ok()).filter(|pe| !came.contains(pe)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Sync, Team};

    const MS: u64 = 1_000_000;

    /// A PE that has returned from `calls` meetings of the world of three, and is in the next one since a moment.
    fn pe(number: u32, calls: u64, since: Option<u64>) -> Pe {
        let mut pe = Pe { pe: number, progress: Progress::Initialized, end_ns: 100 * MS, ..Pe::default() };
        pe.tables.teams = vec![Team { stride: 1, size: 3, calls, ..Team::default() }];
        let op = op::find("shmem_barrier_all").unwrap();
        let open = since.map(|arrived_ns| Sync { op, number: calls, arrived_ns, left_ns: 100 * MS, ..Sync::default() });
        pe.tables.open_syncs.extend(open);
        pe
    }

    /// What was lost, and by which PEs.
    type Lost = (u64, BTreeMap<u32, (u64, u64)>);

    fn late(pes: [Pe; 3], is_known: impl Fn(u32) -> bool) -> Vec<Lost> {
        let mut heaps = [OpenMeetings::default(), OpenMeetings::default()];
        pes.iter().for_each(|pe| heaps[pe.pe as usize % 2].add(pe));
        let [mut first, second] = heaps;
        first.join(second);
        first.finish(is_known).into_iter().map(|late| (late.lost_ns, late.by_pe)).collect()
    }

    #[test]
    fn the_one_that_has_not_come_is_late() {
        let hangs = || [pe(0, 10, Some(20 * MS)), pe(1, 10, None), pe(2, 10, Some(40 * MS))];
        assert_eq!(late(hangs(), |_| true), [(140 * MS, BTreeMap::from([(1, (1, 140 * MS))]))]);
        // Its file may be the one that is damaged.
        assert_eq!(late(hangs(), |pe| pe != 1), []);
    }

    #[test]
    fn of_several_nobody_is_the_late_one() {
        let pes = [pe(0, 10, Some(20 * MS)), pe(1, 9, None), pe(2, 10, None)];
        assert_eq!(late(pes, |_| true), [(80 * MS, BTreeMap::new())]);
    }

    #[test]
    fn where_all_have_come_nobody_is_late() {
        // PE 2 has left it already.
        let pes = [pe(0, 10, Some(20 * MS)), pe(1, 10, Some(30 * MS)), pe(2, 11, None)];
        assert_eq!(late(pes, |_| true), []);
    }
}
