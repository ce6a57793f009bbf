//! What signals are called, and sets of them.
#![allow(unsafe_code)]

/// A signal's meaning in words: `signal 11 (segmentation fault)`.
pub fn describe(signal: i32) -> String {
    let words = match signal {
        libc::SIGHUP => "hang-up",
        libc::SIGINT => "interrupt",
        libc::SIGQUIT => "quit",
        libc::SIGILL => "illegal instruction",
        libc::SIGTRAP => "trace trap",
        libc::SIGABRT => "abort",
        libc::SIGBUS => "bus error",
        libc::SIGFPE => "arithmetic exception",
        libc::SIGKILL => "kill",
        libc::SIGUSR1 => "user signal 1",
        libc::SIGSEGV => "segmentation fault",
        libc::SIGUSR2 => "user signal 2",
        libc::SIGPIPE => "broken pipe",
        libc::SIGALRM => "alarm",
        libc::SIGTERM => "termination",
        libc::SIGXCPU => "CPU time limit",
        libc::SIGXFSZ => "file size limit",
        libc::SIGSYS => "bad system call",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({words})")
}

/// All signals but those of a thread's own faults, for which the system ends the process where they are blocked.
pub fn all_but_faults() -> libc::sigset_t {
    // SAFETY: a set on this stack; a zeroed one is valid.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        for own in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE] {
            libc::sigdelset(&raw mut all, own);
        }
        all
    }
}

/// The calling thread takes no signals while this lives, so that no handler comes upon a lock that its own thread has.
#[derive(Debug)]
pub struct Blocked(libc::sigset_t);

impl Blocked {
    /// From here on.
    pub fn begin() -> Blocked {
        // SAFETY: sets of signals on this stack; a zeroed one is valid.
        unsafe {
            let (all, mut before): (libc::sigset_t, libc::sigset_t) = (all_but_faults(), std::mem::zeroed());
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Blocked(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set that was in force before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(describe(11), "signal 11 (segmentation fault)");
        assert_eq!(describe(64), "signal 64");
    }
}
