//! What a return address means: the function that it lies in, what was called there, and how to get to the caller of
//! that function. It is read once from the call frame information of the objects that the process started with, and
//! kept in a table that only grows.
#![allow(unsafe_code)]

use std::cell::LazyCell;
use std::ffi::c_void;
use std::ptr::null;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EndianSlice, NativeEndian, Register, RegisterRule, UnwindContext,
    UnwindContextStorage, UnwindSection, UnwindTableRow,
};

use super::{defined_around, is_defined};
use crate::stack::objects::{self, Object};
use pellucid_core::os::instruction;
use pellucid_core::os::readable::is_readable_stack;

/// Numbers of registers in call frame information: stack pointer, frame pointer, return address.
#[cfg(target_arch = "x86_64")]
const NUMBERS: [Register; 3] = [Register(7), Register(6), Register(16)];
#[cfg(target_arch = "aarch64")]
const NUMBERS: [Register; 3] = [Register(31), Register(29), Register(30)];

/// Stack and frame pointer in a function.
#[derive(Clone, Copy)]
pub struct Registers {
    /// The stack pointer.
    pub stack: usize,
    /// The frame pointer.
    pub frame: usize,
}

/// An address in the function that this is inlined into, and the registers there.
#[inline(always)]
pub fn current_frame() -> (usize, Registers) {
    let (at, stack, frame);
    // SAFETY: reads registers.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "lea {at}, [rip]",
            "mov {stack}, rsp",
            "mov {frame}, rbp",
            at = out(reg) at,
            stack = out(reg) stack,
            frame = out(reg) frame,
            options(nomem, nostack, preserves_flags)
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "adr {at}, . + 4",
            "mov {stack}, sp",
            "mov {frame}, x29",
            at = out(reg) at,
            stack = out(reg) stack,
            frame = out(reg) frame,
            options(nomem, nostack, preserves_flags)
        );
    }
    (at, Registers { stack, frame })
}

/// What is known of a return address.
#[derive(Clone, Copy, Default)]
pub struct Frame {
    /// Where the function begins; 0 where that is not known.
    pub start: usize,
    /// Whether that is a routine which the executable defines.
    pub start_defined: bool,
    /// What was called; 0 where a register said so.
    pub called: usize,
    /// Whether that is a routine which the executable defines.
    pub called_defined: bool,
    /// Whether nothing has called the function: a thread begins in it.
    pub is_outermost: bool,
    /// How to get to the caller.
    rule: Option<Rule>,
}

/// Where the caller's registers are: the end of the frame is at an offset from one of two registers, the rest at
/// offsets from that end.
#[derive(Clone, Copy)]
struct Rule {
    from_frame_pointer: bool,
    end: i32,
    returns_to: i16,
    /// 0: the register was not changed.
    frame_pointer: i16,
}

/// Why it is not known where a function returns to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Nothing is known of it here; the unwinder may know.
    Unknown,
    /// What is known of it, or of one that it has called, is wrong: it leads to where no stack is.
    Wrong,
}

impl Frame {
    /// Where the function returns to, and the registers there.
    pub fn step(&self, registers: Registers) -> Result<(usize, Registers), Lost> {
        let rule = self.rule.ok_or(Lost::Unknown)?;
        let base = if rule.from_frame_pointer { registers.frame } else { registers.stack };
        let end = base.wrapping_add_signed(rule.end as isize);
        // Frames follow each other on one stack.
        if end < registers.stack || end % size_of::<usize>() != 0 {
            return Err(Lost::Wrong);
        }
        let word = |offset: i16| {
            let at = end.wrapping_add_signed(isize::from(offset));
            // SAFETY: it can be read. It is a word of the frame, which is on the calling thread's stack while the
            // function is, unless the rule is wrong, or a function before did not keep the frame pointer.
            is_readable_stack(at).then(|| unsafe { (at as *const usize).read() }).ok_or(Lost::Wrong)
        };
        let frame = if rule.frame_pointer == 0 { registers.frame } else { word(rule.frame_pointer)? };
        let returns_to = word(rule.returns_to)?;
        if returns_to == 0 { Err(Lost::Unknown) } else { Ok((returns_to, Registers { stack: end, frame })) }
    }
}

/// Slots of the table, and those that an address may be in.
const SLOTS: usize = 2048;
const TRIES: usize = 8;
/// Stands for an address while its slot is being filled.
const BUSY: usize = 1;

/// An address and its [`Frame`], in words: they are there once the address is.
struct Slot {
    address: AtomicUsize,
    start: AtomicUsize,
    called: AtomicUsize,
    rule: AtomicUsize,
}

static TABLE: [Slot; SLOTS] = [const {
    Slot {
        address: AtomicUsize::new(0),
        start: AtomicUsize::new(0),
        called: AtomicUsize::new(0),
        rule: AtomicUsize::new(0),
    }
}; SLOTS];

/// Bits of the word that holds a rule: those above hold its numbers.
const HAS_RULE: usize = 1;
const FRAME_POINTER: usize = 2;
const START_DEFINED: usize = 4;
const CALLED_DEFINED: usize = 8;
/// Where there is no rule.
const OUTERMOST: usize = 16;
/// Bits for the end of the frame, in words.
const END_BITS: u32 = 28;

/// What is known of a return address.
pub fn find(address: usize) -> Frame {
    let first = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - SLOTS.ilog2());
    let slots = || (0..TRIES).map(|at| &TABLE[(first + at) % SLOTS]);
    if let Some(slot) = slots().find(|slot| slot.address.load(Acquire) == address) {
        return slot.load();
    }
    let Some(frame) = read(address) else {
        // An object that came later may go, and another take its place: nothing is kept of it.
        let loaded = LazyCell::new(objects::all);
        let is_loaded = |address: usize| loaded.iter().any(|object| object.contains(address));
        return shown(Frame { called: instruction::called(address, is_loaded), ..Frame::default() });
    };
    let frame = shown(frame);
    let free = |slot: &&Slot| slot.address.compare_exchange(0, BUSY, Acquire, Relaxed).is_ok();
    if let Some(slot) = slots().find(free) {
        slot.store(&frame);
        slot.address.store(address, Release);
    }
    frame
}

fn shown(frame: Frame) -> Frame {
    Frame { start_defined: is_defined(frame.start), called_defined: is_defined(frame.called), ..frame }
}

impl Slot {
    fn load(&self) -> Frame {
        let word = self.rule.load(Relaxed);
        let rule = Rule {
            from_frame_pointer: word & FRAME_POINTER != 0,
            end: (word as u32 >> 4) as i32 * 8,
            returns_to: (word >> 32) as i16,
            frame_pointer: (word >> 48) as i16,
        };
        Frame {
            start: self.start.load(Relaxed),
            start_defined: word & START_DEFINED != 0,
            called: self.called.load(Relaxed),
            called_defined: word & CALLED_DEFINED != 0,
            is_outermost: word & (HAS_RULE | OUTERMOST) == OUTERMOST,
            rule: (word & HAS_RULE != 0).then_some(rule),
        }
    }

    fn store(&self, frame: &Frame) {
        let flag = |set: bool, bit: usize| if set { bit } else { 0 };
        let numbers = frame.rule.map_or(flag(frame.is_outermost, OUTERMOST), |rule| {
            HAS_RULE
                | flag(rule.from_frame_pointer, FRAME_POINTER)
                | (rule.end as usize / 8) << 4
                | usize::from(rule.returns_to as u16) << 32
                | usize::from(rule.frame_pointer as u16) << 48
        });
        let defined = flag(frame.start_defined, START_DEFINED) | flag(frame.called_defined, CALLED_DEFINED);
        self.start.store(frame.start, Relaxed);
        self.called.store(frame.called, Relaxed);
        self.rule.store(numbers | defined, Relaxed);
    }
}

/// Room for the rules of a function: more registers than a callee saves.
struct OnStack;

impl UnwindContextStorage<usize> for OnStack {
    type Rules = [(Register, RegisterRule<usize>); 32];
    type Stack = [UnwindTableRow<usize, Self>; 2];
}

/// The objects that the process started with, which stay.
fn lasting() -> &'static [Object] {
    static LASTING: OnceLock<Vec<Object>> = OnceLock::new();
    LASTING.get_or_init(objects::all)
}

/// Finds out what the process started with, so that no call has to.
pub fn prepare() {
    _ = lasting();
}

/// Whether an address lies in one of them.
pub fn lasts(address: usize) -> bool {
    lasting().iter().any(|object| object.contains(address))
}

/// Whether it lies in the first of them, which is the executable.
pub fn is_in_executable(address: usize) -> bool {
    lasting().first().is_some_and(|object| object.contains(address))
}

/// Whether an address lies in an object.
fn is_loaded(address: usize) -> bool {
    let holds = |object: &Object| object.contains(address);
    lasting().iter().any(holds) || objects::all().iter().any(holds)
}

/// What an address means, if it lies in one of those objects.
fn read(address: usize) -> Option<Frame> {
    lasts(address).then(|| {
        let called = instruction::called(address, is_loaded);
        let known = look_up(address).unwrap_or_else(|| Frame { start: defined_around(address), ..Frame::default() });
        Frame { called, ..known }
    })
}

/// `struct dwarf_eh_bases` of the compiler's library.
#[repr(C)]
struct Bases {
    text: *const c_void,
    data: *const c_void,
    function: *const c_void,
}

unsafe extern "C" {
    /// Of the compiler's library: it finds the entries of static executables too, which register theirs.
    fn _Unwind_Find_FDE(address: *const c_void, bases: *mut Bases) -> *const u8;
}

/// Where the function begins that a call before `address` is in, and how to get to its caller.
fn look_up(address: usize) -> Option<Frame> {
    // The call may be the last instruction.
    let inside = address - 1;
    let mut bases = Bases { text: null(), data: null(), function: null() };
    // SAFETY: any address may be asked for; the result is ours to write.
    let entry = unsafe { _Unwind_Find_FDE(inside as *const c_void, &raw mut bases) };
    if entry.is_null() {
        return None;
    }
    // SAFETY: the entry of the function that the address is in.
    let frame = unsafe { frame_at(entry, inside, &bases) }.unwrap_or_default();
    Some(Frame { start: bases.function as usize, ..frame })
}

/// What the entry of a function says of an address in it.
///
/// # Safety
/// The entry is one of a loaded object.
unsafe fn frame_at(entry: *const u8, inside: usize, bases: &Bases) -> Option<Frame> {
    // SAFETY: an entry begins with its length and the distance to what entries share, which comes before it.
    let (first, length) = unsafe {
        let [length, distance] = entry.cast::<[u32; 2]>().read_unaligned();
        let behind = distance as usize - 4;
        (entry.sub(behind), behind + 4 + length as usize)
    };
    // SAFETY: both lie in one section, which is loaded.
    let section = EhFrame::from(EndianSlice::new(unsafe { std::slice::from_raw_parts(first, length) }, NativeEndian));
    let offset = entry as usize - first as usize;
    let addresses = BaseAddresses::default().set_eh_frame(first as u64).set_got(bases.data as u64);
    let entry = section.fde_from_offset(&addresses, offset.into(), EhFrame::cie_from_offset).ok()?;
    let mut context = UnwindContext::<usize, OnStack>::new_in();
    let row = entry.unwind_info_for_address(&section, &addresses, &mut context, inside as u64).ok()?;
    let is_outermost = matches!(row.register(NUMBERS[2]), Some(RegisterRule::Undefined));
    Some(Frame { is_outermost, rule: rule(row), ..Frame::default() })
}

/// The rule of a row, where it is one of the usual.
fn rule(row: &UnwindTableRow<usize, OnStack>) -> Option<Rule> {
    let [stack, frame, back] = NUMBERS;
    let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
    let Some(RegisterRule::Offset(returns_to)) = row.register(back) else { return None };
    let frame_pointer = match row.register(frame) {
        None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => 0,
        Some(RegisterRule::Offset(offset)) => i16::try_from(offset).ok()?,
        Some(_) => return None,
    };
    let are_words = returns_to % 8 == 0 && frame_pointer % 8 == 0;
    let fits = are_words && offset % 8 == 0 && (0..1 << (END_BITS + 2)).contains(&offset);
    (fits && [stack, frame].contains(&register)).then_some(Rule {
        from_frame_pointer: register == frame,
        end: i32::try_from(offset).ok()?,
        returns_to: i16::try_from(returns_to).ok()?,
        frame_pointer,
    })
}
