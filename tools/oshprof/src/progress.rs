//! A progress bar on standard error, where that is a terminal and there is something to wait for.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const WIDTH: usize = 40;
/// Nothing is shown of what is done sooner.
const PATIENCE: Duration = Duration::from_millis(300);
const BETWEEN: Duration = Duration::from_millis(50);

/// The bar. It wipes itself out.
pub struct Bar {
    what: &'static str,
    begin: Instant,
    last: Option<Instant>,
    is_terminal: bool,
}

impl Bar {
    /// A bar for something that begins now.
    pub fn new(what: &'static str) -> Bar {
        Bar { what, begin: Instant::now(), last: None, is_terminal: std::io::stderr().is_terminal() }
    }

    /// `done` of `all` are done.
    pub fn show(&mut self, done: usize, all: usize) {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= BETWEEN);
        if self.is_terminal && self.begin.elapsed() >= PATIENCE && is_due {
            self.last = Some(Instant::now());
            let _ = std::io::stderr().write_all(line(self.what, done, all).as_bytes());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.last.is_some() {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

fn line(what: &str, done: usize, all: usize) -> String {
    let filled = (done.min(all) * WIDTH).checked_div(all).unwrap_or(WIDTH);
    format!("\r{what} [{}{}] {done}/{all}", "#".repeat(filled), " ".repeat(WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        assert!(line("x", 0, 4).contains(&" ".repeat(WIDTH)));
        assert!(line("x", 2, 4).contains("#".repeat(WIDTH / 2).as_str()));
        assert!(line("x", 9, 4).contains("#".repeat(WIDTH).as_str()) && line("x", 0, 0).contains("0/0"));
    }
}
