//! Recording calls that all PEs of a team make: barriers, syncs and collectives.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::hot::bump;
use super::sites::site_key;
use super::{claim, longest, release, slow_wait, tls};
use crate::arm;
use crate::clock;
use crate::op::{ALLOCATES, FOR_OTHERS, TOGETHER};
use crate::sample::{is_kept, next_kept};
use crate::segment::layout::Slot;
use crate::segment::meetings::{FROM_BEGIN, LEFT_UNKNOWN, SYNCS, Sync, TEAMS, TeamRow, library_word};

/// What [`team`] is of a call that waits for nobody, or whose team there is not: below all rows.
pub const NO_TEAM: i32 = -2 - TEAMS as i32;

/// Whether a call with these traits and this `peer` is one of all PEs of a team.
#[inline(always)]
pub(super) fn is_of_team(traits: u32, peer: i32) -> bool {
    traits & TOGETHER != 0 && peer as u32 > NO_TEAM as u32
}

/// Which team a collective is on, for the `peer` of its record: below -1, the row of the team in the slot. `id` is the
/// number that members agree on.
#[inline]
pub fn team(id: usize, start: i32, stride: i32, size: i32) -> i32 {
    match tls::slot() {
        Some(slot) => -2 - team_row(slot, id as u32, start, stride, size),
        None => -1,
    }
}

/// The call at hand of this operation has this member of its team as its root.
#[inline]
pub fn rooted(op: u16, root: i32) {
    if let Some(slot) = tls::slot() {
        slot.tables.root.store((u64::from(op) + 1) << 32 | u64::from(root as u32), Relaxed);
    }
}

#[inline(always)]
fn team_row(slot: &Slot, id: u32, start: i32, stride: i32, size: i32) -> i32 {
    for (at, row) in slot.tables.teams[..TEAMS - 1].iter().enumerate() {
        let found = row.size.load(Relaxed);
        if found == 0 {
            row.start.store(start, Relaxed);
            row.stride.store(stride, Relaxed);
            row.id.store(id, Relaxed);
            row.size.store(size, Relaxed);
            return at as i32;
        }
        let range = (row.start.load(Relaxed), row.stride.load(Relaxed), found);
        if row.id.load(Relaxed) == id && range == (start, stride, size) {
            return at as i32;
        }
    }
    TEAMS as i32 - 1
}

/// The row of the team of a call of all its PEs: `peer` is what [`team`] gave, or -1 for the world.
#[inline(always)]
pub(super) fn team_at(peer: i32) -> usize {
    if peer < -1 { (-2 - peer) as usize & (TEAMS - 1) } else { 0 }
}

/// The row itself, where a call with these traits is one of all PEs of a team.
#[inline(always)]
pub(super) fn team_row_of(slot: &Slot, traits: u32, peer: i32) -> Option<&TeamRow> {
    is_of_team(traits, peer).then(|| &slot.tables.teams[team_at(peer)])
}

/// A call with these traits may have been one of all PEs of a team, and is over: `peer` is what [`team`] gave, or -1
/// for the world. Its time stands for so many calls.
#[inline(always)]
pub(super) fn met(slot: &Slot, traits: u32, peer: i32, (arrived, left): (u64, u64), calls: u64) {
    if !is_of_team(traits, peer) {
        return;
    }
    let at = team_at(peer);
    let bytes = if traits & ALLOCATES == 0 { slot.head.current.bytes.load(Relaxed) } else { 0 };
    let number = count_meeting(slot, at, bytes);
    bump(&slot.tables.teams[at].ticks, left.saturating_sub(arrived).saturating_mul(calls));
    if at != TEAMS - 1 {
        if is_kept_now(slot, number) {
            keep(slot, at, number, arrived, left);
        } else if longest::may_be(slot, arrived, left) {
            longest::offer(slot, &unkept(slot, at, number, arrived, left));
        }
    }
    release::met(slot, arrived & !1, left);
    begin_phase(slot, left);
}

/// It comes to wait for long: it is counted when it is over.
pub(super) fn meets_after_all(slot: &Slot, peer: i32) {
    if peer < 0 {
        let team = &slot.tables.teams[team_at(peer)];
        bump(&team.calls, u64::MAX);
        bump(&team.bytes, slot.head.current.bytes.load(Relaxed).wrapping_neg());
    }
}

/// Counts it in a row of teams. Gives whether the next one is kept: the phase that this one begins is kept with the
/// call that ends it.
#[inline(always)]
pub(super) fn met_in_passing(slot: &Slot, team: &TeamRow, bytes: u64, site: u32) -> bool {
    bump(&team.calls, 1);
    if bytes != 0 {
        bump(&team.bytes, bytes);
    }
    if team.calls.load(Relaxed) >= team.stamped_next.load(Relaxed) {
        return true;
    }
    slot.tables.phase.passed_site.store(u64::from(site) + 1, Relaxed);
    false
}

/// Counts a call of all PEs of a team that has its stamps; gives its number.
#[inline(always)]
fn count_meeting(slot: &Slot, at: usize, bytes: u64) -> u64 {
    let team = &slot.tables.teams[at];
    let number = team.calls.load(Relaxed);
    team.calls.store(number + 1, Relaxed);
    bump(&team.bytes, bytes);
    if number + 1 >= team.stamped_next.load(Relaxed) {
        look_ahead(slot, at, number + 1);
    }
    number
}

/// Finds the next call of all PEs of a team that is kept, from `number` on.
#[inline(never)]
fn look_ahead(slot: &Slot, at: usize, number: u64) {
    let next = if at == TEAMS - 1 { u64::MAX } else { next_kept(number, kept_shift(slot)) };
    slot.tables.teams[at].stamped_next.store(next, Relaxed);
}

/// A call with these traits took so long: where it was a wait or a lock, its phase has that.
#[inline(always)]
pub(super) fn waited(slot: &Slot, traits: u32, ns: u64) {
    if traits & FOR_OTHERS != 0 {
        bump(&slot.tables.phase.waits_ns, ns);
    }
}

/// The phase after the call at hand, which returned at `left`.
#[inline(always)]
pub(super) fn begin_phase(slot: &Slot, left: u64) {
    let phase = &slot.tables.phase;
    phase.site.store(slot.head.site.load(Relaxed).into(), Relaxed);
    phase.left.store(left, Relaxed);
    phase.claimed_ns.store(slot.head.claimed_ns.load(Relaxed), Relaxed);
    phase.waits_ns.store(0, Relaxed);
    phase.passed_site.store(0, Relaxed);
}

#[inline(always)]
fn kept_shift(slot: &Slot) -> u32 {
    slot.tables.sync_shift.load(Relaxed) as u32 & 63
}

#[inline(always)]
fn is_kept_now(slot: &Slot, number: u64) -> bool {
    is_kept(number, kept_shift(slot))
}

/// Records that need not be paid for.
const UNPAID: u64 = 32;
/// Time that pays for a record beyond these, in nanoseconds. A meeting that is kept takes 100 to 250 more than another.
const NS_PER_SYNC: u64 = 10_000;

/// Whether there are more records than time has paid for, in a profile that nobody has asked to keep: who calls
/// barriers in a fast loop would notice.
fn come_too_fast(slot: &Slot, used: u64, left: u64) -> bool {
    if !arm::counts_only() || used < UNPAID {
        return false;
    }
    let passed = left.saturating_sub(slot.tables.syncs[0].arrived.load(Relaxed));
    clock::scale_ns(passed, slot.head.clock_mult.load(Relaxed)) < used * NS_PER_SYNC
}

/// Keeps a meeting, and the phase that it ends.
#[cold]
#[inline(never)]
fn keep(slot: &Slot, team: usize, number: u64, arrived: u64, left: u64) {
    let used = slot.tables.syncs_used.load(Relaxed);
    if used as usize >= SYNCS || come_too_fast(slot, used, left) {
        thin_out(slot);
        if !is_kept_now(slot, number) {
            return;
        }
    }
    let used = (slot.tables.syncs_used.load(Relaxed) as usize).min(SYNCS - 1);
    record(slot, team, number, arrived, left).write(&slot.tables.syncs[used]);
    slot.tables.syncs_used.store(used as u64 + 1, Relaxed);
}

/// A meeting, and the phase that it ends.
fn record(slot: &Slot, team: usize, number: u64, arrived: u64, left: u64) -> Record {
    let phase = &slot.tables.phase;
    let (from_key, from_left) = match (phase.passed(), phase.left.load(Relaxed)) {
        (None, 0) => (FROM_BEGIN, began(slot)),
        (passed, left) => (site_key(slot, passed.unwrap_or_else(|| phase.site.load(Relaxed))), left),
    };
    let library_ns = slot.head.claimed_ns.load(Relaxed).saturating_sub(phase.claimed_ns.load(Relaxed));
    Record {
        key: site_key(slot, slot.head.site.load(Relaxed).into()),
        number: number | (team as u64) << 56,
        arrived,
        left,
        from_key,
        from_left,
        library: library_word(library_ns, phase.waits_ns.load(Relaxed)),
        caller: slow_wait::caller(slot, arrived),
    }
}

/// When the first phase of a thread began: time at level 0 that comes after its end is no part of it.
#[cold]
fn began(slot: &Slot) -> u64 {
    let init = claim::region_unchecked().map_or(0, |region| region.head.init_ticks.load(Relaxed));
    init.max(slot.tables.lives.since.load(Relaxed))
}

/// As [`record`], of one that is not among those whose phase has a stamp at its begin in any case.
fn unkept(slot: &Slot, team: usize, number: u64, arrived: u64, left: u64) -> Record {
    let record = record(slot, team, number, arrived, left);
    if slot.tables.phase.passed().is_none() { record } else { Record { from_left: LEFT_UNKNOWN, ..record } }
}

/// What is kept of a meeting: see [`Sync`].
pub(super) struct Record {
    key: u64,
    pub number: u64,
    pub arrived: u64,
    pub left: u64,
    from_key: u64,
    pub from_left: u64,
    library: u64,
    caller: u64,
}

impl Record {
    fn of(sync: &Sync) -> Record {
        let get = |word: &AtomicU64| word.load(Relaxed);
        Record {
            key: get(&sync.key),
            number: get(&sync.number),
            arrived: get(&sync.arrived),
            left: get(&sync.left),
            from_key: get(&sync.from_key),
            from_left: get(&sync.from_left),
            library: get(&sync.library),
            caller: get(&sync.caller),
        }
    }

    /// The number comes last: whoever looks at it sees the rest.
    pub fn write(&self, to: &Sync) {
        to.key.store(self.key, Relaxed);
        to.arrived.store(self.arrived, Relaxed);
        to.left.store(self.left, Relaxed);
        to.from_key.store(self.from_key, Relaxed);
        to.from_left.store(self.from_left, Relaxed);
        to.library.store(self.library, Relaxed);
        to.caller.store(self.caller, Relaxed);
        to.number.store(self.number, Release);
    }
}

/// Makes room: keeps about half of the records, and the longest of the others.
#[cold]
#[inline(never)]
fn thin_out(slot: &Slot) {
    let shift = slot.tables.sync_shift.load(Relaxed) + 1;
    let (mut kept, used) = (0, slot.tables.syncs_used.load(Relaxed) as usize);
    // A reader that looks now sees fewer records, each of them whole.
    slot.tables.syncs_used.store(0, Relaxed);
    for at in 0..used.min(SYNCS) {
        let record = Record::of(&slot.tables.syncs[at]);
        if is_kept(record.number & ((1 << 56) - 1), shift as u32) {
            record.write(&slot.tables.syncs[kept]);
            kept += 1;
        } else {
            longest::offer(slot, &record);
        }
    }
    slot.tables.sync_shift.store(shift, Relaxed);
    slot.tables.syncs_used.store(kept as u64, Relaxed);
}
