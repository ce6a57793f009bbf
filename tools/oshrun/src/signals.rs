//! Signals: which the launcher takes, and what they mean to it.

use crate::sys::signal::{Reader, Set, is_ignored, set_default};
use std::io;

/// Signals that are forwarded to every PE: those of people, and of batch systems whose limits are reached.
const FORWARDED: [i32; 11] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGALRM,
    libc::SIGXCPU,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGWINCH,
];

/// What a signal means to the launcher, besides being forwarded.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A child has ended.
    Child,
    /// The user wants the job to end.
    End,
    /// The user wants the job to pause.
    Pause,
    /// The job goes on after a pause.
    Resume,
    /// Nothing more.
    Other,
}

/// What a signal means.
pub fn meaning(signal: i32) -> Meaning {
    match signal {
        libc::SIGCHLD => Meaning::Child,
        libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGALRM | libc::SIGXCPU | libc::SIGQUIT => Meaning::End,
        libc::SIGTSTP => Meaning::Pause,
        libc::SIGCONT => Meaning::Resume,
        _ => Meaning::Other,
    }
}

/// Begins to take signals as something to read. Those that our own parent has us ignore (`nohup`) stay ignored.
pub fn take() -> io::Result<Reader> {
    set_default(libc::SIGCHLD);
    let wanted = FORWARDED.iter().copied().filter(|s| !is_ignored(*s));
    let signals: Vec<i32> = wanted.chain([libc::SIGCHLD]).collect();
    Reader::new(&Set::of(&signals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings() {
        assert_eq!(meaning(libc::SIGINT), Meaning::End);
        assert_eq!(meaning(libc::SIGUSR1), Meaning::Other);
    }
}
