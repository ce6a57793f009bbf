//! Counting by call site and peer together: see [`crate::segment::flows`].
#![allow(unsafe_code)]

use std::sync::atomic::Ordering::Relaxed;

use super::hot::bump;
use super::nbi::issue_more;
use super::sites::is_release;
use super::{modules, release, tls};
use crate::op::{NONBLOCKING, Operation, TRANSFER, bytes_follow, entered_for, is_sized};
use crate::segment::flows::{Flow, STEP, is_told, place, what};
use crate::segment::layout::Slot;
use crate::size::size_class;

/// The flow of a call with this word ([`entered_for`]) and size class from this call site, and its place; none where it
/// is not known yet or found no room. The class is 0 where calls are not counted by it.
#[inline(always)]
pub(super) fn find(slot: &Slot, site: u64, word: u64, class: usize) -> Option<(&Flow, usize)> {
    // SAFETY: only this thread writes it. Only where words are not atomic do compilers compare with them where they
    // are.
    let region_key = unsafe { *slot.head.region_key.as_ptr() };
    let what = what(word, region_key, class);
    let first = place(site, what);
    let beside = first ^ STEP;
    // One after the other: in a loop it would take more instructions.
    if let Some(flow) = look(slot, first, (site, what)) {
        return Some((flow, first));
    }
    look(slot, beside, (site, what)).map(|flow| (flow, beside))
}

/// The row at a place, where it is that of a flow.
#[inline(always)]
fn look(slot: &Slot, place: usize, flow: (u64, u64)) -> Option<&Flow> {
    // SAFETY: places are in the table; only this thread writes it.
    let (row, known) = unsafe {
        let row = &*slot.tables.flows.rows.as_ptr().byte_add(place);
        (row, (*row.site.as_ptr(), *row.what.as_ptr()))
    };
    (known == flow).then_some(row)
}

/// A call that takes the path of samples: those after it from the same call site to the same peer are a flow from now
/// on, where there is room. Not those to other hosts, which are recorded in another way.
pub(super) fn begin(slot: &Slot, op: impl Operation, (peer, bytes): (i32, usize)) {
    let has_place = op.traits() & TRANSFER == 0 || slot.head.distance_on_host(peer).is_some();
    let class = if is_sized(op.id()) { size_class(bytes) } else { 0 };
    let (site, word) = (tls::site(), entered_for(op, peer));
    if site == 0 || !has_place || !is_told(peer) || find(slot, site, word, class).is_some() {
        return;
    }
    let what = what(word, slot.head.region_key.load(Relaxed), class);
    let first = place(site, what);
    for place in [first, first ^ STEP] {
        let flow = slot.tables.flows.row(place);
        let is_free = flow.what.load(Relaxed) == 0;
        if is_free {
            // What the site is a place of may have been loaded just now.
            modules::look();
        }
        // A signal handler that calls may take one at the same time.
        if is_free && flow.what.compare_exchange(0, what, Relaxed, Relaxed).is_ok() {
            flow.site.store(site, Relaxed);
            return slot.tables.flows.mark(place);
        }
    }
}

/// The flow of a call from the present call site is none any more.
pub(super) fn forget(slot: &Slot, op: impl Operation, peer: i32) {
    if let Some((flow, _)) = find(slot, tls::site(), entered_for(op, peer), 0) {
        [&flow.site, &flow.what, &flow.calls, &flow.bytes].into_iter().for_each(|word| word.store(0, Relaxed));
    }
}

/// Notes what another PE may wait for, before a call of a flow: it looks there once it has seen it.
#[inline(always)]
pub(super) fn release(slot: &Slot, op: impl Operation, place: usize, (to, addr, bytes): (i32, usize, usize)) {
    if op.traits() & TRANSFER != 0 && is_release(op, bytes) {
        release::note_flow(slot, (to, addr), place);
    }
}

/// Counts a call.
#[inline(always)]
pub(super) fn count(slot: &Slot, flow: &Flow, op: impl Operation, bytes: usize) {
    if op.traits() & NONBLOCKING != 0 {
        issue_more(&slot.tables.nbi);
    }
    bump(&flow.calls, 1);
    // Of transfers also where there are none: to look takes as long.
    if !bytes_follow(op) && (op.traits() & TRANSFER != 0 || bytes != 0) {
        bump(&flow.bytes, bytes as u64);
    }
}
