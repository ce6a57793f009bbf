//! Who is told how long requests are under way, and whom a wait for one waits for: the profile. Without anybody nothing
//! is asked for.

use super::table::{Request, Slot, TABLE};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// A request that the program has ended. Times are the observer's.
#[derive(Debug, Clone, Copy)]
pub struct EndedRequest {
    /// The routine that began it, its number plus 1; 0: not known.
    pub routine: u32,
    /// From its begin to its completion, as far as the library has seen it.
    pub open: u64,
    /// The part of it that the program spent waiting for it.
    pub waited: u64,
    /// Who was waited for last; `None`: nobody, or it is not known.
    pub last: Option<u32>,
}

/// Who is told.
#[derive(Debug, Clone, Copy)]
pub struct RequestObserver {
    /// The time; 0: nothing is kept.
    pub now: fn() -> u64,
    /// The routine that the calling thread is in, its number plus 1; 0: not known.
    pub routine: fn() -> u32,
    /// The calling thread waits for this PE in a request that such a routine has begun.
    pub waits: fn(Option<u32>, u32),
    /// A request is ended.
    pub ended: fn(&EndedRequest),
}

static OBSERVER: OnceLock<RequestObserver> = OnceLock::new();

/// Has somebody told. The first caller wins.
pub fn observe_with(observer: RequestObserver) {
    let _ = OBSERVER.set(observer);
}

/// The observer's time; 0 without one.
pub fn now() -> u64 {
    OBSERVER.get().map_or(0, |observer| (observer.now)())
}

/// A request begins.
pub(super) fn begin(slot: &Slot) {
    let (began, routine) = OBSERVER.get().map_or((0, 0), |observer| ((observer.now)(), (observer.routine)()));
    slot.began.store(began, Ordering::Relaxed);
    slot.routine.store(routine, Ordering::Relaxed);
    slot.complete.store(0, Ordering::Relaxed);
    slot.awaited.store(-1, Ordering::Relaxed);
}

/// The calling thread waits for a request, and has for a while.
#[cold]
pub fn waits_for(request: Request) {
    if let (Some(observer), Some(slot)) = (OBSERVER.get(), TABLE.live(request)) {
        let pe = u32::try_from(slot.awaited.load(Ordering::Relaxed)).ok();
        (observer.waits)(pe, slot.routine.load(Ordering::Relaxed));
    }
}

/// The program ends a request that it has waited for since then; 0: it was complete before, or is tested.
pub(super) fn end(request: Request, since: u64) {
    let (Some(observer), Some(slot)) = (OBSERVER.get(), TABLE.live(request)) else { return };
    let began = slot.began.load(Ordering::Relaxed);
    if began == 0 {
        return;
    }
    let complete = match slot.complete.load(Ordering::Relaxed) {
        0 => (observer.now)(),
        complete => complete,
    };
    let waited = if since == 0 { 0 } else { complete.saturating_sub(since) };
    let last = u32::try_from(slot.awaited.load(Ordering::Relaxed)).ok().filter(|_| waited > 0);
    let routine = slot.routine.load(Ordering::Relaxed);
    (observer.ended)(&EndedRequest { routine, open: complete.saturating_sub(began), waited, last });
}
