//! Where the library under test and the build folder of the tests are.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::system;

/// Environment variable that names another installed tree to test (the `--prefix` of `./x install`).
pub const PREFIX_VARIABLE: &str = "PELLUCID_PREFIX";

/// The folder of this package.
pub fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The root of the workspace.
pub fn workspace() -> &'static Path {
    package().parent().expect("tests/ lies in the workspace")
}

/// The tree under test: `bin/`, `include/` and `lib/` lie in it.
///
/// # Panics
/// Panics where the tree has no `bin/oshcc`: a suite that has nothing to test must not pass.
pub fn prefix() -> PathBuf {
    let prefix = match std::env::var_os(PREFIX_VARIABLE) {
        Some(path) => PathBuf::from(path),
        None => workspace().join("target/pellucid"),
    };
    assert!(prefix.join("bin/oshcc").exists(), "no library to test in {}: run ./x build first", prefix.display());
    prefix
}

/// A tool of the tree under test: `oshcc`, `oshc++`, `oshrun` or `oshprof`.
///
/// # Panics
/// Panics where the tool is missing, see [`prefix`].
pub fn tool(name: &str) -> PathBuf {
    let path = prefix().join("bin").join(name);
    assert!(path.exists(), "{} is missing: run ./x build first", path.display());
    path
}

/// A header of the tree under test.
pub fn header(name: &str) -> PathBuf {
    prefix().join("include").join(name)
}

/// A library file of the tree under test.
pub fn library(name: &str) -> PathBuf {
    prefix().join("lib").join(name)
}

/// Writes a file that another suite may be reading, which writes the same: it is there as a whole or not at all.
///
/// # Errors
/// That of the system.
pub fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let partial = path.with_extension(format!("{}-{number}.partial", std::process::id()));
    std::fs::write(&partial, text)?;
    std::fs::rename(&partial, path)
}

/// A folder under `target/tests`, made when missing.
///
/// # Panics
/// Panics where the folder cannot be made.
pub fn scratch(name: &str) -> PathBuf {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(path) => PathBuf::from(path),
        None => workspace().join("target"),
    };
    let path = target.join("tests").join(name);
    std::fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

/// A folder among the system's temporary files, which ends with this. Its path is short: that of a socket has 107 bytes
/// at most, and launchers put theirs deep.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Makes an empty one.
    ///
    /// # Panics
    /// Panics where it cannot be made.
    pub fn make() -> Temporary {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("pl-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Temporary(path),
                // Of another process that had this id, and was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Daemons of a launcher that was killed may be about to leave, and remove what they have there, too.
        let gone = || std::fs::remove_dir_all(&self.0).is_ok() || !self.0.exists();
        system::wait_until(Duration::from_secs(3), gone);
    }
}

/// The files below a folder whose names end in one of `ends`, without those that are called as one of `skipped` and
/// what is below them. None where the folder cannot be read.
pub fn files(folder: &Path, skipped: &[&str], ends: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if skipped.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path, skipped, ends));
        } else if ends.iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
    found
}

/// An empty folder under `target/tests` for one test's files.
///
/// # Panics
/// Panics where the folder cannot be emptied or made.
pub fn fresh(name: &str) -> PathBuf {
    let path = scratch(name);
    std::fs::remove_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    scratch(name)
}
