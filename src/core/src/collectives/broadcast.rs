//! Broadcast (Section 9.10.7).
#![allow(unsafe_code)]

use super::post::{INLINE, Kind, Turn, signature};
use crate::base::Fault;
use crate::team::{Handle, Team, World};
use crate::transport::shm::copy::copy;

/// Copies `bytes` bytes at `source` on member `root` to `dest` on every member, the root too. Gives 0, -1 for an invalid team.
pub fn broadcast(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    run(w, team, dest, source, bytes, root, true)?;
    Ok(0)
}

/// `root_too`: whether the root's own `dest` is written (not by the routines on active sets).
pub(super) fn run(
    w: &World,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
    root_too: bool,
) -> Result<(), Fault> {
    if root as u32 >= team.size as u32 {
        return Err(Fault::BadPe { arg: "PE_root", pe: root.into(), npes: team.size.into() });
    }
    if bytes == 0 {
        return Ok(());
    }
    w.map.local("dest", dest, bytes)?;
    w.map.local("source", source, bytes)?;
    let turn = Turn::begin(w, team, signature(Kind::Broadcast, bytes));
    if team.me == root {
        // SAFETY: source and dest were checked for `bytes` bytes.
        unsafe {
            turn.show_bytes(source, if bytes <= INLINE { bytes } else { 0 });
            if root_too && dest.cast_const() != source {
                std::ptr::copy(source, dest, bytes);
            }
        }
        turn.done();
        if bytes > INLINE {
            // The others read from `source`, which the caller may change after this.
            turn.all_done();
        }
    } else {
        let post = turn.see(root)?;
        // SAFETY: dest was checked; the root's source is mapped for as many bytes.
        unsafe {
            if bytes <= INLINE {
                copy(dest, Turn::words(post).0.as_ptr().cast(), bytes);
            } else {
                copy(dest, turn.of("source", source, bytes, root)?, bytes);
            }
        }
        turn.done();
    }
    Ok(())
}
