//! A directory for one test.

use std::fs;
use std::path::{Path, PathBuf};

/// Removed when dropped. The directory itself is made by whoever writes into it.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A path that no other test uses.
    pub fn new(name: &str) -> Scratch {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("oshprof-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Scratch(path)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
