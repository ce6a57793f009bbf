//! One member's data for all: member 0 is the root.

use super::gather::{By, gather};
use super::net::{parts, step};
use super::tree::Tree;
use super::{Net, Object, PART, Phase};
use crate::base::Fault;

/// Bytes that are put at a time: what a member has of the data it passes on while the rest is under way.
const SEGMENT: usize = 256 << 10;
/// Blocks begin at multiples of a cache line.
const LINE: usize = 64;

/// Small data goes down a binomial tree in messages. `data`: what is given at the root, what is written elsewhere.
pub async fn broadcast_small(net: &dyn Net, data: &Object) -> Result<(), Fault> {
    let tree = Tree::of(net);
    let mut part = vec![0u8; PART];
    for (i, range) in parts(data.len()) {
        let (this, part) = (step(Phase::First, 0, i), &mut part[..range.len()]);
        match tree.parent() {
            None => data.read(range.start, part),
            Some(parent) => {
                net.receive(parent, this, part).await?;
                data.write(range.start, part);
            }
        }
        for (child, _) in tree.children() {
            net.send(child, this, part)?;
        }
    }
    Ok(())
}

/// Data goes down a binomial tree by puts into `dest`, segment by segment. `source` is the root's; elsewhere it is
/// `dest`.
pub async fn broadcast_puts(net: &dyn Net, dest: &Object, source: &Object) -> Result<(), Fault> {
    let tree = Tree::of(net);
    ready(net, &tree).await?;
    let bytes = source.len();
    // With two members nobody passes anything on.
    let segment = if net.size() > 2 { SEGMENT } else { bytes.max(1) };
    for (i, at) in (0..bytes).step_by(segment).enumerate() {
        let this_step = step(Phase::Second, 0, i);
        let len = segment.min(bytes - at);
        if let Some(parent) = tree.parent() {
            net.receive(parent, this_step, &mut []).await?;
        }
        for (child, _) in tree.children() {
            net.put(child, dest, at, source, at, len)?;
        }
        net.settle().await?;
        for (child, _) in tree.children() {
            net.send(child, this_step, &[])?;
        }
    }
    Ok(())
}

/// Nobody writes to a member before it is in the call.
async fn ready(net: &dyn Net, tree: &Tree) -> Result<(), Fault> {
    let this_step = step(Phase::First, 0, 0);
    if let Some(parent) = tree.parent() {
        net.send(parent, this_step, &[])?;
    }
    for (child, _) in tree.children() {
        net.receive(child, this_step, &mut []).await?;
    }
    Ok(())
}

/// Each member gets a block of the data, by halves down a binomial tree, then all gather the blocks: a member sends
/// about twice the data, however many members there are, where a tree makes the root send it log n times.
pub async fn broadcast_scatter(net: &dyn Net, dest: &Object, source: &Object) -> Result<(), Fault> {
    let tree = Tree::of(net);
    ready(net, &tree).await?;
    let (bytes, size) = (source.len(), net.size());
    let lines = bytes.div_ceil(LINE) as u128;
    let offset = move |member: usize| bytes.min((lines * member as u128 / size as u128) as usize * LINE);
    let this_step = step(Phase::Second, 0, 0);
    if let Some(parent) = tree.parent() {
        net.receive(parent, this_step, &mut []).await?;
    }
    for (child, end) in tree.children() {
        let at = offset(child);
        net.put(child, dest, at, source, at, offset(end) - at)?;
        net.settle().await?;
        net.send(child, this_step, &[])?;
    }
    gather(net, dest, source, &offset, By::Puts, true).await
}
