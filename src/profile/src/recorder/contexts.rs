//! Recording by context.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::hot::bump;
use super::sites::is_mine;
use super::tls;
use crate::arm;
use crate::op::{TRANSFER, TRANSFER_SHIFT, traits};
use crate::segment::layout::Slot;
use crate::segment::names::ContextTeam;
use crate::segment::peers::{CONTEXTS, TRANSFERS};

/// The program made a context on a team: number of the context, then number, first PE, stride and size of the team.
pub fn context_made(handle: usize, id: usize, (start, stride, size): (i32, i32, i32)) {
    let Some(region) = super::claim::region() else { return };
    let _ = super::names::locked(&region.names, |names| {
        let free = |row: &&ContextTeam| row.handle.load(Relaxed) == 0 || row.handle.load(Relaxed) == handle as u64;
        if let Some(row) = names.contexts.iter().find(free) {
            row.start.store(start, Relaxed);
            row.stride.store(stride, Relaxed);
            row.size.store(size, Relaxed);
            row.id.store(id as u32, Relaxed);
            row.handle.store(handle as u64, Release);
        }
    });
}

/// What the team of a context is, for people; empty where it is not known.
pub(crate) fn team_of(handle: u64) -> String {
    let Some(region) = super::claim::region_unchecked() else { return String::new() };
    let world = region.slots[crate::segment::layout::SLOTS].tables.teams[0].size.load(Relaxed);
    if handle == 1 {
        return format!("world: {world} PEs");
    }
    let row = region.names.contexts.iter().find(|row| handle != 0 && row.handle.load(Acquire) == handle);
    let Some(row) = row else { return String::new() };
    let get = |word: &std::sync::atomic::AtomicI32| word.load(Relaxed);
    let (start, stride, size) = (get(&row.start), get(&row.stride), get(&row.size));
    let name = match row.id.load(Relaxed) {
        0 if size == world => return format!("world: {world} PEs"),
        1 => "shared".to_owned(),
        id => format!("team {id}"),
    };
    if stride == 1 {
        format!("{name}: {size} PEs from PE {start} on")
    } else {
        format!("{name}: {size} PEs from PE {start} on, every {stride}")
    }
}

/// The call at hand is on the default context, whose number this is.
#[inline]
pub fn context_default(handle: usize) {
    if let Some(slot) = tls::slot() {
        slot.tables.context.store(handle as u64, Relaxed);
    }
}

/// Where the calls of an operation are counted in the row of a context: a kind of transfer, or behind them.
#[inline(always)]
pub const fn context_column(op: u16) -> usize {
    let traits = traits(op);
    if traits & TRANSFER != 0 { (traits >> TRANSFER_SHIFT & 3) as usize } else { TRANSFERS }
}

/// Counts a call on a context that the program made. In a profile of counts only it is left for the trace alone.
#[inline(never)]
pub fn context(column: usize, handle: usize, bytes: usize) {
    let Some(slot) = tls::slot() else { return };
    slot.tables.context.store(handle as u64, Relaxed);
    if arm::counts_only() || arm::level() <= 0 {
        return;
    }
    let [last, at] = &slot.tables.context_last;
    if last.load(Relaxed) == handle as u64 {
        count_on_context(slot, at.load(Relaxed) as usize, column, bytes);
    } else {
        another_context(slot, column, handle, bytes);
    }
}

/// As [`context`], where the one before was another.
#[cold]
#[inline(never)]
fn another_context(slot: &Slot, column: usize, handle: usize, bytes: usize) {
    count_on_context(slot, context_row(slot, handle), column, bytes);
}

#[inline(always)]
fn count_on_context(slot: &Slot, at: usize, column: usize, bytes: usize) {
    let row = &slot.tables.contexts[at % CONTEXTS];
    if let Some(kind) = row.kinds.get(column) {
        bump(&kind.calls, 1);
        bump(&kind.bytes, bytes as u64);
    } else {
        bump(&row.orders, 1);
    }
}

/// Finds or takes the row of a context.
fn context_row(slot: &Slot, handle: usize) -> usize {
    let rows = &slot.tables.contexts[..CONTEXTS - 1];
    let at = rows.iter().position(|row| is_mine(&row.handle, handle as u64)).unwrap_or(CONTEXTS - 1);
    let [last, last_at] = &slot.tables.context_last;
    last_at.store(at as u64, Relaxed);
    last.store(handle as u64, Relaxed);
    at
}
