//! Distributed locks (Section 9.13).
//!
//! A ticket lock in PE 0's instance of the lock variable: the low half of the `long` is the ticket being served, the high
//! half the next one to draw. First come, first served, so no PE starves; zero is the cleared state that programs start
//! from.
#![allow(unsafe_code)]

use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::os::wait;
use crate::transport::shm::order;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

struct Lock {
    serving: &'static AtomicU32,
    next: &'static AtomicU32,
    whole: &'static AtomicU64,
}

fn lock(m: &Map, lock: *mut i64) -> Result<Lock, Fault> {
    let at = m.remote("lock", lock, size_of::<i64>(), 0)?;
    if !at.is_aligned() {
        return Err(Fault::from(Cause::Misaligned { arg: "lock", addr: lock as usize, align: align_of::<i64>() }));
    }
    let halves = at.cast::<u32>();
    let (low, high) = if cfg!(target_endian = "little") { (0, 1) } else { (1, 0) };
    // SAFETY: the variable is mapped and aligned, and a lock is accessed by these routines only (Section 9.13.1).
    unsafe {
        Ok(Lock {
            serving: AtomicU32::from_ptr(halves.add(low)),
            next: AtomicU32::from_ptr(halves.add(high)),
            whole: AtomicU64::from_ptr(at.cast()),
        })
    }
}

/// `shmem_set_lock`: waits for the lock and takes it.
pub fn set(m: &Map, addr: *mut i64) -> Result<(), Fault> {
    let lock = lock(m, addr)?;
    let ticket = lock.next.fetch_add(1, Ordering::AcqRel);
    wait::until(m.crowded, || (lock.serving.load(Ordering::Acquire) == ticket).then_some(()));
    Ok(())
}

/// `shmem_clear_lock`: completes this PE's stores, then releases the lock.
pub fn clear(m: &Map, addr: *mut i64) -> Result<(), Fault> {
    let lock = lock(m, addr)?;
    let whole = lock.whole.load(Ordering::Acquire);
    if whole as u32 == (whole >> 32) as u32 {
        return Err(Fault::from(Cause::BadValue { arg: "*lock", value: whole as i64, expected: "a lock that is set" }));
    }
    order::quiet();
    lock.serving.store((whole as u32).wrapping_add(1), Ordering::Release);
    Ok(())
}

/// `shmem_test_lock`: 0 where it took the lock, 1 where another has it.
pub fn test(m: &Map, addr: *mut i64) -> Result<i32, Fault> {
    let lock = lock(m, addr)?;
    let whole = lock.whole.load(Ordering::Acquire);
    let (serving, next) = (whole as u32, (whole >> 32) as u32);
    let taken = u64::from(serving) | u64::from(next.wrapping_add(1)) << 32;
    if serving == next && lock.whole.compare_exchange(whole, taken, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        return Ok(0);
    }
    if m.crowded {
        crate::os::cpu::yield_now();
    }
    Ok(1)
}
