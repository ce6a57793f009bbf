//! The meeting of a team: a dissemination barrier. In round r each member tells the one 2^r places further on that it, and
//! all it has heard of, is there.
//!
//! Members wait on words of their own area only, so an area can be cleaned as soon as its owner has left.

use super::Team;
use crate::os::wait;
use std::sync::atomic::Ordering;

/// Returns when every member has called it. What a member stored before is visible to all after.
pub fn meet(team: &Team, crowded: bool) {
    let number = team.progress.barriers.get() + 1;
    team.progress.barriers.set(number);
    let mine = team.mine();
    let mut distance = 1;
    for round in 0.. {
        if distance >= team.size {
            break;
        }
        let ahead = team.me + distance;
        let partner = if ahead >= team.size { ahead - team.size } else { ahead };
        team.area(partner).rounds[round].0.store(number, Ordering::Release);
        wait::until(crowded, || (mine.rounds[round].0.load(Ordering::Acquire) >= number).then_some(()));
        distance *= 2;
    }
}
