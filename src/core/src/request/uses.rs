//! With `--check`: which memory operations with handles use until their requests are ended, and which requests nobody
//! has ended. Without it nothing is kept.

use super::table::{Request, TABLE};
use crate::base::{Cause, Fault, observer, threads};
use crate::os::signal::Blocked;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is done to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is changed by atomics, which others may do as well.
    Atomic,
}

impl Access {
    fn goes_with(self, other: Self) -> bool {
        self == other && self != Self::Write
    }
}

/// Memory that an operation uses.
#[derive(Debug, Clone, Copy)]
pub struct Use {
    /// Argument of the call.
    pub arg: &'static str,
    /// Whose memory it is.
    pub pe: i32,
    /// Address, as this PE has it.
    pub addr: usize,
    /// How much.
    pub bytes: usize,
    /// What is done there.
    pub access: Access,
}

/// The call that began an operation: number of its routine, and where it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Origin(u16, usize);

#[derive(Debug)]
struct Operation {
    origin: Origin,
    uses: Vec<Use>,
    /// The context whose quiet completes it; `None`: only its request tells.
    ctx: Option<usize>,
    /// Whether the program has a handle of it.
    has_handle: bool,
    /// The thread that waits for it; 0: none.
    waiter: u64,
}

/// Memory that operations use in the same way: by the order of magnitude of its bytes, so that what overlaps with some
/// memory is found without looking at all that is near; PE and address; bytes, what is done there, and its argument.
type Place = (u32, i32, usize, usize, Access, &'static str);

fn place(of: &Use) -> Place {
    (of.bytes.ilog2(), of.pe, of.addr, of.bytes, of.access, of.arg)
}

/// What is under way.
struct Uses {
    operations: BTreeMap<u64, Operation>,
    /// Places, each with a request that uses it.
    places: BTreeSet<(Place, u64)>,
    /// Contexts, each with a request of a transfer.
    of_context: BTreeSet<(usize, u64)>,
}

static ON: AtomicBool = AtomicBool::new(false);
static ALL: Mutex<Uses> =
    Mutex::new(Uses { operations: BTreeMap::new(), places: BTreeSet::new(), of_context: BTreeSet::new() });

thread_local! {
    static CALL: Cell<Origin> = const { Cell::new(Origin(0, 0)) };
}

/// Operations under way: where there are none, nobody takes the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// What is under way, for one thread at a time. No handler of its own may ask for it meanwhile, which would wait for
/// ever.
struct Locked {
    uses: MutexGuard<'static, Uses>,
    _signals: Blocked,
}

impl Deref for Locked {
    type Target = Uses;

    fn deref(&self) -> &Uses {
        &self.uses
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut Uses {
        &mut self.uses
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        COUNT.store(self.uses.operations.len(), Ordering::Relaxed);
    }
}

fn all() -> Locked {
    let signals = Blocked::begin();
    Locked { uses: ALL.lock().unwrap_or_else(PoisonError::into_inner), _signals: signals }
}

/// The same, unless there is nothing.
fn any() -> Option<Locked> {
    (COUNT.load(Ordering::Relaxed) > 0).then(all)
}

/// From now on uses are kept.
pub fn keep() {
    ON.store(true, Ordering::Relaxed);
}

/// Whether uses are kept.
#[inline(always)]
pub fn are_kept() -> bool {
    ON.load(Ordering::Relaxed)
}

/// The calling thread is in this call.
pub fn in_call(op: u16, site: usize) {
    CALL.set(Origin(op, site));
}

fn name(origin: Origin) -> String {
    observer::get().map_or_else(|| "another operation".into(), |observer| (observer.call_name)(origin.0, origin.1))
}

/// The call that the calling thread is in, in words.
pub fn name_of_call() -> String {
    name(CALL.get())
}

impl Uses {
    /// An operation that uses memory in a way that does not go with this.
    fn conflict(&self, wanted: &Use) -> Option<(&Operation, &'static str)> {
        let Use { pe, addr, bytes, access, .. } = *wanted;
        let end = addr.saturating_add(bytes);
        let mut size = 0;
        // From one size that there is to the next.
        while let Some(&((of, ..), _)) = self.places.range(((size, i32::MIN, 0, 0, Access::Read, ""), 0)..).next() {
            let longest = 1_usize.checked_shl(of + 1).unwrap_or(usize::MAX);
            let from = ((of, pe, addr.saturating_sub(longest), 0, Access::Read, ""), 0);
            let mut near = self.places.range(from..((of, pe, end, 0, Access::Read, ""), 0));
            let found = near
                .find(|((.., at, length, other, _), _)| addr < at.saturating_add(*length) && !access.goes_with(*other));
            if let Some(((.., arg), request)) = found {
                return Some((self.operations.get(request)?, arg));
            }
            size = of + 1;
        }
        None
    }

    fn insert(&mut self, request: u64, operation: Operation) {
        for one in &operation.uses {
            self.places.insert((place(one), request));
        }
        if let Some(ctx) = operation.ctx {
            self.of_context.insert((ctx, request));
        }
        self.operations.insert(request, operation);
    }

    fn forget_places(&mut self, request: u64) {
        let Some(operation) = self.operations.get_mut(&request) else { return };
        if let Some(ctx) = operation.ctx {
            self.of_context.remove(&(ctx, request));
        }
        for one in std::mem::take(&mut operation.uses) {
            self.places.remove(&(place(&one), request));
        }
    }

    /// The requests of a context's transfers.
    fn of(&self, ctx: usize) -> impl Iterator<Item = u64> {
        self.of_context.range((ctx, 0)..=(ctx, u64::MAX)).map(|(_, request)| *request)
    }
}

/// A fault where memory is in use by an operation with a handle, in a way that does not go with these uses of it.
#[cold]
pub fn check(wanted: impl IntoIterator<Item = Use>) -> Result<(), Fault> {
    let Some(all) = any() else { return Ok(()) };
    let mut wanted = wanted.into_iter().filter(|wanted| wanted.bytes > 0);
    let Some((wanted, (operation, of))) = wanted.find_map(|wanted| Some((wanted, all.conflict(&wanted)?))) else {
        return Ok(());
    };
    let (origin, has_handle) = (operation.origin, operation.has_handle);
    drop(all);
    let Use { arg, addr, bytes, .. } = wanted;
    Err(Fault::from(Cause::InUse { arg, addr, bytes, by: name(origin), of, has_handle }))
}

/// Keeps what the operation of a request uses, until [`release`]; of one that is complete, a request that stands for
/// it. `ctx`: the context whose quiet completes the operation. Without a handle the caller leaves the request to the
/// next quiet.
#[cold]
pub fn hold(request: Request, uses: &[Use], ctx: Option<usize>, has_handle: bool) -> Request {
    let held = if request == Request::COMPLETE { TABLE.insert(false).map(|(held, _)| held) } else { Ok(request) };
    // Where there is no room for one more, the operation is complete all the same, and is not checked.
    let Ok(held) = held else { return request };
    let uses: Vec<Use> = uses.iter().copied().filter(|one| one.bytes > 0).collect();
    let operation = Operation { origin: CALL.get(), uses, ctx, has_handle, waiter: 0 };
    all().insert(held.0, operation);
    held
}

/// The program has no handle of a request.
pub fn without_handle(request: Request) {
    if let Some(mut all) = any()
        && let Some(operation) = all.operations.get_mut(&request.0)
    {
        operation.has_handle = false;
    }
}

/// A request is ended.
#[cold]
pub(super) fn release(request: Request) {
    let Some(mut all) = any() else { return };
    all.forget_places(request.0);
    all.operations.remove(&request.0);
}

/// Transfers of a context are complete, whether their requests are ended or not.
#[cold]
pub fn quiet(ctx: usize) {
    let Some(mut all) = any() else { return };
    let complete: Vec<u64> = all.of(ctx).collect();
    complete.into_iter().for_each(|request| all.forget_places(request));
}

/// As [`quiet`], of the transfers to and from one PE; `me` is this one.
#[cold]
pub fn quiet_pe(ctx: usize, pe: i32, me: i32) {
    let Some(mut all) = any() else { return };
    // Each uses memory of this PE, too.
    let is_of = |operation: &Operation| match pe == me {
        true => operation.uses.iter().all(|one| one.pe == me),
        false => operation.uses.iter().any(|one| one.pe == pe),
    };
    let complete: Vec<u64> = all.of(ctx).filter(|request| all.operations.get(request).is_some_and(is_of)).collect();
    complete.into_iter().for_each(|request| all.forget_places(request));
}

/// A wait for a request, by one thread at a time, until this is dropped.
#[derive(Debug)]
pub struct Wait(Request);

/// Begins the wait of the calling thread. Fault: another one waits for the request.
pub fn wait(request: Request) -> Result<Option<Wait>, Fault> {
    let Some(mut all) = any() else { return Ok(None) };
    let me = threads::number();
    let Some(operation) = all.operations.get_mut(&request.0) else { return Ok(None) };
    if operation.waiter != 0 && operation.waiter != me {
        let (arg, value) = ("request", request.0 as i64);
        let expected = "a handle that no other thread waits for at the same time";
        return Err(Fault::from(Cause::BadValue { arg, value, expected }));
    }
    operation.waiter = me;
    Ok(Some(Wait(request)))
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(operation) = all().operations.get_mut(&self.0.0) {
            operation.waiter = 0;
        }
    }
}

/// Handles that the program has not ended, in words: how many each line has given.
pub fn forgotten() -> Vec<String> {
    let mut calls: BTreeMap<Origin, usize> = BTreeMap::new();
    for operation in all().operations.values().filter(|operation| operation.has_handle) {
        *calls.entry(operation.origin).or_default() += 1;
    }
    // A compiler may have made several calls of one line.
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (origin, count) in calls {
        *lines.entry(name(origin)).or_default() += count;
    }
    let words = |(line, count): (String, usize)| match count {
        1 => format!("the request of {line} was never waited for"),
        _ => format!("{count} requests of {line} were never waited for"),
    };
    lines.into_iter().map(words).collect()
}

/// Forgets all.
pub(super) fn clear() {
    let mut all = all();
    all.operations.clear();
    all.places.clear();
    all.of_context.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arg: &'static str, pe: i32, addr: usize, bytes: usize, access: Access) -> Use {
        Use { arg, pe, addr, bytes, access }
    }

    #[test]
    fn uses_that_do_not_go_together_are_found() {
        let long = hold(Request::COMPLETE, &[of("dest", 7, 0x1000, 0x1000, Access::Write)], None, true);
        let short = hold(Request::COMPLETE, &[of("source", 7, 0x3000, 8, Access::Read)], Some(3), true);
        let is_free = |access, pe, addr, bytes| check([of("it", pe, addr, bytes, access)]).is_ok();
        assert!(is_free(Access::Write, 8, 0x1000, 8) && is_free(Access::Write, 7, 0xff8, 8));
        assert!(!is_free(Access::Read, 7, 0x1ff8, 8) && !is_free(Access::Atomic, 7, 0xfff, 2));
        assert!(is_free(Access::Read, 7, 0x2000, 0x2000) && !is_free(Access::Write, 7, 0x2000, 0x1001));
        quiet(4);
        assert!(!is_free(Access::Write, 7, 0x3007, 1));
        quiet(3);
        assert!(is_free(Access::Write, 7, 0x3007, 1));
        release(long);
        assert!(is_free(Access::Write, 7, 0x1000, 0x1000));
        assert!(forgotten().iter().any(|line| line.contains("of another operation")));
        release(short);
    }

    #[test]
    fn many_that_use_the_same_memory_are_no_hindrance() {
        let used = |pe: i32| {
            [of("old", pe, 0x9000 + 8 * pe as usize, 8, Access::Write), of("to", 3, 0x8000, 8, Access::Atomic)]
        };
        let hold = |pe| {
            check(used(pe)).expect("free");
            super::hold(Request::COMPLETE, &used(pe), Some(9), true)
        };
        let all: Vec<Request> = (100..20_100).map(hold).collect();
        assert!(check([of("it", 3, 0x8004, 1, Access::Read)]).is_err());
        assert!(check([of("it", 200, 0x9000 + 1600, 1, Access::Read)]).is_err());
        quiet(9);
        assert!(check([of("it", 3, 0x8000, 8, Access::Write)]).is_ok());
        all.into_iter().for_each(release);
    }
}
