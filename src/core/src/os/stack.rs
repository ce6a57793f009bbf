//! The stack of the calling thread: printed, and looked through for a signal handler.
#![allow(unsafe_code)]

use super::python;
use std::ffi::{CStr, c_int, c_void};
use std::fmt::Write;

type Callback = extern "C" fn(*mut c_void, *mut c_void) -> c_int;

// Of the compiler's run-time library, which every program of Rust or C++ has.
unsafe extern "C" {
    fn _Unwind_Backtrace(callback: Callback, data: *mut c_void) -> c_int;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _Unwind_GetIPInfo(context: *mut c_void, before: *mut c_int) -> usize;
    fn _Unwind_FindEnclosingFunction(behind: *mut c_void) -> *mut c_void;
}

/// `_URC_NO_REASON`, `_URC_END_OF_STACK`.
const GO_ON: c_int = 0;
const ENOUGH: c_int = 5;
/// Frames that are looked at: recursion without end must not take for ever.
const FRAMES: usize = 256;

/// What is found on the way.
struct Walk<'a> {
    left: usize,
    /// Gets an address in each function, and whether a signal interrupted it; false: enough.
    visit: &'a mut dyn FnMut(usize, bool) -> bool,
}

extern "C" fn step(context: *mut c_void, data: *mut c_void) -> c_int {
    // SAFETY: `walk` passes its own, which lives until the unwinder returns.
    let walk = unsafe { &mut *data.cast::<Walk>() };
    let mut interrupted = 0;
    // SAFETY: the unwinder's context, and a place for the answer.
    let at = unsafe { _Unwind_GetIPInfo(context, &raw mut interrupted) };
    walk.left -= 1;
    // A return address is behind the call; the address that a signal interrupted is its own.
    let at = if interrupted == 0 { at.saturating_sub(1) } else { at };
    if (walk.visit)(at, interrupted != 0) && walk.left > 0 { GO_ON } else { ENOUGH }
}

/// Visits the functions that the calling thread is in, innermost first.
pub(super) fn walk(visit: &mut dyn FnMut(usize, bool) -> bool) {
    let mut walk = Walk { left: FRAMES, visit };
    // SAFETY: the callback gets the pointer that belongs to it.
    unsafe { _Unwind_Backtrace(step, (&raw mut walk).cast()) };
}

/// Whether the calling thread is in a signal handler, as far as its stack tells.
#[cold]
pub fn is_in_handler() -> bool {
    let mut found = false;
    walk(&mut |_, interrupted| {
        found |= interrupted;
        !found
    });
    found
}

/// The first that `find` gives of the functions that the calling thread is in, by their first addresses, innermost
/// first; and where that function returns to, or 0.
#[cold]
pub fn function<R>(find: impl Fn(usize) -> Option<R>) -> Option<(R, usize)> {
    let (mut found, mut returns_to) = (None, 0);
    walk(&mut |at, _| {
        if found.is_some() {
            returns_to = at + 1;
            return false;
        }
        // SAFETY: any address may be asked for.
        let begin = unsafe { _Unwind_FindEnclosingFunction((at + 1) as *mut c_void) };
        found = find(begin as usize);
        true
    });
    found.map(|found| (found, returns_to))
}

/// A look for the frame that a place on the stack is in.
struct Search {
    function: usize,
    place: usize,
    left: usize,
    passed: bool,
}

extern "C" fn pass(context: *mut c_void, data: *mut c_void) -> c_int {
    // SAFETY: `has_left` passes its own, which lives until the unwinder returns.
    let search = unsafe { &mut *data.cast::<Search>() };
    let mut interrupted = 0;
    // SAFETY: the unwinder's context, and a place for the answer.
    let (at, stack) = unsafe { (_Unwind_GetIPInfo(context, &raw mut interrupted), _Unwind_GetCFA(context)) };
    // SAFETY: any address may be asked for.
    let begin = unsafe { _Unwind_FindEnclosingFunction(at as *mut c_void) } as usize;
    search.left -= 1;
    search.passed = stack > search.place;
    if search.passed || begin == search.function || search.left == 0 { ENOUGH } else { GO_ON }
}

/// Whether the calling thread has left the function whose frame a place on this stack was in, as far as its stack
/// tells.
#[cold]
pub fn has_left(function: usize, place: usize) -> bool {
    let mut search = Search { function, place, left: FRAMES, passed: false };
    // SAFETY: the callback gets the pointer that belongs to it.
    unsafe { _Unwind_Backtrace(pass, (&raw mut search).cast()) };
    search.passed
}

/// The addresses that the calls of the calling thread return to, innermost first.
#[cold]
pub fn calls() -> Vec<usize> {
    let mut calls = Vec::new();
    walk(&mut |at, _| {
        calls.push(at + 1);
        true
    });
    calls
}

/// As [`calls`], as many as fit, without allocating; gives how many.
#[cold]
pub fn calls_into(calls: &mut [usize]) -> usize {
    let mut count = 0;
    walk(&mut |at, _| {
        if let Some(call) = calls.get_mut(count) {
            *call = at + 1;
            count += 1;
        }
        count < calls.len()
    });
    count
}

/// Prints the stack of the calling thread on standard error: a line a function, and that of Python where it runs.
/// `name` gives the source lines that are known of some calls, each a file and the address that it returns to.
#[cold]
pub fn print(name: &dyn Fn(&[String]) -> Vec<Option<String>>) {
    let mut frames = Vec::new();
    walk(&mut |at, _| {
        if at != 0 {
            frames.push(at);
        }
        true
    });
    let place = |at: &usize| {
        let (file, offset) = object(*at).unwrap_or_else(|| ("?".to_owned(), *at));
        format!("{file}+{:#x}", offset + 1)
    };
    let named = name(&frames.iter().map(place).collect::<Vec<String>>());
    let are_named = named.len() == frames.len() && named.iter().all(Option::is_some);
    let how = if are_named { "" } else { " (addr2line -Cfie FILE OFFSET names lines)" };
    let mut text = format!("pellucid: stack of this thread, innermost call first{how}:\n");
    for (i, at) in frames.into_iter().enumerate() {
        let line = named.get(i).cloned().flatten();
        let _ = writeln!(text, "pellucid:   {}", line.unwrap_or_else(|| frame(at)));
    }
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
    python::print();
}

/// A line for an address: file, offset in it, and the function where its name is known.
fn frame(at: usize) -> String {
    match place(at) {
        None => format!("{at:#x}"),
        Some((file, offset, None)) => format!("{file} {offset:#x}"),
        Some((file, offset, Some(function))) => format!("{file} {offset:#x} {function}"),
    }
}

/// The file that an address is of, and the offset that tools know it by.
pub fn object(at: usize) -> Option<(String, usize)> {
    place(at).map(|(file, offset, _)| (file, offset))
}

/// File, offset in it, and function of an address.
fn place(at: usize) -> Option<(String, usize, Option<String>)> {
    // SAFETY: plain data.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for.
    if unsafe { libc::dladdr(at as *const c_void, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: C strings of the loader.
    let name = |name: *const std::ffi::c_char| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    // An executable that is not relocated is linked to the address where it is.
    let base = info.dli_fbase as usize;
    // SAFETY: the first page of a loaded object begins with the header of its file.
    let is_fixed = unsafe { *(base as *const u8).add(16) } == 2;
    let offset = if is_fixed { at } else { at - base };
    let function = (!info.dli_sname.is_null()).then(|| name(info.dli_sname));
    Some((name(info.dli_fname), offset, function))
}

#[cfg(test)]
mod tests {
    use super::super::signal_stack;
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_handler_is_seen() {
        static SEEN: AtomicBool = AtomicBool::new(false);
        extern "C" fn handler(_: c_int) {
            SEEN.store(is_in_handler() && signal_stack::current().is_none(), Ordering::Relaxed);
        }
        assert!(!is_in_handler());
        // SAFETY: a handler of this test, for a signal that it sends to itself.
        unsafe {
            libc::signal(libc::SIGUSR2, handler as *const () as usize);
            libc::raise(libc::SIGUSR2);
        }
        assert!(SEEN.load(Ordering::Relaxed));
    }

    #[test]
    fn frames_have_files() {
        let mut lines = Vec::new();
        walk(&mut |at, _| {
            lines.push(frame(at));
            true
        });
        assert!(lines.len() > 3 && lines.iter().filter(|line| line.contains("pellucid_core")).count() > 2, "{lines:?}");
    }
}
