//! What is said to the user. Whoever started an exporter may have closed the other end of its streams, which is no
//! reason for it to end: it runs unattended.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A line on standard error.
pub fn complain(what: impl Display) {
    pellucid_profile::say!("oshprof: {what}");
}

/// How long nothing more is said of what [`Sparing`] is for.
const SILENCE: Duration = Duration::from_secs(10);

/// Complaints that anybody can cause, as often as he likes: one now and then, with the number of the others.
#[derive(Debug, Default)]
pub struct Sparing(Mutex<(Option<Instant>, u64)>);

impl Sparing {
    /// A line on standard error, unless there was one just before.
    pub fn complain(&self, what: impl Display) {
        if let Some(others) = self.left_out(Instant::now()) {
            complain(format_args!("{what}{others}"));
        }
    }

    /// What is to be said of those that were left out; `None`: this one is, too.
    fn left_out(&self, now: Instant) -> Option<String> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0.is_some_and(|last| now.duration_since(last) < SILENCE) {
            state.1 += 1;
            return None;
        }
        let others = std::mem::take(&mut state.1);
        state.0 = Some(now);
        Some(if others > 0 { format!(" (and {others} more before)") } else { String::new() })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_anybody_can_cause_is_said_now_and_then() {
        let (sparing, begin) = (Sparing::default(), Instant::now());
        let at = |seconds: u64| sparing.left_out(begin + Duration::from_secs(seconds));
        assert_eq!(at(0).as_deref(), Some(""));
        assert_eq!([at(0), at(5), at(9)], [None, None, None]);
        assert_eq!(at(10).as_deref(), Some(" (and 3 more before)"));
        assert_eq!(at(11), None);
        assert_eq!(at(60).as_deref(), Some(" (and 1 more before)"));
        assert_eq!(at(90).as_deref(), Some(""));
    }
}
