//! A 64-bit word that PEs share.
//!
//! The lock-free parts of the library (barriers, contributions, locks) are written over this trait, so that a model
//! checker can run the same code on words of its own (`tests/model.rs`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What the lock-free parts do to a word; as the functions of [`AtomicU64`].
#[allow(missing_docs)]
pub trait Word {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    /// Wraps; gives the value before.
    fn fetch_add(&self, value: u64, order: Ordering) -> u64;
    /// Puts `new` where `current` stands; whether it did. A failure acquires.
    fn replace(&self, current: u64, new: u64, order: Ordering) -> bool;
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }

    #[inline(always)]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        AtomicU64::fetch_add(self, value, order)
    }

    #[inline(always)]
    fn replace(&self, current: u64, new: u64, order: Ordering) -> bool {
        self.compare_exchange(current, new, order, Ordering::Acquire).is_ok()
    }
}

/// A word of half the width, as the kernel waits on: what is stored keeps its lower half.
impl Word for AtomicU32 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU32::load(self, order).into()
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU32::store(self, value as u32, order);
    }

    #[inline(always)]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        AtomicU32::fetch_add(self, value as u32, order).into()
    }

    #[inline(always)]
    fn replace(&self, current: u64, new: u64, order: Ordering) -> bool {
        self.compare_exchange(current as u32, new as u32, order, Ordering::Acquire).is_ok()
    }
}
