//! Another process of this user: when it ends, and how.
//!
//! Only a parent is told how a process ended. Others can read it as long as the parent has not asked.
#![allow(unsafe_code)]

use super::standard;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A process that is watched.
#[derive(Debug)]
pub struct Other {
    pid: i32,
    /// Readable once it has ended; `None`: the kernel has none (before Linux 5.3), or does not allow it.
    fd: Option<OwnedFd>,
}

/// How a process ended, as far as it can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// `exit` with this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// Its parent was quicker.
    Unknown,
}

impl Other {
    /// A process that runs, or has run until a moment ago.
    pub fn new(pid: i32) -> Self {
        // SAFETY: takes no pointer. The descriptor is new, and closed on exec.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as RawFd;
        // SAFETY: as above.
        Self { pid, fd: (fd >= 0).then(|| standard::above(unsafe { OwnedFd::from_raw_fd(fd) })) }
    }

    /// What can be polled for its end; `None`: it has to be asked for from time to time.
    pub fn fd(&self) -> Option<RawFd> {
        self.fd.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// The program has closed the descriptor, whose number may stand for something else: it is not closed.
    pub fn forget_descriptor(&mut self) {
        std::mem::forget(self.fd.take());
    }

    /// Whether it was sent a signal that nothing survives, and is not gone yet.
    pub fn is_killed(&self) -> bool {
        let status = super::proc::read(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
        let pending = pending.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        pending & 1 << (libc::SIGKILL - 1) != 0
    }

    /// How it ended; `None`: it runs.
    pub fn ended(&self) -> Option<Ended> {
        // `pid (name) state ppid ...`, where the name may hold anything.
        let stat = match super::proc::read(format!("/proc/{}/stat", self.pid)) {
            Ok(stat) => stat,
            Err(error) if is_gone(&error) => return Some(Ended::Unknown),
            Err(_) => return None,
        };
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        match fields.next()? {
            "Z" | "X" => {}
            _ => return None,
        }
        // The 52nd field of all; the state is the third.
        let status: i32 = fields.nth(48).and_then(|field| field.parse().ok())?;
        Some(if libc::WIFSIGNALED(status) {
            Ended::Killed(libc::WTERMSIG(status))
        } else {
            Ended::Exited(libc::WEXITSTATUS(status))
        })
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// The parent of this process.
pub fn parent() -> i32 {
    // SAFETY: no arguments.
    unsafe { libc::getppid() }
}

/// Names the processes that this one sees: equal in two processes where an id means the same in both.
pub fn namespace() -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/pid").map_or(1, |metadata| metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::socket;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn the_end_of_a_process_is_seen_until_its_parent_has_asked() {
        for (script, ended) in
            [("exit 0", Ended::Exited(0)), ("exit 7", Ended::Exited(7)), ("kill -9 $$", Ended::Killed(9))]
        {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("read x; {script}")]).stdin(std::process::Stdio::piped());
            let mut child = command.spawn().unwrap();
            let other = Other::new(child.id() as i32);
            assert_eq!(other.ended(), None);
            drop(child.stdin.take());
            let until = Instant::now() + Duration::from_secs(30);
            match other.fd() {
                Some(fd) => assert!(socket::readable(fd, until).unwrap()),
                None => while other.ended().is_none() && Instant::now() < until {},
            }
            assert_eq!(other.ended(), Some(ended), "{script}");
            child.wait().unwrap();
            assert_eq!(other.ended(), Some(Ended::Unknown));
        }
        assert_ne!(namespace(), 0);
    }
}
