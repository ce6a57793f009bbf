//! Events for tools: the callbacks of `shmemx.h`.
//!
//! A fixed table of registrations, read without a lock. A registration that ends is first taken out of sight, then
//! waited for: when [`shmemx_callback_unregister`] returns outside a callback, no thread is in the callback any more
//! and its data may go. From inside a callback nothing is waited for, since two callbacks that end each other would
//! wait for ever.
//!
//! A registration gets the end of a call only where it got the beginning.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::time::{Duration, Instant};

use pellucid_profile::arm::{self, Interceptor};
use pellucid_profile::op::{self, COUNT, Class, OPS};

use crate::dispatcher::{self, Call};
use crate::stack;
use crate::thread::CodeOwner;
use crate::tool;

/// `SHMEMX_` results.
pub mod result {
    #![allow(missing_docs)]
    use std::ffi::c_int;
    pub const SUCCESS: c_int = 0;
    pub const BAD_ARGUMENT: c_int = -1;
    pub const EXISTS: c_int = -2;
    pub const FULL: c_int = -3;
    pub const NO_SUCH: c_int = -4;
    pub const READ_ONLY: c_int = -5;
    pub const BUSY: c_int = -6;
}

/// How long [`shmemx_callback_unregister`] waits for other threads.
const PATIENCE: Duration = Duration::from_secs(5);
/// Registrations at a time.
pub const MOST: usize = 32;
/// `SHMEMX_CLASS_ALL`.
const ALL: u32 = (1 << Class::ALL.len()) - 1;
const ENTER: c_int = 0;
const EXIT: c_int = 1;

/// `shmemx_event_t`.
#[repr(C)]
pub struct Event {
    size: usize,
    op: c_int,
    op_class: c_uint,
    phase: c_int,
    peer: c_int,
    dest: usize,
    source: usize,
    bytes: usize,
    ctx: usize,
    team: usize,
    site: usize,
    failed: c_int,
    state: *mut *mut c_void,
}

/// `shmemx_callback_t`.
pub type Callback = unsafe extern "C" fn(*const Event, *mut c_void);

const FREE: u32 = 0;
const LIVE: u32 = 1;
const LEAVING: u32 = 2;

struct Slot {
    state: AtomicU32,
    /// Threads that look at the slot or are in its callback.
    busy: AtomicU32,
    classes: AtomicU32,
    callback: AtomicUsize,
    data: AtomicUsize,
    /// [`BIRTHS`] when it was registered.
    born: AtomicU64,
    handle: AtomicI32,
}

static SLOTS: [Slot; MOST] = [const {
    Slot {
        state: AtomicU32::new(FREE),
        busy: AtomicU32::new(0),
        classes: AtomicU32::new(0),
        callback: AtomicUsize::new(0),
        data: AtomicUsize::new(0),
        born: AtomicU64::new(0),
        handle: AtomicI32::new(0),
    }
}; MOST];

/// Registrations so far.
static BIRTHS: AtomicU64 = AtomicU64::new(0);
/// Whether events are delivered: the control variable `callbacks.enabled`.
pub static ENABLED: AtomicBool = AtomicBool::new(true);
/// Held while registrations change.
static CHANGE: Mutex<()> = Mutex::new(());

/// The slots that are live, a bit each: what a call looks at first.
static LIVE_SLOTS: AtomicU32 = AtomicU32::new(0);

/// Whether there was a registration.
pub fn are_registered() -> bool {
    BIRTHS.load(SeqCst) > 0
}

/// Who was told of the beginning of a call.
pub struct Entered {
    told: u32,
    births: u64,
    /// A word a registration for its own use from beginning to end, set for those that were told.
    states: [MaybeUninit<*mut c_void>; MOST],
}

impl Entered {
    /// Not yet anyone.
    #[inline]
    pub fn nobody() -> Entered {
        Entered { told: 0, births: 0, states: [const { MaybeUninit::uninit() }; MOST] }
    }
}

/// The numbers of the bits that are set.
fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (bit < u32::BITS).then_some(bit as usize)
    })
}

/// Tells of the beginning of a call.
#[inline]
pub fn enter(call: &Call, site: usize, entered: &mut Entered) {
    let live = LIVE_SLOTS.load(SeqCst);
    if live != 0 && ENABLED.load(Relaxed) {
        entered.births = BIRTHS.load(SeqCst);
        for index in bits(live) {
            let mut state = std::ptr::null_mut();
            if deliver(index, call, site, (ENTER, false), entered.births, &mut state) {
                entered.told |= 1 << index;
                entered.states[index].write(state);
            }
        }
    }
}

/// Tells those who know of its beginning of the end of a call.
#[inline]
pub fn exit(call: &Call, site: usize, entered: &Entered, failed: bool) {
    for index in bits(entered.told) {
        // SAFETY: `enter` has written the states of all that it told.
        let mut state = unsafe { entered.states[index].assume_init() };
        deliver(index, call, site, (EXIT, failed), entered.births, &mut state);
    }
}

/// Calls a registration that was there when the call began. Gives whether it was called.
fn deliver(
    index: usize,
    call: &Call,
    site: usize,
    (phase, failed): (c_int, bool),
    births: u64,
    state: &mut *mut c_void,
) -> bool {
    let slot = &SLOTS[index];
    slot.busy.fetch_add(1, SeqCst);
    let class = 1 << OPS[usize::from(call.op)].class as u32;
    // Only now: who ends a registration looks at `busy` after the state has changed.
    let mine =
        slot.state.load(SeqCst) == LIVE && slot.born.load(Relaxed) <= births && slot.classes.load(Relaxed) & class != 0;
    if mine {
        let event = Event {
            size: size_of::<Event>(),
            op: c_int::from(call.op),
            op_class: class,
            phase,
            // Below -1 stand teams, for the profile.
            peer: call.peer.max(-1),
            dest: call.dest,
            source: call.source,
            bytes: call.bytes,
            ctx: call.ctx,
            team: call.team,
            site,
            failed: c_int::from(failed),
            state,
        };
        let data = slot.data.load(Relaxed) as *mut c_void;
        // SAFETY: a live slot holds the function pointer that `register` stored; `busy` keeps it from being replaced.
        let callback = unsafe { std::mem::transmute::<usize, Callback>(slot.callback.load(Relaxed)) };
        // SAFETY: registered to be called so; the event lives as long as the call.
        dispatcher::at(CodeOwner::Callback, index, || unsafe { callback(&raw const event, data) });
    }
    if slot.busy.fetch_sub(1, SeqCst) == 1 {
        release(slot);
    }
    mine
}

/// A thread has left a callback by an exception or `longjmp`: it is not in it any more.
pub fn abandoned(index: usize) {
    if let Some(slot) = SLOTS.get(index)
        && slot.busy.fetch_sub(1, SeqCst) == 1
    {
        release(slot);
    }
}

/// The last one out frees a slot whose registration has ended.
fn release(slot: &Slot) {
    if slot.busy.load(SeqCst) == 0 {
        let _ = slot.state.compare_exchange(LEAVING, FREE, SeqCst, SeqCst);
    }
}

/// Sends the calls of exactly the classes that someone wants through the dispatcher.
fn rearm() {
    let wanted = SLOTS
        .iter()
        .filter(|slot| slot.state.load(SeqCst) == LIVE)
        .fold(0, |classes, slot| classes | slot.classes.load(SeqCst));
    for (id, op) in OPS.iter().enumerate() {
        arm::set_interceptor(id as u16, Interceptor::Callback, wanted & 1 << op.class as u32 != 0);
    }
}

/// Has `callback` called with `data` at the beginning and the end of each call of the classes. Takes effect with the
/// next call of each thread; from any thread, at any time, from a callback too.
///
/// # Safety
/// `handle` is null or writable; `callback` may be called with `data` from any thread until it is unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_callback_register(
    classes: c_uint,
    callback: Option<Callback>,
    data: *mut c_void,
    handle: *mut c_int,
) -> c_int {
    let Some(callback) = callback else { return result::BAD_ARGUMENT };
    if classes & ALL == 0 {
        return result::BAD_ARGUMENT;
    }
    let _turn = CHANGE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let give = |number: i32| {
        if !handle.is_null() {
            // SAFETY: writable where it is not null, as the caller promises.
            unsafe { handle.write(number) };
        }
    };
    let key = (callback as usize, data as usize);
    let same =
        |slot: &&Slot| slot.state.load(SeqCst) == LIVE && (slot.callback.load(Relaxed), slot.data.load(Relaxed)) == key;
    if let Some(slot) = SLOTS.iter().find(same) {
        give(slot.handle.load(Relaxed));
        return result::EXISTS;
    }
    let free = SLOTS.iter().enumerate().find(|(_, slot)| slot.state.load(SeqCst) == FREE);
    let Some((index, slot)) = free else { return result::FULL };
    let birth = BIRTHS.load(SeqCst) + 1;
    // The slot and how often slots were given out: an old handle finds nothing.
    let number = ((birth as i32 & 0x003f_ffff) << 8) | (index as i32 + 1);
    slot.classes.store(classes & ALL, SeqCst);
    slot.callback.store(key.0, SeqCst);
    slot.data.store(key.1, SeqCst);
    slot.born.store(birth, SeqCst);
    slot.handle.store(number, SeqCst);
    slot.state.store(LIVE, SeqCst);
    LIVE_SLOTS.fetch_or(1 << index, SeqCst);
    BIRTHS.store(birth, SeqCst);
    rearm();
    // Calls of a tool in the executable come elsewhere, that of the initialization, too.
    if stack::are_known() {
        tool::find();
    }
    give(number);
    result::SUCCESS
}

/// Ends a registration. Outside a callback it returns when no thread is in the callback any more, or after
/// [`PATIENCE`].
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_callback_unregister(handle: c_int) -> c_int {
    // Whether this thread has left a callback by a jump, before anybody waits for it.
    dispatcher::code_owner();
    let turn = CHANGE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let live = |slot: &Slot| slot.state.load(SeqCst) == LIVE && slot.handle.load(Relaxed) == handle;
    let Some((index, slot)) = SLOTS.iter().enumerate().find(|(_, slot)| live(slot)) else { return result::NO_SUCH };
    slot.state.store(LEAVING, SeqCst);
    LIVE_SLOTS.fetch_and(!(1 << index), SeqCst);
    rearm();
    drop(turn);
    release(slot);
    // Another registration may have taken the slot by the time this looks: then it was free in between.
    let since = Instant::now();
    while dispatcher::code_owner() != CodeOwner::Callback
        && slot.state.load(SeqCst) == LEAVING
        && slot.handle.load(SeqCst) == handle
    {
        if since.elapsed() > PATIENCE {
            pellucid_core::say!(
                "pellucid: shmemx_callback_unregister: a thread is still in the callback after {} s, or has left it by \
                 longjmp or an exception and made no call since: its data may be in use",
                PATIENCE.as_secs()
            );
            return result::BUSY;
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    result::SUCCESS
}

/// Number of operations.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_op_count() -> c_int {
    COUNT as c_int
}

/// The operations of OpenSHMEM, which events are of; those of GASNet-EX have their numbers behind them.
fn row(op: c_int) -> Option<&'static op::Op> {
    OPS.get(usize::try_from(op).ok()?)
}

/// C name of an operation; null for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_op_name(op: c_int) -> *const c_char {
    row(op).map_or(std::ptr::null(), |row| crate::variables::text(row.name()))
}

/// Class of an operation as a bit; 0 for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_op_class(op: c_int) -> c_uint {
    row(op).map_or(0, |row| 1 << row.class as u32)
}

/// The operation with this C name, or `SHMEMX_ERROR_NO_SUCH`.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_op_find(name: *const c_char) -> c_int {
    if name.is_null() {
        return result::BAD_ARGUMENT;
    }
    // SAFETY: a C string, as the caller promises.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    let found = name.to_str().ok().and_then(op::find).filter(|op| usize::from(*op) < COUNT);
    found.map_or(result::NO_SUCH, c_int::from)
}
