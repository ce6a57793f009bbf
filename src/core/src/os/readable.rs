//! Memory that nobody vouches for: whether it can be read, and what is there.
#![allow(unsafe_code)]

use super::depth;
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{null_mut, with_exposed_provenance};

/// No page is smaller.
const PAGE: usize = 4096;
/// No way to change a mask of signals.
const NO_WAY: i32 = -1;

thread_local! {
    /// Pages that were readable, next to each other: of the stack, mostly.
    static KNOWN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// First address and end of the main thread's stack, in that thread, once somebody has asked for it; in others
    /// both are 1.
    static MAIN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Whether the word at an address can be read, which is aligned to it. The kernel says so; in a signal handler, too.
pub fn is_readable(address: usize) -> bool {
    word(address & !(size_of::<u64>() - 1)).is_some()
}

/// The same by a call that a sandbox lets a process make. Of memory that a program has not got, memory checkers say
/// that it is an error.
fn is_readable_set(address: usize) -> bool {
    // SAFETY: nothing is changed, whatever the set is. The system call's result is looked at before anything else can
    // set errno, which is put back.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let set = std::ptr::without_provenance::<u8>(address & !(size_of::<u64>() - 1));
        // It reads the set before it looks at what is to be done with it.
        libc::syscall(libc::SYS_rt_sigprocmask, NO_WAY, set, null_mut::<u8>(), size_of::<u64>());
        let answer = *errno;
        *errno = before;
        address != 0 && answer != libc::EFAULT
    }
}

/// The same of a word of the calling thread's stack, for which the kernel is asked once a page.
pub fn is_readable_stack(address: usize) -> bool {
    let (from, to) = KNOWN.get();
    if (from..to).contains(&address) {
        return true;
    }
    // The word itself: what lies below the stack's end on its page is memory that a checker lets nobody read.
    if !is_readable(address) {
        return false;
    }
    let page = address & !(PAGE - 1);
    KNOWN.set(match page {
        _ if page == to => (from, page + PAGE),
        _ if page + PAGE == from => (page, to),
        _ => (page, page + PAGE),
    });
    true
}

/// The word at an address, which is aligned; `None`: it cannot be read. The kernel reads it, so that memory may go
/// meanwhile; in a signal handler, too.
pub fn word(address: usize) -> Option<usize> {
    let (mut word, iov_len) = (0_usize, size_of::<usize>());
    let local = libc::iovec { iov_base: (&raw mut word).cast(), iov_len };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len };
    // SAFETY: one place of eight bytes each; the second may be any address. errno is put back.
    let (read, error) = unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let read = libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0);
        (read, std::mem::replace(&mut *errno, before))
    };
    match error {
        _ if read == iov_len as isize => Some(word),
        // A sandbox does not let a process read even itself so.
        libc::EPERM | libc::ENOSYS if read < 0 && is_readable_set(address) => {
            // SAFETY: the kernel has just read it.
            Some(unsafe { with_exposed_provenance::<usize>(address).read_volatile() })
        }
        _ => None,
    }
}

/// The same of a word that is further out on the stack that the calling thread is on, or on another one that may be
/// gone by now: a task's, which the program switches to and from. The kernel is asked where neither is certain.
pub fn word_of_stack(address: usize) -> Option<usize> {
    let here = 0_u8;
    let here = (&raw const here).addr();
    if here / PAGE == address / PAGE || here <= address && [here, address].iter().all(|at| main_stack().contains(at)) {
        // SAFETY: it is on the page that this function's frame is on, or between this frame and the end of the main
        // thread's stack. All of that is mapped while the thread is in here: the kernel maps nothing else below that
        // end for as many bytes as `depth` takes for the stack.
        return Some(unsafe { with_exposed_provenance::<usize>(address).read_volatile() });
    }
    word(address)
}

/// The main thread's stack, where that is the calling thread; else nothing.
fn main_stack() -> Range<usize> {
    let (from, to) = MAIN.get();
    if from == 0 {
        let stack = depth::of_main_thread().unwrap_or(1..1);
        MAIN.set((stack.start, stack.end));
        return stack;
    }
    from..to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::mmap;
    use std::os::fd::AsRawFd;

    #[test]
    fn what_is_there_can_be_read_and_nothing_else() {
        let words = [0_u64; 1024];
        for word in &words {
            let at = (&raw const *word).addr();
            assert!(is_readable(at) && is_readable_set(at) && is_readable_stack(at));
        }
        for nowhere in [0, 8, 0x7fff_dead_beef_0000, usize::MAX - 7] {
            let found = [is_readable(nowhere), is_readable_set(nowhere), is_readable_stack(nowhere)];
            assert_eq!(found, [false; 3], "{nowhere:#x}");
            assert_eq!((word(nowhere), word_of_stack(nowhere)), (None, None), "{nowhere:#x}");
        }
    }

    #[test]
    fn words_are_read_where_there_are_any() {
        let far = [0_usize; 4096];
        let words = [4711_usize, 12];
        for (at, expected) in [(&raw const words[0], 4711), (&raw const words[1], 12), (&raw const far[0], 0)] {
            assert_eq!((word(at.addr()), word_of_stack(at.addr())), (Some(expected), Some(expected)));
        }
        let file = mmap::memfd(c"readable").unwrap();
        mmap::grow(file.as_raw_fd(), PAGE).unwrap();
        let page = mmap::shared(file.as_raw_fd(), 0, PAGE, None).unwrap();
        assert_eq!((word(page.addr()), word_of_stack(page.addr())), (Some(0), Some(0)));
        // SAFETY: made here, and nobody uses it.
        unsafe { mmap::unmap(page, PAGE) };
        assert_eq!((word(page.addr()), word_of_stack(page.addr())), (None, None));
    }
}
