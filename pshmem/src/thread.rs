//! What the entry layer keeps for each thread.
//!
//! Calls nest: a tool or a callback is called from inside of a call, and a signal handler may call while its thread is
//! in one. Each leaves a mark on the stack. An exception or `longjmp` may leave it without a word; the next call of the
//! thread sees by the mark that it did.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_void;

use pellucid_core::base::observer::RoutineNames;
use pellucid_core::base::{Cause, Fault};
use pellucid_core::os::{readable, signal_stack, stack};
use pellucid_profile::op::OPS;
use pellucid_profile::recorder;

/// Whose code a thread is in.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum CodeOwner {
    /// The application's, or a tool's that nobody called from here.
    Outside = 0,
    /// That of a stacked tool, which has a call of the application.
    Tool = 1,
    /// A callback's.
    Callback = 2,
}

/// What a thread has to do with the last finalize.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum FinalizeState {
    /// Nothing.
    Not = 0,
    /// It has called it.
    Finalized = 1,
    /// It has called it, and ends now: its destructors may run, and where it ends the process all exit handlers.
    Leaving = 2,
}

/// `struct pellucid_entry_thread` of `shim/thread.c`.
#[repr(C)]
pub struct Thread {
    /// Where the call came from that is on its way through the dispatcher.
    pub site: Cell<usize>,
    /// Whose code the thread is in.
    pub place: Cell<CodeOwner>,
    /// In a callback: whose it is.
    pub registration: Cell<u32>,
    /// Of [`Self::place`], where that is not outside.
    pub mark: Cell<*const Mark>,
    /// The routine that may wait which the thread is in: its operation plus 1, or 0.
    routine: Cell<u32>,
    /// What it has to do with the last finalize.
    pub ended: Cell<FinalizeState>,
    /// Its mark, with which a [`Within`] begins.
    within: Cell<*const Mark>,
    /// Its last error ([`crate::errors`]), or null.
    pub last_error: Cell<*mut c_void>,
    /// Of the program's handler of an error, while it is in that; or null.
    pub handler: Cell<*const Mark>,
    /// Calls that tools have, each made while a tool had the one before.
    pub depth: Cell<u32>,
    /// The program's call that is on its way through the dispatcher and is not recorded: its operation plus 1, or 0.
    pub unrecorded: Cell<u32>,
}

unsafe extern "C" {
    #[cfg(not(target_arch = "x86_64"))]
    fn pellucid_entry_thread_get() -> *const Thread;
}

/// The calling thread's.
#[inline(always)]
pub fn get() -> &'static Thread {
    let thread: *const Thread;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the address of the initial-exec thread-local variable of shim/thread.c: the same throughout a call, so
    // that it may be kept in a register. No call, which would cost a routine that may wait a nanosecond.
    unsafe {
        core::arch::asm!(
            "mov {thread}, qword ptr [rip + pellucid_entry_thread@GOTTPOFF]",
            "add {thread}, qword ptr fs:[0]",
            thread = out(reg) thread,
            options(pure, nomem, nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: no precondition.
    unsafe {
        thread = pellucid_entry_thread_get();
    }
    // SAFETY: the calling thread's own variable, which begins as zero: outside, in no routine. The reference is not
    // given to other threads, since `Thread` is not `Sync`.
    unsafe { &*thread }
}

/// A word on the stack that holds a number made from its own address.
#[repr(transparent)]
pub struct Mark(Cell<usize>);

impl Mark {
    /// Not set yet: that is done once it is where it stays.
    #[allow(clippy::new_without_default)] // worth nothing until it is set
    #[inline(always)]
    pub fn new() -> Mark {
        Mark(Cell::new(0))
    }

    /// Sets it, at the place where it is now.
    #[inline(always)]
    pub fn set(&self) {
        // Volatile: nothing in this function reads it.
        // SAFETY: a valid place.
        unsafe { self.0.as_ptr().write_volatile(!(&raw const *self).addr()) };
    }

    /// Whether the frame with this mark is still on the stack, as far as can be seen: it is further out than the
    /// caller's, and nobody has written there. The stack may be gone, that of a task which the program has ended.
    pub fn is_there(mark: *const Mark) -> bool {
        let here = 0_u8;
        if (&raw const here).addr() > mark.addr() && signal_stack::current().is_none() {
            return false;
        }
        readable::word_of_stack(mark.addr()) == Some(!mark.addr())
    }
}

/// A call of a routine that may wait, on the stack: its operands are worked out only where somebody wants to know.
#[repr(C)]
struct Within {
    mark: Mark,
    /// Works them out, from what is behind this.
    operands: unsafe fn(*const Within) -> Operands,
}

/// [`Within`], and the arguments of the call as they are kept for its operands.
#[repr(C)]
struct WithinOf<F> {
    within: Within,
    operands: F,
}

/// Peer, address and bytes of a call, as the profile records them.
pub type Operands = (i32, usize, usize);

/// Runs a routine that may wait. A signal handler that calls another one meanwhile is told so: it might wait for what
/// its own thread has begun. Where it waits long, its operands are shown to whoever looks at a job that hangs.
#[inline(always)]
pub fn within<R, F: Fn() -> Operands>(op: u16, operands: F, f: impl FnOnce() -> Result<R, Fault>) -> Result<R, Fault> {
    /// # Safety
    /// `within` is the first field of a [`WithinOf`] of this type.
    unsafe fn work_out<F: Fn() -> Operands>(within: *const Within) -> Operands {
        // SAFETY: so says the caller.
        unsafe { ((*within.cast::<WithinOf<F>>()).operands)() }
    }
    let thread = get();
    if thread.routine.get() != 0 {
        within_another(thread, op)?;
    }
    let call = WithinOf { within: Within { mark: Mark::new(), operands: work_out::<F> }, operands };
    call.within.mark.set();
    thread.within.set((&raw const call).cast());
    thread.routine.set(u32::from(op) + 1);
    let result = f();
    thread.routine.set(0);
    result
}

#[cold]
#[inline(never)]
fn within_another(thread: &Thread, op: u16) -> Result<(), Fault> {
    // Where there is no handler, that routine was left by longjmp or an exception.
    // What ends the job waits for nothing.
    let ends = OPS[usize::from(op)].name().starts_with("shmemx_abort");
    if ends || !Mark::is_there(thread.within.get()) || !stack::is_in_handler() {
        return Ok(());
    }
    let routine = Some(name(thread.routine.get()));
    Err(Fault::from(Cause::Interrupted { routine, network: false }))
}

/// The routine that may wait which the calling thread is in, and its operands.
pub fn waiting() -> Option<(u16, Operands)> {
    let thread = get();
    let op = u16::try_from(thread.routine.get().checked_sub(1)?).ok()?;
    let within: *const Within = thread.within.get().cast();
    // SAFETY: the mark, which was read where it can be, shows that the frame is there, and so the call that set both.
    Mark::is_there(within.cast()).then(|| (op, unsafe { ((*within).operands)(within) }))
}

fn name(routine: u32) -> &'static str {
    OPS.get(routine.wrapping_sub(1) as usize).map_or("another call", |op| op.name())
}

fn current() -> u32 {
    match get().routine.get() {
        0 => recorder::current_op().map_or(0, |op| u32::from(op) + 1),
        routine => routine,
    }
}

/// Has messages of the runtime name the routine that a signal handler has interrupted.
pub const ROUTINES: RoutineNames = RoutineNames { current, name };
