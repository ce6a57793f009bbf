//! Threads of the program: whether several of any PE of the job may be in the library at a time (Section 9.2), and
//! numbers to tell them apart.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static SEVERAL: AtomicBool = AtomicBool::new(false);

/// Sets whether they may: a PE has `SHMEM_THREAD_MULTIPLE`. All PEs say the same.
pub fn set_several(several: bool) {
    SEVERAL.store(several, Ordering::Relaxed);
}

/// Whether they may.
pub fn are_several() -> bool {
    SEVERAL.load(Ordering::Relaxed)
}

thread_local! {
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// A number of the calling thread, from 1 on.
pub fn number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    NUMBER.with(|own| {
        if own.get() == 0 {
            own.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        }
        own.get()
    })
}
