//! A daemon whose PEs have ended: what they have recorded goes to the head.

use super::{STREAMS, Supervisor};
use crate::hosts::gather::{self, Sender};
use crate::hosts::list;
use crate::hosts::message::ToHead;
use crate::profile::Profile;
use crate::signals::{self, Meaning};
use pellucid_profile::output::OutputDir;
use pellucid_profile::text::shell_word;
use pellucid_profile::trace::keep::{self, Drift};
use std::fs;
use std::io::{self, Write};
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
            self.probe_head(Instant::now());
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
                        let trace_explained = self.profile.as_ref().is_some_and(Profile::told_of_trace);
                        remote.link.send(&ToHead::Done { trace_explained }, &self.epoll);
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

    /// Whether there is something in a trace that nobody takes: what PEs have recorded is the user's. A file says what
    /// it is, since what is said now may reach nobody.
    fn is_kept(&self, directory: &OutputDir) -> bool {
        let (first, pes) = (self.job.pes().start, self.pes.all());
        let unreturned = |pe, slot| self.profile.as_ref()?.unreturned(first, pes, pe, slot);
        let (summary, problems) = keep::finish(directory, None, unreturned);
        if summary.calls == 0 && problems.is_empty() {
            return false;
        }
        let (pes, host) = (list::pes_text(&self.job.pes()), self.remote.as_ref().map_or("", |remote| &remote.host));
        let text = format!(
            "The trace of {pes} of {} on host {host}. The oshrun that ran the job was lost before it could take it:\n\
             it stays here until somebody removes it. To see what is in it: oshprof trace {}\n",
            self.job.npes(),
            shell_word(directory.path())
        );
        let _ = directory.create("README").and_then(|mut file| file.write_all(text.as_bytes()));
        true
    }

    /// The trace is where the head is, or stays here without one.
    fn leave_trace(&mut self) -> io::Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        let (lost, host) = (remote.lost, remote.host.clone());
        if let Some(directory) = &remote.trace {
            let path = directory.path().to_owned();
            if lost && self.is_kept(directory) {
                self.output.say(&format!("host {host}: its trace is kept in {}", path.display()));
            } else {
                let _ = fs::remove_dir_all(path);
            }
        }
        // What was said since the output of the PEs: that the head is lost.
        if lost { self.flush() } else { Ok(()) }
    }
}
