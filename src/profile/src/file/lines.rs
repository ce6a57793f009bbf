//! The section of lines that short calls go to, a list. A row: `u32` peer, `u8` 0 heap, 1 static object, `u64` offset,
//! text routine, `u64` calls, nanoseconds.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::tables::HotLine;

/// Words that short calls go to; left out where there were none.
pub(super) const SECTION: Section = Section {
    tag: 22,
    is_there: |d| !d.lines.is_empty(),
    encode: |out, d| encode(out, &d.lines),
    decode: |c, d| {
        d.lines = decode(c)?;
        Ok(())
    },
};

fn encode(out: &mut Out, lines: &[HotLine]) {
    out.list(lines, |out, line| {
        out.u32(line.peer);
        out.u8(line.object.0);
        out.u64(line.object.1);
        out.text(&line.routine);
        [line.calls, line.ns].into_iter().for_each(|n| out.u64(n));
    });
}

fn decode(c: &mut Cursor<'_>) -> Result<Vec<HotLine>, ReadError> {
    const WHAT: &str = "a line that calls go to";
    list(c, |c| {
        let (peer, object) = (c.u32(WHAT)?, (c.u8(WHAT)?, c.u64(WHAT)?));
        Ok(HotLine { peer, object, routine: c.text(WHAT)?, calls: c.u64(WHAT)?, ns: c.u64(WHAT)? })
    })
}
