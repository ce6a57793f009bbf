//! Ctrl-C while programs are run: what was started is ended, what was written for the time being is removed.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that came; 0 for none.
static CAME: AtomicI32 = AtomicI32::new(0);
/// What ends a gate.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

extern "C" fn note(signal: libc::c_int) {
    CAME.store(signal, Ordering::Relaxed);
}

/// From now on such a signal is noted, unless it was ignored from the start (as `nohup` has it).
pub fn install() {
    for signal in SIGNALS {
        // SAFETY: all-zero bytes are a sigaction without flags; both structures live during the calls. The handler
        // stores to an atomic and does nothing else.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut old);
            if old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = note as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(signal, &new, std::ptr::null_mut());
        }
    }
}

/// The signal that came.
pub fn came() -> Option<i32> {
    Some(CAME.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}
