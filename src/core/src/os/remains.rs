//! A file that a library which is used here leaves behind where this process does not close what it has opened: its
//! name goes when the process ends. Whoever has the file mapped goes on with it.
#![allow(unsafe_code)]

use super::process;
use std::ffi::CString;
use std::path::Path;
use std::sync::OnceLock;

/// The file: by its name there may be another one by then.
struct Remains {
    name: CString,
    device: libc::dev_t,
    inode: libc::ino_t,
    owner: i32,
}

static REMAINS: OnceLock<Remains> = OnceLock::new();

/// Device and number of what has a name.
fn identity(name: &CString) -> Option<(libc::dev_t, libc::ino_t)> {
    // SAFETY: all zeros are a value of it, and it is filled in below.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a C string, and room for the answer.
    let known = unsafe { libc::lstat(name.as_ptr(), &raw mut about) } == 0;
    known.then_some((about.st_dev, about.st_ino))
}

/// This process has just made a file of this name. The first one counts.
pub fn note(name: &str) {
    let Ok(name) = CString::new(name) else { return };
    if let Some((device, inode)) = identity(&name) {
        let _ = REMAINS.set(Remains { name, device, inode, owner: process::id() });
    }
}

/// Removes it; not in a forked child, whose parent it belongs to. System calls only: signal handlers may call it.
pub fn remove() {
    let Some(remains) = REMAINS.get().filter(|remains| remains.owner == process::id()) else { return };
    if identity(&remains.name) == Some((remains.device, remains.inode)) {
        // SAFETY: a C string.
        unsafe { libc::unlink(remains.name.as_ptr()) };
    }
}

/// Bytes that are free where a file would be made.
pub fn free_bytes(place: &Path) -> Option<u64> {
    let place = CString::new(place.as_os_str().as_encoded_bytes()).ok()?;
    // SAFETY: all zeros are a value of it, and it is filled in below.
    let mut about: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a C string, and room for the answer.
    let known = unsafe { libc::statvfs(place.as_ptr(), &raw mut about) } == 0;
    known.then(|| about.f_bavail * about.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_here_is_removed() {
        let file = std::env::temp_dir().join(format!("pellucid-remains-{}", std::process::id()));
        let name = file.to_str().unwrap();
        std::fs::write(&file, "of another").unwrap();
        note(name);
        let other = file.with_extension("new");
        std::fs::write(&other, "new").unwrap();
        std::fs::rename(&other, &file).unwrap();
        remove();
        assert!(file.exists(), "it is another one");
        std::fs::remove_file(&file).unwrap();
        remove();
        assert!(free_bytes(&std::env::temp_dir()).is_some_and(|bytes| bytes > 0));
    }
}
