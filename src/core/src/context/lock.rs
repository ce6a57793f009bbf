//! Distributed locks (Section 9.13).
//!
//! A ticket lock in PE 0's instance of the lock variable: the low half of the `long` is the ticket being served, the high
//! half the next one to draw. First come, first served, so no PE starves; zero is the cleared state that programs start
//! from.
#![allow(unsafe_code)]

use crate::base::word::Word;
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::os::wait;
use crate::transport::shm::order;
use std::sync::atomic::{AtomicU64, Ordering};

/// One ticket drawn.
const DRAW: u64 = 1 << 32;

/// The word of a lock, as all PEs work on it.
#[derive(Debug, Clone, Copy)]
pub struct Ticket<'a, W>(pub &'a W);

impl<W: Word> Ticket<'_, W> {
    /// Draws a ticket and gives what tells whether its turn has come.
    #[inline]
    pub fn draw(&self) -> impl Fn() -> Option<()> {
        // The high half overflows out of the word.
        let mine = (self.0.fetch_add(DRAW, Ordering::AcqRel) >> 32) as u32;
        move || (self.0.load(Ordering::Acquire) as u32 == mine).then_some(())
    }

    /// Takes the lock where nobody has it.
    #[inline]
    pub fn take(&self) -> bool {
        let now = self.0.load(Ordering::Acquire);
        now as u32 == (now >> 32) as u32 && self.0.replace(now, now.wrapping_add(DRAW), Ordering::AcqRel)
    }

    /// Serves the next ticket. Error: what stands there, where nobody has the lock.
    #[inline]
    pub fn release(&self) -> Result<(), u64> {
        let now = self.0.load(Ordering::Acquire);
        if now as u32 == (now >> 32) as u32 {
            return Err(now);
        }
        // Only the holder changes the low half, so it is known here whether the addition would carry into the high one.
        let step = if now as u32 == u32::MAX { 1u64.wrapping_sub(DRAW) } else { 1 };
        self.0.fetch_add(step, Ordering::AcqRel);
        Ok(())
    }
}

fn lock(m: &Map, lock: *mut i64) -> Result<Ticket<'static, AtomicU64>, Fault> {
    let at = m.remote("lock", lock, size_of::<i64>(), 0)?;
    if !at.is_aligned() {
        return Err(Fault::from(Cause::Misaligned { arg: "lock", addr: lock as usize, align: align_of::<i64>() }));
    }
    // SAFETY: the variable is mapped and aligned, and a lock is accessed by these routines only (Section 9.13.1).
    Ok(Ticket(unsafe { AtomicU64::from_ptr(at.cast()) }))
}

/// `shmem_set_lock`: waits for the lock and takes it.
pub fn set(m: &Map, addr: *mut i64) -> Result<(), Fault> {
    wait::until(m.crowded, lock(m, addr)?.draw());
    Ok(())
}

/// `shmem_clear_lock`: completes this PE's stores, then releases the lock.
pub fn clear(m: &Map, addr: *mut i64) -> Result<(), Fault> {
    let lock = lock(m, addr)?;
    // On x86 the locked addition that releases completes them.
    if cfg!(not(target_arch = "x86_64")) {
        order::quiet();
    }
    lock.release()
        .map_err(|now| Fault::from(Cause::BadValue { arg: "*lock", value: now as i64, expected: "a lock that is set" }))
}

/// `shmem_test_lock`: 0 where it took the lock, 1 where another has it.
pub fn test(m: &Map, addr: *mut i64) -> Result<i32, Fault> {
    if lock(m, addr)?.take() {
        return Ok(0);
    }
    if m.crowded {
        crate::os::cpu::yield_now();
    }
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_wrap_around() {
        let word = AtomicU64::new(u64::MAX);
        let lock = Ticket(&word);
        assert_eq!(lock.release(), Err(u64::MAX));
        assert!(lock.take() && !lock.take());
        let next = lock.draw();
        assert_eq!(next(), None);
        lock.release().unwrap();
        assert_eq!(next(), Some(()));
        lock.release().unwrap();
        assert_eq!(word.load(Ordering::Relaxed), 1 << 32 | 1);
    }
}
