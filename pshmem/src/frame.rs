//! The arguments of a call on its way past tools and callbacks, as the dispatcher finds them in registers and on the
//! stack.
//!
//! A body says where its arguments are (`routine!`); the call is made from here with all registers as they came. So
//! no body has code of its own to take its arguments, to keep them and to pass them on.
#![allow(unsafe_code)]

use pellucid_core::context::Ctx;
use pellucid_core::request::Request;

use crate::dispatcher::choose;
use crate::shim::by_value;
use crate::types::{ErrorHandler, File, OffsetFunction, Space, Team};

/// Words on the stack that are passed on: as many as the routine with the most arguments has there, and more.
const WORDS: usize = 4;

/// What the dispatcher puts on the stack; the code below knows the offsets.
#[cfg(target_arch = "x86_64")]
#[repr(C, align(16))]
pub struct Frame {
    floats: [[u64; 2]; 8],
    integers: [u64; 6],
    /// Number of vector registers of a variable argument list; then the answer.
    answer: u64,
    /// Where the call returns to.
    pub returns_to: usize,
    stack: [u64; WORDS],
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[repr(C, align(16))]
pub struct Frame {
    frame_pointer: u64,
    /// Where the call returns to.
    pub returns_to: usize,
    integers: [u64; 8],
    indirect: u64,
    answer: u64,
    floats: [[u64; 2]; 8],
    stack: [u64; WORDS],
}

/// What an argument or a result may be: a word that travels as an integer, or a floating-point number.
pub trait Argument: Copy {
    /// Whether it is in a register for floating-point numbers.
    const IS_FLOAT: bool = false;
}

macro_rules! arguments {
    ($($integer:ty),*) => { $(impl Argument for $integer {})* };
}

arguments!(
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    isize,
    usize,
    Ctx,
    Team,
    OffsetFunction,
    Request,
    File,
    Space,
    ErrorHandler
);

impl<T> Argument for *const T {}

impl<T> Argument for *mut T {}

impl Argument for f32 {
    const IS_FLOAT: bool = true;
}

impl Argument for f64 {
    const IS_FLOAT: bool = true;
}

/// A word as what it stands for.
///
/// # Safety
/// It is a value of that type, in the lower bytes of the word.
#[inline(always)]
unsafe fn value<T: Argument>(word: u64) -> T {
    const { assert!(size_of::<T>() <= size_of::<u64>() && cfg!(target_endian = "little")) };
    // SAFETY: so says the caller.
    unsafe { std::mem::transmute_copy(&word) }
}

/// The arguments of a call, one after the other.
pub struct Arguments<'a> {
    frame: &'a Frame,
    integers: usize,
    floats: usize,
}

impl<'a> Arguments<'a> {
    /// Those of the call with this frame.
    #[inline(always)]
    pub fn of(frame: &'a Frame) -> Self {
        Self { frame, integers: 0, floats: 0 }
    }

    /// The next one.
    ///
    /// # Safety
    /// The routine has an argument of this type there.
    #[inline(always)]
    pub unsafe fn take<T: Argument>(&mut self) -> T {
        let word = if T::IS_FLOAT {
            self.floats += 1;
            self.frame.floats[self.floats - 1][0]
        } else {
            self.integers += 1;
            self.frame.integer(self.integers - 1)
        };
        // SAFETY: so says the caller.
        unsafe { value(word) }
    }
}

impl Frame {
    /// The word of an argument: which of those that are no floating-point numbers, counted from 0.
    #[inline(always)]
    pub fn integer(&self, at: usize) -> u64 {
        let registers = self.integers.len();
        if at < registers { self.integers[at] } else { self.stack[at - registers] }
    }

    /// What the call has returned.
    ///
    /// # Safety
    /// It was made, and the routine returns this type.
    #[inline(always)]
    pub unsafe fn answer<T: Argument>(&self) -> T {
        // SAFETY: so says the caller.
        unsafe { value(if T::IS_FLOAT { self.floats[0][0] } else { self.answer }) }
    }

    /// Makes the call, and keeps the answer.
    ///
    /// # Safety
    /// A function with the signature of the routine stands at `target`. It is called once, since the answer takes the
    /// place of arguments.
    pub unsafe fn call(&mut self, target: *const ()) {
        // SAFETY: so says the caller.
        unsafe { call(target, self) }
    }
}

/// Where armed entries jump. Asks [`choose`] and jumps on with every argument as it came, in registers and on the
/// stack, or returns what the call has returned that was made meanwhile.
///
/// # Safety
/// Not to be called: entries jump here, with the operation in a scratch register.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn dispatcher() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, 0xb8",
        ".cfi_adjust_cfa_offset 0xb8",
        "movaps [rsp], xmm0",
        "movaps [rsp + 0x10], xmm1",
        "movaps [rsp + 0x20], xmm2",
        "movaps [rsp + 0x30], xmm3",
        "movaps [rsp + 0x40], xmm4",
        "movaps [rsp + 0x50], xmm5",
        "movaps [rsp + 0x60], xmm6",
        "movaps [rsp + 0x70], xmm7",
        "mov [rsp + 0x80], rdi",
        "mov [rsp + 0x88], rsi",
        "mov [rsp + 0x90], rdx",
        "mov [rsp + 0x98], rcx",
        "mov [rsp + 0xa0], r8",
        "mov [rsp + 0xa8], r9",
        "mov [rsp + 0xb0], rax",
        "mov edi, r11d",
        "mov rsi, rsp",
        "mov rdx, rbp",
        "call {choose}",
        "movaps xmm0, [rsp]",
        "test rax, rax",
        "je 2f",
        "mov r11, rax",
        "movaps xmm1, [rsp + 0x10]",
        "movaps xmm2, [rsp + 0x20]",
        "movaps xmm3, [rsp + 0x30]",
        "movaps xmm4, [rsp + 0x40]",
        "movaps xmm5, [rsp + 0x50]",
        "movaps xmm6, [rsp + 0x60]",
        "movaps xmm7, [rsp + 0x70]",
        "mov rdi, [rsp + 0x80]",
        "mov rsi, [rsp + 0x88]",
        "mov rdx, [rsp + 0x90]",
        "mov rcx, [rsp + 0x98]",
        "mov r8, [rsp + 0xa0]",
        "mov r9, [rsp + 0xa8]",
        "mov rax, [rsp + 0xb0]",
        ".cfi_remember_state",
        "add rsp, 0xb8",
        ".cfi_adjust_cfa_offset -0xb8",
        "jmp r11",
        ".cfi_restore_state",
        "2: mov rax, [rsp + 0xb0]",
        "add rsp, 0xb8",
        ".cfi_adjust_cfa_offset -0xb8",
        "ret",
        ".cfi_endproc",
        choose = sym choose,
    )
}

/// As above.
///
/// # Safety
/// Not to be called: entries jump here.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub unsafe extern "C" fn dispatcher() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-224]!",
        ".cfi_def_cfa_offset 224",
        ".cfi_offset x29, -224",
        ".cfi_offset x30, -216",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "str x8, [sp, #80]",
        "stp q0, q1, [sp, #96]",
        "stp q2, q3, [sp, #128]",
        "stp q4, q5, [sp, #160]",
        "stp q6, q7, [sp, #192]",
        "mov w0, w16",
        "mov x1, sp",
        "ldr x2, [sp]",
        "bl {choose}",
        "cbz x0, 2f",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldr x8, [sp, #80]",
        "ldp q0, q1, [sp, #96]",
        "ldp q2, q3, [sp, #128]",
        "ldp q4, q5, [sp, #160]",
        "ldp q6, q7, [sp, #192]",
        "ldp x29, x30, [sp], #224",
        "br x16",
        "2: ldr x0, [sp, #88]",
        "ldr q0, [sp, #96]",
        "ldp x29, x30, [sp], #224",
        "ret",
        ".cfi_endproc",
        choose = sym choose,
    )
}

unsafe extern "C" {
    /// Where the call below returns to.
    #[link_name = "pellucid_called_tool"]
    static CALLED: u8;
}

/// Whether this is where a tool returns to, and with it what the tool ends in: a call that is a jump.
pub fn is_return(address: usize) -> bool {
    address == (&raw const CALLED).addr() || by_value::is_return(address)
}

/// Calls `target` with the arguments of a frame; puts the answer there.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn call(target: *const (), frame: *mut Frame) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        ".cfi_offset rbx, -24",
        "mov rbx, rsi",
        "mov r11, rdi",
        "sub rsp, 0x28",
        "movups xmm0, [rbx + 0xc0]",
        "movups xmm1, [rbx + 0xd0]",
        "movups [rsp], xmm0",
        "movups [rsp + 0x10], xmm1",
        "movaps xmm0, [rbx]",
        "movaps xmm1, [rbx + 0x10]",
        "movaps xmm2, [rbx + 0x20]",
        "movaps xmm3, [rbx + 0x30]",
        "movaps xmm4, [rbx + 0x40]",
        "movaps xmm5, [rbx + 0x50]",
        "movaps xmm6, [rbx + 0x60]",
        "movaps xmm7, [rbx + 0x70]",
        "mov rdi, [rbx + 0x80]",
        "mov rsi, [rbx + 0x88]",
        "mov rdx, [rbx + 0x90]",
        "mov rcx, [rbx + 0x98]",
        "mov r8, [rbx + 0xa0]",
        "mov r9, [rbx + 0xa8]",
        "mov rax, [rbx + 0xb0]",
        "call r11",
        ".globl pellucid_called_tool",
        ".hidden pellucid_called_tool",
        "pellucid_called_tool:",
        "mov [rbx + 0xb0], rax",
        "movaps [rbx], xmm0",
        "add rsp, 0x28",
        "pop rbx",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn call(target: *const (), frame: *mut Frame) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-32]!",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset x29, -32",
        ".cfi_offset x30, -24",
        "mov x29, sp",
        ".cfi_def_cfa x29, 32",
        "str x19, [sp, #16]",
        ".cfi_offset x19, -16",
        "mov x19, x1",
        "mov x16, x0",
        "sub sp, sp, #32",
        "ldp x9, x10, [x19, #224]",
        "stp x9, x10, [sp]",
        "ldp x9, x10, [x19, #240]",
        "stp x9, x10, [sp, #16]",
        "ldp q0, q1, [x19, #96]",
        "ldp q2, q3, [x19, #128]",
        "ldp q4, q5, [x19, #160]",
        "ldp q6, q7, [x19, #192]",
        "ldr x8, [x19, #80]",
        "ldp x0, x1, [x19, #16]",
        "ldp x2, x3, [x19, #32]",
        "ldp x4, x5, [x19, #48]",
        "ldp x6, x7, [x19, #64]",
        "blr x16",
        ".globl pellucid_called_tool",
        ".hidden pellucid_called_tool",
        "pellucid_called_tool:",
        "str x0, [x19, #88]",
        "str q0, [x19, #96]",
        "mov sp, x29",
        "ldr x19, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        ".cfi_def_cfa sp, 0",
        "ret",
        ".cfi_endproc",
    )
}

const _: () = {
    use std::mem::offset_of;
    #[cfg(target_arch = "x86_64")]
    assert!(
        offset_of!(Frame, integers) == 0x80
            && offset_of!(Frame, answer) == 0xb0
            && offset_of!(Frame, returns_to) == 0xb8
            && offset_of!(Frame, stack) == 0xc0
    );
    #[cfg(target_arch = "aarch64")]
    assert!(
        offset_of!(Frame, integers) == 16
            && offset_of!(Frame, indirect) == 80
            && offset_of!(Frame, answer) == 88
            && offset_of!(Frame, floats) == 96
            && offset_of!(Frame, stack) == 224
    );
};
