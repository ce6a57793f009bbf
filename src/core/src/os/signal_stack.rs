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
/// Bytes of the smallest stack of others that is left in place: a handler that walks the stack needs more than the 8
/// KiB that the standard library of Rust gives each thread. Go has 32 KiB, and expects its own; so do sanitizers.
const ENOUGH: usize = 32 << 10;

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

/// Gives the calling thread one where it has none, or a small one: a handler cannot run on a stack that has no room
/// left. Null: it has one, or there is no memory.
pub(super) fn reserve() -> *mut c_void {
    // One that a handler is running on cannot be replaced.
    let is_wanted = |stack: &libc::stack_t| {
        stack.ss_flags & libc::SS_DISABLE != 0 || stack.ss_flags & libc::SS_ONSTACK == 0 && stack.ss_size < ENOUGH
    };
    if !known().as_ref().is_some_and(is_wanted) {
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

    /// Runs `f` in a thread with a stack for signals of so many bytes; 0: none.
    fn with_stack(bytes: usize, f: impl FnOnce() + Send + 'static) {
        let run = move || {
            let mut memory = vec![0_u8; bytes];
            let ss_flags = if bytes == 0 { libc::SS_DISABLE } else { 0 };
            let own = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags, ss_size: bytes };
            let mut before = own;
            // SAFETY: the settings of this thread, which are put back below, and memory that is there until then.
            unsafe { libc::sigaltstack(&raw const own, &raw mut before) };
            f();
            // SAFETY: as above.
            unsafe { libc::sigaltstack(&raw const before, null_mut()) };
        };
        std::thread::spawn(run).join().unwrap();
    }

    fn is_disabled() -> bool {
        known().is_some_and(|stack| stack.ss_flags & libc::SS_DISABLE != 0)
    }

    #[test]
    fn a_thread_has_one_until_it_is_taken_back() {
        // Such as the standard library of Rust gives its threads.
        for bytes in [0, 8 << 10] {
            with_stack(bytes, || {
                cover_thread();
                assert!(current().is_none() && known().is_some_and(|stack| stack.ss_size == STACK));
                uncover_thread();
                assert!(is_disabled());
            });
        }
    }

    #[test]
    fn a_large_one_stays() {
        with_stack(ENOUGH, || {
            cover_thread();
            uncover_thread();
            assert!(known().is_some_and(|stack| stack.ss_size == ENOUGH) && !is_disabled());
        });
    }
}
