//! Reductions whose result all members get.
//!
//! Members are combined in a tree of neighbours: 0 with 1, then pairs with pairs. Of a number that is no power of two,
//! the first members pair up beforehand. Both algorithms build the same tree, so they give the same bits.

use super::net::{AHEAD, parts, step, stream_in, stream_out};
use super::{Buffer, Fold, Net, Object, PART, Phase};
use crate::base::Fault;

/// Bytes that are read from another member at a time.
const SEGMENT: usize = 256 << 10;

/// A member's place among the largest power of two of members.
struct Place {
    /// Members that pair up beforehand, two each.
    pairs: usize,
    /// Power of two.
    actors: usize,
    /// Number among the actors; `None` for those whose partner acts for them.
    number: Option<usize>,
}

impl Place {
    fn of(net: &dyn Net) -> Self {
        let (me, size) = (net.me(), net.size());
        let actors = 1 << size.ilog2();
        let pairs = size - actors;
        let number = if me >= 2 * pairs { Some(me - pairs) } else { (me % 2 == 1).then_some(me / 2) };
        Self { pairs, actors, number }
    }

    /// The member behind an actor.
    fn member(&self, actor: usize) -> usize {
        if actor < self.pairs { 2 * actor + 1 } else { actor + self.pairs }
    }

    /// Who acts for this member, or for whom it acts.
    fn partner(&self, me: usize) -> Option<usize> {
        (me < 2 * self.pairs).then_some(me ^ 1)
    }

    /// Distances of the rounds, the nearest first.
    fn rounds(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + ExactSizeIterator {
        (0..self.actors.ilog2() as usize).map(|round| (round, 1 << round))
    }
}

/// Recursive doubling: in each round a member swaps all it has with another. Few messages; for small data.
pub async fn fold_doubling(net: &dyn Net, data: &Object, fold: Fold) -> Result<(), Fault> {
    let (me, bytes) = (net.me(), data.len());
    let place = Place::of(net);
    let Some(number) = place.number else {
        stream_out(net, me + 1, Phase::Third, 0, data, 0, bytes).await?;
        return stream_in(net, me + 1, Phase::Fourth, 0, bytes, &mut |at, part| data.write(at, part)).await;
    };
    let partner = place.partner(me);
    if let Some(partner) = partner {
        stream_in(net, partner, Phase::Third, 0, bytes, &mut |at, part| data.fold(at, part, true, fold)).await?;
    }
    let mut buffer = Buffer::new(bytes.min(PART));
    for (round, distance) in place.rounds() {
        let other = number ^ distance;
        swap(net, place.member(other), round, data, &mut buffer, other < number, fold).await?;
    }
    match partner {
        Some(partner) => stream_out(net, partner, Phase::Fourth, 0, data, 0, bytes).await,
        None => Ok(()),
    }
}

/// Swaps all data with another member and combines. Parts go out some way ahead of those that come in, and no further.
async fn swap(
    net: &dyn Net,
    with: usize,
    round: usize,
    data: &Object,
    buffer: &mut Buffer,
    left: bool,
    fold: Fold,
) -> Result<(), Fault> {
    let mut part = vec![0u8; PART];
    let mut out = parts(data.len());
    let mut send_next = || match out.next() {
        Some((i, range)) => {
            let part = &mut part[..range.len()];
            data.read(range.start, part);
            net.send(with, step(Phase::First, round, i), part)
        }
        None => Ok(()),
    };
    (0..AHEAD).try_for_each(|_| send_next())?;
    for (i, range) in parts(data.len()) {
        let theirs = &mut buffer.bytes()[..range.len()];
        net.receive(with, step(Phase::First, round, i), theirs).await?;
        data.fold(range.start, theirs, left, fold);
        send_next()?;
    }
    Ok(())
}

/// Recursive halving: in each round a member combines half of what it is left with, reading its partner's, until each
/// has a share of the result; then the shares are put together the same way back. Each member moves about twice the
/// data, however many there are. `data` is symmetric.
pub async fn fold_halving(net: &dyn Net, data: &Object, fold: Fold) -> Result<(), Fault> {
    let me = net.me();
    let place = Place::of(net);
    let send_token = |to, phase, round| net.send(to, step(phase, round, 0), &[]);
    let Some(number) = place.number else {
        send_token(me + 1, Phase::Third, 0)?;
        return receive_token(net, me + 1, Phase::Fourth, 0).await;
    };
    let mut buffer = Buffer::new(data.len().min(SEGMENT));
    let partner = place.partner(me);
    if let Some(partner) = partner {
        receive_token(net, partner, Phase::Third, 0).await?;
        read_and_fold(net, partner, data, 0..data.len(), &mut buffer, true, fold).await?;
    }
    let mut mine = 0..data.len() / fold.elem;
    let bytes = |range: &std::ops::Range<usize>| range.start * fold.elem..range.end * fold.elem;
    let mut before = Vec::with_capacity(place.rounds().len());
    for (round, distance) in place.rounds() {
        let other = number ^ distance;
        let middle = mine.start.midpoint(mine.end);
        before.push(mine.clone());
        mine = if number < other { mine.start..middle } else { middle..mine.end };
        // What the partner reads is final here; nobody but the partner touches it until the way back.
        send_token(place.member(other), Phase::First, round)?;
        receive_token(net, place.member(other), Phase::First, round).await?;
        read_and_fold(net, place.member(other), data, bytes(&mine), &mut buffer, other < number, fold).await?;
    }
    for (round, distance) in place.rounds().rev() {
        let to = place.member(number ^ distance);
        // The partner gave this range away in the same round before, and knows that it was read when it comes back.
        let range = bytes(&mine);
        net.put(to, data, range.start, data, range.start, range.len())?;
        net.settle().await?;
        send_token(to, Phase::Second, round)?;
        receive_token(net, to, Phase::Second, round).await?;
        mine = before.pop().unwrap_or(mine);
    }
    if let Some(partner) = partner {
        net.put(partner, data, 0, data, 0, data.len())?;
        net.settle().await?;
        send_token(partner, Phase::Fourth, 0)?;
    }
    Ok(())
}

async fn receive_token(net: &dyn Net, from: usize, phase: Phase, round: usize) -> Result<(), Fault> {
    net.receive(from, step(phase, round, 0), &mut []).await
}

async fn read_and_fold(
    net: &dyn Net,
    from: usize,
    data: &Object,
    range: std::ops::Range<usize>,
    buffer: &mut Buffer,
    left: bool,
    fold: Fold,
) -> Result<(), Fault> {
    let step = SEGMENT / fold.elem * fold.elem;
    for at in range.clone().step_by(step) {
        let theirs = &mut buffer.bytes()[..step.min(range.end - at)];
        net.get(from, data, at, theirs).await?;
        data.fold(at, theirs, left, fold);
    }
    Ok(())
}
