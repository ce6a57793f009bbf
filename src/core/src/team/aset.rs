//! Explicit active sets: PEs in an order, made by each PE on its own (extensions, section 3.1).
//!
//! A set is what its list says: PEs that made equal lists, in whatever way, have the same set.

use super::World;
use super::pe_list::PeList;
use crate::base::slab::Slab;
use crate::base::{Cause, Fault};
use std::sync::Arc;

/// Sets that can live at a time.
pub const SETS: usize = 1 << 16;

static SLAB: Slab<Arc<Aset>, SETS> = Slab::new();

/// A set, as one PE made it.
#[derive(Debug)]
pub struct Aset {
    /// Its members.
    pub pes: PeList,
    /// This PE's index.
    pub me: Option<usize>,
    /// Names the list.
    pub name: u128,
    /// All PEs of the job, in order.
    pub is_world: bool,
    /// Not all members are reached through memory.
    pub spans_hosts: bool,
}

/// What C sees of a set: `shmemx_aset`.
#[derive(Debug)]
#[repr(C)]
pub struct Opaque {
    _private: [u8; 0],
}

/// The C type of [`create_custom`]'s function: index, first PE, size and the caller's data give a PE.
pub type OffsetFunction = Option<unsafe extern "C" fn(i32, i32, i32, *mut std::ffi::c_void) -> i32>;

/// `PE_start + PE_stride * i` for i < `size`; null where that names no set.
pub fn create_strided(w: &World, start: i32, stride: i32, size: i32) -> Result<*mut Opaque, Fault> {
    create(w, size, |i| Some(i64::from(start) + i64::from(stride) * i))
}

/// As [`create_strided`], with a distance of `base` to the power of `log_stride`.
pub fn create_log_strided(w: &World, start: i32, log_stride: i32, size: i32, base: i32) -> Result<*mut Opaque, Fault> {
    let power = u32::try_from(log_stride).ok().filter(|_| base != 0);
    let stride =
        power.and_then(|power| i64::from(base).checked_pow(power)).filter(|stride| stride.unsigned_abs() < 1 << 31);
    create(w, size, |i| stride.map(|stride| i64::from(start) + stride * i))
}

/// The PEs that a function gives, which is called once for each index.
#[allow(unsafe_code)]
pub fn create_custom(
    w: &World,
    start: i32,
    offset: OffsetFunction,
    size: i32,
    data: *mut std::ffi::c_void,
) -> Result<*mut Opaque, Fault> {
    let Some(offset) = offset else {
        return Err(Fault::from(Cause::Null { arg: "offset", bytes: size_of_val(&offset) }));
    };
    // SAFETY: the caller's function, called as it was promised to be.
    create(w, size, |i| Some(i64::from(unsafe { offset(i as i32, start, size, data) })))
}

/// The PEs of a list.
#[allow(unsafe_code)]
pub fn create_generic(w: &World, list: *const i32, size: i32) -> Result<*mut Opaque, Fault> {
    if list.is_null() && size > 0 {
        return Err(Fault::from(Cause::Null { arg: "PE_list", bytes: size as usize * 4 }));
    }
    // SAFETY: the caller vouches for `size` entries.
    create(w, size, |i| Some(i64::from(unsafe { list.add(i as usize).read_unaligned() })))
}

/// Makes the set of `size` PEs, of which `pe` gives one by its index. Null where it is none.
fn create(w: &World, size: i32, pe: impl Fn(i64) -> Option<i64>) -> Result<*mut Opaque, Fault> {
    w.map.ready()?;
    match members(w, size, pe) {
        Ok(list) => Ok(insert(w, &list)),
        Err(why) => {
            if w.map.check {
                crate::say!("pellucid: PE {}: no active set: {why}", w.map.me);
            }
            Ok(std::ptr::null_mut())
        }
    }
}

/// The members; error: why they are no set.
fn members(w: &World, size: i32, pe: impl Fn(i64) -> Option<i64>) -> Result<Vec<i32>, String> {
    let npes = w.map.npes;
    if size < 1 || size > npes {
        return Err(format!("it has {size} members, and the job {npes} PEs"));
    }
    let mut seen = vec![false; npes as usize];
    (0..i64::from(size))
        .map(|i| {
            let pe = pe(i).ok_or("the stride overflows")?;
            let place = usize::try_from(pe).ok().and_then(|pe| seen.get_mut(pe));
            match place {
                None => Err(format!("member {i} is PE {pe}, and the job has PEs 0 to {}", npes - 1)),
                Some(true) => Err(format!("member {i} is PE {pe}, which is a member already")),
                Some(seen) => {
                    *seen = true;
                    Ok(pe as i32)
                }
            }
        })
        .collect()
}

fn insert(w: &World, list: &[i32]) -> *mut Opaque {
    let pes = PeList::of(list);
    let is_local = |pe: i32| (pe.wrapping_sub(w.map.first_pe) as u32) < w.map.local_pes;
    let aset = Aset {
        me: pes.index_of(w.map.me),
        name: pes.hash(),
        is_world: list.len() == w.map.npes as usize && list.iter().enumerate().all(|(i, pe)| *pe == i as i32),
        spans_hosts: !list.iter().all(|pe| is_local(*pe)),
        pes,
    };
    SLAB.insert(Arc::new(aset)).map_or(std::ptr::null_mut(), |handle| handle as *mut Opaque)
}

/// What `read` gives of the set behind a handle.
#[inline]
#[allow(unsafe_code)]
fn with<R>(handle: *const Opaque, read: impl FnOnce(&Arc<Aset>) -> R) -> Result<R, Fault> {
    // SAFETY: those in this file read fields or count the set once more. A program does not delete a set that another
    // thread is just giving to a call; the call itself, once it is under way, has a count of its own.
    unsafe { SLAB.get(handle as usize) }.map(read).ok_or_else(|| unknown(handle))
}

/// The set behind a handle.
#[inline]
pub fn get(handle: *const Opaque) -> Result<Arc<Aset>, Fault> {
    with(handle, Arc::clone)
}

#[cold]
fn unknown(handle: *const Opaque) -> Fault {
    Fault::from(Cause::BadSet { handle: handle as usize, gone: SLAB.was_used(handle as usize) })
}

/// Ends a set. Operations that were begun with it go on. Null: nothing.
pub fn delete(handle: *mut Opaque) -> Result<(), Fault> {
    if handle.is_null() || SLAB.remove(handle as usize) { Ok(()) } else { Err(unknown(handle)) }
}

/// Whether this PE is a member: 1 or 0.
pub fn contains_me(handle: *const Opaque) -> Result<i32, Fault> {
    with(handle, |aset| i32::from(aset.me.is_some()))
}

/// Members.
pub fn count(handle: *const Opaque) -> Result<i32, Fault> {
    with(handle, |aset| aset.pes.size() as i32)
}

/// World number of a member; -1 where there is none of this index.
pub fn pe(handle: *const Opaque, index: i32) -> Result<i32, Fault> {
    with(handle, |aset| {
        let index = usize::try_from(index).ok().filter(|index| *index < aset.pes.size());
        index.map_or(-1, |index| aset.pes.world(index))
    })
}

/// Index of a PE; -1 where it is no member.
pub fn index(handle: *const Opaque, pe: i32) -> Result<i32, Fault> {
    with(handle, |aset| aset.pes.index_of(pe).map_or(-1, |index| index as i32))
}

/// Ends all sets: at the last finalize.
pub(super) fn forget_all() {
    SLAB.clear();
}
