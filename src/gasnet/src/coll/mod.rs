//! Collectives over active messages: each is a schedule that is advanced whenever its process looks for messages, in
//! calls of OpenSHMEM, too.
//!
//! | file | idea |
//! |---|---|
//! | `mail.rs` | data that members send each other, by team, number and step |
//! | `tree.rs` | up and down a binomial tree: broadcast, reductions, gathering |
//! | `barrier.rs` | dissemination, with names that have to match |
//! | `reduce.rs` | combining operands |
//! | `entry.rs` | the functions of the API |
//! | `old.rs` | `gasnet_coll_*` |

pub mod barrier;
pub mod entry;
pub mod mail;
pub mod old;
pub mod reduce;
pub mod tree;

use crate::event::{self, Slot};
use crate::fail::is_unrestricted;
use crate::progress;
use crate::record::Whom;
use crate::team::Team;
use crate::types::{EVENT_INVALID, EventHandle};
use pellucid_core::runtime;
use pellucid_profile::op::gasnet::Awaited;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A collective under way.
pub trait Schedule: Send {
    /// Does what can be done now; whether it is complete.
    fn advance(&mut self) -> bool;

    /// The PE whose data it lacks, to go on.
    fn lacks(&self) -> Option<i32>;
}

struct Active {
    schedule: Box<dyn Schedule>,
    slot: &'static Slot,
}

static ACTIVE: Mutex<Vec<Active>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Moves all collectives on, unless another thread does so.
#[inline]
pub fn advance() {
    if COUNT.load(Ordering::Relaxed) > 0 {
        advance_all();
    }
}

#[cold]
fn advance_all() {
    let Ok(mut active) = ACTIVE.try_lock() else { return };
    active.retain_mut(|one| {
        let complete = one.schedule.advance();
        if complete {
            one.slot.counted.slot().end();
        }
        !complete
    });
    COUNT.store(active.len(), Ordering::Relaxed);
}

/// As [`advance`], in waits of the library's: the program may be anywhere, and so may the thread in a call of this one.
/// Where requests cannot be sent, or a client's function cannot run, that is left to a later look.
pub fn advance_in_waits() {
    if COUNT.load(Ordering::Relaxed) > 0 && is_unrestricted() && runtime::messages().may_request() {
        advance_all();
    }
}

/// Begins a collective; the event of it.
pub fn begin(mut schedule: Box<dyn Schedule>) -> EventHandle {
    if schedule.advance() {
        return EVENT_INVALID;
    }
    let slot = event::take();
    slot.counted.slot().begin();
    let root = slot.root();
    let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
    active.push(Active { schedule, slot });
    COUNT.store(active.len(), Ordering::Relaxed);
    root
}

/// Runs a collective to its end.
pub fn run(routine: &'static str, mut schedule: impl Schedule) {
    progress::until_of(routine, &mut schedule, Schedule::advance, |schedule| whom(schedule));
}

/// For whom a wait for a schedule is.
pub fn whom(schedule: &(impl Schedule + ?Sized)) -> Whom {
    schedule.lacks().map(|pe| (pe, Awaited::Part.address()))
}

/// For whom a wait is that is for the first collective under way that fits; `None` also while another thread moves them
/// on.
fn lacking(fits: impl Fn(&Active) -> bool) -> Whom {
    let active = ACTIVE.try_lock().ok()?;
    active.iter().find(|active| fits(active)).and_then(|active| whom(&*active.schedule))
}

/// For whom a wait for an event is, if that is of a collective.
pub fn lacking_of(slot: &Slot) -> Whom {
    lacking(|active| std::ptr::eq(active.slot, slot))
}

/// For whom a wait for the collective is that was begun first of those under way.
pub fn lacking_of_any() -> Whom {
    lacking(|_| true)
}

/// What every member gives, by rank.
pub fn gather_all(routine: &'static str, team: &'static Team, mine: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    run(routine, tree::gather(team, mine, &mut all));
    all
}
