//! The section of who called the functions that call the library, a list. A row: `u64` address of the call site, text
//! routine, `u8` region, a list of `u64` addresses that the callers return to, innermost first, `u64` times.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::tables::Callers;

/// Who called the functions that call the library; left out where nobody is known.
pub(super) const SECTION: Section = Section {
    tag: 28,
    is_there: |d| !d.callers.is_empty(),
    encode: |out, d| encode(out, &d.callers),
    decode: |c, d| {
        d.callers = decode(c)?;
        Ok(())
    },
};

fn encode(out: &mut Out, callers: &[Callers]) {
    out.list(callers, |out, row| {
        out.u64(row.address);
        out.text(&row.routine);
        out.u8(row.region);
        out.list(&row.returns, |out, &address| out.u64(address));
        out.u64(row.times);
    });
}

fn decode(c: &mut Cursor<'_>) -> Result<Vec<Callers>, ReadError> {
    const WHAT: &str = "who called";
    list(c, |c| {
        let (address, routine, region) = (c.u64(WHAT)?, c.text(WHAT)?, c.u8(WHAT)?);
        Ok(Callers { address, routine, region, returns: list(c, |c| c.u64(WHAT))?, times: c.u64(WHAT)? })
    })
}
