//! Atomics: all PEs' operations on one element exclude each other.
#![allow(unsafe_code)]

use std::ffi::c_int;

use crate::ffi::CtxHandle;
use crate::{Atomic, AtomicInt, Context, Pe, Symmetric};

/// C functions of a type.
#[doc(hidden)]
#[derive(Debug)]
pub struct AtomicCalls<T> {
    pub(crate) fetch: unsafe extern "C" fn(CtxHandle, *const T, c_int) -> T,
    pub(crate) set: unsafe extern "C" fn(CtxHandle, *mut T, T, c_int),
    pub(crate) swap: unsafe extern "C" fn(CtxHandle, *mut T, T, c_int) -> T,
    pub(crate) fetch_nbi: unsafe extern "C" fn(CtxHandle, *mut T, *const T, c_int),
}

/// C functions of an integer type.
#[doc(hidden)]
#[derive(Debug)]
pub struct IntCalls<T> {
    pub(crate) compare_swap: unsafe extern "C" fn(CtxHandle, *mut T, T, T, c_int) -> T,
    pub(crate) add: unsafe extern "C" fn(CtxHandle, *mut T, T, c_int),
    pub(crate) fetch_add: unsafe extern "C" fn(CtxHandle, *mut T, T, c_int) -> T,
    pub(crate) fetch_add_nbi: unsafe extern "C" fn(CtxHandle, *mut T, *mut T, T, c_int),
}

/// All of these panic where the index is not in the array, or the PE not in the context's team.
///
/// ```
/// # fn main() -> Result<(), pellucid::Error> {
/// let shmem = pellucid::init()?;
/// let counter = shmem.alloc::<u64>(1)?;
/// let first = shmem.world().pe(0).expect("a job has a PE 0");
/// let ticket = shmem.fetch_add(&counter, 0, 1, first);
/// assert!(ticket < shmem.world().size() as u64);
/// # Ok(())
/// # }
/// ```
impl Context<'_> {
    /// Reads an element.
    #[inline(always)]
    #[track_caller]
    pub fn fetch<T: Atomic>(&self, source: &Symmetric<'_, T>, at: usize, pe: Pe) -> T {
        // SAFETY: an element of the array on every PE, and a PE of the team; so in all functions here.
        unsafe { (T::ATOMIC.fetch)(self.handle(), source.part(at, 1), self.member(pe)) }
    }

    /// Writes an element.
    #[inline(always)]
    #[track_caller]
    pub fn set<T: Atomic>(&self, dest: &Symmetric<'_, T>, at: usize, value: T, pe: Pe) {
        // SAFETY: see fetch.
        unsafe { (T::ATOMIC.set)(self.handle(), dest.part(at, 1), value, self.member(pe)) }
    }

    /// Writes an element and gives what it was.
    #[inline(always)]
    #[track_caller]
    pub fn swap<T: Atomic>(&self, dest: &Symmetric<'_, T>, at: usize, value: T, pe: Pe) -> T {
        // SAFETY: see fetch.
        unsafe { (T::ATOMIC.swap)(self.handle(), dest.part(at, 1), value, self.member(pe)) }
    }

    /// Writes `value` where the element is `current`; gives what it was.
    #[inline(always)]
    #[track_caller]
    pub fn compare_swap<T: AtomicInt>(&self, dest: &Symmetric<'_, T>, at: usize, current: T, value: T, pe: Pe) -> T {
        // SAFETY: see fetch.
        unsafe { (T::INT.compare_swap)(self.handle(), dest.part(at, 1), current, value, self.member(pe)) }
    }

    /// Adds to an element.
    #[inline(always)]
    #[track_caller]
    pub fn add<T: AtomicInt>(&self, dest: &Symmetric<'_, T>, at: usize, value: T, pe: Pe) {
        // SAFETY: see fetch.
        unsafe { (T::INT.add)(self.handle(), dest.part(at, 1), value, self.member(pe)) }
    }

    /// Adds to an element and gives what it was.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_add<T: AtomicInt>(&self, dest: &Symmetric<'_, T>, at: usize, value: T, pe: Pe) -> T {
        // SAFETY: see fetch.
        unsafe { (T::INT.fetch_add)(self.handle(), dest.part(at, 1), value, self.member(pe)) }
    }
}
