//! What is said of a PE that has ended before its time, where no `oshrun` says it.

use super::Process;
use crate::os::crash::Crashed;
use crate::os::other::Ended;
use crate::os::own_fd::OwnFd;
use crate::os::{process, signal};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// As [`crate::bootstrap::Profiles::place`].
pub(super) type Describe = fn(RawFd, u32, Option<&Crashed>, Duration) -> String;

/// Where to look for what is said.
pub(super) struct Words {
    pub process: &'static Process,
    /// The profile's segment.
    pub segment: Option<OwnFd>,
    pub describe: Describe,
}

impl Words {
    /// `line`: how long the source line may take, none at zero. `memory`: what the kernel's count of kills for want of
    /// memory says, see [`crate::os::oom`].
    /// `PE 2 of 4 on host b (pid 71) was killed by signal 11 (segmentation fault) in shmem_quiet`
    pub fn of(&self, pe: u32, ended: Ended, memory: Option<String>, line: Duration) -> String {
        let job = &self.process.job;
        let (npes, host, pid) = (job.npes(), process::host_name(), job.pe(pe).pid());
        // The kernel kills by this signal, which is not always seen.
        let memory = match ended {
            Ended::Killed(libc::SIGKILL) | Ended::Unknown => memory,
            _ => None,
        };
        format!("PE {pe} of {npes} on host {host} (pid {pid}) {}{}", how(ended, memory), self.place(pe, line))
    }

    /// Whether a PE is inside a routine that may take long.
    pub fn is_inside(&self, pe: u32) -> bool {
        self.place(pe, Duration::ZERO).starts_with(" in shmem")
    }

    fn place(&self, pe: u32, line: Duration) -> String {
        let segment = self.segment.as_ref();
        let crashed = self.process.job.pe(pe).crashed_at();
        let place = |segment: &OwnFd| (self.describe)(segment.as_raw_fd(), pe, crashed.as_ref(), line);
        let place = segment.map(place).unwrap_or_default();
        if place.is_empty() { String::new() } else { format!(" {place}") }
    }
}

fn how(ended: Ended, memory: Option<String>) -> String {
    match (ended, memory) {
        (Ended::Killed(number), Some(memory)) => format!("was killed by {}, {memory},", signal::describe(number)),
        (Ended::Killed(number), None) => format!("was killed by {}", signal::describe(number)),
        (Ended::Exited(status), _) => format!("exited with status {status} without shmem_finalize"),
        (Ended::Unknown, Some(memory)) => format!("was killed by the kernel, {memory},"),
        (Ended::Unknown, None) => "ended without shmem_finalize".into(),
    }
}

/// The exit status of a job that ends because a PE has ended like this.
pub(super) fn status(ended: Ended) -> i32 {
    match ended {
        Ended::Killed(number) => 128 + number,
        Ended::Exited(0) | Ended::Unknown => 1,
        Ended::Exited(status) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_its_words() {
        for (ended, memory, text) in [
            (Ended::Killed(11), None, "was killed by signal 11 (segmentation fault)"),
            (Ended::Killed(9), Some("out of memory"), "was killed by signal 9 (kill), out of memory,"),
            (Ended::Unknown, Some("out of memory"), "was killed by the kernel, out of memory,"),
            (Ended::Unknown, None, "ended without shmem_finalize"),
            (Ended::Exited(0), None, "exited with status 0 without shmem_finalize"),
        ] {
            assert_eq!(how(ended, memory.map(String::from)), text);
        }
        assert_eq!([Ended::Exited(0), Ended::Exited(7), Ended::Killed(9)].map(status), [1, 7, 137]);
    }
}
