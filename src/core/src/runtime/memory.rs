//! Symmetric allocation with its barriers (Section 9.3), and queries of addresses (Sections 9.1.7 to 9.1.9).

use super::{state, world};
use crate::base::{Cause, Fault};
use crate::collectives::{agree, barrier_all};
use crate::memory::Map;
use crate::memory::allocator::GRANULE;
use crate::memory::heap::Heap;
use std::ffi::c_void;
use std::ptr::null_mut;

/// `SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE`.
const HINTS: i64 = 3;
/// Memory for atomics and signals gets cache lines of its own.
const LINE: usize = 64;

fn heap() -> Result<&'static Heap, Fault> {
    world().map.ready()?;
    state().process.map(|p| &p.heap).ok_or(Fault::from(Cause::NotInitialized))
}

/// Allocates, then waits for all PEs. A size of 0 gives null without a barrier.
fn allocate(size: usize, by: impl FnOnce(&Heap) -> *mut u8) -> Result<*mut c_void, Fault> {
    let heap = heap()?;
    if size == 0 {
        return Ok(null_mut());
    }
    agree(world(), size)?;
    let object = by(heap);
    barrier_all(world())?;
    Ok(object.cast())
}

/// `size` bytes of symmetric heap; null where there is no room.
pub fn malloc(size: usize) -> Result<*mut c_void, Fault> {
    allocate(size, |heap| heap.allocate(size, GRANULE))
}

/// `count * size` zeroed bytes; null where there is no room or the product does not fit.
pub fn calloc(count: usize, size: usize) -> Result<*mut c_void, Fault> {
    let bytes = count.saturating_mul(size);
    allocate(bytes, |heap| heap.allocate_zeroed(bytes))
}

/// `size` bytes at a multiple of `alignment`, a power of two.
pub fn align(alignment: usize, size: usize) -> Result<*mut c_void, Fault> {
    if !alignment.is_power_of_two() {
        return Err(Fault::from(Cause::BadValue {
            arg: "alignment",
            value: alignment as i64,
            expected: "a power of two",
        }));
    }
    allocate(size, |heap| heap.allocate(size, alignment))
}

/// `size` bytes for a use that `hints` describe.
pub fn malloc_with_hints(size: usize, hints: i64) -> Result<*mut c_void, Fault> {
    if hints & !HINTS != 0 {
        return Err(Fault::from(Cause::BadValue {
            arg: "hints",
            value: hints,
            expected: "0 or SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE",
        }));
    }
    match (hints, size.checked_next_multiple_of(LINE)) {
        (0, _) | (_, None) => malloc(size),
        (_, Some(lines)) => allocate(size, |heap| heap.allocate(lines, LINE)),
    }
}

/// Gives an object a new size: null frees, as size 0 does; a null pointer allocates. Null and unchanged where there is no room.
pub fn realloc(ptr: *mut c_void, size: usize) -> Result<*mut c_void, Fault> {
    let heap = heap()?;
    if ptr.is_null() {
        return malloc(size);
    }
    if size == 0 {
        free(ptr)?;
        return Ok(null_mut());
    }
    agree(world(), size)?;
    // The object may move: what other PEs still do with it must be complete first.
    barrier_all(world())?;
    let object = heap.resize(ptr as usize, size)?;
    barrier_all(world())?;
    Ok(object.cast())
}

/// Waits for all PEs, then releases an object. Null does nothing.
pub fn free(ptr: *mut c_void) -> Result<(), Fault> {
    let heap = heap()?;
    if ptr.is_null() {
        return Ok(());
    }
    heap.check(ptr as usize)?;
    barrier_all(world())?;
    heap.release(ptr as usize)
}

/// Where this PE can reach `addr` of another by load and store; null where it cannot.
pub fn ptr(m: &Map, addr: *const c_void, pe: i32) -> Result<*mut c_void, Fault> {
    m.check_pe("pe", pe)?;
    Ok(m.remote("dest", addr, 1, pe).unwrap_or(null_mut()))
}

/// 1 where a PE can be reached, else 0.
pub fn pe_accessible(m: &Map, pe: i32) -> Result<i32, Fault> {
    m.ready()?;
    Ok(i32::from((0..m.npes).contains(&pe)))
}

/// 1 where `addr` is symmetric and its instance on a PE can be reached, else 0.
pub fn addr_accessible(m: &Map, addr: *const c_void, pe: i32) -> Result<i32, Fault> {
    Ok(i32::from(pe_accessible(m, pe)? == 1 && m.contains(addr as usize, 1)))
}
