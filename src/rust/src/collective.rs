//! Collective calls of a team.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use crate::ffi::{self, TeamHandle};
use crate::{Bits, Element, Number, Ordered, Pe, Symmetric, Team};

type Reduce<T> = unsafe extern "C" fn(TeamHandle, *mut T, *const T, usize) -> c_int;
type Move = unsafe extern "C" fn(TeamHandle, *mut c_void, *const c_void, usize) -> c_int;

/// C functions of a type.
#[doc(hidden)]
#[derive(Debug)]
pub struct ArithmeticCalls<T> {
    pub(crate) sum: Reduce<T>,
    pub(crate) product: Reduce<T>,
    pub(crate) inclusive: Reduce<T>,
    pub(crate) exclusive: Reduce<T>,
}

/// C functions of a type.
#[doc(hidden)]
#[derive(Debug)]
pub struct OrderedCalls<T> {
    pub(crate) min: Reduce<T>,
    pub(crate) max: Reduce<T>,
}

/// C functions of a type.
#[doc(hidden)]
#[derive(Debug)]
pub struct BitsCalls<T> {
    pub(crate) and: Reduce<T>,
    pub(crate) or: Reduce<T>,
    pub(crate) xor: Reduce<T>,
}

/// All PEs of the team make these calls, with the same arrays and numbers. `dest` and `source` are symmetric;
/// reductions and scans take all elements of `source`, and panic where `dest` has fewer.
///
/// ```
/// # fn main() -> Result<(), pellucid::Error> {
/// let shmem = pellucid::init()?;
/// let world = shmem.world();
/// let mine = shmem.alloc_from(&[world.rank() as u64 + 1, 7])?;
/// let sums = shmem.alloc::<u64>(2)?;
/// world.sum(&sums, &mine);
/// let pes = world.size() as u64;
/// assert_eq!(sums.local().to_vec(), [pes * (pes + 1) / 2, 7 * pes]);
/// # Ok(())
/// # }
/// ```
impl Team<'_> {
    #[inline(always)]
    #[track_caller]
    fn reduce<T: Element>(&self, call: Reduce<T>, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        let count = source.len();
        let (to, from) = (dest.part(0, count), source.part(0, count));
        if count > 0 {
            // SAFETY: symmetric arrays of so many elements; the same one twice is reduced in place.
            let failed = unsafe { call(self.handle(), to, from, count) };
            assert!(failed == 0, "the reduction failed");
        }
    }

    /// Sums of the elements of all PEs.
    #[inline(always)]
    #[track_caller]
    pub fn sum<T: Number>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::ARITHMETIC.sum, dest, source);
    }

    /// Products.
    #[inline(always)]
    #[track_caller]
    pub fn product<T: Number>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::ARITHMETIC.product, dest, source);
    }

    /// Minima.
    #[inline(always)]
    #[track_caller]
    pub fn min<T: Ordered>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::ORDERED.min, dest, source);
    }

    /// Maxima.
    #[inline(always)]
    #[track_caller]
    pub fn max<T: Ordered>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::ORDERED.max, dest, source);
    }

    /// Bits that all PEs have.
    #[inline(always)]
    #[track_caller]
    pub fn and<T: Bits>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::BITS.and, dest, source);
    }

    /// Bits that any PE has.
    #[inline(always)]
    #[track_caller]
    pub fn or<T: Bits>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::BITS.or, dest, source);
    }

    /// Bits that an odd number of PEs have.
    #[inline(always)]
    #[track_caller]
    pub fn xor<T: Bits>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::BITS.xor, dest, source);
    }

    /// Sums of this PE's elements and those of all before it in the team.
    #[inline(always)]
    #[track_caller]
    pub fn inclusive_scan<T: Number>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::ARITHMETIC.inclusive, dest, source);
    }

    /// Sums of the elements of all PEs before this one in the team.
    #[inline(always)]
    #[track_caller]
    pub fn exclusive_scan<T: Number>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        self.reduce(T::ARITHMETIC.exclusive, dest, source);
    }

    #[inline(always)]
    #[track_caller]
    fn move_elements<T: Element>(
        &self,
        call: Move,
        (dest, room): (&Symmetric<'_, T>, usize),
        (source, given): (&Symmetric<'_, T>, usize),
        count: usize,
    ) {
        assert!(!std::ptr::eq(dest, source), "dest and source are one array");
        let (to, from) = (dest.part(0, room), source.part(0, given));
        // SAFETY: symmetric arrays with room for what the call moves.
        let failed = unsafe { call(self.handle(), to.cast(), from.cast(), count * size_of::<T>()) };
        assert!(failed == 0, "the collective call failed");
    }

    /// The elements of `root`, on all PEs.
    ///
    /// # Panics
    /// Where `root` is not in the team, `dest` is shorter, or is `source`.
    #[inline(always)]
    #[track_caller]
    pub fn broadcast<T: Element>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>, root: Pe) {
        let rank = self.rank_of(root).unwrap_or_else(|| panic!("PE {} is not in the team", root.number()));
        assert!(!std::ptr::eq(dest, source), "dest and source are one array");
        let count = source.len();
        let (to, from) = (dest.part(0, count), source.part(0, count));
        // SAFETY: symmetric arrays of so many elements, and a PE of the team.
        let failed = unsafe {
            ffi::shmem_broadcastmem(self.handle(), to.cast(), from.cast(), count * size_of::<T>(), rank as c_int)
        };
        assert!(failed == 0, "the broadcast failed");
    }

    /// The elements of all PEs, one PE's after the other's; each gives as many.
    ///
    /// # Panics
    /// Where `dest` has no room for them; so in the others.
    #[inline(always)]
    #[track_caller]
    pub fn gather_all<T: Element>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        let (count, all) = (source.len(), source.len() * self.size());
        self.move_elements(ffi::shmem_fcollectmem, (dest, all), (source, count), count);
    }

    /// The first `count` elements of all PEs, one PE's after the other's; each has a `count` of its own.
    ///
    /// # Panics
    /// Where `dest` has no room for `source.len()` elements of each PE.
    #[inline(always)]
    #[track_caller]
    pub fn gather_some<T: Element>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>, count: usize) {
        let all = source.len() * self.size();
        self.move_elements(ffi::shmem_collectmem, (dest, all), (source, count), count);
    }

    /// Block `i` of each PE's `source` to PE `i`, which has them in the order of the PEs.
    ///
    /// # Panics
    /// Where the elements of `source` cannot be divided among the PEs, or `dest` is shorter.
    #[inline(always)]
    #[track_caller]
    pub fn exchange_all<T: Element>(&self, dest: &Symmetric<'_, T>, source: &Symmetric<'_, T>) {
        let (all, pes) = (source.len(), self.size());
        assert!(all % pes == 0, "{all} elements for {pes} PEs");
        self.move_elements(ffi::shmem_alltoallmem, (dest, all), (source, all), all / pes);
    }
}
