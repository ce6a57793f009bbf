//! Spaces: symmetric memory of some PEs, apart from the heap (extensions, section 4.1). Each has an allocator of its
//! own and, on each of its PEs, a range of addresses of its own.
//!
//! What an address of a space is on another PE is looked up here, once the map has found it to be in neither the heap
//! nor static data. The table is read without a lock: who makes or ends a space writes it between two steps of a count.
#![allow(unsafe_code)]

use super::directory::SpaceDirectory;
use super::heap::{Heap, LARGEST_ALIGN};
use crate::base::slab::Slab;
use crate::os::mmap;
use crate::transport::{RemoteAddress, SegmentId, Transport};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Spaces that a PE can be in at a time.
pub const SPACES: usize = 4096;
/// Where spaces are asked for: free in ordinary processes, behind the heap.
pub const PLACES: Range<usize> = 0x2c00_0000_0000..0x5400_0000_0000;
/// Spaces begin at multiples of this, so that huge pages can be used.
pub const ALIGN: usize = 2 << 20;
/// A PE of this host that is no member.
const OUTSIDE: isize = isize::MIN;

/// The number of an address space that a transport reaches by plain stores: offsets are addresses of this process.
pub const MAPPED: SegmentId = SegmentId(u16::MAX);

static OPEN: Slab<Arc<Space>, SPACES> = Slab::new();

/// What of a memory file is mapped here for a space.
#[derive(Debug)]
pub struct Pages {
    /// This PE's part.
    pub own: *mut u8,
    /// The parts of all members of this host, in their order.
    pub view: *mut u8,
    /// Bytes of a part.
    pub stride: usize,
    /// Members of this host.
    pub count: usize,
}

// SAFETY: addresses of shared memory, which are only computed with here.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: made for the space, which has ended.
        unsafe {
            mmap::unmap(self.own, self.stride);
            mmap::unmap(self.view, self.stride * self.count);
        }
    }
}

/// A space, as one of its members sees it.
pub struct Space {
    /// Under which its memory is registered; the same on all members.
    pub segment: SegmentId,
    /// For messages.
    pub name: Arc<str>,
    /// Members.
    pub size: usize,
    /// Whether a PE is a member.
    pub has: Box<dyn Fn(i32) -> bool + Send + Sync>,
    /// First address here.
    pub base: usize,
    /// Bytes.
    pub len: usize,
    /// What is allocated.
    pub heap: Heap,
    /// The mapped memory.
    pub pages: Pages,
    /// Distance to the same object of the PEs of this host, from the first of them on.
    distances: Vec<isize>,
    /// The program's handle.
    pub handle: AtomicUsize,
    /// Its place in the directory.
    place: usize,
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

/// What a space is made of.
pub struct Parts {
    /// As in [`Space`].
    pub segment: SegmentId,
    /// As in [`Space`].
    pub name: Arc<str>,
    /// As in [`Space`].
    pub size: usize,
    /// As in [`Space`].
    pub has: Box<dyn Fn(i32) -> bool + Send + Sync>,
    /// As in [`Space`].
    pub len: usize,
    /// As in [`Space`].
    pub pages: Pages,
    /// Members of this host, in the order of their parts; this PE is the last where it has them to itself.
    pub near: Vec<i32>,
}

/// What numbers and addresses are taken.
#[derive(Debug, Default)]
struct Taken {
    /// Numbers of segments, also of spaces that are being made: of the type of places, for one kind of set.
    numbers: BTreeSet<usize>,
    /// Places in the directory.
    places: BTreeSet<usize>,
}

/// The spaces of a PE.
#[derive(Debug)]
pub struct Spaces {
    first_pe: i32,
    me: i32,
    /// By stores, to PEs of this host.
    near: &'static dyn Transport,
    taken: Mutex<Taken>,
    table: &'static Table,
    directory: SpaceDirectory,
}

/// Live spaces by address.
struct Table {
    /// Odd while it changes.
    version: AtomicU32,
    count: AtomicUsize,
    /// First address, last address, handle in [`OPEN`].
    rows: [[AtomicUsize; 3]; SPACES],
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("count", &self.count).finish_non_exhaustive()
    }
}

/// Of this process; memory that nobody touches before the first space.
static TABLE: Table = Table {
    version: AtomicU32::new(0),
    count: AtomicUsize::new(0),
    rows: [const { [const { AtomicUsize::new(0) }; 3] }; SPACES],
};

static HERE: OnceLock<Spaces> = OnceLock::new();

impl Spaces {
    /// The spaces of this process: none. `near` reaches [`MAPPED`] memory.
    pub fn open(first_pe: i32, me: i32, near: &'static dyn Transport, directory: SpaceDirectory) -> &'static Self {
        HERE.get_or_init(|| Self { first_pe, me, near, taken: Mutex::default(), table: &TABLE, directory })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lowest free number of a segment from `least` on, and with it the place of a space. `None`: there are
    /// as many spaces as there can be, with those that are being made.
    pub fn hold(&self, least: u16) -> Option<u16> {
        let mut taken = self.taken();
        if taken.numbers.len() == SPACES {
            return None;
        }
        let free =
            (least.max(SegmentId::FREE.0)..MAPPED.0).find(|number| !taken.numbers.contains(&usize::from(*number)))?;
        taken.numbers.insert(free.into());
        Some(free)
    }

    /// Gives a number back.
    pub fn let_go(&self, number: u16) {
        self.taken().numbers.remove(&number.into());
    }

    /// The lowest address behind all spaces.
    pub fn next_address(&self) -> usize {
        let count = self.table.count.load(Ordering::Relaxed);
        let behind = |row: &[AtomicUsize; 3]| mmap::round_up(row[1].load(Ordering::Relaxed) + 1, LARGEST_ALIGN);
        let last = self.table.rows[..count].iter().map(behind).filter(|at| PLACES.contains(at)).max();
        last.unwrap_or(PLACES.start)
    }

    /// A new space, from now on found. `None`: there are too many.
    pub fn insert(&self, parts: Parts) -> Option<Arc<Space>> {
        let Parts { segment, name, size, has, len, pages, near } = parts;
        let base = pages.own as usize;
        let most = near.iter().max().map_or(0, |last| (last - self.first_pe) as usize + 1);
        let mut distances = vec![OUTSIDE; most];
        for (i, pe) in near.iter().enumerate() {
            let there = pages.view as usize + i * pages.stride;
            // Stores of this PE to its own part go where its loads look.
            let distance = if *pe == self.me { 0 } else { there.wrapping_sub(base) as isize };
            distances[(pe - self.first_pe) as usize] = distance;
        }
        let mut taken = self.taken();
        let place = (0..SPACES).find(|place| !taken.places.contains(place))?;
        let heap = Heap::new(base, len);
        let handle = AtomicUsize::new(0);
        let space = Arc::new(Space { segment, name, size, has, base, len, heap, pages, distances, handle, place });
        let handle = OPEN.insert(space.clone())?;
        taken.places.insert(place);
        self.directory.enter(place, base, len, size, &space.name);
        let rows = self.rows();
        let at = rows.partition_point(|row| row[0] < base);
        self.write(
            at,
            rows.into_iter().skip(at).fold(vec![[base, base + len - 1, handle]], |mut all, row| {
                all.push(row);
                all
            }),
        );
        Some(space)
    }

    /// Ends a space: it is not found any more. Its memory goes with the last who holds it.
    pub fn remove(&self, space: &Space) {
        let mut taken = self.taken();
        let rows = self.rows();
        let Some(at) = rows.iter().position(|row| row[0] == space.base) else { return };
        self.directory.leave(space.place);
        self.write(at, rows[at + 1..].to_vec());
        OPEN.remove(rows[at][2]);
        taken.places.remove(&space.place);
        taken.numbers.remove(&space.segment.0.into());
    }

    /// The rows; the caller has the lock.
    fn rows(&self) -> Vec<[usize; 3]> {
        let count = self.table.count.load(Ordering::Relaxed);
        let read = |row: &[AtomicUsize; 3]| [0, 1, 2].map(|i| row[i].load(Ordering::Relaxed));
        self.table.rows[..count].iter().map(read).collect()
    }

    /// Replaces the rows from `at` on; the caller has the lock.
    fn write(&self, at: usize, rows: Vec<[usize; 3]>) {
        let Table { version, count, rows: places } = self.table;
        version.fetch_add(1, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        for (place, row) in places[at..].iter().zip(&rows) {
            place.iter().zip(row).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        }
        count.store(at + rows.len(), Ordering::Relaxed);
        version.fetch_add(1, Ordering::Release);
    }

    /// The space that an address lies in.
    pub fn find(&self, addr: usize) -> Option<&Arc<Space>> {
        let Table { version, count, rows } = self.table;
        loop {
            let before = version.load(Ordering::Acquire);
            let live = &rows[..count.load(Ordering::Relaxed).min(SPACES)];
            let behind = live.partition_point(|row| row[0].load(Ordering::Relaxed) <= addr);
            let found = behind.checked_sub(1).map(|i| [1, 2].map(|field| live[i][field].load(Ordering::Relaxed)));
            fence(Ordering::Acquire);
            if version.load(Ordering::Relaxed) == before && before.is_multiple_of(2) {
                let [last, handle] = found?;
                // SAFETY: the space was there when the rows were read. A program does not destroy a space while a
                // thread is in a call on memory of it, which is what callers have the address from.
                return if addr <= last { unsafe { OPEN.get(handle) } } else { None };
            }
            std::hint::spin_loop();
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<Arc<Space>> {
        let _lock = self.taken();
        // SAFETY: whoever ends a space has the lock then.
        self.rows().iter().filter_map(|row| unsafe { OPEN.get(row[2]) }.cloned()).collect()
    }

    /// The way to memory of this host.
    pub fn near(&self) -> &'static dyn Transport {
        self.near
    }

    /// What spaces of this host's PEs an address may be in.
    pub fn directory(&self) -> &SpaceDirectory {
        &self.directory
    }

    /// Which PE a distance is of.
    fn index(&self, pe: i32) -> usize {
        pe.wrapping_sub(self.first_pe) as u32 as usize
    }

    /// Where an object of a space is mapped, of a member of this host.
    pub fn local_mapping(&self, space: &Space, addr: usize, pe: i32) -> Option<usize> {
        let distance = space.distances.get(self.index(pe)).copied().filter(|distance| *distance != OUTSIDE)?;
        Some(addr.wrapping_add_signed(distance))
    }
}

impl Space {
    /// Whether `bytes` bytes at an address of the space are all in it.
    pub fn holds(&self, addr: usize, bytes: usize) -> bool {
        bytes <= self.room(addr)
    }

    /// Bytes from an address of the space to its end.
    pub fn room(&self, addr: usize) -> usize {
        self.base + self.len - addr
    }

    /// An object of a member, over the network.
    pub fn remote(&self, addr: usize, pe: i32) -> RemoteAddress {
        RemoteAddress { pe, segment: self.segment, offset: addr - self.base }
    }
}
