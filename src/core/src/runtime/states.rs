//! How the job and its PEs stand (extensions, section 4.2), as far as this host knows: of a PE on another host nothing
//! is known but that the job goes on.

use super::{map, process};
use crate::base::{Cause, Fault};
use crate::bootstrap::job::PeState;

/// `SHMEMX_OK`, `SHMEMX_DEGRADED`, `SHMEMX_FAILED`.
const OK: i32 = 0;
const DEGRADED: i32 = 1;
const FAILED: i32 = 2;
/// `SHMEMX_PE_ALIVE`, `SHMEMX_PE_LOST`, `SHMEMX_PE_FINALIZED`.
const ALIVE: i32 = 0;
const LOST: i32 = 1;
const FINALIZED: i32 = 2;

/// How a PE of the job stands.
fn state(pe: i32) -> i32 {
    if map().is_lost(pe) {
        return LOST;
    }
    let is_local = (pe.wrapping_sub(map().first_pe) as u32) < map().local_pes;
    let known = process().filter(|_| is_local).map(|process| process.job.pe(pe as u32).state());
    match known {
        Some(PeState::Failed) => LOST,
        Some(PeState::Finalized) => FINALIZED,
        _ => ALIVE,
    }
}

/// Whether all PEs are there. Otherwise the job is about to end, or goes on without them.
pub fn job_state() -> Result<i32, Fault> {
    map().ready()?;
    let ends = process().is_some_and(|process| process.job.exit_request().is_some());
    Ok(match (0..map().npes).any(|pe| state(pe) == LOST) {
        _ if ends => FAILED,
        true => DEGRADED,
        false => OK,
    })
}

/// How a PE stands.
pub fn pe_state(pe: i32) -> Result<i32, Fault> {
    map().check_pe("pe", pe)?;
    Ok(state(pe))
}

/// Writes the first `max` PEs that are lost to a list, and gives how many there are. The program has taken note of
/// those that it has got.
#[allow(unsafe_code)]
pub fn failed_pes(list: *mut i32, max: i32) -> Result<i32, Fault> {
    map().ready()?;
    if list.is_null() && max > 0 {
        return Err(Fault::from(Cause::Null { arg: "list", bytes: max as usize * 4 }));
    }
    let mut found = 0;
    for pe in (0..map().npes).filter(|pe| state(*pe) == LOST) {
        if found < max {
            // SAFETY: not null; the caller vouches for room for `max` numbers.
            unsafe { list.add(found as usize).write_unaligned(pe) };
            map().losses.inspect(|losses| losses.acknowledge(pe, map().transport));
        }
        found += 1;
    }
    Ok(found)
}
