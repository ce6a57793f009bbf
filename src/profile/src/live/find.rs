//! Processes of this host that hold a profile segment: launchers of ours, and PEs under whatever launcher.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// What descriptors of a segment stand for.
const SEGMENT: &str = "/memfd:pellucid-profile";

/// A file of the kernel's about a process. What it is called is part of some, of which the kernel keeps 15 bytes,
/// perhaps with half a letter at the end: no reason to know nothing of it.
pub fn read(file: impl AsRef<Path>) -> io::Result<String> {
    fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// All processes that this one sees.
pub fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Who owns a process; `None`: it has gone.
pub fn owner(pid: u32) -> Option<u32> {
    fs::metadata(format!("/proc/{pid}")).ok().map(|facts| facts.uid())
}

/// Whether a process is an `oshrun`.
pub fn is_launcher(pid: u32) -> bool {
    name(pid).is_some_and(|name| name == "oshrun")
}

/// What a process is called; `None`: it has gone.
pub fn name(pid: u32) -> Option<String> {
    Some(read(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
}

/// Whether all threads of a process sleep.
pub fn sleeps(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let states = threads.flatten().filter_map(|thread| state_in(&thread.path().join("stat")));
    states.fold(None, |all: Option<bool>, (state, _)| Some(all.unwrap_or(true) && matches!(state, 'S' | 'D' | 'I')))
        == Some(true)
}

/// The kernel's letter for the state of a process, and who has started it; `None`: there is none.
pub fn state(pid: u32) -> Option<(char, u32)> {
    state_in(Path::new(&format!("/proc/{pid}/stat")))
}

fn state_in(file: &Path) -> Option<(char, u32)> {
    let stat = read(file).ok()?;
    let mut words = stat.rsplit_once(") ")?.1.split(' ');
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// Whether a process runs: one that only waits to be collected does not.
pub fn runs(pid: u32) -> bool {
    state(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// Whether `pid` was started by `launcher`, directly or by others.
pub fn is_below(mut pid: u32, launcher: u32) -> bool {
    // Processes may end and begin meanwhile: not for ever.
    for _ in 0..64 {
        match state(pid) {
            Some((_, parent)) if parent == launcher => return true,
            Some((_, parent)) if parent > 1 => pid = parent,
            _ => return false,
        }
    }
    false
}

/// The segment that a process holds; `None`: it holds none.
///
/// # Errors
/// There is no such process, or it is another user's.
pub fn open_segment(pid: u32) -> io::Result<Option<File>> {
    for entry in fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd"))?.flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        if target.to_string_lossy().starts_with(SEGMENT) {
            // Whatever it is, opening it does not wait.
            return OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(entry.path()).map(Some);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found() {
        let own = std::process::id();
        assert!(processes().any(|pid| pid == own) && runs(own) && !is_launcher(own) && !sleeps(own));
        let (_, parent) = state(own).unwrap();
        assert!(is_below(own, parent) && !is_below(parent, own));
        assert!(owner(own).is_some() && name(own).is_some());
        assert!(open_segment(u32::MAX).is_err());
    }
}
