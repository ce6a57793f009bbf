//! The section of causes of waits, a list. A row: `u64` return address, text routine, `u8` region; `u64` waits and
//! nanoseconds; `u8` whether it is known who ended them, and if so `u32` PE, its place, text region, `u64` nanoseconds
//! outside of and in the library, and both of the waits that were looked at, `u8` whether a wait or meeting came
//! before, and its place. A place: text routine, text file, `u64` address in it.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::tables::{Cause, CodePlace, Releaser};

/// Who ended waits; left out where nobody is known.
pub(super) const SECTION: Section = Section {
    tag: 20,
    is_there: |d| !d.causes.is_empty(),
    encode: |out, d| encode(out, &d.causes),
    decode: |c, d| {
        d.causes = decode(c)?;
        Ok(())
    },
};

/// Where those who ended waits worked: text, the region, for each row of [`SECTION`]; empty where it was in none.
pub(super) const WORKED_IN: Section = Section {
    tag: 45,
    is_there: |d| d.causes.iter().filter_map(|cause| cause.by.as_ref()).any(|by| !by.worked_in.is_empty()),
    encode: |out, d| {
        out.list(&d.causes, |out, cause| out.text(cause.by.as_ref().map_or("", |by| &by.worked_in)));
    },
    decode: |c, d| {
        let regions = list(c, |c| c.text("where who ended a wait worked"))?;
        let by = d.causes.iter_mut().map(|cause| cause.by.as_mut());
        by.zip(regions).for_each(|(by, region)| by.into_iter().for_each(|by| by.worked_in.clone_from(&region)));
        Ok(())
    },
};

fn encode(out: &mut Out, causes: &[Cause]) {
    out.list(causes, |out, cause| {
        out.u64(cause.address);
        out.text(&cause.routine);
        out.u8(cause.region);
        [cause.waits, cause.ns].into_iter().for_each(|n| out.u64(n));
        out.u8(u8::from(cause.by.is_some()));
        let Some(by) = &cause.by else { return };
        out.u32(by.pe);
        put_place(out, &by.place);
        out.text(&by.region);
        [by.work_ns, by.library_ns, by.own_ns].into_iter().for_each(|n| out.u64(n));
        out.u8(u8::from(by.from.is_some()));
        by.from.iter().for_each(|from| put_place(out, from));
    });
}

fn put_place(out: &mut Out, place: &CodePlace) {
    out.text(&place.routine);
    out.text(&place.path);
    out.u64(place.address);
}

fn decode(c: &mut Cursor<'_>) -> Result<Vec<Cause>, ReadError> {
    const WHAT: &str = "the cause of a wait";
    list(c, |c| {
        let (address, routine, region) = (c.u64(WHAT)?, c.text(WHAT)?, c.u8(WHAT)?);
        let (waits, ns) = (c.u64(WHAT)?, c.u64(WHAT)?);
        let by = if c.u8(WHAT)? == 0 { None } else { Some(releaser(c)?) };
        Ok(Cause { address, routine, region, waits, ns, by })
    })
}

fn releaser(c: &mut Cursor<'_>) -> Result<Releaser, ReadError> {
    const WHAT: &str = "who ended a wait";
    let (pe, place, region) = (c.u32(WHAT)?, get_place(c)?, c.text(WHAT)?);
    let (work_ns, library_ns, own_ns) = (c.u64(WHAT)?, c.u64(WHAT)?, c.u64(WHAT)?);
    let from = if c.u8(WHAT)? == 0 { None } else { Some(get_place(c)?) };
    Ok(Releaser { pe, place, region, from, worked_in: String::new(), work_ns, library_ns, own_ns })
}

fn get_place(c: &mut Cursor<'_>) -> Result<CodePlace, ReadError> {
    const WHAT: &str = "a place of the program";
    Ok(CodePlace { routine: c.text(WHAT)?, path: c.text(WHAT)?, address: c.u64(WHAT)? })
}
