//! How a job is ended before its time: ask, then insist.

use std::time::{Duration, Instant};

/// From asking (SIGTERM) to insisting (SIGKILL).
const GRACE: Duration = Duration::from_secs(1);
/// From insisting to giving up on processes that the kernel does not let go.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send this to all that are left.
    Send(i32),
    /// They cannot be ended.
    GiveUp,
}

/// An ending under way.
#[derive(Debug)]
pub struct Ending {
    since: Instant,
    sent: usize,
}

const SIGNALS: [(i32, Duration); 2] = [(libc::SIGTERM, Duration::ZERO), (libc::SIGKILL, GRACE)];

impl Ending {
    /// Begins now.
    pub fn new(now: Instant) -> Self {
        Self { since: now, sent: 0 }
    }

    /// The step that is due, each once.
    pub fn step(&mut self, now: Instant) -> Option<Step> {
        if now < self.next() {
            return None;
        }
        self.sent += 1;
        match SIGNALS.get(self.sent - 1) {
            Some((signal, _)) => Some(Step::Send(*signal)),
            None => {
                self.since = now;
                Some(Step::GiveUp)
            }
        }
    }

    /// When the next step is due.
    pub fn next(&self) -> Instant {
        self.since + SIGNALS.get(self.sent).map_or(PATIENCE, |(_, after)| *after)
    }

    /// Does not wait for the end of the grace.
    pub fn hurry(&mut self, now: Instant) {
        if self.sent == 1 {
            self.since = now.checked_sub(GRACE).unwrap_or(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ask_insist_give_up() {
        let start = Instant::now();
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let mut ending = Ending::new(start);
        assert_eq!(ending.step(at(0.0)), Some(Step::Send(libc::SIGTERM)));
        assert_eq!(ending.step(at(0.9)), None);
        assert_eq!(ending.next(), at(1.0));
        assert_eq!(ending.step(at(1.0)), Some(Step::Send(libc::SIGKILL)));
        assert_eq!(ending.step(at(9.0)), None);
        assert_eq!(ending.step(at(10.0)), Some(Step::GiveUp));
    }

    #[test]
    fn impatience() {
        let start = Instant::now() + Duration::from_secs(5);
        let mut ending = Ending::new(start);
        ending.step(start);
        ending.hurry(start);
        assert_eq!(ending.step(start), Some(Step::Send(libc::SIGKILL)));
    }
}
