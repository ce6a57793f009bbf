//! Reading the call that a thread has not returned from: it has no row of its own anywhere yet, and all of its time is
//! the library's.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::phases::Phases;
use crate::op::{self, TOGETHER, Timing, traits};
use crate::segment::Segment;
use crate::segment::layout::{NOT_COUNTED, OWNER_NONE, STATE_INSIDE, Slot, state_of};
use crate::segment::meetings::{TEAMS, TeamRow};
use crate::segment::sites::{SITE_OVERFLOW, split_key};
use crate::tables::{PeTables, Sync, Team};

/// [`Sync::number`] where it is not known which call of its team it is.
const NUMBER_NOT_KNOWN: u64 = u64::MAX;

/// The timed call that a slot's owner is inside of, once it is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unfinished {
    pub(super) op: u16,
    /// Key of its call site; `None` where that is not known.
    pub(super) key: Option<u64>,
    /// When it was entered, in ticks; `None`: it has not come to wait.
    start: Option<u64>,
    /// How long ago, in nanoseconds; 0 where it has not come to wait.
    pub(super) ns: u64,
    /// As [`crate::recorder::team`] says it.
    peer: i32,
}

impl Unfinished {
    /// `end_ns` is the end of the PE's run.
    pub(super) fn of(segment: &Segment, slot: &Slot, end_ns: u64) -> Option<Unfinished> {
        let get = |word: &AtomicU64| word.load(Relaxed);
        let word = slot.head.current.word.load(Acquire);
        let op = word as u16;
        let is_inside = state_of(word) == STATE_INSIDE && word & NOT_COUNTED == 0;
        let is_timed = op::get(op).is_some_and(|row| row.timing == Timing::Timed);
        if !is_inside || !is_timed || slot.head.owner.load(Relaxed) == OWNER_NONE {
            return None;
        }
        let start = Some(get(&slot.head.current.start)).filter(|start| *start != 0);
        let whole_ns = start.map_or(0, |start| end_ns.saturating_sub(segment.since_start(start)));
        let ns = whole_ns.saturating_sub(interrupted_ns(slot));
        let site = slot.tables.sites.get(slot.head.site.load(Relaxed) as usize);
        let is_of_op = |key: &u64| split_key(*key).1 == op;
        // Where the PE was killed before it had noted the site, it is still that of the call before.
        let key = match site {
            Some(_) if slot.head.site.load(Relaxed) as usize == SITE_OVERFLOW => None,
            site => site.map(|row| get(&row.key)).filter(is_of_op),
        };
        Some(Unfinished { op, key, start, ns, peer: (word >> 32) as i32 })
    }

    /// The row of the team, where it is a call of all PEs of one.
    pub(super) fn team_row(&self) -> Option<usize> {
        let at = if self.peer < -1 { usize::try_from(-2 - self.peer).ok()? } else { 0 };
        (traits(self.op) & TOGETHER != 0 && self.peer < 0 && at < TEAMS - 1 && self.start.is_some()).then_some(at)
    }
}

/// What calls in signal handlers have taken of the call that this thread is in, in nanoseconds.
pub(super) fn interrupted_ns(slot: &Slot) -> u64 {
    let (wait, start) = (&slot.tables.slow_wait, slot.head.current.start.load(Relaxed) & !1);
    if wait.start.load(Relaxed) == start { wait.interrupted_ns.load(Relaxed) } else { 0 }
}

/// Adds the call of all PEs of a team that this thread has not returned from, where there is one. The teams have been
/// read; `several` says on which of them several threads call. Gives whether there is one: the thread's last phase ends
/// with it.
pub(super) fn add_open_sync(phases: Phases<'_>, end_ns: u64, several: &[bool], tables: &mut PeTables) -> bool {
    let Phases { segment, slot, .. } = phases;
    let found = Unfinished::of(segment, slot, end_ns);
    let Some((unfinished, at)) = found.and_then(|of| Some((of, of.team_row()?))) else { return false };
    let row: &TeamRow = &slot.tables.teams[at];
    let team = Team {
        start: row.start.load(Relaxed),
        stride: row.stride.load(Relaxed),
        size: row.size.load(Relaxed),
        id: row.id.load(Relaxed),
        ..Team::default()
    };
    let known = tables.teams.iter().position(|known| known.key() == team.key());
    let place = known.unwrap_or_else(|| {
        tables.teams.push(team);
        tables.teams.len() - 1
    });
    let Some(team) = u8::try_from(place).ok().filter(|place| *place < u8::MAX) else { return false };
    // Of several threads it is the order of their arrivals that numbers the calls.
    let is_alone = several.get(place) != Some(&true);
    let number = if is_alone { row.calls.load(Relaxed) } else { NUMBER_NOT_KNOWN };
    let (address, _, region) = unfinished.key.map_or((0, unfinished.op, 0), split_key);
    let arrived_ns = unfinished.start.map_or(end_ns, |start| segment.since_start(start)).min(end_ns);
    let (op, phase) = (unfinished.op, phases.now());
    tables.open_syncs.push(Sync { team, region, op, address, number, arrived_ns, left_ns: end_ns, phase, caller: 0 });
    true
}
