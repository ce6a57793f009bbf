//! What the profile is told of requests: how long each was under way, and whom a wait for one waits for.

use pellucid_core::base::observer::{EndedRequest, RequestObserver};
use pellucid_profile::{op, recorder};

use crate::thread;

/// Has the profile told.
pub const OBSERVER: RequestObserver = RequestObserver { now: recorder::request_time, routine, waits, ended };

fn routine() -> u32 {
    let current = thread::waiting().map(|(op, _)| op).or_else(recorder::current_op);
    current.map_or(0, |op| u32::from(op) + 1)
}

fn waits(pe: Option<u32>, routine: u32) {
    recorder::waits_on(pe.map_or(-1, |pe| pe as i32), op::request::awaited(routine));
}

fn ended(ended: &EndedRequest) {
    let EndedRequest { routine, open, waited, last } = *ended;
    recorder::request_ended(routine, open, waited, last);
}
