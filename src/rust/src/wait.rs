//! Waits for what other PEs write.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ops::Range;
use std::ptr::null;

use crate::{Context, Symmetric, Waitable};

/// How an element is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// `==`
    Equal = 0,
    /// `!=`
    NotEqual = 1,
    /// `>`
    Greater = 2,
    /// `<=`
    LessOrEqual = 3,
    /// `<`
    Less = 4,
    /// `>=`
    GreaterOrEqual = 5,
}

impl Compare {
    pub(crate) fn c(self) -> c_int {
        self as c_int
    }
}

/// C functions of a type.
#[doc(hidden)]
#[derive(Debug)]
pub struct WaitCalls<T> {
    pub(crate) until: unsafe extern "C" fn(*mut T, c_int, T),
    pub(crate) until_all: unsafe extern "C" fn(*mut T, usize, *const c_int, c_int, T),
    pub(crate) until_any: unsafe extern "C" fn(*mut T, usize, *const c_int, c_int, T) -> usize,
    pub(crate) test: unsafe extern "C" fn(*mut T, c_int, T) -> c_int,
}

/// Waits for this PE's elements; they panic where these are not in the array.
///
/// ```
/// # fn main() -> Result<(), pellucid::Error> {
/// use pellucid::Compare;
/// let shmem = pellucid::init()?;
/// let flag = shmem.alloc::<i32>(1)?;
/// shmem.set(&flag, 0, 1, shmem.world().neighbour(1));
/// shmem.wait_until(&flag, 0, Compare::Equal, 1);
/// # Ok(())
/// # }
/// ```
impl Context<'_> {
    /// Waits until an element compares so; gives it.
    #[inline(always)]
    #[track_caller]
    pub fn wait_until<T: Waitable>(&self, array: &Symmetric<'_, T>, at: usize, compare: Compare, value: T) -> T {
        let element = array.part(at, 1);
        // SAFETY: an element of the array; so in all functions here.
        unsafe { (T::WAIT.until)(element, compare.c(), value) };
        array.local().get(at)
    }

    /// Waits until all elements of a range compare so.
    #[inline(always)]
    #[track_caller]
    pub fn wait_until_all<T: Waitable>(
        &self,
        array: &Symmetric<'_, T>,
        range: Range<usize>,
        compare: Compare,
        value: T,
    ) {
        let first = array.part(range.start, range.len());
        // SAFETY: see wait_until; null: none is left out.
        unsafe { (T::WAIT.until_all)(first, range.len(), null(), compare.c(), value) };
    }

    /// Waits until any element of a range compares so; gives which. `None`: the range is empty.
    #[inline(always)]
    #[track_caller]
    pub fn wait_until_any<T: Waitable>(
        &self,
        array: &Symmetric<'_, T>,
        range: Range<usize>,
        compare: Compare,
        value: T,
    ) -> Option<usize> {
        let first = array.part(range.start, range.len());
        // SAFETY: see wait_until_all.
        let found = unsafe { (T::WAIT.until_any)(first, range.len(), null(), compare.c(), value) };
        (found < range.len()).then(|| range.start + found)
    }

    /// Whether an element compares so now.
    #[inline(always)]
    #[track_caller]
    pub fn test<T: Waitable>(&self, array: &Symmetric<'_, T>, at: usize, compare: Compare, value: T) -> bool {
        // SAFETY: see wait_until.
        unsafe { (T::WAIT.test)(array.part(at, 1), compare.c(), value) != 0 }
    }
}
