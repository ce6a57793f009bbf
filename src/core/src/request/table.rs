//! The slots behind handles. There are as many as were ever outstanding at a time, in chunks that stay where they are.

#![allow(unsafe_code)]

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::observer;
use crate::base::fifo::Fifo;
use crate::base::{Cause, Fault};
use crate::transport::Event;

/// A handle: number of its slot in the low half, above it which of the slot's requests it is, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Request(pub u64);

impl Request {
    /// No request.
    pub const INVALID: Self = Self(0);
    /// Of an operation that was complete when its call returned.
    pub const COMPLETE: Self = Self::new(u32::MAX, 1);

    const fn new(slot: u32, generation: u32) -> Self {
        Self((generation as u64) << 32 | slot as u64)
    }

    fn slot(self) -> u32 {
        self.0 as u32
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Where a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// Under way.
    Pending,
    /// Complete, and not ended yet.
    Complete,
    /// It was complete, and has been ended.
    Stale,
    /// There never was such a request.
    Unknown,
}

/// What is behind a handle.
#[derive(Debug)]
pub(super) struct Slot {
    /// Of the request that is in it, or was in it last; odd numbers are not special.
    generation: AtomicU32,
    /// Behind it among those that are free.
    next: AtomicU32,
    live: AtomicBool,
    /// A schedule that has not come to its end yet.
    pub scheduled: AtomicBool,
    /// Of its transfers.
    pub event: Event,
    /// World number of the PE that it lacks something of, or lacked last; negative: not known.
    pub awaited: AtomicI32,
    /// See [`super::observer::EndedRequest::routine`].
    pub routine: AtomicU32,
    /// When it began, and when its schedule came to its end, in the observer's time; 0: not known.
    pub began: AtomicU64,
    pub complete: AtomicU64,
}

const CHUNK: usize = 1024;
const CHUNKS: usize = 16384;
/// Requests that can be outstanding.
const MOST: usize = CHUNK * CHUNKS;

struct Free {
    /// Left, the one that was left longest ago first.
    spare: Fifo,
    /// Slots from here on were never used.
    fresh: u32,
}

/// All slots of a process.
pub(super) struct Table {
    /// Null, or a chunk that is never given back: all zeros at first, so that the table takes no room in the
    /// library's file.
    chunks: [AtomicPtr<[Slot; CHUNK]>; CHUNKS],
    free: Mutex<Free>,
}

pub(super) static TABLE: Table = Table {
    chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS],
    free: Mutex::new(Free { spare: Fifo::EMPTY, fresh: 0 }),
};

fn slots() -> Box<[Slot; CHUNK]> {
    let slot = || Slot {
        generation: AtomicU32::new(0),
        next: AtomicU32::new(0),
        live: AtomicBool::new(false),
        scheduled: AtomicBool::new(false),
        event: Event::new(),
        awaited: AtomicI32::new(-1),
        routine: AtomicU32::new(0),
        began: AtomicU64::new(0),
        complete: AtomicU64::new(0),
    };
    let slots: Vec<Slot> = (0..CHUNK).map(|_| slot()).collect();
    slots.try_into().unwrap_or_else(|_| unreachable!("as many as a chunk has"))
}

impl Table {
    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self, number: u32) -> Option<&Slot> {
        let chunk = self.chunks.get(number as usize / CHUNK)?.load(Ordering::Acquire);
        // SAFETY: null, or a chunk that `chunk` put there, complete, and that nobody takes away.
        unsafe { chunk.as_ref() }.map(|slots| &slots[number as usize % CHUNK])
    }

    /// The chunk with this number, which is made where nobody has.
    fn chunk(&'static self, number: usize) -> &'static [Slot; CHUNK] {
        let place = &self.chunks[number];
        let mut chunk = place.load(Ordering::Acquire);
        if chunk.is_null() {
            let made = Box::into_raw(slots());
            match place.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => chunk = made,
                Err(others) => {
                    // SAFETY: made above, and seen by nobody.
                    drop(unsafe { Box::from_raw(made) });
                    chunk = others;
                }
            }
        }
        // SAFETY: not null, and never given back once it is in its place.
        unsafe { &*chunk }
    }

    fn next(&self, number: u32) -> &AtomicU32 {
        &self.slot(number).expect("a slot that was used before").next
    }

    /// A new request, pending until its event or, where it is `scheduled`, its schedule says otherwise.
    ///
    /// Fault: there are as many as there can be.
    pub fn insert(&'static self, scheduled: bool) -> Result<(Request, &'static Slot), Fault> {
        let mut free = self.free();
        let number = match free.spare.pop(|number| self.next(number)) {
            Some(number) => number,
            None if free.fresh as usize == MOST => return Err(Fault::from(Cause::Requests { most: MOST })),
            None => {
                free.fresh += 1;
                free.fresh - 1
            }
        };
        drop(free);
        let slot = &self.chunk(number as usize / CHUNK)[number as usize % CHUNK];
        let generation = slot.generation.load(Ordering::Relaxed).wrapping_add(1).max(1);
        slot.scheduled.store(scheduled, Ordering::Relaxed);
        slot.event.take_failure();
        observer::begin(slot);
        slot.generation.store(generation, Ordering::Relaxed);
        slot.live.store(true, Ordering::Release);
        Ok((Request::new(number, generation), slot))
    }

    /// The live slot of a request.
    pub fn live(&self, request: Request) -> Option<&Slot> {
        let slot = self.slot(request.slot())?;
        let is_it =
            slot.live.load(Ordering::Acquire) && slot.generation.load(Ordering::Relaxed) == request.generation();
        is_it.then_some(slot)
    }

    pub fn state(&self, request: Request) -> RequestState {
        if request == Request::COMPLETE {
            return RequestState::Complete;
        }
        let Some(slot) = self.slot(request.slot()).filter(|_| request.generation() > 0) else {
            return RequestState::Unknown;
        };
        match self.live(request) {
            Some(slot) if slot.scheduled.load(Ordering::Acquire) || !slot.event.is_complete() => RequestState::Pending,
            Some(_) => RequestState::Complete,
            None if request.generation() <= slot.generation.load(Ordering::Relaxed) => RequestState::Stale,
            None => RequestState::Unknown,
        }
    }

    /// Ends a request.
    pub fn remove(&self, request: Request) {
        if let Some(slot) = self.live(request)
            && slot.live.swap(false, Ordering::AcqRel)
        {
            self.free().spare.push(request.slot(), |number| self.next(number));
        }
    }

    fn for_each(&self, mut with: impl FnMut(u32, &Slot)) {
        let fresh = self.free().fresh;
        for number in 0..fresh {
            if let Some(slot) = self.slot(number).filter(|slot| slot.live.load(Ordering::Acquire)) {
                with(number, slot);
            }
        }
    }

    pub fn all_complete(&self) -> bool {
        let mut all = true;
        self.for_each(|_, slot| all &= !slot.scheduled.load(Ordering::Acquire) && slot.event.is_complete());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_go_stale_and_wild_ones_are_told_apart() {
        let (first, _) = TABLE.insert(true).unwrap();
        assert_eq!(TABLE.state(first), RequestState::Pending);
        TABLE.live(first).unwrap().scheduled.store(false, Ordering::Release);
        assert_eq!(TABLE.state(first), RequestState::Complete);
        TABLE.remove(first);
        TABLE.remove(first);
        assert_eq!(TABLE.state(first), RequestState::Stale);
        assert_eq!(TABLE.state(Request::INVALID), RequestState::Unknown);
        assert_eq!(TABLE.state(Request(first.0 + (1 << 40))), RequestState::Unknown);
        assert_eq!(TABLE.state(Request(1 << 32 | 0x00ff_ffff)), RequestState::Unknown);
        assert_eq!(TABLE.state(Request::COMPLETE), RequestState::Complete);
    }

    #[test]
    fn many_are_outstanding() {
        let all: Vec<Request> = (0..70_000).map(|_| TABLE.insert(true).unwrap().0).collect();
        let distinct: std::collections::HashSet<u64> = all.iter().map(|request| request.0).collect();
        assert_eq!(distinct.len(), all.len());
        all.iter().for_each(|request| TABLE.remove(*request));
        assert!(all.iter().all(|request| TABLE.state(*request) == RequestState::Stale));
    }

    #[test]
    fn one_too_many_is_told_and_one_that_ends_makes_room() {
        static FULL: Table = Table {
            chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS],
            free: Mutex::new(Free { spare: Fifo::EMPTY, fresh: MOST as u32 - 1 }),
        };
        let (last, _) = FULL.insert(true).unwrap();
        for _ in 0..2 {
            let fault = FULL.insert(true).unwrap_err();
            assert_eq!(fault.code(), crate::base::fault::code::MEMORY);
            assert!(fault.to_string().contains("16777216 requests are outstanding"), "{fault}");
        }
        FULL.remove(last);
        let (other, _) = FULL.insert(true).unwrap();
        assert_ne!(other, last);
        assert_eq!((FULL.state(last), FULL.state(other)), (RequestState::Stale, RequestState::Pending));
    }
}
