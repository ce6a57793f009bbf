//! What is said on standard error.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Writes a line to standard error, in one piece. Where that is closed or full, nobody can be told, and whoever speaks
/// goes on: its result is another matter.
pub fn line(text: Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// As `eprintln!`, which would end the process where standard error cannot be written to.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {
        $crate::base::say::line(format_args!($($text)*))
    };
}
