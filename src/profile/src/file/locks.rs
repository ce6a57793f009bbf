//! The section of distributed locks, a list. A row: `u8` 0 heap, 1 static object, 255 all that found no room; `u64`
//! offset, times taken, contended, nanoseconds waited, held, held at most, handovers and their nanoseconds.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::tables::Lock;

/// Distributed locks; left out where there were none.
pub(super) const SECTION: Section = Section {
    tag: 21,
    is_there: |d| !d.locks.is_empty(),
    encode: |out, d| encode(out, &d.locks),
    decode: |c, d| {
        d.locks = decode(c)?;
        Ok(())
    },
};

/// Kind of the row of all that found no room.
const OTHERS: u8 = u8::MAX;

fn encode(out: &mut Out, locks: &[Lock]) {
    out.list(locks, |out, lock| {
        let (kind, offset) = lock.object.unwrap_or((OTHERS, 0));
        out.u8(kind);
        let words = [offset, lock.taken, lock.contended, lock.waited_ns, lock.held_ns, lock.max_held_ns];
        words.into_iter().chain([lock.handovers, lock.handover_ns]).for_each(|n| out.u64(n));
    });
}

fn decode(c: &mut Cursor<'_>) -> Result<Vec<Lock>, ReadError> {
    list(c, |c| {
        let kind = c.u8("a lock")?;
        let mut next = || c.u64("a lock");
        let offset = next()?;
        Ok(Lock {
            object: (kind != OTHERS).then_some((kind, offset)),
            taken: next()?,
            contended: next()?,
            waited_ns: next()?,
            held_ns: next()?,
            max_held_ns: next()?,
            handovers: next()?,
            handover_ns: next()?,
        })
    })
}
