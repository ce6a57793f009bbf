//! `SHPALLOC`, `SHPDEALLC` and `SHPCLMOVE`: the symmetric heap for Cray pointers, in words of 32 bits.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use pellucid_core::base::{Cause, Fault};
use pellucid_core::runtime::memory::{self, Owner};

use super::entry;
use crate::dispatcher::{self, Call};
use crate::routine::or_end;
use crate::thread;

/// What `length` counts.
const WORD: usize = 4;

/// Why a request is refused, as the error codes of the specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
enum Refusal {
    /// The length is not above 0.
    Length = -1,
    /// There is no memory.
    NoMemory = -2,
    /// The address is outside of the symmetric heap.
    Outside = -3,
    /// The block is free already.
    Free = -4,
    /// The address is not the beginning of a block.
    NotBeginning = -5,
}

entry!("pellucid_fortran_shpalloc", shpalloc, "shmem_malloc",
    (addr: *mut *mut c_void, length: c_int, errcode: *mut c_int, abort: c_int) -> c_int,
    |_m| [-1, 0, bytes_of(length)] answer(allocate(addr, length)?, errcode, abort, addr, length), failed |r| r < 0);
entry!("pellucid_fortran_shpdeallc", shpdeallc, "shmem_free",
    (addr: *mut *mut c_void, errcode: *mut c_int, abort: c_int) -> c_int,
    |_m| [-1, block(addr).addr(), 0] answer(release(addr)?, errcode, abort, addr, 1), failed |r| r < 0);
entry!("pellucid_fortran_shpclmove", shpclmove, "shmem_realloc",
    (addr: *mut *mut c_void, length: c_int, status: *mut c_int, abort: c_int) -> c_int,
    |_m| [-1, block(addr).addr(), bytes_of(length)] answer(resize(addr, length)?, status, abort, addr, length),
    failed |r| r < 0);

fn bytes_of(length: c_int) -> usize {
    usize::try_from(length).unwrap_or(0) * WORD
}

/// What a Cray pointer points to.
fn block(addr: *mut *mut c_void) -> *mut c_void {
    // SAFETY: the program gives a variable as wide as an address; null is the one wrong value that can be told.
    if addr.is_null() { null_mut() } else { unsafe { addr.read_unaligned() } }
}

fn point(addr: *mut *mut c_void, to: *mut c_void) {
    // SAFETY: as above.
    unsafe { addr.write_unaligned(to) }
}

fn allocate(addr: *mut *mut c_void, length: c_int) -> Result<Result<c_int, Refusal>, Fault> {
    if length <= 0 {
        return Ok(Err(Refusal::Length));
    }
    let object = memory::malloc(bytes_of(length))?;
    if object.is_null() {
        return Ok(Err(Refusal::NoMemory));
    }
    point(addr, object);
    Ok(Ok(0))
}

fn release(addr: *mut *mut c_void) -> Result<Result<c_int, Refusal>, Fault> {
    if let Some(refusal) = refuse(block(addr))? {
        return Ok(Err(refusal));
    }
    memory::free(block(addr))?;
    Ok(Ok(0))
}

/// 0: where it was; 1: moved.
fn resize(addr: *mut *mut c_void, length: c_int) -> Result<Result<c_int, Refusal>, Fault> {
    if length <= 0 {
        return Ok(Err(Refusal::Length));
    }
    let old = block(addr);
    if let Some(refusal) = refuse(old)? {
        return Ok(Err(refusal));
    }
    let new = memory::realloc(old, bytes_of(length))?;
    if new.is_null() {
        return Ok(Err(Refusal::NoMemory));
    }
    point(addr, new);
    Ok(Ok(c_int::from(new != old)))
}

fn refuse(block: *mut c_void) -> Result<Option<Refusal>, Fault> {
    Ok(match memory::owner(block)? {
        Owner::Object => None,
        Owner::Outside => Some(Refusal::Outside),
        Owner::Free => Some(Refusal::Free),
        Owner::Inside => Some(Refusal::NotBeginning),
    })
}

/// Tells the program how it went, or ends the job where it asked for that.
fn answer(
    result: Result<c_int, Refusal>,
    code: *mut c_int,
    abort: c_int,
    addr: *mut *mut c_void,
    length: c_int,
) -> Result<c_int, Fault> {
    let value = match result {
        Ok(value) => value,
        Err(refusal) if abort == 0 => refusal as c_int,
        Err(refusal) => return Err(fault(refusal, block(addr), length)),
    };
    if code.is_null() {
        return Err(Fault::from(Cause::Null { arg: "errcode", bytes: size_of::<c_int>() }));
    }
    // SAFETY: an INTEGER variable of the program.
    unsafe { code.write_unaligned(value) };
    Ok(value)
}

fn fault(refusal: Refusal, block: *mut c_void, length: c_int) -> Fault {
    let cause = match refusal {
        Refusal::Length => Cause::BadValue { arg: "length", value: length.into(), expected: "at least 1" },
        Refusal::NoMemory => Cause::BadValue {
            arg: "length",
            value: length.into(),
            expected: "no more words than the symmetric heap has room for",
        },
        Refusal::Free => Cause::DoubleFree { addr: block.addr() },
        Refusal::Outside | Refusal::NotBeginning => Cause::ForeignPointer { addr: block.addr() },
    };
    Fault::from(cause)
}
