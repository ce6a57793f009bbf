//! A PE's cards in the job file: behind the slots, so that a job without a network never touches their pages.

use super::talk::{CARD, KEY};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Cards that a PE can have.
const CARDS: usize = 8;

/// One card. Written by its PE before a fence, read by others after it.
#[repr(C)]
struct Card {
    /// Bytes of the value plus 1, written last; 0: no card.
    filled: AtomicU32,
    key_bytes: AtomicU32,
    key: [AtomicU8; KEY],
    value: [AtomicU8; CARD],
}

/// The cards of a PE.
#[repr(C)]
pub(super) struct Cards([Card; CARDS]);

impl Cards {
    /// Adds a card, or writes one anew. False: there is no room.
    pub(super) fn put(&self, key: &str, value: &[u8]) -> bool {
        let own = self.0.iter().find(|card| card.is(key));
        let Some(card) = own.or_else(|| self.0.iter().find(|card| card.filled.load(Ordering::Acquire) == 0)) else {
            return false;
        };
        card.key_bytes.store(key.len() as u32, Ordering::Relaxed);
        let store = |cells: &[AtomicU8], bytes: &[u8]| {
            cells.iter().zip(bytes).for_each(|(cell, byte)| cell.store(*byte, Ordering::Relaxed));
        };
        store(&card.key, key.as_bytes());
        store(&card.value, value);
        card.filled.store(value.len() as u32 + 1, Ordering::Release);
        true
    }

    /// A card's value.
    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let card = self.0.iter().find(|card| card.is(key))?;
        let bytes = card.filled.load(Ordering::Acquire) as usize - 1;
        Some(card.value.iter().take(bytes).map(|byte| byte.load(Ordering::Relaxed)).collect())
    }
}

impl Card {
    fn is(&self, key: &str) -> bool {
        self.filled.load(Ordering::Acquire) != 0
            && self.key_bytes.load(Ordering::Relaxed) as usize == key.len()
            && self.key.iter().zip(key.bytes()).all(|(cell, byte)| cell.load(Ordering::Relaxed) == byte)
    }
}
