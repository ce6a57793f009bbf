//! A child of `fork` gets a private copy of the data pages, which its parent shares with the other PEs.
#![allow(unsafe_code)]

use crate::base::Fault;
use crate::os::elf::Range;
use crate::os::{cpu, fork, futex, mmap};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The parent goes on without its child's copy after this long: the child was ended, or the fork failed.
const PATIENCE: Duration = Duration::from_secs(1);

struct Copy {
    fd: i32,
    offset: usize,
    range: Range,
    /// In shared memory: set by the child when its copy is complete.
    copied: &'static AtomicU32,
}

static COPY: OnceLock<Copy> = OnceLock::new();
/// One fork at a time: the gate is one word.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Registers the handlers for data pages that show `fd` from `offset` at `range`.
pub(super) fn arm(fd: i32, offset: usize, range: Range) -> Result<(), Fault> {
    let page = mmap::memfd(c"pellucid-fork")?;
    let raw = std::os::fd::AsRawFd::as_raw_fd(&page);
    mmap::grow(raw, mmap::PAGE)?;
    let word = mmap::shared(raw, 0, mmap::PAGE, None)?;
    // SAFETY: a zeroed page that stays mapped for the life of the process.
    let copied = unsafe { &*word.cast::<AtomicU32>() };
    if COPY.set(Copy { fd, offset, range, copied }).is_ok() {
        fork::handlers(before, in_parent, in_child);
    }
    Ok(())
}

extern "C" fn before() {
    while FORKING.swap(true, Ordering::Acquire) {
        cpu::yield_now();
    }
    if let Some(copy) = COPY.get() {
        copy.copied.store(0, Ordering::Release);
    }
}

/// The parent must not write its data pages while the child copies them.
extern "C" fn in_parent() {
    if let Some(copy) = COPY.get() {
        let start = Instant::now();
        while copy.copied.load(Ordering::Acquire) == 0 && start.elapsed() < PATIENCE {
            futex::wait(copy.copied, 0, PATIENCE);
        }
    }
    FORKING.store(false, Ordering::Release);
}

extern "C" fn in_child() {
    if let Some(copy) = COPY.get() {
        let Range { start, end, .. } = copy.range;
        // SAFETY: the range is the shared mapping made at start-up, inherited by this child, and only this thread runs
        // in it.
        let _ = unsafe { mmap::replace_private(copy.fd, copy.offset, start, end - start) };
        copy.copied.store(1, Ordering::Release);
        futex::wake_all(copy.copied);
    }
    FORKING.store(false, Ordering::Release);
}
