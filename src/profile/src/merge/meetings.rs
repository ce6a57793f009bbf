//! Barriers, syncs and collectives, one by one: who came last, and what the others lost by it.
//!
//! Of a meeting only its first and last arrival, their number and their sum are kept. Where there are too many
//! meetings, a half of them, a quarter ... is kept: which, their team and number decide. Of the others, the longest are
//! kept by the PEs that waited in them; the one that they waited for is the one that does not have it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::efficiency::LastArrivals;
use super::phases::{PhaseKey, Place};
use super::plan::Plan;
use super::pool::Pool;
use crate::model::{Pe, Progress, Routine};
use crate::op;
use crate::tables::{self, TeamKey, place_in};

/// Meetings that are followed at the same time while not every arrival is known.
const MOST_OPEN: usize = 1 << 14;

/// Calls of one routine from one place in one region, over all members that meet there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Late {
    /// C name.
    pub routine: String,
    /// Region, empty outside of all, or where they are of several.
    pub region: String,
    /// File and address in it of the place that the last PE came from.
    pub site: Option<(String, u64)>,
    /// File and address in it of the call of the function that called there, as those know it who waited for long.
    pub caller: Option<(String, u64)>,
    /// Meetings of which every arrival is known, and those of [`Self::open`]. Where only one in some was kept, as many
    /// as these stand for, or as calls were counted.
    pub meetings: u64,
    /// Time from arriving to the arrival of the last, summed over the others, in nanoseconds. Where only one in some
    /// meetings was kept, times that many.
    pub lost_ns: u64,
    /// Longest time from the first arrival to the last.
    pub max_skew_ns: u64,
    /// By PE that came last: how often, and what the others lost by it.
    pub by_pe: BTreeMap<u32, (u64, u64)>,
    /// Meetings by team.
    pub teams: BTreeMap<TeamKey, u64>,
    /// Meetings among these to which not all had come when their PEs ended.
    pub open: u64,
    /// Those in which most was lost, the worst first: [`WORST`] at most.
    pub worst_ones: Vec<LateMeeting>,
}

/// Meetings of a place that are told apart from the others.
pub const WORST: usize = 64;

/// What is lost is lost now and then where so few of the meetings ...
const RARE: f64 = 0.1;
/// ... are this share of it or more.
const RARE_SHARE: f64 = 0.8;

/// A meeting, or some of which one was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateMeeting {
    /// What was lost in each, in nanoseconds.
    pub lost_ns: u64,
    /// When the last PE came, in nanoseconds since the job's start.
    pub at_ns: u64,
    /// The last PE.
    pub pe: u32,
    /// How many they are.
    pub stands_for: u64,
}

impl Late {
    /// The same without its numbers, for sums over places.
    pub(super) fn empty(&self) -> Late {
        Late { routine: self.routine.clone(), region: self.region.clone(), ..Late::default() }
    }

    /// Adds those of another place, or of another region.
    pub fn add(&mut self, other: &Late) {
        if self.region != other.region {
            self.region.clear();
        }
        self.meetings = self.meetings.saturating_add(other.meetings);
        self.lost_ns = self.lost_ns.saturating_add(other.lost_ns);
        self.max_skew_ns = self.max_skew_ns.max(other.max_skew_ns);
        self.open = self.open.saturating_add(other.open);
        for (pe, (times, lost)) in &other.by_pe {
            let of = self.by_pe.entry(*pe).or_default();
            *of = (of.0.saturating_add(*times), of.1.saturating_add(*lost));
        }
        for (team, meetings) in &other.teams {
            let of = self.teams.entry(*team).or_default();
            *of = of.saturating_add(*meetings);
        }
        self.worst_ones.extend(&other.worst_ones);
        self.keep_worst();
    }

    fn keep_worst(&mut self) {
        self.worst_ones.sort_by_key(|one| (std::cmp::Reverse(one.lost_ns), one.at_ns, one.pe));
        self.worst_ones.truncate(WORST);
    }

    /// The fewest meetings that are most of what is lost by this PE: how many, what is lost in them, and when the worst
    /// was, in nanoseconds since the job's start. `None`: there are many.
    pub fn rare(&self, pe: u32) -> Option<(u64, u64, u64)> {
        let all = self.by_pe.get(&pe)?.1;
        let (mut count, mut lost, mut at) = (0_u64, 0_u64, None);
        for one in self.worst_ones.iter().filter(|one| one.pe == pe) {
            count = count.saturating_add(one.stands_for);
            lost = lost.saturating_add(one.lost_ns.saturating_mul(one.stands_for));
            let at = *at.get_or_insert(one.at_ns);
            if lost as f64 >= RARE_SHARE * all as f64 {
                return (count as f64 <= RARE * self.meetings_of(pe) as f64).then_some((count, lost, at));
            }
        }
        None
    }

    /// Meetings of the teams that a PE is a member of: those in which it could come last.
    pub fn meetings_of(&self, pe: u32) -> u64 {
        let own = self.teams.iter().filter(|(team, _)| place_in(**team, pe).is_some());
        own.fold(0, |sum, (_, meetings)| sum.saturating_add(*meetings))
    }

    /// Members of the largest team that a PE is a member of.
    pub fn members_with(&self, pe: u32) -> u32 {
        self.teams
            .keys()
            .filter(|team| place_in(**team, pe).is_some())
            .map(|(.., size)| *size as u32)
            .max()
            .unwrap_or(0)
    }

    /// File and address in it of the place that the last PE came from, where known.
    pub fn place(&self) -> Option<(&str, u64)> {
        self.site.as_ref().map(|(path, address)| (path.as_str(), *address))
    }

    /// The same of the function that called there.
    pub fn caller(&self) -> Option<(&str, u64)> {
        self.caller.as_ref().map(|(path, address)| (path.as_str(), *address))
    }

    /// The PE by which most was lost, how often it was last, and what was lost by it.
    pub fn worst(&self) -> Option<(u32, u64, u64)> {
        let most = self.by_pe.iter().max_by_key(|(pe, (_, lost))| (*lost, std::cmp::Reverse(**pe)))?;
        Some((*most.0, most.1.0, most.1.1))
    }
}

/// Time in meetings, over all PEs, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeetingTimes {
    /// Of those that were kept one by one, times how many each stands for.
    kept_ns: u64,
    /// Of all, as the routines have it.
    all_ns: u64,
}

/// How far the time of those that are kept may be off for what they say of the others to be believed.
const NEAR: std::ops::RangeInclusive<f64> = 0.75..=1.33;

impl MeetingTimes {
    pub(super) fn add(&mut self, pe: &Pe) {
        let is_kept =
            |sync: &&tables::Sync| pe.tables.teams.get(usize::from(sync.team)).is_some_and(|team| team.size >= 2);
        let took = |sync: &tables::Sync| {
            sync.left_ns.saturating_sub(sync.arrived_ns).saturating_mul(pe.tables.stands_for(sync))
        };
        let kept_ns = pe.tables.syncs.iter().filter(is_kept).map(took).fold(0, u64::saturating_add);
        let all = pe.routines.iter().filter(|r| op::meets(&r.name));
        let all = all.map(|r| r.spent_ns().saturating_sub(r.unfinished_ns)).fold(0, u64::saturating_add);
        self.join(&MeetingTimes { kept_ns, all_ns: all });
    }

    pub(super) fn join(&mut self, other: &MeetingTimes) {
        self.kept_ns = self.kept_ns.saturating_add(other.kept_ns);
        self.all_ns = self.all_ns.saturating_add(other.all_ns);
    }

    /// Whether those that are kept come to as much as all.
    pub(super) fn are_near(&self) -> bool {
        self.all_ns == 0 || NEAR.contains(&(self.kept_ns as f64 / self.all_ns as f64))
    }

    /// What those that are kept took times how many they stand for, and what all took.
    pub fn kept_and_all(&self) -> (u64, u64) {
        (self.kept_ns, self.all_ns)
    }
}

/// File and address in it.
type InFile<'a> = Option<(&'a Arc<str>, u64)>;
/// Routine, region, place and its caller.
type Group<'a> = (u16, &'a Arc<str>, InFile<'a>, InFile<'a>);
/// A team and a number among its calls.
pub(super) type Meeting = (TeamKey, u64);

/// Where the last one came from; names are numbers of the pool.
#[derive(Clone, Copy, Debug)]
struct From {
    pe: u32,
    routine: u16,
    region: u32,
    path: u32,
    address: u64,
}

#[derive(Clone, Copy, Debug)]
struct Arrivals {
    count: u32,
    /// One in so many is kept by that PE of them which keeps fewest.
    every: u64,
    /// Sum of the moments, without what is beyond 64 bits: the difference to as many times the last is right all the
    /// same.
    sum: u64,
    first: u64,
    last: u64,
    /// When the first of them left.
    left: u64,
    /// Those for which it is among the longest.
    long: u32,
    /// Sum of their places in the team.
    places: u64,
    from: From,
    /// What was before.
    before: Before,
    /// Who called where they came from, of the first PE of those that know it: PE, file, a number of the pool, and
    /// address in it.
    caller: Option<(u32, u32, u64)>,
}

/// What the PE did before that knows best when it began: when that was (0: not known), the PE, and the place of the
/// meeting before: file, a number of the pool, address in it and operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Before {
    begin: u64,
    pe: u32,
    from: Option<(u32, u64, u16)>,
}

impl Arrivals {
    fn add(&mut self, other: &Arrivals) {
        self.count = self.count.saturating_add(other.count);
        self.left = self.left.min(other.left);
        self.long = self.long.saturating_add(other.long);
        self.places = self.places.wrapping_add(other.places);
        self.caller = match (self.caller, other.caller) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
        self.every = self.every.max(other.every);
        if (other.before.begin, other.before.pe) > (self.before.begin, self.before.pe) {
            self.before = other.before;
        }
        self.sum = self.sum.wrapping_add(other.sum);
        self.first = self.first.min(other.first);
        if (other.last, std::cmp::Reverse(other.from.pe)) > (self.last, std::cmp::Reverse(self.from.pe)) {
            (self.last, self.from) = (other.last, other.from);
        }
    }

    /// Whether they are those of all members of the team.
    fn are_all(&self, ((.., size), _): &Meeting) -> bool {
        i64::from(self.count) == i64::from(*size)
    }

    /// How many meetings it stands for. Where all members but one at most keep their longest, all such are kept.
    fn stands_for(&self, ((.., size), _): &Meeting) -> u64 {
        if i64::from(self.long) + 1 >= i64::from(*size) { 1 } else { self.every }
    }

    /// The PE that came last, if it is the only member that did not keep it, one of its longest for each of the others.
    fn missing(&self, ((_, start, stride, size), _): &Meeting) -> Option<u32> {
        let (count, size) = (i64::from(self.count), i64::from(*size));
        if count + 1 != size || self.long != self.count {
            return None;
        }
        let place = (size * count / 2).checked_sub_unsigned(self.places)?;
        u32::try_from(i64::from(*start) + i64::from(*stride) * place).ok()
    }

    fn lost(&self) -> u64 {
        self.last.wrapping_mul(self.count.into()).wrapping_sub(self.sum)
    }
}

/// What the first reading of a profile tells of its meetings, for the second one.
#[derive(Debug, Default)]
pub(super) struct FirstReading {
    /// When the last member came to each of which every arrival is known.
    pub last_arrivals: LastArrivals,
    /// Those that are among the longest of a PE.
    pub long: HashSet<Meeting>,
    /// Phases of PEs that have not kept them.
    pub late_phases: LatePhases,
}

/// Phases, and how long they took in nanoseconds, by PE.
pub(super) type LatePhases = HashMap<u32, Vec<(PhaseKey, u64)>>;

#[derive(Debug)]
pub(super) struct Meetings {
    pool: Pool,
    kept: HashMap<Meeting, Arrivals>,
    /// One in so many is kept: a power of two.
    one_in: u64,
    /// One in so many was kept by the PE that kept fewest.
    every: u64,
    /// Fewest and most calls that a member of each team has recorded, of those that have finalized.
    calls: HashMap<TeamKey, (u64, u64)>,
    /// By PE: how long it has to be in a meeting for that to be kept in any case.
    longest_from: HashMap<u32, u64>,
    /// PEs that were late to a meeting that they have not kept.
    latecomers: Vec<(u32, Meeting)>,
}

impl Default for Meetings {
    fn default() -> Meetings {
        Meetings {
            pool: Pool::default(),
            kept: HashMap::new(),
            one_in: 1,
            every: 1,
            calls: HashMap::new(),
            longest_from: HashMap::new(),
            latecomers: Vec::new(),
        }
    }
}

/// A number that says nothing of its meeting: the same in every process.
fn lot(((id, start, stride, size), number): &Meeting) -> u64 {
    let words = [u64::from(*id), *start as u64, *stride as u64, *size as u64, *number];
    words.into_iter().fold(0x9e37_79b9_7f4a_7c15, |lot, word| {
        let mixed = (lot ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (mixed ^ mixed >> 32).wrapping_mul(0xc4ce_b9fe_1a85_ec53).rotate_left(29)
    })
}

/// All members of a team call its barriers and collectives equally often. Where not all were recorded, as where the
/// profile was off on some PEs, their numbers do not say which belong together.
fn is_paired(calls: &HashMap<TeamKey, (u64, u64)>, team: &TeamKey) -> bool {
    calls.get(team).is_none_or(|(least, most)| least == most)
}

impl Meetings {
    fn is_kept(&self, meeting: &Meeting) -> bool {
        self.one_in == 1 || lot(meeting) >> 17 & (self.one_in - 1) == 0
    }

    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        self.every = self.every.max(pe.tables.sync_every);
        let teams = pe.tables.teams.iter().filter(|team| team.size >= 2 && pe.progress == Progress::Finalized);
        teams.for_each(|team| self.add_calls(team.key(), (team.calls, team.calls)));
        if pe.tables.longest_from_ns > 0 {
            self.longest_from.insert(pe.pe, pe.tables.longest_from_ns);
        }
        let regions: Vec<u32> = pe.tables.regions.iter().map(|region| self.pool.number(&region.name)).collect();
        let outside = self.pool.number("");
        let [mut place, mut caller, mut before] = [(0, outside, 0); 3];
        for sync in &pe.tables.syncs {
            let Some(team) = pe.tables.teams.get(usize::from(sync.team)).filter(|team| team.size >= 2) else {
                continue;
            };
            let meeting = (team.key(), sync.number);
            if !self.is_kept(&meeting) {
                continue;
            }
            for (known, at) in [(&mut place, sync.address), (&mut caller, sync.caller)] {
                if known.0 != at {
                    let (path, address) = pe.in_file(at).unwrap_or_default();
                    *known = (at, self.pool.number(path), address);
                }
            }
            let region = regions.get(usize::from(sync.region)).copied().unwrap_or(outside);
            let from = From { pe: pe.pe, routine: sync.op, region, path: place.1, address: place.2 };
            let (at, left, every) = (sync.arrived_ns, sync.left_ns, pe.tables.sync_every);
            let long = u32::from(pe.tables.is_alone(sync));
            let places = place_in(meeting.0, pe.pe).unwrap_or(0);
            let caller = (caller.1 != outside).then_some((pe.pe, caller.1, caller.2));
            let (first, last) = (at, at);
            let before = sync.phase.from.map(|(address, op)| {
                if before.0 != address {
                    let (path, in_file) = pe.in_file(address).unwrap_or_default();
                    before = (address, self.pool.number(path), in_file);
                }
                (before.1, before.2, op)
            });
            let before = Before { begin: sync.phase.begin_ns, pe: pe.pe, from: before };
            let of = Arrivals { count: 1, every, sum: at, first, last, left, long, places, from, before, caller };
            self.put(meeting, of);
        }
        self.cut(plan.limits.meetings);
    }

    fn add_calls(&mut self, team: TeamKey, (least, most): (u64, u64)) {
        let known = self.calls.entry(team).or_insert((least, most));
        *known = (known.0.min(least), known.1.max(most));
    }

    /// Whether it is known when each member came.
    fn is_known(&self, (meeting, arrivals): (&Meeting, &Arrivals)) -> bool {
        arrivals.are_all(meeting) && is_paired(&self.calls, &meeting.0)
    }

    /// Finds who was late to the longest meetings: the only PE that does not keep it. It was in it for less time than
    /// it would have kept it for, and so came after the others, which had been there for longer.
    fn find_missing(&mut self) {
        let calls = &self.calls;
        for (meeting, arrivals) in self.kept.iter_mut().filter(|(meeting, _)| is_paired(calls, &meeting.0)) {
            let Some(pe) = arrivals.missing(meeting) else { continue };
            let Some(from) = self.longest_from.get(&pe).copied() else { continue };
            let left = arrivals.left;
            let is_late = arrivals.last.saturating_add(from) <= left;
            if is_late || arrivals.before.begin > 0 {
                self.latecomers.push((pe, *meeting));
            }
            if is_late {
                let from = From { pe, ..arrivals.from };
                arrivals.add(&Arrivals { count: 1, sum: left, first: left, last: left, long: 0, from, ..*arrivals });
            }
        }
    }

    fn put(&mut self, meeting: Meeting, arrivals: Arrivals) {
        self.kept.entry(meeting).and_modify(|known| known.add(&arrivals)).or_insert(arrivals);
    }

    fn cut(&mut self, most: usize) {
        while self.kept.len() > most && self.one_in < 1 << 40 {
            self.thin_out(2 * self.one_in);
        }
    }

    fn thin_out(&mut self, one_in: u64) {
        self.one_in = one_in;
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(|meeting, _| self.is_kept(meeting));
        self.kept = kept;
    }

    pub(super) fn join(&mut self, plan: &Plan, other: Meetings) {
        self.every = self.every.max(other.every);
        if other.one_in > self.one_in {
            self.thin_out(other.one_in);
        }
        other.calls.into_iter().for_each(|(team, calls)| self.add_calls(team, calls));
        self.longest_from.extend(other.longest_from);
        let number = self.pool.take_in(&other.pool);
        for (meeting, mut arrivals) in other.kept {
            if self.is_kept(&meeting) {
                arrivals.from.region = number[arrivals.from.region as usize];
                arrivals.from.path = number[arrivals.from.path as usize];
                let before = &mut arrivals.before.from;
                *before = before.map(|(path, address, op)| (number[path as usize], address, op));
                arrivals.caller = arrivals.caller.map(|(pe, path, address)| (pe, number[path as usize], address));
                self.put(meeting, arrivals);
            }
        }
        self.cut(plan.limits.meetings);
    }

    /// What is known of all members once all PEs have been read.
    pub(super) fn told(&mut self) -> FirstReading {
        self.find_missing();
        let whole = self.kept.iter().filter(|kept| self.is_known(*kept));
        let last_arrivals = whole.map(|(meeting, arrivals)| (*meeting, arrivals.last)).collect();
        let long = self.kept.iter().filter(|(_, arrivals)| arrivals.long > 0).map(|(meeting, _)| *meeting).collect();
        let mut late_phases = LatePhases::new();
        for (pe, meeting) in std::mem::take(&mut self.latecomers) {
            if let Some(phase) = self.kept.get(&meeting).map(|arrivals| self.late_phase(arrivals)) {
                late_phases.entry(pe).or_default().push(phase);
            }
        }
        FirstReading { last_arrivals, long, late_phases }
    }

    /// What the PE did that came last to a meeting, and how long: since the others had begun, where they know, else
    /// since the first of them came.
    fn late_phase(&self, arrivals: &Arrivals) -> (PhaseKey, u64) {
        let place = |path: u32, address: u64, op: u16| Place {
            path: self.pool.text(path).clone(),
            address,
            routine: op::get(op).map_or("", |row| row.name()),
        };
        let from = arrivals.before.from.map(|(path, address, op)| place(path, address, op));
        let to = place(arrivals.from.path, arrivals.from.address, arrivals.from.routine);
        let begin = if arrivals.before.begin > 0 { arrivals.before.begin } else { arrivals.first };
        ((from, Some(to)), arrivals.last.saturating_sub(begin.min(arrivals.last)))
    }

    /// Takes out those of which every arrival is known: by routine, region and place.
    pub(super) fn take_complete(&mut self) -> Vec<Late> {
        let complete = self.kept.extract_if(|meeting, arrivals| arrivals.are_all(meeting)).collect();
        let late = self.late(&complete);
        // Who keeps fewer of them than others never comes to some.
        if self.kept.len() > MOST_OPEN {
            let mut last: Vec<u64> = self.kept.values().map(|arrivals| arrivals.last).collect();
            let (_, middle, _) = last.select_nth_unstable(MOST_OPEN / 2);
            let middle = *middle;
            self.kept.retain(|_, arrivals| arrivals.last > middle);
        }
        late
    }

    /// By routine, region and place, most lost first; of how many meetings one was kept; and how many teams are left
    /// out, whose members have not all recorded the same.
    pub(super) fn finish(mut self) -> (Vec<Late>, u64, usize) {
        self.find_missing();
        let unpaired = self.calls.keys().filter(|team| !is_paired(&self.calls, team)).count();
        (self.late(&self.kept), self.every.saturating_mul(self.one_in), unpaired)
    }

    fn late(&self, kept: &HashMap<Meeting, Arrivals>) -> Vec<Late> {
        let one_in = self.one_in;
        let mut sums: BTreeMap<Group<'_>, Late> = BTreeMap::new();
        for (meeting, arrivals) in kept {
            // One that is not complete would blame whoever is known. What is complete was kept by the PE that keeps
            // fewest, and stands for what that one left out.
            if !self.is_known((meeting, arrivals)) {
                continue;
            }
            let weight = arrivals.stands_for(meeting).saturating_mul(one_in);
            let path = self.pool.text(arrivals.from.path);
            let site = (!path.is_empty()).then_some((path, arrivals.from.address));
            let caller = arrivals.caller.map(|(_, path, address)| (self.pool.text(path), address));
            let group = (arrivals.from.routine, self.pool.text(arrivals.from.region), site, caller);
            let sum = sums.entry(group).or_default();
            let lost = arrivals.lost().saturating_mul(weight);
            sum.meetings = sum.meetings.saturating_add(weight);
            let of_team = sum.teams.entry(meeting.0).or_default();
            *of_team = of_team.saturating_add(weight);
            sum.lost_ns = sum.lost_ns.saturating_add(lost);
            sum.max_skew_ns = sum.max_skew_ns.max(arrivals.last - arrivals.first);
            let (lost_ns, at_ns, pe) = (arrivals.lost(), arrivals.last, arrivals.from.pe);
            sum.worst_ones.push(LateMeeting { lost_ns, at_ns, pe, stands_for: weight });
            if sum.worst_ones.len() >= 4 * WORST {
                sum.keep_worst();
            }
            let of = sum.by_pe.entry(arrivals.from.pe).or_default();
            *of = (of.0.saturating_add(weight), of.1.saturating_add(lost));
        }
        let mut list: Vec<Late> = sums
            .into_iter()
            .map(|((routine, region, site, caller), late)| Late {
                routine: op::get(routine).map_or("(not known)", |row| row.name()).to_owned(),
                region: region.to_string(),
                site: site.map(|(path, address)| (path.to_string(), address)),
                caller: caller.map(|(path, address)| (path.to_string(), address)),
                ..late
            })
            .collect();
        list.iter_mut().for_each(Late::keep_worst);
        sort(&mut list);
        list
    }
}

/// Most lost first.
fn sort(list: &mut [Late]) {
    list.sort_by(|a, b| b.lost_ns.cmp(&a.lost_ns).then_with(|| (&a.routine, &a.region).cmp(&(&b.routine, &b.region))));
}

/// Adds meetings to a list of such, by routine, region, place and caller.
pub(super) fn add(list: &mut Vec<Late>, more: Vec<Late>) {
    for late in more {
        let place = |of: &Late| (of.routine.clone(), of.region.clone(), of.site.clone(), of.caller.clone());
        match list.iter_mut().find(|known| place(known) == place(&late)) {
            Some(known) => known.add(&late),
            None => list.push(late),
        }
    }
    sort(list);
}

/// What a sample of meetings says of all of them can be more than there was: no more is lost in a routine than was
/// spent in it.
pub(super) fn bound(late: &mut [Late], routines: &[Routine]) {
    let mut lost: BTreeMap<String, u64> = BTreeMap::new();
    for row in late.iter() {
        let sum = lost.entry(row.routine.clone()).or_default();
        *sum = sum.saturating_add(row.lost_ns);
    }
    for row in late {
        let spent = routines.iter().find(|routine| routine.name == row.routine).map(Routine::spent_ns);
        let (Some(spent), Some(&lost)) = (spent, lost.get(&row.routine)) else { continue };
        if lost <= spent {
            continue;
        }
        let part = |ns: u64| (u128::from(ns) * u128::from(spent) / u128::from(lost)) as u64;
        row.lost_ns = part(row.lost_ns);
        row.by_pe.values_mut().for_each(|(_, lost)| *lost = part(*lost));
    }
}
