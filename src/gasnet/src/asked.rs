//! The last request to each PE, and whether a reply has come since: for whoever looks at a wait that does not end.
//!
//! A hint, which costs a store: of threads that ask the same PE at the same time one is remembered.

use pellucid_core::runtime;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// By PE: the handler, and this bit while no reply has come.
static LAST: OnceLock<Box<[AtomicU32]>> = OnceLock::new();
const OPEN: u32 = 1 << 16;

/// A request without a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnansweredRequest {
    /// Whom.
    pub pe: i32,
    /// For which handler.
    pub handler: u16,
    /// It is known not to have run.
    pub is_pending: bool,
}

/// Before the first request.
pub fn begin(npes: i32) {
    let _ = LAST.set((0..npes).map(|_| AtomicU32::new(0)).collect());
}

#[inline(always)]
fn of(pe: i32) -> Option<&'static AtomicU32> {
    LAST.get()?.get(pe as usize)
}

/// A request is about to be sent.
#[inline(always)]
pub fn note(pe: i32, handler: u8) {
    if let Some(last) = of(pe) {
        last.store(u32::from(handler) | OPEN, Ordering::Relaxed);
    }
}

/// A reply has come.
#[inline(always)]
pub fn answered(pe: i32) {
    if let Some(last) = of(pe) {
        last.store(0, Ordering::Relaxed);
    }
}

/// The handler of the last request to a PE.
pub fn last(pe: i32) -> Option<u16> {
    let last = of(pe)?.load(Ordering::Relaxed);
    (last != 0).then_some(last as u16)
}

/// A request without a reply; first of those whose handler has not run.
pub fn unanswered() -> Option<UnansweredRequest> {
    let open = |(pe, last): (usize, &AtomicU32)| {
        let (pe, last) = (pe as i32, last.load(Ordering::Relaxed));
        let is_pending = !runtime::messages().is_handled_by(pe);
        (last & OPEN != 0).then_some(UnansweredRequest { pe, handler: last as u16, is_pending })
    };
    let open: Vec<UnansweredRequest> = LAST.get()?.iter().enumerate().filter_map(open).collect();
    open.iter().find(|asked| asked.is_pending).or(open.first()).copied()
}
