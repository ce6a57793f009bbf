//! The stack of Python, where it runs in this process: as `faulthandler` shows it, which needs no lock of the
//! interpreter and may be done at any time.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Mutex;

use super::{library, mmap};

/// Of Python's text, what is read: some dozen lines.
const TEXT: usize = 8192;

type State = extern "C" fn() -> *mut c_void;
type Dump = extern "C" fn(c_int, *mut c_void);

/// Has Python print the stack of the calling thread on standard error, where the thread is one of Python's.
pub(super) fn print() {
    _ = dump(libc::STDERR_FILENO);
}

/// Visits file and line of the functions of Python that the calling thread is in, innermost first, until `visit` gives
/// false. None where Python does not run in this thread.
#[cold]
pub fn lines(visit: &mut dyn FnMut(&str, u32) -> bool) {
    static FILE: Mutex<Option<OwnedFd>> = Mutex::new(None);
    // Another thread looks at its own stack now: this one does without.
    let Ok(mut file) = FILE.try_lock() else { return };
    if file.is_none() {
        *file = mmap::memfd(c"pellucid-python").ok();
    }
    let Some(fd) = file.as_ref().map(AsRawFd::as_raw_fd) else { return };
    let mut text = [0_u8; TEXT];
    // SAFETY: a file of this function alone, while it has the lock.
    let is_empty = unsafe { libc::ftruncate(fd, 0) == 0 && libc::lseek(fd, 0, libc::SEEK_SET) == 0 };
    if !is_empty || dump(fd).is_none() {
        return;
    }
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
    functions().is_some()
}

/// `PyGILState_GetThisThreadState` and `_Py_DumpTraceback`.
fn functions() -> Option<(usize, usize)> {
    if !library::is_linked() {
        return None;
    }
    // SAFETY: a null handle looks for names in the whole program.
    let find = |name: &CStr| Some(unsafe { library::symbol(0, name) }).filter(|at| *at != 0);
    Some((find(c"PyGILState_GetThisThreadState")?, find(c"_Py_DumpTraceback")?))
}

/// Has Python write the stack of the calling thread to a file. `None`: it does not run in this thread.
fn dump(fd: c_int) -> Option<()> {
    let (state, dump) = functions()?;
    // SAFETY: these are the signatures of Python's functions; both may be called at any time, as faulthandler does.
    unsafe {
        let state = std::mem::transmute::<usize, State>(state)();
        (!state.is_null()).then(|| std::mem::transmute::<usize, Dump>(dump)(fd, state))
    }
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
