//! The terminal: a screen of its own, keys without return, and everything as it was afterwards.
#![allow(unsafe_code)]

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A terminal in use; as it was when dropped.
pub(super) struct Terminal {
    before: Option<libc::termios>,
    /// What was typed and is no key yet.
    typed: Vec<u8>,
}

/// What was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// The user wants to leave.
    Quit,
    /// None that means anything.
    Other,
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
        put("\x1b[?1049h\x1b[?25l\x1b[2J");
        Some(Terminal { before, typed: Vec::new() })
    }

    /// Waits for a key; `None`: the time is over.
    pub(super) fn key(&mut self, until: Instant) -> Option<Key> {
        loop {
            if INTERRUPTED.load(Relaxed) {
                return Some(Key::Quit);
            }
            if let Some((key, used)) = decode(&self.typed) {
                self.typed.drain(..used);
                return Some(key);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            self.read(left);
        }
    }

    /// Takes what is typed within a time, which need not be over.
    fn read(&mut self, time: Duration) {
        let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
        let entries = libc::nfds_t::from(self.before.is_some());
        // SAFETY: one valid entry at most.
        let ready = unsafe { libc::poll(&raw mut input, entries, time.as_millis().clamp(1, 1000) as libc::c_int) };
        let mut bytes = [0_u8; 64];
        if ready > 0 {
            // SAFETY: room for the bytes that are read.
            let count = unsafe { libc::read(0, bytes.as_mut_ptr().cast(), bytes.len()) };
            match usize::try_from(count) {
                Ok(count @ 1..) => self.typed.extend(&bytes[..count]),
                // Nobody will ever type anything.
                Ok(0) => self.before = None,
                _ => {}
            }
        }
    }
}

/// Writes to the terminal; it may be gone.
fn put(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

impl Drop for Terminal {
    fn drop(&mut self) {
        put("\x1b[0m\x1b[?25h\x1b[?1049l");
        if let Some(mode) = &self.before {
            // SAFETY: the mode from before.
            unsafe { libc::tcsetattr(0, libc::TCSANOW, mode) };
        }
    }
}

/// The first key of what was typed, and its bytes.
fn decode(typed: &[u8]) -> Option<(Key, usize)> {
    const LONG: [(&[u8], Key); 12] = [
        (b"\x1b[A", Key::Up),
        (b"\x1b[B", Key::Down),
        (b"\x1b[C", Key::Right),
        (b"\x1b[D", Key::Left),
        (b"\x1bOA", Key::Up),
        (b"\x1bOB", Key::Down),
        (b"\x1bOC", Key::Right),
        (b"\x1bOD", Key::Left),
        (b"\x1b[5~", Key::PageUp),
        (b"\x1b[6~", Key::PageDown),
        (b"\x1b[H", Key::Home),
        (b"\x1b[F", Key::End),
    ];
    let (&first, rest) = typed.split_first()?;
    if let Some((bytes, key)) = LONG.iter().find(|(bytes, _)| typed.starts_with(bytes)) {
        return Some((*key, bytes.len()));
    }
    match first {
        // A sequence that means nothing here, to its end.
        0x1b if rest.first() == Some(&b'[') => {
            let end = rest.iter().skip(1).position(|byte| (0x40..0x7f).contains(byte))?;
            Some((Key::Other, end + 3))
        }
        b'q' | b'Q' | 3 => Some((Key::Quit, 1)),
        0x20..0x7f | b'\t' | b'\n' => Some((Key::Char(char::from(first)), 1)),
        _ => Some((Key::Other, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        let all = |mut typed: &[u8]| {
            let mut keys = Vec::new();
            while let Some((key, used)) = decode(typed) {
                keys.push(key);
                typed = &typed[used..];
            }
            (keys, typed.len())
        };
        assert_eq!(
            all(b"h\x1b[A\x1b[6~\x1b[1;5Cq\t"),
            (vec![Key::Char('h'), Key::Up, Key::PageDown, Key::Other, Key::Quit, Key::Char('\t')], 0)
        );
        // The rest is still to come.
        assert_eq!(all(b"\x1b[5"), (vec![], 3));
    }
}
