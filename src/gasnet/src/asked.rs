//! The last request to each PE, and whether a reply has come since: for whoever looks at a wait that does not end.
//!
//! A hint, which costs a load and a store: of threads that ask the same PE at the same time one is remembered.

use pellucid_core::runtime;
use pellucid_profile::op::gasnet::Awaited;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// By PE: the handler, and these bits.
static LAST: OnceLock<Box<[AtomicU32]>> = OnceLock::new();
/// No reply has come.
const OPEN: u32 = 1 << 16;
/// No other request was without a reply: the next reply is that of this one.
const ALONE: u32 = 1 << 17;

/// Handlers that are known to reply, by their numbers.
static REPLIES: [AtomicBool; 256] = [const { AtomicBool::new(false) }; 256];

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
        let alone = (last.load(Ordering::Relaxed) & OPEN ^ OPEN) << 1;
        last.store(u32::from(handler) | OPEN | alone, Ordering::Relaxed);
    }
}

const _: () = assert!(ALONE == OPEN << 1);

/// A reply has come.
#[inline(always)]
pub fn answered(pe: i32) {
    if let Some(last) = of(pe) {
        let word = last.load(Ordering::Relaxed);
        last.store(0, Ordering::Relaxed);
        if word & ALONE != 0 && !replies(word as u16) {
            REPLIES[usize::from(word as u8)].store(true, Ordering::Relaxed);
        }
    }
}

fn replies(handler: u16) -> bool {
    REPLIES[usize::from(handler as u8)].load(Ordering::Relaxed)
}

/// The handler of the last request to a PE, which finds no room there.
pub fn last(pe: i32) -> Option<Awaited> {
    let last = of(pe)?.load(Ordering::Relaxed);
    let handler = last as u16;
    (last != 0).then(|| Awaited::Request { handler, is_pending: true, replies: replies(handler) })
}

/// A request that may be without a reply, and its PE: rather one to a handler that replies, and rather one that has not
/// run. One that has run to its end without a reply has none.
pub fn unanswered() -> Option<(i32, Awaited)> {
    let open = |(pe, last): (usize, &AtomicU32)| {
        let (pe, last) = (pe as i32, last.load(Ordering::Relaxed));
        if last & OPEN == 0 {
            return None;
        }
        let (handler, is_handled) = (last as u16, runtime::messages().is_handled_by(pe));
        (is_handled != Some(true)).then_some((replies(handler), is_handled == Some(false), pe, handler))
    };
    let open = LAST.get()?.iter().enumerate().filter_map(open);
    // Of those that are alike, that of the first PE.
    let (replies, is_pending, pe, handler) =
        open.max_by_key(|(replies, is_pending, pe, _)| (*replies, *is_pending, std::cmp::Reverse(*pe)))?;
    Some((pe, Awaited::Request { handler, is_pending, replies }))
}
