//! Something else for every member.

use super::net::parts;
use super::{Buffer, Net, PART, Phase, step};
use crate::base::Fault;
use std::ops::Range;

/// Sends `bytes` bytes to each member but those in `but`, and takes as many from each, in messages. `pack(member, at, part)`
/// gives what goes to a member, `unpack` takes what comes from one.
pub fn exchange(
    net: &dyn Net,
    but: Range<usize>,
    bytes: usize,
    pack: &mut dyn FnMut(usize, usize, &mut [u8]),
    unpack: &mut dyn FnMut(usize, usize, &[u8]),
) -> Result<(), Fault> {
    let (me, size) = (net.me(), net.size());
    let mut buffer = Buffer::new(bytes.min(PART));
    for distance in 1..size {
        let (to, from) = ((me + distance) % size, (me + size - distance) % size);
        if !but.contains(&to) {
            for (i, range) in parts(bytes) {
                let part = &mut buffer.bytes()[..range.len()];
                pack(to, range.start, part);
                net.send(to, step(Phase::First, 0, i), part)?;
            }
        }
        if !but.contains(&from) {
            for (i, range) in parts(bytes) {
                let part = &mut buffer.bytes()[..range.len()];
                net.receive(from, step(Phase::First, 0, i), part)?;
                unpack(from, range.start, part);
            }
        }
    }
    Ok(())
}
