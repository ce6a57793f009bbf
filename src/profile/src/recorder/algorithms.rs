//! Which algorithms collectives take. Whoever runs them tells of each choice, while the call is recorded.

use std::sync::atomic::Ordering::Relaxed;

use super::hot::bump;
use super::sites::is_mine;
use super::{claim, names, tls, waits};
use crate::segment::algorithms::{ALGORITHM_OVERFLOW, ALGORITHMS, AlgorithmRow, algorithm_index, algorithm_key};
use crate::segment::layout::{NOT_COUNTED, STATE_INSIDE, Slot, state_of};
use crate::segment::sites::PROBES;

/// Names of all algorithms, by number. Those beyond the table of the profile have no name.
pub fn algorithm_names(all: impl Iterator<Item = String>) {
    let Some(region) = claim::region() else { return };
    let _ = names::locked(&region.names, |names| {
        names.algorithms.iter().zip(all).for_each(|(row, name)| row.set(&name));
    });
}

/// The call that the thread is in takes this algorithm. Nobody waits now for what it does: a call that is not counted
/// yet is counted. Without effect where the call is not recorded, and for threads that have no slot of their own, of
/// which nobody knows what they are in.
#[inline]
pub fn algorithm(number: u8) {
    let Some(slot) = tls::slot() else { return };
    let word = slot.head.current.word.load(Relaxed);
    if state_of(word) != STATE_INSIDE {
        return;
    }
    if word & NOT_COUNTED != 0 {
        return waits::count(slot, Some(number));
    }
    count(slot, word as u16, number);
}

/// A call of this operation takes this algorithm. Gives the row in which it is counted.
#[inline]
pub(super) fn count(slot: &Slot, op: u16, number: u8) -> &AlgorithmRow {
    let key = algorithm_key(op, number);
    let first = algorithm_index(key);
    let at = if slot.tables.algorithms[first].key.load(Relaxed) == key { first } else { row_of(slot, key) };
    let row = &slot.tables.algorithms[at];
    bump(&row.calls, 1);
    row
}

/// Finds or takes the row of a key.
#[cold]
#[inline(never)]
fn row_of(slot: &Slot, key: u64) -> usize {
    let mut places = (0..PROBES).map(|k| (algorithm_index(key) + k) & (ALGORITHMS - 1));
    places.find(|&at| is_mine(&slot.tables.algorithms[at].key, key)).unwrap_or(ALGORITHM_OVERFLOW)
}
