//! The longer way of a call: past stacked tools and callbacks.
//!
//! An entry whose flag says [`pellucid_profile::arm::DISPATCH`] jumps here with the operation in a scratch register and
//! the arguments in place. [`crate::frame`] keeps them and asks [`choose`] where to go on: mostly to the routine's
//! `intercepted`, which reads them there with their types and calls [`pass_frame`].
//!
//! The profile is taken here, outermost: a call of the application is counted once and with all that tools add to it.
//! What a tool does while it has such a call is no call of the application: it goes to the routines.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

use pellucid_profile::arm::{self, Interceptor};
use pellucid_profile::op::{ALLOCATES, COUNT, OPS, Timing, traits};
use pellucid_profile::recorder;

use crate::callbacks::{self, Entered};
use crate::caller;
use crate::check;
use crate::finale;
use crate::frame::{self, Frame};
use crate::generated::addresses::{BODIES_COUNT, BODY, BOUND, INTERCEPTED, INTERCEPTED_OF, VARIADIC};
use crate::stack;
use crate::thread::{self, CodeOwner, Mark};

/// Address of a function.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Address(pub *const ());

// SAFETY: the address of code, which stays; only `transmute` makes something to be called of it.
unsafe impl Sync for Address {}

/// How a body takes a call past tools and callbacks.
#[derive(Clone, Copy)]
pub enum Intercepted {
    /// It says what the call is, by its arguments, and has [`pass_frame`] make it.
    Frame(unsafe fn(&mut Frame, u16)),
    /// It is jumped to, with the arguments as they came.
    Jump(Address),
}

unsafe extern "C" {
    /// How far the routine of each body is from its word here (`generated/entries.s`).
    #[link_name = "pellucid_imps"]
    static IMPS: [i32; BODIES_COUNT];
}

/// The routine of a body.
pub fn imp(body: usize) -> *const () {
    // SAFETY: constant, and of this type.
    let word = unsafe { &IMPS[body] };
    ptr::from_ref(word).cast::<()>().wrapping_byte_offset(*word as isize)
}

/// The same, of an operation.
fn imp_of(op: u16) -> *const () {
    imp(usize::from(BODY[usize::from(op)]))
}

/// How an operation is taken past tools and callbacks.
fn intercepted(op: u16) -> Intercepted {
    INTERCEPTED[usize::from(INTERCEPTED_OF[usize::from(BODY[usize::from(op)])])]
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
pub fn code_owner() -> CodeOwner {
    let thread = thread::get();
    if thread.place.get() != CodeOwner::Outside && !Mark::is_there(thread.mark.get()) {
        let place = thread.place.replace(CodeOwner::Outside);
        if place == CodeOwner::Callback {
            callbacks::abandoned(thread.registration.get() as usize);
        }
        thread.depth.set(0);
        thread.unrecorded.set(0);
    }
    thread.place.get()
}

/// Runs `f` at a place; in a callback `registration` tells whose.
pub fn at<R>(place: CodeOwner, registration: usize, f: impl FnOnce() -> R) -> R {
    let thread = thread::get();
    let mark = Mark::new();
    mark.set();
    let mark = thread.mark.replace(&raw const mark);
    let registration = thread.registration.replace(registration as u32);
    let depth = thread.depth.get();
    thread.depth.set(depth + u32::from(place == CodeOwner::Tool));
    let place = thread.place.replace(place);
    let result = f();
    thread.place.set(place);
    thread.depth.set(depth);
    thread.registration.set(registration);
    thread.mark.set(mark);
    result
}

/// The first stacked tool's function, by operation.
static TOOLS: [AtomicPtr<()>; COUNT] = [const { AtomicPtr::new(ptr::null_mut()) }; COUNT];

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

/// Calls that tools have at a time in one thread, one made while a tool had the one before. More are taken for a tool's
/// own: of what it has loaded later, say, which this library does not know as a part of it.
const DEPTH: u32 = 8;

/// Whether a call that returns to this address is a tool's own: it has a call of the application, and did not merely
/// get interrupted by a signal handler of the program's, or get to the program's handler of an error.
fn is_tools(returns_to: usize) -> bool {
    code_owner() == CodeOwner::Tool
        && (thread::get().depth.get() >= DEPTH || frame::is_return(returns_to) || stack::has(returns_to))
}

/// The program's call that the calling thread is in and that is not recorded, if tools or callbacks see it.
pub fn unrecorded() -> Option<u16> {
    let thread = thread::get();
    code_owner();
    u16::try_from(thread.unrecorded.get()).ok()?.checked_sub(1).filter(|_| thread.place.get() == CodeOwner::Tool)
}

/// Added to the operation by `pshmem_X`.
pub const STRONG: u16 = 0x8000;

/// Where a call goes that came to the dispatcher with these arguments and the frame pointer; null: it was made, past
/// tools and callbacks, and its answer is in the frame.
pub extern "C" fn choose(entry: u16, frame: &mut Frame, frame_pointer: usize) -> *const () {
    let op = entry & !STRONG;
    if entry & STRONG == 0 {
        finale::check(op);
    }
    let site = if entry & STRONG == 0 {
        if is_tools(frame.returns_to) {
            return imp_of(op);
        }
        frame.returns_to
    } else {
        if code_owner() == CodeOwner::Tool {
            return imp_of(op);
        }
        let stack = (&raw const frame.returns_to).addr() + size_of::<usize>();
        let registers = caller::Registers { stack, frame: frame_pointer };
        match caller::site(BOUND[usize::from(op)].0 as usize, frame.returns_to, registers) {
            Some(site) => site,
            None => {
                if arm::level() > 0 && caller::is_from_executable(frame.returns_to) {
                    recorder::left_out();
                }
                return imp_of(op);
            }
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
    match intercepted(op) {
        Intercepted::Jump(address) => address.0,
        Intercepted::Frame(intercepted) => {
            // SAFETY: the frame of a call of a routine that has this body.
            unsafe { intercepted(frame, op) };
            ptr::null()
        }
    }
}

/// As [`pass`], for the call that a frame has the arguments of; `failed` tells whether the answer in it is an error.
pub fn pass_frame(call: &Call, frame: &mut Frame, failed: &dyn Fn(&Frame) -> bool) {
    check::call(call, Some(frame));
    pass_to(call, tool(call.op), &mut |tool| {
        let target = tool.map_or(imp_of(call.op), |tool| tool.0 as *const ());
        // SAFETY: the routine, or a tool's function of its name; behind the arguments is the number of the routine, in
        // a register that the former needs and the latter does not look at. It is called once.
        unsafe { frame.call(target) };
        failed(frame)
    });
}

/// Takes a call past callbacks, profile and tools. `go` makes it, by the tool it is given or by the routine, and tells
/// whether its result is an error; it is called exactly once.
pub fn pass(call: &Call, go: &mut dyn FnMut(Option<Tool>) -> bool) {
    check::call(call, None);
    pass_to(call, tool(call.op), go);
}

/// As [`pass`], for a call with arguments that no tool's function takes. Its entry has left the site; it comes here
/// in any case.
pub fn pass_by(call: &Call, go: &mut dyn FnMut() -> bool) {
    finale::check(call.op);
    if is_tools(thread::get().site.get()) {
        go();
    } else {
        check::call(call, None);
        pass_to(call, None, &mut |_| go());
    }
}

/// Runs `f`, a tool's, which may load something.
fn in_tool<R>(f: impl FnOnce() -> R) -> R {
    let result = at(CodeOwner::Tool, 0, f);
    stack::plugins::settle();
    result
}

fn pass_to(call: &Call, tool: Option<Tool>, go: &mut dyn FnMut(Option<Tool>) -> bool) {
    let (site, place) = (thread::get().site.get(), code_owner());
    // A callback that calls is not called back.
    let mut entered = Entered::nobody();
    if place != CodeOwner::Callback {
        callbacks::enter(call, site, &mut entered);
    }
    let mut body = || if tool.is_some() { in_tool(|| go(tool)) } else { go(None) };
    let Call { op, peer, addr, bytes, .. } = *call;
    recorder::set_site(site as u64);
    let failed = if arm::level() <= 0 {
        // It may be what initializes the library: that is recorded then.
        let thread = thread::get();
        let before = thread.unrecorded.replace(u32::from(op) + 1);
        let failed = body();
        thread.unrecorded.set(before);
        failed
    } else {
        let failed = match OPS[usize::from(op)].timing {
            Timing::Sampled => recorder::sampled(op, peer, addr, bytes, body),
            Timing::Sized => recorder::sized(op, peer, addr, bytes, body),
            Timing::Timed => recorder::timed(op, peer, addr, bytes, body),
        };
        if failed {
            recorder::error(op);
        } else if traits(op) & ALLOCATES != 0 {
            recorder::given(op, bytes);
        }
        failed
    };
    callbacks::exit(call, site, &entered, failed);
}
