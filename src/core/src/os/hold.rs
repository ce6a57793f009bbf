//! Stores of other threads to pages that move elsewhere meanwhile: they wait until the pages are there.
//!
//! What a thread stores into a page after that was copied would be lost. So pages are made read-only before they are
//! copied, and a thread that stores there all the same waits in a handler of SIGSEGV, then stores again. Signals are
//! blocked in the thread that copies: a handler of the program's would store in it. What this does not hold up: a
//! system call of another thread that stores there fails with EFAULT; and where another thread blocks SIGSEGV, which
//! the system would end the process for, nobody is held up.
#![allow(unsafe_code)]

use std::mem::zeroed;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::signal::all_but_faults;
use super::{mmap, proc, thread};

/// Ranges of pages at most; of an executable there are one or two.
const RANGES: usize = 8;
/// Where they begin and end; both are 0 where there is none.
static PAGES: [[AtomicUsize; 2]; RANGES] = [const { [const { AtomicUsize::new(0) }; 2] }; RANGES];
/// The thread that copies; 0: none does.
static OWNER: AtomicI32 = AtomicI32::new(0);

/// The first signal that the C library keeps for itself.
const CANCEL: i32 = 32;

/// How long a signal of another thread's may be on its way once its reason is gone.
const ON_ITS_WAY: Duration = Duration::from_millis(1);
/// Longest wait for such.
const LONGEST: Duration = Duration::from_secs(1);

/// Holds up stores while it lives.
pub struct Hold {
    pages: Vec<Range<usize>>,
    mask: libc::sigset_t,
    /// What SIGSEGV did before, where it is this module's now.
    action: Option<libc::sigaction>,
}

impl Hold {
    /// From here on this thread takes no signals, and other threads do not store to these pages. In a static executable
    /// the state of the C library is there, too: this thread must not allocate either.
    pub fn begin(pages: Vec<Range<usize>>) -> Hold {
        let all_wait = others_wait();
        // SAFETY: sets of signals on this stack; zeroed ones are valid.
        let mask = unsafe {
            let (all, mut mask): (libc::sigset_t, libc::sigset_t) = (all_but_faults(), zeroed());
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut mask);
            mask
        };
        let mut hold = Hold { pages, mask, action: None };
        if all_wait && !hold.pages.is_empty() && hold.pages.len() <= RANGES {
            hold.protect();
        }
        hold
    }

    fn protect(&mut self) {
        let of = |at: usize| self.pages.get(at).cloned().unwrap_or_default();
        for (at, [from, to]) in PAGES.iter().enumerate() {
            from.store(of(at).start, Ordering::Relaxed);
            to.store(of(at).end, Ordering::Relaxed);
        }
        OWNER.store(thread::id(), Ordering::Release);
        // SAFETY: a handler that calls nothing but the system, and what was set before for when this ends.
        unsafe {
            let (mut own, mut before): (libc::sigaction, libc::sigaction) = (zeroed(), zeroed());
            own.sa_sigaction = stored as *const () as usize;
            // A handler of the program's in between would store as well.
            own.sa_mask = all_but_faults();
            own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(libc::SIGSEGV, &raw const own, &raw mut before);
            self.action = Some(before);
        }
        for page in &self.pages {
            mmap::allow_stores(page.clone(), false);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(action) = self.action {
            for page in &self.pages {
                mmap::allow_stores(page.clone(), true);
            }
            OWNER.store(0, Ordering::Release);
            wait_for_signals();
            // SAFETY: what was set before.
            unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, null_mut()) };
        }
        // SAFETY: the set that was in force before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, null_mut()) };
    }
}

/// Waits while another thread holds up stores.
pub fn wait() {
    while ![0, thread::id()].contains(&OWNER.load(Ordering::Acquire)) {
        pause();
    }
}

/// The handler: a thread stores to a page that is being copied, or does what it would be ended for anyway. Either way
/// it tries again once SIGSEGV has its meaning back.
extern "C" fn stored(_signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the error number of this thread, which what was interrupted may be about to read; and what the system
    // says of the signal.
    let (error, at) = unsafe { (libc::__errno_location(), (*info).si_addr() as usize) };
    // SAFETY: as above.
    let before = unsafe { *error };
    if OWNER.load(Ordering::Relaxed) == thread::id() {
        own_store(at);
    } else {
        wait();
    }
    // SAFETY: as above.
    unsafe { *error = before };
}

/// The thread that copies has stored itself, which nobody would end. That should not happen, but is no reason to stop:
/// stores of others are lost again from here on.
#[cold]
fn own_store(at: usize) {
    let ranges = PAGES.iter().map(|[from, to]| from.load(Ordering::Relaxed)..to.load(Ordering::Relaxed));
    let mut is_here = false;
    for range in ranges.filter(|range| !range.is_empty()) {
        is_here |= range.contains(&at);
        mmap::allow_stores(range, true);
    }
    if !is_here {
        // SAFETY: a zeroed action is the default one, which ends the process as the fault comes again.
        unsafe {
            let action: libc::sigaction = zeroed();
            libc::sigaction(libc::SIGSEGV, &raw const action, null_mut());
        }
    }
}

/// Whether this process has other threads, none of which would be ended for storing to what is read-only.
fn others_wait() -> bool {
    let me = thread::id().to_string();
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return false };
    let others: Vec<_> = threads.flatten().filter(|thread| *thread.file_name() != *me).collect();
    // One that begins or ends blocks all signals while it is in the C library, also those that programs cannot.
    let blocks = |status: String| has(&status, "SigBlk:", libc::SIGSEGV) && !has(&status, "SigBlk:", CANCEL);
    let blocks = |of: &std::fs::DirEntry| status(of).is_some_and(blocks);
    !others.is_empty() && !others.iter().any(blocks)
}

/// Waits until no thread has a SIGSEGV on its way whose reason is gone: it would be taken for a crash.
fn wait_for_signals() {
    let begin = Instant::now();
    std::thread::sleep(ON_ITS_WAY);
    let is_on_its_way = || {
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        threads.into_iter().any(|thread| status(&thread).is_some_and(|status| has(&status, "SigPnd:", libc::SIGSEGV)))
    };
    while is_on_its_way() && begin.elapsed() < LONGEST {
        std::thread::sleep(ON_ITS_WAY);
    }
}

fn status(thread: &std::fs::DirEntry) -> Option<String> {
    proc::read(thread.path().join("status")).ok()
}

/// Whether a signal is in a set that the kernel shows of a thread.
fn has(status: &str, set: &str, signal: i32) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix(set));
    let set = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok());
    set.is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

fn pause() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: 20_000 };
    // SAFETY: reads a time on this stack.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, null_mut::<libc::timespec>()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_signals() {
        let status = "Name:\tx\nSigPnd:\t0000000000000400\nSigBlk:\t0000000080000000\n";
        let has = |set, signal| has(status, set, signal);
        assert!(has("SigPnd:", libc::SIGSEGV) && !has("SigBlk:", libc::SIGSEGV) && !has("ShdPnd:", libc::SIGSEGV));
        assert!(has("SigBlk:", CANCEL) && !has("SigPnd:", CANCEL));
    }

    /// A thread counts in a page; what it has counted is there when the page has moved.
    #[test]
    fn stores_wait_for_the_end() {
        let fd = mmap::memfd(c"hold").expect("memory");
        let raw = std::os::fd::AsRawFd::as_raw_fd(&fd);
        mmap::grow(raw, mmap::page()).expect("a page");
        let page = mmap::shared(raw, 0, mmap::page(), None).expect("a page");
        // SAFETY: a zeroed page that stays mapped.
        let words = unsafe { std::slice::from_raw_parts(page.cast::<AtomicUsize>(), 2) };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while words[1].load(Ordering::Relaxed) == 0 {
                    words[0].fetch_add(1, Ordering::Relaxed);
                }
            });
            while words[0].load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            for _ in 0..20 {
                let pages = page as usize..page as usize + mmap::page();
                let hold = Hold::begin(vec![pages]);
                let is_held = hold.action.is_some();
                let before = words[0].load(Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
                // Threads of other tests may block the signal.
                assert!(!is_held || words[0].load(Ordering::Relaxed) == before);
                drop(hold);
                let before = words[0].load(Ordering::Relaxed);
                while words[0].load(Ordering::Relaxed) == before {
                    std::thread::yield_now();
                }
            }
            words[1].store(1, Ordering::Relaxed);
        });
    }
}
