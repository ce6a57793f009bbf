//! The terminal: a screen of its own, keys without return, and everything as it was afterwards.
#![allow(unsafe_code)]

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A terminal in use; as it was when dropped.
pub(super) struct Terminal {
    before: Option<libc::termios>,
}

/// Columns and lines of the terminal that the output goes to; `None` where it goes elsewhere.
pub(crate) fn size() -> Option<(usize, usize)> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: `size` is a valid place for the result.
    let known = unsafe { libc::ioctl(1, libc::TIOCGWINSZ, &raw mut size) } == 0 && size.ws_col > 0;
    known.then(|| (size.ws_col.into(), size.ws_row.into()))
}

extern "C" fn interrupt(_: libc::c_int) {
    INTERRUPTED.store(true, Relaxed);
}

impl Terminal {
    /// Takes the terminal; `None` where the output is none.
    pub(super) fn open() -> Option<Terminal> {
        if !io::stdout().is_terminal() {
            return None;
        }
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let handler = interrupt as extern "C" fn(libc::c_int);
            // SAFETY: the handler only stores to an atomic.
            unsafe { libc::signal(signal, handler as libc::sighandler_t) };
        }
        // SAFETY: an all-zero termios is a valid value to be overwritten.
        let mut mode: libc::termios = unsafe { std::mem::zeroed() };
        // SAFETY: `mode` is a valid place for the result.
        let before = (unsafe { libc::tcgetattr(0, &raw mut mode) } == 0).then_some(mode);
        if let Some(mut mode) = before {
            mode.c_lflag &= !(libc::ICANON | libc::ECHO);
            // SAFETY: a valid mode, changed in two flags.
            unsafe { libc::tcsetattr(0, libc::TCSANOW, &raw const mode) };
        }
        print!("\x1b[?1049h\x1b[?25l\x1b[2J");
        Some(Terminal { before })
    }

    /// Columns and lines.
    pub(super) fn size(&self) -> (usize, usize) {
        size().unwrap_or((80, 24))
    }

    /// Waits; true: the user wants to leave.
    pub(super) fn wait_for_q(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            if INTERRUPTED.load(Relaxed) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
            let entries = libc::nfds_t::from(self.before.is_some());
            // SAFETY: one valid entry at most.
            let ready = unsafe { libc::poll(&raw mut input, entries, left.as_millis().clamp(1, 1000) as libc::c_int) };
            let mut key = 0_u8;
            // SAFETY: room for the byte that is read.
            if ready > 0 && unsafe { libc::read(0, (&raw mut key).cast(), 1) } == 1 && matches!(key, b'q' | b'Q' | 3) {
                return true;
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        print!("\x1b[?25h\x1b[?1049l");
        let _ = io::stdout().flush();
        if let Some(mode) = &self.before {
            // SAFETY: the mode from before.
            unsafe { libc::tcsetattr(0, libc::TCSANOW, mode) };
        }
    }
}
