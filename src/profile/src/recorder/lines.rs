//! Which lines of which PE short calls go to: at samples only.

use std::sync::atomic::Ordering::Relaxed;

use super::hot::bump;
use crate::op::{TRANSFER, traits};
use crate::segment::layout::Slot;
use crate::segment::lines::{Line, WAYS, key, set};

/// A sample of a call to `peer` stands for `weight` calls that take `ns` together.
pub(super) fn note(slot: &Slot, op: u16, peer: i32, weight: u64, ns: u64) {
    let Ok(peer) = u32::try_from(peer) else { return };
    if traits(op) & TRANSFER == 0 {
        return;
    }
    let address = slot.tables.look.addr.load(Relaxed);
    let key = key(peer, address);
    let first = set(key, op);
    let rows = &slot.tables.lines[first..first + WAYS];
    let is_it = |row: &&Line| row.key.load(Relaxed) == key && row.op.load(Relaxed) == u64::from(op);
    let row = rows.iter().find(is_it).unwrap_or_else(|| {
        let least = rows.iter().min_by_key(|row| row.calls.load(Relaxed)).unwrap_or(&rows[0]);
        least.error.store(least.calls.load(Relaxed), Relaxed);
        least.ns.store(0, Relaxed);
        least.samples.store(0, Relaxed);
        least.op.store(op.into(), Relaxed);
        least.key.store(key, Relaxed);
        least
    });
    row.address.store(address, Relaxed);
    bump(&row.calls, weight);
    bump(&row.ns, ns);
    bump(&row.samples, 1);
}
