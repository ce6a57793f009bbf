//! `shmem_pcontrol` (10.1.1). Levels and their meaning are in `shmemx.h`.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_long};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use pellucid_core::base::Fault;
use pellucid_core::runtime;
use pellucid_profile::recorder::{self, Flush};
use pellucid_profile::text::visible;
use pellucid_profile::trace;

use crate::generated::constants::{
    SHMEMX_PCONTROL_DEFAULT as DEFAULT, SHMEMX_PCONTROL_FLUSH as FLUSH, SHMEMX_PCONTROL_LONG as LONG,
    SHMEMX_PCONTROL_MARKER as MARKER, SHMEMX_PCONTROL_OFF as OFF, SHMEMX_PCONTROL_REGION_BEGIN as REGION_BEGIN,
    SHMEMX_PCONTROL_REGION_END as REGION_END, SHMEMX_PCONTROL_SAMPLING as SAMPLING,
    SHMEMX_PCONTROL_TRACE_OFF as TRACE_OFF, SHMEMX_PCONTROL_TRACE_ON as TRACE_ON,
};
use crate::{metrics, profile_files};

/// Does what a level asks for. The C side has read the arguments that the level takes; the others are null and 0.
/// Levels that are not known do nothing, as the specification asks.
///
/// # Errors
/// None: a request that cannot be met gets one message a process, since the program must not fail for its profile.
pub fn pcontrol(level: c_int, name: *const c_char, value: f64, number: c_long) -> Result<(), Fault> {
    match level {
        ..=DEFAULT => crate::init::set_level(level.clamp(OFF, DEFAULT)),
        FLUSH => flush(),
        REGION_BEGIN | REGION_END if recorder::level() <= 0 && !recorder::is_attached() => {
            BEFORE.set(if level == REGION_BEGIN { BEFORE.get() + 1 } else { BEFORE.get().saturating_sub(1) });
        }
        // With the profile off, there is nothing to attach another name to. Regions are nested all the same.
        REGION_BEGIN => begin_region(text(name)),
        REGION_END => end_region(text(name)),
        _ if recorder::level() <= 0 => {}
        MARKER => match text(name) {
            // A trace keeps whole numbers.
            Some(name) if recorder::marker(&name, value) => trace::marker(&name, value.round() as i64),
            Some(name) => lost(format_args!(
                "marker {name:?} is not recorded: 64 names are kept, and none of a signal handler that interrupts \
                 another marker"
            )),
            None => warn(format_args!("a marker needs a name")),
        },
        TRACE_ON | TRACE_OFF => {
            trace::set(level == TRACE_ON);
        }
        SAMPLING => {
            let done = u64::try_from(number).is_ok_and(|every| recorder::set_sampling(Some(every), None));
            check(done, format_args!("sampling one in {number} calls is not possible"));
        }
        LONG => {
            let done = u64::try_from(number).is_ok_and(|ns| recorder::set_sampling(None, Some(ns)));
            check(done, format_args!("a threshold of {number} ns is not possible"));
        }
        _ => {}
    }
    Ok(())
}

thread_local! {
    /// Regions that the thread is in since before there was a profile, which does not have them. They end last.
    static BEFORE: Cell<u32> = const { Cell::new(0) };
}

fn begin_region(name: Option<Cow<'_, str>>) {
    match name {
        Some(name) if recorder::region_begin(&name) => trace::region_begin(&name),
        Some(name) => lost(format_args!("region {name:?} is not recorded: 63 names, 64 nested are kept")),
        None => warn(format_args!("a region needs a name")),
    }
}

fn end_region(name: Option<Cow<'_, str>>) {
    if BEFORE.get() > 0 && recorder::innermost_region().is_none() {
        BEFORE.set(BEFORE.get() - 1);
        return;
    }
    // Whatever it is called: a trace has names only.
    let name = name.or_else(|| trace::is_on().then(recorder::innermost_region).flatten().map(Cow::Owned));
    let ended = recorder::region_end(name.as_deref());
    let name = name.unwrap_or_default();
    if ended {
        trace::region_end(&name);
    } else {
        lost(format_args!("the end of region {name:?} is ignored: it is not the innermost open one"));
    }
}

fn flush() {
    match recorder::flush() {
        Flush::Written => {}
        Flush::NoAnswer => warn(format_args!("oshrun does not answer: no snapshot of the profile")),
        Flush::NotKept => {
            if let Err(problem) = profile_files::snapshot() {
                warn(format_args!("no snapshot of the profile: {problem}"));
            }
            metrics::snapshot();
        }
    }
}

/// A C string; `None` for a null pointer or an empty text.
fn text<'a>(name: *const c_char) -> Option<Cow<'a, str>> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the program passes a C string, as shmemx.h says, and it stays for the call.
    let name = unsafe { CStr::from_ptr(name) };
    Some(name.to_string_lossy()).filter(|name| !name.is_empty())
}

fn check(done: bool, otherwise: std::fmt::Arguments<'_>) {
    if !done {
        warn(otherwise);
    }
}

unsafe extern "C" {
    /// Where the calling thread's last `shmem_pcontrol` returns to.
    fn pellucid_pcontrol_from() -> usize;
}

/// As [`warn`], of a region or a marker that the profile does not have.
fn lost(what: std::fmt::Arguments<'_>) {
    // SAFETY: reads a number of the thread's own.
    recorder::failed_at(unsafe { pellucid_pcontrol_from() });
    warn(what);
}

/// Says once a process what could not be done, by whom and where; every case is counted in the profile.
fn warn(what: std::fmt::Arguments<'_>) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Relaxed) {
        let pe = runtime::my_pe().map(|pe| format!("PE {pe}: ")).unwrap_or_default();
        // SAFETY: reads a number of the thread's own.
        let place = recorder::in_file(unsafe { pellucid_pcontrol_from() } as u64);
        let place = place.map(|(file, address)| format!(" ({})", called_from(&file, address)));
        pellucid_core::say!("pellucid: {pe}shmem_pcontrol: {what}{}", place.unwrap_or_default());
    }
}

/// The source line of a call, where it is known in time, or by what it is found.
fn called_from(file: &str, address: u64) -> String {
    const PATIENCE: Duration = Duration::from_millis(500);
    let line = crate::line::of(file, address, PATIENCE);
    format!("called from {}", line.unwrap_or_else(|| visible(&format!("{file}+{address:#x}"))))
}
