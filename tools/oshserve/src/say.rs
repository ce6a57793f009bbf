//! What is said to the user. Whoever started an exporter may have closed the other end of its streams, which is no
//! reason for it to end: it runs unattended.

use std::fmt::Display;
use std::io::{self, Write};

/// A line on standard error.
pub fn complain(what: impl Display) {
    pellucid_profile::say!("oshprof: {what}");
}

/// Prints a page that was asked for. A reader that has seen enough of it is no failure; any other is told.
pub fn page(text: &str) -> bool {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(format_args!("standard output: {error}"));
            false
        }
        _ => true,
    }
}

/// Says something on standard output that somebody needs.
///
/// # Errors
/// It cannot be written to.
pub fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| format!("standard output: {error}"))
}
