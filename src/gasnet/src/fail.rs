//! What may be called where, and what happens otherwise: a message that names the rule, the handler and the caller, and
//! the end of the job.
#![allow(unsafe_code)]

use crate::thread;
use pellucid_core::base::{Cause, Fault};
use pellucid_core::runtime;

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
    if thread::get().restricted != 0 {
        restricted(routine)
    }
}

#[cold]
fn restricted(routine: &'static str) -> ! {
    refuse(routine, format!("called {}: {RULE}", context()))
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
    handler().unwrap_or_else(|| "outside of a handler".into())
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
