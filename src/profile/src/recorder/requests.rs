//! Requests: how long each was under way, and how much of that the program waited for it. And errors by their codes.

use std::sync::atomic::Ordering::Relaxed;

use super::hot::{bump, ticks};
use super::{claim, tls};
use crate::arm;
use crate::segment::layout::ERRORS;
use crate::segment::tables::REQUESTS;

/// The time on the calling thread's clock; 0 where nothing is recorded. A thread of the library's own, in which
/// requests come to their ends too, has no slot: the clock of all slots then.
pub fn request_time() -> u64 {
    if arm::level() <= 0 {
        return 0;
    }
    tls::slot().or_else(claim::shared).map_or(0, |slot| ticks(&slot.head))
}

/// A request is ended that was under way for `open` ticks, of which the program waited `waited`, at the end for `last`.
/// `routine` began it: its number plus 1.
pub fn request_ended(routine: u32, open: u64, waited: u64, last: Option<u32>) {
    let Some(slot) = tls::slot().filter(|_| arm::level() > 0) else { return };
    slot.tables.waited.last_pe.store(last.map_or(0, |pe| u64::from(pe) + 1), Relaxed);
    let rows = &slot.tables.requests;
    let tag = u64::from(routine);
    let known = |row: &&crate::segment::tables::RequestRow| {
        let own = row.routine.load(Relaxed);
        own == tag || row.ended.load(Relaxed) == 0
    };
    let row = rows[..REQUESTS].iter().find(known).unwrap_or(&rows[REQUESTS]);
    row.routine.store(tag, Relaxed);
    bump(&row.open_ticks, open);
    bump(&row.waited_ticks, waited.min(open));
    bump(&row.ended, 1);
}

/// Counts an error of a call whose result does not tell of it.
#[cold]
pub fn error_of(op: u16) {
    if arm::level() > 0 {
        super::error(op);
    }
}

/// Counts an error, by its code in `shmemx.h`.
#[cold]
pub fn error_code(code: i32) {
    if let Some(region) = claim::region()
        && arm::level() > 0
    {
        region.head.errors[(code.unsigned_abs() as usize).min(ERRORS - 1)].fetch_add(1, Relaxed);
    }
}
