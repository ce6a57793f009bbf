//! The stack that the signal handlers of a thread have to themselves (`sigaltstack`). System calls only, so that
//! handlers may ask.
#![allow(unsafe_code)]

use super::process;
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{null, null_mut};

/// Bytes of a stack of [`reserve`], of which few are ever touched.
const STACK: usize = 256 << 10;

/// What the calling thread has.
fn known() -> Option<libc::stack_t> {
    // SAFETY: zeroes are a valid value.
    let mut stack: libc::stack_t = unsafe { std::mem::zeroed() };
    // SAFETY: asks for the settings of this thread.
    (unsafe { libc::sigaltstack(null(), &raw mut stack) } == 0).then_some(stack)
}

/// The signal stack that the calling thread is on.
pub fn current() -> Option<Range<usize>> {
    let stack = known().filter(|stack| stack.ss_flags & libc::SS_ONSTACK != 0)?;
    let start = stack.ss_sp.addr();
    Some(start..start + stack.ss_size)
}

/// Gives the calling thread one where it has none: a handler cannot run on a stack that has no room left. Null: it has
/// one, or there is no memory.
pub(super) fn reserve() -> *mut c_void {
    if known().is_none_or(|stack| stack.ss_flags & libc::SS_DISABLE == 0) {
        return null_mut();
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: memory at an address of the kernel's choice, which stays until the thread has other settings.
    unsafe {
        let memory = libc::mmap(null_mut(), STACK, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if memory == libc::MAP_FAILED {
            return null_mut();
        }
        let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&raw const stack, null_mut());
        memory
    }
}

thread_local! {
    /// What [`cover_thread`] has reserved, or null.
    static RESERVED: Cell<*mut c_void> = const { Cell::new(null_mut()) };
}

/// As [`reserve`], for a thread that is not the main one, until [`uncover_thread`].
pub(super) fn cover_thread() {
    if !process::is_main_thread() && RESERVED.get().is_null() {
        RESERVED.set(reserve());
    }
}

/// Takes back what [`cover_thread`] has reserved: the thread ends.
pub fn uncover_thread() {
    let reserved = RESERVED.replace(null_mut());
    if reserved.is_null() {
        return;
    }
    // Where somebody else has given the thread another, this one is not in use either.
    if known().is_some_and(|stack| stack.ss_sp == reserved) {
        let none = libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: the settings of this thread; it is not on that stack, which no handler has any more.
        if unsafe { libc::sigaltstack(&raw const none, null_mut()) } != 0 {
            return;
        }
    }
    // SAFETY: mapped by `reserve`, and nobody's stack now.
    unsafe { libc::munmap(reserved, STACK) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_one_until_it_is_taken_back() {
        // A thread of Rust has one already, which stays.
        let disabled = || known().is_some_and(|stack| stack.ss_flags & libc::SS_DISABLE != 0);
        std::thread::spawn(move || {
            assert!(disabled() || reserve().is_null());
            let none = libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            let mut before = none;
            // SAFETY: the settings of this thread, which are put back below.
            unsafe { libc::sigaltstack(&raw const none, &raw mut before) };
            cover_thread();
            assert!(!disabled() && current().is_none());
            uncover_thread();
            assert!(disabled());
            // SAFETY: as above.
            unsafe { libc::sigaltstack(&raw const before, null_mut()) };
        })
        .join()
        .unwrap();
    }
}
