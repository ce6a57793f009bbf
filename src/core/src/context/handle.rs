//! Context handles (Section 9.5).
//!
//! On shared memory every operation is complete at once, so a context carries no queue: it is a team and its options.
//! In a job with other hosts it has a channel of its own.

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
pub struct Context {
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

    /// The live context behind a handle other than the two fixed ones.
    pub fn context(self) -> Result<&'static Context, Fault> {
        SLAB.get(self.0).ok_or_else(|| self.bad())
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
        Ok(self.context()?.transport.map_or(Channel::DEFAULT, |(_, channel)| channel))
    }

    #[cold]
    fn no_such_pe(self, pe: i32) -> Fault {
        match self.context() {
            Ok(context) => Fault::from(Cause::BadPe { arg: "pe", pe: pe.into(), npes: context.pes.size() as i64 }),
            Err(fault) => fault,
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

/// With `--check`: a fault where the context with this number is another thread's alone.
pub fn check_private(handle: usize) -> Result<(), Fault> {
    match SLAB.get(handle) {
        Some(context) if context.options & PRIVATE != 0 && context.thread != threads::number() => {
            Err(Fault::from(Cause::OthersContext { handle }))
        }
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
    SLAB.get(ctx.0).and_then(|context| context.pes.get(pe as u32 as usize)).unwrap_or(-1)
}

/// Completes the operations of all contexts over the network.
pub(super) fn quiet_all() -> Result<(), Fault> {
    let mut result = Ok(());
    SLAB.for_each(|context| {
        if let (Some((transport, channel)), true) = (context.transport, result.is_ok()) {
            result = transport.quiet(channel);
        }
    });
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
        if self.context()?.team == team { self.destroy() } else { Ok(()) }
    }
}
