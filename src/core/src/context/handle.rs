//! Context handles (Section 9.5).
//!
//! On shared memory every operation is complete at once, so a context carries no queue: it is a team, its options and a
//! mark by which a stale handle is recognized. Contexts that were destroyed are kept for reuse and never unmapped, so
//! that a stale handle is read safely.
#![allow(unsafe_code)]

use crate::base::{Cause, Fault};
use crate::memory::Map;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

const LIVE: u64 = u64::from_le_bytes(*b"PLCDctx+");
const DEAD: u64 = u64::from_le_bytes(*b"PLCDctx-");

/// `shmem_ctx_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ctx(*mut Context);

/// A context that a program created.
#[derive(Debug)]
#[repr(C)]
pub struct Context {
    mark: AtomicU64,
    /// PE numbers given with this context are `start + stride * pe` in the world.
    start: i32,
    stride: i32,
    size: i32,
    options: i64,
    /// The team's handle.
    team: usize,
}

/// Contexts to be used again.
static SPARE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl Ctx {
    /// `SHMEM_CTX_INVALID`.
    pub const INVALID: Self = Self(std::ptr::null_mut());
    /// `SHMEM_CTX_DEFAULT`: the world team's, there from `shmem_init` to the last `shmem_finalize`.
    pub const DEFAULT: Self = Self(std::ptr::without_provenance_mut(1));

    /// A new context for PEs `start + stride * i` of the world, 0 <= i < `size`. `team`: the handle it is to report.
    pub fn create(start: i32, stride: i32, size: i32, options: i64, team: usize) -> Self {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let at = spare
            .map_or_else(|| Box::into_raw(Box::<Context>::new_zeroed()).cast::<Context>(), |at| at as *mut Context);
        // SAFETY: `at` came from Box and is not in use: it is new, or it was on the spare list.
        unsafe {
            (*at).start = start;
            (*at).stride = stride;
            (*at).size = size;
            (*at).options = options;
            (*at).team = team;
            (*at).mark.store(LIVE, Ordering::Release);
        }
        Self(at)
    }

    /// Ends a context that a program created. Ending an invalid one does nothing (Section 9.5.3).
    pub fn destroy(self) -> Result<(), Fault> {
        if self == Self::INVALID {
            return Ok(());
        }
        if self == Self::DEFAULT {
            return Err(Fault::from(Cause::BadValue {
                arg: "ctx",
                value: 1,
                expected: "a context other than SHMEM_CTX_DEFAULT",
            }));
        }
        let context = self.context()?;
        if context.mark.swap(DEAD, Ordering::AcqRel) != LIVE {
            return Err(self.bad());
        }
        SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0 as usize);
        Ok(())
    }

    /// The live context behind a handle other than the two fixed ones.
    pub fn context(&self) -> Result<&'static Context, Fault> {
        if (self.0 as usize) < 4096 || !self.0.is_aligned() {
            return Err(self.bad());
        }
        // SAFETY: handles come from `create`, whose contexts are never unmapped.
        let context = unsafe { &*self.0 };
        if context.mark.load(Ordering::Acquire) == LIVE { Ok(context) } else { Err(self.bad()) }
    }

    #[cold]
    fn bad(self) -> Fault {
        Fault::from(Cause::BadContext { handle: self.0 as usize })
    }

    /// The world number of PE `pe` of this context's team.
    #[inline(always)]
    pub fn world_pe(self, pe: i32) -> Result<i32, Fault> {
        if self == Self::DEFAULT { Ok(pe) } else { self.translate(pe) }
    }

    #[inline(never)]
    fn translate(self, pe: i32) -> Result<i32, Fault> {
        let context = self.context()?;
        if (pe as u32) < context.size as u32 {
            Ok(context.start + context.stride * pe)
        } else {
            Err(Fault::from(Cause::BadPe { arg: "pe", pe: pe.into(), npes: context.size.into() }))
        }
    }
}

impl Context {
    /// The handle of its team.
    pub fn team(&self) -> usize {
        self.team
    }

    /// The options it was created with.
    pub fn options(&self) -> i64 {
        self.options
    }
}

/// For the profile: the world number of a PE given with a context, -1 where there is none.
#[inline(always)]
pub fn world_pe(m: &Map, ctx: Ctx, pe: i32) -> i32 {
    let _ = m;
    ctx.world_pe(pe).unwrap_or(-1)
}

impl Ctx {
    /// The handle as a number.
    pub(crate) fn bits(self) -> usize {
        self.0 as usize
    }

    /// The handle from its number.
    pub(crate) fn from_bits(bits: usize) -> Self {
        Self(bits as *mut Context)
    }
}

impl Ctx {
    /// Ends a context together with its team, unless the handle has gone to another team since.
    pub(crate) fn destroy_of(self, team: usize) -> Result<(), Fault> {
        if self.context()?.team == team { self.destroy() } else { Ok(()) }
    }
}
