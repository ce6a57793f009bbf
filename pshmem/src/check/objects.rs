//! The memory that a call uses, by its arguments.

use pellucid_core::base::{Cause, Fault};
use pellucid_core::memory::strided::StridedRange;
use pellucid_core::request::uses::Access;
use pellucid_core::runtime;
use pellucid_core::team::aset;
use pellucid_profile::op::{self, Class, Op};

use crate::dispatcher::Call;
use crate::frame::Frame;
use crate::generated::arguments;
use crate::types::Team;

/// The arguments of a call by their names.
pub struct Named<'a> {
    names: &'static str,
    frame: &'a Frame,
}

impl<'a> Named<'a> {
    /// Those of a call of this operation.
    pub fn of(op: u16, frame: &'a Frame) -> Self {
        Self { names: arguments::NAMES[usize::from(arguments::OF[usize::from(op)])], frame }
    }

    /// The word of an argument; `None` where there is none of this name. Arguments behind a value are not found: it may
    /// be a floating-point number, which takes no word.
    fn word(&self, name: &str) -> Option<u64> {
        let words = self.names.split(' ').take_while(|other| !matches!(*other, "value" | "cond"));
        words.into_iter().position(|other| other == name).map(|at| self.frame.integer(at))
    }

    fn size(&self, name: &str) -> Option<usize> {
        self.word(name).map(|word| word as usize)
    }

    /// The members of a collective; `None` where that is not known here.
    fn members(&self) -> Option<usize> {
        if let Some(size) = self.word("PE_size") {
            return usize::try_from(size as u32 as i32).ok();
        }
        if let Some(set) = self.size("aset") {
            let set = std::ptr::without_provenance(set);
            return aset::get(set).ok().map(|set| set.pes.size());
        }
        let team = Team::from_bits(self.size("team")?);
        runtime::world().team(team).ok()?.map(|team| team.size as usize)
    }
}

/// An object that a call uses.
#[derive(Clone, Copy)]
pub struct Operand {
    /// Argument of the call.
    pub arg: &'static str,
    /// Whose memory it is.
    pub pe: i32,
    /// Which memory.
    pub shape: StridedRange,
    /// What is done there.
    pub access: Access,
}

impl Operand {
    /// Argument, address, and bytes from the first to the last.
    fn shown(&self) -> (&'static str, usize, usize) {
        (self.arg, self.shape.addr, self.shape.bytes())
    }

    /// Two objects of a call that share memory, where one of them is written. An object that is copied to itself stays
    /// what it is.
    fn conflicts(&self, other: &Operand) -> bool {
        let only_read = self.access == Access::Read && other.access == Access::Read;
        let is_copied = (self.arg, other.arg) == ("dest", "source") && self.shape == other.shape;
        self.pe == other.pe && !only_read && !is_copied && self.shape.overlaps(&other.shape)
    }
}

/// The objects of a call: as many as any has. They are not allocated, since a signal handler may call from within
/// `malloc`.
#[derive(Default)]
pub struct OperandSet {
    all: [Option<Operand>; 4],
}

impl OperandSet {
    fn add(&mut self, operand: Operand) {
        if operand.shape.bytes() > 0
            && let Some(free) = self.all.iter_mut().find(|other| other.is_none())
        {
            *free = Some(operand);
        }
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Operand> {
        self.all.iter().flatten()
    }
}

/// A fault where objects of a call share memory that must be apart.
pub fn check_overlaps(objects: &OperandSet) -> Result<(), Fault> {
    for (index, first) in objects.iter().enumerate() {
        if let Some(second) = objects.iter().skip(index + 1).find(|second| first.conflicts(second)) {
            let objects = [first.shown(), second.shown()];
            return Err(Fault::from(Cause::Overlap { objects, in_place: false }));
        }
    }
    Ok(())
}

/// How an operation of elements that are apart steps through an object: bytes of a block and from block to block, and
/// how many blocks. As the arguments say it: a stride may go backwards, and those of a source may be less than a block.
struct Steps {
    block: usize,
    stride: isize,
    count: usize,
}

impl Steps {
    fn piece(bytes: usize) -> Self {
        Self { block: bytes, stride: 0, count: 1 }
    }

    /// The memory that steps from this address on go through.
    fn from(&self, addr: usize) -> StridedRange {
        let Self { block, stride, count } = *self;
        let distance = stride.unsigned_abs();
        let reach = distance.saturating_mul(count.saturating_sub(1));
        let first = if stride < 0 { addr.wrapping_sub(reach) } else { addr };
        if distance < block && count > 0 {
            return StridedRange::piece(first, reach.saturating_add(block));
        }
        StridedRange { addr: first, block, stride: distance, count }
    }
}

/// The steps of a strided transfer through its destination and its source. `None`: it is not strided.
fn strides(op: u16, named: &Named<'_>) -> Result<Option<[Steps; 2]>, Fault> {
    let (Some(to), Some(from)) = (named.word("dst"), named.word("sst")) else { return Ok(None) };
    let blocks = named.size("bsize").zip(named.size("nblocks"));
    let expected = if blocks.is_some() { "a stride of at least bsize" } else { "a stride of at least 1" };
    let (length, count) = blocks.unwrap_or((1, named.size("nelems").unwrap_or(0)));
    let (to, from) = (to as isize, from as isize);
    // As an extension strides need not be positive; but what is written once would be written over.
    if to.unsigned_abs() < length && count > 1 {
        return Err(Fault::from(Cause::BadValue { arg: "dst", value: to as i64, expected }));
    }
    let elem = op::elem(op).max(1);
    let steps = |stride: isize| {
        let stride = stride.saturating_mul(elem as isize);
        Steps { block: length.saturating_mul(elem), stride, count }
    };
    Ok(Some([steps(to), steps(from)]))
}

/// The objects of a call that moves bytes, as far as they are known.
pub fn of(op: &Op, call: &Call, named: Option<&Named<'_>>) -> Result<OperandSet, Fault> {
    let steps = match named {
        Some(named) => strides(call.op, named)?,
        None => None,
    };
    let is_collective = op.class == Class::Collective;
    let members = named.and_then(Named::members);
    let steps = match steps {
        // What each member gives to each has the same strides.
        Some(steps) if is_collective => {
            let members = members.unwrap_or(1);
            steps.map(|steps| Steps { count: steps.count.saturating_mul(members), ..steps })
        }
        Some(steps) => steps,
        None if is_collective => of_collective(op, call.bytes, members).map(Steps::piece),
        None => [call.bytes; 2].map(Steps::piece),
    };
    Ok(objects(op, call, named, steps))
}

/// Bytes that a collective writes and reads of this PE's objects; `call_bytes` is what its call says.
fn of_collective(op: &Op, call_bytes: usize, members: Option<usize>) -> [usize; 2] {
    let of_all = call_bytes.saturating_mul(members.unwrap_or(1));
    match op.name() {
        name if name.contains("alltoall") => [of_all; 2],
        name if name.contains("fcollect") => [of_all, call_bytes],
        _ => [call_bytes; 2],
    }
}

fn objects(op: &Op, call: &Call, named: Option<&Named<'_>>, [to, from]: [Steps; 2]) -> OperandSet {
    let (me, peer) = (runtime::map().me, call.peer);
    let is_atomic = op.class == Class::Amo;
    let dest_pe = if matches!(op.class, Class::Get | Class::Collective) { me } else { peer };
    let source_pe = if is_atomic || op.class == Class::Get { peer } else { me };
    let access = |other| if is_atomic { Access::Atomic } else { other };
    let mut objects = OperandSet::default();
    if call.dest != 0 {
        objects.add(Operand { arg: "dest", pe: dest_pe, shape: to.from(call.dest), access: access(Access::Write) });
    }
    if call.source != 0 {
        let shape = from.from(call.source);
        objects.add(Operand { arg: "source", pe: source_pe, shape, access: access(Access::Read) });
    }
    if let Some(addr) = named.and_then(|named| named.size("fetch")).filter(|addr| *addr != 0) {
        let shape = StridedRange::piece(addr, call.bytes);
        objects.add(Operand { arg: "fetch", pe: me, shape, access: Access::Write });
    }
    if op.class == Class::Signal && call.source != 0 && call.addr != 0 {
        let shape = StridedRange::piece(call.addr, size_of::<u64>());
        objects.add(Operand { arg: "sig_addr", pe: peer, shape, access: Access::Atomic });
    }
    objects
}

/// The words that a routine looks at or changes: what the argument is called that names them, and their bytes.
pub fn words(op: &Op, id: u16, named: Option<&Named<'_>>) -> Option<(&'static str, usize)> {
    match op.class {
        Class::Signal => Some(("sig_addr", size_of::<u64>())),
        Class::Wait | Class::Test => {
            let elem = op::elem(id).max(1);
            match named.filter(|named| named.word("ivars").is_some()).and_then(|named| named.size("nelems")) {
                Some(count) => Some(("ivars", elem.saturating_mul(count))),
                None => Some(("ivar", elem)),
            }
        }
        // Fortran's locks are INTEGERs of four bytes; its entries make no frame.
        Class::Lock => Some(("lock", if named.is_some() { size_of::<u64>() } else { size_of::<u32>() })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_may_go_backwards_and_stay_where_they_are() {
        let shape = |block, stride, count| Steps { block, stride, count }.from(0x1000);
        assert_eq!(shape(8, 16, 3), StridedRange { addr: 0x1000, block: 8, stride: 16, count: 3 });
        assert_eq!(shape(8, -16, 3), StridedRange { addr: 0xfe0, block: 8, stride: 16, count: 3 });
        assert_eq!(shape(8, 0, 3), StridedRange::piece(0x1000, 8));
        assert_eq!(shape(16, 8, 3), StridedRange::piece(0x1000, 32));
        assert_eq!(shape(16, -8, 3), StridedRange::piece(0xff0, 32));
    }
}
