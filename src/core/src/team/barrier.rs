//! How the members of a team meet.

use super::members::Members;
use crate::base::Fault;
use crate::base::word::Word;
use std::sync::atomic::Ordering;

/// A dissemination barrier: in round r each member tells the one 2^r places further on that it, and all it has heard
/// of, is there. Returns when every member has called it; what a member stored before is visible to all after.
///
/// Members wait on words of their own sync block only, so a sync block can be cleaned as soon as its owner has left.
///
/// `meanwhile` is done once this member has told another one that it is here, and before it waits.
#[inline]
pub fn dissemination<M: Members>(members: &M, meanwhile: impl FnOnce()) -> Result<(), Fault> {
    let (me, size) = (members.me(), members.size());
    let number = members.progress().next_barrier();
    let (mut distance, mut meanwhile) = (1, Some(meanwhile));
    for round in 0.. {
        if distance >= size {
            break;
        }
        let ahead = me + distance;
        let partner = if ahead >= size { ahead - size } else { ahead };
        members.round(partner, round).store(number, Ordering::Release);
        if let Some(meanwhile) = meanwhile.take() {
            meanwhile();
        }
        let mine = members.round(me, round);
        members.until(|| (mine.load(Ordering::Acquire) >= number).then_some(()))?;
        distance *= 2;
    }
    if let Some(meanwhile) = meanwhile {
        meanwhile();
    }
    Ok(())
}

/// A counting barrier, for where PEs outnumber cores: members count themselves in on PE 0's sync block and the last one
/// lets all go. Each member has to run twice only, however many there are; a dissemination barrier makes it run once a
/// round. `meanwhile` as there.
#[inline]
pub fn central_counter<M: Members>(members: &M, meanwhile: impl FnOnce()) -> Result<(), Fault> {
    members.progress().next_barrier();
    let (arrived, released) = members.hub();
    let before = released.load(Ordering::Acquire);
    let is_last = (arrived.fetch_add(1, Ordering::AcqRel) + 1).is_multiple_of(members.size() as u64);
    if is_last {
        released.store(before + 1, Ordering::Release);
    }
    meanwhile();
    if is_last {
        return Ok(());
    }
    members.until(|| (released.load(Ordering::Acquire) != before).then_some(()))
}
