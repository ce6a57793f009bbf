//! A fixed number of places for objects that a program holds handles of.
//!
//! A handle is the address of its place. Whether an address is a place, and whether something lives there, can be told
//! without reading memory that may not exist; so a wild or stale handle gets a message, not a crash.
//!
//! No lock and no count keeps an object while it is used, which would cost each call on a context. Programs promise by
//! the specification that they end none that another thread is in a call with; who asks for an object says how the rest
//! is kept.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fifo::Fifo;

#[repr(C, align(64))]
struct Place<T> {
    live: AtomicBool,
    /// Behind it among those that are free.
    next: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Place<T> {
    const fn empty() -> Place<T> {
        Place { live: AtomicBool::new(false), next: AtomicU32::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }
}

struct Free {
    /// Used before; the one that was left longest ago is used first, so that stale handles stay dead for long.
    spare: Fifo,
    /// Places from here on were never used.
    fresh: usize,
}

/// Places for `N` objects.
pub struct Slab<T, const N: usize> {
    places: [Place<T>; N],
    free: Mutex<Free>,
}

// SAFETY: a place is written by the one who took it from the free list, before it is live; then it is only read, until
// it is ended by the one who found it live, while nobody reads it: so whoever reads it vouches.
unsafe impl<T: Sync + Send, const N: usize> Sync for Slab<T, N> {}

impl<T: 'static, const N: usize> Slab<T, N> {
    /// An empty one.
    #[allow(clippy::new_without_default)] // large, and meant for statics
    pub const fn new() -> Self {
        Self { places: [const { Place::empty() }; N], free: Mutex::new(Free { spare: Fifo::EMPTY, fresh: 0 }) }
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, place: u32) -> &AtomicU32 {
        &self.places[place as usize].next
    }

    /// Puts an object into a place and gives its handle; `None` where all are taken.
    pub fn insert(&self, value: T) -> Option<usize> {
        let mut free = self.free();
        let index = if free.fresh < N {
            free.fresh += 1;
            free.fresh - 1
        } else {
            free.spare.pop(|place| self.next(place))? as usize
        };
        let place = &self.places[index];
        // SAFETY: the place is not live and this thread has taken it: nobody else touches it.
        unsafe { (*place.value.get()).write(value) };
        place.live.store(true, Ordering::Release);
        Some(std::ptr::from_ref(place) as usize)
    }

    /// Whether all places are taken.
    pub fn is_full(&self) -> bool {
        let free = self.free();
        free.fresh == N && free.spare.is_empty()
    }

    /// The live object behind a handle.
    ///
    /// # Safety
    /// Nobody ends the object before the reference was used for the last time: neither who asked for it nor another
    /// thread.
    #[inline]
    pub unsafe fn get(&self, handle: usize) -> Option<&T> {
        let place = self.place(handle)?;
        // SAFETY: live places are initialized, and the caller vouches for it that this one stays so.
        place.live.load(Ordering::Acquire).then(|| unsafe { (*place.value.get()).assume_init_ref() })
    }

    /// Whether a handle is that of a live object.
    #[inline]
    pub fn is_live(&self, handle: usize) -> bool {
        self.place(handle).is_some_and(|place| place.live.load(Ordering::Acquire))
    }

    /// Ends the object behind a handle; false where there is none.
    pub fn remove(&self, handle: usize) -> bool {
        let Some(place) = self.place(handle) else { return false };
        if !place.live.swap(false, Ordering::AcqRel) {
            return false;
        }
        // SAFETY: it was live and this thread ended it.
        unsafe { (*place.value.get()).assume_init_drop() };
        let index = (handle - self.places.as_ptr() as usize) / size_of::<Place<T>>();
        self.free().spare.push(index as u32, |place| self.next(place));
        true
    }

    /// Does something with every live object.
    ///
    /// # Safety
    /// Nobody ends an object meanwhile: neither `with` nor another thread.
    pub unsafe fn for_each(&self, mut with: impl FnMut(&T)) {
        let used = self.free().fresh;
        for place in self.places[..used].iter().filter(|place| place.live.load(Ordering::Acquire)) {
            // SAFETY: live places are initialized, and the caller vouches for it that this one stays so.
            with(unsafe { (*place.value.get()).assume_init_ref() });
        }
    }

    /// Ends all objects.
    pub fn clear(&self) {
        let used = self.free().fresh;
        for place in &self.places[..used] {
            self.remove(std::ptr::from_ref(place) as usize);
        }
    }

    /// Whether something lived behind a handle once.
    #[cold]
    pub fn was_used(&self, handle: usize) -> bool {
        let used = self.free().fresh;
        self.place(handle).is_some_and(|place| std::ptr::from_ref(place) < self.places[..used].as_ptr_range().end)
    }

    #[inline]
    fn place(&self, handle: usize) -> Option<&Place<T>> {
        let offset = handle.wrapping_sub(self.places.as_ptr() as usize);
        let index = offset / size_of::<Place<T>>();
        if offset.is_multiple_of(size_of::<Place<T>>()) { self.places.get(index) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_die_with_their_objects() {
        static SLAB: Slab<String, 3> = Slab::new();
        let handles: Vec<usize> = ["a", "b", "c"].iter().map(|s| SLAB.insert((*s).into()).unwrap()).collect();
        assert_eq!(SLAB.insert("d".into()), None);
        // SAFETY: nobody ends it meanwhile.
        assert_eq!(unsafe { SLAB.get(handles[1]) }.unwrap(), "b");
        let mut all = String::new();
        // SAFETY: as above.
        unsafe { SLAB.for_each(|text| all += text) };
        assert_eq!(all, "abc");
        assert!(SLAB.is_live(handles[1]) && SLAB.remove(handles[1]) && !SLAB.remove(handles[1]));
        assert!(!SLAB.is_live(handles[1]));
        for wild in [0, 1, handles[0] + 1, handles[2] + 64 * 100, usize::MAX] {
            // SAFETY: there is none.
            let none = unsafe { SLAB.get(wild) };
            assert!(none.is_none() && !SLAB.is_live(wild) && !SLAB.remove(wild), "{wild:#x}");
        }
        assert_eq!(SLAB.insert("e".into()), Some(handles[1]));
        SLAB.clear();
        assert!(handles.iter().all(|handle| !SLAB.is_live(*handle) && SLAB.was_used(*handle)));
        assert!(!SLAB.was_used(0));
    }
}
