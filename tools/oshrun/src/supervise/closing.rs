//! After the last PE: what it has left running, and what it has written.

use super::{SIGNALS, Supervisor, WAKE};
use crate::ending::{Ending, Step};
use crate::input::{RELAY, TERMINAL};
use crate::orphans;
use crate::signals::{self, Meaning};
use crate::watchdog::Watchdog;
use std::io;
use std::time::{Duration, Instant};

/// How long output is awaited from processes that hold a PE's streams and cannot be found.
const LAST_OUTPUT: Duration = Duration::from_millis(200);
/// How long our reader may hold up the end of a job that was ended by a signal.
const LAST_WRITE: Duration = Duration::from_secs(1);

impl Supervisor {
    /// Ends the watchdog. The head hears of this host meanwhile.
    pub(super) fn stop(&mut self, watchdog: &Watchdog) -> io::Result<()> {
        watchdog.dismiss();
        while !watchdog.has_gone() {
            self.wait_for_ends(None)?;
        }
        Ok(())
    }

    /// Waits until a process may have ended, or for so long; output goes on.
    fn wait_for_ends(&mut self, at_most: Option<Duration>) -> io::Result<()> {
        self.probe_head(Instant::now());
        let at_most = self.at_most(at_most);
        for token in self.epoll.wait(at_most)? {
            match token {
                SIGNALS => while self.signals.next().is_some() {},
                WAKE => self.resume_output(),
                TERMINAL | RELAY => self.relay = None,
                other => self.stream_ready(other),
            }
        }
        Ok(())
    }

    /// Ends what left its process group and outlived its parents.
    pub(super) fn end_orphans(&mut self) -> io::Result<()> {
        crate::source::close();
        let mut ending = Ending::new(Instant::now());
        let mut number = 0;
        loop {
            match ending.step(Instant::now()) {
                Some(Step::Send(signal)) => number = signal,
                Some(Step::GiveUp) => return Ok(()),
                None => {}
            }
            if !orphans::signal(number) {
                return Ok(());
            }
            // Their own orphans become ours one by one, each end of one is a signal: then look again, with the same
            // signal.
            let until = ending.next().saturating_duration_since(Instant::now());
            self.wait_for_ends(Some(until))?;
        }
    }

    /// Passes on what is left of the output.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.relay = None;
        let give_up = Instant::now() + LAST_OUTPUT;
        let mut interrupted_at = self.verdict.interrupted.then(Instant::now);
        loop {
            let now = Instant::now();
            // The head passes signals on, too.
            interrupted_at = interrupted_at.or_else(|| self.verdict.interrupted.then_some(now));
            if !self.output.is_closed() && now >= give_up && self.output.is_written() {
                self.output.close();
            }
            let closed = self.output.is_closed();
            if closed && self.output.is_written() {
                self.resume_output();
                if self.output.is_written() {
                    return Ok(());
                }
            }
            if interrupted_at.is_some_and(|since| now >= since + LAST_WRITE) {
                return Ok(());
            }
            // That of another host is taken by the head, which knows its own reader.
            let bounded = self.verdict.cut_short && self.remote.as_ref().is_none_or(|remote| remote.lost);
            if bounded {
                self.output.give_up_stuck(now);
            }
            let wait = match (closed && !bounded, interrupted_at) {
                (false, _) => Some(LAST_OUTPUT),
                (true, Some(since)) => Some((since + LAST_WRITE).saturating_duration_since(now)),
                (true, None) => None,
            };
            self.probe_head(now);
            let wait = self.at_most(wait);
            for token in self.epoll.wait(wait)? {
                match token {
                    SIGNALS => {
                        while let Some(number) = self.signals.next() {
                            if signals::meaning(number) == Meaning::End {
                                self.verdict.status.get_or_insert(128 + number);
                                interrupted_at.get_or_insert(now);
                            }
                        }
                    }
                    WAKE => self.resume_output(),
                    TERMINAL | RELAY => {}
                    other => self.stream_ready(other),
                }
            }
        }
    }
}
