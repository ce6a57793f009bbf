//! Spaces and where PEs are: what `shmemx_space_` and `shmemx_locality` come to (extensions, section 4.1). The
//! symmetric heap is a space as well, of which a few things only can be asked.
#![allow(unsafe_code)]

use super::{map, memory, process, world};
use crate::base::{Cause, Fault, fault::code};
use crate::bootstrap::job::Job;
use crate::collectives::spaces as made;
pub use crate::collectives::spaces::{SpaceConfig, SpaceHandle, create, create_aset, members};
use crate::memory::Map;
use crate::memory::directory::{DIRECTORY, SpaceDirectory};
use crate::memory::segments::INTERNAL;
use crate::memory::spaces::{MAPPED, Spaces};
use crate::team::{Config, NUMA_ID, Team};
use crate::transport::{Atomics, Directory, OpenRequest, registry};
use std::ffi::c_void;
use std::ops::Range;

/// Where what a PE tells of its spaces is in its internal area.
pub(super) const TOLD_AT: usize = INTERNAL - DIRECTORY;

/// Spaces can be made from now on. `near`: the PEs that are reached through memory; `internal`: where PE 0's internal
/// area is, or would be.
pub(super) fn open(m: &mut Map, job: &'static Job, near: &Range<u32>, internal: *const u8) {
    let request = OpenRequest {
        pe: m.me as u32,
        npes: m.npes as u32,
        segments: Vec::new(),
        atomics: Atomics::Cpu,
        one_host: true,
        oversubscribed: m.oversubscribed,
        posts_beside: false,
        directory: Directory::nobody(),
        // Whoever names such an object has looked it up.
        mapping: Box::new(|_, segment| (segment == MAPPED).then_some((0, usize::MAX))),
        lanes: None,
    };
    let told = internal.wrapping_add(near.start as usize * INTERNAL + TOLD_AT);
    // SAFETY: spaces stay mapped while they are found, and others write there at any time already; so do internal
    // areas, whose ends nobody else uses.
    let (transport, directory) = unsafe {
        let me = (m.me as u32 - near.start) as usize;
        (registry::within_host(request), SpaceDirectory::new(told, INTERNAL, near.len(), me))
    };
    m.spaces = Some(Spaces::open(m.first_pe, m.me, Box::leak(Box::new(transport)), directory));
    made::open(job);
}

/// `SHMEMX_TEAM_NUMA`: the PEs of this host that are at home on this PE's node, where these are a strided range; else
/// the run of neighbours among them that this one is in.
pub(super) fn numa_team(job: &Job, near: &Range<u32>, internal: *const u8, me: i32) -> Team {
    let node = job.pe(me as u32).node();
    let like: Vec<i32> = near.clone().filter(|pe| job.pe(*pe).node() == node).map(|pe| pe as i32).collect();
    let range = neighbours(&like, me);
    Team::new(internal, NUMA_ID, range, (me - range.0) / range.1.max(1), Config::default())
}

/// First PE, distance and number of an ascending list that is strided; else of the run that `me` is in.
fn neighbours(list: &[i32], me: i32) -> (i32, i32, i32) {
    let distance = |pair: &[i32]| pair[1] - pair[0];
    let stride = list.windows(2).next().map_or(1, distance);
    if list.windows(2).all(|pair| distance(pair) == stride) {
        return (list.first().copied().unwrap_or(me), stride, list.len().max(1) as i32);
    }
    let run = list.chunk_by(|before, next| next - before == 1).find(|run| run.contains(&me)).unwrap_or(&[]);
    (run.first().copied().unwrap_or(me), 1, run.len().max(1) as i32)
}

/// How far a PE is: 0 it is this one, 1 on the same NUMA node, 2 on the same host, 3 on another one.
pub fn locality(m: &Map, pe: i32) -> Result<i32, Fault> {
    m.check_pe("pe", pe)?;
    let Some(job) = process().map(|process| &process.job) else { return Ok(3) };
    Ok(match pe as u32 {
        _ if pe == m.me => 0,
        pe if !job.pes().contains(&pe) => 3,
        pe if job.pe(pe).node() == job.pe(m.me as u32).node() => 1,
        _ => 2,
    })
}

/// `size` bytes of a space; null where there is no room. Collective over its members.
pub fn malloc(space: SpaceHandle, size: usize) -> Result<*mut c_void, Fault> {
    match space {
        SpaceHandle::DEFAULT => memory::malloc(size),
        _ => ready().and_then(|()| made::malloc(world(), space, size)).map(<*mut u8>::cast),
    }
}

/// `count * size` zeroed bytes of a space.
pub fn calloc(space: SpaceHandle, count: usize, size: usize) -> Result<*mut c_void, Fault> {
    match space {
        SpaceHandle::DEFAULT => memory::calloc(count, size),
        _ => ready().and_then(|()| made::calloc(world(), space, count, size)).map(<*mut u8>::cast),
    }
}

/// `size` bytes of a space at a multiple of `alignment`, a power of two.
pub fn align(space: SpaceHandle, alignment: usize, size: usize) -> Result<*mut c_void, Fault> {
    if space == SpaceHandle::DEFAULT {
        return memory::align(alignment, size);
    }
    ready()?;
    memory::check_alignment(alignment)?;
    made::align(world(), space, alignment, size).map(<*mut u8>::cast)
}

/// Gives an object of a space a new size.
pub fn realloc(space: SpaceHandle, ptr: *mut c_void, size: usize) -> Result<*mut c_void, Fault> {
    match space {
        SpaceHandle::DEFAULT => memory::realloc(ptr, size),
        _ => ready().and_then(|()| made::realloc(world(), space, ptr.cast(), size)).map(<*mut u8>::cast),
    }
}

/// Releases an object of a space.
pub fn free(space: SpaceHandle, ptr: *mut c_void) -> Result<(), Fault> {
    match space {
        SpaceHandle::DEFAULT => memory::free(ptr),
        _ => ready().and_then(|()| made::free(world(), space, ptr.cast())),
    }
}

/// Ends a space. Gives 0. The symmetric heap stays.
pub fn destroy(space: SpaceHandle) -> Result<i32, Fault> {
    ready()?;
    if space == SpaceHandle::DEFAULT {
        let expected = "a space that the program has made: the symmetric heap stays";
        return Err(Fault::from(Cause::BadValue { arg: "space", value: 1, expected }));
    }
    made::destroy(world(), space)
}

/// Writes the space that an address lies in. Gives 0; negative, and `SHMEMX_SPACE_INVALID`, where it is in none.
pub fn of(addr: *const c_void, space: *mut SpaceHandle) -> Result<i32, Fault> {
    ready()?;
    if space.is_null() {
        return Err(Fault::from(Cause::Null { arg: "space", bytes: size_of::<SpaceHandle>() }));
    }
    let in_heap = (addr as usize).wrapping_sub(map().heap_base) < map().heap_len;
    let found = if in_heap { Some(SpaceHandle::DEFAULT) } else { made::of(world(), addr as usize) };
    // SAFETY: not null; the caller vouches for a handle there.
    unsafe { space.write_unaligned(found.unwrap_or(SpaceHandle::INVALID)) };
    Ok(if found.is_some() { 0 } else { code::ADDRESS })
}

fn ready() -> Result<(), Fault> {
    map().ready()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_of_a_node_is_a_strided_range() {
        assert_eq!(neighbours(&[0, 2, 4], 2), (0, 2, 3));
        assert_eq!(neighbours(&[4, 5, 6, 7], 5), (4, 1, 4));
        assert_eq!(neighbours(&[3], 3), (3, 1, 1));
        assert_eq!(neighbours(&[0, 1, 4, 5, 6], 5), (4, 1, 3));
        assert_eq!(neighbours(&[0, 1, 4, 5, 6], 0), (0, 1, 2));
        assert_eq!(neighbours(&[0, 2, 3, 9], 9), (9, 1, 1));
    }
}
