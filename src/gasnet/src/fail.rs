//! What may be called where, and what happens otherwise: a message that names the rule, the handler and the caller, and
//! the end of the job.
#![allow(unsafe_code)]

use crate::thread;
use pellucid_core::base::{Cause, Fault};
use pellucid_core::runtime;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ends the job because a call breaks a rule.
#[cold]
pub fn refuse(routine: &str, why: impl Into<String>) -> ! {
    runtime::fail(routine, Fault::from(Cause::Message(why.into())))
}

/// The value, or the end of the job with what is wrong.
#[inline(always)]
pub fn need<T>(routine: &'static str, result: Result<T, Fault>) -> T {
    match result {
        Ok(value) => value,
        Err(fault) => runtime::fail(routine, fault),
    }
}

/// Refuses a call that may communicate, poll or test, where nothing of the kind is permitted.
#[inline(always)]
pub fn unrestricted(routine: &'static str) {
    let thread = thread::get();
    if thread.restricted != 0 {
        restricted(routine)
    }
    one_thread(routine)
}

/// Refuses a call of another thread where one alone may call.
#[inline(always)]
pub fn one_thread(routine: &'static str) {
    let only = ONLY.load(Ordering::Relaxed);
    if only != 0 && only != ptr::from_mut(thread::get()) as usize {
        another_thread(routine)
    }
}

/// Whether [`unrestricted`] has nothing against a call.
#[inline(always)]
pub fn is_unrestricted() -> bool {
    let thread = thread::get();
    let only = ONLY.load(Ordering::Relaxed);
    thread.restricted == 0 && (only == 0 || only == ptr::from_mut(thread) as usize)
}

/// The thread that may call, where one alone may: with `GASNET_SEQ`.
static ONLY: AtomicUsize = AtomicUsize::new(0);

/// The calling thread is the only one that may call.
pub fn only_this_thread() {
    ONLY.store(ptr::from_mut(thread::get()) as usize, Ordering::Relaxed);
}

#[cold]
fn another_thread(routine: &'static str) -> ! {
    refuse(
        routine,
        "called by another thread than gex_Client_Init: the program was compiled with GASNET_SEQ, where one thread \
         calls",
    )
}

#[cold]
fn restricted(routine: &'static str) -> ! {
    refuse(routine, format!("called {}: {RULE}", context()))
}

/// Code in which little may be called, beside handlers and between locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Section {
    /// None of these.
    None = 0,
    /// Between `gasnet_hold_interrupts` and `gasnet_resume_interrupts`.
    NoInterrupt = 1,
    /// In a client's function that a reduction calls.
    Reduction = 2,
}

impl Section {
    /// Runs code in this section.
    pub fn run<R>(self, f: impl FnOnce() -> R) -> R {
        let thread = thread::get();
        let before = std::mem::replace(&mut thread.section, self as u32);
        thread.restricted += 1;
        let result = f();
        let thread = thread::get();
        thread.restricted -= 1;
        thread.section = before;
        result
    }
}

const RULE: &str =
    "calls that communicate, poll, test or wait are prohibited there (GASNet-EX, calls from restricted context)";

/// Where this thread is, for a message.
pub fn context() -> String {
    let thread = thread::get();
    if thread.locks > 0 {
        let handler = handler().map(|text| format!(", {text}")).unwrap_or_default();
        return format!("while this thread holds {} handler-safe lock(s){handler}", thread.locks);
    }
    if !thread.prepared.is_null() {
        return "between gex_AM_Prepare and gex_AM_Commit".into();
    }
    match thread.section {
        section if section == Section::NoInterrupt as u32 => "in a No-Interrupt Section".into(),
        section if section == Section::Reduction as u32 => "in a function that a reduction calls".into(),
        _ => handler().unwrap_or_else(|| "outside of a handler".into()),
    }
}

/// The handler that this thread is in.
fn handler() -> Option<String> {
    // SAFETY: set while the handler runs, on this thread's stack.
    let token = unsafe { thread::get().token.as_ref()? };
    Some(token.describe())
}

/// Refuses a call before `gex_Client_Init`.
#[inline(always)]
pub fn initialized(routine: &'static str) {
    if !crate::start::is_initialized() {
        refuse(routine, "called before gex_Client_Init or gasnet_init")
    }
}
