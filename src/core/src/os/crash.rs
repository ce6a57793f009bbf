//! Signals by which a program ends by its own mistake: noted, before they end it as ever.
//!
//! A launcher of others says at best which process ended by which signal. So the handler of these notes the signal
//! where the PEs of the host look, wakes a thread that says what is known, gives it a moment, and lets the signal do
//! what it would have done. A signal for which the program (or a tool, or a sanitizer) has a handler already is left to
//! that; one that it sets up later takes the place of this one.
#![allow(unsafe_code)]

use super::futex;
use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The signals.
const CRASHES: [c_int; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGSYS];
/// How long a program that crashes waits for whoever is to say what is known of it: a lock that the program held when
/// it crashed may keep that one from it.
const MOMENT: Duration = Duration::from_secs(1);
/// How long it waits for one who was kept by nothing, and looks for the source line on a machine that has much to do.
const LINE: Duration = Duration::from_secs(5);
/// [`Note::said`]: somebody is at it, and was kept by nothing.
const BEGUN: u32 = 1;
/// All is said.
const SAID: u32 = 2;

/// What a crash is told to.
pub struct Note {
    /// Gets the signal.
    pub signal: &'static AtomicU32,
    /// An eventfd that is written to.
    pub wake: RawFd,
    /// How far whoever was woken is.
    said: AtomicU32,
    owner: i32,
}

static NOTE: OnceLock<Note> = OnceLock::new();

/// Notes crashes of this process from here on; once.
pub fn watch(signal: &'static AtomicU32, wake: RawFd) -> &'static Note {
    let owner = super::process::id();
    let note = NOTE.get_or_init(|| Note { signal, wake, said: AtomicU32::new(0), owner });
    for number in CRASHES {
        // SAFETY: the structures are valid, and the handler is async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            if libc::sigaction(number, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_DFL {
                action.sa_sigaction = crashed as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
                libc::sigaction(number, &raw const action, std::ptr::null_mut());
            }
        }
    }
    note
}

impl Note {
    /// What can be said without the source line is known.
    pub fn begun(&self) {
        self.said.store(BEGUN, Ordering::Release);
        futex::wake_all(&self.said);
    }

    /// All is said: the crash may go on.
    pub fn done(&self) {
        self.said.store(SAID, Ordering::Release);
        futex::wake_all(&self.said);
    }

    /// Waits until all is said, or nobody is there to say it. Makes system calls only.
    fn wait(&self) {
        let begin = Instant::now();
        loop {
            let said = self.said.load(Ordering::Acquire);
            let patience = if said == BEGUN { LINE } else { MOMENT };
            if said == SAID || begin.elapsed() >= patience {
                return;
            }
            futex::wait(&self.said, said, MOMENT / 20);
        }
    }
}

/// The handler. It gives the signal its default back, and has it come once more.
extern "C" fn crashed(number: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: system calls only, on valid structures; errno is kept, since the program goes on after this for a moment.
    unsafe {
        let errno = *libc::__errno_location();
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(number, &raw const action, std::ptr::null_mut());
        if let Some(note) = NOTE.get()
            && note.owner == libc::getpid()
            && note.signal.compare_exchange(0, number as u32, Ordering::AcqRel, Ordering::Acquire).is_ok()
        {
            let one = 1_u64;
            libc::write(note.wake, (&raw const one).cast(), 8);
            note.wait();
        }
        // An instruction that faults is carried out once more, so that a core file shows it. All else is sent once
        // more; what a process sends has no positive code.
        let by_instruction = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE].contains(&number);
        if info.is_null() || (*info).si_code <= 0 || !by_instruction {
            libc::raise(number);
        }
        *libc::__errno_location() = errno;
    }
}
