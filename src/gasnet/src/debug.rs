//! GASNet tools for who looks for errors: stacks, stops for a debugger, places in words; and limits of the process.
#![allow(unsafe_code)]

use crate::settings;
use crate::tools::{gasnett_getenv_yesno_withdefault, text};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::time::Duration;

/// `gasnett_print_backtrace`: 0 where something was written.
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_print_backtrace(fd: c_int) -> c_int {
    let mut frames = [std::ptr::null_mut::<c_void>(); 64];
    // SAFETY: room for as many frames.
    unsafe {
        let count = libc::backtrace(frames.as_mut_ptr(), frames.len() as c_int);
        libc::backtrace_symbols_fd(frames.as_ptr(), count, fd);
        c_int::from(count == 0)
    }
}

/// What `gasnett_print_backtrace_ifenabled` is at first.
#[unsafe(no_mangle)]
pub extern "C" fn pellucid_gex_backtrace_if_enabled(fd: c_int) -> c_int {
    if settings::is_on("GASNET_BACKTRACE") { gasnett_print_backtrace(fd) } else { 1 }
}

/// `gasnett_backtrace_init`: the C library finds the program itself.
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_backtrace_init(_: *const c_char) {}

/// `gasnett_freezeForDebuggerNow`: until a debugger sets the flag to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_freezeForDebuggerNow(flag: *mut c_int, name: *const c_char) {
    // SAFETY: a string of C, or null, says the caller; so below, a variable.
    let name = unsafe { text(name) }.unwrap_or_else(|| "the flag".into());
    pellucid_core::say!("pellucid: process {} waits for a debugger to set {name} to 0", std::process::id());
    // SAFETY: see above; whoever changes it is not of this program.
    unsafe {
        flag.write_volatile(1);
        while flag.read_volatile() != 0 {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// What a debugger sets to 0.
#[unsafe(no_mangle)]
pub static mut pellucid_gex_frozen: c_int = 0;

/// `gasnett_freezeForDebuggerErr`: where `GASNET_FREEZE_ON_ERROR` asks for it.
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_freezeForDebuggerErr() {
    if settings::is_on("GASNET_FREEZE_ON_ERROR") {
        // SAFETY: a variable of this library, and a string of C.
        unsafe { gasnett_freezeForDebuggerNow(&raw mut pellucid_gex_frozen, c"pellucid_gex_frozen".as_ptr()) };
    }
}

/// `gasnett_current_loc`: memory of the C library's, which the caller may free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_location(
    function: *const c_char,
    file: *const c_char,
    line: c_int,
) -> *mut c_char {
    // SAFETY: strings of the compiler's.
    let (function, file) = unsafe { (text(function).unwrap_or_default(), text(file).unwrap_or_default()) };
    let place = CString::new(format!("{function} at {file}:{line}")).unwrap_or_default();
    // SAFETY: a string of C.
    unsafe { libc::strdup(place.as_ptr()) }
}

/// The limits that `gasnett_maximize_rlimits` raises, and what the variables are called that forbid it.
const LIMITS: [(c_uint, &str); 6] = [
    (libc::RLIMIT_CPU, "RLIMIT_CPU"),
    (libc::RLIMIT_AS, "RLIMIT_AS"),
    (libc::RLIMIT_DATA, "RLIMIT_DATA"),
    (libc::RLIMIT_STACK, "RLIMIT_STACK"),
    (libc::RLIMIT_RSS, "RLIMIT_RSS"),
    (libc::RLIMIT_NOFILE, "RLIMIT_NOFILE"),
];

/// Raises a limit as far as this process may, unless `GASNET_MAXIMIZE_` and its name say not to.
fn maximize(which: c_uint, name: &str) -> bool {
    let variable = CString::new(format!("GASNET_MAXIMIZE_{name}")).unwrap_or_default();
    // SAFETY: a string of C.
    if unsafe { gasnett_getenv_yesno_withdefault(variable.as_ptr(), 1) } == 0 {
        return true;
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a limit of this process.
    unsafe {
        libc::getrlimit(which, &raw mut limit) == 0 && {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(which, &raw const limit) == 0
        }
    }
}

/// `gasnett_maximize_rlimits`: nonzero where all could be raised.
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_maximize_rlimits() -> c_int {
    LIMITS.iter().fold(true, |all, (which, name)| maximize(*which, name) && all).into()
}

/// `gasnett_maximize_rlimit`: one of them, by its number and its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_maximize_rlimit(which: c_int, name: *const c_char) -> c_int {
    // SAFETY: a string of C, or null, says the caller.
    maximize(which as c_uint, &unsafe { text(name) }.unwrap_or_default()).into()
}

/// `gasnett_close_streams`: whoever reads or writes at their other ends sees them closed. Their numbers stay taken, as
/// what is opened later would get what others still write.
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_close_streams() {
    // Not all streams: another thread may read from one for ever.
    pellucid_core::os::streams::flush_standard();
    // SAFETY: a string of C, and numbers.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        for fd in 0..3 {
            libc::dup2(nowhere, fd);
        }
        if nowhere > 2 {
            libc::close(nowhere);
        }
    }
}
