//! Calls that begin without a stamp ([`super::waits`]) and, mostly, have nothing after them: waits for a word, and
//! collectives on a team that the thread has called one on before, whose row is known. Other PEs wait for whoever is
//! late by what is recorded.

use super::{meetings, tls, waits};
use crate::op::{Operation, TIMED_IF_WAITS};
use crate::segment::layout::Slot;
use crate::segment::meetings::TeamRow;

/// The calling thread, and the team of a collective.
#[derive(Clone, Copy)]
pub struct KnownCaller {
    slot: &'static Slot,
    team: Option<&'static TeamRow>,
    peer: i32,
}

/// The thread alone: of a call that no team makes.
#[inline(always)]
pub fn thread_again() -> Option<KnownCaller> {
    Some(KnownCaller { slot: tls::slot()?, team: None, peer: -1 })
}

/// The team of all PEs.
#[inline(always)]
pub fn world_again() -> Option<KnownCaller> {
    let slot = tls::slot()?;
    Some(KnownCaller { slot, team: Some(&slot.tables.teams[0]), peer: -1 })
}

/// The team with this handle, where the thread has had a collective on it since the last of `made` teams was made.
#[inline(always)]
pub fn team_again(handle: usize, made: u64) -> Option<KnownCaller> {
    let last = tls::recent()?.team(handle);
    if last.handle.get() == handle && last.made.get() == made { last.known.get() } else { None }
}

/// The team with this handle, the `made` teams so far among them, has this `peer` in records.
pub fn note_team(handle: usize, made: u64, peer: i32) {
    let (Some(slot), Some(recent)) = (tls::slot(), tls::recent()) else { return };
    let last = recent.team(handle);
    last.handle.set(handle);
    last.made.set(made);
    last.known.set(Some(KnownCaller { slot, team: Some(&slot.tables.teams[meetings::team_at(peer)]), peer }));
}

/// Begins a call. False: it takes more, which is left to [`super::outlined::timed`]; else [`leave`] ends it.
#[inline(always)]
pub fn begin(op: impl Operation, known: KnownCaller, addr: usize, bytes: usize) -> bool {
    let KnownCaller { slot, team, peer } = known;
    op.traits() & TIMED_IF_WAITS != 0 && waits::begin_on(slot, team, op, (peer, addr, bytes))
}

/// Ends it.
#[inline(always)]
pub fn leave(op: impl Operation, known: KnownCaller) {
    waits::leave(op, 0, known.peer);
}
