//! Memory that PEs which are lost have left behind (extensions, section 4.2).
#![allow(unsafe_code)]

use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::transport::shm::copy::copy;

/// `shmemx_lost_get`: copies `bytes` bytes of the memory that a PE of this host has left behind. Gives 0.
pub fn get(m: &Map, dest: *mut u8, source: *const u8, bytes: usize, pe: i32) -> Result<i32, Fault> {
    m.check_pe("pe", pe)?;
    if !m.is_lost(pe) {
        return Err(Fault::from(Cause::BadValue { arg: "pe", value: pe.into(), expected: "a PE that is lost" }));
    }
    if bytes == 0 {
        return Ok(0);
    }
    let from = m.lost_mapping(source, bytes, pe)?;
    if dest.is_null() {
        return Err(Fault::from(Cause::Null { arg: "dest", bytes }));
    }
    // SAFETY: mapped for as many bytes, and nobody stores there any more; the caller vouches for the destination.
    unsafe { copy(dest, from, bytes) };
    Ok(0)
}
