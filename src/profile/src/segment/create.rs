//! Creating a segment.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::layout::{HEADER_BYTES, Header, MAGIC, VERSION, segment_bytes};
use super::map::check_pes;
use super::mapping::Mapping;
use crate::clock::{Scale, realtime_ns};
use crate::model::JobIdentity;
use crate::op;
use crate::text::arguments;

/// What the creator of a segment knows about the job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobInfo {
    /// Program of the job, as given.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// World number of the first PE that records here (0 on a single host).
    pub first_pe: u32,
    /// PEs that record here; `None`: all from `first_pe` on.
    pub local_pes: Option<u32>,
    /// Short calls are counted by operation only, not by call site and peer: nobody will see more of the profile.
    pub counts_only: bool,
    /// Nobody wants a profile: the segment is for showing long waits.
    pub off: bool,
    /// The job goes on without PEs that are killed.
    pub survives: bool,
    /// Begin of the job, where it is not now and here.
    pub origin: Option<Origin>,
    /// Who it is, as far as that is known.
    pub identity: JobIdentity,
}

/// The begin of a job that was started on another host: all hosts of a job count from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The moment on this host's counter ([`Scale::now`]), in nanoseconds.
    pub counter_ns: u64,
    /// The same moment in nanoseconds since 1970, by the clock of the host where the job was started.
    pub realtime_ns: u64,
    /// Process that started the job.
    pub launcher_pid: u32,
}

/// Creates the segment of a job of `npes` PEs: sparse shared memory without a name, gone with its last user.
///
/// The descriptor is close-on-exec; whoever starts the PEs decides who inherits it.
///
/// # Errors
/// `InvalidInput` for no PEs or regions outside the job; else what the system answered.
pub fn create(npes: u32, job: &JobInfo) -> io::Result<OwnedFd> {
    create_with(npes, job, Scale::of_this_machine())
}

/// As [`create`], with a given time scale.
///
/// # Errors
/// As [`create`].
pub fn create_with(npes: u32, job: &JobInfo, scale: Scale) -> io::Result<OwnedFd> {
    let local = job.local_pes.unwrap_or(npes.saturating_sub(job.first_pe));
    if local == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "profile segment: no PE records in it"));
    }
    check_pes(npes, job.first_pe, local).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let fd = sealed_memory(segment_bytes(local))?;
    let mapping = Mapping::new(fd.as_raw_fd(), 0, HEADER_BYTES, true)?;
    // SAFETY: the mapping is a page-aligned, zeroed header that lives until the end of this function; all fields are
    // atomics.
    let header = unsafe { &*mapping.as_ptr().cast::<Header>() };
    header.version.store(VERSION, Relaxed);
    header.npes.store(npes, Relaxed);
    header.first_pe.store(job.first_pe, Relaxed);
    header.local_pes.store(local, Relaxed);
    header.ops.store(op::TOTAL as u32, Relaxed);
    header.ops_hash.store(op::TABLE_HASH, Relaxed);
    header.clock_source.store(scale.source as u32, Relaxed);
    header.clock_mult.store(scale.mult, Relaxed);
    header.clock_overhead.store(scale.overhead, Relaxed);
    let here = || (scale.now(), realtime_ns(), std::process::id());
    let there = |origin: Origin| (scale.ticks(origin.counter_ns), origin.realtime_ns, origin.launcher_pid);
    let (ticks, realtime, launcher) = job.origin.map_or_else(here, there);
    header.start_ticks.store(ticks, Relaxed);
    header.start_realtime.store(realtime, Relaxed);
    header.launcher_pid.store(launcher, Relaxed);
    header.maker_pid.store(std::process::id(), Relaxed);
    header.counts_only.store(u32::from(job.counts_only), Relaxed);
    header.off.store(u32::from(job.off), Relaxed);
    header.survives.store(u32::from(job.survives), Relaxed);
    header.host.set(&host_name());
    header.program.set(&job.program);
    header.arguments.set(&arguments(&job.arguments));
    header.directory.set(&std::env::current_dir().map(|d| d.to_string_lossy().into_owned()).unwrap_or_default());
    header.set_identity(&job.identity);
    header.magic.store(MAGIC, Release);
    Ok(fd)
}

/// Shared memory of a fixed size: nobody can shrink it under a reader's feet.
fn sealed_memory(bytes: usize) -> io::Result<OwnedFd> {
    let make = |more| {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | more;
        // SAFETY: the name is NUL-terminated.
        unsafe { libc::memfd_create(c"pellucid-profile".as_ptr(), flags) }
    };
    let mut raw = make(0);
    if raw < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EACCES) {
        // See `memfd` of the core.
        raw = make(libc::MFD_NOEXEC_SEAL);
    }
    check(raw)?;
    // SAFETY: memfd_create just returned this descriptor; nobody else owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(raw) };
    within_limit(bytes)?;
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: plain system call on a descriptor we own.
    check(unsafe { libc::ftruncate(raw, bytes) })?;
    // SAFETY: plain system call on a descriptor we own.
    check(unsafe { libc::fcntl(raw, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL) })?;
    Ok(fd)
}

/// Beyond the limit of file sizes there is a signal that ends the process: it is an error before.
fn within_limit(bytes: usize) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the result.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0 && bytes as u64 > limit.rlim_cur {
        let message = format!(
            "the profile segment of {} MiB, most of which is never used, is above the limit on file size (ulimit -f: \
             {} KiB)",
            bytes >> 20,
            limit.rlim_cur >> 10
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(())
}

fn check(result: RawFd) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Name of this host.
pub(crate) fn host_name() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer is valid for its length less the terminator that we keep.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&b| b == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..end]).into_owned()
}
