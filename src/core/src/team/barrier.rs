//! How the members of a team meet.

use super::members::Members;
use crate::base::Fault;
use crate::base::word::Word;
use std::sync::atomic::Ordering;

/// Members that each member tells in a round of [`dissemination`]. Three stores to three members are under way
/// together, so that a round takes hardly longer than one store, and there are half as many rounds.
const PARTNERS: i32 = 3;

/// A dissemination barrier: in round r each member tells those 1, 2 and 3 times 4^r places further on that it, and all
/// it has heard of, is there. Returns when every member has called it; what a member stored before is visible to all
/// after.
///
/// Members wait on words of their own sync block only, so a sync block can be cleaned as soon as its owner has left.
///
/// `meanwhile` is done once this member has told another one that it is here, and before it waits.
#[inline]
pub fn dissemination<M: Members>(members: &M, meanwhile: impl FnOnce()) -> Result<(), Fault> {
    let (me, size) = (members.me(), members.size());
    let number = members.progress().next_barrier();
    let (mut distance, mut word, mut meanwhile) = (1, 0, Some(meanwhile));
    while distance < size {
        let told = PARTNERS.min((size - 1) / distance);
        for one in 0..told {
            let ahead = me + (one + 1) * distance;
            let partner = if ahead >= size { ahead - size } else { ahead };
            members.told(partner, word + one as usize).store(number, Ordering::Release);
        }
        if let Some(meanwhile) = meanwhile.take() {
            meanwhile();
        }
        for one in 0..told {
            let mine = members.told(me, word + one as usize);
            members.until(|| (mine.load(Ordering::Acquire) >= number).then_some(()))?;
        }
        word += PARTNERS as usize;
        distance = distance.saturating_mul(PARTNERS + 1);
    }
    if let Some(meanwhile) = meanwhile {
        meanwhile();
    }
    Ok(())
}

/// A barrier of one round: each member shows that it is there and looks at all others. Words take turns, so that a
/// member that comes to the next barrier does not write to what others look at still. `meanwhile` as in
/// [`dissemination`].
#[inline]
pub fn flat<M: Members>(members: &M, meanwhile: impl FnOnce()) -> Result<(), Fault> {
    let (me, size) = (members.me(), members.size());
    let number = members.progress().next_barrier();
    members.arrival(me, number).store(number, Ordering::Release);
    meanwhile();
    for other in (me + 1..size).chain(0..me) {
        let theirs = members.arrival(other, number);
        if theirs.load(Ordering::Acquire) < number {
            members.until(|| (theirs.load(Ordering::Acquire) >= number).then_some(()))?;
        }
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
        members.tell(0, released);
    }
    meanwhile();
    if is_last {
        return Ok(());
    }
    members.until_told(0, released, |now| now != before)
}
