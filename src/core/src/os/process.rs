//! This process.
#![allow(unsafe_code)]

use super::{library, remains};

/// Its id.
pub fn id() -> i32 {
    std::process::id() as i32
}

/// Whether the calling thread is its first one. Makes system calls only.
pub(super) fn is_main_thread() -> bool {
    // SAFETY: no arguments.
    unsafe { libc::getpid() == libc::gettid() }
}

/// When this process was started, in the kernel's ticks since it runs: another program in it changes nothing about
/// that.
pub fn start_time() -> u64 {
    let stat = super::proc::read("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may hold anything, the state is the first field.
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(19)?.parse().ok()).unwrap_or_default()
}

/// What is new with each program that runs in a process: random bytes from the kernel. 0: it has told none.
pub fn image() -> u64 {
    // SAFETY: asks for a value.
    let asked = unsafe { libc::getauxval(libc::AT_RANDOM) };
    // A second C library, as a static program gets with what it loads, may not know.
    let random = if asked != 0 { asked } else { of_the_kernel(libc::AT_RANDOM) };
    // SAFETY: the kernel put 16 bytes there.
    if random == 0 { 0 } else { unsafe { (random as *const u64).read_unaligned() } }
}

/// A value of the list that the kernel gave this program; 0 where it has none.
fn of_the_kernel(kind: u64) -> u64 {
    let list = std::fs::read("/proc/self/auxv").unwrap_or_default();
    let words: Vec<u64> = list.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    words.as_chunks::<2>().0.iter().find(|entry| entry[0] == kind).map_or(0, |entry| entry[1])
}

/// Name of this host.
pub fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: writes at most 255 bytes, and the last one stays 0.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let len = name.iter().position(|b| *b == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..len]).into_owned()
}

/// Writes a line to standard error, whatever locks are held. False: it takes nothing, as one that is closed or full.
pub fn write_error(line: &str) -> bool {
    write_bytes(format!("{line}\n").as_bytes())
}

/// Writes text to standard error with system calls alone. False: not all of it is written.
pub fn write_bytes(mut left: &[u8]) -> bool {
    while !left.is_empty() {
        // SAFETY: the bytes are readable.
        let written = unsafe { libc::write(2, left.as_ptr().cast(), left.len()) };
        match usize::try_from(written) {
            Ok(0) => return false,
            Ok(written) => left = &left[written..],
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    true
}

/// Ends the process at once, without exit handlers.
pub fn exit_now(status: i32) -> ! {
    remains::remove();
    // SAFETY: does not return.
    unsafe { libc::_exit(status) }
}

/// Ends the process by a signal that leaves a core dump, where the system permits one. What handles that signal, as
/// Python's `faulthandler`, is called first.
pub fn abort() -> ! {
    std::process::abort()
}

/// Ends another process at once.
pub fn kill(pid: i32) {
    if pid > 0 {
        // SAFETY: takes no pointer; 0 and below would be groups.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

/// Runs exit handlers and ends the process.
pub fn exit(status: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::exit(status) }
}

/// Registers a function to be called with the exit status when the process ends by `exit` or a return from `main`.
pub fn at_exit(handler: extern "C" fn(i32, *mut libc::c_void)) {
    unsafe extern "C" {
        fn on_exit(f: extern "C" fn(i32, *mut libc::c_void), arg: *mut libc::c_void) -> i32;
    }
    library::keep_this_code();
    // SAFETY: the handler is a function of this library, which stays loaded.
    unsafe { on_exit(handler, std::ptr::null_mut()) };
}
