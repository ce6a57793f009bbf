//! The job's profile segment: made before the PEs start, read when one dies and when all have ended.
#![allow(unsafe_code)]

use crate::pes::Pe;
use crate::results::ProfileOutput;
use crate::source::{self, Oshprof};
use crate::sys::process::Ended;
use pellucid_core::os::crash::Crashed;
use pellucid_profile::companion::Companions;
use pellucid_profile::live::{Inactivity, PeNow};
use pellucid_profile::model::{self, End};
use pellucid_profile::output::OutputDir;
use pellucid_profile::report::{self, Finished};
use pellucid_profile::segment::{self, JobInfo, Segment, SnapshotRequests, handover};
use pellucid_profile::snapshot::{self, Outcome, PeOutcome};
use pellucid_profile::trace::Unreturned;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a request for a snapshot waits at most when its wake-up is lost, and the end of the thread.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The thread that writes snapshots. Dropping it ends it.
pub struct Snapshots {
    end: Arc<AtomicBool>,
    requests: Arc<SnapshotRequests>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Release);
        // Wakes the thread, too.
        self.requests.end();
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
    /// A segment for these PEs of a job of `npes`. `detailed`: see [`crate::options::ProfileChoice::detailed`]. `more`
    /// is what else is known of the job.
    pub fn create(
        pes: Range<u32>,
        npes: u32,
        program: &OsStr,
        args: &[OsString],
        detailed: Option<bool>,
        more: JobInfo,
    ) -> io::Result<Self> {
        let info = JobInfo {
            program: program.to_string_lossy().into_owned(),
            arguments: args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            first_pe: pes.start,
            local_pes: Some(pes.end - pes.start),
            counts_only: detailed != Some(true),
            off: detailed.is_none(),
            ..more
        };
        let fd = segment::create(npes, &info)?;
        let segment = Segment::map(fd.as_fd())?;
        // SAFETY: changes a flag of a descriptor that is ours: PEs inherit it.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) };
        Ok(Self { fd, segment })
    }

    /// Writes a snapshot to the directory whenever a PE asks for one, and has its metrics written, in a thread of its
    /// own, until the result is dropped.
    pub fn serve(&self, directory: Option<&Arc<ProfileOutput>>, companions: &Arc<Companions>) -> io::Result<Snapshots> {
        let requests = Arc::new(SnapshotRequests::serve(self.fd.as_fd())?);
        let segment = Segment::map(self.fd.as_fd())?;
        let (kept, end) = (directory.cloned(), Arc::new(AtomicBool::new(false)));
        let companions = Arc::clone(companions);
        let (is_over, asked) = (Arc::clone(&end), Arc::clone(&requests));
        let thread = std::thread::Builder::new().name("snapshots".into()).spawn(move || {
            while !is_over.load(Ordering::Acquire) {
                let Some(number) = asked.next(LOOK_AGAIN) else { continue };
                if let Some(kept) = &kept
                    && let Some(error) = report::snapshot(&segment, kept.directory())
                {
                    kept.complain(&error);
                }
                companions.snapshot();
                asked.done(number);
            }
        })?;
        Ok(Snapshots { end, requests, thread: Some(thread) })
    }

    /// The descriptor that PEs inherit.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// The segment's memory.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Whether a PE has said that something is missing from its trace.
    pub fn told_of_trace(&self) -> bool {
        self.segment.header().trace_reported.load(Ordering::Relaxed) != 0
    }

    /// Now, on the time line of the profile.
    pub fn now_ns(&self) -> u64 {
        self.segment.now_ns()
    }

    /// The report on everything recorded, with what only the launcher knows: how the job and its PEs ended. Writes it
    /// to the directory as well, where one is given.
    pub fn finish(&self, status: i32, pes: &[Pe], directory: Option<&OutputDir>) -> Finished {
        report::finish(&self.segment, &outcome(status, pes), directory, &Oshprof)
    }

    /// The numbers of this host's PEs, which have ended, and what its segment knows of the job.
    pub fn take(&self, pes: &[Pe]) -> model::Profile {
        snapshot::take(&self.segment, &outcome(0, pes))
    }

    /// The call that the thread of a slot was in when its PE, which is `first` or one of those after it, ended.
    pub fn unreturned(&self, first: u32, pes: &[Pe], pe: u32, slot: u32) -> Option<Unreturned> {
        let ended = pes.get(pe.checked_sub(first)? as usize)?;
        self.segment.unreturned(pe, slot, ended.ended_ns)
    }

    /// A PE now: `runs` tells whether its process does.
    pub fn look(&self, pe: u32, runs: bool) -> PeNow {
        PeNow::look(&self.segment, pe, runs)
    }

    /// Looks for calls of PEs.
    pub fn look_at_calls(&self, inactivity: &mut Inactivity) {
        inactivity.look(&self.segment);
    }

    /// Says how long a PE has made no call, as far as that was watched.
    pub fn note(&self, inactivity: &Inactivity, pe: &mut PeNow) {
        inactivity.note(&self.segment, pe);
    }

    /// Words for where a PE crashed, by what it has noted.
    pub fn crashed(&self, pe: u32, noted: &Crashed) -> Option<String> {
        self.segment.crashed(pe, noted, source::line)
    }
}

/// How a job ended with this status, in the words of metrics.
pub fn state(status: i32, pes: &[Pe]) -> &'static str {
    handover::state(status, pes.iter().map(end))
}

fn end(pe: &Pe) -> End {
    match pe.ended {
        Some(_) if pe.stopped => End::Stopped,
        Some(Ended::Exited(status)) => End::Exited(status),
        Some(Ended::Killed { signal, .. }) => End::Killed(signal),
        None => End::Unknown,
    }
}

/// How the PEs ended.
fn outcome(status: i32, pes: &[Pe]) -> Outcome {
    let one = |pe: &Pe| PeOutcome { end: end(pe), ended_ns: pe.ended.map(|_| pe.ended_ns) };
    let pes = pes.iter().map(one).collect();
    Outcome { exit_status: Some(status), pes }
}
