//! Distributed locks (Section 9.13).
//!
//! A ticket lock in PE 0's instance of the lock variable: its low half is the ticket being served, its high half the
//! next one to draw. First come, first served, so no PE starves; zero is the cleared state that programs start from.
//! The variable is C's `long`, or Fortran's `INTEGER` of four bytes, whose tickets have 16 bits: enough for 65535
//! waiting threads.
//!
//! Tickets do not tell who has the lock. In a job that goes on without PEs that are lost it is a word with its holder
//! ([`super::owned_lock`]).
#![allow(unsafe_code)]

use super::amo::{self, AmoInt};
use super::{Ctx, lock_owners, owned_lock};
use crate::base::word::Word;
use crate::base::{Cause, Fault};
use crate::context::order;
use crate::memory::Map;
use crate::os::wait;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A word that can be a lock: two tickets beside each other.
pub trait TicketWord: Word {
    /// Bits of a ticket.
    const HALF: u32;
    /// One ticket drawn.
    const DRAW: u64 = 1 << Self::HALF;

    /// The ticket that is being served.
    #[inline(always)]
    fn served(now: u64) -> u64 {
        now & (Self::DRAW - 1)
    }

    /// The ticket that is drawn next.
    #[inline(always)]
    fn next(now: u64) -> u64 {
        now >> Self::HALF & (Self::DRAW - 1)
    }

    /// Whether nobody has the lock.
    #[inline(always)]
    fn is_free(now: u64) -> bool {
        Self::served(now) == Self::next(now)
    }

    /// What serves the next ticket when added. Only the holder changes the low half, so it is known here whether the
    /// addition would carry into the high one.
    #[inline(always)]
    fn step(now: u64) -> u64 {
        if Self::served(now) == Self::DRAW - 1 { 1u64.wrapping_sub(Self::DRAW) } else { 1 }
    }
}

/// A lock variable: `u64` for C's `long`, `u32` for Fortran's `INTEGER`.
pub trait Variable: AmoInt {
    /// The variable as this CPU's atomics work on it.
    type Atomic: TicketWord + 'static;
    /// # Safety
    /// `at` is mapped and aligned, and accessed atomically only.
    unsafe fn atomic<'a>(at: *mut Self) -> &'a Self::Atomic;
    /// The low bits of a number.
    fn of(bits: u64) -> Self;
}

macro_rules! variable {
    ($type:ty, $atomic:ty) => {
        impl TicketWord for $atomic {
            const HALF: u32 = <$type>::BITS / 2;
        }

        impl Variable for $type {
            type Atomic = $atomic;
            #[inline(always)]
            unsafe fn atomic<'a>(at: *mut Self) -> &'a $atomic {
                // SAFETY: as the caller promises.
                unsafe { <$atomic>::from_ptr(at) }
            }
            #[inline(always)]
            fn of(bits: u64) -> Self {
                bits as Self
            }
        }
    };
}

variable!(u32, AtomicU32);
variable!(u64, AtomicU64);

/// The word of a lock, as all PEs work on it.
#[derive(Debug, Clone, Copy)]
pub struct Ticket<'a, W>(pub &'a W);

impl<W: TicketWord> Ticket<'_, W> {
    /// Draws a ticket and gives what tells whether its turn has come.
    #[inline]
    pub fn draw(&self) -> impl Fn() -> Option<()> {
        // The high half overflows out of the word.
        let mine = W::next(self.0.fetch_add(W::DRAW, Ordering::AcqRel));
        move || (W::served(self.0.load(Ordering::Acquire)) == mine).then_some(())
    }

    /// Takes the lock where nobody has it.
    #[inline]
    pub fn take(&self) -> bool {
        let now = self.0.load(Ordering::Acquire);
        W::is_free(now) && self.0.replace(now, now.wrapping_add(W::DRAW), Ordering::AcqRel)
    }

    /// Serves the next ticket. Error: what stands there, where nobody has the lock.
    #[inline]
    pub fn release(&self) -> Result<(), u64> {
        let now = self.0.load(Ordering::Acquire);
        if W::is_free(now) {
            return Err(now);
        }
        self.0.fetch_add(W::step(now), Ordering::AcqRel);
        Ok(())
    }
}

/// The lock where this CPU's atomics may work on it; `None` where PE 0 is on another host.
fn lock<V: Variable>(m: &Map, lock: *mut V) -> Result<Option<Ticket<'static, V::Atomic>>, Fault> {
    if let Some(at) = m.local_mapping_atomic(lock, 0) {
        // SAFETY: the variable is mapped and aligned, and a lock is accessed by these routines only (Section 9.13.1).
        return Ok(Some(Ticket(unsafe { V::atomic(at) })));
    }
    if !lock.is_aligned() && m.contains(lock as usize, size_of::<V>()) {
        return Err(Fault::from(Cause::Misaligned { arg: "lock", addr: lock as usize, align: align_of::<V>() }));
    }
    m.remote_address("lock", lock, size_of::<V>(), 0).map(|_| None)
}

/// `shmem_set_lock`: waits for the lock and takes it.
pub fn set<V: Variable>(m: &Map, addr: *mut V) -> Result<(), Fault> {
    let lock = lock(m, addr)?;
    if m.check {
        lock_owners::check_set(addr as usize)?;
    }
    match lock {
        _ if m.losses.is_some() => owned_lock::set(m, addr)?,
        Some(lock) => wait::until(m.oversubscribed, lock.draw()),
        None => Distant { m, addr }.set()?,
    }
    if m.check {
        lock_owners::set_owner(addr as usize);
    }
    Ok(())
}

/// `shmem_clear_lock`: completes this PE's stores, then releases the lock.
pub fn clear<V: Variable>(m: &Map, addr: *mut V) -> Result<(), Fault> {
    let lock = lock(m, addr)?;
    if m.check {
        lock_owners::clear_owner(addr as usize)?;
    }
    // On x86 the locked addition that releases completes what went through memory.
    let mut later = None;
    if m.transport.is_some() || cfg!(not(target_arch = "x86_64")) {
        later = order::quiet_before(m)?;
    }
    let released = match lock {
        _ if m.losses.is_some() => owned_lock::release(m, addr)?,
        Some(lock) => lock.release(),
        None => Distant { m, addr }.release()?,
    };
    released.map_err(|now| {
        Fault::from(Cause::BadValue { arg: "*lock", value: now as i64, expected: "a lock that is set" })
    })?;
    order::told(later)
}

/// `shmem_test_lock`: 0 where it took the lock, 1 where another has it.
pub fn test<V: Variable>(m: &Map, addr: *mut V) -> Result<i32, Fault> {
    let taken = match lock(m, addr)? {
        _ if m.losses.is_some() => owned_lock::take(m, addr)?,
        Some(lock) => lock.take(),
        None => Distant { m, addr }.take()?,
    };
    if taken {
        if m.check {
            lock_owners::set_owner(addr as usize);
        }
        return Ok(0);
    }
    if m.oversubscribed {
        crate::os::cpu::yield_now();
    }
    Ok(1)
}

/// A lock on another host, by the same steps as [`Ticket`]: each of them an atomic operation over the network.
struct Distant<'m, V> {
    m: &'m Map,
    addr: *mut V,
}

impl<V: Variable> Distant<'_, V> {
    fn look(&self) -> Result<u64, Fault> {
        amo::fetch(self.m, Ctx::DEFAULT, self.addr, 0).map(V::bits)
    }

    fn set(&self) -> Result<(), Fault> {
        let drawn = amo::fetch_add(self.m, Ctx::DEFAULT, self.addr, V::of(V::Atomic::DRAW), 0)?;
        let mine = V::Atomic::next(drawn.bits());
        let mut backoff = wait::Backoff::new(true);
        while V::Atomic::served(self.look()?) != mine {
            backoff.step();
        }
        Ok(())
    }

    fn take(&self) -> Result<bool, Fault> {
        let now = self.look()?;
        if !V::Atomic::is_free(now) {
            return Ok(false);
        }
        let drawn = V::of(now.wrapping_add(V::Atomic::DRAW));
        Ok(amo::compare_swap(self.m, Ctx::DEFAULT, self.addr, V::of(now), drawn, 0)?.bits() == now)
    }

    fn release(&self) -> Result<Result<(), u64>, Fault> {
        let now = self.look()?;
        if V::Atomic::is_free(now) {
            return Ok(Err(now));
        }
        amo::fetch_add(self.m, Ctx::DEFAULT, self.addr, V::of(V::Atomic::step(now)), 0)?;
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

    #[test]
    fn tickets_of_half_the_width_wrap_around() {
        let word = AtomicU32::new(u32::MAX);
        let lock = Ticket(&word);
        assert!(lock.take() && !lock.take());
        assert_eq!(word.load(Ordering::Relaxed), 0xffff, "the high half has overflown out of the word");
        let next = lock.draw();
        assert_eq!(next(), None);
        lock.release().unwrap();
        assert_eq!((word.load(Ordering::Relaxed), next()), (1 << 16, Some(())));
        lock.release().unwrap();
        assert_eq!((word.load(Ordering::Relaxed), lock.release()), (1 << 16 | 1, Err(1 << 16 | 1)));
    }
}
