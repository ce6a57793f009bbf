//! Collect and fcollect (Section 9.10.8).
#![allow(unsafe_code)]

mod flat;
pub(super) mod inter_host;

pub use flat::flat;

use super::table::FCOLLECT;
use crate::base::Fault;
use crate::team::algorithm::Shape;
use crate::team::check::{
    Arg, check_collected, check_matching, check_overlap, common_arguments, memory_of, place, place_of_source,
};
use crate::team::contribution::{Bytes, HostCall, INLINE, Kind, signature};
use crate::team::{Handle, World};
use crate::transport::shm::copy::copy;

/// Concatenates `bytes` bytes of every member, in the order of the team. Gives 0, -1 for an invalid team.
pub fn fcollect(w: &World, team: Handle, dest: *mut u8, source: *const u8, bytes: usize) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    check_matching(w, team, Kind::Fcollect, move || common_arguments(w, dest, source, bytes))?;
    if bytes == 0 {
        return Ok(0);
    }
    check_overlap(&w.map, dest, bytes.saturating_mul(team.size as usize), source, bytes, false)?;
    w.map.local("dest", dest, bytes.saturating_mul(team.size as usize))?;
    w.map.local("source", source, bytes)?;
    if let Some(hierarchy) = &team.hierarchy {
        return inter_host::fcollect(w, team, hierarchy, dest, source, bytes).map(|()| 0);
    }
    let call = HostCall::begin(w, team, signature(Kind::Fcollect, bytes))?;
    let shape = Shape { bytes, members: team.size as usize, oversubscribed: w.map.oversubscribed, ..Shape::default() };
    let algorithm = call.choose(&FCOLLECT, &w.algorithms, &shape);
    algorithm(&FcollectCall { call, dest, source, bytes }).map(|()| 0)
}

/// An fcollect among members on this host, with arguments that were checked.
pub struct FcollectCall<'w> {
    call: HostCall<'w>,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
}

/// An algorithm.
pub type Fcollect = fn(&FcollectCall<'_>) -> Result<(), Fault>;

/// Bytes that fit into a slot beside the length.
const SMALL: usize = INLINE - 8;

/// As [`fcollect`], with a size that may differ between members and may be 0.
pub fn collect(w: &World, team: Handle, dest: *mut u8, source: *const u8, bytes: usize) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    check_matching(w, team, Kind::Collect, move || [(Arg::Object("dest"), place(&w.map, dest))])?;
    if bytes > 0 {
        w.map.local("source", source, bytes)?;
    }
    if let Some(hierarchy) = &team.hierarchy {
        return inter_host::collect(w, team, hierarchy, dest, source, bytes).map(|()| 0);
    }
    let call = HostCall::begin(w, team, signature(Kind::Collect, 0))?;
    let mut words = [bytes as u64, 0, 0, 0, 0, 0];
    if bytes > SMALL {
        words[1] = place_of_source(&w.map, source);
    } else if bytes > 0 {
        // SAFETY: source was checked; the words have SMALL bytes behind the first.
        unsafe { copy(words.as_mut_ptr().add(1).cast(), source, bytes) };
    }
    call.contribute(&words);
    let mut result = if w.map.check { check_sum(&call, dest, (source, bytes)) } else { Ok(()) };
    let mut offset = 0usize;
    for pe in 0..team.size {
        let theirs = HostCall::words(call.contribution(pe)?);
        let count = theirs.0[0] as usize;
        if count == 0 || result.is_err() {
            continue;
        }
        let to = dest.wrapping_add(offset);
        result = collect_from(&call, to, &theirs, pe);
        offset = offset.saturating_add(count);
    }
    // What is wrong here alone is no reason for the others to wait: they have what they need.
    call.all_synchronized();
    call.done();
    result?;
    if bytes > SMALL {
        call.wait_for_others()?;
    }
    Ok(0)
}

/// With `--check`: what all members give, one after the other, lies in one object and is apart from this PE's source.
fn check_sum(call: &HostCall<'_>, dest: *mut u8, (source, bytes): (*const u8, usize)) -> Result<(), Fault> {
    let sizes = (0..call.team.size).map(|pe| Ok(HostCall::words(call.contribution(pe)?).0[0] as usize));
    let total = sizes.sum::<Result<usize, Fault>>()?;
    check_collected(&call.w.map, dest, total)?;
    check_overlap(&call.w.map, dest, total, source, bytes, false)
}

/// Copies what a member gives to its place in dest.
fn collect_from(call: &HostCall<'_>, to: *mut u8, theirs: &Bytes, pe: i32) -> Result<(), Fault> {
    let (map, count) = (&call.w.map, theirs.0[0] as usize);
    map.local("dest", to, count)?;
    // SAFETY: the part of dest was checked; the member's source is mapped.
    unsafe {
        if count <= SMALL {
            copy(to, theirs.0.as_ptr().add(1).cast(), count);
        } else {
            copy(to, memory_of(map, "source", theirs.0[1], count, call.team.world(pe))?, count);
        }
    }
    Ok(())
}

/// All members, this one first: so that not all read from the same one at a time.
pub(super) fn rotated(me: i32, size: i32) -> impl Iterator<Item = i32> {
    (0..size).map(move |k| if k < size - me { me + k } else { me + k - size })
}
