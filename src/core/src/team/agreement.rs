//! Agreement among the members of a team, of whom some may be lost meanwhile.
//!
//! On one host each member gives a word, in its own sync block, where it outlives the member. Whether a member that is
//! lost has given one is settled by then, since it stores nothing any more; so all others find the same. No member
//! needs more of another than this look, so that one that ends in the middle keeps nobody. The memory of another host
//! is not there to be looked at once that is cut off: teams on several hosts have the launcher's head decide
//! ([`crate::bootstrap::agreement`]).

use super::contribution::Kind;
use super::hierarchical::Hierarchy;
use super::ids::{fold_over_hosts, or};
use super::sync_block::AgreementSlot;
use super::{Team, World, finalizing};
use crate::base::{Cause, Fault};
use crate::bootstrap::agreement::{Agreement, Proposal};
use crate::memory::losses::Losses;
use crate::os::wait;
use std::sync::atomic::Ordering;

/// What an agreement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum For {
    /// Flags.
    Flag,
    /// Who is left.
    Members,
    /// That these are ready for their team.
    Team,
    /// That all come to `shmem_finalize`.
    Finalize,
    /// That all they have sent has come, too.
    Leave,
}

/// In the number of an agreement: what it is for.
const KINDS: u64 = 8;

/// How messages call what an agreement is for.
fn name(what: u64) -> String {
    if what == For::Flag as u64 { "shmemx_agree" } else { "shmemx_team_shrink" }.to_owned()
}

fn mismatch(mine: For, theirs: u64, pe: i32) -> Fault {
    Fault::from(Cause::Mismatch { mine: name(mine as u64), theirs: name(theirs), pe })
}

fn next_number(team: &Team) -> u64 {
    let number = team.progress.agreements.get() + 1;
    team.progress.agreements.set(number);
    number
}

/// The agreement of a team on several hosts, which the launcher makes ([`crate::bootstrap::agreement`]): which members
/// were lost before they gave their words, and the bitwise or of these, the same for all who return.
pub(super) fn by_launcher(
    w: &World,
    losses: &Losses,
    team: &Team,
    what: For,
    words: Vec<u64>,
) -> Result<Agreement, Fault> {
    let number = next_number(team);
    let (group, pes) = (finalizing::group_of(team), team.pes());
    let proposal = Proposal { group, number, what: what as u8, leaves: false, pes, words };
    let outcome = losses.decide(w.map.oversubscribed, proposal)?;
    if let Some(pe) = outcome.left {
        return Err(Fault::from(Cause::Finalizing { pe: pe as i32 }));
    }
    match outcome.kinds.iter().find(|(_, theirs)| *theirs != what as u8) {
        Some((pe, theirs)) => Err(mismatch(what, u64::from(*theirs), *pe as i32)),
        None => Ok(outcome),
    }
}

/// The words of the members that have given one, the same for all who return; `None` for those that were lost before.
///
/// Two slots are enough: a member that gives its next word but one has seen the next of all others, which these gave
/// after they had seen this one.
pub(super) fn exchange(w: &World, team: &Team, what: For, word: u64) -> Result<Vec<Option<u64>>, Fault> {
    let number = next_number(team);
    let slot_of = |member: i32| -> &AgreementSlot { &team.sync_block(member).agreements[(number % 2) as usize] };
    let mine = slot_of(team.me);
    mine.word.store(word, Ordering::Relaxed);
    mine.number.store(number * KINDS + what as u64, Ordering::Release);
    let given_by = |member: i32| {
        let (slot, pe) = (slot_of(member), team.world(member));
        let given = || Some(slot.number.load(Ordering::Acquire)).filter(|theirs| theirs / KINDS == number);
        let theirs = match wait::until_or(w.map.oversubscribed, given, || absent(w, pe)) {
            Ok(theirs) => Some(theirs),
            // It may have come to either after the look at its slot.
            Err(None) => given(),
            Err(Some(fault)) => Some(given().ok_or(fault)?),
        };
        let Some(theirs) = theirs else { return Ok(None) };
        if theirs % KINDS == what as u64 {
            return Ok(Some(slot.word.load(Ordering::Relaxed)));
        }
        Err(mismatch(what, theirs % KINDS, pe))
    };
    (0..team.size).map(given_by).collect()
}

/// The bitwise and of a word of each member, of a team on several hosts, whose members end with each other.
pub(super) fn over_hosts(w: &World, team: &Team, hierarchy: &Hierarchy, word: u64) -> Result<u64, Fault> {
    // What all have is what none lacks.
    Ok(!fold_over_hosts(w, team, hierarchy, (Kind::Agree, [!word]), or)?[0])
}

/// Why a PE gives nothing: a fault where it is in `shmem_finalize`, and nothing but that where it is lost.
fn absent(w: &World, pe: i32) -> Option<Option<Fault>> {
    if w.map.is_lost(pe) {
        return Some(None);
    }
    finalizing::is_finalizing(w, pe).then(|| Some(Fault::from(Cause::Finalizing { pe })))
}
