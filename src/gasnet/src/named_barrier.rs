//! The barriers of GASNet-1, which have names that have to match: that of the job, and those of teams
//! (`gasnet_coll_barrier_notify` ...), which no specification has. Each team has one at a time.
#![allow(unsafe_code)]

use crate::coll::barrier::{Barrier, Name, outcome};
use crate::coll::begin;
use crate::event::{self, gex_Event_Test};
use crate::fail::{refuse, unrestricted};
use crate::legacy::attached;
use crate::start;
use crate::team::Team;
use crate::types::{EventHandle, Tm, code};
use crate::{op, progress, record};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A barrier between its notify and its wait.
struct Notified {
    event: EventHandle,
    result: Arc<AtomicU64>,
    id: c_int,
    flags: c_int,
}

/// What a team's barriers have come to.
#[derive(Default)]
struct OfTeam {
    notified: Option<Notified>,
    /// The word that the last one has found.
    last: u64,
}

/// By [`Team::id`], of which no two teams of a process are alike.
static TEAMS: Mutex<BTreeMap<u64, OfTeam>> = Mutex::new(BTreeMap::new());
/// Whether that of the job is between its notify and its wait.
static IS_NOTIFIED: AtomicBool = AtomicBool::new(false);

/// Refuses a collective on the primordial team between notify and wait.
pub fn no_barrier(routine: &'static str, team: &Team) {
    if IS_NOTIFIED.load(Ordering::Relaxed) && is_primordial(team) {
        refuse(
            routine,
            "called on the primordial team between gasnet_barrier_notify and gasnet_barrier_wait: collectives and \
             GASNet-1 barriers of a team do not mix",
        )
    }
}

fn is_primordial(team: &Team) -> bool {
    ptr::eq(team, start::client().team)
}

fn tell(team: &Team, is_notified: bool) {
    if is_primordial(team) {
        IS_NOTIFIED.store(is_notified, Ordering::Relaxed);
    }
}

fn teams() -> MutexGuard<'static, BTreeMap<u64, OfTeam>> {
    TEAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

const ANONYMOUS: c_int = 1;
const MISMATCH: c_int = 2;
const UNNAMED: c_int = 4;

fn notify(routine: &'static str, team: &'static Team, id: c_int, flags: c_int) {
    if teams().get(&team.id).is_some_and(|of_team| of_team.notified.is_some()) {
        refuse(routine, "called a second time without gasnet_barrier_wait in between")
    }
    let name = match flags {
        _ if flags & MISMATCH != 0 => Name::Mismatch,
        _ if flags & (ANONYMOUS | UNNAMED) != 0 => Name::Anonymous,
        _ => Name::Is(id),
    };
    let (barrier, result) = Barrier::new(team, name);
    let event = record::sampled(op!(OLD_NOTIFY), -1, 0, 0, || begin(Box::new(barrier)));
    teams().entry(team.id).or_default().notified = Some(Notified { event, result, id, flags });
    tell(team, true);
}

/// Whether what a PE waits with fits what it has notified and what the barrier has found.
fn compare(team: &Team, notified: &Notified, id: c_int, flags: c_int) -> c_int {
    tell(team, false);
    let found = outcome(&notified.result);
    teams().entry(team.id).or_default().last = notified.result.load(Ordering::Acquire);
    let differs = flags != notified.flags || (flags == 0 && id != notified.id);
    if differs || found == Name::Mismatch { code::BARRIER_MISMATCH } else { code::OK }
}

fn take(routine: &'static str, team: &Team) -> Notified {
    let taken = teams().get_mut(&team.id).and_then(|of_team| of_team.notified.take());
    taken.unwrap_or_else(|| refuse(routine, "called without gasnet_barrier_notify before"))
}

fn wait(routine: &'static str, team: &Team, id: c_int, flags: c_int) -> c_int {
    let notified = take(routine, team);
    record::timed(op!(OLD_WAIT), -1, 0, 0, || event::finish(routine, notified.event));
    compare(team, &notified, id, flags)
}

fn try_once(routine: &'static str, team: &Team, id: c_int, flags: c_int) -> c_int {
    let taken = take(routine, team);
    progress::try_once(routine);
    if gex_Event_Test(taken.event) != code::OK {
        teams().entry(team.id).or_default().notified = Some(taken);
        return code::NOT_READY;
    }
    compare(team, &taken, id, flags)
}

/// The name of the last barrier: 0 where it had one.
///
/// # Safety
/// A place for the answer.
unsafe fn result(team: &Team, id: *mut c_int) -> c_int {
    let last = teams().get(&team.id).map_or(0, |of_team| of_team.last);
    match outcome(&AtomicU64::new(last)) {
        Name::Is(name) => {
            // SAFETY: the caller's.
            unsafe { id.write(name) };
            0
        }
        _ => 1,
    }
}

/// The team of the job's barrier.
fn of_job(routine: &'static str) -> &'static Team {
    unrestricted(routine);
    attached(routine);
    start::client().team
}

/// The team of another one.
fn of_team(routine: &'static str, tm: Tm) -> &'static Team {
    unrestricted(routine);
    Team::of(routine, tm)
}

/// `gasnet_barrier_notify`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_barrier_notify(id: c_int, flags: c_int) {
    const R: &str = "gasnet_barrier_notify";
    notify(R, of_job(R), id, flags);
}

/// `gasnet_barrier_wait`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_barrier_wait(id: c_int, flags: c_int) -> c_int {
    const R: &str = "gasnet_barrier_wait";
    wait(R, of_job(R), id, flags)
}

/// `gasnet_barrier_try`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_barrier_try(id: c_int, flags: c_int) -> c_int {
    const R: &str = "gasnet_barrier_try";
    try_once(R, of_job(R), id, flags)
}

/// `gasnet_barrier`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_barrier(id: c_int, flags: c_int) -> c_int {
    gasnet_barrier_notify(id, flags);
    gasnet_barrier_wait(id, flags)
}

/// `gasnet_barrier_result`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_barrier_result(id: *mut c_int) -> c_int {
    // SAFETY: a place for the answer, says the caller; so below.
    unsafe { result(of_job("gasnet_barrier_result"), id) }
}

/// `gasnet_coll_barrier_notify`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_coll_barrier_notify(tm: Tm, id: c_int, flags: c_int) {
    const R: &str = "gasnet_coll_barrier_notify";
    notify(R, of_team(R, tm), id, flags);
}

/// `gasnet_coll_barrier_wait`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_coll_barrier_wait(tm: Tm, id: c_int, flags: c_int) -> c_int {
    const R: &str = "gasnet_coll_barrier_wait";
    wait(R, of_team(R, tm), id, flags)
}

/// `gasnet_coll_barrier_try`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_coll_barrier_try(tm: Tm, id: c_int, flags: c_int) -> c_int {
    const R: &str = "gasnet_coll_barrier_try";
    try_once(R, of_team(R, tm), id, flags)
}

/// `gasnet_coll_barrier`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_coll_barrier(tm: Tm, id: c_int, flags: c_int) -> c_int {
    gasnet_coll_barrier_notify(tm, id, flags);
    gasnet_coll_barrier_wait(tm, id, flags)
}

/// `gasnet_coll_barrier_result`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_coll_barrier_result(tm: Tm, id: *mut c_int) -> c_int {
    // SAFETY: see above.
    unsafe { result(of_team("gasnet_coll_barrier_result", tm), id) }
}
