//! What libfabric looks at: the descriptors of its own calls of `poll` and `epoll_wait`, so that a thread can sleep on them.
//!
//! A completion queue with a descriptor to sleep on (`FI_WAIT_FD`) makes `tcp` keep its sockets in an `epoll` instance inside
//! another one, and every operation 2 to 3 us slower, whether anybody sleeps or not. Without, it polls its sockets, but does not tell
//! which they are. So its calls of the C library are passed on by [`Library::watch`]: a thread that is [`seeing`] learns what a look at the
//! queue has looked at, and finds the next event by polling the same.
#![allow(unsafe_code)]

use crate::library::Library;
use crate::slots::Object;
use libc::{epoll_event, nfds_t, pollfd};
use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::OnceLock;

/// What was looked at.
#[derive(Debug, Default)]
pub struct Seen {
    sets: Vec<Set>,
    ready: bool,
}

/// What one kind of look looks at; a provider may not look at all of it each time.
#[derive(Debug)]
struct Set {
    /// Tells the sets apart: address of the array, or the descriptor of an `epoll` instance, which is no address.
    of: usize,
    /// Seen since [`Seen::begin`].
    fresh: bool,
    descriptors: Vec<(c_int, i16)>,
}

impl Seen {
    /// What is seen from now on is a new look.
    pub fn begin(&mut self) {
        self.ready = false;
        for set in &mut self.sets {
            set.fresh = false;
        }
    }

    /// Whether the look has found something ready, so that what it looked at may be something else by now.
    pub fn ready(&self) -> bool {
        self.ready
    }

    /// Forgets what the last look has not looked at.
    pub fn forget(&mut self) {
        self.sets.retain(|set| set.fresh);
    }

    /// Whether anything was looked at.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// All that was looked at, for `poll`, behind what is in `out` already.
    pub fn list(&self, out: &mut Vec<pollfd>) {
        let all = self.sets.iter().flat_map(|set| &set.descriptors);
        out.extend(all.map(|&(fd, events)| pollfd { fd, events, revents: 0 }));
    }

    fn note(&mut self, of: usize, found: c_int, descriptors: impl Iterator<Item = (c_int, i16)>) {
        self.ready |= found != 0;
        let at = self.sets.iter().position(|set| set.of == of).unwrap_or_else(|| {
            self.sets.push(Set { of, fresh: true, descriptors: Vec::new() });
            self.sets.len() - 1
        });
        let set = &mut self.sets[at];
        set.fresh = true;
        set.descriptors.clear();
        set.descriptors.extend(descriptors);
    }
}

thread_local! {
    /// Where this thread notes what it sees; null where it does not.
    static NOTES: Cell<*mut Seen> = const { Cell::new(ptr::null_mut()) };
    /// Looks of libfabric in this thread that have found something.
    static FOUND: Cell<u32> = const { Cell::new(0) };
}

/// How often libfabric has found something in this thread, once it is watched: it may look at something else since.
pub fn found() -> u32 {
    FOUND.with(Cell::get)
}

fn count(found: c_int) {
    if found != 0 {
        FOUND.with(|count| count.set(count.get().wrapping_add(1)));
    }
}

/// Runs `look`, and notes what libfabric looks at in it.
pub fn seeing<R>(seen: &mut Seen, look: impl FnOnce() -> R) -> R {
    NOTES.with(|notes| notes.set(seen));
    let result = look();
    NOTES.with(|notes| notes.set(ptr::null_mut()));
    result
}

unsafe extern "C" fn poll(fds: *mut pollfd, n: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    let found = unsafe { libc::poll(fds, n, timeout) };
    count(found);
    let notes = NOTES.with(Cell::get);
    if !notes.is_null() && n > 0 {
        // SAFETY: `seeing` runs, which lent it; poll was given an array of n.
        let (notes, fds) = unsafe { (&mut *notes, std::slice::from_raw_parts(fds, n as usize)) };
        notes.note(fds.as_ptr() as usize, found, fds.iter().map(|one| (one.fd, one.events)));
    }
    found
}

unsafe extern "C" fn epoll_wait(instance: c_int, events: *mut epoll_event, n: c_int, timeout: c_int) -> c_int {
    // SAFETY: the caller's.
    let found = unsafe { libc::epoll_wait(instance, events, n, timeout) };
    count(found);
    let notes = NOTES.with(Cell::get);
    if !notes.is_null() {
        // SAFETY: as above.
        unsafe { &mut *notes }.note(instance as usize, found, std::iter::once((instance, libc::POLLIN)));
    }
    found
}

impl Library {
    /// Has libfabric's looks be seen, from now on; false where its calls cannot be passed on.
    pub fn watch(&self) -> bool {
        static DONE: OnceLock<bool> = OnceLock::new();
        *DONE.get_or_init(|| {
            let Some(libfabric) = Object::at(self.address()) else { return false };
            let poll = poll as unsafe extern "C" fn(_, _, _) -> _ as usize;
            let epoll_wait = epoll_wait as unsafe extern "C" fn(_, _, _, _) -> _ as usize;
            // SAFETY: functions of the same types that pass their calls on.
            unsafe {
                libfabric.redirect(c"poll", poll).is_some() & libfabric.redirect(c"epoll_wait", epoll_wait).is_some()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_what_was_looked_at_last() {
        let mut seen = Seen::default();
        let look = |seen: &mut Seen, fds: &mut [pollfd]| {
            // SAFETY: an array of that length.
            seeing(seen, || unsafe { poll(fds.as_mut_ptr(), fds.len() as nfds_t, 0) })
        };
        let one = |fd| pollfd { fd, events: libc::POLLIN, revents: 0 };
        let listed = |seen: &Seen| {
            let mut out = Vec::new();
            seen.list(&mut out);
            out.iter().map(|one| one.fd).collect::<Vec<_>>()
        };
        // Negative descriptors are ignored by the kernel, and never ready.
        let (mut first, mut second) = ([one(-7), one(-8)], [one(-9)]);
        assert!(seen.is_empty());
        look(&mut seen, &mut first);
        look(&mut seen, &mut second);
        assert!(!seen.ready() && listed(&seen) == [-7, -8, -9]);
        // The first has changed; the second is as it was when last seen, and can be forgotten.
        first[0].fd = -5;
        seen.begin();
        look(&mut seen, &mut first);
        assert_eq!(listed(&seen), [-5, -8, -9]);
        seen.forget();
        assert_eq!(listed(&seen), [-5, -8]);
        // A closed descriptor is ready, so that nobody sleeps on it.
        first[1].fd = c_int::MAX;
        let before = found();
        look(&mut seen, &mut first);
        assert!(seen.ready() && found() == before + 1);
        // Without seeing, nothing is noted.
        seen.begin();
        // SAFETY: an array of one.
        unsafe { poll(second.as_mut_ptr(), 1, 0) };
        assert_eq!(listed(&seen).len(), 2);
    }
}
