//! Whether several threads of any PE of the job may be in the library at a time (Section 9.2).

use std::sync::atomic::{AtomicBool, Ordering};

static SEVERAL: AtomicBool = AtomicBool::new(false);

/// Sets whether they may: a PE has `SHMEM_THREAD_MULTIPLE`. All PEs say the same.
pub fn set_several(several: bool) {
    SEVERAL.store(several, Ordering::Relaxed);
}

/// Whether they may.
pub fn are_several() -> bool {
    SEVERAL.load(Ordering::Relaxed)
}
