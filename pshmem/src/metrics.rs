//! Metrics of a job whose launcher is none of ours: the first PE of a host hands the profile over to the exporter that
//! runs there, and starts one beside the job where `SHMEM_METRICS` asks for it. Both read the profile's memory;
//! nothing is served from here.
#![allow(unsafe_code)]

use std::env;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use pellucid_core::base::{Cause, Fault};
use pellucid_core::os::library;
use pellucid_core::runtime::Start;
use pellucid_profile::companion::{self, Companions, Destinations, VARIABLE};
use pellucid_profile::recorder;
use pellucid_profile::segment::handover::{self, Handover};

/// Who reads this host's profile.
struct Readers {
    /// A forked child has no part in this.
    process: u32,
    handover: Option<Handover>,
    companions: Option<&'static Companions>,
    segment: RawFd,
}

static READERS: Mutex<Option<Readers>> = Mutex::new(None);
/// What `SHMEM_METRICS` asks for, ready to be given the profile.
static BESIDE: OnceLock<Companions> = OnceLock::new();

/// Refuses a value of `SHMEM_METRICS` that cannot be used, and what it names that cannot be served or written: before
/// the program does anything.
///
/// # Errors
/// The variable, its value and what was expected, or why it cannot be.
pub fn check(start: &Start) -> Result<(), Fault> {
    let value = env::var_os(VARIABLE).unwrap_or_default().to_string_lossy().into_owned();
    let wanted = Destinations::parse(&value)
        .map_err(|reason| Fault::from(Cause::Environment { name: VARIABLE.into(), value, reason: reason.into() }))?;
    if !start.first || !is_mine(start) {
        return Ok(());
    }
    let own = library::path_of(begin as *const std::ffi::c_void).map(PathBuf::from);
    let folder = own.and_then(|file| Some(file.canonicalize().ok()?.parent()?.parent()?.join("bin")));
    let companions = Companions::start(&wanted, companion::tool(folder, env::var_os("PATH")).as_deref())
        .map_err(|error| Fault::from(Cause::Startup(format!("{VARIABLE}: {error}"))))?;
    companion::announce("pellucid", &companions);
    let _ = BESIDE.set(companions);
    Ok(())
}

/// Whether this PE looks after the metrics of its host: oshrun does where it has started the job.
fn is_mine(start: &Start) -> bool {
    !start.kept_by_launcher && start.pe == start.first_local_pe && start.profile_level > 0
}

/// The page shows all that can be recorded.
pub fn wants_all() -> bool {
    let value = env::var_os(VARIABLE).unwrap_or_default();
    Destinations::parse(&value.to_string_lossy()).is_ok_and(|wanted| wanted.page)
}

/// This PE records into a segment.
pub fn begin(start: &Start, segment: RawFd) {
    if !is_mine(start) {
        return;
    }
    // SAFETY: the segment's descriptor stays open for the life of the process.
    let fd = unsafe { BorrowedFd::borrow_raw(segment) };
    let handover = Handover::offer(fd, &handover::sockets(|name| env::var_os(name)));
    let companions = BESIDE.get().filter(|companions| !companions.is_empty());
    if let Some(Err(error)) = companions.map(|companions| companions.take(fd)) {
        pellucid_core::say!("pellucid: {VARIABLE}: no metrics: {error}");
    }
    if handover.is_none() && companions.is_none() {
        return;
    }
    let readers = Readers { process: std::process::id(), handover, companions, segment };
    *READERS.lock().unwrap_or_else(PoisonError::into_inner) = Some(readers);
}

/// In the first PE of a host: has the numbers of this moment written.
pub fn snapshot() {
    let readers = READERS.lock().unwrap_or_else(PoisonError::into_inner);
    let own = readers.as_ref().filter(|readers| readers.process == std::process::id());
    let companions = own.and_then(|readers| readers.companions);
    // Whoever ends takes the lock, too.
    drop(readers);
    if let Some(companions) = companions {
        companions.snapshot();
    }
}

/// The process ends, and has nothing more to record. `alone`: it ends the job.
pub fn end(status: i32, alone: bool) {
    if alone {
        recorder::ends_job(status);
    }
    let readers = READERS.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(readers) = readers.filter(|readers| readers.process == std::process::id()) else { return };
    if !alone {
        crate::profile_files::await_finalized(readers.segment);
    }
    let state = handover::state_by_itself(status);
    if let Some(handover) = readers.handover {
        handover.end(state);
    }
    if let Some(companions) = readers.companions {
        companions.end(state);
    }
}
