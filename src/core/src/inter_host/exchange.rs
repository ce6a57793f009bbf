//! Something else for every member: in one message each, or passed on by others in few.

use super::net::{parts, until};
use super::{Buffer, Net, Object, PART, Phase, step};
use crate::base::Fault;
use std::ops::Range;

/// A receiver answers the first of so many parts, and its sender goes on behind them then: more than in a stream,
/// since all members are in this together, and where they share cores the answer comes late.
const AHEAD: usize = 64;

/// Sends `bytes` bytes to each member but those in `but`, and takes as many from each, in messages.
/// `pack(member, at, part)` gives what goes to a member, `unpack` takes what comes from one. Parts go out some way
/// ahead of those that their receiver has taken, and no further: who is late in the call, or slow, need not have room
/// for all.
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
        let mut out = parts(bytes).filter(|_| !but.contains(&to)).peekable();
        let mut coming = parts(bytes).filter(|_| !but.contains(&from)).peekable();
        let mut answered = 0;
        loop {
            while let Some((i, range)) = out.next_if(|(i, _)| *i < answered + AHEAD) {
                let part = &mut buffer.bytes()[..range.len()];
                pack(to, range.start, part);
                net.send(to, step(Phase::First, 0, i), part)?;
            }
            let (waits, next) = (out.peek().is_some(), coming.peek().cloned());
            if !waits && next.is_none() {
                break;
            }
            let length = next.as_ref().map_or(0, |(_, range)| range.len());
            let part = &mut buffer.bytes()[..length];
            let mut may_send = false;
            // Whichever comes first: where all wait, what one of them needs may be the next one's answer or its part.
            until(|| {
                may_send = waits && net.try_receive(to, step(Phase::Credit, 0, answered), &mut [])?;
                let Some((i, _)) = next.as_ref().filter(|_| !may_send) else { return Ok(may_send) };
                net.try_receive(from, step(Phase::First, 0, *i), part)
            })
            .await?;
            if may_send {
                answered += AHEAD;
            } else if let Some((i, range)) = coming.next() {
                if i.is_multiple_of(AHEAD) && (i + AHEAD) * PART < bytes {
                    net.send(from, step(Phase::Credit, 0, i), &[])?;
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::HashMap;
    use std::pin::Pin;
    use std::task::{Context, Waker};

    /// Messages that have come and were not taken: by receiver, sender and step.
    type Mail = RefCell<HashMap<(usize, usize, u32), Vec<u8>>>;

    struct Member<'a> {
        me: usize,
        size: usize,
        mail: &'a Mail,
    }

    impl Net for Member<'_> {
        fn me(&self) -> usize {
            self.me
        }
        fn size(&self) -> usize {
            self.size
        }
        fn send(&self, to: usize, step: u32, payload: &[u8]) -> Result<(), Fault> {
            assert!(self.mail.borrow_mut().insert((to, self.me, step), payload.to_vec()).is_none());
            Ok(())
        }
        fn try_receive(&self, from: usize, step: u32, into: &mut [u8]) -> Result<bool, Fault> {
            let message = self.mail.borrow_mut().remove(&(self.me, from, step));
            message.iter().for_each(|message| into.copy_from_slice(message));
            Ok(message.is_some())
        }
        fn put(&self, _: usize, _: &Object, _: usize, _: &Object, _: usize, _: usize) -> Result<(), Fault> {
            unreachable!("all goes in messages")
        }
        fn start_get(&self, _: usize, _: &Object, _: usize, _: &mut [u8]) -> Result<bool, Fault> {
            unreachable!("all goes in messages")
        }
        fn is_settled(&self) -> Result<bool, Fault> {
            Ok(true)
        }
    }

    /// What the part at a place is made of that a member gives another one.
    fn byte(from: usize, to: usize, at: usize) -> u8 {
        (from * 31 + to * 7 + at / PART) as u8
    }

    async fn take_part(net: &Member<'_>, but: Range<usize>, bytes: usize) -> Result<(), Fault> {
        let (me, mut got) = (net.me, 0);
        let mut pack = |to, at, part: &mut [u8]| part.fill(byte(me, to, at));
        let mut unpack = |from, at, part: &[u8]| {
            let ends = part.first().into_iter().chain(part.last());
            assert!({ ends }.all(|end| *end == byte(from, me, at)), "{from} to {me} at {at}");
            got += part.len();
        };
        let others = net.size - but.len();
        exchange(net, but, bytes, &mut pack, &mut unpack).await?;
        assert_eq!(got, others * bytes);
        Ok(())
    }

    /// Every member in its turn, the first of them `late` turns later than the others. Gives how many messages waited
    /// at most for one member of another one.
    fn run(size: usize, host: usize, bytes: usize, late: usize) -> usize {
        let mail = Mail::default();
        let members: Vec<_> = (0..size).map(|me| Member { me, size, mail: &mail }).collect();
        let but = |me: usize| me / host * host..size.min((me / host + 1) * host);
        let mut parts: Vec<Option<Pin<Box<_>>>> =
            members.iter().map(|member| Some(Box::pin(take_part(member, but(member.me), bytes)))).collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut most = 0;
        for turn in 0.. {
            assert!(turn < 10_000 + late, "the members wait for each other");
            for (me, part) in parts.iter_mut().enumerate() {
                let runs = me > 0 || turn >= late;
                if runs && part.as_mut().is_some_and(|part| part.as_mut().poll(&mut context).is_ready()) {
                    *part = None;
                }
            }
            let mut waiting = HashMap::new();
            mail.borrow().keys().for_each(|(to, from, _)| *waiting.entry((*to, *from)).or_insert(0) += 1);
            most = waiting.into_values().fold(most, usize::max);
            if parts.iter().all(Option::is_none) {
                assert!(mail.borrow().is_empty());
                return most;
            }
        }
        most
    }

    #[test]
    fn all_blocks_arrive_and_no_member_has_to_keep_many_parts() {
        for (size, host) in [(2, 1), (3, 1), (4, 2), (5, 2), (7, 3)] {
            for parts in [0, 1, AHEAD - 1, AHEAD, AHEAD + 1, 2 * AHEAD, 5 * AHEAD + 3] {
                for (bytes, late) in [(parts * PART, 0), (parts * PART + 1, 0), (parts * PART, 500)] {
                    let most = run(size, host, bytes, late);
                    assert!(most <= 2 * AHEAD, "{most} messages of {bytes} bytes for one of {size} members");
                }
            }
        }
    }
}
