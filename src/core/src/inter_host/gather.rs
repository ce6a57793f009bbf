//! Every member's block for all members.

use super::net::{parts, step};
use super::{Net, Object, PART, Phase};
use crate::base::Fault;
use std::ops::Range;

/// How blocks travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// In messages: what a member sends may wait for its receiver in the receiver's memory.
    Messages,
    /// By puts to where they belong, once the receiver is in the call.
    Puts,
}

/// Gathers blocks, which lie one after the other in `dest`: member i's at `offset(i)..offset(i + 1)`. This member's own
/// is read from `source`, at the same place; so are, if `source` is `dest`, those that it passes on.
///
/// In the round of distance d a member has the d blocks that end with its own and sends them to the member d places on.
///
/// `first_has_all`: nothing is sent to member 0, whose `source` holds everything.
pub async fn gather(
    net: &dyn Net,
    dest: &Object,
    source: &Object,
    offset: &dyn Fn(usize) -> usize,
    by: By,
    first_has_all: bool,
) -> Result<(), Fault> {
    let (me, size) = (net.me(), net.size());
    let ready = if first_has_all { Phase::Third } else { Phase::First };
    let full = |member: usize| first_has_all && member == 0;
    let rounds = || (0..).map(|round| (round, 1usize << round)).take_while(|(_, distance)| *distance < size);
    if by == By::Puts && !full(me) {
        for (round, distance) in rounds() {
            net.send((me + size - distance) % size, step(ready, round, 0), &[])?;
        }
    }
    for (round, distance) in rounds() {
        let count = distance.min(size - distance);
        let (to, from) = ((me + distance) % size, (me + size - distance) % size);
        if !full(to) {
            let out = blocks(me, count, size, offset);
            match by {
                By::Messages => send(net, to, round, source, &out).await?,
                By::Puts => {
                    net.receive(to, step(ready, round, 0), &mut []).await?;
                    for range in &out {
                        net.put(to, dest, range.start, source, range.start, range.len())?;
                    }
                    net.settle().await?;
                    net.send(to, step(Phase::Fourth, round, 0), &[])?;
                }
            }
        }
        if !full(me) {
            match by {
                By::Messages => receive(net, from, round, dest, &blocks(from, count, size, offset)).await?,
                By::Puts => net.receive(from, step(Phase::Fourth, round, 0), &mut []).await?,
            }
        }
    }
    Ok(())
}

/// Where the `count` blocks lie that end with a member's: one range, or two around the end.
fn blocks(last: usize, count: usize, size: usize, offset: &dyn Fn(usize) -> usize) -> Vec<Range<usize>> {
    let ranges = if last + 1 >= count {
        [offset(last + 1 - count)..offset(last + 1), 0..0]
    } else {
        [offset(size + last + 1 - count)..offset(size), 0..offset(last + 1)]
    };
    ranges.into_iter().filter(|range| !range.is_empty()).collect()
}

async fn send(net: &dyn Net, to: usize, round: usize, data: &Object, ranges: &[Range<usize>]) -> Result<(), Fault> {
    let mut part = vec![0u8; PART];
    for (i, range) in numbered(ranges) {
        let part = &mut part[..range.len()];
        data.read(range.start, part);
        net.send(to, step(Phase::First, round, i), part)?;
    }
    Ok(())
}

async fn receive(
    net: &dyn Net,
    from: usize,
    round: usize,
    data: &Object,
    ranges: &[Range<usize>],
) -> Result<(), Fault> {
    let mut part = vec![0u8; PART];
    for (i, range) in numbered(ranges) {
        let part = &mut part[..range.len()];
        net.receive(from, step(Phase::First, round, i), part).await?;
        data.write(range.start, part);
    }
    Ok(())
}

/// Parts of ranges, as both ends count them; an empty one where there is nothing, since a member also tells by it that
/// it is there.
fn numbered(ranges: &[Range<usize>]) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
    let all = ranges
        .iter()
        .flat_map(|range| parts(range.len()).map(move |(_, part)| range.start + part.start..range.start + part.end));
    all.chain(ranges.is_empty().then_some(0..0)).enumerate()
}
