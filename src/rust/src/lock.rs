//! Locks of the whole job.
#![allow(unsafe_code)]

use crate::ffi;
use crate::{Error, Shmem, Symmetric};

/// A lock that one PE at a time holds, first come, first served.
#[derive(Debug)]
pub struct Lock<'s> {
    word: Symmetric<'s, i64>,
    /// Not `Sync`, so that no thread waits for its own PE.
    _here: std::marker::PhantomData<*const ()>,
}

/// The lock, held. What the PE has stored is complete when it is dropped.
#[derive(Debug)]
pub struct Guard<'l> {
    lock: &'l Lock<'l>,
}

impl Shmem {
    /// Allocates a lock, with all PEs.
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    ///
    /// ```
    /// # fn main() -> Result<(), pellucid::Error> {
    /// let shmem = pellucid::init()?;
    /// let (mut lock, total) = (shmem.lock()?, shmem.alloc::<u64>(1)?);
    /// let first = shmem.world().pe(0).expect("a job has a PE 0");
    /// {
    ///     let _held = lock.acquire();
    ///     let now = shmem.get_one(&total, 0, first);
    ///     shmem.put_one(&total, 0, now + 1, first);
    /// }
    /// assert!(lock.try_acquire().is_some() || shmem.world().size() > 1);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> Result<Lock<'_>, Error> {
        Ok(Lock { word: self.alloc(1)?, _here: std::marker::PhantomData })
    }
}

impl Lock<'_> {
    /// Waits for the lock. Exclusive: the PE that holds it would wait for itself.
    #[inline(always)]
    pub fn acquire(&mut self) -> Guard<'_> {
        // SAFETY: a symmetric long for locks only; so in all functions here.
        unsafe { ffi::shmem_set_lock(self.word.part(0, 1)) };
        Guard { lock: self }
    }

    /// The lock, where nobody has it.
    #[inline(always)]
    pub fn try_acquire(&mut self) -> Option<Guard<'_>> {
        // SAFETY: see acquire.
        let is_held = unsafe { ffi::shmem_test_lock(self.word.part(0, 1)) } != 0;
        // Made only where the lock is taken: the end of a guard releases it.
        (!is_held).then(|| Guard { lock: self })
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: held by this PE.
        unsafe { ffi::shmem_clear_lock(self.lock.word.part(0, 1)) };
    }
}
