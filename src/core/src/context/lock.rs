//! Distributed locks (Section 9.13).
//!
//! A ticket lock in PE 0's instance of the lock variable: the low half of the `long` is the ticket being served, the high
//! half the next one to draw. First come, first served, so no PE starves; zero is the cleared state that programs start
//! from.
#![allow(unsafe_code)]

use super::{Ctx, amo, held};
use crate::base::word::Word;
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::os::wait;
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

/// The lock where this CPU's atomics may work on it; `None` where PE 0 is on another host.
fn lock(m: &Map, lock: *mut i64) -> Result<Option<Ticket<'static, AtomicU64>>, Fault> {
    if let Some(at) = m.local_mapping_atomic(lock, 0) {
        // SAFETY: the variable is mapped and aligned, and a lock is accessed by these routines only (Section 9.13.1).
        return Ok(Some(Ticket(unsafe { AtomicU64::from_ptr(at.cast()) })));
    }
    if !lock.is_aligned() && m.contains(lock as usize, size_of::<i64>()) {
        return Err(Fault::from(Cause::Misaligned { arg: "lock", addr: lock as usize, align: align_of::<i64>() }));
    }
    m.remote_address("lock", lock, size_of::<i64>(), 0).map(|_| None)
}

/// `shmem_set_lock`: waits for the lock and takes it.
pub fn set(m: &Map, addr: *mut i64) -> Result<(), Fault> {
    let lock = lock(m, addr)?;
    if m.check {
        held::may_set(addr as usize)?;
    }
    match lock {
        Some(lock) => wait::until(m.crowded, lock.draw()),
        None => Distant { m, addr: addr.cast() }.set()?,
    }
    if m.check {
        held::taken(addr as usize);
    }
    Ok(())
}

/// `shmem_clear_lock`: completes this PE's stores, then releases the lock.
pub fn clear(m: &Map, addr: *mut i64) -> Result<(), Fault> {
    let lock = lock(m, addr)?;
    if m.check {
        held::cleared(addr as usize)?;
    }
    // On x86 the locked addition that releases completes what went through memory.
    if m.transport.is_some() || cfg!(not(target_arch = "x86_64")) {
        super::order::quiet_default(m)?;
    }
    let released = match lock {
        Some(lock) => lock.release(),
        None => Distant { m, addr: addr.cast() }.release()?,
    };
    released
        .map_err(|now| Fault::from(Cause::BadValue { arg: "*lock", value: now as i64, expected: "a lock that is set" }))
}

/// `shmem_test_lock`: 0 where it took the lock, 1 where another has it.
pub fn test(m: &Map, addr: *mut i64) -> Result<i32, Fault> {
    let taken = match lock(m, addr)? {
        Some(lock) => lock.take(),
        None => Distant { m, addr: addr.cast() }.take()?,
    };
    if taken {
        if m.check {
            held::taken(addr as usize);
        }
        return Ok(0);
    }
    if m.crowded {
        crate::os::cpu::yield_now();
    }
    Ok(1)
}

/// A lock on another host, by the same steps as [`Ticket`]: each of them an atomic operation over the network.
struct Distant<'m> {
    m: &'m Map,
    addr: *mut u64,
}

impl Distant<'_> {
    fn look(&self) -> Result<u64, Fault> {
        amo::fetch(self.m, Ctx::DEFAULT, self.addr, 0)
    }

    fn set(&self) -> Result<(), Fault> {
        let mine = (amo::fetch_add(self.m, Ctx::DEFAULT, self.addr, DRAW, 0)? >> 32) as u32;
        let mut backoff = wait::Backoff::new(true);
        while self.look()? as u32 != mine {
            backoff.turn();
        }
        Ok(())
    }

    fn take(&self) -> Result<bool, Fault> {
        let now = self.look()?;
        if now as u32 != (now >> 32) as u32 {
            return Ok(false);
        }
        Ok(amo::compare_swap(self.m, Ctx::DEFAULT, self.addr, now, now.wrapping_add(DRAW), 0)? == now)
    }

    fn release(&self) -> Result<Result<(), u64>, Fault> {
        let now = self.look()?;
        if now as u32 == (now >> 32) as u32 {
            return Ok(Err(now));
        }
        let step = if now as u32 == u32::MAX { 1u64.wrapping_sub(DRAW) } else { 1 };
        amo::fetch_add(self.m, Ctx::DEFAULT, self.addr, step, 0)?;
        Ok(Ok(()))
    }
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
