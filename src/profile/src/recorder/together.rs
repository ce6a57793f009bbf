//! Collectives on a team that the thread has called one on before: they begin without a search and without a stamp, and
//! mostly have nothing after them. Whoever comes late is waited for by all.

use super::{tables, tls, waits};
use crate::op::{Operation, TIMED_IF_WAITS};
use crate::segment::layout::Slot;
use crate::segment::tables::TeamRow;

/// A team whose row is known.
#[derive(Clone, Copy)]
pub struct KnownTeam {
    slot: &'static Slot,
    row: &'static TeamRow,
    peer: i32,
}

/// The team of all PEs.
#[inline(always)]
pub fn world_again() -> Option<KnownTeam> {
    let slot = tls::slot()?;
    Some(KnownTeam { slot, row: &slot.tables.teams[0], peer: -1 })
}

/// The team with this handle, where the thread has had a collective on it since the last of `made` teams was made.
#[inline(always)]
pub fn team_again(handle: usize, made: u64) -> Option<KnownTeam> {
    let last = tls::recent()?.team(handle);
    if last.handle.get() == handle && last.made.get() == made { last.team.get() } else { None }
}

/// The team with this handle, the `made` teams so far among them, has this `peer` in records.
pub fn note_team(handle: usize, made: u64, peer: i32) {
    let (Some(slot), Some(recent)) = (tls::slot(), tls::recent()) else { return };
    let last = recent.team(handle);
    last.handle.set(handle);
    last.made.set(made);
    last.team.set(Some(KnownTeam { slot, row: &slot.tables.teams[tables::team_at(peer)], peer }));
}

/// Begins a collective. False: it takes more, which is left to [`super::outlined::timed`]; else [`leave`] ends it.
#[inline(always)]
pub fn begin(op: impl Operation, team: KnownTeam, addr: usize, bytes: usize) -> bool {
    let KnownTeam { slot, row, peer } = team;
    op.traits() & TIMED_IF_WAITS != 0 && waits::begin_on(slot, Some(row), op, (peer, addr, bytes))
}

/// Ends it.
#[inline(always)]
pub fn leave() {
    waits::leave_unstamped();
}
