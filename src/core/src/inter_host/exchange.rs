//! Something else for every member: in one message each, or passed on by others in few.

use super::net::parts;
use super::{Buffer, Net, Object, PART, Phase, step};
use crate::base::Fault;
use std::ops::Range;

/// Sends `bytes` bytes to each member but those in `but`, and takes as many from each, in messages.
/// `pack(member, at, part)` gives what goes to a member, `unpack` takes what comes from one.
pub async fn exchange(
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
                net.receive(from, step(Phase::First, 0, i), part).await?;
                unpack(from, range.start, part);
            }
        }
    }
    Ok(())
}

/// Gives every member the block of `bytes` bytes at its number in `source`, and takes one from each into `dest`. A
/// block whose way is d members goes by the powers of two that d is made of, together with all others that go so: log n
/// messages, where [`exchange`] sends n, each with half of all blocks.
pub async fn exchange_passing(net: &dyn Net, dest: &Object, source: &Object, bytes: usize) -> Result<(), Fault> {
    let (me, size) = (net.me(), net.size());
    // Block d of `under_way` has d members to go, or has come as far.
    let mut under_way = Buffer::new(bytes * size);
    let blocks = under_way.object();
    for distance in 0..size {
        blocks.copy_from(distance * bytes, &source.part((me + distance) % size * bytes, bytes));
    }
    let mut packed = Buffer::new(bytes * size.div_ceil(2));
    for (round, distance) in (0..).map(|round| (round, 1usize << round)).take_while(|(_, distance)| *distance < size) {
        let moving = || (0..size).filter(|block| block & distance != 0).enumerate();
        let all = packed.object();
        moving().for_each(|(i, block)| all.copy_from(i * bytes, &blocks.part(block * bytes, bytes)));
        let total = moving().count() * bytes;
        let (to, from) = ((me + distance) % size, (me + size - distance) % size);
        for (i, range) in parts(total) {
            net.send(to, step(Phase::First, round, i), &packed.bytes()[range])?;
        }
        for (i, range) in parts(total) {
            net.receive(from, step(Phase::First, round, i), &mut packed.bytes()[range]).await?;
        }
        let all = packed.object();
        moving().for_each(|(i, block)| blocks.copy_from(block * bytes, &all.part(i * bytes, bytes)));
    }
    for distance in 0..size {
        dest.copy_from((me + size - distance) % size * bytes, &blocks.part(distance * bytes, bytes));
    }
    Ok(())
}

/// Messages that [`exchange_passing`] takes.
pub fn messages_passing(size: usize, bytes: usize) -> usize {
    (size.next_power_of_two().ilog2() as usize) * (size.div_ceil(2) * bytes).div_ceil(PART)
}
