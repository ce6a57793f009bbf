//! Meeting.

use super::{Net, Phase, step};
use crate::base::Fault;

/// A dissemination barrier: in round r each member tells the one 2^r places further on that it, and all it has heard
/// of, is there. Returns when every member has called it.
pub async fn dissemination(net: &dyn Net) -> Result<(), Fault> {
    dissemination_at(net, Phase::First, 0).await
}

/// As [`dissemination`], as a part of another collective.
pub(super) async fn dissemination_at(net: &dyn Net, phase: Phase, part: usize) -> Result<(), Fault> {
    let (me, size) = (net.me(), net.size());
    let mut distance = 1;
    for round in 0.. {
        if distance >= size {
            break;
        }
        let this = step(phase, round, part);
        net.send((me + distance) % size, this, &[])?;
        net.receive((me + size - distance) % size, this, &mut []).await?;
        distance *= 2;
    }
    Ok(())
}
