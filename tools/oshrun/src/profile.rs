//! The job's profile segment: made before the PEs start, read when one dies and when all have ended.
#![allow(unsafe_code)]

use crate::options::{Options, Profile as Choice};
use crate::pes::Pe;
use crate::results::Kept;
use crate::sys::process::Ended;
use pellucid_profile::live::PeNow;
use pellucid_profile::model::End;
use pellucid_profile::report::{self, Finished};
use pellucid_profile::segment::{self, CurrentOp, JobInfo, Requests, Segment};
use pellucid_profile::snapshot::{Outcome, PeOutcome};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a request for a snapshot waits at most when its wake-up is lost, and the end of the thread.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The thread that writes snapshots. Dropping it ends it.
pub struct Snapshots {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The segment, as the launcher holds it.
pub struct Profile {
    fd: OwnedFd,
    segment: Segment,
}

impl Profile {
    /// A segment for this job.
    pub fn create(options: &Options) -> io::Result<Self> {
        let info = JobInfo {
            program: options.program.to_string_lossy().into_owned(),
            arguments: options.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            first_pe: 0,
            local_pes: None,
            brief: !matches!(options.profile, Choice::Level(_)),
        };
        let fd = segment::create(options.pes, &info)?;
        let segment = Segment::map(fd.as_fd())?;
        // SAFETY: changes a flag of a descriptor that is ours: PEs inherit it.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) };
        Ok(Self { fd, segment })
    }

    /// Writes a snapshot to the directory whenever a PE asks for one, in a thread of its own, until the result is dropped.
    pub fn serve(&self, directory: &Arc<Kept>) -> io::Result<Snapshots> {
        let requests = Requests::serve(self.fd.as_fd())?;
        let segment = Segment::map(self.fd.as_fd())?;
        let (kept, end) = (Arc::clone(directory), Arc::new(AtomicBool::new(false)));
        let is_over = Arc::clone(&end);
        let thread = std::thread::Builder::new().name("snapshots".into()).spawn(move || {
            while !is_over.load(Ordering::Acquire) {
                let Some(number) = requests.next(LOOK_AGAIN) else { continue };
                if let Ok(directory) = kept.directory()
                    && let Some((path, error)) = report::snapshot(&segment, &directory)
                {
                    kept.complain(&path, &error);
                }
                requests.done(number);
            }
            requests.end();
        })?;
        Ok(Snapshots { end, thread: Some(thread) })
    }

    /// The descriptor that PEs inherit.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Now, on the time line of the profile.
    pub fn now_ns(&self) -> u64 {
        self.segment.now_ns()
    }

    /// The report on everything recorded, with what only the launcher knows: how the job and its PEs ended. Writes it to
    /// the directory as well, where one is given.
    pub fn finish(&self, status: i32, pes: &[Pe], directory: Option<&Path>) -> Finished {
        let outcome = |pe: &Pe| PeOutcome {
            end: match pe.ended {
                Some(Ended::Exited(status)) => End::Exited(status),
                Some(Ended::Killed { signal, .. }) => End::Killed(signal),
                None => End::Unknown,
            },
            ended_ns: pe.ended.map(|_| pe.ended_ns),
        };
        let pes = pes.iter().map(outcome).collect();
        report::finish(&self.segment, &Outcome { exit_status: Some(status), pes }, directory)
    }

    /// A PE now: `runs` tells whether its process does.
    pub fn look(&self, pe: u32, runs: bool) -> PeNow {
        PeNow::look(&self.segment, pe, runs)
    }

    /// What the threads of a PE do, or did last.
    pub fn current(&self, pe: u32) -> Vec<CurrentOp> {
        self.segment.current(pe)
    }
}
