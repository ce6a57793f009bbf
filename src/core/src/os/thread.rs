//! Threads of the library's own, in which no signal of the program's is handled.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use super::last_thread::{self, Own};
use super::library;
use super::signal::Blocked;

/// The calling thread's number in the kernel.
pub fn id() -> i32 {
    // SAFETY: takes nothing.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// What threads do when they end that have asked for it.
#[derive(Debug)]
pub struct AtEnd {
    what: fn(),
    /// `None`: the system has none left.
    key: OnceLock<Option<libc::pthread_key_t>>,
}

impl AtEnd {
    /// Nobody has asked yet.
    pub const fn new(what: fn()) -> Self {
        Self { what, key: OnceLock::new() }
    }

    /// Has the calling thread do it when it ends, again where it asks meanwhile. Not where the whole process ends.
    pub fn ask(&'static self) {
        extern "C" fn end(asked: *mut c_void) {
            // SAFETY: given below, and static.
            let asked = unsafe { &*asked.cast::<AtEnd>() };
            (asked.what)();
        }
        let make = || {
            library::keep_this_code();
            let mut key = 0;
            // SAFETY: a valid place, and a function that stays loaded.
            (unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } == 0).then_some(key)
        };
        let key = self.key.get().unwrap_or_else(|| {
            // A signal handler may ask, too.
            let _blocked = Blocked::begin();
            self.key.get_or_init(make)
        });
        if let Some(key) = key {
            // SAFETY: a key that was made; the value is only handed to the function above.
            unsafe { libc::pthread_setspecific(*key, std::ptr::from_ref(self).cast()) };
        }
    }
}

/// Does something in which another library starts threads for this one: where the main thread of the program ends
/// alone, they do not keep the process.
pub fn adopting<T>(what: impl FnOnce() -> T) -> T {
    last_thread::adopting(what)
}

/// Starts a thread with signals blocked, so that the program's handlers run in the program's threads. The standard
/// library's would leave something behind in the calling thread that has to be taken down when that ends. Error: of the
/// system.
pub fn spawn(name: &'static CStr, what: impl FnOnce() + Send + 'static) -> Result<libc::pthread_t, i32> {
    type Task = Box<dyn FnOnce() + Send>;
    extern "C" fn run(task: *mut c_void) -> *mut c_void {
        // SAFETY: made below, for this thread alone.
        let task = unsafe { Box::from_raw(task.cast::<Task>()) };
        task();
        std::ptr::null_mut()
    }
    let own = Own::begin();
    let named = move || {
        let _own = own;
        // SAFETY: a C string, for the calling thread.
        unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
        what();
    };
    last_thread::expect_end();
    let task: *mut Task = Box::into_raw(Box::new(Box::new(named)));
    // SAFETY: the new thread takes the box. It inherits the mask that is in force while it is made.
    unsafe {
        let blocked = Blocked::begin();
        let mut id: libc::pthread_t = std::mem::zeroed();
        let error = libc::pthread_create(&raw mut id, std::ptr::null(), run, task.cast());
        drop(blocked);
        Own::made();
        if error != 0 {
            drop(Box::from_raw(task));
            return Err(error);
        }
        Ok(id)
    }
}
