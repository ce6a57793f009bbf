//! Calls from one place of the program to one peer, of one routine in one region, of one size class where they are
//! counted by that: a flow.
//!
//! Most short calls are one of a few flows. Counting them here takes one look and one word or two; a reader adds what
//! flows have to the rows of operation, call site and peer. Rows are never given to another flow: what finds no room is
//! counted in the other tables at once.
//!
//! The call site comes last into where a row is, by one instruction. It has to be loaded after it was stored, and
//! processors do not load such a word before they know where all stores in front of it go. One of those is the count of
//! the call before: each call waits for the one before to have found its row.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::layout::STATE_ENTERED;
use super::sites::{KEY_REGION, key};
use crate::hash::fibonacci;
use crate::op::entered_for;
use crate::size::SIZE_CLASSES;

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
    /// Operation, peer and region: see [`what`]; 0 where the row is free.
    pub what: AtomicU64,
    /// Calls. Where [`crate::op::bytes_follow`] or [`crate::op::is_sized`] they are counted here only, and in neither
    /// [`super::layout::Cell`] nor [`super::layout::Row`].
    pub calls: AtomicU64,
    /// Bytes, where they do not follow from the calls: [`crate::op::bytes_follow`].
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

/// All of a flow but its call site: the word that shows its calls ([`entered_for`]), whose peer has the region over its
/// upper bits, which are all set where there is no peer and else are not, and whose state has the size class above it.
/// Never 0. `region_key` is that of [`key`].
#[inline(always)]
pub const fn what(word: u64, region_key: u64, class: usize) -> u64 {
    word ^ region_key ^ (class as u64) << CLASS
}

/// Where the size class is; [`STATE_ENTERED`] is below.
const CLASS: u32 = 18;
const _: () = assert!(STATE_ENTERED << 16 < 1 << CLASS && SIZE_CLASSES <= 1 << (24 - CLASS));

/// The bits of a peer that are no region's; all set: there is none.
const PEER: u64 = (1 << (KEY_REGION - 32)) - 1;

/// Whether calls to a peer can be told by [`what`]: there is none (-1), or it is one of the first 67 million.
pub fn is_told(peer: i32) -> bool {
    peer == -1 || u64::from(peer as u32) < PEER
}

/// Where a flow has its row, in bytes; where another one has that, it may have the one beside it: the exclusive or with
/// [`STEP`]. `what` is as [`what`] gives it. Calls are four bytes apart or more, so that each place of the program has
/// another one.
#[inline(always)]
pub const fn place(site: u64, what: u64) -> usize {
    let bits = FLOWS.trailing_zeros() + STEP.trailing_zeros();
    let mixed = fibonacci(what) >> (64 - bits);
    mixed.wrapping_add(site.wrapping_mul(STEP as u64 / 4)) as usize & (FLOWS * STEP - STEP)
}

impl Flow {
    /// The key of its call site in [`super::tables::ThreadTables::sites`].
    pub fn site_key(&self) -> u64 {
        let above = |what: u64| what >> KEY_REGION << KEY_REGION;
        let region_key = above(self.what.load(Relaxed)) ^ above(entered_for(0_u16, self.peer()));
        key(self.site.load(Relaxed), self.op(), region_key)
    }

    /// Its operation.
    pub fn op(&self) -> u16 {
        self.what.load(Relaxed) as u16
    }

    /// The size class of its calls; 0 where they are not counted by that.
    pub fn class(&self) -> usize {
        (self.what.load(Relaxed) >> CLASS) as usize % (1 << (24 - CLASS))
    }

    /// World number of its peer; -1: it has none.
    pub fn peer(&self) -> i32 {
        match self.what.load(Relaxed) >> 32 & PEER {
            PEER => -1,
            peer => peer as i32,
        }
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
        for (site, op, peer, region, class) in [
            (0x7fff_1234_5678, 4094, 7, 63, 0),
            (0x7fff_1234_5678, 4094, 0x3ff_fffe, 0, SIZE_CLASSES - 1),
            (0x1000, 0, -1, 0, 1),
            (0x1000, 1, -1, 63, 16),
            (0x1002, 2, 0, 0, 0),
        ] {
            assert!(is_told(peer));
            let told = flow(site, what(entered_for(op, peer), region << KEY_REGION, class));
            assert_eq!((told.op(), told.peer(), told.class()), (op, peer, class));
            assert_eq!(split_key(told.site_key()), (site, op, region as u8));
        }
        assert!(!is_told(-2) && !is_told(0x3ff_ffff) && !is_told(i32::MAX));
    }

    #[test]
    fn most_flows_have_the_first_row_that_is_looked_at() {
        let sites = [0x40_1136, 0x40_1150, 0x40_1171, 0x40_1fc0];
        let kinds = [(10_u16, 0_u64), (11, 0), (10, 1)];
        let of_site = |site| kinds.iter().flat_map(move |kind| (0..16).map(move |peer| (site, *kind, peer)));
        let place_of = |(site, (op, region), peer)| place(site, what(entered_for(op, peer), region << KEY_REGION, 0));
        let mut places: Vec<usize> = sites.into_iter().flat_map(of_site).map(place_of).collect();
        places.sort_unstable();
        places.dedup();
        // Of 192 in 4096 some 4 meet by chance.
        assert!((170..=192).contains(&places.len()), "{}", places.len());
    }

    #[test]
    fn rows_are_in_the_table() {
        for (site, what) in
            [(0, 1), (u64::MAX, u64::MAX), (0x40_1137, what(entered_for(4000_u16, 511), 63 << KEY_REGION, 0))]
        {
            let first = place(site, what);
            for place in [first, first ^ STEP] {
                assert!(place.is_multiple_of(STEP) && place < FLOWS * STEP, "{place}");
            }
        }
    }
}
