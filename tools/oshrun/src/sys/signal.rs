//! Signals as something to read.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A set of signals.
#[derive(Clone, Copy)]
pub struct Set(libc::sigset_t);

impl Set {
    /// The set of these signals.
    pub fn of(signals: &[i32]) -> Self {
        // SAFETY: sigemptyset makes the set valid before sigaddset uses it.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in signals {
                libc::sigaddset(&mut set, *signal);
            }
            Self(set)
        }
    }

    /// Every signal.
    pub fn all() -> Self {
        // SAFETY: sigfillset makes the set valid.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigfillset(&mut set);
            Self(set)
        }
    }

    /// Makes this the calling thread's mask and returns the one before. Async-signal-safe.
    pub fn mask(&self) -> Self {
        self.apply(libc::SIG_SETMASK)
    }

    /// Adds these signals to the calling thread's mask and returns the one before.
    pub fn block(&self) -> Self {
        self.apply(libc::SIG_BLOCK)
    }

    fn apply(&self, how: i32) -> Self {
        let mut before = Self::of(&[]);
        // SAFETY: both sets are valid.
        unsafe { libc::pthread_sigmask(how, &self.0, &mut before.0) };
        before
    }
}

/// Whether the signal was set to be ignored by whoever started this process.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: an all-zero sigaction is valid, and the call fills it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Gives a signal its default meaning.
pub fn set_default(signal: i32) {
    // SAFETY: SIG_DFL is a valid disposition.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Stops this process as an unblocked SIGTSTP would; returns when it is continued.
pub fn stop_here() {
    // SAFETY: the sets are valid; the signal is raised blocked and delivered while the mask is lifted.
    unsafe {
        libc::raise(libc::SIGTSTP);
        Set::of(&[libc::SIGTSTP]).apply(libc::SIG_UNBLOCK);
        Set::of(&[libc::SIGTSTP]).apply(libc::SIG_BLOCK);
    }
}

/// Blocked signals, to be read from a descriptor.
pub struct Reader(OwnedFd);

impl Reader {
    /// Blocks the signals of the set and makes them readable.
    pub fn new(set: &Set) -> io::Result<Self> {
        set.block();
        // SAFETY: the set is valid; the descriptor returned is new and ours.
        unsafe {
            let fd = libc::signalfd(-1, &set.0, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Self(OwnedFd::from_raw_fd(fd))) }
        }
    }

    /// The next signal that has arrived.
    pub fn next(&self) -> Option<i32> {
        let mut info = std::mem::MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the record is writable for its size, and valid for any content.
        unsafe {
            let count = libc::read(self.0.as_raw_fd(), info.as_mut_ptr().cast(), size);
            (count == size as isize).then(|| info.assume_init().ssi_signo as i32)
        }
    }
}

impl AsRawFd for Reader {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
