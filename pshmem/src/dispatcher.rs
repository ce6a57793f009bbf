//! The longer way of a call: past stacked tools and callbacks.
//!
//! An entry whose flag says [`pellucid_profile::arm::GATE`] jumps here with the operation in a scratch register and the
//! arguments in place. [`dispatcher`] asks [`choose`] where to go on and jumps there: mostly to the routine's `intercepted`, which has its
//! arguments with their types and calls [`pass`].
//!
//! The profile is taken here, outermost: a call of the application is counted once and with all that tools add to it. What a
//! tool does while it has such a call is no call of the application: it goes to the routines.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

use pellucid_profile::arm::{self, Interceptor};
use pellucid_profile::op::{COUNT, OPS, Timing};
use pellucid_profile::recorder;

use crate::callbacks::{self, Entered};
use crate::caller;
use crate::check;
use crate::finale;
use crate::generated::addresses::{VARIADIC, WAYS};
use crate::thread::{self, Mark, Place};

/// Address of a function.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Address(pub *const ());

// SAFETY: the address of code, which stays; only `transmute` makes something to be called of it.
unsafe impl Sync for Address {}

/// The functions of an operation.
pub struct Ways {
    /// What `shmem_X` means in the running process: a linked or preloaded tool's function where there is one.
    pub bound: Address,
    /// This library's `shmem_X`.
    pub entry: Address,
    /// The routine.
    pub imp: Address,
    /// Takes a call past tools and callbacks.
    pub intercepted: Address,
}

/// A tool's `shmem_X`. Each routine gives it its type back before it calls it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Tool(unsafe extern "C" fn());

/// What is known of a call on its way.
pub struct Call {
    /// The operation.
    pub op: u16,
    /// World PE, or -1.
    pub peer: i32,
    /// The symmetric address, as the profile shows it.
    pub addr: usize,
    /// Payload.
    pub bytes: usize,
    /// The argument `dest`, or what stands for it; 0 where there is none.
    pub dest: usize,
    /// The argument `source`; 0 where there is none.
    pub source: usize,
    /// Context handle; 0 where there is none.
    pub ctx: usize,
    /// Team handle; 0 where there is none.
    pub team: usize,
}

impl Call {
    /// A call of `op` with (peer, address, bytes) and (dest, source, context, team).
    #[inline]
    pub fn new(
        op: u16,
        (peer, addr, bytes): (i32, usize, usize),
        (dest, source, ctx, team): (usize, usize, usize, usize),
    ) -> Call {
        Call { op, peer, addr, bytes, dest, source, ctx, team }
    }
}

/// Where the calling thread is. A tool or callback that was left by an exception or `longjmp` is left.
pub fn place() -> Place {
    let thread = thread::get();
    if thread.place.get() != Place::Outside && !Mark::is_there(thread.mark.get()) {
        let place = thread.place.replace(Place::Outside);
        if place == Place::Callback {
            callbacks::abandoned(thread.registration.get() as usize);
        }
    }
    thread.place.get()
}

/// Runs `f` at a place; in a callback `registration` tells whose.
pub fn at<R>(place: Place, registration: usize, f: impl FnOnce() -> R) -> R {
    let thread = thread::get();
    let mark = Mark::new();
    mark.set();
    let mark = thread.mark.replace(&raw const mark);
    let registration = thread.registration.replace(registration as u32);
    let place = thread.place.replace(place);
    let result = f();
    thread.place.set(place);
    thread.registration.set(registration);
    thread.mark.set(mark);
    result
}

/// The first stacked tool's function, by operation.
static TOOLS: [AtomicPtr<()>; COUNT] = [const { AtomicPtr::new(std::ptr::null_mut()) }; COUNT];

/// Has calls of an operation go to a tool.
pub fn set_tool(op: u16, function: *const ()) {
    TOOLS[usize::from(op)].store(function.cast_mut(), Release);
    arm::set_interceptor(op, Interceptor::Tool, true);
}

fn tool(op: u16) -> Option<Tool> {
    let function = TOOLS[usize::from(op)].load(Acquire);
    // SAFETY: a pointer and an optional function pointer are alike; it is null or was given to `set_tool`, a function.
    unsafe { std::mem::transmute::<*mut (), Option<Tool>>(function) }
}

/// Added to the operation by `pshmem_X`.
pub const STRONG: u16 = 0x8000;

/// Where a call goes that came to the dispatcher from `site`, with the stack pointer as it will be there, and the frame pointer.
/// Keeps what [`pass`] has to know.
extern "C" fn choose(entry: u16, site: usize, stack: usize, frame: usize) -> *const () {
    let op = entry & !STRONG;
    let ways = &WAYS[usize::from(op)];
    if entry & STRONG == 0 {
        finale::check(op);
    }
    if place() == Place::Tool {
        return ways.imp.0;
    }
    let site = if entry & STRONG == 0 {
        site
    } else {
        match caller::site(ways.bound.0 as usize, site, caller::Registers { stack, frame }) {
            Some(site) => site,
            None => return ways.imp.0,
        }
    };
    if VARIADIC.contains(&op)
        && let Some(tool) = tool(op)
    {
        // Nobody could pass the arguments on: so the tool gets the call as it is, and no callback hears of it.
        if arm::level() > 0 {
            recorder::sampled(op, -1, 0, 0, || ());
        }
        return tool.0 as *const ();
    }
    thread::get().site.set(site);
    ways.intercepted.0
}

/// Takes a call past callbacks, profile and tools. `go` makes it, by the tool it is given or by the routine, and tells
/// whether its result is an error; it is called exactly once.
pub fn pass(call: &Call, go: &mut dyn FnMut(Option<Tool>) -> bool) {
    pass_to(call, tool(call.op), go);
}

/// As [`pass`], for a call with arguments that no tool's function takes. Its entry has left the site; it comes here in any case.
pub fn pass_by(call: &Call, go: &mut dyn FnMut() -> bool) {
    finale::check(call.op);
    if place() == Place::Tool {
        go();
    } else {
        pass_to(call, None, &mut |_| go());
    }
}

fn pass_to(call: &Call, tool: Option<Tool>, go: &mut dyn FnMut(Option<Tool>) -> bool) {
    let (site, place) = (thread::get().site.get(), place());
    check::call(call);
    // A callback that calls is not called back.
    let mut entered = Entered::nobody();
    if place != Place::Callback {
        callbacks::enter(call, site, &mut entered);
    }
    let mut body = || if tool.is_some() { at(Place::Tool, 0, || go(tool)) } else { go(None) };
    let Call { op, peer, addr, bytes, .. } = *call;
    let failed = if arm::level() <= 0 {
        body()
    } else {
        recorder::set_site(site as u64);
        let failed = match OPS[usize::from(op)].timing {
            Timing::Sampled => recorder::sampled(op, peer, addr, bytes, body),
            Timing::Sized => recorder::sized(op, peer, addr, bytes, body),
            Timing::Timed => recorder::timed(op, peer, addr, bytes, body),
        };
        if failed {
            recorder::error(op);
        }
        failed
    };
    callbacks::exit(call, site, &entered, failed);
}

/// Where armed entries jump. Asks [`choose`] and jumps on, with every argument as it came, in registers and on the stack.
///
/// # Safety
/// Not to be called: entries jump here.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn dispatcher() {
    core::arch::naked_asm!(
        "sub rsp, 0xb8",
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
        // Number of vector registers of a variable argument list.
        "mov [rsp + 0xb0], rax",
        "mov edi, r11d",
        "mov rsi, [rsp + 0xb8]",
        "lea rdx, [rsp + 0xc0]",
        "mov rcx, rbp",
        "call {choose}",
        "mov r11, rax",
        "movaps xmm0, [rsp]",
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
        "add rsp, 0xb8",
        "jmp r11",
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
        "stp x29, x30, [sp, #-224]!",
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
        "mov x1, x30",
        "add x2, sp, #224",
        "ldr x3, [sp]",
        "bl {choose}",
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
        choose = sym choose,
    )
}
