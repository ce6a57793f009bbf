//! The section of hardware and software counters. The order of the fields here is the format.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::tables::{Counter, CounterRegion, CounterRoutine, Counters};

/// Hardware and software counters; left out where none was asked for.
pub(super) const SECTION: Section = Section {
    tag: 14,
    is_there: |d| !d.counters.list.is_empty(),
    encode: |out, d| encode(out, &d.counters),
    decode: |c, d| {
        d.counters = decode(c)?;
        Ok(())
    },
};

/// The counters, then what they counted by routine and by region: a value of each counter, in the order of the list.
fn encode(out: &mut Out, counters: &Counters) {
    out.list(&counters.list, |out, c| {
        out.text(&c.name);
        out.u8(u8::from(c.available));
        out.text(&c.remark);
        [c.total, c.wanted_ns, c.counted_ns].into_iter().for_each(|n| out.u64(n));
    });
    out.list(&counters.routines, |out, r| {
        out.text(&r.routine);
        out.u64(r.calls);
        r.values.iter().for_each(|&n| out.u64(n));
    });
    out.list(&counters.regions, |out, r| {
        out.u8(r.region);
        r.values.iter().chain(&r.library).for_each(|&n| out.u64(n));
    });
}

/// Reads it.
fn decode(c: &mut Cursor<'_>) -> Result<Counters, ReadError> {
    const WANTED: &str = "a counter";
    let counters = list(c, |c| {
        let (name, available, remark) = (c.text(WANTED)?, c.u8(WANTED)? != 0, c.text(WANTED)?);
        let (total, wanted_ns, counted_ns) = (c.u64(WANTED)?, c.u64(WANTED)?, c.u64(WANTED)?);
        Ok(Counter { name, available, remark, total, wanted_ns, counted_ns })
    })?;
    let count = counters.len();
    let values = |c: &mut Cursor<'_>| -> Result<Vec<u64>, ReadError> { (0..count).map(|_| c.u64(WANTED)).collect() };
    let routines =
        list(c, |c| Ok(CounterRoutine { routine: c.text(WANTED)?, calls: c.u64(WANTED)?, values: values(c)? }))?;
    let regions = list(c, |c| Ok(CounterRegion { region: c.u8(WANTED)?, values: values(c)?, library: values(c)? }))?;
    Ok(Counters { list: counters, routines, regions })
}
