//! The allocator of a symmetric memory range.
//!
//! An instance, not a global: the heap is one, a team's arena can be another. It keeps its books outside of the memory
//! it hands out, so that a program that writes past its object damages no bookkeeping, and every foreign pointer is
//! recognized. Best fit, lowest address first, neighbours joined at once; all operations take logarithmic time. Equal
//! sequences of calls give equal offsets: that is what keeps the heaps of all PEs symmetric.

use std::collections::{BTreeMap, BTreeSet};

/// Every size is a multiple of this, and every offset too.
pub const GRANULE: usize = 16;
/// Objects of this size and more begin on a cache line of their own.
const LINE: usize = 64;
/// Gaps that are tried in the order of their size.
const LOOKS: usize = 16;
/// Where nothing is: an entry here keeps each tree from giving back its last node and asking for it again, which would
/// take longer than the rest of an allocation.
const NOWHERE: usize = usize::MAX;

/// Bytes of a range that has room for one object of `size` bytes.
pub fn room_for(size: usize) -> usize {
    size.checked_next_multiple_of(LINE).unwrap_or(size)
}

/// Why a pointer cannot be freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reject {
    /// It was freed already.
    DoubleFree,
    /// The allocator never gave it out.
    Foreign,
}

/// A live object.
#[derive(Debug, Clone, Copy)]
struct Object {
    /// Bytes that it takes.
    reserve: usize,
    /// Bytes that were asked for.
    size: usize,
    /// What its offset is a multiple of, also after it has moved.
    align: usize,
}

/// What is left of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes in all.
    pub len: usize,
    /// Bytes in gaps.
    pub free: usize,
    /// Bytes of the largest gap.
    pub largest: usize,
}

/// Books of a range of `len` bytes; all positions are offsets into it.
#[derive(Debug)]
pub struct Allocator {
    len: usize,
    /// Live objects by offset.
    live: BTreeMap<usize, Object>,
    /// Gaps: offset to bytes.
    gaps: BTreeMap<usize, usize>,
    /// The same gaps as (bytes, offset): best fit is a look-up.
    by_size: BTreeSet<(usize, usize)>,
    /// Bytes reserved by live objects.
    used: usize,
    /// Everything from here on was never given out and is still zero.
    touched: usize,
}

impl Allocator {
    /// An empty range.
    pub fn new(len: usize) -> Self {
        let len = len & !(GRANULE - 1);
        let live = BTreeMap::from([(NOWHERE, Object { reserve: 0, size: 0, align: 1 })]);
        let (gaps, by_size) = (BTreeMap::from([(NOWHERE, 0)]), BTreeSet::from([(0, NOWHERE)]));
        let mut new = Self { len, live, gaps, by_size, used: 0, touched: 0 };
        if len > 0 {
            new.add_gap(0, len);
        }
        new
    }

    /// Forgets all objects; what was given out once is not zero any more.
    pub fn clear(&mut self) {
        *self = Self { touched: self.touched, ..Self::new(self.len) };
    }

    /// Reserves `size` bytes (not 0) at a multiple of `align` (a power of two). `None`: no gap is large enough.
    pub fn allocate(&mut self, size: usize, align: usize) -> Option<usize> {
        let align = align.max(if size >= LINE { LINE } else { GRANULE });
        let reserve = reserved(size, align)?;
        let fits = |&(bytes, gap): &(usize, usize)| {
            let at = gap.checked_next_multiple_of(align)?;
            (at - gap <= bytes - reserve).then_some((gap, bytes, at))
        };
        // Gaps of the smallest sizes first. A gap may be misaligned; after some of these, one that surely has room; and
        // all of them only where there is none.
        let sure = reserve.saturating_add(align - GRANULE);
        let (gap, bytes, at) = (self.by_size.range((reserve, 0)..).take(LOOKS).find_map(fits))
            .or_else(|| self.by_size.range((sure, 0)..).find_map(fits))
            .or_else(|| self.by_size.range((reserve, 0)..).find_map(fits))?;
        self.remove_gap(gap, bytes);
        if at > gap {
            self.add_gap(gap, at - gap);
        }
        if at + reserve < gap + bytes {
            self.add_gap(at + reserve, gap + bytes - at - reserve);
        }
        self.live.insert(at, Object { reserve, size, align });
        self.used += reserve;
        self.touched = self.touched.max(at + reserve);
        Some(at)
    }

    /// Releases the object at `at`. Gives its requested bytes.
    pub fn release(&mut self, at: usize) -> Result<usize, Reject> {
        let removed = if at == NOWHERE { None } else { self.live.remove(&at) };
        let Some(Object { reserve, size, .. }) = removed else {
            return Err(self.reject(at));
        };
        self.used -= reserve;
        let (mut start, mut end) = (at, at + reserve);
        if let Some((&before, &bytes)) = self.gaps.range(..at).next_back()
            && before + bytes == at
        {
            self.remove_gap(before, bytes);
            start = before;
        }
        if let Some(&bytes) = self.gaps.get(&end) {
            self.remove_gap(end, bytes);
            end += bytes;
        }
        self.add_gap(start, end - start);
        Ok(size)
    }

    /// Changes the size of the object at `at` where it stands, if there is room. Gives whether that was possible.
    pub fn resize_in_place(&mut self, at: usize, size: usize) -> Result<bool, Reject> {
        let Object { reserve: old, align, .. } = self.object(at)?;
        let Some(new) = reserved(size, align) else {
            return Ok(false);
        };
        let behind = at + old;
        let room = self.gaps.get(&behind).copied().unwrap_or(0);
        if new > old + room {
            return Ok(false);
        }
        if room > 0 {
            self.remove_gap(behind, room);
        }
        if new < old + room {
            self.add_gap(at + new, old + room - new);
        }
        self.live.insert(at, Object { reserve: new, size, align });
        self.used = self.used - old + new;
        self.touched = self.touched.max(at + new);
        Ok(true)
    }

    /// Requested bytes of the object at `at`.
    pub fn size_of(&self, at: usize) -> Result<usize, Reject> {
        self.object(at).map(|object| object.size)
    }

    /// The object that an offset lies in: where it begins, and its bytes.
    pub fn object_around(&self, at: usize) -> Option<(usize, usize)> {
        let (&start, object) = self.live.range(..=at).next_back()?;
        (at - start < object.size).then_some((start, object.size))
    }

    /// What the offset of the object at `at` is a multiple of.
    pub fn align_of(&self, at: usize) -> Result<usize, Reject> {
        self.object(at).map(|object| object.align)
    }

    /// What is left.
    pub fn room(&self) -> Room {
        let free = self.gaps.values().sum();
        Room { len: self.len, free, largest: self.by_size.last().map_or(0, |&(bytes, _)| bytes) }
    }

    /// Bytes from here on were never given out.
    pub fn touched(&self) -> usize {
        self.touched
    }

    /// Bytes in live objects, and how many there are.
    pub fn in_use(&self) -> (usize, usize) {
        (self.used, self.live.len() - 1)
    }

    fn object(&self, at: usize) -> Result<Object, Reject> {
        self.live.get(&at).filter(|_| at != NOWHERE).copied().ok_or_else(|| self.reject(at))
    }

    fn reject(&self, at: usize) -> Reject {
        let in_gap = self.gaps.range(..=at).next_back().is_some_and(|(gap, bytes)| at < gap + bytes);
        if in_gap && at < self.touched && at.is_multiple_of(GRANULE) { Reject::DoubleFree } else { Reject::Foreign }
    }

    fn add_gap(&mut self, at: usize, bytes: usize) {
        self.gaps.insert(at, bytes);
        self.by_size.insert((bytes, at));
    }

    fn remove_gap(&mut self, at: usize, bytes: usize) {
        self.gaps.remove(&at);
        self.by_size.remove(&(bytes, at));
    }
}

/// Objects that are aligned to a line share none of theirs.
fn reserved(size: usize, align: usize) -> Option<usize> {
    size.checked_next_multiple_of(if size >= LINE || align >= LINE { LINE } else { GRANULE })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums, order and disjointness of everything in the books.
    fn check(a: &Allocator) {
        let mut spans: Vec<(usize, usize, bool)> =
            a.live.iter().map(|(&at, object)| (at, object.reserve, true)).collect();
        spans.extend(a.gaps.iter().map(|(&at, &n)| (at, n, false)));
        spans.retain(|(at, ..)| *at != NOWHERE);
        spans.sort_unstable();
        let mut next = 0;
        for pair in spans.windows(2) {
            assert!(pair[0].2 || pair[1].2, "two gaps side by side");
        }
        for (at, n, _) in spans {
            assert_eq!(at, next);
            next = at + n;
        }
        assert_eq!(next, a.len);
        assert_eq!(a.gaps.len(), a.by_size.len());
        assert_eq!(a.in_use().0, a.live.values().map(|object| object.reserve).sum::<usize>());
    }

    #[test]
    fn random_use_against_the_books() {
        let mut a = Allocator::new(1 << 20);
        let mut live: Vec<usize> = Vec::new();
        let mut seed = 12345u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for _ in 0..20_000 {
            match random(5) {
                0 | 1 => {
                    let align = 1 << random(13);
                    if let Some(at) = a.allocate(1 + random(5000), align) {
                        assert!(at.is_multiple_of(align.max(GRANULE)));
                        live.push(at);
                    }
                }
                2 if !live.is_empty() => {
                    let at = live[random(live.len())];
                    let size = 1 + random(8000);
                    if a.resize_in_place(at, size).unwrap() {
                        assert_eq!(a.size_of(at), Ok(size));
                    }
                }
                _ if !live.is_empty() => {
                    let at = live.swap_remove(random(live.len()));
                    a.release(at).unwrap();
                }
                _ => {}
            }
        }
        check(&a);
        for at in live {
            a.release(at).unwrap();
        }
        check(&a);
        assert_eq!(a.allocate(1 << 20, 1), Some(0));
        assert_eq!(a.allocate(1, 1), None);
    }

    #[test]
    fn a_range_is_as_large_as_the_object_that_it_is_made_for() {
        for size in [1, 15, 63, 64, 65, 1000, 4095, 3_250_586] {
            assert_eq!(Allocator::new(room_for(size)).allocate(size, 1), Some(0), "{size}");
        }
        assert_eq!((room_for(0), room_for(4096), room_for(usize::MAX)), (0, 4096, usize::MAX));
    }

    #[test]
    fn an_object_keeps_its_alignment_and_its_lines() {
        let mut a = Allocator::new(1 << 20);
        let line = a.allocate(8, LINE).unwrap();
        let neighbour = a.allocate(8, 1).unwrap();
        assert_eq!((line % LINE, neighbour % LINE), (0, 0));
        assert_eq!((a.align_of(line), a.align_of(neighbour)), (Ok(LINE), Ok(GRANULE)));
        assert_eq!(a.resize_in_place(line, 1), Ok(true));
        assert_eq!(a.allocate(8, 1), Some(neighbour + GRANULE));
        assert_eq!(a.room(), Room { len: 1 << 20, free: (1 << 20) - 96, largest: (1 << 20) - 96 });
    }

    #[test]
    fn misaligned_gaps_do_not_slow_the_search_down_or_hide_the_one_that_fits() {
        let mut a = Allocator::new(1 << 22);
        // Many gaps of 64 bytes, none on a line of its own, and one that fits among larger ones that do not.
        let objects: Vec<usize> = (0..2000).map(|_| a.allocate(48, 1).unwrap()).collect();
        let gaps: Vec<usize> = objects.iter().copied().filter(|at| at % 192 == 48).collect();
        assert!(gaps.iter().all(|at| a.release(*at) == Ok(48)));
        assert!(a.allocate(64, 64).unwrap() > objects[1999]);
        check(&a);
        let rest = a.room().largest;
        a.allocate(rest - 64, 1).unwrap();
        while a.allocate(64, 64).is_some() {}
        check(&a);
    }

    #[test]
    fn wrong_pointers_are_told_apart() {
        let mut a = Allocator::new(4096);
        let at = a.allocate(100, 1).unwrap();
        assert_eq!(a.release(at + 16), Err(Reject::Foreign));
        assert_eq!(a.release(2048), Err(Reject::Foreign));
        assert_eq!(a.release(at), Ok(100));
        assert_eq!(a.release(at), Err(Reject::DoubleFree));
        assert_eq!(a.release(usize::MAX), Err(Reject::Foreign));
        assert_eq!(a.size_of(usize::MAX), Err(Reject::Foreign));
        assert_eq!(a.resize_in_place(usize::MAX, 1), Err(Reject::Foreign));
        assert_eq!(a.allocate(usize::MAX, 1), None);
        assert_eq!(a.allocate(1, 1 << 40), Some(0));
    }
}
