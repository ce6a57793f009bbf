//! Contexts: operations that are completed together.
#![allow(unsafe_code)]

use std::ffi::c_long;
use std::marker::PhantomData;

use crate::ffi::{self, CtxHandle, TeamHandle};
use crate::{Element, Error, Local, Members, Pe, Symmetric};

/// Operations that are ordered and completed apart from those of other contexts. [`crate::Shmem`] dereferences to the
/// default one. Dropping it completes what is under way.
#[derive(Debug)]
pub struct Context<'t> {
    handle: CtxHandle,
    team: TeamHandle,
    _team: PhantomData<&'t ()>,
    /// Neither `Send` nor `Sync`: one thread at a time, without the library's lock.
    _here: PhantomData<*const ()>,
}

/// What a program promises of a context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// No operation that stores: gets and fetching atomics only.
    pub no_store: bool,
}

impl Members<'_> {
    /// A context for operations on PEs of this team.
    ///
    /// # Errors
    /// [`Error::NoContext`].
    ///
    /// ```
    /// # fn main() -> Result<(), pellucid::Error> {
    /// let shmem = pellucid::init()?;
    /// let array = shmem.alloc::<u32>(8)?;
    /// let world = shmem.world();
    /// let context = world.context(Default::default())?;
    /// context.put(&array, 0, &[1, 2, 3], world.me());
    /// context.quiet();
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn context(&self, options: Options) -> Result<Context<'_>, Error> {
        let mut handle = CtxHandle(0);
        // SHMEM_CTX_SERIALIZED or SHMEM_CTX_PRIVATE: it stays on its thread.
        let flags: c_long = 2 | if options.no_store { 4 } else { 0 };
        // SAFETY: a team that is there, and a variable.
        let failed = unsafe { ffi::shmem_team_create_ctx(self.handle(), flags, &raw mut handle) } != 0;
        if failed || handle.0 == 0 {
            return Err(Error::NoContext);
        }
        Ok(Context { handle, team: self.handle(), _team: PhantomData, _here: PhantomData })
    }
}

impl Context<'_> {
    pub(crate) fn of_the_library() -> Context<'static> {
        Context { handle: ffi::CTX_DEFAULT, team: ffi::TEAM_WORLD, _team: PhantomData, _here: PhantomData }
    }

    pub(crate) fn handle(&self) -> CtxHandle {
        self.handle
    }

    /// A PE's number in the context's team.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn member(&self, pe: Pe) -> i32 {
        if self.team == ffi::TEAM_WORLD {
            return pe.0;
        }
        // SAFETY: two teams that are there.
        let member = unsafe { ffi::shmem_team_translate_pe(ffi::TEAM_WORLD, pe.0, self.team) };
        assert!(member >= 0, "PE {} is not in the team of this context", pe.0);
        member
    }

    /// Writes elements of a PE from `at` on. The values may change as soon as this returns.
    ///
    /// # Panics
    /// Where they are not all in the array, or the PE is not in the context's team; so in all functions here.
    #[inline(always)]
    #[track_caller]
    pub fn put<T: Element>(&self, dest: &Symmetric<'_, T>, at: usize, values: &[T], pe: Pe) {
        let to = dest.part(at, values.len());
        // SAFETY: room for the values on every PE; a PE of the team.
        unsafe {
            ffi::shmem_ctx_putmem(self.handle, to.cast(), values.as_ptr().cast(), size_of_val(values), self.member(pe));
        }
    }

    /// Writes one element of a PE.
    #[inline(always)]
    #[track_caller]
    pub fn put_one<T: Element>(&self, dest: &Symmetric<'_, T>, at: usize, value: T, pe: Pe) {
        self.put(dest, at, &[value], pe);
    }

    /// Reads elements of a PE from `at` on.
    #[inline(always)]
    #[track_caller]
    pub fn get<T: Element>(&self, source: &Symmetric<'_, T>, at: usize, values: &mut [T], pe: Pe) {
        let from = source.part(at, values.len());
        // SAFETY: as in put; any bits are a T.
        unsafe {
            let to = values.as_mut_ptr().cast();
            ffi::shmem_ctx_getmem(self.handle, to, from.cast(), size_of_val(values), self.member(pe));
        }
    }

    /// Reads one element of a PE.
    #[inline(always)]
    #[track_caller]
    pub fn get_one<T: Element>(&self, source: &Symmetric<'_, T>, at: usize, pe: Pe) -> T {
        let from = source.part(at, 1);
        let mut value = std::mem::MaybeUninit::<T>::uninit();
        // SAFETY: as in get; the element is written as a whole.
        unsafe {
            let to = value.as_mut_ptr().cast();
            ffi::shmem_ctx_getmem(self.handle, to, from.cast(), size_of::<T>(), self.member(pe));
            value.assume_init()
        }
    }

    /// The elements of a PE in this one's memory. `None`: they can only be put and got.
    #[inline(always)]
    #[track_caller]
    pub fn reach<'a, T: Element>(&self, array: &'a Symmetric<'_, T>, pe: Pe) -> Option<Local<'a, T>> {
        let start = array.part(0, 0);
        // SAFETY: a symmetric object and a PE of the team.
        let there = unsafe { ffi::shmem_team_ptr(self.team, start.cast(), self.member(pe)) };
        (!there.is_null()).then(|| Local::at(there.cast(), array.len()))
    }

    /// Completes what this context has stored and fetched.
    #[inline(always)]
    pub fn quiet(&self) {
        // SAFETY: a context that is there.
        unsafe { ffi::shmem_ctx_quiet(self.handle) };
    }

    /// What this context stores from now on arrives at each PE after what it has stored there before.
    #[inline(always)]
    pub fn fence(&self) {
        // SAFETY: a context that is there.
        unsafe { ffi::shmem_ctx_fence(self.handle) };
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        if self.handle != ffi::CTX_DEFAULT {
            // SAFETY: made by context(), and destroyed once; the team is there still.
            unsafe { ffi::shmem_ctx_destroy(self.handle) };
        }
    }
}
