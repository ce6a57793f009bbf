//! Objects in the symmetric heap.
#![allow(unsafe_code)]

use crate::{NoRoom, Pe, Plain, Shmem, ffi};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// An array of the same length on every PE, zero at first. Made and dropped by all PEs together.
pub struct Slice<'s, T: Plain> {
    shmem: &'s Shmem,
    start: NonNull<T>,
    len: usize,
    _not_shared: PhantomData<*const T>,
}

impl<'s, T: Plain> Slice<'s, T> {
    /// Allocates `len` elements on every PE. All PEs give the same length.
    pub fn new(shmem: &'s Shmem, len: usize) -> Result<Self, NoRoom> {
        let len_or_one = len.max(1);
        // SAFETY: initialized, as a Shmem is there; so in all functions here. The library checks the product.
        let start = unsafe { ffi::shmem_calloc(len_or_one, size_of::<T>()) };
        let start = NonNull::new(start.cast()).ok_or(NoRoom { bytes: len_or_one.saturating_mul(size_of::<T>()) })?;
        Ok(Self { shmem, start, len, _not_shared: PhantomData })
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn part(&self, at: usize, count: usize) -> *mut T {
        assert!(at <= self.len && count <= self.len - at, "elements {at} to {} of {}", at + count, self.len);
        self.start.as_ptr().wrapping_add(at)
    }

    /// Writes elements of a PE from `at` on.
    ///
    /// # Panics
    /// Where they are not all in the array.
    pub fn put(&self, at: usize, values: &[T], pe: Pe) {
        let dest = self.part(at, values.len());
        // SAFETY: dest has room for the values on every PE, and a Pe is one of the job's.
        unsafe { ffi::shmem_putmem(dest.cast(), values.as_ptr().cast(), size_of_val(values), pe.0) };
    }

    /// Reads elements of a PE from `at` on.
    ///
    /// # Panics
    /// Where they are not all in the array.
    pub fn get(&self, at: usize, values: &mut [T], pe: Pe) {
        let source = self.part(at, values.len());
        // SAFETY: as in put; every bit pattern is a T.
        unsafe { ffi::shmem_getmem(values.as_mut_ptr().cast(), source.cast(), size_of_val(values), pe.0) };
    }

    /// This PE's elements as they are now.
    pub fn to_vec(&self) -> Vec<T> {
        let mut values: Vec<T> = Vec::with_capacity(self.len);
        // SAFETY: the get fills all of the capacity that becomes the length.
        unsafe {
            ffi::shmem_getmem(
                values.as_mut_ptr().cast(),
                self.start.as_ptr().cast(),
                self.len * size_of::<T>(),
                self.shmem.me().0,
            );
            values.set_len(self.len);
        }
        values
    }
}

impl Slice<'_, u64> {
    /// Replaces every element, on every PE, by the sum of those of all PEs. Called by all PEs.
    pub fn sum_over_pes(&self) {
        if self.len > 0 {
            let start = self.start.as_ptr();
            // SAFETY: one symmetric array of len elements; a reduction may be in place.
            unsafe { ffi::shmem_uint64_sum_reduce(ffi::TEAM_WORLD, start, start, self.len) };
        }
    }
}

impl<T: Plain> Drop for Slice<'_, T> {
    fn drop(&mut self) {
        // SAFETY: allocated by new and freed once.
        unsafe { ffi::shmem_free(self.start.as_ptr().cast()) };
    }
}

/// A counter on every PE, for atomic use only.
pub struct Counter<'s>(Slice<'s, u64>);

impl<'s> Counter<'s> {
    /// Allocates it, 0 on every PE.
    pub fn new(shmem: &'s Shmem) -> Result<Self, NoRoom> {
        Slice::new(shmem, 1).map(Self)
    }

    /// Adds to a PE's counter; gives what it was before.
    pub fn add(&self, value: u64, pe: Pe) -> u64 {
        // SAFETY: a symmetric, aligned u64 that is accessed atomically only.
        unsafe { ffi::shmem_uint64_atomic_fetch_add(self.0.start.as_ptr(), value, pe.0) }
    }

    /// A PE's counter.
    pub fn value(&self, pe: Pe) -> u64 {
        // SAFETY: as in add.
        unsafe { ffi::shmem_uint64_atomic_fetch(self.0.start.as_ptr(), pe.0) }
    }
}
