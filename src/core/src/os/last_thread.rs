//! The end of a process whose main thread ends alone (`pthread_exit` in `main`): it has to end with the last thread of
//! the program, as by `exit(0)` (POSIX, `pthread_exit`). The system's own rule counts the library's threads, too.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use super::{process, thread};

/// Threads of the library's own that were asked for.
static BEGUN: AtomicUsize = AtomicUsize::new(0);
/// Those of them that the system has made, or has refused to make.
static MADE: AtomicUsize = AtomicUsize::new(0);
/// Those of them that have ended, or were refused.
static ENDED: AtomicUsize = AtomicUsize::new(0);
/// Threads that a library has started for this one: their numbers in the kernel.
static ADOPTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
/// The process whose main thread it is: not a child of it.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// From a look at the threads that are left to the next.
const LOOK: Duration = Duration::from_millis(100);

/// A thread of the library's own, from before it is made to its end: it may begin late, when the main thread has ended.
pub(super) struct Own;

impl Own {
    /// Before the thread is made.
    pub(super) fn begin() -> Self {
        BEGUN.fetch_add(1, Ordering::SeqCst);
        Self
    }

    /// It is there, or is refused.
    pub(super) fn made() {
        MADE.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        ENDED.fetch_add(1, Ordering::SeqCst);
    }
}

/// Does something in which another library starts threads for this one: they do not count as the program's. They are
/// known by a signal that is blocked where they are made, which threads of the program that begin meanwhile have not.
pub(super) fn adopting<T>(what: impl FnOnce() -> T) -> T {
    expect_end();
    let before = listed();
    let mark = libc::SIGRTMAX();
    // SAFETY: sets of signals of this frame, for the calling thread; `before_mask` is written by the system.
    let before_mask = unsafe {
        let (mut marked, mut before_mask): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigaddset(&raw mut marked, mark);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const marked, &raw mut before_mask);
        before_mask
    };
    let result = what();
    // SAFETY: the set that was in force before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before_mask, std::ptr::null_mut()) };
    let new = listed().into_iter().filter(|thread| !before.contains(thread) && blocks(*thread, mark));
    ADOPTED.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
    result
}

/// The threads of this process; none where that cannot be read.
fn listed() -> BTreeSet<i32> {
    let all = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn blocks(thread: i32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/self/task/{thread}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigBlk:")?.trim(), 16).ok());
    blocked.is_some_and(|blocked| blocked >> (signal - 1) & 1 != 0)
}

/// Has the end of the main thread noticed, where it is the one that calls. Before each thread of the library's own.
pub(super) fn expect_end() {
    static ONCE: Once = Once::new();
    if !process::is_main_thread() {
        return;
    }
    ONCE.call_once(|| {
        let mut key = 0;
        // SAFETY: the key is this function's own, its function stays loaded, and the value is read by nobody.
        unsafe {
            if libc::pthread_key_create(&raw mut key, Some(main_thread_ends)) == 0 {
                PROCESS.store(process::id(), Ordering::Relaxed);
                libc::pthread_setspecific(key, std::ptr::without_provenance::<c_void>(1));
            }
        }
    });
}

/// In the main thread, when it ends by itself: `exit` does not come here.
unsafe extern "C" fn main_thread_ends(_: *mut c_void) {
    // A child of this process has none of the threads that are counted.
    if process::id() != PROCESS.load(Ordering::Relaxed) {
        return;
    }
    let own = BEGUN.load(Ordering::SeqCst).saturating_sub(ENDED.load(Ordering::SeqCst));
    if own == 0 && ADOPTED.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
        return;
    }
    exit_if_last();
    let look = || loop {
        std::thread::sleep(LOOK);
        exit_if_last();
    };
    let _ = thread::spawn(c"pellucid-last", look);
}

/// Ends the process where no thread of the program's is left beside the main one, which stays listed.
fn exit_if_last() {
    // A thread that is being made may be counted and not listed yet: somebody makes it, so it is not the end.
    let begun = BEGUN.load(Ordering::SeqCst);
    if MADE.load(Ordering::SeqCst) != begun {
        return;
    }
    let listed = listed();
    let adopted = ADOPTED.lock().unwrap_or_else(PoisonError::into_inner).intersection(&listed).count();
    let own = begun.saturating_sub(ENDED.load(Ordering::SeqCst)) + adopted;
    let has_begun = BEGUN.load(Ordering::SeqCst) != begun;
    if !has_begun && !listed.is_empty() && listed.len() <= own + 1 {
        // SAFETY: what the last thread of the program would do.
        unsafe { libc::exit(0) };
    }
}
