//! Context handles (Section 9.5).
//!
//! On shared memory every operation is complete at once, so a context carries no queue: it is a team and its options.
//! In a job with other hosts it has a channel of its own.
//!
//! What is asked of a context is given as a value: no reference to one leaves this file. A program does not destroy a
//! context that another thread is in a call with (Section 9.5: until then its operations are not complete), nor the
//! last `shmem_finalize` end all of them meanwhile.
#![allow(unsafe_code)]

use crate::base::pe_list::PeList;
use crate::base::slab::Slab;
use crate::base::{Cause, Fault, threads};
use crate::memory::Map;
use crate::transport::{Channel, Transport};

/// Contexts that can live at a time.
const CONTEXTS: usize = 16384;
/// `SHMEM_CTX_PRIVATE`.
const PRIVATE: i64 = 2;

static SLAB: Slab<Context, CONTEXTS> = Slab::new();

/// `shmem_ctx_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ctx(usize);

/// A context that a program created.
#[derive(Debug)]
struct Context {
    /// World numbers of the PEs that are given with this context.
    pes: PeList,
    options: i64,
    /// The thread that created it.
    thread: u64,
    /// The team's handle.
    team: usize,
    /// Where there are other hosts: how they are reached, and what is completed with this context.
    transport: Option<(&'static dyn Transport, Channel)>,
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some((transport, channel)) = self.transport {
            // A channel that fails says so to whoever uses the peer next.
            let _ = transport.quiet(channel);
            transport.close_channel(channel);
        }
    }
}

impl Ctx {
    /// `SHMEM_CTX_INVALID`.
    pub const INVALID: Self = Self(0);
    /// `SHMEM_CTX_DEFAULT`: the world team's, there from `shmem_init` to the last `shmem_finalize`.
    pub const DEFAULT: Self = Self(1);

    /// A new context for some PEs. `team`: the handle it is to report. `None` where too many live.
    pub fn create(m: &Map, pes: PeList, options: i64, team: usize) -> Option<Self> {
        let transport = match m.transport {
            Some(transport) => Some((transport, transport.open_channel()?)),
            None => None,
        };
        SLAB.insert(Context { pes, options, thread: threads::number(), team, transport }).map(Self)
    }

    /// Ends a context that a program created. Ending an invalid one does nothing (Section 9.5.3).
    pub fn destroy(self) -> Result<(), Fault> {
        match self {
            Self::INVALID => Ok(()),
            Self::DEFAULT => Err(Fault::from(Cause::BadValue {
                arg: "ctx",
                value: 1,
                expected: "a context other than SHMEM_CTX_DEFAULT",
            })),
            _ if SLAB.remove(self.0) => Ok(()),
            _ => Err(self.bad()),
        }
    }

    /// What `read` gives of the live context behind a handle other than the two fixed ones.
    #[inline(always)]
    fn read<R>(self, read: impl FnOnce(&Context) -> R) -> Result<R, Fault> {
        // SAFETY: those who call this read fields. They end no context, nor does the program meanwhile, as above.
        unsafe { SLAB.get(self.0) }.map(read).ok_or_else(|| self.bad())
    }

    /// A fault where a handle, other than the two fixed ones, is that of no live context.
    pub fn check_live(self) -> Result<(), Fault> {
        if SLAB.is_live(self.0) { Ok(()) } else { Err(self.bad()) }
    }

    /// The handle of the team of a context other than the two fixed ones.
    pub fn team(self) -> Result<usize, Fault> {
        self.read(|context| context.team)
    }

    #[cold]
    fn bad(self) -> Fault {
        Fault::from(Cause::BadContext { handle: self.0, gone: SLAB.was_used(self.0) })
    }

    /// The world number of PE `pe` of this context's team.
    #[inline(always)]
    pub fn world_pe(self, pe: i32) -> Result<i32, Fault> {
        if self == Self::DEFAULT {
            return Ok(pe);
        }
        match translated(self, pe) {
            -1 => Err(self.no_such_pe(pe)),
            world => Ok(world),
        }
    }

    /// What is completed with this context.
    pub(super) fn channel(self) -> Result<Channel, Fault> {
        if self == Self::DEFAULT {
            return Ok(Channel::DEFAULT);
        }
        self.read(|context| context.transport.map_or(Channel::DEFAULT, |(_, channel)| channel))
    }

    #[cold]
    fn no_such_pe(self, pe: i32) -> Fault {
        match self.read(|context| context.pes.size() as i64) {
            Ok(npes) => Fault::from(Cause::BadPe { arg: "pe", pe: pe.into(), npes }),
            Err(fault) => fault,
        }
    }
}

/// With `--check`: a fault where the context with this number is another thread's alone.
pub fn check_private(handle: usize) -> Result<(), Fault> {
    let owner = |context: &Context| (context.options & PRIVATE != 0).then_some(context.thread);
    // SAFETY: fields are read, and nobody ends the context meanwhile, as above. Most calls are on the default context,
    // which is none of these: nothing is locked for them, as a fault's words would need, since a signal handler may be
    // who calls.
    match unsafe { SLAB.get(handle) }.and_then(owner) {
        Some(thread) if thread != threads::number() => Err(Fault::from(Cause::OthersContext { handle })),
        _ => Ok(()),
    }
}

/// For the profile: the world number of a PE given with a context, -1 where there is none.
#[inline(always)]
pub fn world_pe(m: &Map, ctx: Ctx, pe: i32) -> i32 {
    let _ = m;
    if ctx == Ctx::DEFAULT { pe } else { translated(ctx, pe) }
}

/// The world number of a PE given with a context that the program made; -1 where there is no such context or PE.
#[inline(never)]
fn translated(ctx: Ctx, pe: i32) -> i32 {
    // SAFETY: a number is read. Nobody ends the context meanwhile, as above.
    unsafe { SLAB.get(ctx.0) }.and_then(|context| context.pes.get(pe as u32 as usize)).unwrap_or(-1)
}

/// Completes the operations of all contexts over the network.
pub(super) fn quiet_all() -> Result<(), Fault> {
    let mut result = Ok(());
    let quiet = |context: &Context| {
        if let (Some((transport, channel)), true) = (context.transport, result.is_ok()) {
            result = transport.quiet(channel);
        }
    };
    // SAFETY: completing operations ends no context. This completes those of all contexts; a thread that ends one of
    // them meanwhile is in a call with it.
    unsafe { SLAB.for_each(quiet) };
    result
}

/// Ends all contexts.
pub(crate) fn forget_all() {
    SLAB.clear();
}

impl Ctx {
    /// The handle as a number, to be shown.
    pub fn number(self) -> usize {
        self.0
    }

    /// The handle as a number.
    pub(crate) fn bits(self) -> usize {
        self.0
    }

    /// The handle from its number.
    pub(crate) fn from_bits(bits: usize) -> Self {
        Self(bits)
    }
}

impl Ctx {
    /// Ends a context together with its team, unless the handle has gone to another team since.
    pub(crate) fn destroy_of(self, team: usize) -> Result<(), Fault> {
        if self.team()? == team { self.destroy() } else { Ok(()) }
    }
}
