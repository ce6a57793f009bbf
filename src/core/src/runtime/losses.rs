//! PEs that are lost in a job that goes on without them (`oshrun --survive`; extensions, section 4.2).

use crate::base::{Cause, Fault};
use crate::bootstrap::job::Job;
use crate::memory::losses::Losses;
use crate::memory::map::Peer;
use crate::os::{processes, thread, wait};
use crate::team::World;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long waiters look for a new loss at every turn.
const HURRY: Duration = Duration::from_secs(1);
/// Until there is a loss.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// The losses of a job that goes on without them.
pub(super) fn of(job: &'static Job, peers: &'static [Peer]) -> Option<&'static Losses> {
    Losses::of(job, peers).map(|losses| &*Box::leak(Box::new(losses)))
}

/// Starts the thread that takes PEs out of the map as they are lost.
pub(super) fn monitor(w: &'static World) -> Result<(), Fault> {
    let Some(losses) = w.map.losses else { return Ok(()) };
    if let Some(transport) = w.map.transport {
        transport.survive();
    }
    let run = move || {
        let mut applied = 0;
        loop {
            let seen = losses.count();
            if seen == applied {
                losses.wait(seen, FOR_EVER);
                continue;
            }
            losses.apply(w.map.transport);
            applied = seen;
            w.map.alert.store(true, Ordering::Release);
            wait::hurry(true);
            losses.wait(seen, HURRY);
            wait::hurry(false);
        }
    };
    let started = thread::spawn(c"pellucid-losses", run);
    started
        .map(drop)
        .map_err(|error| Fault::from(Cause::Thread { what: "a thread", why: processes::refused_code(error) }))
}
