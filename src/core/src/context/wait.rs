//! Point-to-point synchronization (Section 9.11).
//!
//! A variable is looked at with atomic loads; its writer may be a put, an AMO or a plain store through `shmem_ptr`, so
//! there is nobody who could wake a sleeper: waiting is spinning, then yielding, then short naps.
#![allow(unsafe_code)]

use crate::base::observer::Condition;
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::os::stall;
use crate::os::{cpu, wait, wait::Backoff};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// The comparison operators, `SHMEM_CMP_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Cmp {
    /// equal
    Eq = 0,
    /// not equal
    Ne = 1,
    /// greater
    Gt = 2,
    /// less or equal
    Le = 3,
    /// less
    Lt = 4,
    /// greater or equal
    Ge = 5,
}

impl Cmp {
    const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Gt, Self::Le, Self::Lt, Self::Ge];

    #[inline(always)]
    fn new(cmp: i32) -> Result<Self, Fault> {
        Self::ALL.get(cmp as usize).copied().ok_or_else(|| Self::unknown(cmp))
    }

    #[cold]
    fn unknown(cmp: i32) -> Fault {
        Fault::from(Cause::BadValue {
            arg: "cmp",
            value: cmp.into(),
            expected: "one of SHMEM_CMP_EQ, NE, GT, LE, LT, GE",
        })
    }

    #[inline(always)]
    fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Gt => left > right,
            Self::Le => left <= right,
            Self::Lt => left < right,
            Self::Ge => left >= right,
        }
    }
}

/// An integer that can be waited on.
pub trait WaitWord: Copy + PartialOrd {
    /// Whether it has a sign.
    const SIGNED: bool;

    /// As the low bytes of a word.
    fn bits(self) -> u64;

    /// # Safety
    /// `at` is valid and aligned.
    unsafe fn look(at: *const Self) -> Self;

    /// The same at an address that need not be aligned: the value may be made of the parts of two stores.
    ///
    /// # Safety
    /// `at` is valid.
    #[inline(always)]
    unsafe fn look_anywhere(at: *const Self) -> Self {
        #[repr(C, packed)]
        struct Anywhere<T>(T);
        // SAFETY: valid, says the caller; a packed structure has no alignment.
        let Anywhere(value) = unsafe { at.cast::<Anywhere<Self>>().read_volatile() };
        fence(Ordering::Acquire);
        value
    }
}

macro_rules! word {
    ($($t:ty, $atomic:ty;)*) => { $(
        impl WaitWord for $t {
            const SIGNED: bool = <$t>::MIN != 0;

            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            unsafe fn look(at: *const Self) -> Self {
                // SAFETY: valid and aligned, says the caller.
                unsafe { <$atomic>::from_ptr(at.cast_mut().cast()) }.load(Ordering::Acquire) as $t
            }
        }
    )* };
}

word! {
    i16, AtomicU16;
    u16, AtomicU16;
    i32, AtomicU32;
    u32, AtomicU32;
    i64, AtomicU64;
    u64, AtomicU64;
}

/// Checks that `nelems` variables at `addr` are symmetric objects of this PE.
#[inline(always)]
fn check<T>(m: &Map, arg: &'static str, addr: *const T, nelems: usize) -> Result<(), Fault> {
    m.local(arg, addr, super::bytes(size_of::<T>(), nelems))?;
    if addr.is_aligned() { Ok(()) } else { Err(misaligned(arg, addr)) }
}

/// The same of one variable; gives whether it is aligned. There are programs that wait on any byte of a buffer: they
/// run, unless checks are asked for.
#[inline(always)]
fn check_one<T>(m: &Map, arg: &'static str, addr: *const T) -> Result<bool, Fault> {
    m.local(arg, addr, size_of::<T>())?;
    if addr.is_aligned() || !m.check { Ok(addr.is_aligned()) } else { Err(misaligned(arg, addr)) }
}

#[cold]
fn misaligned<T>(arg: &'static str, addr: *const T) -> Fault {
    Fault::from(Cause::Misaligned { arg, addr: addr as usize, align: align_of::<T>() })
}

/// Waits until one variable compares as asked; gives the value that did.
#[inline]
pub(super) fn wait_for<T: WaitWord>(
    m: &Map,
    arg: &'static str,
    ivar: *const T,
    cmp: i32,
    value: T,
) -> Result<T, Fault> {
    let aligned = check_one(m, arg, ivar)?;
    let cmp = Cmp::new(cmp)?;
    // SAFETY: checked above.
    let look = || unsafe { if aligned { T::look(ivar) } else { T::look_anywhere(ivar) } };
    let mut backoff = Backoff::new(m.oversubscribed);
    let mut ready = || Some(look()).filter(|now| cmp.holds(*now, value));
    if let Some(now) = backoff.eagerly(&mut ready) {
        return Ok(now);
    }
    loop {
        let now = look();
        if cmp.holds(now, value) {
            return Ok(now);
        }
        if backoff.step() {
            note(ivar, cmp, value, now, None);
            look_for_losses(m)?;
        }
    }
}

/// Nobody knows who is to end a wait: where a PE is lost that the program has taken no note of, it may be that one.
#[cold]
fn look_for_losses(m: &Map) -> Result<(), Fault> {
    m.unacknowledged_loss().map_or(Ok(()), Err)
}

/// Notes what is waited for, for reports on jobs that hang.
#[cold]
fn note<T: WaitWord>(ivar: *const T, cmp: Cmp, wanted: T, found: T, set: Option<(usize, bool)>) {
    stall::waits_for(&Condition {
        addr: ivar as usize,
        bytes: size_of::<T>(),
        signed: T::SIGNED,
        cmp: cmp as i32,
        wanted: wanted.bits(),
        found: found.bits(),
        set,
    });
}

/// `shmem_wait_until`.
#[inline]
pub fn wait_until<T: WaitWord>(m: &Map, ivar: *mut T, cmp: i32, value: T) -> Result<(), Fault> {
    wait_for(m, "ivar", ivar, cmp, value).map(drop)
}

/// `shmem_test`: 1 where the comparison holds, else 0.
#[inline]
pub fn test<T: WaitWord>(m: &Map, ivar: *mut T, cmp: i32, value: T) -> Result<i32, Fault> {
    let aligned = check_one(m, "ivar", ivar)?;
    // SAFETY: checked above.
    let now = unsafe { if aligned { T::look(ivar) } else { T::look_anywhere(ivar) } };
    let holds = Cmp::new(cmp)?.holds(now, value);
    Ok(i32::from(after_test(m, holds)))
}

/// A program that polls must let that move on which it polls for: the network, or on an oversubscribed host another PE.
#[inline(always)]
fn after_test(m: &Map, holds: bool) -> bool {
    if !holds {
        if m.transport.is_some() {
            wait::assist();
        }
        if m.oversubscribed {
            cpu::yield_now();
        }
    }
    holds
}

/// What to compare with: one value for all variables, or one for each.
#[derive(Clone, Copy)]
enum Values<T> {
    Same(T),
    Each(*const T),
}

/// A set of variables as the array routines take it.
struct Set<T> {
    ivars: *const T,
    nelems: usize,
    status: *const i32,
    cmp: Cmp,
    values: Values<T>,
}

impl<T: WaitWord> Set<T> {
    fn new(
        m: &Map,
        ivars: *const T,
        nelems: usize,
        status: *const i32,
        cmp: i32,
        values: Values<T>,
    ) -> Result<Self, Fault> {
        let cmp = Cmp::new(cmp)?;
        m.ready()?;
        if nelems > 0 {
            check(m, "ivars", ivars, nelems)?;
            if let Values::Each(values) = values
                && values.is_null()
            {
                return Err(super::rma::null("cmp_values", super::bytes(size_of::<T>(), nelems)));
            }
        }
        Ok(Self { ivars, nelems, status, cmp, values })
    }

    /// Indices that are not masked out.
    fn members(&self) -> impl Iterator<Item = usize> + '_ {
        // SAFETY: status is null or has nelems entries, says the caller.
        (0..self.nelems).filter(|i| self.status.is_null() || unsafe { *self.status.add(*i) } == 0)
    }

    /// What a variable is, and what it is to be compared with.
    fn look(&self, i: usize) -> (T, T) {
        // SAFETY: i < nelems; the variables were checked, the values are vouched for by the caller.
        unsafe {
            let value = match self.values {
                Values::Same(value) => value,
                Values::Each(values) => values.add(i).read_unaligned(),
            };
            (T::look(self.ivars.add(i)), value)
        }
    }

    fn holds(&self, i: usize) -> bool {
        let (now, value) = self.look(i);
        self.cmp.holds(now, value)
    }

    /// Notes one that is waited for.
    #[cold]
    fn note(&self, i: usize, all: bool) {
        let (now, value) = self.look(i);
        note(self.ivars.wrapping_add(i), self.cmp, value, now, Some((self.members().count(), all)));
    }

    /// As [`wait::until`], for any of them.
    fn until<R>(&self, m: &Map, mut ready: impl FnMut() -> Option<R>) -> Result<R, Fault> {
        let mut backoff = Backoff::new(m.oversubscribed);
        loop {
            if let Some(value) = ready() {
                return Ok(value);
            }
            if backoff.step()
                && let Some(first) = self.members().next()
            {
                self.note(first, false);
                look_for_losses(m)?;
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.members().next().is_none()
    }

    fn all(&self) -> bool {
        self.members().all(|i| self.holds(i))
    }

    /// One index that holds; another one than at the last call, sooner or later: all of them have to come up in a
    /// series of calls (Sections 9.11.3 and 9.11.10).
    fn any(&self) -> Option<usize> {
        let first = self.members().find(|i| self.holds(*i))?;
        let rest = self.nelems - first;
        if rest == 1 {
            return Some(first);
        }
        let start = first + random() % rest;
        // SAFETY: status is null or has nelems entries, says the caller.
        let included = |i: &usize| self.status.is_null() || unsafe { *self.status.add(*i) } == 0;
        Some((start..self.nelems).filter(included).find(|i| self.holds(*i)).unwrap_or(first))
    }

    /// Writes the indices that hold and counts them.
    fn some(&self, indices: *mut usize) -> usize {
        let mut found = 0;
        for i in self.members().filter(|i| self.holds(*i)) {
            // SAFETY: the caller vouches for room for nelems indices.
            unsafe { indices.add(found).write_unaligned(i) };
            found += 1;
        }
        found
    }

    fn wait_all(&self, m: &Map) -> Result<(), Fault> {
        let mut backoff = Backoff::new(m.oversubscribed);
        for i in self.members() {
            while !self.holds(i) {
                if backoff.step() {
                    self.note(i, true);
                    look_for_losses(m)?;
                }
            }
        }
        Ok(())
    }

    fn wait_any(&self, m: &Map) -> Result<usize, Fault> {
        if self.is_empty() {
            return Ok(usize::MAX);
        }
        self.until(m, || self.any())
    }

    fn wait_some(&self, m: &Map, indices: *mut usize) -> Result<usize, Fault> {
        if self.is_empty() {
            return Ok(0);
        }
        self.room(indices)?;
        self.until(m, || Some(self.some(indices)).filter(|n| *n > 0))
    }

    fn room(&self, indices: *mut usize) -> Result<(), Fault> {
        if indices.is_null() {
            Err(super::rma::null("indices", super::bytes(size_of::<usize>(), self.nelems)))
        } else {
            Ok(())
        }
    }

    fn test_some(&self, m: &Map, indices: *mut usize) -> Result<usize, Fault> {
        if self.is_empty() {
            return Ok(0);
        }
        self.room(indices)?;
        let found = self.some(indices);
        after_test(m, found > 0);
        Ok(found)
    }

    fn test_any(&self, m: &Map) -> usize {
        let found = self.any();
        after_test(m, found.is_some() || self.is_empty());
        found.unwrap_or(usize::MAX)
    }

    fn test_all(&self, m: &Map) -> i32 {
        i32::from(after_test(m, self.all()))
    }
}

/// A number that differs from call to call, without a pattern that a program's own calls could be in step with.
fn random() -> usize {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    // Threads that get the same number do no harm.
    let calls = CALLS.load(Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
    CALLS.store(calls, Ordering::Relaxed);
    let mixed = (calls ^ calls >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) as usize
}

macro_rules! sets {
    ($($name:ident, $vector:ident, ($($indices:ident: $it:ty)?) -> $ret:ty, $body:expr;)*) => { $(
        #[doc = concat!("`shmem_", stringify!($name), "`.")]
        pub fn $name<T: WaitWord>(
            m: &Map, ivars: *const T, nelems: usize, $($indices: $it,)? status: *const i32, cmp: i32, value: T,
        ) -> Result<$ret, Fault> {
            $body(Set::new(m, ivars, nelems, status, cmp, Values::Same(value))?, m $(, $indices)?)
        }
        #[doc = concat!("`shmem_", stringify!($vector), "`: a value for each variable.")]
        pub fn $vector<T: WaitWord>(
            m: &Map, ivars: *const T, nelems: usize, $($indices: $it,)? status: *const i32, cmp: i32, values: *const T,
        ) -> Result<$ret, Fault> {
            $body(Set::new(m, ivars, nelems, status, cmp, Values::Each(values))?, m $(, $indices)?)
        }
    )* };
}

sets! {
    wait_until_all, wait_until_all_vector, () -> (), |s: Set<T>, m| s.wait_all(m);
    wait_until_any, wait_until_any_vector, () -> usize, |s: Set<T>, m| s.wait_any(m);
    wait_until_some, wait_until_some_vector, (indices: *mut usize) -> usize,
        |s: Set<T>, m, indices| s.wait_some(m, indices);
    test_all, test_all_vector, () -> i32, |s: Set<T>, m| Ok(s.test_all(m));
    test_any, test_any_vector, () -> usize, |s: Set<T>, m| Ok(s.test_any(m));
    test_some, test_some_vector, (indices: *mut usize) -> usize, |s: Set<T>, m, indices| s.test_some(m, indices);
}
