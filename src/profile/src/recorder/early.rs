//! Pages of the profile's memory that nearly every program meets. Each takes the system some time at its first use,
//! which would be in the first calls of routines: a PE makes them while it begins.

use crate::pages;
use crate::segment::layout::{ROW_OVERFLOW, Slot};

/// Routines that a program calls, most often. Their rows are given out in the order of first calls.
const ROUTINES: u32 = 16;

/// Makes the pages of the slot that the first thread takes. Where there is no memory for them, they come as they are
/// met.
pub(super) fn make(slot: &Slot) {
    pages::populate_around(&slot.tables.lines);
    pages::populate_around(&slot.tables.rates);
    pages::populate_around(&slot.tables.look);
    for number in 1..=ROUTINES {
        pages::populate_around(&slot.row(ROW_OVERFLOW + number).max_ns);
    }
}
