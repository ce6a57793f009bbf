//! Initialization and the end.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::io::Write;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use crate::shape::Shapes;
use crate::{Context, Error, Members, Team, crash, ffi};

/// The library, initialized. It is finalized, with all PEs, when this is dropped.
///
/// Operations on the default context are those of the [`Context`] that this dereferences to.
#[derive(Debug)]
pub struct Shmem {
    default: Context<'static>,
    has_threads: bool,
    pub(crate) shapes: Cell<Option<NonNull<Shapes>>>,
    /// Not `Send`: the thread that initializes finalizes.
    _here: PhantomData<*const ()>,
}

/// The library as other threads use it: without calls that are collective.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'s> {
    _shmem: PhantomData<&'s ()>,
}

/// Initializes the library for one thread, with all PEs.
///
/// # Errors
/// [`Error::Initialized`] where it is already.
pub fn init() -> Result<Shmem, Error> {
    start(ffi::THREAD_SINGLE)
}

/// As [`init`], for several threads.
///
/// # Errors
/// [`Error::Initialized`], [`Error::Threads`].
pub fn init_threads() -> Result<Shmem, Error> {
    start(ffi::THREAD_MULTIPLE)
}

/// Held where the library begins or ends, so that of several threads only one gets a [`Shmem`].
static CHANGE: Mutex<()> = Mutex::new(());

fn start(level: i32) -> Result<Shmem, Error> {
    let _held = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut initialized, mut provided) = (0, -1);
    // SAFETY: may be asked at any time.
    unsafe { ffi::shmem_query_initialized(&raw mut initialized) };
    if initialized != 0 {
        return Err(Error::Initialized);
    }
    // SAFETY: may be called where it is not initialized.
    let failed = crash::with_handlers(|| unsafe { ffi::shmem_init_thread(level, &raw mut provided) }) != 0;
    if failed || provided < level {
        return Err(Error::Threads);
    }
    let default = Context::of_the_library();
    let has_threads = level == ffi::THREAD_MULTIPLE;
    Ok(Shmem { default, has_threads, shapes: Cell::new(None), _here: PhantomData })
}

/// The status of a program that has panicked.
const PANICKED: i32 = 101;

/// Called before what drops make all PEs of a team do: a panic is one PE's own, and it would wait for others, which may
/// wait for it. A job of one PE unwinds as other programs do.
pub(crate) fn end_the_job_in_a_panic() {
    if !std::thread::panicking() {
        return;
    }
    let world: Members<'_> = Members::of(ffi::TEAM_WORLD);
    if world.size() > 1 {
        // Not by `eprintln!`, which the harness of `cargo test` keeps to itself, as it has kept the panic's own words.
        let _ = writeln!(std::io::stderr(), "PE {}: a panic ends the job", world.rank());
        // SAFETY: initialized, as what is dropped is there.
        unsafe { ffi::shmem_global_exit(PANICKED) }
    }
}

impl Shmem {
    /// All PEs.
    pub fn world(&self) -> Team<'_> {
        Team::of(ffi::TEAM_WORLD)
    }

    /// The PEs whose memory this one can reach by load and store.
    pub fn shared(&self) -> Team<'_> {
        Team::of(ffi::TEAM_SHARED)
    }

    /// Waits for all PEs and completes what this one has stored.
    #[inline(always)]
    pub fn barrier_all(&self) {
        // SAFETY: initialized, as self is there.
        unsafe { ffi::shmem_barrier_all() };
    }

    /// Waits for all PEs.
    #[inline(always)]
    pub fn sync_all(&self) {
        // SAFETY: as above.
        unsafe { ffi::shmem_sync_all() };
    }

    /// Ends the job with a status.
    #[inline(always)]
    pub fn exit_all(&self, status: i32) -> ! {
        // SAFETY: as above.
        unsafe { ffi::shmem_global_exit(status) }
    }

    /// What threads make contexts from, within a scope of threads.
    ///
    /// # Errors
    /// [`Error::Threads`] where the library was initialized with [`init`].
    pub fn share(&self) -> Result<Shared<'_>, Error> {
        if self.has_threads { Ok(Shared { _shmem: PhantomData }) } else { Err(Error::Threads) }
    }
}

impl<'s> Shared<'s> {
    /// All PEs, for the calling thread: for contexts of its own, and without calls that are collective.
    ///
    /// ```
    /// # fn main() -> Result<(), pellucid::Error> {
    /// let shmem = pellucid::init_threads()?;
    /// let counter = shmem.alloc::<u64>(1)?;
    /// let shared = shmem.share()?;
    /// std::thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| {
    ///             let world = shared.world();
    ///             let context = world.context(Default::default()).expect("a context");
    ///             context.add(&counter, 0, 1, world.neighbour(1));
    ///         });
    ///     }
    /// });
    /// shmem.barrier_all();
    /// assert_eq!(counter.local().get(0), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Collective calls stay on the thread that initialized, since two of them on one team would meet:
    ///
    /// ```compile_fail,E0599
    /// # let shmem = pellucid::init_threads().unwrap();
    /// let shared = shmem.share().unwrap();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| shared.world().sync());
    /// });
    /// ```
    ///
    /// Nor does a team go to another thread:
    ///
    /// ```compile_fail,E0277
    /// # let shmem = pellucid::init_threads().unwrap();
    /// let world = shmem.world();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| world.sync());
    /// });
    /// ```
    pub fn world(&self) -> Members<'s> {
        Members::of(ffi::TEAM_WORLD)
    }
}

impl std::ops::Deref for Shmem {
    type Target = Context<'static>;

    fn deref(&self) -> &Context<'static> {
        &self.default
    }
}

impl Drop for Shmem {
    fn drop(&mut self) {
        end_the_job_in_a_panic();
        let _held = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: matches the initialization. Nothing is left, as all borrow self.
        unsafe { ffi::shmem_finalize() };
    }
}
