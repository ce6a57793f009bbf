//! Operations that go on while the program does something else.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use crate::ffi;
use crate::{Atomic, AtomicInt, Context, Element, Pe, Signal, SignalOp, Symmetric};

/// Operations that are under way until the scope ends; see [`Context::nonblocking`].
#[derive(Debug)]
pub struct Nonblocking<'scope, 'env: 'scope> {
    context: &'env Context<'env>,
    /// Invariant, as a scope of threads is: buffers live for all of it.
    _scope: PhantomData<&'scope mut &'scope ()>,
}

/// Completes the operations of a scope, also where it is left by a panic.
struct Completion<'a, 'env>(&'a Context<'env>);

impl Drop for Completion<'_, '_> {
    fn drop(&mut self) {
        self.0.quiet();
    }
}

impl Context<'_> {
    /// Runs `f`, which may start operations that go on while it runs. They are complete when this returns; until then
    /// their buffers are borrowed.
    ///
    /// ```
    /// # fn main() -> Result<(), pellucid::Error> {
    /// let shmem = pellucid::init()?;
    /// let (world, array) = (shmem.world(), shmem.alloc_from(&[1u64, 2, 3, 4])?);
    /// let (left, right) = (world.neighbour(world.size() - 1), world.neighbour(1));
    /// let (mut from_left, mut from_right) = ([0; 4], [0; 4]);
    /// let sum = shmem.nonblocking(|scope| {
    ///     scope.get(&array, 0, &mut from_left, left);
    ///     scope.get(&array, 0, &mut from_right, right);
    ///     (1..=10).sum::<u64>() // meanwhile
    /// });
    /// assert_eq!((sum, from_left, from_right), (55, [1, 2, 3, 4], [1, 2, 3, 4]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A buffer cannot be used before they are complete:
    ///
    /// ```compile_fail,E0506
    /// # let shmem = pellucid::init().unwrap();
    /// # let (world, array) = (shmem.world(), shmem.alloc::<u64>(4).unwrap());
    /// let mut values = [0; 4];
    /// shmem.nonblocking(|scope| {
    ///     scope.get(&array, 0, &mut values, world.neighbour(1));
    ///     values[0] = 1;
    /// });
    /// ```
    ///
    /// Nor can it be one that goes away before:
    ///
    /// ```compile_fail,E0597
    /// # let shmem = pellucid::init().unwrap();
    /// # let (world, array) = (shmem.world(), shmem.alloc::<u64>(4).unwrap());
    /// shmem.nonblocking(|scope| {
    ///     let values = [1, 2, 3, 4];
    ///     scope.put(&array, 0, &values, world.neighbour(1));
    /// });
    /// ```
    pub fn nonblocking<'env, R>(&'env self, f: impl for<'scope> FnOnce(&'scope Nonblocking<'scope, 'env>) -> R) -> R {
        let _completion = Completion(self);
        let scope = Nonblocking { context: self, _scope: PhantomData };
        f(&scope)
    }
}

/// Panics are as in [`Context`].
impl<'scope> Nonblocking<'scope, '_> {
    /// Writes elements of a PE from `at` on.
    #[inline(always)]
    #[track_caller]
    pub fn put<T: Element>(&'scope self, dest: &'scope Symmetric<'_, T>, at: usize, values: &'scope [T], pe: Pe) {
        let to = dest.part(at, values.len());
        let (context, bytes) = (self.context, size_of_val(values));
        // SAFETY: room for the values on every PE; a PE of the team. Both are borrowed until the operation is
        // complete; so in all functions here.
        unsafe {
            let from = values.as_ptr().cast();
            ffi::shmem_ctx_putmem_nbi(context.handle(), to.cast(), from, bytes, context.member(pe));
        }
    }

    /// Reads elements of a PE from `at` on.
    #[inline(always)]
    #[track_caller]
    pub fn get<T: Element>(&'scope self, source: &'scope Symmetric<'_, T>, at: usize, values: &'scope mut [T], pe: Pe) {
        let from = source.part(at, values.len());
        let (context, bytes) = (self.context, size_of_val(values));
        // SAFETY: see put; any bits are a T.
        unsafe {
            let to = values.as_mut_ptr().cast();
            ffi::shmem_ctx_getmem_nbi(context.handle(), to, from.cast(), bytes, context.member(pe));
        }
    }

    /// As [`Self::put`], and then updates a signal there.
    #[inline(always)]
    #[track_caller]
    #[allow(clippy::too_many_arguments)] // those of the C routine
    pub fn put_signal<T: Element>(
        &'scope self,
        dest: &'scope Symmetric<'_, T>,
        at: usize,
        values: &'scope [T],
        signal: &'scope Signal<'_>,
        op: SignalOp,
        value: u64,
        pe: Pe,
    ) {
        let to = dest.part(at, values.len());
        let (context, bytes) = (self.context, size_of_val(values));
        // SAFETY: see put; a signal is symmetric.
        unsafe {
            let from = values.as_ptr().cast();
            let (word, pe) = (signal.word(), context.member(pe));
            ffi::shmem_ctx_putmem_signal_nbi(context.handle(), to.cast(), from, bytes, word, value, op.c(), pe);
        }
    }

    /// Reads an element atomically.
    #[inline(always)]
    #[track_caller]
    pub fn fetch<T: Atomic>(&'scope self, into: &'scope mut T, source: &'scope Symmetric<'_, T>, at: usize, pe: Pe) {
        // SAFETY: see put.
        unsafe { (T::ATOMIC.fetch_nbi)(self.context.handle(), into, source.part(at, 1), self.context.member(pe)) }
    }

    /// Adds to an element; what it was is in `into` once the scope ends.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_add<T: AtomicInt>(
        &'scope self,
        into: &'scope mut T,
        dest: &'scope Symmetric<'_, T>,
        at: usize,
        value: T,
        pe: Pe,
    ) {
        // SAFETY: see put.
        unsafe { (T::INT.fetch_add_nbi)(self.context.handle(), into, dest.part(at, 1), value, self.context.member(pe)) }
    }

    /// Orders what the scope stores, as [`Context::fence`].
    #[inline(always)]
    pub fn fence(&self) {
        self.context.fence();
    }
}
