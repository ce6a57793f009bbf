//! Meeting.

use super::{Net, Phase, step};
use crate::base::Fault;

/// A dissemination barrier: in round r each member tells the one 2^r places further on that it, and all it has heard of, is
/// there. Returns when every member has called it.
pub fn meet(net: &dyn Net) -> Result<(), Fault> {
    meet_at(net, Phase::First, 0)
}

/// As [`meet`], as a part of another collective.
pub(super) fn meet_at(net: &dyn Net, phase: Phase, part: usize) -> Result<(), Fault> {
    let (me, size) = (net.me(), net.size());
    let mut distance = 1;
    for round in 0.. {
        if distance >= size {
            break;
        }
        let this = step(phase, round, part);
        net.send((me + distance) % size, this, &[])?;
        net.receive((me + size - distance) % size, this, &mut [])?;
        distance *= 2;
    }
    Ok(())
}
