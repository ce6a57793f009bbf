//! The section of how fast puts, gets and atomics were, a list. A row: text routine, `u8` size class, distance, `u64`
//! calls, nanoseconds, calls that were looked at more closely, page faults, calls beside those of others, calls that
//! lost their core.

use super::ReadError;
use super::cursor::Cursor;
use super::tables::{Out, list};
use crate::size::{DISTANCES, SIZE_CLASSES};
use crate::tables::Rate;

pub(super) fn encode(out: &mut Out, rates: &[Rate]) {
    out.list(rates, |out, rate| {
        out.text(&rate.routine);
        out.0.extend([rate.class, rate.distance]);
        let numbers = [rate.calls, rate.ns, rate.looks, rate.faults, rate.busy, rate.preempted];
        numbers.into_iter().for_each(|n| out.u64(n));
    });
}

pub(super) fn decode(c: &mut Cursor<'_>) -> Result<Vec<Rate>, ReadError> {
    const WHAT: &str = "how fast calls were";
    list(c, |c| {
        let (routine, class, distance) = (c.text(WHAT)?, c.u8(WHAT)?, c.u8(WHAT)?);
        if usize::from(class) >= SIZE_CLASSES || usize::from(distance) >= DISTANCES {
            return Err(c.corrupt(format!("{routine} has size class {class} at distance {distance}")));
        }
        let mut next = || c.u64(WHAT);
        let (calls, ns, looks, faults, busy, preempted) = (next()?, next()?, next()?, next()?, next()?, next()?);
        Ok(Rate { routine, class, distance, calls, ns, looks, faults, busy, preempted })
    })
}
