//! `shmem_pcontrol` (10.1.1).

use std::ffi::c_int;

use pellucid_core::base::Fault;
use pellucid_profile::recorder;

/// Profiling as it is by default.
pub const DEFAULT: c_int = 1;
/// Flush what is buffered.
pub const FLUSH: c_int = 2;

/// Sets the profiling level: 0 or less switches the profile off, 1 is the default, 2 flushes.
///
/// The profile is shared memory that the launcher reads, nothing of it is buffered: a flush leaves everything as it is.
/// Levels above 2 have no meaning here yet and, as the specification asks of a library that does not know a level, do
/// nothing.
///
/// # Errors
/// None.
pub fn pcontrol(level: c_int) -> Result<(), Fault> {
    match level {
        FLUSH.. => {}
        _ => recorder::set_level(level.clamp(0, DEFAULT)),
    }
    Ok(())
}
