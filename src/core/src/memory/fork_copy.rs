//! A child of `fork` gets a private copy of the data pages, which its parent shares with the other PEs.
#![allow(unsafe_code)]

use crate::base::Fault;
use crate::os::elf::Range;
use crate::os::own_fd::Known;
use crate::os::{cpu, fork, futex, hold, mmap, process};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The parent goes on after this long where no child has begun with its copy: the fork may have failed.
const PATIENCE: Duration = Duration::from_secs(1);
/// From one look at whether the child is alive to the next.
const LOOK: Duration = Duration::from_millis(20);

/// [`Copy::state`]: the child is about to copy, and holds its byte for as long as it does.
const BEGUN: u32 = 1;
/// Its copy is complete.
const COPIED: u32 = 2;

struct Copy {
    fd: Known,
    /// Parts of the file: where each begins, and the pages that show it.
    parts: Vec<(usize, Range)>,
    /// In shared memory: how far the child is.
    state: &'static AtomicU32,
}

impl Copy {
    /// The byte of the file by which the parent sees that its child is alive: of a page that no other PE has.
    fn byte(&self) -> usize {
        self.parts.first().map_or(0, |(offset, _)| *offset)
    }
}

static COPY: OnceLock<Copy> = OnceLock::new();
/// One fork at a time: the gate is one word.
static FORKING: AtomicBool = AtomicBool::new(false);
/// Set in a forked child, whose data pages are private already: its own children get copies of them by the kernel.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// What there is to copy, where this is no forked child.
fn shared() -> Option<&'static Copy> {
    if IN_CHILD.load(Ordering::Relaxed) { None } else { COPY.get() }
}

/// Registers what is done around forks: before the program registers handlers of its own. Handlers in the child run in
/// the order in which they were registered, and these make its copy of the data pages, to which the others may store.
pub fn register() {
    fork::handlers(before, in_parent, in_child);
}

/// From here on the data pages show parts of `fd`: where each begins, and the pages.
pub(super) fn arm(fd: Known, parts: Vec<(usize, Range)>) -> Result<(), Fault> {
    let page = mmap::memfd(c"pellucid-fork")?;
    let raw = page.as_raw_fd();
    mmap::grow(raw, mmap::page())?;
    let word = mmap::shared(raw, 0, mmap::page(), None)?;
    // SAFETY: a zeroed page that stays mapped for the life of the process.
    let state = unsafe { &*word.cast::<AtomicU32>() };
    let _ = COPY.set(Copy { fd, parts, state });
    Ok(())
}

extern "C" fn before() {
    // Whoever moves the pages is not in the child.
    hold::wait();
    let Some(copy) = shared() else { return };
    while FORKING.swap(true, Ordering::Acquire) {
        cpu::yield_now();
    }
    copy.state.store(0, Ordering::Release);
}

/// The parent must not write its data pages while the child copies them.
extern "C" fn in_parent() {
    let Some(copy) = shared() else { return };
    let start = Instant::now();
    loop {
        let state = copy.state.load(Ordering::Acquire);
        let is_expected = match state {
            0 => fork::has_child() && start.elapsed() < PATIENCE,
            // It may have come to its end since the state was read.
            BEGUN => {
                fork::is_byte_held(copy.fd.as_raw_fd(), copy.byte()) || copy.state.load(Ordering::Acquire) == COPIED
            }
            _ => false,
        };
        if !is_expected {
            break;
        }
        futex::wait(copy.state, state, LOOK);
    }
    FORKING.store(false, Ordering::Release);
}

extern "C" fn in_child() {
    let Some(copy) = shared() else { return };
    if fork::hold_byte(copy.fd.as_raw_fd(), copy.byte()) {
        copy.state.store(BEGUN, Ordering::Release);
    }
    let replaced = copy.parts.iter().try_for_each(|&(offset, Range { start, end, .. })| {
        // SAFETY: the range is the shared mapping made at start-up, inherited by this child, and only this thread runs
        // in it.
        unsafe { mmap::replace_private(copy.fd.as_raw_fd(), offset, start, end - start) }
    });
    copy.state.store(COPIED, Ordering::Release);
    futex::wake_all(copy.state);
    fork::release_byte(copy.fd.as_raw_fd(), copy.byte());
    if let Err(refused) = replaced {
        give_up(&refused);
    }
    // Not before: in a static program these lie in the range, and would be the parent's.
    FORKING.store(false, Ordering::Release);
    IN_CHILD.store(true, Ordering::Relaxed);
}

/// Ends a child that would store into its parent's objects. Nothing is allocated: in a static program the state of the
/// allocator is the parent's still.
fn give_up(refused: &mmap::Refused) -> ! {
    let mut text = [0; 256];
    let mut room = &mut text[..];
    let _ = writeln!(
        room,
        "pellucid: a forked child ends: it gets no copy of its parent's variables: {}: error {}",
        refused.what, refused.error
    );
    let left = room.len();
    process::write_bytes(&text[..text.len() - left]);
    process::exit_now(1)
}
