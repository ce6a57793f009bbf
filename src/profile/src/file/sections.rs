//! The sections of a PE file beside those of the PE and its routines: a row each. To add one, write a [`Section`] in a
//! file of this folder, and its row here.
//!
//! Most are lists: `u32` number of rows, then the rows; text is a `u32` length and UTF-8. What a row has and in which
//! order, its function that writes it says.

use super::ReadError;
use super::cursor::Cursor;
use super::{callers, causes, counters, lines, locks, meetings, phases, process, program, rates, traffic, unfinished};
use crate::tables::PeTables;

/// A kind of section.
pub(super) struct Section {
    /// What a reader knows it by. A tag that was in files once is never given to another one.
    pub(super) tag: u32,
    /// Whether there is anything to write.
    pub(super) is_there: fn(&PeTables) -> bool,
    /// Writes it. The order of the fields is the format.
    pub(super) encode: fn(&mut Out, &PeTables),
    /// Reads it into the tables.
    pub(super) decode: fn(&mut Cursor<'_>, &mut PeTables) -> Result<(), ReadError>,
}

/// A section of one number of the tables, which is left out where it is 0. What it is, for people.
macro_rules! number {
    ($tag:literal, $($field:ident).+, $what:literal) => {
        Section {
            tag: $tag,
            is_there: |d| d.$($field).+ > 0,
            encode: |out, d| out.u64(d.$($field).+),
            decode: |c, d| {
                d.$($field).+ = c.u64($what)?;
                Ok(())
            },
        }
    };
}
pub(super) use number;

/// All of them, in the order in which they are written: what one needs of another comes behind it. Tags 1 to 3 and 16
/// are those of the module above.
pub(super) const SECTIONS: [Section; 43] = [
    process::COST,
    traffic::PEERS,
    program::MODULES,
    program::REGIONS,
    program::SITES,
    program::MARKERS,
    meetings::TEAMS,
    meetings::SYNCS,
    traffic::NBI,
    traffic::CONTEXTS,
    counters::SECTION,
    traffic::NETWORK,
    process::SYSTEM,
    phases::SECTION,
    process::TIMELINE,
    causes::SECTION,
    locks::SECTION,
    lines::SECTION,
    traffic::ALGORITHMS,
    process::TRACE,
    program::BUILD_IDS,
    program::REGION_ERROR,
    rates::SECTION,
    callers::SECTION,
    traffic::REQUESTS,
    traffic::ERRORS,
    process::QUEUED,
    process::BESIDE,
    process::QUOTA,
    unfinished::SECTION,
    meetings::LONGEST,
    meetings::CALLERS,
    process::OFF_CORE,
    phases::WAITS,
    process::OUTSIDE,
    process::HELPERS,
    meetings::LONGEST_PHASES,
    process::UNRECORDED,
    program::LEFT_OUT,
    process::QUEUED_BEFORE,
    causes::WORKED_IN,
    process::SCRIPT,
    process::UNRECORDED_SLICES,
];

/// What it takes to write a section. The library has no more of one: what reads it is left out there.
pub(super) struct Writer {
    pub(super) tag: u32,
    is_there: fn(&PeTables) -> bool,
    encode: fn(&mut Out, &PeTables),
}

impl Writer {
    const fn of(section: &Section) -> Writer {
        Writer { tag: section.tag, is_there: section.is_there, encode: section.encode }
    }

    /// What follows tag and length; `None` where there is nothing to say.
    pub(super) fn payload(&self, tables: &PeTables) -> Option<Vec<u8>> {
        let mut out = Out(Vec::new());
        (self.is_there)(tables).then(|| (self.encode)(&mut out, tables))?;
        Some(out.0)
    }
}

/// Those of all sections.
pub(super) static WRITERS: [Writer; SECTIONS.len()] = {
    let mut writers = [const { Writer::of(&process::COST) }; SECTIONS.len()];
    let mut at = 1;
    while at < SECTIONS.len() {
        writers[at] = Writer::of(&SECTIONS[at]);
        at += 1;
    }
    writers
};

/// Reads a section into the tables. Sections of other tags are left alone.
pub(super) fn decode(tag: u32, c: &mut Cursor<'_>, tables: &mut PeTables) -> Result<(), ReadError> {
    SECTIONS.iter().find(|section| section.tag == tag).map_or(Ok(()), |section| (section.decode)(c, tables))
}

/// Reads a list.
pub(super) fn list<'a, T>(
    c: &mut Cursor<'a>,
    mut row: impl FnMut(&mut Cursor<'a>) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let count = c.u32("the number of rows")?;
    // Not reserved at once: a damaged number must not take all memory.
    let mut rows = Vec::new();
    for _ in 0..count {
        rows.push(row(c)?);
    }
    Ok(rows)
}

/// Bytes of a section.
pub(super) struct Out(Vec<u8>);

impl Out {
    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    pub(super) fn list<T>(&mut self, rows: &[T], mut row: impl FnMut(&mut Out, &T)) {
        self.u32(rows.len() as u32);
        rows.iter().for_each(|item| row(self, item));
    }
}
