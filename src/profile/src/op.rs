//! The operation table: one row per C routine. An operation id is the index of its row.
//!
//! The rows are generated from the API table (`generated/ops.rs`); this file gives them their types.

pub mod gasnet;
#[path = "generated/ops.rs"]
mod generated;
pub mod request;
mod traits;

pub use generated::COUNT;
pub use traits::*;

/// Number of all operations: those of the API table, then those of other interfaces.
pub const TOTAL: usize = generated::COUNT + gasnet::COUNT;

use crate::hash::{fnv1a, fnv1a_on, fnv1a_step};
use crate::segment::layout::{STATE_ENTERED, current_word};

/// Operation ids that a profile segment has room for.
pub const MAX_OPS: usize = 4096;

const _: () = assert!(TOTAL <= MAX_OPS, "the profile segment has too few cells for the operation table");

/// What kind of routine an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Initialization, finalization, global exit (9.1).
    Setup,
    /// Symmetric heap (9.3).
    Memory,
    /// Teams (9.4).
    Team,
    /// Contexts and sessions (9.5, 9.9).
    Context,
    /// Stores to remote memory (9.6).
    Put,
    /// Loads from remote memory (9.6).
    Get,
    /// Atomic memory operations (9.7).
    Amo,
    /// Signals and put-with-signal (9.8).
    Signal,
    /// Blocking point-to-point synchronization (9.11).
    Wait,
    /// Nonblocking point-to-point synchronization (9.11).
    Test,
    /// Fence and quiet (9.12).
    Order,
    /// Barriers and synchronization of all members (9.10).
    Barrier,
    /// Collectives that move data (9.10).
    Collective,
    /// Distributed locks (9.13).
    Lock,
    /// Routines that answer from local knowledge.
    Query,
    /// Profiling control (10).
    Control,
    /// Files (extensions).
    Io,
    /// Active messages that are sent (GASNet-EX).
    Message,
    /// Handlers of active messages, which run within other calls, and what they call (GASNet-EX).
    Handler,
}

impl Class {
    /// Every class, in the order of their numbers.
    pub const ALL: [Class; 19] = [
        Class::Setup,
        Class::Memory,
        Class::Team,
        Class::Context,
        Class::Put,
        Class::Get,
        Class::Amo,
        Class::Signal,
        Class::Wait,
        Class::Test,
        Class::Order,
        Class::Barrier,
        Class::Collective,
        Class::Lock,
        Class::Query,
        Class::Control,
        Class::Io,
        Class::Message,
        Class::Handler,
    ];

    /// Lower-case name, as reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Class::Setup => "setup",
            Class::Memory => "memory",
            Class::Team => "team",
            Class::Context => "context",
            Class::Put => "put",
            Class::Get => "get",
            Class::Amo => "amo",
            Class::Signal => "signal",
            Class::Wait => "wait",
            Class::Test => "test",
            Class::Order => "order",
            Class::Barrier => "barrier",
            Class::Collective => "collective",
            Class::Lock => "lock",
            Class::Query => "query",
            Class::Control => "control",
            Class::Io => "io",
            Class::Message => "message",
            Class::Handler => "handler",
        }
    }

    /// The class with this number.
    pub fn from_number(number: u8) -> Option<Class> {
        Class::ALL.get(usize::from(number)).copied()
    }

    /// Whether calls of this class may block until another PE does something.
    pub fn waits(self) -> bool {
        matches!(self, Class::Wait | Class::Barrier | Class::Collective | Class::Lock)
    }

    /// Waits and locks: all time in calls of this class is spent waiting for others.
    pub const fn is_for_others(self) -> bool {
        matches!(self, Class::Wait | Class::Lock)
    }

    /// Whether time in calls of this class is spent in the library between begin and end of the program: that of
    /// handlers is part of the calls that run them.
    pub fn is_library_time(self) -> bool {
        !matches!(self, Class::Setup | Class::Handler)
    }
}

/// Whether an operation needs the library to be initialized.
pub fn needs_library(op: u16) -> bool {
    get(op).is_some_and(|row| !matches!(row.class, Class::Setup | Class::Control)) && traits(op) & ANY_TIME == 0
}

/// How calls of an operation are timed. Calls, bytes and errors are always exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Too short to time each call: one call in about 128 is timed.
    Sampled,
    /// Sampled up to [`SAMPLED_BYTES`] or [`SAMPLED_BYTES_ON_HOST`], each larger call timed.
    Sized,
    /// Each call is timed; of those that may wait and did not, samples are.
    Timed,
}

/// Largest payload in bytes for which a [`Timing::Sized`] call to a PE of another host is sampled.
pub const SAMPLED_BYTES: usize = 1024;

/// The same for one to a PE of this host, where a longer copy takes no longer than two readings of the clock.
pub const SAMPLED_BYTES_ON_HOST: usize = 32 << 10;

/// One row as the generator writes it.
struct Row {
    name: &'static str,
    class: Class,
    section: &'static str,
    elem: u8,
    timing: Timing,
    /// Those of [`TRAITS`] that do not follow from class and timing.
    traits: u32,
}

/// The row of an operation, wherever it is from.
const fn row(id: usize) -> &'static Row {
    static OF_TABLE: &[Row] = &generated::ROWS;
    if id < COUNT { &OF_TABLE[id] } else { gasnet::row(id - COUNT) }
}

/// One row of the operation table. It has no pointers: the loader would have to adjust thousands of them in each
/// process.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    name: Text,
    section: Text,
    /// What kind of routine it is.
    pub class: Class,
    /// Bytes of one element; 0 where the routine has no element type.
    pub elem: u8,
    /// How its calls are timed.
    pub timing: Timing,
}

impl Op {
    /// C name of the routine, for example `shmem_long_put`.
    pub const fn name(&self) -> &'static str {
        self.name.get()
    }

    /// Section of the OpenSHMEM 1.6 specification.
    pub const fn section(&self) -> &'static str {
        self.section.get()
    }
}

/// A part of [`TEXT`].
#[derive(Clone, Copy, Debug)]
struct Text {
    at: u32,
    bytes: u8,
}

impl Text {
    const fn get(self) -> &'static str {
        let (_, rest) = TEXT.split_at(self.at as usize);
        rest.split_at(self.bytes as usize).0
    }
}

/// The operations of the API table.
pub static OPS: &[Op] = ALL.split_at(COUNT).0;

/// The operation table.
pub static ALL: [Op; TOTAL] = {
    let empty = Text { at: 0, bytes: 0 };
    let none = Op { name: empty, section: empty, class: Class::Setup, elem: 0, timing: Timing::Timed };
    let mut ops = [none; TOTAL];
    let (mut id, mut at) = (0, 0);
    while id < TOTAL {
        let &Row { name, class, section, elem, timing, .. } = row(id);
        let name = Text { at, bytes: name.len() as u8 };
        at += name.bytes as u32;
        let section = Text { at, bytes: section.len() as u8 };
        at += section.bytes as u32;
        ops[id] = Op { name, section, class, elem, timing };
        id += 1;
    }
    ops
};

const TEXT_BYTES: usize = {
    let (mut id, mut bytes) = (0, 0);
    while id < TOTAL {
        let Row { name, section, .. } = row(id);
        assert!(name.len() < 256 && section.len() < 256);
        bytes += name.len() + section.len();
        id += 1;
    }
    bytes
};

/// Name and section of each row, one behind the other.
static TEXTS: [u8; TEXT_BYTES] = {
    let mut texts = [0; TEXT_BYTES];
    let (mut id, mut at) = (0, 0);
    while id < TOTAL {
        let (name, section) = (row(id).name.as_bytes(), row(id).section.as_bytes());
        let (_, rest) = texts.split_at_mut(at);
        let (to_name, rest) = rest.split_at_mut(name.len());
        to_name.copy_from_slice(name);
        rest.split_at_mut(section.len()).0.copy_from_slice(section);
        at += name.len() + section.len();
        id += 1;
    }
    texts
};

/// The same as text: names are asked for so often that they are not checked each time.
static TEXT: &str = match str::from_utf8(&TEXTS) {
    Ok(text) => text,
    Err(_) => panic!("the table is not UTF-8"),
};

static ELEMS: [u8; MAX_OPS] = {
    let mut elems = [0; MAX_OPS];
    let mut id = 0;
    while id < TOTAL {
        elems[id] = row(id).elem;
        id += 1;
    }
    elems
};

/// Bytes of an element of an operation; as [`traits`].
#[inline(always)]
pub fn elem(op: u16) -> usize {
    ELEMS[usize::from(op) & (MAX_OPS - 1)].into()
}

/// An operation as the recorder takes it. Its traits are known when the library is compiled where a body serves one
/// routine or routines that are alike.
pub trait Operation: Copy {
    /// Its id.
    fn id(self) -> u16;
    /// Its traits.
    fn traits(self) -> u32;
    /// The lower half of the word that shows it entered: [`entered`].
    fn entered(self) -> u32;
}

/// The lower half of [`crate::segment::layout::Current::word`] where a call of an operation was entered.
pub const fn entered(op: u16) -> u32 {
    current_word(op, STATE_ENTERED, 0) as u32
}

/// [`crate::segment::layout::Current::word`] where a call was entered.
#[inline(always)]
pub fn entered_for(op: impl Operation, peer: i32) -> u64 {
    u64::from(op.entered()) | u64::from(peer as u32) << 32
}

impl Operation for u16 {
    #[inline(always)]
    fn id(self) -> u16 {
        self
    }

    #[inline(always)]
    fn traits(self) -> u32 {
        traits(self)
    }

    #[inline(always)]
    fn entered(self) -> u32 {
        entered(self)
    }
}

/// An operation with these traits, by its word: [`entered`].
#[derive(Clone, Copy, Debug)]
pub struct With<const TRAITS: u32>(pub u32);

impl<const TRAITS: u32> Operation for With<TRAITS> {
    #[inline(always)]
    fn id(self) -> u16 {
        self.0 as u16 & (MAX_OPS - 1) as u16
    }

    #[inline(always)]
    fn traits(self) -> u32 {
        TRAITS
    }

    #[inline(always)]
    fn entered(self) -> u32 {
        self.0
    }
}

/// Whether the bytes of calls are not counted, since they follow from the calls: [`bytes_of_calls`].
#[inline(always)]
pub fn bytes_follow(op: impl Operation) -> bool {
    op.traits() & ONE_ELEMENT != 0
}

/// Whether the calls of an operation are counted by size class.
pub fn is_sized(op: u16) -> bool {
    get(op).is_some_and(|row| row.timing == Timing::Sized)
}

/// Bytes that `calls` calls move of an operation whose calls each move one element; 0 for others.
pub fn bytes_of_calls(op: u16, calls: u64) -> u64 {
    match get(op) {
        Some(row) if bytes_follow(op) => calls.wrapping_mul(u64::from(row.elem)),
        _ => 0,
    }
}

/// The row of an operation id; `None` outside the table.
pub fn get(op: u16) -> Option<&'static Op> {
    ALL.get(usize::from(op))
}

/// The id of the routine with this C name.
pub fn find(name: &str) -> Option<u16> {
    ALL.iter().position(|op| op.name() == name).and_then(|at| u16::try_from(at).ok())
}

/// As [`find`], for many names: by a table that is made at the first call.
#[cfg(feature = "write")]
pub fn lookup(name: &str) -> Option<u16> {
    static IDS: std::sync::OnceLock<std::collections::HashMap<&str, u16>> = std::sync::OnceLock::new();
    let ids = IDS.get_or_init(|| (0..).zip(ALL.iter()).map(|(id, op)| (op.name(), id)).collect());
    ids.get(name).copied()
}

/// As [`find`]: where no profile is written or read, few ask.
#[cfg(not(feature = "write"))]
pub fn lookup(name: &str) -> Option<u16> {
    find(name)
}

/// The class of the routine with this C name.
pub fn class_of(name: &str) -> Option<Class> {
    lookup(name).and_then(get).map(|row| row.class)
}

/// Hash of names and classes in order: tells whether two programs were built with the same operation table.
pub const TABLE_HASH: u64 = hash_of(TOTAL);

/// [`TABLE_HASH`] of the builds before there were extensions: the routines of the specification, which have kept
/// their numbers.
pub const EARLIER_TABLE_HASH: u64 = hash_of(1794);

const fn hash_of(count: usize) -> u64 {
    let mut hash = fnv1a(&[]);
    let mut id = 0;
    while id < count {
        hash = fnv1a_on(hash, row(id).name.as_bytes());
        hash = fnv1a_step(hash, 0x100 + row(id).class as u64);
        id += 1;
    }
    hash
}

#[cfg(test)]
mod tests;
