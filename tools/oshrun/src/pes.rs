//! The PEs of a running job, and the process groups they lead.

use crate::sys::process::{self, Ended};
use crate::watchdog::Watchdog;
use pellucid_core::os::oom::Kills;

/// One PE.
pub struct Pe {
    /// Its process, and its process group.
    pub pid: i32,
    /// How it ended.
    pub ended: Option<Ended>,
    /// When, on the time line of the profile; 0 where there is none.
    pub ended_ns: u64,
    /// Whether it ended by a signal that this launcher had sent to end the job.
    pub stopped: bool,
    /// Whether its group may have members: the PE, or what a script that wraps it has left.
    group: bool,
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
        self.list.push(Pe { pid, ended: None, ended_ns: 0, stopped: false, group: true });
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
        for pe in self.list.iter_mut().filter(|pe| pe.group && pe.ended.is_some()) {
            if !process::signal_group(pe.pid, 0) {
                pe.group = false;
                watchdog.forget(pe.pid);
            }
        }
        which.map(|place| self.first + place as u32)
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
        self.list.iter().any(|pe| pe.group)
    }

    /// Sends a signal that is to end the job. Who dies of it from now on has not failed itself.
    pub fn end(&mut self, signal: i32) {
        self.sent.push(signal);
        self.signal(signal);
    }

    /// Sends a signal to everything that belongs to the PEs.
    pub fn signal(&self, signal: i32) {
        for pe in self.list.iter().filter(|pe| pe.group) {
            process::signal_group(pe.pid, signal);
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
