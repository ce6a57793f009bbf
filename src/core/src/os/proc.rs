//! What the kernel says of processes.

use std::io;
use std::path::Path;

/// A file of the kernel's about a process. What it is called is part of some, of which the kernel keeps 15 bytes,
/// perhaps with half a letter at the end: no reason to know nothing of it.
pub fn read(file: impl AsRef<Path>) -> io::Result<String> {
    std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
