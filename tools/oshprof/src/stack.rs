//! Where a process is that does not say so itself: the calls of its main thread, found from outside.
//!
//! The thread is stopped for as long as it takes to copy its registers and the begin of its stack (a fraction of a
//! millisecond); what it was doing goes on as if nothing had been. The frames are found in the copy. Where the system
//! does not permit it, or a debugger holds the process already, nothing is known.

mod thread;
mod unwind;

use pellucid_profile::report::{Symbols, place};

use unwind::Image;

/// Calls of the program that are named.
const CALLS: usize = 3;
/// Frames that are looked at.
const FRAMES: usize = 64;

/// `spin at halo.c:24, called from main at halo.c:52`; `None`: that cannot be seen.
pub fn shown(pid: u32, symbols: &dyn Symbols) -> Option<String> {
    let stopped = thread::copy(pid)?;
    let image = Image::of(pid)?;
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let calls = image.calls(&stopped, FRAMES);
    let of_program = calls.iter().filter(|(path, _)| path.as_path() == program).take(CALLS);
    let names = of_program.map(|(path, address)| place(Some((&path.to_string_lossy(), *address)), symbols));
    // What begins a program is not the user's.
    let names: Vec<String> = names.filter(|name| !name.starts_with("_start")).collect();
    (!names.is_empty()).then(|| names.join(", called from "))
}
