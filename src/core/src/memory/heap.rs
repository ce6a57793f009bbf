//! The symmetric heap of this PE: the allocator, with addresses. No barriers here ([`crate::runtime::memory`] has
//! them).
#![allow(unsafe_code)]

use super::allocator::{Allocator, GRANULE, Reject, Room};
use crate::base::{Cause, Fault, observer};
use crate::os::mmap;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that a front end has taken for its own allocator: they are room, and not in use.
static AREAS: AtomicUsize = AtomicUsize::new(0);

/// The next objects of so many bytes are an area in which others are allocated: not told of as in use.
pub fn note_allocator(bytes: usize) {
    AREAS.fetch_add(bytes, Ordering::Relaxed);
}

/// Heaps begin at multiples of this, at whatever address they are: offsets in them are aligned, and with them objects.
pub const LARGEST_ALIGN: usize = 1 << 30;

/// Bytes of the heap that become part of core files at a time.
const DUMPED: usize = 1 << 20;

thread_local! {
    static WORKS: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread has the books of a heap, or is about to take them: a signal handler's check would wait for them
/// for ever.
struct Note(());

impl Note {
    fn leave() -> Note {
        WORKS.set(true);
        // Signals come to this thread: nothing but the compiler could put the note behind the lock.
        compiler_fence(Ordering::SeqCst);
        Note(())
    }

    fn is_left() -> bool {
        WORKS.get()
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        WORKS.set(false);
    }
}

/// The books, for one thread at a time; the note goes after the lock.
struct Books<'a> {
    books: MutexGuard<'a, Allocator>,
    _note: Note,
}

impl Deref for Books<'_> {
    type Target = Allocator;

    fn deref(&self) -> &Allocator {
        &self.books
    }
}

impl DerefMut for Books<'_> {
    fn deref_mut(&mut self) -> &mut Allocator {
        &mut self.books
    }
}

/// A range of symmetric memory that objects are allocated from.
#[derive(Debug)]
pub struct Heap {
    base: usize,
    books: Mutex<Allocator>,
    len: usize,
    is_observed: bool,
    /// Of the observed one, as much has been allocated at some time, and is in core files.
    dumped: AtomicUsize,
}

impl Heap {
    /// The heap at `base`, `len` zeroed bytes.
    pub fn new(base: usize, len: usize) -> Self {
        let books = Mutex::new(Allocator::new(len));
        Self { base, books, len, is_observed: false, dumped: AtomicUsize::new(0) }
    }

    /// As [`Self::new`], for the one whose bytes in use are told to the observer, and which is left out of core files
    /// but for what is allocated.
    pub fn observed(base: usize, len: usize) -> Self {
        Self { is_observed: true, ..Self::new(base, len) }
    }

    fn tell(&self, books: &Allocator) {
        if let Some(observer) = observer::get().filter(|_| self.is_observed) {
            (observer.heap_in_use)(books.in_use().0.saturating_sub(AREAS.load(Ordering::Relaxed)));
        }
        let (touched, dumped) = (books.touched(), self.dumped.load(Ordering::Relaxed));
        if self.is_observed && touched > dumped {
            let end = touched.next_multiple_of(DUMPED).min(self.len);
            self.dumped.store(end, Ordering::Relaxed);
            mmap::dump(self.base + dumped, end - dumped, true);
        }
    }

    fn books(&self) -> Books<'_> {
        let note = Note::leave();
        Books { books: self.books.lock().unwrap_or_else(PoisonError::into_inner), _note: note }
    }

    /// `size` bytes at a multiple of `align`, null where there is no room, or where heaps begin at no multiple of it
    /// (beyond [`LARGEST_ALIGN`]). `size` is not 0.
    pub fn allocate(&self, size: usize, align: usize) -> *mut u8 {
        if align > LARGEST_ALIGN {
            return std::ptr::null_mut();
        }
        let mut books = self.books();
        let object = books.allocate(size, align.max(GRANULE));
        self.tell(&books);
        object.map_or(std::ptr::null_mut(), |at| (self.base + at) as *mut u8)
    }

    /// As [`Self::allocate`], with every byte zero.
    pub fn allocate_zeroed(&self, size: usize) -> *mut u8 {
        let mut books = self.books();
        let touched = books.touched();
        let Some(at) = books.allocate(size, GRANULE) else {
            return std::ptr::null_mut();
        };
        self.tell(&books);
        let used = touched.saturating_sub(at).min(size);
        let start = (self.base + at) as *mut u8;
        // SAFETY: the object lies in the heap's mapping; what was never touched is zero as mapped.
        unsafe { start.write_bytes(0, used) };
        start
    }

    /// Checks that an address is a live object.
    pub fn check(&self, addr: usize) -> Result<(), Fault> {
        self.books().size_of(addr.wrapping_sub(self.base)).map(drop).map_err(|r| reject(r, addr))
    }

    /// Checks that `bytes` bytes at an address of the heap lie in one live object; `arg` is the argument's name. In a
    /// signal handler that has interrupted its thread's work on a heap nothing is checked.
    pub fn check_object(&self, arg: &'static str, addr: usize, bytes: usize) -> Result<(), Fault> {
        if Note::is_left() {
            return Ok(());
        }
        let at = addr.wrapping_sub(self.base);
        let object = self.books().object_around(at);
        match object {
            Some((start, size)) if bytes <= size - (at - start) => Ok(()),
            _ => {
                let object = object.map(|(start, size)| (self.base + start, size));
                Err(Fault::from(Cause::NoObject { arg, addr, bytes, object }))
            }
        }
    }

    /// Whether an address lies in a live object.
    pub fn object_around(&self, addr: usize) -> bool {
        self.books().object_around(addr.wrapping_sub(self.base)).is_some()
    }

    /// Forgets all objects.
    pub fn clear(&self) {
        let mut books = self.books();
        books.clear();
        self.tell(&books);
    }

    /// Releases an object.
    pub fn release(&self, addr: usize) -> Result<(), Fault> {
        let mut books = self.books();
        books.release(addr.wrapping_sub(self.base)).map_err(|r| reject(r, addr))?;
        self.tell(&books);
        Ok(())
    }

    /// Gives an object a new size, moving it where it must. Null where there is no room: then it stays as it was.
    pub fn resize(&self, addr: usize, size: usize) -> Result<*mut u8, Fault> {
        let mut books = self.books();
        let at = addr.wrapping_sub(self.base);
        if books.resize_in_place(at, size).map_err(|r| reject(r, addr))? {
            self.tell(&books);
            return Ok(addr as *mut u8);
        }
        let old = books.size_of(at).map_err(|r| reject(r, addr))?;
        let align = books.align_of(at).map_err(|r| reject(r, addr))?;
        let Some(new) = books.allocate(size, align) else {
            return Ok(std::ptr::null_mut());
        };
        let to = (self.base + new) as *mut u8;
        // SAFETY: both objects lie in the heap and do not overlap, since both are live.
        unsafe { std::ptr::copy_nonoverlapping(addr as *const u8, to, old.min(size)) };
        books.release(at).map_err(|r| reject(r, addr))?;
        self.tell(&books);
        Ok(to)
    }

    /// What is left.
    pub fn room(&self) -> Room {
        self.books().room()
    }

    /// Bytes in live objects, and how many there are.
    pub fn in_use(&self) -> (usize, usize) {
        self.books().in_use()
    }
}

fn reject(reason: Reject, addr: usize) -> Fault {
    match reason {
        Reject::DoubleFree => Fault::from(Cause::DoubleFree { addr }),
        Reject::Foreign => Fault::from(Cause::ForeignPointer { addr }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroed_memory_is_zero_after_reuse() {
        let mut memory = vec![0u128; 256];
        let heap = Heap::new(memory.as_mut_ptr() as usize, 4096);
        let a = heap.allocate(1000, 1);
        // SAFETY: a has 1000 bytes.
        unsafe { a.write_bytes(0xff, 1000) };
        heap.release(a as usize).unwrap();
        let b = heap.allocate_zeroed(2000);
        // SAFETY: b has 2000 bytes.
        assert!(unsafe { std::slice::from_raw_parts(b, 2000) }.iter().all(|x| *x == 0));
        assert!(heap.allocate_zeroed(4096).is_null());
        let c = heap.resize(b as usize, 3000).unwrap();
        assert_eq!(b, c);
        assert!(heap.resize(b as usize, 9000).unwrap().is_null());
        assert_eq!(heap.in_use().1, 1);
        assert_eq!(heap.release(3), Err(Fault::from(Cause::ForeignPointer { addr: 3 })));
    }
}
