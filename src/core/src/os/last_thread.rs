//! The end of a process whose main thread ends alone (`pthread_exit` in `main`): it has to end with the last thread of
//! the program, as by `exit(0)` (POSIX, `pthread_exit`). The system's own rule counts the library's threads, too.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::Duration;

use super::{process, thread};

/// Threads of the library's own that run.
static OWN: AtomicUsize = AtomicUsize::new(0);
/// The process whose main thread it is: not a child of it.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// From a look at the threads that are left to the next.
const LOOK: Duration = Duration::from_millis(100);

/// A thread of the library's own, while it runs.
pub(super) struct Own;

impl Own {
    pub(super) fn begin() -> Self {
        OWN.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        OWN.fetch_sub(1, Ordering::Relaxed);
    }
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
    if process::id() != PROCESS.load(Ordering::Relaxed) || OWN.load(Ordering::Relaxed) == 0 {
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
    let Ok(all) = std::fs::read_dir("/proc/self/task") else { return };
    if all.count() <= OWN.load(Ordering::Relaxed) + 1 {
        // SAFETY: what the last thread of the program would do.
        unsafe { libc::exit(0) };
    }
}
