//! Reading what is counted by call site and peer together, once a slot: rows of operations, call sites and peers then
//! have the same calls, though the thread goes on calling.

use std::sync::atomic::Ordering::Relaxed;

use crate::model::SizeCount;
use crate::op::{TRANSFER, bytes_follow, bytes_of_calls, is_sized, traits};
use crate::order;
use crate::segment::flows;
use crate::segment::layout::{Cell, Slot};
use crate::segment::peers::transfer;
use crate::size::{DISTANCES, Distance};
use crate::tables::Traffic;

/// Calls of a flow; its bytes where they do not follow from the calls.
struct Flow {
    site_key: u64,
    op: u16,
    peer: i32,
    class: usize,
    calls: u64,
    bytes: u64,
}

/// A slot and its flows.
pub(crate) struct Flows<'a> {
    pub(crate) slot: &'a Slot,
    /// By operation.
    flows: Vec<Flow>,
}

impl<'a> Flows<'a> {
    pub(crate) fn of_thread(slot: &'a Slot) -> Flows<'a> {
        Self::only(slot, |_| true)
    }

    /// Those of one operation.
    pub(crate) fn of_operation(slot: &'a Slot, op: u16) -> Flows<'a> {
        Self::only(slot, |flow| flow.op() == op)
    }

    fn only(slot: &'a Slot, is_wanted: impl Fn(&flows::Flow) -> bool) -> Flows<'a> {
        let wanted = slot.tables.flows.iter().filter(|flow| is_wanted(flow));
        let known = wanted.map(|flow| Flow {
            site_key: flow.site_key(),
            op: flow.op(),
            peer: flow.peer(),
            class: flow.class(),
            calls: flow.calls.load(Relaxed),
            bytes: flow.bytes.load(Relaxed),
        });
        let mut flows: Vec<Flow> = known.filter(|flow| flow.calls > 0).collect();
        order::sort_by_key(&mut flows, |flow| flow.op);
        Flows { slot, flows }
    }

    fn of(&self, op: u16) -> &[Flow] {
        let first = self.flows.partition_point(|flow| flow.op < op);
        &self.flows[first..][..self.flows[first..].partition_point(|flow| flow.op == op)]
    }

    fn distance(&self, flow: &Flow) -> usize {
        self.slot.head.distance(flow.peer)
    }

    /// Calls by distance that the cell of an operation lacks.
    pub(crate) fn missing(&self, op: u16) -> [u64; DISTANCES] {
        let mut calls = [0_u64; DISTANCES];
        if bytes_follow(op) {
            for flow in self.of(op) {
                let sum = &mut calls[self.distance(flow)];
                *sum = sum.saturating_add(flow.calls);
            }
        }
        calls
    }

    /// Bytes of calls without a peer: what the cell of an operation has more than flows.
    pub(crate) fn bytes_without_peer(&self, op: u16, cell: &Cell) -> u64 {
        let at = Distance::None as usize;
        match cell.calls[at].load(Relaxed) {
            // The thread goes on calling: these are flows that were read before.
            0 if is_sized(op) => 0,
            _ => self.sizes(op).fold(cell.bytes[at].load(Relaxed), |left, size| left.saturating_sub(size.bytes)),
        }
    }

    /// Calls and bytes by size class and distance that the row of an operation lacks.
    pub(crate) fn sizes(&self, op: u16) -> impl Iterator<Item = SizeCount> {
        let flows = if is_sized(op) { self.of(op) } else { &[] };
        flows.iter().map(|flow| SizeCount {
            class: flow.class as u8,
            distance: self.distance(flow) as u8,
            calls: flow.calls,
            bytes: flow.bytes,
        })
    }

    /// Calls by call site, and their bytes where they do not follow from the calls, in the order of the keys.
    pub(crate) fn by_site(&self) -> Vec<(u64, (u64, u64))> {
        let mut sites: Vec<_> = self.flows.iter().map(|flow| (flow.site_key, (flow.calls, flow.bytes))).collect();
        let add =
            |(calls, bytes): (u64, u64), more: (u64, u64)| (calls.saturating_add(more.0), bytes.saturating_add(more.1));
        order::merge_by_key(&mut sites, |(key, _)| *key, |(_, sum), (_, more)| *sum = add(*sum, *more));
        sites
    }

    /// Traffic with peers: world number, kind of transfer, calls and bytes.
    pub(crate) fn traffic(&self) -> impl Iterator<Item = (u32, usize, Traffic)> {
        let transfers = self.flows.iter().filter(|flow| flow.peer >= 0 && traits(flow.op) & TRANSFER != 0);
        transfers.map(|flow| {
            let bytes = flow.bytes.saturating_add(bytes_of_calls(flow.op, flow.calls));
            (flow.peer as u32, transfer(flow.op), Traffic { calls: flow.calls, bytes })
        })
    }
}
