//! Events: what a program waits for by a handle of one word.
//!
//! A handle is the address of a slot of a pool, with the slot's generation in the bits above and a mark for leaves
//! below. What is complete when its call returns has no slot: its handle is `GEX_EVENT_INVALID`.
#![allow(unsafe_code)]

use crate::fail::{refuse, unrestricted};
use crate::record::Whom;
use crate::types::{EVENT_INVALID, EventHandle, Flags, code};
use crate::{coll, op, progress, record};
use pellucid_core::runtime;
use pellucid_core::transport::{Event, EventSlot};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

/// An event that messages can name by its number.
#[derive(Debug)]
pub struct Counted {
    event: Event,
    number: u32,
}

/// All of them, by number.
static COUNTED: Mutex<Vec<&'static Counted>> = Mutex::new(Vec::new());

impl Counted {
    /// One more, for the life of the process.
    pub fn make() -> &'static Self {
        let mut all = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
        let made: &'static Self = Box::leak(Box::new(Self { event: Event::new(), number: all.len() as u32 }));
        all.push(made);
        made
    }

    /// That of a number.
    pub fn find(number: u32) -> Option<&'static Self> {
        COUNTED.lock().unwrap_or_else(PoisonError::into_inner).get(number as usize).copied()
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// For operations of a transport, and for those that count themselves.
    pub fn slot(&'static self) -> EventSlot {
        self.event.slot()
    }

    /// Whether all of its operations are complete.
    pub fn is_complete(&self) -> bool {
        self.event.is_complete()
    }
}

/// A slot of the pool.
#[derive(Debug)]
#[repr(align(64))]
pub struct Slot {
    /// What is counted.
    pub counted: &'static Counted,
    generation: AtomicU16,
}

static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

const LEAF: usize = 4;
const GENERATION: u32 = 48;

/// A slot without operations.
pub fn take() -> &'static Slot {
    let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    free.unwrap_or_else(|| Box::leak(Box::new(Slot { counted: Counted::make(), generation: AtomicU16::new(0) })))
}

impl Slot {
    /// The handle of the whole operation.
    pub fn root(&'static self) -> EventHandle {
        std::ptr::from_ref(self) as usize | usize::from(self.generation.load(Ordering::Relaxed)) << GENERATION
    }

    /// The handle of its local completion.
    pub fn leaf(&'static self) -> EventHandle {
        self.root() | LEAF
    }

    /// Gives the slot back: its handles are void from then on.
    pub fn release(&'static self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

    /// Waits until the operations, which move data to or from memory of a PE (PE, address), are complete, then gives
    /// the slot back.
    pub fn finish(&'static self, routine: &'static str, peer: (i32, usize)) {
        progress::until_of(routine, &mut (), |()| self.counted.is_complete(), |()| Some(peer));
        self.release();
    }
}

/// What a handle names: a slot, whether as a leaf; `None` for a leaf whose root was synchronized.
fn find(routine: &'static str, handle: EventHandle) -> Option<(&'static Slot, bool)> {
    if handle < 4096 {
        refuse(routine, "GEX_EVENT_NO_OP is no event to test or wait for")
    }
    let (address, is_leaf) = (handle & ((1 << GENERATION) - 1) & !LEAF, handle & LEAF != 0);
    // SAFETY: slots are never given back to the system; the caller vouches that this is a handle that the library made.
    let slot = unsafe { &*(address as *const Slot) };
    let is_current = slot.generation.load(Ordering::Relaxed) == (handle >> GENERATION) as u16;
    match (is_current, is_leaf) {
        (true, _) => Some((slot, is_leaf)),
        (false, true) => None,
        (false, false) => refuse(routine, format!("event {handle:#x} was synchronized already")),
    }
}

/// Whether what a handle names is complete.
fn is_complete(routine: &'static str, handle: EventHandle) -> bool {
    handle == EVENT_INVALID || find(routine, handle).is_none_or(|(slot, _)| slot.counted.is_complete())
}

/// Refuses a leaf whose root was synchronized; only lists may have one, behind its root.
fn check_leaf(routine: &'static str, event: EventHandle) {
    if event != EVENT_INVALID && event & LEAF != 0 && find(routine, event).is_none() {
        refuse(routine, format!("event {event:#x} is a leaf of an event that was synchronized already"))
    }
}

/// Voids the handle of what is complete.
fn consume(routine: &'static str, handle: EventHandle) {
    if handle != EVENT_INVALID
        && let Some((slot, false)) = find(routine, handle)
    {
        slot.release();
    }
}

/// Moves the network on, which runs no handlers.
fn look() {
    if let Some(transport) = runtime::map().transport {
        transport.progress();
    }
}

/// Replaces the complete events of a list; gives how many were, and how many are not.
fn sweep(routine: &'static str, events: &mut [EventHandle]) -> (usize, usize) {
    let (mut done, mut open) = (0, 0);
    // Leaves may stand behind their roots, so these are given back last.
    for is_leaf in [true, false] {
        for event in events.iter_mut().filter(|event| **event != EVENT_INVALID && (**event & LEAF != 0) == is_leaf) {
            if is_complete(routine, *event) {
                consume(routine, *event);
                *event = EVENT_INVALID;
                done += 1;
            } else {
                open += 1;
            }
        }
    }
    (done, open)
}

fn result(is_success: bool) -> c_int {
    if is_success { code::OK } else { code::NOT_READY }
}

/// The list of a call.
///
/// # Safety
/// As many handles as it says.
unsafe fn list<'a>(routine: &'static str, events: *mut EventHandle, count: usize) -> &'a mut [EventHandle] {
    if count > isize::MAX as usize / size_of::<EventHandle>() {
        refuse(routine, format!("numevents = {count}: no array has so many"))
    }
    // SAFETY: the caller's.
    if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(events, count) } }
}

/// `gex_Event_Test`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Event_Test(event: EventHandle) -> c_int {
    const R: &str = "gex_Event_Test";
    unrestricted(R);
    if event == EVENT_INVALID {
        return code::OK;
    }
    check_leaf(R, event);
    let complete = record::polled(op!(EVENT_TEST), || {
        look();
        let complete = is_complete(R, event);
        if complete {
            consume(R, event);
        }
        complete
    });
    if complete {
        progress::found();
    }
    result(complete)
}

/// `gex_Event_Wait`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Event_Wait(event: EventHandle) {
    const R: &str = "gex_Event_Wait";
    unrestricted(R);
    if event != EVENT_INVALID {
        wait_checked(R, event);
    }
}

/// Not in its caller, which then need not save registers where the event is none.
#[inline(never)]
fn wait_checked(routine: &'static str, event: EventHandle) {
    check_leaf(routine, event);
    wait(routine, event);
}

/// For whom a wait for events is, as far as they are those of collectives.
fn lacking(routine: &'static str, events: &[EventHandle]) -> Whom {
    let slots = events.iter().filter(|event| **event != EVENT_INVALID).filter_map(|event| find(routine, *event));
    slots.filter(|(slot, _)| !slot.counted.is_complete()).find_map(|(slot, _)| coll::lacking_of(slot))
}

/// Waits until events are as `ready` says.
fn until(routine: &'static str, events: &mut [EventHandle], ready: impl FnMut(&mut [EventHandle]) -> bool) {
    progress::until_of(routine, events, ready, |events| lacking(routine, events));
}

/// Waits for an event within a call that is recorded itself.
pub fn finish(routine: &'static str, event: EventHandle) {
    until(routine, &mut [event], |_| is_complete(routine, event));
    consume(routine, event);
}

/// Waits for an event; what is complete already takes no time, and is not recorded.
pub fn wait(routine: &'static str, event: EventHandle) {
    if !is_complete(routine, event) {
        let ready = |_: &mut [EventHandle]| is_complete(routine, event);
        record::timed(op!(EVENT_WAIT), -1, 0, 0, || until(routine, &mut [event], ready));
    }
    consume(routine, event);
}

/// `gex_Event_TestSome`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Event_TestSome(events: *mut EventHandle, count: usize, _: Flags) -> c_int {
    const R: &str = "gex_Event_TestSome";
    unrestricted(R);
    look();
    // SAFETY: the caller's list.
    let (done, open) = sweep(R, unsafe { list(R, events, count) });
    result(done > 0 || open == 0)
}

/// `gex_Event_WaitSome`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Event_WaitSome(events: *mut EventHandle, count: usize, _: Flags) {
    const R: &str = "gex_Event_WaitSome";
    unrestricted(R);
    // SAFETY: the caller's list.
    let events = unsafe { list(R, events, count) };
    let some = |events: &mut [EventHandle]| {
        let (done, open) = sweep(R, events);
        done > 0 || open == 0
    };
    if !some(events) {
        record::timed(op!(EVENT_WAIT), -1, 0, 0, || until(R, events, some));
    }
}

/// `gex_Event_TestAll`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Event_TestAll(events: *mut EventHandle, count: usize, _: Flags) -> c_int {
    const R: &str = "gex_Event_TestAll";
    unrestricted(R);
    look();
    // SAFETY: the caller's list.
    let (_, open) = sweep(R, unsafe { list(R, events, count) });
    result(open == 0)
}

/// `gex_Event_WaitAll`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Event_WaitAll(events: *mut EventHandle, count: usize, _: Flags) {
    const R: &str = "gex_Event_WaitAll";
    unrestricted(R);
    // SAFETY: the caller's list.
    let events = unsafe { list(R, events, count) };
    let all = |events: &mut [EventHandle]| sweep(R, events).1 == 0;
    if !all(events) {
        record::timed(op!(EVENT_WAIT), -1, 0, 0, || until(R, events, all));
    }
}

/// `gex_Event_QueryLeaf`. All leaves of an operation complete together.
#[unsafe(no_mangle)]
pub extern "C" fn gex_Event_QueryLeaf(root: EventHandle, category: u32) -> EventHandle {
    const R: &str = "gex_Event_QueryLeaf";
    unrestricted(R);
    if root == 1 || root & LEAF != 0 {
        refuse(R, format!("event {root:#x} is no root"))
    }
    if !category.is_power_of_two() {
        refuse(R, format!("event_category = {category:#x}: expected one category"))
    }
    if root == EVENT_INVALID { EVENT_INVALID } else { root | LEAF }
}
