//! Which members share a host, where each knows only those of its own.

use super::net::{stream_in, stream_out};
use super::tree::Tree;
use super::{Buffer, Net, Phase, broadcast_small};
use crate::base::Fault;

/// First members of all hosts, in ascending order. `first_local`: that of this member's.
///
/// Each member says whether it is a first one. A bit a member goes up a tree, and the whole comes down.
pub fn hosts(net: &dyn Net, first_local: usize) -> Result<Vec<u32>, Fault> {
    let (me, size) = (net.me(), net.size());
    let tree = Tree::of(net);
    // Bit i is member me + i's.
    let mut bits = Buffer::new((tree.end() - me).div_ceil(8));
    bits.bytes()[0] = u8::from(first_local == me);
    for (child, end) in tree.children() {
        let (shift, theirs) = (child - me, (end - child).div_ceil(8));
        let bits = bits.bytes();
        stream_in(net, child, Phase::Second, 0, theirs, &mut |at, part| {
            // A branch of 8 members and more begins at a byte; a smaller one has one byte only.
            for (i, byte) in part.iter().enumerate() {
                bits[shift / 8 + at + i] |= byte << (shift % 8);
            }
        })?;
    }
    if let Some(parent) = tree.parent() {
        let bytes = (tree.end() - me).div_ceil(8);
        stream_out(net, parent, Phase::Second, 0, &bits.object(), 0, bytes)?;
        bits = Buffer::new(size.div_ceil(8));
    }
    broadcast_small(net, &bits.object())?;
    let bits = bits.bytes();
    Ok((0..size).filter(|member| bits[member / 8] >> (member % 8) & 1 != 0).map(|member| member as u32).collect())
}
