//! Whether several threads of a PE may be in the library at a time (Section 9.2).

use std::sync::atomic::{AtomicBool, Ordering};

static SEVERAL: AtomicBool = AtomicBool::new(false);

/// Sets whether they may: `SHMEM_THREAD_MULTIPLE`.
pub fn set_several(several: bool) {
    SEVERAL.store(several, Ordering::Relaxed);
}

/// Whether they may.
pub fn are_several() -> bool {
    SEVERAL.load(Ordering::Relaxed)
}
