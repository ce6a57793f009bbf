//! A PE's values in the job file: behind the slots, so that a job without a network never touches their pages.

use super::talk::{KEY_BYTES, VALUE_BYTES};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Values that a PE can have.
const PAIRS: usize = 8;

/// One value. Written by its PE before a fence, read by others after it.
#[repr(C)]
struct Pair {
    /// Bytes of the value plus 1, written last; 0: no value.
    filled: AtomicU32,
    key_bytes: AtomicU32,
    key: [AtomicU8; KEY_BYTES],
    value: [AtomicU8; VALUE_BYTES],
}

/// The values of a PE.
#[repr(C)]
pub(super) struct KeyValues([Pair; PAIRS]);

impl KeyValues {
    /// Adds a value, or writes one anew. False: there is no room.
    pub(super) fn put(&self, key: &str, value: &[u8]) -> bool {
        let own = self.0.iter().find(|pair| pair.is(key));
        let Some(pair) = own.or_else(|| self.0.iter().find(|pair| pair.filled.load(Ordering::Acquire) == 0)) else {
            return false;
        };
        pair.key_bytes.store(key.len() as u32, Ordering::Relaxed);
        let store = |cells: &[AtomicU8], bytes: &[u8]| {
            cells.iter().zip(bytes).for_each(|(cell, byte)| cell.store(*byte, Ordering::Relaxed));
        };
        store(&pair.key, key.as_bytes());
        store(&pair.value, value);
        pair.filled.store(value.len() as u32 + 1, Ordering::Release);
        true
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let pair = self.0.iter().find(|pair| pair.is(key))?;
        let bytes = pair.filled.load(Ordering::Acquire) as usize - 1;
        Some(pair.value.iter().take(bytes).map(|byte| byte.load(Ordering::Relaxed)).collect())
    }
}

impl Pair {
    fn is(&self, key: &str) -> bool {
        self.filled.load(Ordering::Acquire) != 0
            && self.key_bytes.load(Ordering::Relaxed) as usize == key.len()
            && self.key.iter().zip(key.bytes()).all(|(cell, byte)| cell.load(Ordering::Relaxed) == byte)
    }
}
