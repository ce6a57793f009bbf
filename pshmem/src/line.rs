//! Source lines of calls, for messages about PEs that have died under other launchers than ours.
//!
//! A process that ends is no place to read debug information in: `oshprof line` does it, from the folder beside that of
//! this library, or from `PATH`. It is started without a fork of this process, by a thread that is none of the
//! program's, and has little time.
#![allow(unsafe_code)]

use std::io::{PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pellucid_core::os::library;
use pellucid_profile::spawn::{Spawned, Stream};

/// Longer than any line.
const LONGEST: usize = 1 << 10;

/// The place in the source that a return address of a file belongs to, `main at heat.c:203`; `None`: nobody knows it in
/// so much time.
pub fn of(path: &str, address: u64, patience: Duration) -> Option<String> {
    all(&[format!("{path}+{address:#x}")], patience).pop().flatten()
}

/// The same of several, each written `FILE+0xADDRESS`.
pub fn all(calls: &[String], patience: Duration) -> Vec<Option<String>> {
    let unknown = || vec![None; calls.len()];
    let Some(until) = Instant::now().checked_add(patience).filter(|_| !patience.is_zero()) else { return unknown() };
    let Some(tool) = tool() else { return unknown() };
    let Ok((mine, theirs)) = std::io::pipe() else { return unknown() };
    let arguments = std::iter::once("line").chain(calls.iter().map(String::as_str));
    let none: [&str; 0] = [];
    let child = Spawned::new(&tool, arguments, none, [Stream::Null, Stream::Of(theirs.as_fd()), Stream::Null]);
    drop(theirs);
    let Ok(child) = child else { return unknown() };
    let said = read_lines(mine, calls.len(), until);
    if said.is_none() {
        child.kill();
    }
    child.wait();
    let said = said.unwrap_or_default();
    // What nobody knows comes back as it was asked for, but for the folders.
    let known = |(call, line): (&String, &str)| (!line.is_empty() && !call.ends_with(line)).then(|| line.to_owned());
    calls.iter().zip(said.lines().map(str::trim_end).chain(std::iter::repeat(""))).map(known).collect()
}

/// The lines that it prints, so many.
fn read_lines(mut out: PipeReader, count: usize, until: Instant) -> Option<String> {
    let mut text = Vec::new();
    while text.iter().filter(|byte| **byte == b'\n').count() < count && text.len() < count * LONGEST {
        let left = until.saturating_duration_since(Instant::now()).as_millis();
        let mut poll = libc::pollfd { fd: out.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd.
        if unsafe { libc::poll(&raw mut poll, 1, i32::try_from(left).ok()?) } <= 0 {
            return None;
        }
        let mut bytes = [0; 256];
        match out.read(&mut bytes).ok()? {
            0 => return None,
            count => text.extend_from_slice(&bytes[..count]),
        }
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// `oshprof`: that of this library, else that of the launcher, else one of the user's.
fn tool() -> Option<PathBuf> {
    let own = library::path_of(of as *const std::ffi::c_void);
    let beside = own.map(PathBuf::from).and_then(|file| {
        let file = file.canonicalize().ok()?;
        Some(file.parent()?.parent()?.join("bin/oshprof"))
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("oshprof"));
    // A static executable does not tell where the library is from.
    let launcher = std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id()));
    let launchers = launcher.ok().map(|file| file.with_file_name("oshprof"));
    beside.into_iter().chain(launchers).chain(named).find(|file| file.is_file())
}
