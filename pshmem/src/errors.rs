//! Extensions: what becomes of a call that cannot be carried out, and the last error of each thread
//! (docs/extensions.md).
//!
//! A mistake of the program's ends the job, unless a handler says otherwise. What an operation came to (a disk that is
//! full) is always returned.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use pellucid_core::base::observer::FaultObserver;
use pellucid_core::base::{Cause, Fault};
use pellucid_core::os::signal::Blocked;
use pellucid_core::os::thread::AtEnd;
use pellucid_core::os::{signal_stack, stack};
use pellucid_core::runtime;
use pellucid_core::team::{self, World};
use pellucid_profile::op::{Class, OPS};
use pellucid_profile::recorder;

use crate::generated::arguments;
use crate::thread::{self, Mark};
use crate::types::{ErrorHandler, Team};

/// Has faults that do not end the job kept.
pub const OBSERVER: FaultObserver = FaultObserver { report, keep_allowed, is_fatal };

/// `shmemx_error_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Error {
    /// Bytes of this structure.
    size: usize,
    code: c_int,
    /// The routine, or -1.
    op: c_int,
    /// The argument that is wrong, counted from 0, or -1: none is, or several are.
    argument: c_int,
    /// World PE, or -1.
    peer: c_int,
    address: *const c_void,
    message: *const c_char,
}

/// The last error of a thread.
struct Last {
    error: Error,
    message: CString,
}

type HandlerFunction = unsafe extern "C" fn(*const Error, *mut c_void);

/// `SHMEMX_ERRORS_`: values that are no functions.
const FATAL: ErrorHandler = ErrorHandler(0);
const RETURN: ErrorHandler = ErrorHandler(1);
const LOG: ErrorHandler = ErrorHandler(2);

/// A handler, its data, and the team whose calls it is for; `INVALID`: all.
struct Set {
    team: Team,
    handler: ErrorHandler,
    data: usize,
}

static HANDLERS: Mutex<Vec<Set>> = Mutex::new(Vec::new());

/// Does something with the handlers. Signals wait meanwhile: a handler of theirs may come to an error.
fn with_handlers<T>(what: impl FnOnce(&mut Vec<Set>) -> T) -> T {
    let _blocked = Blocked::begin();
    what(&mut HANDLERS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Sets what becomes of errors in calls on a team, or in all that have no handler of a team.
///
/// # Errors
/// A team that does not exist.
pub fn set_handler(w: &World, team: Team, handler: ErrorHandler, data: *mut c_void) -> Result<c_int, Fault> {
    if team != Team::INVALID {
        w.map.ready()?;
        w.valid_team(team)?;
    }
    // No function is in the first page.
    if (LOG.0 + 1..4096).contains(&handler.0) {
        let expected = "a function, or SHMEMX_ERRORS_FATAL, _RETURN or _LOG";
        return Err(Fault::from(Cause::BadValue { arg: "handler", value: handler.0 as i64, expected }));
    }
    let set = Set { team, handler, data: data.expose_provenance() };
    with_handlers(|handlers| {
        handlers.retain(|set| set.team != team);
        handlers.push(set);
    });
    Ok(0)
}

/// What is to be done about an error in a call on a team.
fn handler(team: Team) -> (ErrorHandler, *mut c_void) {
    with_handlers(|handlers| {
        let of = |team: Team| handlers.iter().find(|set| set.team == team);
        let set = of(team).or_else(|| of(Team::INVALID));
        set.map_or((FATAL, ptr::null_mut()), |set| (set.handler, ptr::with_exposed_provenance_mut(set.data)))
    })
}

/// `shmem_team_destroy`: ends a team, and what was set for it; another team may have its handle later.
///
/// # Errors
/// See [`team::destroy`].
pub fn destroy_team(w: &World, team: Team) -> Result<(), Fault> {
    team::destroy(w, team)?;
    if team != Team::INVALID {
        with_handlers(|handlers| handlers.retain(|set| set.team != team));
    }
    Ok(())
}

/// The last finalize ends teams, and what was set for them.
pub fn forget_teams() {
    with_handlers(|handlers| handlers.retain(|set| set.team == Team::INVALID || set.team.is_predefined()));
}

/// A call cannot be carried out: ends the job, or gives the code, as the handler says.
#[cold]
#[inline(never)]
pub fn happened(op: Option<u16>, fault: Fault) -> c_int {
    recorder::error_code(fault.code());
    let routine = op.and_then(|op| OPS.get(usize::from(op))).map_or("a request", |op| op.name());
    if is_fatal(&fault) {
        runtime::fail(routine, fault);
    }
    let (handler, data) = handler(Team::from_bits(fault.team()));
    let last = Last::of(op, routine, &fault);
    match handler {
        FATAL | RETURN => keep(last),
        LOG => {
            keep(last);
            pellucid_core::say!("pellucid: PE {}: {routine}: {fault}", runtime::map().me);
        }
        // An error of a call that the handler makes: it is in there to see it, and would never come to its end.
        ErrorHandler(_) if is_in_handler() => keep(last),
        ErrorHandler(function) => {
            let copy = ErrorCopy::of(&last);
            keep(last);
            // SAFETY: the program gave it as a function of this type.
            in_handler(unsafe { std::mem::transmute::<usize, HandlerFunction>(function) }, copy, data);
        }
    }
    fault.code()
}

/// The error of a handler that runs. Calls of the handler's may fail, or clear the thread's last error, which ends that
/// one; this is the handler's until it returns.
struct ErrorCopy {
    error: Error,
    /// The message. In here it is gone with the frame, which a handler may leave by a jump without a word.
    text: [u8; 512],
    /// One that has no room there; a jump leaves it behind.
    long: Option<CString>,
}

impl ErrorCopy {
    fn of(last: &Last) -> Self {
        let message = last.message.as_bytes_with_nul();
        let mut text = [0; 512];
        let room = text.get_mut(..message.len()).map(|room| room.copy_from_slice(message));
        Self { error: last.error, text, long: if room.is_none() { Some(last.message.clone()) } else { None } }
    }

    /// Has the error name the message, once both are where they stay.
    fn settle(&mut self) -> *const Error {
        self.error.message = self.long.as_ref().map_or(self.text.as_ptr().cast(), |long| long.as_ptr());
        &raw const self.error
    }
}

/// Whether the calling thread is in the program's handler, and has not left it by an exception or `longjmp`. The mark
/// of one that was left may be in a frame again that nobody has written to there.
fn is_in_handler() -> bool {
    let mark = thread::get().handler.get();
    let is_there = !mark.is_null() && Mark::is_there(mark);
    let function = in_handler as *const () as usize;
    is_there && (signal_stack::current().is_some() || !stack::has_left(function, mark.addr()))
}

/// Runs the program's handler. It may call routines, while the thread is in this one.
#[inline(never)]
fn in_handler(handler: HandlerFunction, mut copy: ErrorCopy, data: *mut c_void) {
    let error = copy.settle();
    let mark = Mark::new();
    mark.set();
    let thread = thread::get();
    thread.handler.set(&raw const mark);
    // SAFETY: the program gave it as a function of this type; the error is in this frame, and nobody else has it.
    recorder::nested(|| unsafe { handler(error, data) });
    thread.handler.set(ptr::null());
}

/// As [`happened`], where a routine gives something else than the code.
fn report(fault: &Fault) -> c_int {
    happened(thread::waiting().map(|(op, _)| op), fault.clone())
}

/// Keeps the error of a call that is allowed, and gives its code.
fn keep_allowed(fault: &Fault) -> c_int {
    let op = thread::waiting().map(|(op, _)| op);
    let routine = op.and_then(|op| OPS.get(usize::from(op))).map_or("a request", |op| op.name());
    keep(Last::of(op, routine, fault));
    fault.code()
}

/// Whether an error ends the job, as the handler says.
fn is_fatal(fault: &Fault) -> bool {
    handler(Team::from_bits(fault.team())).0 == FATAL && !fault.is_result()
}

impl Last {
    fn of(op: Option<u16>, routine: &str, fault: &Fault) -> Self {
        let text = format!("{routine}: {fault}").replace('\0', " ");
        let message = CString::new(text).unwrap_or_default();
        let (peer, address) = place(fault.cause());
        let error = Error {
            size: size_of::<Error>(),
            code: fault.code(),
            op: op.map_or(-1, c_int::from),
            argument: argument(op, fault.cause()),
            peer,
            address: ptr::without_provenance(address),
            message: message.as_ptr(),
        };
        Self { error, message }
    }
}

/// Threads that keep an error.
static KEEPERS: AtEnd = AtEnd::new(|| replace_last(ptr::null_mut()));

/// Keeps an error as the last one of this thread, until the next one, until it is cleared, or until the thread ends.
fn keep(last: Last) {
    replace_last(Box::into_raw(Box::new(last)));
    KEEPERS.ask();
}

/// Ends the error that this thread keeps, in place of which it keeps this one; null: none.
fn replace_last(last: *mut Last) {
    let before = thread::get().last_error.replace(last.cast());
    if !before.is_null() {
        // SAFETY: made by `keep`, by this thread; a handler that runs has a copy.
        drop(unsafe { Box::from_raw(before.cast::<Last>()) });
    }
}

/// Which argument of the routine an error is about, counted from 0; -1 where it is about none.
fn argument(op: Option<u16>, cause: &Cause) -> c_int {
    let list = op.and_then(|op| arguments::OF.get(usize::from(op))).map(|index| arguments::NAMES[usize::from(*index)]);
    let index = |name: &str| list?.split(' ').position(|other| other == name).and_then(|at| c_int::try_from(at).ok());
    // Messages name an object as the specification does, whatever a routine calls it.
    let other = |name| match name {
        "dest" => ["target", "ivar"].into_iter().find_map(index),
        "team" => ["parent_team", "parent"].into_iter().find_map(index),
        _ => None,
    };
    // What is wrong may be in the object: `*lock`, `pSync[3]`.
    let plain = |name: &'static str| name.trim_start_matches('*').split('[').next().unwrap_or(name);
    cause.argument_name().map(plain).and_then(|name| index(name).or_else(|| other(name))).unwrap_or(-1)
}

/// PE and address of an error; -1 and 0 where it has none.
fn place(cause: &Cause) -> (c_int, usize) {
    match cause {
        Cause::BadPe { pe, .. } => (*pe as c_int, 0),
        Cause::Mismatch { pe, .. } | Cause::Finalizing { pe } => (*pe, 0),
        Cause::File { pe: Some(pe), .. } | Cause::Lost { pe, .. } | Cause::LostElsewhere { pe } => (*pe, 0),
        Cause::NotSymmetric { addr, .. } | Cause::PastEnd { addr, .. } | Cause::Misaligned { addr, .. } => (-1, *addr),
        Cause::ForeignPointer { addr } | Cause::DoubleFree { addr } | Cause::NoObject { addr, .. } => (-1, *addr),
        Cause::NotHeld { addr } | Cause::HeldAlready { addr } => (-1, *addr),
        _ => (-1, 0),
    }
}

/// Writes the last error of this thread to `*error`, as far as that is large enough by its `size`; gives its code, 0
/// where there is none. The message stays until the thread's next error.
///
/// # Errors
/// None.
pub fn last(error: *mut Error) -> Result<c_int, Fault> {
    let last = thread::get().last_error.get().cast::<Last>();
    // SAFETY: null, or made by `keep` in this thread.
    let last = unsafe { last.as_ref() };
    let none = Error { size: 0, code: 0, op: -1, argument: -1, peer: -1, address: ptr::null(), message: c"".as_ptr() };
    let found = last.map_or(none, |last| Error { message: last.message.as_ptr(), ..last.error });
    if !error.is_null() {
        // SAFETY: the caller has set `size` to the bytes that there is room for.
        unsafe {
            let size = (*error).size;
            let found = Error { size, ..found };
            ptr::copy_nonoverlapping((&raw const found).cast::<u8>(), error.cast(), size.min(size_of::<Error>()));
        }
    }
    Ok(found.code)
}

/// Forgets the last error of this thread.
///
/// # Errors
/// None.
pub fn clear() -> Result<(), Fault> {
    replace_last(ptr::null_mut());
    Ok(())
}

/// Words for a code.
///
/// # Errors
/// None.
pub fn string(code: c_int) -> Result<*const c_char, Fault> {
    let index = usize::try_from(i64::from(code).unsigned_abs()).ok().filter(|_| code <= 0);
    let text = index.and_then(|index| TEXTS.get(index)).unwrap_or(&c"no such error");
    Ok(text.as_ptr())
}

/// By code: `SHMEMX_ERROR_`.
const TEXTS: [&std::ffi::CStr; 17] = [
    c"success",
    c"an argument is not valid",
    c"it is there already",
    c"there is no room for more",
    c"there is no such thing",
    c"it can only be read",
    c"it is in use",
    c"there is no such PE, or it takes no part",
    c"an address is not symmetric",
    c"there is no memory for it",
    c"the network has failed",
    c"a PE is lost",
    c"the job was aborted",
    c"a file could not be opened, read or written",
    c"PEs are in different calls",
    c"it is not complete yet",
    c"a file has come to its end",
];

/// What a routine gives whose call could not be carried out.
pub trait Answer {
    /// `code` where the routine's result tells of success; else what says least that is not so.
    fn of(code: c_int, op: u16) -> Self;

    /// Whether the result tells of a failure. Probes count these; of all others nobody sees it but who ends the call.
    fn tells(_op: u16) -> bool {
        false
    }
}

impl Answer for () {
    fn of(_: c_int, _: u16) {}
}

/// What a routine whose call failed gives as an `int` that is data; `None`: its `int` tells of success, and is the
/// error's code.
fn data(op: u16) -> Option<i8> {
    let op = &OPS[usize::from(op)];
    match (op.class, op.name()) {
        // Among those that give data, these give 0 for a success.
        (_, "shmemx_lost_get" | "shmemx_req_test" | "shmem_team_get_config" | "shmemx_space_of") => None,
        // Complete, as a request that was ended before: a loop of tests comes to its end.
        (_, "shmemx_test_req") => Some(1),
        // No.
        (_, "shmem_pe_accessible" | "shmem_addr_accessible" | "shmemx_in_aset") => Some(0),
        // Numbers of PEs, indices, counts, states and distances: 0 is one of them.
        (Class::Query, _) => Some(-1),
        (Class::Put | Class::Get | Class::Amo | Class::Signal | Class::Test, _) => Some(0),
        _ => None,
    }
}

macro_rules! answers {
    (codes $($number:ty),*) => { $(
        impl Answer for $number {
            fn of(code: c_int, op: u16) -> Self {
                data(op).map_or(code as $number, <$number>::from)
            }

            fn tells(op: u16) -> bool {
                data(op).is_none()
            }
        }
    )* };
    (zero $($number:ty),*) => { $(
        impl Answer for $number {
            fn of(_: c_int, _: u16) -> Self {
                0 as $number
            }
        }
    )* };
}

answers!(codes i32, i64, isize);
answers!(zero i8, u8, i16, u16, u32, u64, f32, f64);

impl Answer for usize {
    /// An index that is none, or a count.
    fn of(_: c_int, op: u16) -> usize {
        if OPS[usize::from(op)].name().contains("_any") { usize::MAX } else { 0 }
    }
}

impl<T> Answer for *mut T {
    fn of(_: c_int, _: u16) -> *mut T {
        ptr::null_mut()
    }

    fn tells(op: u16) -> bool {
        OPS[usize::from(op)].class == Class::Memory
    }
}

impl<T> Answer for *const T {
    fn of(_: c_int, _: u16) -> *const T {
        ptr::null()
    }
}
