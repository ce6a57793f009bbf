//! Calls from one place of the program to one peer, of one routine in one region: a flow.
//!
//! Most short calls are one of a few flows. Counting them here takes one look and one word; a reader adds what flows
//! have to the rows of operation, call site and peer. Rows are never given to another flow: what finds no room is
//! counted in the other tables at once.
//!
//! The call site comes last into where a row is, by two instructions. It has to be loaded after it was stored, and
//! processors do not load such a word before they know where all stores in front of it go. One of those is the count of
//! the call before: each call waits for the one before to have found its row.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::sites::{KEY_REGION, key};
use crate::op::{ONE_ELEMENT, Operation};

/// Rows of a thread.
pub const FLOWS: usize = 4096;
/// Rows that a bit of [`Flows::used`] stands for.
const GROUP: usize = FLOWS / 64;

/// Bytes of a row.
pub const STEP: usize = size_of::<Flow>();

/// What is counted of a flow.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct Flow {
    /// Where its calls return to.
    pub site: AtomicU64,
    /// Peer (bits 0 to 31), operation (32 to 47), region (from [`KEY_REGION`] on): see [`what`]; 0 where the row is
    /// free.
    pub what: AtomicU64,
    /// Calls: see [`is_alone`].
    pub calls: AtomicU64,
    /// Bytes, where they do not follow from the calls: [`crate::op::bytes_of_calls`].
    pub bytes: AtomicU64,
}

/// Flows of a thread.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Flows {
    /// Each at its [`place`] or beside it.
    pub rows: [Flow; FLOWS],
    /// Which parts of the rows have any, a bit each: a reader leaves the others alone.
    pub used: AtomicU64,
}

/// All of a flow but its call site. Never 0. `region_key` is that of [`key`].
#[inline(always)]
pub fn what(op: impl Operation, peer: i32, region_key: u64) -> u64 {
    u64::from(op.entered()) << 32 | u64::from(peer as u32) | region_key
}

/// Where a flow has its row, in bytes; where another one has that, it may have the one beside it: the exclusive or with
/// [`STEP`]. `what` is as [`what`] gives it.
#[inline(always)]
pub const fn place(site: u64, what: u64) -> usize {
    let bits = FLOWS.trailing_zeros() + STEP.trailing_zeros();
    let mixed = (what.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
    // Elsewhere instructions have four bytes, all of them.
    let site = if cfg!(target_arch = "x86_64") { site } else { site >> 2 };
    (mixed ^ (site as usize).wrapping_mul(STEP)) & (FLOWS * STEP - STEP)
}

/// Whether calls of a flow are counted there only, and not in [`super::layout::Cell`]: those that move one element,
/// whose bytes follow from them.
#[inline(always)]
pub fn is_alone(op: impl Operation) -> bool {
    op.traits() & ONE_ELEMENT != 0
}

impl Flow {
    /// The key of its call site in [`super::tables::ThreadTables::sites`].
    pub fn site_key(&self) -> u64 {
        let what = self.what.load(Relaxed);
        key(self.site.load(Relaxed), self.op(), what >> KEY_REGION << KEY_REGION)
    }

    /// Its operation.
    pub fn op(&self) -> u16 {
        (self.what.load(Relaxed) >> 32) as u16
    }

    /// World number of its peer; negative: it has none.
    pub fn peer(&self) -> i32 {
        self.what.load(Relaxed) as i32
    }
}

impl Flows {
    /// The row at a place.
    #[inline(always)]
    pub fn row(&self, place: usize) -> &Flow {
        &self.rows[place / STEP % FLOWS]
    }

    /// Notes that the row at a place is one of a flow.
    pub fn mark(&self, place: usize) {
        self.used.fetch_or(1 << (place / STEP / GROUP), Relaxed);
    }

    /// The flows.
    pub fn iter(&self) -> impl Iterator<Item = &Flow> {
        let used = self.used.load(Relaxed);
        let groups = (0..FLOWS / GROUP).filter(move |group| used >> group & 1 != 0);
        groups.flat_map(|group| &self.rows[group * GROUP..][..GROUP]).filter(|flow| flow.site.load(Relaxed) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::sites::split_key;

    fn flow(site: u64, what: u64) -> Flow {
        Flow { site: site.into(), what: what.into(), calls: 0.into(), bytes: 0.into() }
    }

    #[test]
    fn a_flow_says_where_it_is_from_and_what_it_is() {
        let told = flow(0x7fff_1234_5678, what(4094_u16, 7, 63 << KEY_REGION));
        assert_eq!((split_key(told.site_key()), told.op(), told.peer()), ((0x7fff_1234_5678, 4094, 63), 4094, 7));
        let without_peer = flow(0x1000, what(0_u16, -1, 0));
        assert_eq!((split_key(without_peer.site_key()), without_peer.peer()), ((0x1000, 0, 0), -1));
    }

    #[test]
    fn most_flows_have_the_first_row_that_is_looked_at() {
        let sites = [0x40_1136, 0x40_1150, 0x40_1171, 0x40_1fc0];
        let kinds = [(10_u16, 0_u64), (11, 0), (10, 1)];
        let of_site = |site| kinds.iter().flat_map(move |kind| (0..16).map(move |peer| (site, *kind, peer)));
        let place_of = |(site, (op, region), peer)| place(site, what(op, peer, region << KEY_REGION));
        let mut places: Vec<usize> = sites.into_iter().flat_map(of_site).map(place_of).collect();
        places.sort_unstable();
        places.dedup();
        // Of 192 in 4096 some 4 meet by chance.
        assert!((170..=192).contains(&places.len()), "{}", places.len());
    }

    #[test]
    fn rows_are_in_the_table() {
        for (site, what) in [(0, 1), (u64::MAX, u64::MAX), (0x40_1137, what(4000_u16, 511, 63 << KEY_REGION))] {
            let first = place(site, what);
            for place in [first, first ^ STEP] {
                assert!(place.is_multiple_of(STEP) && place < FLOWS * STEP, "{place}");
            }
        }
    }
}
