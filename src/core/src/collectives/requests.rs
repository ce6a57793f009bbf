//! Waiting for requests and asking for them (extensions, section 3.2).
//!
//! Two conventions: the paper's, by value, where 1 is complete; and the committee's draft, by address, where 0 is
//! complete and the handle becomes invalid.
#![allow(unsafe_code)]

use crate::base::{Cause, Fault, report};
use crate::os::wait::{self, Backoff};
use crate::request::{self, Request, RequestState, observer, uses};
use crate::team::World;
use std::time::Duration;

/// No such request: what the draft's routines give.
const INVALID: i32 = -1;

/// Lets everything go on that is under way.
fn progress(w: &World) -> Result<(), Fault> {
    if let Some(transport) = w.map.transport {
        transport.progress();
    }
    w.common.mail.flush()?;
    request::advance().map(drop)
}

/// Turns of a wait for a file before it sleeps, and how long at most, where PEs share cores: the one that moves bytes
/// needs them.
const TURNS: u32 = 256;
const SLEEP: Duration = Duration::from_millis(10);

/// Waits until `done` gives something; `of`: the request that the wait is for, the first of several.
fn until<R>(w: &World, of: Option<Request>, mut done: impl FnMut() -> Option<R>) -> Result<R, Fault> {
    let mut backoff = Backoff::new(w.map.oversubscribed);
    loop {
        if let Some(result) = done() {
            return Ok(result);
        }
        progress(w)?;
        if backoff.step()
            && let Some(request) = of
        {
            observer::waits_for(request);
        }
    }
}

/// Whether a request is complete, or was.
fn is_complete(request: Request) -> bool {
    request::state(request) != RequestState::Pending
}

/// One look, after everything has gone on.
fn look(w: &World, request: Request) -> Result<RequestState, Fault> {
    let state = request::state(request);
    if state != RequestState::Pending {
        return Ok(state);
    }
    wait::assist();
    progress(w)?;
    Ok(request::state(request))
}

/// Waits for a request. Gives since when it had to wait, in the observer's time; 0: it had not.
fn complete_since(w: &World, request: Request) -> Result<u64, Fault> {
    if is_complete(request) {
        return Ok(0);
    }
    let since = observer::now();
    until(w, Some(request), || is_complete(request).then_some(()))?;
    Ok(since)
}

/// As [`complete_since`], of a request on a file. Where PEs share cores, it sleeps until a message comes.
fn file_complete_since(w: &World, request: Request) -> Result<u64, Fault> {
    if !w.map.oversubscribed || w.map.transport.is_some() || is_complete(request) {
        return complete_since(w, request);
    }
    let (since, mut turns) = (observer::now(), 0);
    until(w, Some(request), || {
        turns += 1;
        if turns > TURNS && !is_complete(request) && w.common.mail.is_sent() {
            w.common.mail.sleep(SLEEP);
        }
        is_complete(request).then_some(())
    })?;
    Ok(since)
}

/// Waits for a request and ends it. One that was complete before, and `SHMEMX_REQ_INVALID`, need no wait.
pub fn wait_by_value(w: &World, request: Request) -> Result<(), Fault> {
    wait_by(w, request, complete_since)
}

/// As [`wait_by_value`], of a request on a file.
pub fn wait_for_file(w: &World, request: Request) -> Result<(), Fault> {
    wait_by(w, request, file_complete_since)
}

fn wait_by(
    w: &World,
    request: Request,
    complete_since: fn(&World, Request) -> Result<u64, Fault>,
) -> Result<(), Fault> {
    w.map.ready()?;
    known(request)?;
    let _alone = uses::wait(request)?;
    let since = complete_since(w, request)?;
    let outcome = request::take_outcome(request);
    request::end(request, since);
    outcome.map_or(Ok(()), Err)
}

/// A number that no call has given is no handle.
fn known(request: Request) -> Result<(), Fault> {
    if request == Request::INVALID || request::state(request) != RequestState::Unknown {
        return Ok(());
    }
    let value = request.0 as i64;
    Err(Fault::from(Cause::BadValue { arg: "request", value, expected: "a handle that a nonblocking routine gave" }))
}

/// 1 where a request is complete, which ends it, or was; 0 where it is under way.
pub fn test_by_value(w: &World, request: Request) -> Result<i32, Fault> {
    w.map.ready()?;
    known(request)?;
    if look(w, request)? == RequestState::Pending {
        return Ok(0);
    }
    if let Some(fault) = request::take_outcome(request) {
        report::tell(&fault);
    }
    request::end(request, 0);
    Ok(1)
}

/// The handle at an address.
fn read(place: *const Request) -> Result<Request, Fault> {
    if place.is_null() {
        return Err(Fault::from(Cause::Null { arg: "request", bytes: size_of::<Request>() }));
    }
    // SAFETY: not null; the caller vouches for a handle there.
    Ok(unsafe { place.read_unaligned() })
}

/// Ends the request at an address that was waited for `since` then, and invalidates the handle there. Gives 0, or the
/// code of what it came to.
fn end(place: *mut Request, request: Request, since: u64) -> i32 {
    let outcome = request::take_outcome(request);
    request::end(request, since);
    // SAFETY: the handle was read there.
    unsafe { place.write_unaligned(Request::INVALID) };
    outcome.map_or(0, |fault| report::tell(&fault))
}

fn is_live(request: Request) -> bool {
    matches!(request::state(request), RequestState::Pending | RequestState::Complete)
}

/// Waits for the request at an address. 0, or negative where there is none, and where it came to an error.
pub fn wait(w: &World, place: *mut Request) -> Result<i32, Fault> {
    w.map.ready()?;
    let request = read(place)?;
    if !is_live(request) {
        return Ok(INVALID);
    }
    let _alone = uses::wait(request)?;
    let since = complete_since(w, request)?;
    Ok(end(place, request, since))
}

/// 0 where the request at an address is complete, 1 where it is under way, negative where there is none, and where it
/// came to an error.
pub fn test(w: &World, place: *mut Request) -> Result<i32, Fault> {
    w.map.ready()?;
    let request = read(place)?;
    if !is_live(request) {
        return Ok(INVALID);
    }
    if look(w, request)? == RequestState::Pending {
        return Ok(1);
    }
    Ok(end(place, request, 0))
}

/// Addresses of `n` handles.
fn places(n: usize, first: *mut Request) -> Result<impl Iterator<Item = *mut Request> + Clone, Fault> {
    if n > 0 {
        read(first)?;
    }
    Ok((0..n).map(move |i| first.wrapping_add(i)))
}

/// Waits for all of some requests; invalid handles are skipped. 0, or the code of the first that came to an error.
pub fn wait_all(w: &World, n: usize, first: *mut Request) -> Result<i32, Fault> {
    w.map.ready()?;
    let mut code = 0;
    for place in places(n, first)? {
        let live = read(place).is_ok_and(is_live);
        let came_to = wait(w, place)?;
        if live && code == 0 {
            code = came_to;
        }
    }
    Ok(code)
}

/// Waits for one of some requests, and gives its index; `SIZE_MAX` where no handle is valid.
pub fn wait_any(w: &World, n: usize, first: *mut Request) -> Result<usize, Fault> {
    w.map.ready()?;
    let live = |place: &*mut Request| read(*place).is_ok_and(is_live);
    let all = places(n, first)?;
    if !all.clone().any(|place| live(&place)) {
        return Ok(usize::MAX);
    }
    let is_there = all.clone().any(|place| live(&place) && read(place).is_ok_and(is_complete));
    let (since, first) = (if is_there { 0 } else { observer::now() }, all.clone().find(|place| live(place)));
    let found = until(w, first.and_then(|place| read(place).ok()), || {
        let mut candidates = all.clone().enumerate().filter(|(_, place)| live(place));
        candidates.find(|(_, place)| read(*place).is_ok_and(is_complete))
    })?;
    end(found.1, read(found.1)?, since);
    Ok(found.0)
}

/// Writes the indices of those of some requests that are complete, which ends them, and gives how many there are.
pub fn test_some(w: &World, n: usize, first: *mut Request, indices: *mut usize) -> Result<usize, Fault> {
    w.map.ready()?;
    let all = places(n, first)?;
    if n > 0 && indices.is_null() {
        return Err(Fault::from(Cause::Null { arg: "indices", bytes: n.saturating_mul(size_of::<usize>()) }));
    }
    wait::assist();
    progress(w)?;
    let mut found = 0;
    for (i, place) in all.enumerate() {
        let request = read(place)?;
        if is_live(request) && is_complete(request) {
            end(place, request, 0);
            // SAFETY: the caller vouches for room for n indices.
            unsafe { indices.add(found).write_unaligned(i) };
            found += 1;
        }
    }
    Ok(found)
}

/// Lets all schedules come to their ends, and their messages leave: before the last meeting.
pub fn complete_all(w: &World) -> Result<(), Fault> {
    if !request::are_running() && w.common.mail.is_sent() {
        return Ok(());
    }
    until(w, None, || (!request::are_running() && w.common.mail.is_sent()).then_some(()))
}
