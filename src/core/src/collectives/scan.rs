//! Prefix scans (Section 9.10.10).
#![allow(unsafe_code)]

use super::kernel::Kernel;
use super::post::{Bytes, INLINE, Kind, Turn, signature};
use crate::base::Fault;
use crate::team::area::WORDS;
use crate::team::{Handle, World};
use crate::transport::shm::copy::copy;

/// Member `i` gets the combination of the elements of members 0 to `i`. Gives 0, -1 for an invalid team.
pub fn inscan(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<i32, Fault> {
    scan(w, team, dest, source, nelems, kernel, Kind::Inscan)
}

/// Member `i` gets the combination of the elements of members 0 to `i - 1`, member 0 zeros.
pub fn exscan(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<i32, Fault> {
    scan(w, team, dest, source, nelems, kernel, Kind::Exscan)
}

fn scan(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
    kind: Kind,
) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    if nelems == 0 {
        return Ok(0);
    }
    let bytes = nelems.saturating_mul(kernel.elem);
    w.map.local("dest", dest, bytes)?;
    w.map.local("source", source, bytes)?;
    let turn = Turn::begin(w, team, signature(kind, bytes));
    let inline = bytes <= INLINE;
    // SAFETY: source was checked.
    unsafe { turn.show_bytes(source, if inline { bytes } else { 0 }) };
    let mut result = vec![Bytes([0; WORDS]); bytes.div_ceil(INLINE)];
    let result = result.as_mut_ptr().cast::<u8>();
    let before = if kind == Kind::Inscan { team.me + 1 } else { team.me };
    for pe in 0..before {
        let post = turn.see(pe)?;
        let words = Turn::words(post);
        let theirs = if inline { words.0.as_ptr().cast() } else { turn.of("source", source, bytes, pe)?.cast_const() };
        // SAFETY: the buffer has at least `bytes` bytes, as every member's source or post.
        unsafe { if pe == 0 { copy(result, theirs, bytes) } else { (kernel.combine)(result, theirs, nelems) } }
    }
    turn.done();
    if !inline {
        // `dest` may be the source that others read.
        turn.all_done();
    }
    // SAFETY: dest was checked.
    unsafe { copy(dest, result, bytes) };
    Ok(0)
}
