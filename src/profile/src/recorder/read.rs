//! What this process has recorded so far, for the process itself.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::{claim, tls};
use crate::arm;
use crate::model::Routine;
use crate::op;
use crate::segment;
use crate::segment::layout::SLOTS;
use crate::snapshot::{self, Flows};

/// The operation that the calling thread has recorded last: while it is in a call, that one. `None` while nothing is
/// recorded.
pub fn current_op() -> Option<u16> {
    let slot = tls::slot().filter(|_| arm::level() > 0)?;
    Some(slot.head.current.word.load(Relaxed) as u16)
}

/// The numbers of one operation on this PE, all threads together. `None` without a profile, or outside the table.
pub fn read(op: u16) -> Option<Routine> {
    let (region, row) = (claim::region()?, op::get(op)?);
    let ns_per_tick = region.slots[SLOTS].head.clock_mult.load(Relaxed) as f64 / 2_f64.powi(32);
    let overhead_ns = region.head.sample_overhead.load(Relaxed) as f64 / 256.0 * ns_per_tick;
    let mut sum = Routine::new(row.name(), row.class);
    let used = (region.head.slots_used.load(Acquire) as usize).min(SLOTS);
    let shared = (region.head.shared_calls.load(Relaxed) > 0).then_some(&region.slots[SLOTS]);
    for slot in region.slots[..used].iter().chain(shared) {
        if let Some(routine) = snapshot::read_cell(&Flows::of_operation(slot, op), op, slot.cell(op), overhead_ns) {
            sum.merge(&routine);
        }
    }
    Some(sum)
}

/// The file that an address of this process is from, and the address there.
pub fn in_file(address: u64) -> Option<(String, u64)> {
    segment::in_file(claim::region()?, address)
}
