//! What a thread has called of late, and where that was counted: loops make the same calls again and again, and the
//! next of the same kind is counted there without a search. It is kept in this process, as references to the rows.
#![allow(unsafe_code)]

use std::cell::Cell;

use super::unstamped::KnownCaller;
use crate::segment::algorithms::AlgorithmRow;
use crate::segment::layout::{self, SLOTS, Size};
use crate::segment::meetings::TeamRow;
use crate::segment::sites::Site;

/// Calls that are kept: by where they return to.
const CALLS: usize = 8;
/// Teams that are kept: by handle.
const TEAMS: usize = 4;

/// What the owner of a slot has called of late.
pub(super) struct Recent {
    calls: [RecentCall; CALLS],
    teams: [RecentTeam; TEAMS],
}

// SAFETY: only the thread that owns the slot with the same number is given it ([`of_slot`]), in a process that attaches
// once, as programs do. A call in a signal handler may come between two words of it: it leaves what is kept of another
// place, or of the same call site, whose return address is compared before the rows are used.
unsafe impl Sync for Recent {}

/// A call without a stamp.
#[repr(align(128))]
pub(super) struct RecentCall {
    /// Operation, peer and algorithm; 0: there was none.
    pub call: Cell<u64>,
    /// Bytes.
    pub bytes: Cell<u64>,
    /// Where it returned to.
    pub return_address: Cell<u64>,
    /// The region in place, as in keys of call sites.
    pub region_key: Cell<u64>,
    /// Where it was counted.
    pub rows: Cell<Option<Rows>>,
}

/// The rows that a call was counted in.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// Of its routine.
    pub cell: &'static layout::Cell,
    /// Of its bytes, where it has some.
    pub size: Option<&'static Size>,
    /// Of call sites.
    pub site: &'static Site,
    /// The number of that row.
    pub site_number: u32,
    /// Of algorithms.
    pub algorithm: Option<&'static AlgorithmRow>,
    /// Of teams.
    pub team: Option<&'static TeamRow>,
}

/// A team that a collective was called on.
pub(super) struct RecentTeam {
    /// Its handle.
    pub handle: Cell<usize>,
    /// How many teams there had been then. A handle may be that of another team once there are more.
    pub made: Cell<u64>,
    /// What is known of it; `None`: there was none.
    pub known: Cell<Option<KnownCaller>>,
}

static OF_SLOTS: [Recent; SLOTS] = [const {
    Recent {
        calls: [const {
            RecentCall {
                call: Cell::new(0),
                bytes: Cell::new(0),
                return_address: Cell::new(0),
                region_key: Cell::new(0),
                rows: Cell::new(None),
            }
        }; CALLS],
        teams: [const { RecentTeam { handle: Cell::new(0), made: Cell::new(0), known: Cell::new(None) } }; TEAMS],
    }
}; SLOTS];

/// What the owner of the slot with this number keeps, as empty as it is for a new one.
pub(super) fn of_slot(number: usize) -> &'static Recent {
    let recent = &OF_SLOTS[number];
    recent.calls.iter().for_each(|call| call.call.set(0));
    recent.teams.iter().for_each(|team| team.known.set(None));
    recent
}

impl Recent {
    /// What is kept of the last call that returned to this address, or to another of its place.
    #[inline(always)]
    pub fn call(&self, return_address: u64) -> &RecentCall {
        &self.calls[(return_address ^ return_address >> 4) as usize % CALLS]
    }

    /// What is kept of the team with this handle, or of another of its place.
    #[inline(always)]
    pub fn team(&self, handle: usize) -> &RecentTeam {
        &self.teams[(handle ^ handle >> 6) % TEAMS]
    }
}
