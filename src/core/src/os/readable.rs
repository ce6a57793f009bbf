//! Whether memory can be read that nobody vouches for.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr::null_mut;

/// No page is smaller.
const PAGE: usize = 4096;
/// No way to change a mask of signals.
const NO_WAY: i32 = -1;

thread_local! {
    /// Pages that were readable, next to each other: of the stack, mostly.
    static KNOWN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Whether the word at an address, which is aligned, can be read. The kernel says so; in a signal handler, too.
pub fn is_readable(address: usize) -> bool {
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
    let page = address & !(PAGE - 1);
    if !is_readable(page) {
        return false;
    }
    KNOWN.set(match page {
        _ if page == to => (from, page + PAGE),
        _ if page + PAGE == from => (page, to),
        _ => (page, page + PAGE),
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_can_be_read_and_nothing_else() {
        let words = [0_u64; 1024];
        for word in &words {
            let at = (&raw const *word).addr();
            assert!(is_readable(at) && is_readable_stack(at));
        }
        for nowhere in [0, 8, 0x7fff_dead_beef_0000, usize::MAX - 7] {
            assert!(!is_readable(nowhere) && !is_readable_stack(nowhere), "{nowhere:#x}");
        }
    }
}
