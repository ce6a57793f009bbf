//! The section of who called the functions that call the library, a list. A row: `u64` address of the call site, text
//! routine, `u8` region, a list of `u64` addresses that the callers return to, innermost first, `u64` times.

use super::ReadError;
use super::cursor::Cursor;
use super::tables::{Out, list};
use crate::tables::Callers;

pub(super) fn encode(out: &mut Out, callers: &[Callers]) {
    out.list(callers, |out, row| {
        out.u64(row.address);
        out.text(&row.routine);
        out.0.push(row.region);
        out.list(&row.returns, |out, &address| out.u64(address));
        out.u64(row.times);
    });
}

pub(super) fn decode(c: &mut Cursor<'_>) -> Result<Vec<Callers>, ReadError> {
    const WHAT: &str = "who called";
    list(c, |c| {
        let (address, routine, region) = (c.u64(WHAT)?, c.text(WHAT)?, c.u8(WHAT)?);
        Ok(Callers { address, routine, region, returns: list(c, |c| c.u64(WHAT))?, times: c.u64(WHAT)? })
    })
}
