//! Calls that a signal handler makes while its thread is in another one.
//!
//! Through memory that is nothing special: puts, gets and atomics keep no state between their instructions. The network
//! has a lock, and a handler that waited for what its own thread holds would wait for ever. So a thread notes that it
//! is about to take the lock; the handler finds the note, and its call is refused.
#![allow(unsafe_code)]

use super::depth::Stack;
use crate::base::{Cause, Fault, observer};
use std::sync::atomic::{Ordering, compiler_fence};

/// `struct pellucid_core_thread` of `shim/thread.c`.
#[repr(C)]
struct Thread {
    network: u32,
    routine: u32,
    message_handler: u32,
    helper: u32,
    stack: Stack,
}

#[cfg(not(target_arch = "x86_64"))]
unsafe extern "C" {
    fn pellucid_core_thread_get() -> *mut Thread;
}

/// The calling thread's, without a call: messages look at it several times each.
#[inline(always)]
fn thread() -> *mut Thread {
    #[cfg(target_arch = "x86_64")]
    {
        let thread: *mut Thread;
        // SAFETY: the address of the initial-exec thread-local variable of shim/thread.c: the same throughout a call,
        // so that it may be kept in a register.
        unsafe {
            core::arch::asm!(
                "mov {thread}, qword ptr [rip + pellucid_core_thread@GOTTPOFF]",
                "add {thread}, qword ptr fs:[0]",
                thread = out(reg) thread,
                options(pure, nomem, nostack)
            );
        }
        thread
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: no precondition.
    unsafe {
        pellucid_core_thread_get()
    }
}

/// One more than the number of the handler that an active message has the calling thread run; 0: none.
#[inline]
pub fn message_handler() -> u32 {
    // SAFETY: the calling thread's own variable; nobody holds a reference.
    unsafe { (*thread()).message_handler }
}

/// Whether the calling thread is one of the library's own.
#[inline]
pub fn is_helper() -> bool {
    // SAFETY: as above.
    unsafe { (*thread()).helper != 0 }
}

/// The calling thread is one of the library's own.
pub fn set_helper() {
    // SAFETY: as above.
    unsafe { (*thread()).helper = 1 };
}

/// Sets [`message_handler`].
#[inline]
pub fn set_message_handler(number: u32) {
    // SAFETY: as above.
    unsafe { (*thread()).message_handler = number };
}

/// The calling thread has the lock of the network, or is about to take it.
#[derive(Debug)]
pub struct Inside(());

impl Inside {
    /// Fault: this thread is inside already, or has too little of its stack left.
    #[inline]
    pub fn enter() -> Result<Self, Fault> {
        // SAFETY: the calling thread's own variable; nobody holds a reference.
        let thread = unsafe { &mut *thread() };
        if thread.network != 0 {
            return Err(interrupted(thread.routine));
        }
        thread.stack.check()?;
        thread.network = 1;
        // Signals come to this thread: nothing but the compiler could put the note behind the lock.
        compiler_fence(Ordering::SeqCst);
        thread.routine = observer::get().map_or(0, |observer| (observer.routines.current)());
        Ok(Self(()))
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { (*thread()).network = 0 };
    }
}

#[cold]
fn interrupted(routine: u32) -> Fault {
    let name = observer::get().filter(|_| routine != 0).map(|observer| (observer.routines.name)(routine));
    Fault::from(Cause::Interrupted { routine: name, network: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_inside_once() {
        let first = Inside::enter().unwrap();
        let second = Inside::enter().unwrap_err();
        assert!(matches!(second.cause(), Cause::Interrupted { network: true, .. }));
        std::thread::spawn(|| assert!(Inside::enter().is_ok())).join().unwrap();
        drop(first);
        assert!(Inside::enter().is_ok());
    }
}
