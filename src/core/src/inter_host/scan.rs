//! Prefixes.

use super::dissemination::dissemination_at;
use super::net::{AHEAD, parts, step};
use super::{Buffer, Fold, Net, Object, PART, Phase};
use crate::base::Fault;

/// Combines the elements of all members before this one into `before`; member 0's is left as it is. `mine` is not
/// changed.
///
/// In the round of distance d a member hands on the combination of the d contributions that end with its own.
pub async fn exscan(net: &dyn Net, mine: &Object, before: &Object, fold: Fold) -> Result<(), Fault> {
    let (me, size) = (net.me(), net.size());
    let (mut theirs, mut again, mut with_mine) = {
        let part = || Buffer::new(mine.len().min(PART));
        (part(), part(), part())
    };
    let with_mine = with_mine.object();
    for (i, range) in parts(mine.len()) {
        if i > 0 && i.is_multiple_of(AHEAD) {
            // Data goes one way only: without this the first members would be done before the last have begun.
            dissemination_at(net, Phase::Credit, i).await?;
        }
        with_mine.copy_from(0, &mine.part(range.start, range.len()));
        let theirs = &mut theirs.bytes()[..range.len()];
        let again = &mut again.bytes()[..range.len()];
        for (round, distance) in (0..).map(|round| (round, 1usize << round)).take_while(|(_, d)| *d < size) {
            let this = step(Phase::First, round, i);
            if me + distance < size {
                with_mine.read(0, again);
                net.send(me + distance, this, again)?;
            }
            if me >= distance {
                net.receive(me - distance, this, theirs).await?;
                again.copy_from_slice(theirs);
                if round == 0 {
                    before.write(range.start, theirs);
                } else {
                    before.fold(range.start, theirs, true, fold);
                }
                with_mine.fold(0, again, true, fold);
            }
        }
    }
    Ok(())
}
