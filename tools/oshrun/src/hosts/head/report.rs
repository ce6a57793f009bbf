//! What the PEs of all hosts do: asked for when someone wants to know, or when a PE has left and others may wait for
//! it.

use super::{Head, Host, Phase};
use crate::hosts::message::ToDaemon;
use crate::report;
use crate::signals;
use crate::supervise::{HOPELESS_AFTER, LOST_AFTER};
use pellucid_profile::live::{PeNow, State};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long hosts may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// A signal.
    Signal(i32),
    /// The time limit.
    Timeout,
    /// A PE has left.
    Left,
}

/// Answers under way.
pub(super) struct PendingReport {
    id: u32,
    why: Why,
    /// Hosts that have not answered.
    waiting: Vec<usize>,
    handled: bool,
    lines: BTreeMap<usize, Vec<String>>,
    pes: Vec<PeNow>,
    until: Instant,
}

impl Head<'_> {
    /// Asks all hosts. While answers to another question are under way, it is not asked.
    pub(super) fn ask(&mut self, why: Why) {
        if self.asked.is_some() {
            return;
        }
        self.reports += 1;
        let id = self.reports;
        let waiting = (0..self.hosts.len()).filter(|host| self.hosts[*host].phase == Phase::Running).collect();
        let (lines, pes, until) = (BTreeMap::new(), Vec::new(), Instant::now() + PATIENCE);
        self.asked = Some(PendingReport { id, why, waiting, handled: false, lines, pes, until });
        // SIGQUIT is explained first and passed on then, handled or not.
        let number = if why == Why::Signal(libc::SIGUSR1) { libc::SIGUSR1 } else { 0 };
        let lost = self.lost.as_ref().filter(|_| why == Why::Left);
        let inside = lost.map(|lost| !lost.finalized);
        self.send_all(&ToDaemon::Report { id, inside, number });
        self.answer_if_complete(Instant::now());
    }

    /// A host answers.
    pub(super) fn reported(&mut self, host: usize, id: u32, handled: bool, lines: Vec<String>, pes: Vec<PeNow>) {
        let Some(asked) = self.asked.as_mut().filter(|asked| asked.id == id) else { return };
        asked.waiting.retain(|waiting| *waiting != host);
        asked.handled |= handled;
        asked.lines.insert(host, lines);
        asked.pes.extend(pes);
        self.answer_if_complete(Instant::now());
    }

    /// Says what was found out, when all have answered or time is up.
    pub(super) fn answer_if_complete(&mut self, now: Instant) {
        let silent = |asked: &PendingReport| asked.waiting.iter().all(|host| self.hosts[*host].phase != Phase::Running);
        let Some(mut asked) = self.asked.take_if(|asked| now >= asked.until || silent(asked)) else { return };
        asked.pes.extend(self.ended());
        asked.pes.sort_by_key(|pe| pe.pe);
        let mut lines: Vec<String> = std::mem::take(&mut asked.lines).into_values().flatten().collect();
        if asked.why != Why::Left {
            lines.extend(self.unanswered(&asked));
        }
        let all =
            |text: String| text + &report::listed(&lines) + &report::waits(&asked.pes) + &self.survival.losses.text();
        match asked.why {
            Why::Signal(number) => {
                if !asked.handled {
                    let text = all(format!("{}: the PEs now:", pellucid_core::os::signal::describe(number)));
                    self.output.say(&text);
                }
                if number != libc::SIGUSR1 {
                    self.forward(number, signals::meaning(number));
                }
            }
            Why::Timeout => {
                let limit = self.options.timeout.unwrap_or_default().as_secs_f64();
                let text = all(format!("the job has not ended within {limit} s (--timeout)"));
                self.decide_exit(Some(text), 124);
            }
            Why::Left => {
                let Some(lost) = self.lost.as_mut() else { return };
                let since = now.saturating_duration_since(lost.since);
                let waits = || !lost.begun || report::is_waited_for(lost.pe, &asked.pes);
                match (lines.is_empty(), since >= LOST_AFTER) {
                    (true, true) => lost.since = now,
                    (false, late) if late || (!lost.finalized && waits()) => {
                        let text = all(report::lost(&lost.who, &lost.place, since.as_secs()));
                        self.decide_exit(Some(text), 1);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The PEs of hosts that are asked no more: all of them have ended.
    fn ended(&self) -> impl Iterator<Item = PeNow> {
        let is_over = |host: &&Host| matches!(host.phase, Phase::Ended | Phase::Collecting | Phase::Done);
        let ended = |pe| PeNow { pe, state: State::Ended, ..PeNow::default() };
        self.hosts.iter().filter(is_over).flat_map(|host| host.place.pes.clone()).map(ended)
    }

    /// A line for each host that says nothing of its PEs.
    fn unanswered(&self, asked: &PendingReport) -> Vec<String> {
        let missing = |(number, host): (usize, &Host)| match host.phase {
            Phase::Starting => Some(format!("{} has not answered yet, and no PE is started before", host.who())),
            Phase::Running if asked.waiting.contains(&number) => Some(format!("{} does not answer", host.who())),
            _ => None,
        };
        self.hosts.iter().enumerate().filter_map(missing).collect()
    }

    /// Asks when it is time to.
    pub(super) fn ask_when_due(&mut self, now: Instant) {
        self.answer_if_complete(now);
        if self.is_ending() {
            return;
        }
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.ask(Why::Timeout);
        } else if let Some(lost) = &self.lost {
            // As on one host, but not at each look: it is a message to each host and one from it.
            let since = now.saturating_duration_since(lost.since);
            let is_due = self.looked.is_none_or(|looked| now >= looked + HOPELESS_AFTER);
            if since >= LOST_AFTER || (since >= HOPELESS_AFTER && !lost.finalized && is_due) {
                self.looked = Some(now);
                self.ask(Why::Left);
            }
        }
    }
}
