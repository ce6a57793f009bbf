//! Which algorithms collectives take. Whoever runs them tells of each choice, while the call is recorded.

use std::sync::atomic::Ordering::Relaxed;

use super::hot::bump;
use super::tables::is_mine;
use super::{claim, names, tls};
use crate::segment::layout::{ALGORITHM, MOST_ALGORITHMS, NOT_COUNTED, STATE_INSIDE, Slot, state_of};
use crate::segment::tables::{ALGORITHM_OVERFLOW, ALGORITHMS, AlgorithmRow, PROBES, algorithm_index, algorithm_key};

/// Names of all algorithms, by number. Those beyond the table of the profile have no name.
pub fn algorithm_names(all: impl Iterator<Item = String>) {
    let Some(region) = claim::region() else { return };
    let _ = names::locked(&region.names, |names| {
        names.algorithms.iter().zip(all).for_each(|(row, name)| row.set(&name));
    });
}

/// The call that the thread is in takes this algorithm. Without effect where the call is not recorded, and for threads
/// that have no slot of their own, of which nobody knows what they are in.
#[inline]
pub fn algorithm(number: u8) {
    let Some(slot) = tls::slot() else { return };
    let word = slot.head.current.word.load(Relaxed);
    if state_of(word) != STATE_INSIDE {
        return;
    }
    let later = u64::from(number) + 1;
    if word & NOT_COUNTED != 0 && word >> ALGORITHM & MOST_ALGORITHMS == 0 && later <= MOST_ALGORITHMS {
        return slot.head.current.word.store(word | later << ALGORITHM, Relaxed);
    }
    count(slot, word as u16, number);
}

/// A call of this operation takes this algorithm.
#[inline]
pub(super) fn count(slot: &Slot, op: u16, number: u8) {
    let key = algorithm_key(op, number);
    let first = &slot.tables.algorithms[algorithm_index(key)];
    let row = if first.key.load(Relaxed) == key { first } else { row_of(slot, key) };
    bump(&row.calls, 1);
}

/// Finds or takes the row of a key.
#[cold]
#[inline(never)]
fn row_of(slot: &Slot, key: u64) -> &AlgorithmRow {
    let places = (0..PROBES).map(|k| &slot.tables.algorithms[(algorithm_index(key) + k) & (ALGORITHMS - 1)]);
    places.into_iter().find(|row| is_mine(&row.key, key)).unwrap_or(&slot.tables.algorithms[ALGORITHM_OVERFLOW])
}
