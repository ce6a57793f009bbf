//! What tools load themselves once they run: what that calls is the tool's, too, and goes to the routines.
//!
//! `dlopen` searches as the object that calls it says, so tools keep calling that of the C library. What stands in for
//! it only notes what was there before; what has come is looked for once the tool has done with the program's call.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

use libc::dl_phdr_info;

use super::objects::{self, Object};
use super::{load, lookup, relocate};
use crate::dispatcher;
use crate::entry;
use crate::thread::CodeOwner;

/// Where objects are. They may go, and these stay.
type Ranges = Vec<Range<usize>>;

/// What tools have loaded at a time. It is never freed.
struct Loaded {
    ranges: Ranges,
    before: *const Loaded,
}

static LOADED: AtomicPtr<Loaded> = AtomicPtr::new(null_mut());

thread_local! {
    /// What was there before the tool that the thread is in loaded something; null: it has not.
    static BEFORE: Cell<*mut Ranges> = const { Cell::new(null_mut()) };
}

/// A tool is about to load something. What it loads while it has no call of the program is taken for the program's.
extern "C" fn note() {
    if BEFORE.get().is_null() && dispatcher::code_owner() == CodeOwner::Tool {
        let ranges: Ranges = objects::all().iter().flat_map(Object::ranges).collect();
        BEFORE.set(Box::into_raw(Box::new(ranges)));
    }
}

/// A tool has done with a call of the program: what it has loaded meanwhile calls the routines from now on.
pub fn settle() {
    // A handler of the program's may have interrupted a tool.
    if !BEFORE.get().is_null() && dispatcher::code_owner() == CodeOwner::Outside {
        bind();
    }
}

#[cold]
#[inline(never)]
fn bind() {
    // SAFETY: made by `note`, in this thread, and taken once.
    let before = unsafe { Box::from_raw(BEFORE.replace(null_mut())) };
    let is_new = |object: &Object| !object.ranges().any(|range| before.contains(&range));
    let new: Vec<Object> = objects::all().into_iter().filter(is_new).collect();
    let routine = |name: &str| lookup::find(name).or_else(|| name.strip_prefix('p').and_then(lookup::find));
    new.iter().for_each(|object| relocate::rewrite(object, |name| routine(name).map(entry::strong)));
    let loaded = Loaded { ranges: new.iter().flat_map(Object::ranges).collect(), before: null_mut() };
    let loaded = Box::leak(Box::new(loaded));
    // Others may do the same: each has what was there before it.
    _ = LOADED.fetch_update(AcqRel, Relaxed, |before| {
        loaded.before = before;
        Some(&raw mut *loaded)
    });
}

/// Whether an address lies in what a tool has loaded. In a signal handler, too.
pub fn has(address: usize) -> bool {
    // SAFETY: null, or what `bind` has left there for good.
    let loaded = |at: *const Loaded| unsafe { at.as_ref() };
    let mut all = std::iter::successors(loaded(LOADED.load(Acquire)), |one| loaded(one.before));
    if all.any(|one| one.ranges.iter().any(|range| range.contains(&address))) {
        return true;
    }
    // SAFETY: null, or of this thread, which takes it away before it goes.
    let Some(before) = (unsafe { BEFORE.get().as_ref() }) else { return false };
    if before.iter().any(|range| range.contains(&address)) {
        return false;
    }
    let mut look = Look { address, found: false };
    // SAFETY: the callback only touches `look`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(holds), (&raw mut look).cast()) };
    look.found
}

struct Look {
    address: usize,
    found: bool,
}

unsafe extern "C" fn holds(info: *mut dl_phdr_info, _size: usize, look: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid record, and `look` is the pointer given to dl_iterate_phdr.
    let (info, look) = unsafe { (&*info, &mut *look.cast::<Look>()) };
    look.found = Object::of_loader(info).is_some_and(|object| object.contains(look.address));
    look.found.into()
}

/// Stands in for `dlopen` in tools. It jumps to the C library's, which looks at where the call came from.
///
/// # Safety
/// As `dlopen`.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn tool_dlopen() {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {note}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp [rip + {dlopen}]",
        note = sym note,
        dlopen = sym load::DLOPEN,
    )
}

/// As above.
///
/// # Safety
/// As `dlopen`.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub unsafe extern "C" fn tool_dlopen() {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "bl {note}",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "adrp x16, {dlopen}",
        "ldr x16, [x16, :lo12:{dlopen}]",
        "br x16",
        note = sym note,
        dlopen = sym load::DLOPEN,
    )
}
