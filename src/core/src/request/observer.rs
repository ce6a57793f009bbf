//! Who is told how long requests are under way, and whom a wait for one waits for: the profile. Without anybody nothing
//! is asked for.

use super::table::{Request, Slot, TABLE};
use crate::base::observer::{self, EndedRequest, RequestObserver};
use std::sync::atomic::Ordering;

fn requests() -> Option<&'static RequestObserver> {
    observer::get().map(|observer| &observer.requests)
}

/// The observer's time; 0 without one.
pub fn now() -> u64 {
    requests().map_or(0, |observer| (observer.now)())
}

/// A request begins.
pub(super) fn begin(slot: &Slot) {
    let (began, routine) = requests().map_or((0, 0), |observer| ((observer.now)(), (observer.routine)()));
    slot.began.store(began, Ordering::Relaxed);
    slot.routine.store(routine, Ordering::Relaxed);
    slot.complete.store(0, Ordering::Relaxed);
    slot.awaited.store(-1, Ordering::Relaxed);
}

/// The calling thread waits for a request, and has for a while.
#[cold]
pub fn waits_for(request: Request) {
    if let (Some(observer), Some(slot)) = (requests(), TABLE.live(request)) {
        let pe = u32::try_from(slot.awaited.load(Ordering::Relaxed)).ok();
        (observer.waits)(pe, slot.routine.load(Ordering::Relaxed));
    }
}

/// The program ends a request that it has waited for since then; 0: it was complete before, or is tested.
pub(super) fn end(request: Request, since: u64) {
    let (Some(observer), Some(slot)) = (requests(), TABLE.live(request)) else { return };
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
