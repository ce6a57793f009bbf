//! Everything that can be wrong with a call, as one closed set.
//!
//! A fault is decided where it is found, travels up as a value and is turned into a message and the end of the job in
//! one place ([`crate::runtime::fail`]), which adds the name of the routine and the PE.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The system's number for a descriptor that is not for this.
const EBADF: i32 = 9;

/// Numbers of faults in `shmemx.h`.
pub mod code {
    #![allow(missing_docs)]
    pub const ARGUMENT: i32 = -1;
    pub const NO_SUCH: i32 = -4;
    pub const PE: i32 = -7;
    pub const ADDRESS: i32 = -8;
    pub const MEMORY: i32 = -9;
    pub const NETWORK: i32 = -10;
    pub const PE_LOST: i32 = -11;
    pub const IO: i32 = -13;
    pub const MISMATCH: i32 = -14;
    pub const SHORT: i32 = -16;
}

/// What is wrong with an access to a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfSpace {
    /// The object runs past its end.
    PastEnd {
        /// Bytes that are left.
        room: usize,
    },
    /// A PE is no member.
    NoMember {
        /// Which.
        pe: i32,
        /// Members.
        size: usize,
        /// It is the one that calls.
        by: bool,
    },
}

/// Why a call cannot be carried out.
#[derive(Clone, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are what the messages below name
pub enum Cause {
    /// A routine that needs the library was called before `shmem_init`.
    NotInitialized,
    /// A routine that needs the library was called after the last `shmem_finalize`.
    Finalized,
    /// A PE number outside the team or job.
    BadPe { arg: &'static str, pe: i64, npes: i64 },
    /// An address that lies in no symmetric segment.
    NotSymmetric { arg: &'static str, addr: usize, bytes: usize },
    /// An object that begins in a symmetric segment and runs past its end.
    PastEnd { arg: &'static str, addr: usize, bytes: usize, room: usize, segment: &'static str },
    /// An object in a space that the call may not reach.
    InSpace { arg: &'static str, addr: usize, bytes: usize, space: Arc<str>, wrong: OfSpace },
    /// A handle of a space that names no live one.
    BadSpace { handle: usize, gone: bool },
    /// A space could not be made; `pe`: because of another PE; `error`: of the system, 0 where there is none.
    NoSpace { space: Arc<str>, what: &'static str, error: i32, pe: Option<i32> },
    /// A null pointer where data is to be moved.
    Null { arg: &'static str, bytes: usize },
    /// An argument outside its set of values.
    BadValue { arg: &'static str, value: i64, expected: &'static str },
    /// The caller of a collective is not among the PEs that it names.
    NotInActiveSet { start: i32, log_stride: i32, size: i32, pe: i32 },
    /// The caller of a collective is no member of the set that it gives.
    NotInSet { size: usize, pe: i32 },
    /// A handle of an active set that names no live one.
    BadSet { handle: usize, gone: bool },
    /// A context handle that names no live context.
    BadContext { handle: usize, gone: bool },
    /// A team handle that names no live team.
    BadTeam { handle: usize, gone: bool },
    /// `free`/`realloc` of an address that the heap never gave out.
    ForeignPointer { addr: usize },
    /// `free`/`realloc` of an address that was freed already.
    DoubleFree { addr: usize },
    /// A handle of a file that names no open one.
    BadFile { handle: usize, gone: bool },
    /// The system refused something with a file; `pe`: to another PE.
    File { what: &'static str, path: Arc<str>, at: Option<u64>, error: i32, pe: Option<i32> },
    /// A file has come to its end before all bytes that were asked for.
    Short { path: Arc<str>, bytes: u64, wanted: u64 },
    /// As many requests are outstanding as there can be.
    Requests { most: usize },
    /// Objects of one call that share memory: argument, address, and bytes from the first to the last.
    Overlap { objects: [(&'static str, usize, usize); 2], in_place: bool },
    /// Memory that an operation with a handle uses, which the argument `of` of the call `by` has named.
    InUse { arg: &'static str, addr: usize, bytes: usize, by: String, of: &'static str, has_handle: bool },
    /// PEs met in different collective calls.
    Mismatch { mine: String, theirs: String, pe: i32 },
    /// A PE takes no part in a collective call any more.
    Finalizing { pe: i32 },
    /// An address that is not aligned for an atomic access.
    Misaligned { arg: &'static str, addr: usize, align: usize },
    /// An environment variable whose value cannot be used.
    Environment { name: String, value: String, reason: Cow<'static, str> },
    /// A call in a signal handler, whose thread is in another one (its name, where it is known) that cannot be left
    /// alone.
    Interrupted { routine: Option<&'static str>, network: bool },
    /// The thread has fewer bytes of its stack left than the call needs.
    Stack { left: usize, needed: usize },
    /// A call by another thread than the one that initialized the library, where the thread level, which this is the
    /// name of, leaves calls to that one.
    OtherThread { level: &'static str },
    /// A call by another thread than the one that created the context, which is private.
    OthersContext { handle: usize },
    /// A lock that this PE does not hold.
    NotHeld { addr: usize },
    /// A lock that this thread holds already.
    HeldAlready { addr: usize },
    /// Memory of the symmetric heap that belongs to no object, or not all of it: then where that begins, and its bytes.
    NoObject { arg: &'static str, addr: usize, bytes: usize, object: Option<(usize, usize)> },
    /// The operating system refused.
    Os { what: &'static str, error: i32 },
    /// The system starts no further thread: what it is for, and why.
    Thread { what: &'static str, why: String },
    /// Start-up found something that it cannot work with.
    Startup(String),
    /// The network failed; says on the way to whom.
    Network(String),
    /// An active message or its handler breaks a rule; says which.
    Message(String),
    /// A PE is lost, in a job that goes on without it; says how.
    Lost { pe: i32, how: String },
    /// The memory of a PE that is lost is not on this host.
    LostElsewhere { pe: i32 },
}

impl fmt::Debug for Cause {
    /// The message: who needs more than that looks for it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInitialized => f.write_str("called before shmem_init"),
            Self::Finalized => f.write_str("called after the last shmem_finalize"),
            Self::Mismatch { mine, theirs, pe } => write!(
                f,
                "this PE is in {mine} while PE {pe} is in {theirs}: all PEs must make the same calls in the same order"
            ),
            Self::Finalizing { pe } => write!(
                f,
                "PE {pe} takes no part in it: it is in shmem_finalize, or ends; all PEs must make the same calls in \
                 the same order"
            ),
            Self::Environment { name, value, reason } => write!(f, "{name}={value:?}: {reason}"),
            Self::Interrupted { routine, network } => interrupted(f, *routine, *network),
            Self::Stack { left, needed } => write!(
                f,
                "{} KiB of the stack are left here, and a call over the network needs {}: give the thread, or the \
                 signal handler, a larger one (docs/threads.md)",
                left >> 10,
                needed >> 10
            ),
            Self::Requests { most } => write!(f, "{most} requests are outstanding, and there can be no more: end some"),
            Self::Os { what, error } => write!(f, "{what}: {}", std::io::Error::from_raw_os_error(*error)),
            Self::Thread { what, why } => write!(f, "starting {what}: {why}"),
            Self::Startup(text) | Self::Network(text) | Self::Message(text) => f.write_str(text),
            Self::Lost { pe, how } => write!(f, "PE {pe} is lost ({how})"),
            Self::LostElsewhere { pe } => write!(f, "PE {pe} is lost, and its memory is not on this host"),
            Self::BadSet { handle: 0, .. } => f.write_str("aset is a null pointer: no active set"),
            Self::BadSet { handle, gone } => no_handle(f, "aset", *handle, *gone, "deleted", "an active set"),
            Self::BadContext { handle: 0, .. } => f.write_str("ctx = SHMEM_CTX_INVALID is no context"),
            Self::BadContext { handle, gone } => no_handle(f, "ctx", *handle, *gone, "destroyed", "a context"),
            Self::OthersContext { handle } => {
                write!(f, "ctx = {handle:#x} is the thread's that created it, by SHMEM_CTX_PRIVATE, not this one's")
            }
            Self::OtherThread { level } => write!(
                f,
                "called by another thread than the one that called shmem_init or shmem_init_thread, at {level}: ask \
                 for SHMEM_THREAD_SERIALIZED or SHMEM_THREAD_MULTIPLE"
            ),
            Self::BadTeam { handle: 0, .. } => f.write_str("team = SHMEM_TEAM_INVALID is no team"),
            Self::BadTeam { handle, gone } => no_handle(f, "team", *handle, *gone, "destroyed", "a team"),
            Self::BadFile { handle: 0, .. } => f.write_str("file = SHMEMX_FILE_INVALID is no file"),
            Self::BadFile { handle, gone } => no_handle(f, "file", *handle, *gone, "closed", "a file"),
            Self::BadSpace { handle: 0, .. } => f.write_str("space = SHMEMX_SPACE_INVALID is no space"),
            Self::BadSpace { handle, gone } => no_handle(f, "space", *handle, *gone, "destroyed", "a space"),
            Self::InSpace { .. } | Self::NoSpace { .. } => self.space(f),
            Self::File { .. } | Self::Short { .. } => self.file(f),
            Self::BadPe { .. } | Self::BadValue { .. } | Self::NotInActiveSet { .. } | Self::NotInSet { .. } => {
                self.argument(f)
            }
            Self::NotSymmetric { .. } | Self::PastEnd { .. } | Self::Null { .. } | Self::ForeignPointer { .. } => {
                self.address(f)
            }
            Self::DoubleFree { .. } | Self::Overlap { .. } | Self::Misaligned { .. } | Self::InUse { .. } => {
                self.address(f)
            }
            Self::NotHeld { .. } | Self::HeldAlready { .. } | Self::NoObject { .. } => self.address(f),
        }
    }
}

impl Cause {
    /// The name of the argument that is wrong; `None` where none is, or more than one.
    pub fn argument_name(&self) -> Option<&'static str> {
        match self {
            Self::BadPe { arg, .. } | Self::BadValue { arg, .. } | Self::Null { arg, .. } => Some(arg),
            Self::NotSymmetric { arg, .. } | Self::PastEnd { arg, .. } | Self::Misaligned { arg, .. } => Some(arg),
            Self::NoObject { arg, .. } | Self::InUse { arg, .. } => Some(arg),
            Self::InSpace { wrong: OfSpace::NoMember { by: false, .. }, .. } => Some("pe"),
            Self::InSpace { arg, .. } => Some(arg),
            Self::BadSpace { .. } => Some("space"),
            Self::NotInSet { .. } | Self::BadSet { .. } => Some("aset"),
            Self::BadContext { .. } | Self::OthersContext { .. } => Some("ctx"),
            Self::BadTeam { .. } => Some("team"),
            Self::BadFile { .. } => Some("file"),
            Self::ForeignPointer { .. } | Self::DoubleFree { .. } => Some("ptr"),
            Self::NotHeld { .. } | Self::HeldAlready { .. } => Some("lock"),
            _ => None,
        }
    }
}

fn interrupted(f: &mut fmt::Formatter<'_>, routine: Option<&str>, network: bool) -> fmt::Result {
    let routine = routine.unwrap_or("another call");
    let rule = if network {
        "over the network, a handler must not call the library while its thread is in a call"
    } else {
        "a handler must not call a routine that may wait while its thread is in one"
    };
    write!(f, "called in a signal handler that interrupted {routine} in the same thread: {rule} (docs/threads.md)")
}

/// A handle of an object that is gone, or never was there.
fn no_handle(f: &mut fmt::Formatter<'_>, arg: &str, handle: usize, gone: bool, ended: &str, what: &str) -> fmt::Result {
    match gone {
        true => write!(f, "{arg} = {handle:#x} was {ended} already, or ended with shmem_finalize"),
        false => write!(f, "{arg} = {handle:#x} is not {what} that exists"),
    }
}

impl Cause {
    /// What is wrong with a PE or a value.
    fn argument(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadPe { arg, pe, npes } if *npes > 0 => {
                write!(f, "{arg} = {pe} is not a PE: valid are 0 to {}", npes - 1)
            }
            Self::BadPe { arg, pe, .. } => write!(f, "{arg} = {pe} is not a PE"),
            Self::BadValue { arg, value, expected } => write!(f, "{arg} = {value}: expected {expected}"),
            Self::NotInActiveSet { start, log_stride, size, pe } => write!(
                f,
                "PE_start = {start}, logPE_stride = {log_stride}, PE_size = {size}: expected an active set that \
                 contains the calling PE {pe}"
            ),
            Self::NotInSet { size, pe } => write!(
                f,
                "aset: PE {pe} is none of the {size} members of the active set: only they call a collective on it"
            ),
            other => fmt::Debug::fmt(other, f),
        }
    }

    /// What is wrong with a space.
    fn space(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InSpace { arg, addr, bytes, space, wrong: OfSpace::PastEnd { room } } => write!(
                f,
                "{arg} = {addr:#x}: {} run past the end of space {space:?}, which has {room} bytes from there",
                Bytes(*bytes)
            ),
            Self::InSpace { arg, addr, space, wrong: OfSpace::NoMember { pe, size, by }, .. } => {
                let who = if *by { format!("the calling PE {pe}") } else { format!("PE {pe}") };
                write!(f, "{arg} = {addr:#x} lies in space {space:?}, and {who} is none of its {size} members")
            }
            Self::NoSpace { space, what, error, pe } => {
                write!(f, "space {space:?} cannot be made: ")?;
                if let Some(pe) = pe {
                    write!(f, "PE {pe}: ")?;
                }
                match *error {
                    0 => f.write_str(what),
                    error => write!(f, "{what}: {}", std::io::Error::from_raw_os_error(error)),
                }
            }
            other => fmt::Debug::fmt(other, f),
        }
    }

    /// What went wrong with a file.
    fn file(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { what, path, at, error, pe } => {
                if let Some(pe) = pe {
                    write!(f, "PE {pe}: ")?;
                }
                write!(f, "{what} of {path:?}")?;
                if let Some(at) = at {
                    write!(f, " at byte {at}")?;
                }
                match *error {
                    // Of the descriptor, which nobody outside knows.
                    EBADF => f.write_str(": it was not opened for that"),
                    error => write!(f, ": {}", std::io::Error::from_raw_os_error(error)),
                }
            }
            Self::Short { path, bytes, wanted } => {
                write!(f, "read of {path:?}: the file has come to its end after {bytes} of {wanted} bytes")
            }
            other => fmt::Debug::fmt(other, f),
        }
    }

    /// What is wrong with an address.
    fn address(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSymmetric { arg, addr, bytes } => write!(
                f,
                "{arg} = {addr:#x} ({}) is not a symmetric address: it is neither in the symmetric heap nor a writable \
                 global or static variable of the executable",
                Bytes(*bytes)
            ),
            Self::PastEnd { arg, addr, bytes, room, segment } => write!(
                f,
                "{arg} = {addr:#x}: {} run past the end of the {segment}, which has {room} bytes from there",
                Bytes(*bytes)
            ),
            Self::Null { arg, bytes } => {
                write!(f, "{arg} is a null pointer where {} are to be moved", Bytes(*bytes))
            }
            Self::ForeignPointer { addr } => {
                write!(f, "ptr = {addr:#x} was not returned by a symmetric allocation routine")
            }
            Self::DoubleFree { addr } => write!(f, "ptr = {addr:#x} was freed already"),
            Self::Overlap { objects: [(first, at, bytes), (second, other, other_bytes)], in_place } => write!(
                f,
                "{first} = {at:#x} ({}) and {second} = {other:#x} ({}) overlap: {}",
                Bytes(*bytes),
                Bytes(*other_bytes),
                if *in_place { "they must be one object or two apart" } else { "they must be apart" }
            ),
            Self::Misaligned { arg, addr, align } => {
                write!(f, "{arg} = {addr:#x} is not aligned to {align} bytes, as atomic access needs")
            }
            Self::InUse { arg, addr, bytes, by, of, has_handle } => write!(
                f,
                "{arg} = {addr:#x} ({}) shares memory with {of} of {by}, which is under way: {} first",
                Bytes(*bytes),
                if *has_handle { "wait for its request" } else { "call shmem_quiet" }
            ),
            Self::NotHeld { addr } => {
                write!(f, "lock = {addr:#x} is not held by this PE: only its holder clears a lock")
            }
            Self::HeldAlready { addr } => {
                write!(f, "lock = {addr:#x} is held by this thread already: it would wait for itself for ever")
            }
            Self::NoObject { arg, addr, bytes, object: None } => write!(
                f,
                "{arg} = {addr:#x} ({}) lies in no object of the symmetric heap: it was freed, or never allocated",
                Bytes(*bytes)
            ),
            Self::NoObject { arg, addr, bytes, object: Some((start, size)) } => write!(
                f,
                "{arg} = {addr:#x}: {} run past the end of the object at {start:#x}, which has {size} bytes",
                Bytes(*bytes)
            ),
            other => fmt::Debug::fmt(other, f),
        }
    }
}

/// Bytes that a call is to move. A negative count, which C and Fortran pass as a size, is shown as it was given.
struct Bytes(usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 as isize {
            // Also what a count times the size of its elements comes to, where that is more than a size can be.
            -1 => f.write_str("more than 2^63 bytes (a negative count?)"),
            bytes @ 0.. => write!(f, "{bytes} bytes"),
            bytes => write!(f, "{bytes} bytes (a negative count)"),
        }
    }
}

/// A [`Cause`], one word wide: results of the hot path stay in registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(Box<Located>);

/// A cause, and whose call it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Located {
    cause: Cause,
    team: usize,
}

impl Fault {
    /// What is wrong.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The handle of the team that the call is on; 0 where it is on none.
    pub fn team(&self) -> usize {
        self.0.team
    }

    /// The same in a call on a team, which its handle names.
    #[cold]
    pub fn on_team(mut self, handle: usize) -> Self {
        self.0.team = handle;
        self
    }

    /// The same, of a call that was begun before: in words.
    #[cold]
    pub fn made_in(mut self, call: &str) -> Self {
        if let Cause::Mismatch { mine, .. } = &mut self.0.cause {
            *mine = format!("{mine}, begun by {call},");
        }
        self
    }

    /// Its number in `shmemx.h`: `SHMEMX_ERROR_`.
    pub fn code(&self) -> i32 {
        match &self.0.cause {
            Cause::BadSet { .. } | Cause::BadContext { .. } | Cause::BadTeam { .. } | Cause::BadFile { .. } => {
                code::NO_SUCH
            }
            Cause::BadSpace { .. } => code::NO_SUCH,
            Cause::InSpace { wrong: OfSpace::NoMember { .. }, .. } => code::PE,
            Cause::InSpace { .. } => code::ADDRESS,
            Cause::NoSpace { .. } => code::MEMORY,
            Cause::NotInitialized | Cause::Finalized => code::NO_SUCH,
            Cause::BadPe { .. } | Cause::NotInActiveSet { .. } | Cause::NotInSet { .. } => code::PE,
            Cause::NotSymmetric { .. } | Cause::PastEnd { .. } | Cause::Null { .. } | Cause::Misaligned { .. } => {
                code::ADDRESS
            }
            Cause::ForeignPointer { .. } | Cause::DoubleFree { .. } | Cause::NoObject { .. } => code::ADDRESS,
            Cause::Overlap { .. } | Cause::InUse { .. } => code::ADDRESS,
            Cause::Mismatch { .. } | Cause::Finalizing { .. } => code::MISMATCH,
            Cause::Os { .. } | Cause::Thread { .. } | Cause::Startup(_) | Cause::Requests { .. } => code::MEMORY,
            Cause::Network(_) | Cause::Message(_) => code::NETWORK,
            Cause::Lost { .. } | Cause::LostElsewhere { .. } => code::PE_LOST,
            Cause::File { .. } => code::IO,
            Cause::Short { .. } => code::SHORT,
            Cause::BadValue { .. } | Cause::Environment { .. } | Cause::Interrupted { .. } | Cause::Stack { .. } => {
                code::ARGUMENT
            }
            Cause::NotHeld { .. } | Cause::HeldAlready { .. } => code::ARGUMENT,
            Cause::OtherThread { .. } | Cause::OthersContext { .. } => code::ARGUMENT,
        }
    }

    /// Whether it comes of a PE that is lost.
    pub fn is_loss(&self) -> bool {
        self.code() == code::PE_LOST
    }

    /// Whether it is what an operation came to, and no mistake of the program's: its caller is told.
    pub fn is_result(&self) -> bool {
        matches!(self.0.cause, Cause::File { .. } | Cause::Short { .. } | Cause::NoSpace { .. })
    }
}

impl From<Cause> for Fault {
    #[cold]
    fn from(cause: Cause) -> Self {
        Self(Box::new(Located { cause, team: 0 }))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.cause.fmt(f)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_argument_and_value() {
        let text = Cause::BadPe { arg: "pe", pe: 9, npes: 4 }.to_string();
        assert_eq!(text, "pe = 9 is not a PE: valid are 0 to 3");
        let text = Cause::Null { arg: "dest", bytes: 24 }.to_string();
        assert_eq!(text, "dest is a null pointer where 24 bytes are to be moved");
        let past = |bytes: usize| {
            let room = Cause::PastEnd { arg: "dest", addr: 16, bytes, room: 8, segment: "static data" }.to_string();
            room.split(" run past").next().unwrap_or_default().to_owned()
        };
        assert_eq!(past(9), "dest = 0x10: 9 bytes");
        assert_eq!(past(5_usize.wrapping_neg()), "dest = 0x10: -5 bytes (a negative count)");
        // One element of 8 bytes less than none, and any other such product.
        assert_eq!(past(usize::MAX.saturating_mul(8)), "dest = 0x10: more than 2^63 bytes (a negative count?)");
    }
}
