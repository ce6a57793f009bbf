//! The operation table: one row per C routine. An operation id is the index of its row.
//!
//! The rows are generated from the API table (`generated/ops.rs`); this file gives them their types.

#[path = "generated/ops.rs"]
mod generated;

pub use generated::{COUNT, OPS};

/// Operation ids that a profile segment has room for.
pub const MAX_OPS: usize = 2048;

const _: () = assert!(COUNT <= MAX_OPS, "the profile segment has too few cells for the operation table");

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
}

impl Class {
    /// Every class, in the order of their numbers.
    pub const ALL: [Class; 16] = [
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
}

/// How calls of an operation are timed. Calls, bytes and errors are always exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Too short to time each call: one call in about 128 is timed.
    Sampled,
    /// Sampled up to [`SAMPLED_BYTES`], each larger call timed.
    Sized,
    /// Each call is timed.
    Timed,
}

/// Largest payload in bytes for which a [`Timing::Sized`] call is sampled.
pub const SAMPLED_BYTES: usize = 1024;

/// One row of the operation table.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// C name of the routine, for example `shmem_long_put`.
    pub name: &'static str,
    /// What kind of routine it is.
    pub class: Class,
    /// Section of the OpenSHMEM 1.6 specification.
    pub section: &'static str,
    /// Bytes of one element; 0 where the routine has no element type.
    pub elem: u8,
    /// How its calls are timed.
    pub timing: Timing,
}

/// The row of an operation id; `None` outside the table.
pub fn get(op: u16) -> Option<&'static Op> {
    OPS.get(usize::from(op))
}

/// The id of the routine with this C name.
pub fn find(name: &str) -> Option<u16> {
    OPS.iter().position(|op| op.name == name).and_then(|at| u16::try_from(at).ok())
}

/// Hash of names and classes in order: tells whether two programs were built with the same operation table.
pub const TABLE_HASH: u64 = {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut id = 0;
    while id < COUNT {
        let name = OPS[id].name.as_bytes();
        let mut at = 0;
        while at < name.len() {
            hash = (hash ^ name[at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        hash = (hash ^ (0x100 + OPS[id].class as u64)).wrapping_mul(0x0100_0000_01b3);
        id += 1;
    }
    hash
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_numbers_match_their_order() {
        for (number, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, number, "{}", class.name());
            assert_eq!(Class::from_number(number as u8), Some(class));
        }
        assert_eq!(Class::from_number(16), None);
    }

    #[test]
    fn names_are_unique_and_found() {
        for (id, op) in OPS.iter().enumerate() {
            assert_eq!(find(op.name), Some(id as u16), "{} is in the table twice", op.name);
        }
        assert_eq!(find("shmem_no_such_routine"), None);
        assert!(get(COUNT as u16).is_none());
    }
}
