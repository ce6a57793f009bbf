//! The PEs of a running job, and the process groups they lead.

use crate::orphans;
use crate::sys::process::{self, Ended};
use crate::watchdog::Watchdog;
use pellucid_core::os::oom::Kills;
use std::time::Instant;

/// One PE.
pub struct Pe {
    /// Its process: the one that was started, until [`Pes::adopt`] says another.
    pub pid: i32,
    /// How it ended.
    pub ended: Option<Ended>,
    /// When, on the time line of the profile; 0 where there is none.
    pub ended_ns: u64,
    /// Whether it ended by a signal that this launcher had sent to end the job.
    pub stopped: bool,
    /// Process groups that may have members: its own, and those of what a script that wraps it has left.
    groups: Vec<i32>,
    /// Its process is not the one that was started, which has ended.
    pub adopted: bool,
    /// The process that was started has ended with status 0 before the library was called, and has left others: since
    /// when one of these may become the PE.
    pub expected: Option<Instant>,
}

/// The PEs of this host, by number.
pub struct Pes {
    first: u32,
    list: Vec<Pe>,
    /// Counts of the kernel's kills for want of memory.
    kills: Option<Kills>,
    /// The signals that the PEs were sent to end the job.
    sent: Vec<i32>,
}

impl Pes {
    /// None yet; the first will have this number.
    pub fn new(first: u32) -> Self {
        Self { first, list: Vec::new(), kills: Kills::of(process::id()), sent: Vec::new() }
    }

    /// Adds the next PE.
    pub fn add(&mut self, pid: i32) {
        let groups = vec![pid];
        let (ended, expected) = (None, None);
        self.list.push(Pe { pid, ended, ended_ns: 0, stopped: false, groups, adopted: false, expected });
    }

    /// The PE with this number.
    pub fn get(&self, pe: u32) -> &Pe {
        &self.list[self.place(pe)]
    }

    /// A PE's place among those of this host.
    pub fn place(&self, pe: u32) -> usize {
        (pe - self.first) as usize
    }

    /// Takes note that a process has ended. Returns the PE that it was, if it was one.
    ///
    /// Groups whose last member has gone are struck off here, before the system can give their number to others:
    /// members that outlive their PE become our children, and end here too.
    pub fn note_end(&mut self, pid: i32, ended: Ended, now_ns: u64, watchdog: &mut Watchdog) -> Option<u32> {
        let which = self.list.iter().position(|pe| pe.pid == pid && pe.ended.is_none());
        if let Some(pe) = which {
            self.list[pe].ended = Some(ended);
            self.list[pe].ended_ns = now_ns;
            self.list[pe].stopped = is_by(ended, &self.sent);
        }
        self.strike_off(watchdog);
        which.map(|place| self.first + place as u32)
    }

    fn strike_off(&mut self, watchdog: &mut Watchdog) {
        for pe in self.list.iter_mut().filter(|pe| pe.ended.is_some() || pe.adopted || pe.expected.is_some()) {
            pe.groups.retain(|group| {
                let remains = process::signal_group(*group, 0);
                if !remains {
                    watchdog.forget(*group);
                }
                remains
            });
        }
    }

    /// The PE that runs as this process.
    pub fn running_as(&self, pid: i32) -> Option<u32> {
        self.running().find(|pe| self.get(*pe).pid == pid && self.get(*pe).expected.is_none())
    }

    /// The process that was started for a PE has ended, and the PE is this one, which goes on.
    pub fn adopt(&mut self, pe: u32, pid: i32, watchdog: &mut Watchdog) {
        let place = self.place(pe);
        let it = &mut self.list[place];
        (it.pid, it.adopted, it.expected) = (pid, true, None);
        let group = process::group_of(pid);
        if let Some(group) = group.filter(|group| !it.groups.contains(group)) {
            it.groups.push(group);
            watchdog.add(group);
        }
        self.strike_off(watchdog);
    }

    /// The process that was started for a PE has ended, and another one may become the PE.
    pub fn expect(&mut self, pe: u32, now: Instant, watchdog: &mut Watchdog) {
        let place = self.place(pe);
        self.list[place].expected = Some(now);
        self.strike_off(watchdog);
    }

    /// Whether the process that was started for a PE has left others.
    pub fn has_left(&self, pe: u32, but: i32) -> bool {
        let pids = |pid: &i32| self.list.iter().any(|pe| pe.pid == *pid);
        let groups = &self.get(pe).groups;
        groups.iter().any(|group| process::signal_group(*group, 0))
            || orphans::children().into_iter().any(|pid| pid != but && !pids(&pid) && orphans::is_of(pid, pe))
    }

    /// Says that an end like this is for want of memory, where the kernel has counted one since the begin of the job.
    pub fn out_of_memory(&self, ended: Ended) -> Option<String> {
        let killed = matches!(ended, Ended::Killed { signal: libc::SIGKILL, .. });
        self.kills.as_ref().filter(|_| killed)?.since()
    }

    /// All of them, by number.
    pub fn all(&self) -> &[Pe] {
        &self.list
    }

    /// Numbers of the PEs that run.
    pub fn running(&self) -> impl Iterator<Item = u32> {
        (self.first..).zip(&self.list).filter(|(_, pe)| pe.ended.is_none()).map(|(number, _)| number)
    }

    /// Whether all PEs have ended.
    pub fn all_ended(&self) -> bool {
        self.running().next().is_none()
    }

    /// Whether a group has members that have outlived their PE, or the PE.
    pub fn groups_remain(&self) -> bool {
        self.list.iter().any(|pe| !pe.groups.is_empty())
    }

    /// Sends a signal that is to end the job. Who dies of it from now on has not failed itself.
    pub fn end(&mut self, signal: i32) {
        self.sent.push(signal);
        self.signal(signal);
    }

    /// Sends a signal to everything that belongs to the PEs.
    pub fn signal(&self, signal: i32) {
        for group in self.list.iter().flat_map(|pe| &pe.groups) {
            process::signal_group(*group, signal);
        }
    }
}

/// Whether an end is that of who has died of one of these signals.
fn is_by(ended: Ended, sent: &[i32]) -> bool {
    matches!(ended, Ended::Killed { signal, .. } if sent.contains(&signal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_dies_of_another_signal_or_of_none_has_failed_itself() {
        let killed = |signal| Ended::Killed { signal, core: false };
        let (term, kill) = (libc::SIGTERM, libc::SIGKILL);
        for (ended, sent, is_ours) in [
            (killed(term), &[][..], false),
            (killed(term), &[term][..], true),
            (killed(kill), &[term], false),
            (killed(kill), &[term, kill], true),
            (killed(libc::SIGSEGV), &[term, kill], false),
            (Ended::Exited(128 + term), &[term], false),
        ] {
            assert_eq!(is_by(ended, sent), is_ours, "{ended:?} of {sent:?}");
        }
    }
}
