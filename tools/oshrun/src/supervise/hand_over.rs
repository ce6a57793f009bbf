//! A daemon whose PEs have ended: what they have recorded goes to the head.

use super::{STREAMS, Supervisor};
use crate::hosts::gather::{self, Sender};
use crate::hosts::message::ToHead;
use crate::signals::{self, Meaning};
use pellucid_profile::trace::keep::{self, Drift};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// How often the connection is looked after at least.
const UPKEEP: Duration = Duration::from_millis(250);

impl Supervisor {
    /// After the PEs: tells the head what they have recorded, and waits until the job is over everywhere.
    pub(super) fn hand_over(&mut self) -> io::Result<()> {
        let Some(remote) = &mut self.remote else { return Ok(()) };
        remote.link.send(&ToHead::Ended {}, &self.epoll);
        let mut sender: Option<Sender> = None;
        loop {
            self.keep_link(Instant::now());
            let Some(remote) = &mut self.remote else { return Ok(()) };
            if remote.lost || remote.over {
                break;
            }
            // It writes what all hosts send.
            remote.link.be_patient();
            if let Some((drift_ns, counter_ns, profile)) = remote.collect.take() {
                remote.snapshots = None;
                sender = Some(self.recorded(Drift { counter_ns, offset_ns: drift_ns }, profile));
            }
            let Some(remote) = &mut self.remote else { return Ok(()) };
            while let Some(pieces) = sender.as_mut().filter(|_| !remote.link.is_full()) {
                match pieces.next() {
                    Ok(Some(message)) => remote.link.send(&message, &self.epoll),
                    Ok(None) => {
                        sender = None;
                        remote.link.send(&ToHead::Done {}, &self.epoll);
                    }
                    Err(problem) => remote.link.send(&ToHead::Note { text: problem }, &self.epoll),
                }
            }
            for token in self.epoll.wait(Some(UPKEEP))? {
                match token {
                    super::SIGNALS => {
                        while let Some(number) = self.signals.next() {
                            if signals::meaning(number) == Meaning::End {
                                self.verdict.status.get_or_insert(128 + number);
                                self.leave_job(number);
                                self.remote.iter_mut().for_each(|remote| remote.over = true);
                            }
                        }
                    }
                    super::WAKE => self.resume_output(),
                    STREAMS.. => self.stream_ready(token),
                    _ => {}
                }
            }
        }
        self.leave_trace()
    }

    /// What PEs have recorded: their trace, which ends here, and where it is wanted their profile.
    fn recorded(&self, drift: Drift, profile: bool) -> Sender {
        let (first, pes) = (self.job.pes().start, self.pes.all());
        let trace = self.remote.as_ref().and_then(|remote| remote.trace.as_ref());
        let files = trace.map(|directory| {
            let unreturned = |pe, slot| self.profile.as_ref()?.unreturned(first, pes, pe, slot);
            keep::finish(directory, Some(drift), unreturned);
            gather::trace_files(directory.path())
        });
        let numbers = self.profile.as_ref().filter(|_| profile).map(|profile| profile.take(pes));
        Sender::new(numbers.unwrap_or_default(), 0, files.unwrap_or_default())
    }

    /// The trace is where the head is, or stays here without one.
    fn leave_trace(&mut self) -> io::Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        let (lost, host) = (remote.lost, remote.host.clone());
        if let Some(directory) = remote.trace.as_ref().map(|directory| directory.path().to_owned()) {
            if lost {
                self.output.say(&format!("host {host}: its trace is kept in {}", directory.display()));
            } else {
                let _ = fs::remove_dir_all(directory);
            }
        }
        // What was said since the output of the PEs: that the head is lost.
        if lost { self.flush() } else { Ok(()) }
    }
}
