//! The section of how fast puts, gets and atomics were, a list. A row: text routine, `u8` size class, distance, `u64`
//! calls, nanoseconds, calls that were looked at more closely, page faults, calls beside those of others, calls that
//! lost their core.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::size::{DISTANCES, SIZE_CLASSES};
use crate::tables::Rate;

/// How fast puts, gets and atomics were; left out where there were none.
pub(super) const SECTION: Section = Section {
    tag: 27,
    is_there: |d| !d.rates.is_empty(),
    encode: |out, d| encode(out, &d.rates),
    decode: |c, d| {
        d.rates = decode(c)?;
        Ok(())
    },
};

fn encode(out: &mut Out, rates: &[Rate]) {
    out.list(rates, |out, rate| {
        out.text(&rate.routine);
        [rate.class, rate.distance].into_iter().for_each(|n| out.u8(n));
        let numbers = [rate.calls, rate.ns, rate.looks, rate.faults, rate.busy, rate.preempted];
        numbers.into_iter().for_each(|n| out.u64(n));
    });
}

fn decode(c: &mut Cursor<'_>) -> Result<Vec<Rate>, ReadError> {
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
