//! Symmetric allocation with its barriers (Section 9.3), and queries of addresses (Sections 9.1.7 to 9.1.9).

use super::{map, process, world};
use crate::base::{Cause, Fault};
use crate::collectives::sync_unchecked;
use crate::context::order;
use crate::memory::Map;
use crate::memory::allocator::{GRANULE, Room};
use crate::memory::heap::{Heap, LARGEST_ALIGN};
use crate::os::cpu;
use crate::team::check::{Arg, check_matching, place};
use crate::team::contribution::Kind;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// `SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE`.
const HINTS: i64 = 3;
/// Memory for atomics and signals gets cache lines of its own.
const LINE: usize = 64;

fn heap() -> Result<&'static Heap, Fault> {
    world().map.ready()?;
    process().map(|p| &p.heap).ok_or_else(|| Fault::from(Cause::NotInitialized))
}

/// What an allocation is asked for.
#[derive(Clone, Copy)]
struct Wish {
    routine: &'static str,
    size: usize,
    align: usize,
    zeroed: bool,
}

/// Allocates, then waits for all PEs. A size of 0 gives null without a barrier.
fn allocate(wish: Wish) -> Result<*mut c_void, Fault> {
    let heap = heap()?;
    let Wish { size, align, zeroed, .. } = wish;
    if size == 0 {
        return Ok(null_mut());
    }
    let arguments = move || [(Arg::Number("bytes"), size as u64), (Arg::Number("alignment"), align as u64)];
    check_matching(world(), &world().world, Kind::Allocate, arguments)?;
    let object = if zeroed { heap.allocate_zeroed(size) } else { heap.allocate(size, align) };
    if object.is_null() {
        no_room(heap, wish.routine, size, align);
    }
    done()?;
    Ok(object.cast())
}

/// The barrier of a call that was compared with the other PEs' already.
fn done() -> Result<(), Fault> {
    let later = order::quiet_before(map())?;
    sync_unchecked(world())?;
    order::tell(later);
    Ok(())
}

/// What a program that does not look at null pointers should be told, once.
#[cold]
fn no_room(heap: &Heap, routine: &str, size: usize, align: usize) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if map().me != 0 || TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    let room = heap.room();
    let wanted = match size {
        usize::MAX => "as many bytes".to_string(),
        _ if align > GRANULE => format!("{size} bytes at a multiple of {align}"),
        _ => format!("{size} bytes"),
    };
    crate::say!(
        "pellucid: PE 0: {routine} returns null: no room for {wanted}. Of the {} bytes of symmetric heap {} are free, \
         the largest gap has {}. {}",
        room.len,
        room.free,
        room.largest,
        advice(room, size, align)
    );
}

/// What makes room for an object.
fn advice(room: Room, size: usize, align: usize) -> String {
    if align > LARGEST_ALIGN {
        return format!("Heaps begin at multiples of {LARGEST_ALIGN}: no object can be aligned to more");
    }
    let beyond = if align > GRANULE { align } else { 0 };
    let most = (room.len - room.free).saturating_add(size).saturating_add(size / 8).saturating_add(beyond);
    let wanted = most.max(room.len.saturating_mul(2));
    if wanted == usize::MAX {
        return "That is more than there are addresses".into();
    }
    let (mebibytes, memory) = (wanted.div_ceil(1 << 20), cpu::memory_bytes());
    let pes = map().local_pes.max(1) as usize;
    if memory > 0 && wanted.saturating_mul(pes) > memory {
        let memory = memory >> 20;
        return format!(
            "A heap of {mebibytes} MiB on each of {pes} PEs is more than this host's {memory} MiB of memory"
        );
    }
    format!("Try SHMEM_SYMMETRIC_SIZE={mebibytes}m or oshrun --heap {mebibytes}m")
}

/// `size` bytes of symmetric heap; null where there is no room.
pub fn malloc(size: usize) -> Result<*mut c_void, Fault> {
    allocate(Wish { routine: "shmem_malloc", size, align: GRANULE, zeroed: false })
}

/// `count * size` zeroed bytes; null where there is no room or the product does not fit.
pub fn calloc(count: usize, size: usize) -> Result<*mut c_void, Fault> {
    let size = count.saturating_mul(size);
    allocate(Wish { routine: "shmem_calloc", size, align: GRANULE, zeroed: true })
}

/// An alignment is a power of two; with `--check`, a multiple of `sizeof(void *)` as well, without which objects are
/// aligned well enough all the same.
pub(super) fn check_alignment(alignment: usize) -> Result<(), Fault> {
    let expected = "a power of two that is a multiple of sizeof(void *)";
    let least = if map().check { size_of::<*const ()>() } else { 1 };
    match alignment.is_power_of_two() && alignment >= least {
        true => Ok(()),
        false => Err(Fault::from(Cause::BadValue { arg: "alignment", value: alignment as i64, expected })),
    }
}

/// `size` bytes at a multiple of `alignment`, a power of two.
pub fn align(alignment: usize, size: usize) -> Result<*mut c_void, Fault> {
    check_alignment(alignment)?;
    allocate(Wish { routine: "shmem_align", size, align: alignment.max(GRANULE), zeroed: false })
}

/// Bytes of the largest object that [`align`] has room for.
pub fn largest_gap() -> usize {
    heap().map_or(0, |heap| heap.room().largest)
}

/// `size` bytes for a use that `hints` describe. Hints that are not known are ignored.
pub fn malloc_with_hints(size: usize, hints: i64) -> Result<*mut c_void, Fault> {
    static TOLD: AtomicBool = AtomicBool::new(false);
    map().tell_unknown("shmem_malloc_with_hints", "hints", (hints, HINTS), &TOLD);
    // An object that is aligned to a line has all of its lines to itself.
    let align = if hints & HINTS == 0 { GRANULE } else { LINE };
    allocate(Wish { routine: "shmem_malloc_with_hints", size, align, zeroed: false })
}

/// Gives an object a new size: null frees, as size 0 does; a null pointer allocates. Null and unchanged where there is
/// no room.
pub fn realloc(ptr: *mut c_void, size: usize) -> Result<*mut c_void, Fault> {
    let heap = heap()?;
    if ptr.is_null() {
        return allocate(Wish { routine: "shmem_realloc", size, align: GRANULE, zeroed: false });
    }
    if size == 0 {
        free(ptr)?;
        return Ok(null_mut());
    }
    heap.check(ptr as usize)?;
    let arguments = move || [(Arg::Object("ptr"), place(map(), ptr)), (Arg::Number("bytes"), size as u64)];
    check_matching(world(), &world().world, Kind::Resize, arguments)?;
    // The object may move: what other PEs still do with it must be complete first.
    done()?;
    let object = heap.resize(ptr as usize, size)?;
    if object.is_null() {
        no_room(heap, "shmem_realloc", size, GRANULE);
    }
    done()?;
    Ok(object.cast())
}

/// Waits for all PEs, then releases an object. Null does nothing.
pub fn free(ptr: *mut c_void) -> Result<(), Fault> {
    let heap = heap()?;
    if ptr.is_null() {
        return Ok(());
    }
    heap.check(ptr as usize)?;
    check_matching(world(), &world().world, Kind::Free, move || [(Arg::Object("ptr"), place(map(), ptr))])?;
    done()?;
    heap.release(ptr as usize)
}

/// What an address is to [`free`] and [`realloc`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The beginning of an object.
    Object,
    /// Outside of the symmetric heap.
    Outside,
    /// Of memory that was released.
    Free,
    /// Inside of an object.
    Inside,
}

/// What an address is.
pub fn owner(addr: *const c_void) -> Result<Owner, Fault> {
    let heap = heap()?;
    let at = (addr as usize).wrapping_sub(map().heap_base);
    if at >= map().heap_len {
        return Ok(Owner::Outside);
    }
    Ok(match (heap.check(addr as usize), heap.object_around(addr as usize)) {
        (Ok(()), _) => Owner::Object,
        (Err(_), true) => Owner::Inside,
        (Err(_), false) => Owner::Free,
    })
}

/// See [`Map::check_object`].
pub fn check_object(arg: &'static str, addr: usize, bytes: usize) -> Result<(), Fault> {
    map().ready()?;
    map().check_object(arg, addr, bytes)
}

/// Where this PE can reach `addr` of another by load and store; null where it cannot.
pub fn ptr(m: &Map, addr: *const c_void, pe: i32) -> Result<*mut c_void, Fault> {
    m.check_pe("pe", pe)?;
    Ok(m.mapping(addr, 1, pe).map_or(null_mut(), <*mut c_void>::cast))
}

/// 1 where a PE can be reached, else 0.
pub fn pe_accessible(m: &Map, pe: i32) -> Result<i32, Fault> {
    m.ready()?;
    Ok(i32::from((0..m.npes).contains(&pe)))
}

/// 1 where `addr` is symmetric and its instance on a PE can be reached, else 0.
pub fn addr_accessible(m: &Map, addr: *const c_void, pe: i32) -> Result<i32, Fault> {
    let is_reached = pe_accessible(m, pe)? == 1 && m.contains(addr as usize, 1);
    Ok(i32::from(is_reached && m.space_of(addr as usize).is_none_or(|(_, space)| (space.has)(pe))))
}
