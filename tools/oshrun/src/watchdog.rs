//! A small process that ends the job when the launcher is killed and so cannot do it.
//!
//! It knows the process groups of the PEs from a pipe, written by the PEs themselves before they run the program: a
//! group is never unknown to it. End of file means that the launcher is gone. At the end of a job it is killed.

use crate::job::Failure;
use crate::sys::process;
use crate::sys::signal;
use pellucid_core::os::processes;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::time::{Duration, Instant};

/// How often is looked whether groups have ended by themselves.
const NAP: Duration = Duration::from_millis(50);

/// The launcher's side.
pub struct Watchdog {
    pipe: io::PipeWriter,
    pid: i32,
}

impl Watchdog {
    /// Starts it. Only while there is one thread. `grace`: what groups have for ending by themselves once the launcher
    /// is gone.
    pub fn start(grace: Duration) -> Result<Self, Failure> {
        let failed = |error| Failure::needs("start the watchdog process", processes::refused(&error));
        let (reader, pipe) = io::pipe().map_err(failed)?;
        match process::fork().map_err(failed)? {
            Some(pid) => Ok(Self { pipe, pid }),
            None => {
                drop(pipe);
                end_job_at_eof(reader.as_raw_fd(), grace)
            }
        }
    }

    /// The descriptor to which a PE [`announce`]s itself.
    pub fn fd(&self) -> RawFd {
        self.pipe.as_raw_fd()
    }

    /// Its process id, to tell it from the PEs.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Tells it of a group that a PE has made.
    pub fn add(&mut self, group: i32) {
        let _ = self.pipe.write_all(&group.to_ne_bytes());
    }

    /// Tells it that a group has no members any more: its number may soon be another's.
    pub fn forget(&mut self, group: i32) {
        let _ = self.pipe.write_all(&(-group).to_ne_bytes());
    }

    /// Ends it.
    pub fn stop(self) {
        self.dismiss();
        process::wait_for(self.pid);
    }

    /// Has it end. Beside threads that yield to each other, it may be seconds until it has: whoever has other things to
    /// do meanwhile looks whether it [has gone](Self::has_gone).
    pub fn dismiss(&self) {
        // Where somebody has ended it, and it was taken as any child is, its number may be another's.
        if !self.has_gone() {
            process::signal(self.pid, libc::SIGKILL);
        }
    }

    /// Whether it has ended; from then on its number may be another's.
    pub fn has_gone(&self) -> bool {
        process::has_gone(self.pid)
    }
}

/// Called in a PE, which leads its own group, before the program runs. Async-signal-safe.
pub fn announce(fd: RawFd) {
    let _ = crate::sys::file::write(fd, &process::id().to_ne_bytes());
}

fn end_job_at_eof(pipe: RawFd, grace: Duration) -> ! {
    signal::Set::all().mask();
    let pipe = process::detach(pipe, c"oshrun-watchdog");
    // Everything else was closed: descriptor 3 is the pipe, and ours.
    let mut pipe = own(pipe);
    let mut groups: Vec<i32> = Vec::new();
    let mut record = [0; 4];
    while pipe.read_exact(&mut record).is_ok() {
        // A group (positive), or that a group is gone (its negative).
        match i32::from_ne_bytes(record) {
            group if group > 0 => groups.push(group),
            gone => groups.retain(|group| *group != -gone),
        }
    }
    let until = Instant::now() + grace;
    while Instant::now() < until && !groups.is_empty() {
        std::thread::sleep(NAP);
        groups.retain(|group| process::signal_group(*group, 0));
    }
    for group in groups {
        process::signal_group(group, libc::SIGKILL);
    }
    process::exit_now(0)
}

#[allow(unsafe_code)]
fn own(fd: RawFd) -> std::fs::File {
    // SAFETY: the descriptor is open and nothing else in this process refers to it.
    unsafe { std::fs::File::from_raw_fd(fd) }
}
