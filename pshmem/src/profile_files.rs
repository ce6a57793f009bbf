//! The profile directory of a job whose launcher is none of ours: `SHMEM_PROFILE_DIR`.
//!
//! Where that is: see [`crate::places`]. The first PE of each host writes the files of the host's PEs as it leaves,
//! that of PE 0 the job's as well: one directory, where the hosts share it. It does so in `shmem_pcontrol(2)`, too. A
//! PE that ends the job before its time writes what its host has, since the others will be killed.
#![allow(unsafe_code)]

use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pellucid_core::base::env;
use pellucid_core::runtime::{self, Start};
use pellucid_profile::model::Profile;
use pellucid_profile::output::{Error, OutputDir};
use pellucid_profile::segment::Segment;
use pellucid_profile::segment::layout::PE_FINALIZED;
use pellucid_profile::snapshot::{self, Outcome};
use pellucid_profile::{file, recorder, trace};

use crate::metrics;
use crate::places::{self, What};

/// What is to be written, and by whom.
struct ProfileFiles {
    /// Mapped from the start: a program may close all descriptors.
    segment: Result<Segment, String>,
    /// Open from the start: hosts leave at different times, and the first one gives up its claim as it does.
    directory: Option<Result<OutputDir, Error>>,
    is_first: bool,
    /// A forked child has no part in this.
    process: u32,
}

static FILES: OnceLock<ProfileFiles> = OnceLock::new();
/// This process could not write all of its part.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Whether nobody will see more than the numbers by routine.
pub fn counts_only() -> bool {
    env::profile_directory().is_none() && !crate::metrics::wants_all()
}

/// This PE records into a segment.
pub fn begin(start: &Start, segment: RawFd) {
    if start.kept_by_launcher {
        return;
    }
    if env::profile_directory().is_some() {
        let (is_first, process) = (start.pe == start.first_local_pe, std::process::id());
        let directory = places::find(What::Profile, segment);
        let segment = map(segment);
        let _ = FILES.set(ProfileFiles { segment, directory, is_first, process });
    }
}

/// This process ends the job because of a fault.
pub fn at_failure() {
    write(true, 1);
    metrics::end(1, true);
}

/// The process ends, and has nothing more to record.
pub fn at_exit() {
    let status = runtime::status_at_exit();
    write(status.is_some(), status.unwrap_or(0));
    metrics::end(status.unwrap_or(0), status.is_some());
    trace::close();
    if !REFUSED.load(Relaxed) {
        places::tell(What::Profile, "profile kept, to see it again: oshprof report DIR");
    }
    places::tell(
        What::Trace,
        "trace kept, to see what is in it: oshprof trace DIR; to convert it: oshprof trace DIR --to perfetto -o \
         DIR.pftrace",
    );
    places::release();
}

/// `alone`: this PE ends the job.
fn write(alone: bool, status: i32) {
    static ONCE: AtomicBool = AtomicBool::new(false);
    let Some(files) = own() else { return };
    if !(alone || files.is_first) || recorder::level() < 0 || ONCE.swap(true, Relaxed) {
        return;
    }
    if let Err(problem) = files.keep_last(status, alone) {
        REFUSED.store(true, Relaxed);
        pellucid_core::say!("pellucid: the profile is not kept: {problem}");
    }
}

/// In the first PE of a host: writes what its PEs have recorded so far. Others do nothing.
///
/// # Errors
/// What could not be written, and why.
pub fn snapshot() -> Result<(), String> {
    let Some(files) = own().filter(|files| files.is_first) else { return Ok(()) };
    let _one = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let segment = files.segment.as_ref().map_err(Clone::clone)?;
    let profile = snapshot::take(segment, &Outcome::default());
    files.write(segment, &profile, segment.pes().start == 0, recorder::is_last_kept)
}

/// Those of this process.
fn own() -> Option<&'static ProfileFiles> {
    FILES.get().filter(|files| files.process == std::process::id())
}

/// Threads write one after the other.
static WRITES: Mutex<()> = Mutex::new(());

impl ProfileFiles {
    /// Writes the files of this host for the last time. `alone`: this PE ends the job.
    fn keep_last(&self, status: i32, alone: bool) -> Result<(), String> {
        /// What a snapshot may take that was begun before; the thread that ends the job may be the one in it.
        const SNAPSHOT: Duration = Duration::from_secs(1);
        let segment = self.segment.as_ref().map_err(Clone::clone)?;
        recorder::keeps_last();
        let until = Instant::now() + SNAPSHOT;
        let mut one = WRITES.try_lock();
        while one.is_err() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
            one = WRITES.try_lock();
        }
        if !alone {
            await_all(segment);
        }
        let profile = snapshot::take(segment, &Outcome { exit_status: Some(status), pes: Vec::new() });
        self.write(segment, &profile, alone || segment.pes().start == 0, || false)
    }

    /// Writes the files of PEs and, where asked, that of the job, until there is no more reason to.
    fn write(
        &self,
        segment: &Segment,
        profile: &Profile,
        with_job: bool,
        is_vain: impl Fn() -> bool,
    ) -> Result<(), String> {
        let directory = match &self.directory {
            Some(Ok(directory)) => directory,
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("nobody has made its directory".to_owned()),
        };
        for pe in &profile.pes {
            if is_vain() {
                return Ok(());
            }
            file::write_pes(std::slice::from_ref(pe), &profile.job.identity.id, directory)
                .map_err(|error| error.to_string())?;
        }
        if with_job && !is_vain() {
            let written = file::write_job(&profile.job, 0..segment.npes(), directory);
            written.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// As [`await_all`], of a descriptor; one that the program has closed, or whose number it has got, is of no segment.
pub fn await_finalized(segment: RawFd) {
    map(segment).iter().for_each(await_all);
}

fn map(segment: RawFd) -> Result<Segment, String> {
    // SAFETY: used for the time of this call only.
    Segment::map(unsafe { BorrowedFd::borrow_raw(segment) }).map_err(|error| error.to_string())
}

/// All PEs have met for the last time, but some of this host may not have noted it yet.
fn await_all(segment: &Segment) {
    let until = Instant::now() + Duration::from_secs(2);
    let is_final = |pe| segment.region(pe).is_none_or(|region| region.head.state.load(Relaxed) == PE_FINALIZED);
    while !segment.pes().all(is_final) && Instant::now() < until {
        std::thread::sleep(Duration::from_micros(200));
    }
}
