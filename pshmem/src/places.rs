//! Where this job's profile and trace go under launchers that are not ours, and where there is none:
//! `SHMEM_PROFILE_DIR` and `SHMEM_TRACE`.
//!
//! The first PE takes the directories, as oshrun does, and says so in the profile segment; the first PEs of other hosts
//! hear of it as they take over the begin of the job. Where they do not find those directories, their hosts share no
//! file system, and they take their own.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pellucid_core::base::{Cause, Fault, env};
use pellucid_core::runtime::Start;
use pellucid_profile::output::{Claim, Error, OutputDir, numbered};
use pellucid_profile::segment;
use pellucid_profile::text::shell_word;

/// The claim of the trace's directory, where oshrun has taken it.
const TRACE_CLAIM: &str = "PELLUCID_TRACE_CLAIM";

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The profile.
    Profile,
    /// The trace.
    Trace,
}

use What::{Profile, Trace};

/// The directories that this process has taken, and what was refused.
struct ClaimedDirs {
    /// A forked child has no part in this.
    process: u32,
    dirs: [Option<OutputDir>; 2],
    refused: Option<Cause>,
}

static TAKEN: Mutex<ClaimedDirs> = Mutex::new(ClaimedDirs { process: 0, dirs: [None, None], refused: None });

fn wanted(what: What) -> Option<PathBuf> {
    match what {
        Profile => env::profile_directory(),
        Trace => env::trace().ok().flatten().map(|trace| trace.directory),
    }
}

impl ClaimedDirs {
    fn lock() -> std::sync::MutexGuard<'static, ClaimedDirs> {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&mut self, what: What) {
        let Some(path) = wanted(what) else { return };
        match OutputDir::take(&path) {
            Ok(dir) => {
                self.process = std::process::id();
                self.dirs[what as usize] = Some(dir);
            }
            Err(error) => {
                let name = if what == Profile { "SHMEM_PROFILE_DIR" } else { "SHMEM_TRACE" };
                self.refused.get_or_insert(Cause::Startup(format!("{name}: {error}")));
            }
        }
    }

    fn claims(&self) -> [Option<Claim>; 2] {
        self.dirs.each_ref().map(|dir| dir.as_ref().map(OutputDir::claim))
    }
}

/// The first PE of a job has made its segment.
pub fn take(segment: RawFd) {
    let mut taken = ClaimedDirs::lock();
    taken.take(Profile);
    taken.take(Trace);
    let _ = segment::set_claims(segment, taken.claims());
}

/// The first PE of another host has taken over the begin of the job, with the claims.
pub fn follow(segment: RawFd) {
    let Ok(mut claims) = segment::claims(segment) else { return };
    let mut taken = ClaimedDirs::lock();
    for what in [Profile, Trace] {
        if open(what, claims[what as usize]).is_none_or(|found| found.is_err()) {
            taken.take(what);
            claims[what as usize] = taken.claims()[what as usize];
        }
    }
    let _ = segment::set_claims(segment, claims);
}

/// A PE without others, and without a segment that it shares.
pub fn take_alone() {
    let mut taken = ClaimedDirs::lock();
    taken.take(Profile);
    taken.take(Trace);
}

/// What was asked for and cannot be written.
///
/// # Errors
/// Just that.
pub fn check() -> Result<(), Fault> {
    ClaimedDirs::lock().refused.take().map_or(Ok(()), |cause| Err(Fault::from(cause)))
}

fn open(what: What, claim: Option<Claim>) -> Option<Result<OutputDir, Error>> {
    let claim = claim?;
    Some(OutputDir::join(&numbered(&wanted(what)?, claim.number), claim))
}

/// A directory of the job, for this process. `None`: none was asked for, or nobody has taken it.
pub fn find(what: What, segment: RawFd) -> Option<Result<OutputDir, Error>> {
    let own = ClaimedDirs::lock().claims()[what as usize];
    let claim = own.or_else(|| segment::claims(segment).ok()?[what as usize]);
    open(what, claim)
}

/// The directory of the trace: oshrun's, where it has started this process.
pub fn trace(start: &Start, segment: RawFd) -> Option<Result<OutputDir, Error>> {
    if !start.kept_by_launcher {
        return find(Trace, segment);
    }
    let token = std::env::var(TRACE_CLAIM).ok().and_then(|text| u64::from_str_radix(&text, 16).ok())?;
    open(Trace, Some(Claim { number: 1, token }))
}

/// Says where the files are that this process has made room for.
pub fn tell(what: What, to_see_it: &str) {
    let taken = ClaimedDirs::lock();
    let Some(dir) = taken.dirs[what as usize].as_ref().filter(|_| taken.process == std::process::id()) else { return };
    let files = |name: &OsString| name.as_encoded_bytes().starts_with(b"pe-");
    if dir.names().is_ok_and(|names| names.iter().any(files)) {
        let path = shell_word(dir.path());
        pellucid_core::say!("pellucid: {}", to_see_it.replace("DIR", &path));
    }
}

/// The process ends: other jobs may not take the directories for theirs, but nobody needs to find them any more.
pub fn release() {
    let taken = ClaimedDirs::lock();
    if taken.process == std::process::id() {
        taken.dirs.iter().flatten().for_each(OutputDir::release);
    }
}
