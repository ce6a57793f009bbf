//! Operations without an event of their own: each thread counts its own by category, or in its access region.
#![allow(unsafe_code)]

use crate::event::{self, Counted, Slot};
use crate::fail::{refuse, unrestricted};
use crate::types::{EVENT_INVALID, EventHandle, Flags, category, code};
use crate::{op, progress, record, thread};
use pellucid_core::runtime;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a thread has under way. Made at its first use; once the thread has ended, another one has it.
#[derive(Debug)]
pub struct Operations {
    gets: &'static Counted,
    puts: &'static Counted,
    updates: &'static Counted,
    region: Option<&'static Slot>,
}

/// Those of threads that have ended. What such a thread did not wait for, the next one waits for, too.
static FREE: Mutex<Vec<Operations>> = Mutex::new(Vec::new());

fn free() -> MutexGuard<'static, Vec<Operations>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn mine() -> &'static mut Operations {
    let thread = thread::get();
    if thread.operations.is_null() {
        let make =
            || Operations { gets: Counted::make(), puts: Counted::make(), updates: Counted::make(), region: None };
        let kept = free().pop();
        thread.operations = Box::into_raw(Box::new(kept.unwrap_or_else(make)));
        thread::release_at_exit();
    }
    // SAFETY: the thread's own, made above or before, and given back when it ends.
    unsafe { &mut *thread.operations }
}

/// The thread ends whose operations these are.
pub fn give_back(mut operations: Operations) {
    operations.region = None;
    free().push(operations);
}

/// Whether the thread has ever had operations, for those that complete at once.
fn has_any() -> bool {
    !thread::get().operations.is_null()
}

/// What counts an operation of a category.
pub fn counted(category: u32) -> &'static Counted {
    let mine = mine();
    match (mine.region, category) {
        (Some(region), _) => region.counted,
        (None, category::GET) => mine.gets,
        (None, category::PUT) => mine.puts,
        (None, _) => mine.updates,
    }
}

/// Whether the operations of some categories are complete. Local completion of puts comes with their completion.
fn is_complete(mask: u32) -> bool {
    let mine = mine();
    (mask & category::GET == 0 || mine.gets.is_complete())
        && (mask & (category::PUT | category::LC) == 0 || mine.puts.is_complete())
        && (mask & category::RMW == 0 || mine.updates.is_complete())
}

fn check(routine: &'static str) {
    unrestricted(routine);
    if has_any() && mine().region.is_some() {
        refuse(
            routine,
            "called in an access region: it ends with gex_NBI_EndAccessRegion, whose event is what is waited for",
        )
    }
}

/// `gex_NBI_Test`
#[unsafe(no_mangle)]
pub extern "C" fn gex_NBI_Test(mask: u32, _: Flags) -> c_int {
    check("gex_NBI_Test");
    if !has_any() {
        return code::OK;
    }
    let complete = record::polled(op!(NBI_TEST), || {
        if let Some(transport) = runtime::map().transport {
            transport.progress();
        }
        is_complete(mask)
    });
    if !complete {
        return code::NOT_READY;
    }
    progress::found();
    code::OK
}

/// `gex_NBI_Wait`
#[unsafe(no_mangle)]
pub extern "C" fn gex_NBI_Wait(mask: u32, _: Flags) {
    const R: &str = "gex_NBI_Wait";
    check(R);
    if has_any() && !is_complete(mask) {
        record::timed(op!(NBI_WAIT), -1, 0, 0, || progress::until(R, || is_complete(mask)));
    }
}

/// `gex_NBI_BeginAccessRegion`
#[unsafe(no_mangle)]
pub extern "C" fn gex_NBI_BeginAccessRegion(_: Flags) {
    const R: &str = "gex_NBI_BeginAccessRegion";
    unrestricted(R);
    let mine = mine();
    if mine.region.is_some() {
        refuse(R, "called in an access region: they do not nest")
    }
    mine.region = Some(event::take());
}

/// `gex_NBI_EndAccessRegion`
#[unsafe(no_mangle)]
pub extern "C" fn gex_NBI_EndAccessRegion(_: Flags) -> EventHandle {
    const R: &str = "gex_NBI_EndAccessRegion";
    unrestricted(R);
    let Some(region) = mine().region.take() else { refuse(R, "there is no access region to end") };
    if region.counted.is_complete() {
        region.release();
        return EVENT_INVALID;
    }
    region.root()
}
