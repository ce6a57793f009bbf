//! Symmetric memory.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::{Element, Error, Shmem, ffi, runtime};

/// An array of the same length on every PE, zero at first. Made and dropped by all PEs together.
#[derive(Debug)]
pub struct Symmetric<'s, T: Element> {
    start: NonNull<T>,
    len: usize,
    _shmem: PhantomData<&'s Shmem>,
}

// SAFETY: what other threads may do with a reference is what other PEs may do: copies in and out. The thread that
// made it drops it, as it is not Send.
unsafe impl<T: Element> Sync for Symmetric<'_, T> {}

impl Shmem {
    /// Allocates `len` elements on every PE. All PEs give the same length.
    ///
    /// # Errors
    /// [`Error::NoRoom`], on all PEs.
    ///
    /// # Panics
    /// On all PEs, where these give different lengths or types of another size, or have dropped arrays in different
    /// orders before.
    #[inline(always)]
    #[track_caller]
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Symmetric<'_, T>, Error> {
        const { assert!(align_of::<T>() <= 16 && size_of::<T>() > 0) };
        let shapes = self.shapes()?;
        let count = len.max(1);
        // SAFETY: initialized, as self is there. The library checks the product.
        let start = unsafe { ffi::shmem_calloc(count, size_of::<T>()) };
        self.compare_shapes(shapes, [len, size_of::<T>()], start.cast());
        let start = NonNull::new(start.cast()).ok_or(Error::NoRoom { bytes: count.saturating_mul(size_of::<T>()) })?;
        Ok(Symmetric { start, len, _shmem: PhantomData })
    }

    /// As [`Self::alloc`], with these values on this PE. All PEs give as many. Returns when all PEs have theirs.
    ///
    /// # Errors
    /// [`Error::NoRoom`], on all PEs.
    ///
    /// # Panics
    /// As [`Self::alloc`].
    #[inline(always)]
    #[track_caller]
    pub fn alloc_from<T: Element>(&self, values: &[T]) -> Result<Symmetric<'_, T>, Error> {
        let array = self.alloc(values.len())?;
        array.local().copy_from(0, values);
        self.barrier_all();
        Ok(array)
    }
}

impl<T: Element> Symmetric<'_, T> {
    /// Elements on each PE.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// This PE's elements.
    pub fn local(&self) -> Local<'_, T> {
        Local { start: self.start.as_ptr(), len: self.len, _array: PhantomData }
    }

    /// Where elements begin that are all in the array.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn part(&self, at: usize, count: usize) -> *mut T {
        assert!(
            at <= self.len && count <= self.len - at,
            "elements {at}..{} of {}",
            at.saturating_add(count),
            self.len
        );
        self.start.as_ptr().wrapping_add(at)
    }
}

impl<T: Element> Drop for Symmetric<'_, T> {
    fn drop(&mut self) {
        runtime::end_the_job_in_a_panic();
        // SAFETY: allocated by alloc, and freed once.
        unsafe { ffi::shmem_free(self.start.as_ptr().cast()) };
    }
}

/// The elements of one PE in this one's reach: copied in and out, never borrowed, since other PEs may write to them
/// meanwhile.
///
/// ```
/// # fn main() -> Result<(), pellucid::Error> {
/// let shmem = pellucid::init()?;
/// let array = shmem.alloc_from(&[1.5, 2.5])?;
/// let local = array.local();
/// local.set(1, local.get(0) + 1.0);
/// assert_eq!(local.to_vec(), [1.5, 2.5]);
/// assert_eq!(local.iter().sum::<f64>(), 4.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Local<'a, T: Element> {
    start: *mut T,
    len: usize,
    _array: PhantomData<&'a T>,
}

impl<'a, T: Element> Local<'a, T> {
    /// That of another PE, reached by load and store.
    pub(crate) fn at(start: *mut T, len: usize) -> Local<'a, T> {
        Local { start, len, _array: PhantomData }
    }

    #[inline(always)]
    #[track_caller]
    fn part(&self, at: usize, count: usize) -> *mut T {
        assert!(
            at <= self.len && count <= self.len - at,
            "elements {at}..{} of {}",
            at.saturating_add(count),
            self.len
        );
        self.start.wrapping_add(at)
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An element as it is now.
    ///
    /// # Panics
    /// Where there is no such element.
    #[track_caller]
    pub fn get(&self, at: usize) -> T {
        // SAFETY: in the array; any bits are a T. Volatile, as others may write it.
        unsafe { self.part(at, 1).read_volatile() }
    }

    /// Writes an element.
    ///
    /// # Panics
    /// Where there is no such element.
    #[track_caller]
    pub fn set(&self, at: usize, value: T) {
        // SAFETY: in the array. Volatile, as others may read it.
        unsafe { self.part(at, 1).write_volatile(value) };
    }

    /// Copies elements from `at` on into a slice.
    ///
    /// # Panics
    /// Where they are not all in the array.
    #[track_caller]
    pub fn copy_to(&self, at: usize, values: &mut [T]) {
        let from = self.part(at, values.len());
        // SAFETY: as many elements; a slice of this PE's own memory does not overlap with what is never borrowed.
        unsafe { std::ptr::copy_nonoverlapping(from, values.as_mut_ptr(), values.len()) };
    }

    /// Copies a slice to the elements from `at` on.
    ///
    /// # Panics
    /// Where they are not all in the array.
    #[track_caller]
    pub fn copy_from(&self, at: usize, values: &[T]) {
        let to = self.part(at, values.len());
        // SAFETY: as in copy_to.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), to, values.len()) };
    }

    /// All elements as they are now.
    pub fn to_vec(&self) -> Vec<T> {
        let mut values = Vec::with_capacity(self.len);
        // SAFETY: the copy fills what becomes the length.
        unsafe {
            std::ptr::copy_nonoverlapping(self.start, values.as_mut_ptr(), self.len);
            values.set_len(self.len);
        }
        values
    }

    /// The elements, each as it is when its turn comes.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let local = *self;
        (0..self.len).map(move |at| local.get(at))
    }

    /// The same value everywhere.
    pub fn fill(&self, value: T) {
        (0..self.len).for_each(|at| self.set(at, value));
    }
}
