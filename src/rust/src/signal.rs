//! Signals: words that puts update when their data is there.
#![allow(unsafe_code)]

use std::ffi::c_int;

use crate::ffi;
use crate::{Compare, Context, Element, Error, Pe, Shmem, Symmetric};

/// A signal on every PE, 0 at first.
#[derive(Debug)]
pub struct Signal<'s>(Symmetric<'s, u64>);

/// How a signal is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalOp {
    /// Replaced.
    Set = 0,
    /// Added to.
    Add = 1,
}

impl SignalOp {
    pub(crate) fn c(self) -> c_int {
        self as c_int
    }
}

impl Shmem {
    /// Allocates a signal, with all PEs.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    #[inline(always)]
    #[track_caller]
    pub fn signal(&self) -> Result<Signal<'_>, Error> {
        self.alloc(1).map(Signal)
    }
}

impl Signal<'_> {
    pub(crate) fn word(&self) -> *mut u64 {
        self.0.part(0, 1)
    }
}

/// ```
/// # fn main() -> Result<(), pellucid::Error> {
/// use pellucid::{Compare, SignalOp};
/// let shmem = pellucid::init()?;
/// let (data, arrived) = (shmem.alloc::<u8>(5)?, shmem.signal()?);
/// shmem.put_signal(&data, 0, b"hello", &arrived, SignalOp::Set, 1, shmem.world().neighbour(1));
/// shmem.wait_signal(&arrived, Compare::Equal, 1);
/// assert_eq!(data.local().to_vec(), b"hello");
/// # Ok(())
/// # }
/// ```
impl Context<'_> {
    /// Writes elements of a PE from `at` on, then updates its signal.
    ///
    /// # Panics
    /// As [`Self::put`].
    #[inline(always)]
    #[track_caller]
    #[allow(clippy::too_many_arguments)] // those of the C routine
    pub fn put_signal<T: Element>(
        &self,
        dest: &Symmetric<'_, T>,
        at: usize,
        values: &[T],
        signal: &Signal<'_>,
        op: SignalOp,
        value: u64,
        pe: Pe,
    ) {
        let to = dest.part(at, values.len());
        let (bytes, member) = (size_of_val(values), self.member(pe));
        // SAFETY: room for the values on every PE, a signal, a PE of the team.
        unsafe {
            let from = values.as_ptr().cast();
            ffi::shmem_ctx_putmem_signal(self.handle(), to.cast(), from, bytes, signal.word(), value, op.c(), member);
        }
    }

    /// Updates a PE's signal.
    #[inline(always)]
    #[track_caller]
    pub fn update_signal(&self, signal: &Signal<'_>, op: SignalOp, value: u64, pe: Pe) {
        let (word, member) = (signal.word(), self.member(pe));
        // SAFETY: a signal, and a PE of the team.
        unsafe {
            match op {
                SignalOp::Set => ffi::shmem_ctx_signal_set(self.handle(), word, value, member),
                SignalOp::Add => ffi::shmem_ctx_signal_add(self.handle(), word, value, member),
            }
        }
    }

    /// This PE's signal as it is now.
    #[inline(always)]
    pub fn signal_value(&self, signal: &Signal<'_>) -> u64 {
        // SAFETY: a signal.
        unsafe { ffi::shmem_signal_fetch(signal.word()) }
    }

    /// Waits until this PE's signal compares so; gives it.
    #[inline(always)]
    pub fn wait_signal(&self, signal: &Signal<'_>, compare: Compare, value: u64) -> u64 {
        // SAFETY: a signal.
        unsafe { ffi::shmem_signal_wait_until(signal.word(), compare.c(), value) }
    }
}
