//! What routines do, beyond their class and timing: bits. The recorder asks for those of the lower half, reports for
//! all.
//!
//! Those that the generator writes (`generated/ops.rs`) follow from the row of the API table; the others from class and
//! timing, here. No name is looked at: a routine that is added has the traits that its row says.

use super::{COUNT, Class, MAX_OPS, TOTAL, Timing, lookup, row};

/// Bit of [`TRAITS`]: puts, gets, atomics and signals, whose traffic is counted by peer. The two bits above say which.
pub const TRANSFER: u32 = 1;
/// Where [`TRAITS`] has the [`crate::segment::peers::Transfer`].
pub const TRANSFER_SHIFT: u32 = 1;
/// Bit of [`TRAITS`]: nonblocking, complete with the next quiet.
pub const NONBLOCKING: u32 = 8;
/// Bit of [`TRAITS`]: completes the nonblocking operations before it.
pub const COMPLETES: u32 = 16;
/// Bit of [`TRAITS`]: all PEs of a team call it together, and wait for each other in it.
pub const TOGETHER: u32 = 32;

/// Bit of [`TRAITS`]: takes a context.
pub const ON_CONTEXT: u32 = 64;

/// Bit of [`TRAITS`]: each call moves one element, so that its bytes follow from the calls and are not counted.
pub const ONE_ELEMENT: u32 = 128;

/// Bit of [`TRAITS`]: changes memory of the peer, for which that may wait.
pub const STORES: u32 = 256;

/// Bit of [`TRAITS`]: the word that it changes is a signal, whatever its payload.
pub const SIGNALS: u32 = 512;

/// Bit of [`TRAITS`]: waits until another PE does something, other than to come to a call of all.
pub const WAITS: u32 = 1024;

/// Bit of [`TRAITS`]: a barrier, a wait or a collective. A call that comes to wait is timed, one that does not is
/// sampled.
pub const TIMED_IF_WAITS: u32 = 2048;

/// Bit of [`TRAITS`]: answers from local knowledge at once, so that nobody asks whether a thread is in it.
pub const QUERIES: u32 = 4096;

/// Bit of [`TRAITS`]: its bytes are memory that is asked for, and are not moved.
pub const ALLOCATES: u32 = 8192;

/// Bit of [`TRAITS`]: a wait or a lock, in which time is spent waiting for others.
pub const FOR_OTHERS: u32 = 16384;

/// Bit of [`TRAITS`]: complete when a request is that it gives.
pub const BY_REQUEST: u32 = 1 << 16;

/// Bit of [`TRAITS`]: waits for requests.
pub const AWAITS_REQUEST: u32 = 1 << 17;

/// Bit of [`TRAITS`]: all PEs of the job call it together, whatever its arguments.
pub const OF_ALL: u32 = 1 << 18;

/// Bits of [`TRAITS`]: initializes the library, finalizes it. All PEs do.
pub const INITIALIZES: u32 = 1 << 19;
/// See [`INITIALIZES`].
pub const FINALIZES: u32 = 1 << 20;

/// Bit of [`TRAITS`]: may be called before initialization and after finalization, which neither is.
pub const ANY_TIME: u32 = 1 << 21;

/// Bit of [`TRAITS`]: a put or get whose elements, or blocks of them, lie apart.
pub const STRIDED: u32 = 1 << 22;
/// Bit of [`TRAITS`]: a strided one, of blocks of several elements.
pub const OF_BLOCKS: u32 = 1 << 23;

/// Bit of [`TRAITS`]: a put, alone or with a signal.
pub const PUTS: u32 = 1 << 24;

/// Bit of [`TRAITS`]: an atomic that gives back what was there.
pub const FETCHES: u32 = 1 << 25;
/// Bit of [`TRAITS`]: an atomic that gives back what it replaced, or would have replaced.
pub const SWAPS: u32 = 1 << 26;
/// Bit of [`TRAITS`]: a swap that only takes place where it finds what is expected.
pub const COMPARES: u32 = 1 << 27;
/// Bit of [`TRAITS`]: stores one value, whatever was there.
pub const SETS: u32 = 1 << 28;

/// Bit of [`TRAITS`]: asks whether something has happened, and does not wait for it.
pub const ASKS: u32 = 1 << 29;

/// Bits of [`TRAITS`]: makes a context, a team or a set of PEs, gives one back.
pub const CREATES: u32 = 1 << 30;
/// See [`CREATES`].
pub const DESTROYS: u32 = 1 << 31;

/// What an operation does. Not a static: for a given operation it is folded away.
pub const TRAITS: [u32; MAX_OPS] = {
    let mut traits = [0; MAX_OPS];
    let mut id = 0;
    while id < TOTAL {
        let op = row(id);
        traits[id] = op.traits | of_class(op.class, op.timing, id < COUNT) | for_reports(op.class);
        id += 1;
    }
    traits
};

/// Traits that follow from class and timing. Collectives and waits of GASNet-EX are no calls that wait for all: their
/// events are waited for.
const fn of_class(class: Class, timing: Timing, is_openshmem: bool) -> u32 {
    let mut traits = match class {
        Class::Put | Class::Signal | Class::Message => TRANSFER,
        Class::Get => TRANSFER | (1 << TRANSFER_SHIFT),
        Class::Amo => TRANSFER | (2 << TRANSFER_SHIFT),
        Class::Barrier | Class::Collective if is_openshmem => TOGETHER,
        Class::Memory if is_openshmem => TOGETHER | ALLOCATES,
        Class::Wait if is_openshmem => WAITS,
        Class::Query => QUERIES,
        _ => 0,
    };
    if matches!(class, Class::Put | Class::Get | Class::Amo) && matches!(timing, Timing::Sampled) {
        traits |= ONE_ELEMENT;
    }
    if class.is_for_others() {
        traits |= FOR_OTHERS;
    }
    let meets = is_openshmem && matches!(class, Class::Barrier | Class::Collective);
    if (meets || matches!(class, Class::Wait)) && matches!(timing, Timing::Timed) {
        traits |= TIMED_IF_WAITS;
    }
    traits
}

/// Those of the upper half that follow from the class.
const fn for_reports(class: Class) -> u32 {
    match class {
        Class::Put => PUTS,
        Class::Test => ASKS,
        _ => 0,
    }
}

/// Traits of an operation. Ids beyond the table wrap around.
#[inline(always)]
pub const fn traits(op: u16) -> u32 {
    // By reference: where nothing is optimized, the table would be copied for each of them.
    (const { &TRAITS })[op as usize & (MAX_OPS - 1)]
}

/// Those of them that the recorder asks for: routines in which they are the same share its code.
pub const fn recorded(op: u16) -> u32 {
    traits(op) & 0xffff
}

/// Whether the routine of this name has one of these traits.
pub fn has(name: &str, of: u32) -> bool {
    lookup(name).is_some_and(|op| traits(op) & of != 0)
}

/// Whether all PEs of a team call the routine of this name together, and wait for each other in it.
pub fn meets(name: &str) -> bool {
    has(name, TOGETHER)
}

/// Whether the routine of this name returns before what it begins is complete.
pub fn is_nonblocking(name: &str) -> bool {
    has(name, NONBLOCKING | BY_REQUEST)
}
