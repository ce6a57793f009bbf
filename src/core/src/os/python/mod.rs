//! The stack of Python, where it runs in this process, without a lock of the interpreter, at any time: from the frames
//! of versions in which it is known where things are, else as `faulthandler` shows it.
#![allow(unsafe_code)]

mod frames;

use std::ffi::{CStr, c_int, c_void};
use std::fmt::Write as _;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, OnceLock};

use super::own_fd::OwnFd;
use super::{library, mmap};
use frames::Frames;

/// Of Python's text, what is read: some dozen lines.
const TEXT: usize = 8192;

type State = extern "C" fn() -> *mut c_void;
type Dump = extern "C" fn(c_int, *mut c_void);

/// How the stack is come by.
#[derive(Clone, Copy)]
enum Source {
    /// A function of Python writes it to a file.
    Written(Dump),
    Read(Frames),
}

/// Prints the stack of the calling thread on standard error, where the thread is one of Python's.
pub(super) fn print() {
    match source() {
        Some((state, Source::Written(write))) => write(libc::STDERR_FILENO, state),
        Some((state, Source::Read(frames))) => {
            let mut text = "Stack (most recent call first):\n".to_owned();
            // SAFETY: the state of this thread.
            unsafe {
                frames.visit(state, &mut |frame| {
                    writeln!(text, "  File \"{}\", line {} in {}", frame.file, frame.line, frame.name).is_ok()
                });
            }
            _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
        }
        None => {}
    }
}

/// Visits file and line of the functions of Python that the calling thread is in, innermost first, until `visit` gives
/// false. None where Python does not run in this thread.
#[cold]
pub fn lines(visit: &mut dyn FnMut(&str, u32) -> bool) {
    match source() {
        Some((state, Source::Written(write))) => written(&mut |fd| write(fd, state), visit),
        // SAFETY: the state of this thread.
        Some((state, Source::Read(frames))) => unsafe {
            frames.visit(state, &mut |frame| visit(frame.file, frame.line));
        },
        None => {}
    }
}

/// The lines that are in what `write` writes to a file.
fn written(write: &mut dyn FnMut(c_int), visit: &mut dyn FnMut(&str, u32) -> bool) {
    static FILE: Mutex<Option<OwnFd>> = Mutex::new(None);
    // Another thread looks at its own stack now: this one does without.
    let Ok(mut file) = FILE.try_lock() else { return };
    if !file.as_ref().is_some_and(OwnFd::is_there) {
        *file = mmap::memfd(c"pellucid-python").ok().map(OwnFd::new);
    }
    let Some(fd) = file.as_ref().map(AsRawFd::as_raw_fd) else { return };
    let mut text = [0_u8; TEXT];
    // SAFETY: a file of this function alone, while it has the lock.
    let is_empty = unsafe { libc::ftruncate(fd, 0) == 0 && libc::lseek(fd, 0, libc::SEEK_SET) == 0 };
    if !is_empty {
        return;
    }
    write(fd);
    // SAFETY: as many bytes as there is room for.
    let read = unsafe { libc::pread(fd, text.as_mut_ptr().cast(), TEXT, 0) };
    let text = String::from_utf8_lossy(&text[..usize::try_from(read).unwrap_or(0)]);
    for (file, line) in text.lines().filter_map(place) {
        if !visit(file, line) {
            return;
        }
    }
}

/// File and line in a line of Python's text: `  File "heat.py", line 47 in step`.
fn place(text: &str) -> Option<(&str, u32)> {
    let (file, rest) = text.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    let line = rest.split(' ').next()?.parse().ok()?;
    Some((file, line))
}

/// Whether there is a Python in this process.
pub fn is_there() -> bool {
    state().is_some()
}

/// Whether its stack can be come by.
pub fn is_readable() -> bool {
    functions().is_some()
}

/// The state of this thread, where it is one of Python's, and how its stack is come by.
fn source() -> Option<(*mut c_void, Source)> {
    let (state, source) = functions()?;
    let state = state();
    (!state.is_null()).then_some((state, source))
}

fn functions() -> Option<(State, Source)> {
    static FOUND: OnceLock<(State, Source)> = OnceLock::new();
    let state = state()?;
    // Another Python than the one before is looked at anew.
    if let Some((of, source)) = FOUND.get()
        && *of as usize == state as usize
    {
        return Some((state, *source));
    }
    // SAFETY: its signature; it may be called at any time, as faulthandler does.
    let dump = |write| Source::Written(unsafe { std::mem::transmute::<usize, Dump>(write) });
    let source = Frames::find()
        .map(Source::Read)
        .or_else(|| find(c"PyUnstable_DumpTraceback").or_else(|| find(c"_Py_DumpTraceback")).map(dump))?;
    _ = FOUND.set((state, source));
    Some((state, source))
}

/// The function that gives the state of the calling thread, at any time.
fn state() -> Option<State> {
    let state = library::is_linked().then(|| find(c"PyGILState_GetThisThreadState"))??;
    // SAFETY: its signature.
    Some(unsafe { std::mem::transmute::<usize, State>(state) })
}

/// Where what has this name is, in the whole program.
fn find(name: &CStr) -> Option<usize> {
    // SAFETY: a null handle looks everywhere.
    Some(unsafe { library::symbol(0, name) }).filter(|at| *at != 0)
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        assert_eq!(place("  File \"/a b/heat.py\", line 47 in step"), Some(("/a b/heat.py", 47)));
        assert_eq!(place("  File \"<frozen runpy>\", line 7"), Some(("<frozen runpy>", 7)));
        for text in
            ["Stack (most recent call first):", "  ...", "  File \"x.py\", line ??? in f", "  <tstate is freed>"]
        {
            assert_eq!(place(text), None, "{text}");
        }
    }

    #[test]
    fn without_python_there_are_none() {
        let mut seen = 0;
        lines(&mut |_, _| {
            seen += 1;
            true
        });
        assert_eq!(seen, 0);
    }
}
