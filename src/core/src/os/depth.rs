//! How much of its stack a thread has left, before it makes a call that needs more than programs expect.
//!
//! What libfabric and its providers use is theirs: a thread with a stack of 16 KiB, or a handler on a signal stack of
//! the usual 8 KiB, would overwrite what lies below it, or crash there without a word.
#![allow(unsafe_code)]

use super::{process, signal_stack};
use crate::base::{Cause, Fault};
use std::mem::zeroed;
use std::ops::Range;

/// Bytes that a call over the network may use (docs/threads.md): 16 KiB with `tcp`, and some for other providers.
pub const NEEDED: usize = 20 << 10;
/// More of the main thread's stack is not looked at, where it may grow without a limit.
const MOST: usize = 64 << 20;

/// The part of a thread's stack from which on there is room, and its end.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Stack {
    enough: usize,
    top: usize,
}

impl Stack {
    /// Whether the calling thread has room for a call over the network. Looks at its stack once.
    #[inline]
    pub fn check(&mut self) -> Result<(), Fault> {
        let here = stack_address();
        if (self.enough..self.top).contains(&here) { Ok(()) } else { self.look(here) }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self, here: usize) -> Result<(), Fault> {
        if self.top == 0 {
            // What cannot be found out is taken for enough.
            let own = own().unwrap_or(0..usize::MAX);
            *self = Self { enough: own.start.saturating_add(NEEDED), top: own.end };
        }
        let left = if (self.enough.saturating_sub(NEEDED)..self.top).contains(&here) {
            here - (self.enough - NEEDED)
        } else if let Some(stack) = signal_stack::current().filter(|stack| stack.contains(&here)) {
            here - stack.start
        } else {
            // A stack of the program's own making.
            return Ok(());
        };
        if left < NEEDED { Err(Fault::from(Cause::Stack { left, needed: NEEDED })) } else { Ok(()) }
    }
}

/// An address of the caller's stack.
#[inline(always)]
fn stack_address() -> usize {
    let mark = 0_u8;
    std::hint::black_box(&raw const mark).addr()
}

/// The stack of the calling thread, where that is the main one. Makes system calls only.
pub(super) fn of_main_thread() -> Option<Range<usize>> {
    if process::is_main_thread() { main() } else { None }
}

/// The stack of the calling thread.
fn own() -> Option<Range<usize>> {
    if process::is_main_thread() {
        return main();
    }
    // SAFETY: zeroes are a valid value; what is filled in is given back.
    unsafe {
        let mut attributes: libc::pthread_attr_t = zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
        let error = libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attributes);
        (error == 0 && bytes > 0).then(|| start.addr()..start.addr() + bytes)
    }
}

/// That of the main thread, which grows as far as its limit allows.
fn main() -> Option<Range<usize>> {
    // SAFETY: asks for a value: the kernel puts these bytes above the first frame.
    let top = unsafe { libc::getauxval(libc::AT_RANDOM) } as usize;
    // SAFETY: zeroes are a valid value, and the call fills it in.
    let mut limit: libc::rlimit = unsafe { zeroed() };
    // SAFETY: as above.
    if top == 0 || unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } != 0 {
        return None;
    }
    let bytes = usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX).min(MOST);
    Some(top.saturating_sub(bytes)..top)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_stack(bytes: usize) -> Result<(), Fault> {
        extern "C" fn run(result: *mut libc::c_void) -> *mut libc::c_void {
            // SAFETY: the caller waits for this thread, and looks at the result after it.
            unsafe { *result.cast() = Stack::default().check() };
            std::ptr::null_mut()
        }
        let mut result = Ok(());
        // SAFETY: valid attributes, a result that outlives the thread.
        unsafe {
            let (mut attributes, mut thread): (libc::pthread_attr_t, libc::pthread_t) = (zeroed(), zeroed());
            libc::pthread_attr_init(&raw mut attributes);
            assert_eq!(libc::pthread_attr_setstacksize(&raw mut attributes, bytes), 0);
            let to = (&raw mut result).cast();
            assert_eq!(libc::pthread_create(&raw mut thread, &raw const attributes, run, to), 0);
            libc::pthread_join(thread, std::ptr::null_mut());
            libc::pthread_attr_destroy(&raw mut attributes);
        }
        result
    }

    #[test]
    fn small_stacks_are_refused_and_large_ones_are_not() {
        let small = with_stack(16 << 10).unwrap_err();
        assert!(matches!(small.cause(), Cause::Stack { left, needed: NEEDED } if *left < 16 << 10));
        assert!(with_stack(64 << 10).is_ok());
        // Twice: what was found is kept.
        let mut own = Stack::default();
        assert!(own.check().is_ok() && own.check().is_ok() && own.top != 0);
    }

    #[test]
    fn the_main_thread_has_a_stack() {
        let main = main().unwrap();
        assert!(main.len() <= MOST && main.end > main.start);
    }
}
