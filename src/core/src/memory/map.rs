//! Address translation: from a symmetric address of this PE to the same object of another PE of the host.
//!
//! The hot path of every transfer. A `Map` is filled in at start-up and only read afterwards; an empty one (before
//! `shmem_init`) fails every check, so the checks need no extra test for that.

use super::directory::SpaceDirectory;
use super::heap::Heap;
use super::losses::Losses;
use super::spaces::{MAPPED, PLACES, Space, Spaces};
use crate::base::{Cause, Fault, OfSpace};
use crate::os::elf;
use crate::transport::{Channel, RemoteAddress, SegmentId, Transport};
#[cfg(target_arch = "x86_64")]
use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Distance from an address of this PE to the same object of a peer, by segment, and the segments' lengths there.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct Peer {
    /// For addresses in the symmetric heap.
    heap: isize,
    heap_len: AtomicUsize,
    /// For static objects of the executable.
    data: isize,
    data_len: AtomicUsize,
}

impl Peer {
    /// A peer whose segments are so far away, and so long.
    pub fn new(heap: (isize, usize), data: (isize, usize)) -> Self {
        Self { heap: heap.0, heap_len: AtomicUsize::new(heap.1), data: data.0, data_len: AtomicUsize::new(data.1) }
    }

    /// Whether this place of a heap, in bytes from its begin, is in that of the peer.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn has_in_heap(&self, at: usize) -> bool {
        #[cfg(not(target_arch = "x86_64"))]
        return at < self.heap_len.load(Ordering::Relaxed);
        // Compilers load what is atomic into a register of its own before they compare with it.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads an aligned word in one access, as a relaxed load does.
        unsafe {
            core::arch::asm!(
                "cmp {at}, qword ptr [{peer} + {len}]",
                "jae {is_not}",
                at = in(reg) at,
                peer = in(reg) self,
                len = const offset_of!(Peer, heap_len),
                is_not = label { return false },
                options(readonly, nostack)
            );
            true
        }
    }

    /// The PE is lost: nothing of it is found any more. No call looks for that, since all look at the lengths.
    pub fn lose(&self) {
        self.heap_len.store(0, Ordering::Relaxed);
        self.data_len.store(0, Ordering::Relaxed);
    }
}

/// Bytes that are mapped behind each heap and given to nobody: two of the longest elements that have a type of their
/// own.
pub const BEHIND: usize = 64;

/// What an argument is called that its routine only reads.
const SOURCE: &str = "source";

/// Where symmetric memory is, here and on every PE of the host.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Map {
    /// First address of this PE's heap.
    pub heap_base: usize,
    /// Bytes of a heap.
    pub heap_len: usize,
    /// First address of this PE's `.data`/`.bss` pages.
    pub data_base: usize,
    /// Bytes of them; 0 where static objects are not symmetric.
    pub data_len: usize,
    /// Lowest PE of this host.
    pub first_pe: i32,
    /// PEs of this host; they are numbered consecutively from [`Self::first_pe`].
    pub local_pes: u32,
    /// As [`Self::local_pes`], for atomics: 0 where the network card does all of them.
    pub atomic_pes: u32,
    /// One entry for each PE of this host.
    pub peers: NonNull<Peer>,
    /// This PE.
    pub me: i32,
    /// PEs of the job; 0 while the library is not initialized.
    pub npes: i32,
    /// Cores that PEs of this host may take between them.
    pub cores: u32,
    /// Whether there are more PEs than cores on this host.
    pub oversubscribed: bool,
    /// Fewer PEs than cores on this host: threads of the library's have one.
    pub spare_cores: bool,
    /// Whether `SHMEM_DEBUG` asked for the checks that cost more than a nanosecond.
    pub check: bool,
    /// Whether collectives look at something before they begin: the same, or PEs that are lost.
    pub alert: AtomicBool,
    /// What reaches PEs of other hosts, in a job that has any.
    pub transport: Option<&'static dyn Transport>,
    /// The objects of the symmetric heap.
    pub heap: Option<&'static Heap>,
    /// Memory of some PEs, which is in neither of the above.
    pub spaces: Option<&'static Spaces>,
    /// PEs that are lost, in a job that goes on without them.
    pub losses: Option<&'static Losses>,
}

/// The first word of a question to a PE of another host about a space: then follow an address and the number of a word.
pub const ABOUT_SPACES: u64 = u64::MAX;

impl Map {
    /// The map of a process that is not initialized.
    pub const fn empty() -> Self {
        Self {
            heap_base: 0,
            heap_len: 0,
            data_base: 0,
            data_len: 0,
            first_pe: 0,
            local_pes: 0,
            atomic_pes: 0,
            peers: NonNull::dangling(),
            me: 0,
            npes: 0,
            cores: 0,
            oversubscribed: false,
            spare_cores: false,
            check: false,
            alert: AtomicBool::new(false),
            transport: None,
            heap: None,
            spaces: None,
            losses: None,
        }
    }

    /// Where the object of `bytes` bytes at `addr` here is mapped on PE `pe`; `None` where the PE is on another host,
    /// and where there is no such PE or object: [`Self::remote_address`] tells.
    #[inline(always)]
    pub fn local_mapping<T>(&self, addr: *const T, bytes: usize, pe: i32) -> Option<*mut T> {
        self.within(self.local_pes, addr, bytes, pe)
    }

    /// As [`Self::local_mapping`], of objects in the heap.
    #[inline(always)]
    pub fn heap_mapping<T>(&self, addr: *const T, bytes: usize, pe: i32) -> Option<*mut T> {
        let peer = self.peer(self.local_pes, pe)?;
        let (at, len) = ((addr as usize).wrapping_sub(self.heap_base), peer.heap_len.load(Ordering::Relaxed));
        (at < len && bytes <= len - at).then(|| addr.wrapping_byte_offset(peer.heap).cast_mut())
    }

    /// As [`Self::local_mapping`], for one element.
    #[inline(always)]
    pub fn local_mapping_one<T>(&self, addr: *const T, pe: i32) -> Option<*mut T> {
        self.one_within(self.local_pes, addr, pe)
    }

    /// As [`Self::local_mapping_one`], for a word that this CPU's atomics may work on.
    #[inline(always)]
    pub fn local_mapping_atomic<T>(&self, addr: *const T, pe: i32) -> Option<*mut T> {
        self.one_within(self.atomic_pes, addr, pe).filter(|at| at.is_aligned())
    }

    #[inline(always)]
    fn within<T>(&self, pes: u32, addr: *const T, bytes: usize, pe: i32) -> Option<*mut T> {
        let peer = self.peer(pes, pe)?;
        let heap_len = peer.heap_len.load(Ordering::Relaxed);
        let in_heap = (addr as usize).wrapping_sub(self.heap_base);
        if in_heap < heap_len && bytes <= heap_len - in_heap {
            return Some(addr.wrapping_byte_offset(peer.heap).cast_mut());
        }
        let data_len = peer.data_len.load(Ordering::Relaxed);
        let in_data = (addr as usize).wrapping_sub(self.data_base);
        if in_data < data_len && bytes <= data_len - in_data {
            return Some(addr.wrapping_byte_offset(peer.data).cast_mut());
        }
        None
    }

    /// As [`Self::within`] for the size of `T`, in fewer instructions: an element that begins in the heap is taken to
    /// be in it, since [`BEHIND`] bytes behind it belong to nobody.
    #[inline(always)]
    fn one_within<T>(&self, pes: u32, addr: *const T, pe: i32) -> Option<*mut T> {
        const { assert!(size_of::<T>() <= BEHIND) };
        let peer = self.peer(pes, pe)?;
        if peer.has_in_heap((addr as usize).wrapping_sub(self.heap_base)) {
            return Some(addr.wrapping_byte_offset(peer.heap).cast_mut());
        }
        let data_len = peer.data_len.load(Ordering::Relaxed);
        let in_data = (addr as usize).wrapping_sub(self.data_base);
        if in_data < data_len && size_of::<T>() <= data_len - in_data {
            return Some(addr.wrapping_byte_offset(peer.data).cast_mut());
        }
        None
    }

    /// The entry of a PE that is one of the first `pes` of this host.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn peer(&self, pes: u32, pe: i32) -> Option<&Peer> {
        let index = pe.wrapping_sub(self.first_pe) as u32;
        // SAFETY: `peers` has `local_pes` entries, and `pes` is not more.
        if index < pes { Some(unsafe { self.peers.add(index as usize).as_ref() }) } else { None }
    }

    /// As [`Self::local_mapping`], where the PE is known to be on this host.
    ///
    /// Error: names `arg` where the object is not symmetric, and the PE where it is none.
    #[inline(always)]
    pub fn remote<T>(&self, arg: &'static str, addr: *const T, bytes: usize, pe: i32) -> Result<*mut T, Fault> {
        match self.local_mapping(addr, bytes, pe) {
            Some(there) => Ok(there),
            None => self.remote_in_space(arg, addr as usize, bytes, pe).map(|there| there as *mut T),
        }
    }

    #[cold]
    #[inline(never)]
    fn remote_in_space(&self, arg: &'static str, addr: usize, bytes: usize, pe: i32) -> Result<usize, Fault> {
        self.mapped_in_space(addr, bytes, pe)
            .or_else(|| self.constant(arg, addr, bytes, pe))
            .ok_or_else(|| self.explain(arg, addr, bytes, pe))
    }

    /// As [`Self::local_mapping`], and in spaces.
    pub fn mapping<T>(&self, addr: *const T, bytes: usize, pe: i32) -> Option<*mut T> {
        self.local_mapping(addr, bytes, pe).or_else(|| self.mapping_in_space(addr, bytes, pe))
    }

    /// As [`Self::mapping`], of what lies in spaces only.
    #[inline]
    pub fn mapping_in_space<T>(&self, addr: *const T, bytes: usize, pe: i32) -> Option<*mut T> {
        self.mapped_in_space(addr as usize, bytes, pe).map(|there| there as *mut T)
    }

    /// As [`Self::mapping_in_space`], of what is only read: constants, too.
    #[inline]
    pub fn source_mapping<T>(&self, addr: *const T, bytes: usize, pe: i32) -> Option<*const T> {
        let (at, space) = (addr as usize, self.mapping_in_space(addr, bytes, pe));
        space.map(<*mut T>::cast_const).or_else(|| self.constant(SOURCE, at, bytes, pe).map(|at| at as *const T))
    }

    /// Where a constant of the executable is read that an argument of a call has on a PE: here, since all PEs whose
    /// static objects are symmetric run the same one. Nothing writes through a `source`.
    #[cold]
    fn constant(&self, arg: &'static str, addr: usize, bytes: usize, pe: i32) -> Option<usize> {
        let is_read = arg == SOURCE && self.data_len > 0 && (pe as u32) < self.npes as u32 && !self.is_lost(pe);
        (is_read && elf::is_constant(addr, bytes)).then_some(addr)
    }

    fn mapped_in_space(&self, addr: usize, bytes: usize, pe: i32) -> Option<usize> {
        let (spaces, space) = self.space_of(addr)?;
        spaces.local_mapping(space, addr, pe).filter(|_| space.holds(addr, bytes) && !self.is_lost(pe))
    }

    /// Whether a PE is lost.
    #[inline]
    pub fn is_lost(&self, pe: i32) -> bool {
        self.losses.is_some_and(|losses| losses.is_lost(pe))
    }

    /// The fault of whoever needs all of some PEs, one of which is lost.
    #[inline]
    pub fn lost_among(&self, pes: impl Iterator<Item = i32>) -> Option<Fault> {
        self.losses.and_then(|losses| losses.fault_among(pes))
    }

    /// The fault of whoever waits without knowing for whom: a PE is lost that the program has taken no note of.
    #[inline]
    pub fn unacknowledged_loss(&self) -> Option<Fault> {
        self.losses.and_then(Losses::unacknowledged)
    }

    /// A fault where a PE is lost.
    #[cold]
    pub fn check_lost(&self, pe: i32) -> Result<(), Fault> {
        self.losses.and_then(|losses| losses.fault(pe)).map_or(Ok(()), Err)
    }

    /// Where the object of `bytes` bytes at `addr` is mapped of a PE of this host that is lost. Fault: the object is
    /// not symmetric, or not here.
    pub fn lost_mapping(&self, addr: *const u8, bytes: usize, pe: i32) -> Result<*const u8, Fault> {
        let at = addr as usize;
        if let Some((spaces, space)) = self.space_of(at).filter(|(_, space)| space.holds(at, bytes)) {
            let elsewhere = || Fault::from(Cause::LostElsewhere { pe });
            return spaces.local_mapping(space, at, pe).map(|there| there as *const u8).ok_or_else(elsewhere);
        }
        let Some((segment, _)) = self.place(at, bytes) else {
            return Err(self.explain("source", at, bytes, self.me));
        };
        let peer = self.losses.and_then(|losses| losses.peer(pe));
        let peer = peer.ok_or_else(|| Fault::from(Cause::LostElsewhere { pe }))?;
        let distance = if segment == SegmentId::HEAP { peer.heap } else { peer.data };
        Ok(addr.wrapping_byte_offset(distance))
    }

    /// The space that an address lies in.
    pub fn space_of(&self, addr: usize) -> Option<(&'static Spaces, &'static Arc<Space>)> {
        let spaces = self.spaces?;
        spaces.find(addr).map(|space| (spaces, space))
    }

    /// The way to an object of a PE, over the network or in a space: for what [`Self::local_mapping`] did not find.
    ///
    /// Error: names `arg` where the object is not symmetric, and the PE where it is none.
    #[cold]
    pub fn remote_address<T>(
        &self,
        arg: &'static str,
        addr: *const T,
        bytes: usize,
        pe: i32,
    ) -> Result<(&'static dyn Transport, RemoteAddress), Fault> {
        self.way(arg, addr as usize, bytes, pe, true)
    }

    /// As [`Self::remote_address`], to a word for atomics, which the network card may do alone.
    #[cold]
    pub fn word_address<T>(
        &self,
        arg: &'static str,
        addr: *const T,
        pe: i32,
    ) -> Result<(&'static dyn Transport, RemoteAddress), Fault> {
        self.way(arg, addr as usize, size_of::<T>(), pe, self.atomic_pes > 0)
    }

    /// As [`Self::remote_address`], over the network whoever the PE is.
    #[cold]
    pub fn network_address<T>(
        &self,
        arg: &'static str,
        addr: *const T,
        bytes: usize,
        pe: i32,
    ) -> Result<(&'static dyn Transport, RemoteAddress), Fault> {
        self.way(arg, addr as usize, bytes, pe, false)
    }

    fn way(
        &self,
        arg: &'static str,
        addr: usize,
        bytes: usize,
        pe: i32,
        by_stores: bool,
    ) -> Result<(&'static dyn Transport, RemoteAddress), Fault> {
        if self.losses.is_some() {
            self.check_lost(pe)?;
        }
        if let Some((spaces, space)) = self.space_of(addr).filter(|(_, space)| space.holds(addr, bytes)) {
            if let Some(offset) = spaces.local_mapping(space, addr, pe).filter(|_| by_stores) {
                return Ok((spaces.near(), RemoteAddress { pe, segment: MAPPED, offset }));
            }
            if let Some(transport) = self.transport.filter(|_| (space.has)(pe)) {
                return Ok((transport, space.remote(addr, pe)));
            }
        }
        match (self.transport, self.place(addr, bytes)) {
            (Some(transport), Some((segment, offset))) if (pe as u32) < self.npes as u32 => {
                Ok((transport, RemoteAddress { pe, segment, offset }))
            }
            _ => Err(self.explain(arg, addr, bytes, pe)),
        }
    }

    /// Segment and offset of `bytes` bytes at `addr`.
    fn place(&self, addr: usize, bytes: usize) -> Option<(SegmentId, usize)> {
        [(SegmentId::HEAP, self.heap_base, self.heap_len), (SegmentId::DATA, self.data_base, self.data_len)]
            .into_iter()
            .map(|(segment, base, len)| (segment, addr.wrapping_sub(base), len))
            .find(|(_, offset, len)| offset < len && bytes <= len - offset)
            .map(|(segment, offset, _)| (segment, offset))
    }

    /// Checks that an object of this PE is symmetric, without translating it.
    #[inline(always)]
    pub fn local<T>(&self, arg: &'static str, addr: *const T, bytes: usize) -> Result<(), Fault> {
        if self.in_segments(addr as usize, bytes) { Ok(()) } else { self.local_in_space(arg, addr as usize, bytes) }
    }

    #[cold]
    #[inline(never)]
    fn local_in_space(&self, arg: &'static str, addr: usize, bytes: usize) -> Result<(), Fault> {
        let in_space = self.space_of(addr).is_some_and(|(_, space)| space.holds(addr, bytes));
        match in_space || self.constant(arg, addr, bytes, self.me).is_some() {
            true => Ok(()),
            false => Err(self.explain(arg, addr, bytes, self.me)),
        }
    }

    /// Whether `bytes` bytes at `addr` are symmetric memory.
    pub fn contains(&self, addr: usize, bytes: usize) -> bool {
        self.in_segments(addr, bytes) || self.space_of(addr).is_some_and(|(_, space)| space.holds(addr, bytes))
    }

    /// Whether `bytes` bytes at `addr` lie in one symmetric segment.
    #[inline(always)]
    fn in_segments(&self, addr: usize, bytes: usize) -> bool {
        let in_heap = addr.wrapping_sub(self.heap_base);
        let in_data = addr.wrapping_sub(self.data_base);
        (in_heap < self.heap_len && bytes <= self.heap_len - in_heap)
            || (in_data < self.data_len && bytes <= self.data_len - in_data)
    }

    /// This PE, once the library is initialized.
    #[inline(always)]
    pub fn my_pe(&self) -> Option<i32> {
        (self.npes > 0).then_some(self.me)
    }

    /// This PE, where the library is known to be initialized.
    #[inline(always)]
    pub fn known_pe(&self) -> i32 {
        self.me
    }

    /// PEs of the job, once the library is initialized.
    #[inline(always)]
    pub fn n_pes(&self) -> Option<i32> {
        (self.npes > 0).then_some(self.npes)
    }

    /// Whether the library is initialized; a fault that says why not otherwise.
    #[inline(always)]
    pub fn ready(&self) -> Result<(), Fault> {
        if self.npes > 0 { Ok(()) } else { Err(self.not_ready()) }
    }

    /// Checks a PE of the job.
    #[inline(always)]
    pub fn check_pe(&self, arg: &'static str, pe: i32) -> Result<(), Fault> {
        if (pe as u32) < self.npes as u32 { Ok(()) } else { Err(self.explain_pe(arg, pe)) }
    }

    /// Checks that an argument which lies in the symmetric heap, or a space, the whole of it, lies in one live object.
    pub fn check_object(&self, arg: &'static str, addr: usize, bytes: usize) -> Result<(), Fault> {
        let at = addr.wrapping_sub(self.heap_base);
        let is_in_heap = at < self.heap_len && bytes <= self.heap_len - at;
        match (self.space_of(addr), self.heap) {
            (_, Some(heap)) if is_in_heap => heap.check_object(arg, addr, bytes),
            (Some((_, space)), _) if space.holds(addr, bytes) => space.heap.check_object(arg, addr, bytes),
            _ => Ok(()),
        }
    }

    /// With `--check`: says, once for each `told`, and on one PE, that a routine ignores bits of an argument that are
    /// not among those that it knows.
    pub fn tell_unknown(&self, routine: &str, arg: &str, (value, known): (i64, i64), told: &AtomicBool) {
        let unknown = value & !known;
        if self.check && unknown != 0 && self.me == 0 && !told.swap(true, Ordering::Relaxed) {
            crate::say!("pellucid: PE 0: {routine}: {arg} = {value:#x}: {unknown:#x} is not known, and ignored");
        }
    }

    #[cold]
    fn not_ready(&self) -> Fault {
        Fault::from(Cause::NotInitialized)
    }

    #[cold]
    fn explain_pe(&self, arg: &'static str, pe: i32) -> Fault {
        match self.ready() {
            Err(fault) => fault,
            Ok(()) => Fault::from(Cause::BadPe { arg, pe: pe.into(), npes: self.npes.into() }),
        }
    }

    /// Why [`Self::remote`] found nothing.
    #[cold]
    #[inline(never)]
    pub fn explain(&self, arg: &'static str, addr: usize, bytes: usize, pe: i32) -> Fault {
        if let Err(fault) = self.check_pe("pe", pe).and_then(|()| self.check_lost(pe)) {
            return fault;
        }
        if addr == 0 {
            return Fault::from(Cause::Null { arg, bytes });
        }
        for (base, len, segment) in
            [(self.heap_base, self.heap_len, "symmetric heap"), (self.data_base, self.data_len, "static data")]
        {
            let offset = addr.wrapping_sub(base);
            if offset < len {
                if bytes <= len - offset {
                    return Fault::from(Cause::Network(format!(
                        "PE {pe} is on another host: it shares no memory with this one"
                    )));
                }
                return Fault::from(Cause::PastEnd { arg, addr, bytes, room: len - offset, segment });
            }
        }
        match self.explain_space(addr, bytes, pe) {
            Some((space, wrong)) => Fault::from(Cause::InSpace { arg, addr, bytes, space, wrong }),
            None => Fault::from(Cause::NotSymmetric { arg, addr, bytes }),
        }
    }

    /// What is wrong with an access to a space, and which it is. `None`: the address is in none that is known of.
    fn explain_space(&self, addr: usize, bytes: usize, pe: i32) -> Option<(Arc<str>, OfSpace)> {
        let spaces = self.spaces.filter(|_| PLACES.contains(&addr))?;
        if let Some(space) = spaces.find(addr) {
            let wrong = match space.holds(addr, bytes) {
                false => OfSpace::PastEnd { room: space.room(addr) },
                true => OfSpace::NoMember { pe, size: space.size, by: false },
            };
            return Some((space.name.clone(), wrong));
        }
        // Others may know: those of this host say so in memory, the PE that is meant answers.
        let known = spaces.directory().find(addr).or_else(|| {
            let transport = self.transport.filter(|_| pe != self.me)?;
            let ask = |word| transport.ask(Channel::DEFAULT, pe, [ABOUT_SPACES, addr as u64, word]);
            SpaceDirectory::ask(ask)
        })?;
        Some((known.name.into(), OfSpace::NoMember { pe: self.me, size: known.size, by: true }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(peers: &[Peer]) -> Map {
        Map {
            heap_base: 0x1000,
            heap_len: 0x100,
            data_base: 0x9000,
            data_len: 0x80,
            local_pes: peers.len() as u32,
            npes: peers.len() as i32,
            peers: NonNull::from(peers).cast(),
            ..Map::empty()
        }
    }

    #[test]
    fn an_element_is_found_wherever_its_first_byte_is_in_the_heap_and_the_whole_of_it_in_static_data() {
        let peers = [Peer::new((0, 0x100), (0, 0x80)), Peer::new((0x10_0000, 0x100), (-0x1000, 0x80))];
        let m = map(&peers);
        for addr in (0xf80..0x1180).chain(0x8f80..0x9100).chain([0, usize::MAX]) {
            for pe in -1..=2 {
                let (first, whole) =
                    (m.local_mapping(addr as *const u8, 1, pe), m.local_mapping(addr as *const u8, 32, pe));
                let expected = if addr < 0x8000 { first } else { whole };
                let one = m.local_mapping_one(addr as *const [u64; 4], pe);
                assert_eq!(one.map(<*mut _>::cast), expected, "{addr:#x} on {pe}");
            }
        }
    }

    #[test]
    fn both_segments_translate_to_their_last_byte() {
        let peers = [Peer::new((0, 0x100), (0, 0x80)), Peer::new((0x10_0000, 0x100), (-0x1000, 0x80))];
        let m = map(&peers);
        let at = |addr: usize, bytes, pe| {
            m.remote("dest", addr as *const u8, bytes, pe).map(|p| p as usize).map_err(|f| f.cause().clone())
        };
        assert_eq!(at(0x1000, 0x100, 1), Ok(0x10_1000));
        assert_eq!(at(0x10ff, 1, 0), Ok(0x10ff));
        assert_eq!(at(0x907f, 1, 1), Ok(0x807f));
        assert!(matches!(at(0x10ff, 2, 1), Err(Cause::PastEnd { room: 1, .. })));
        assert!(matches!(at(0x1000, usize::MAX, 1), Err(Cause::PastEnd { .. })));
        assert!(matches!(at(0x1100, 1, 1), Err(Cause::NotSymmetric { .. })));
        assert!(matches!(at(0, 8, 1), Err(Cause::Null { .. })));
        assert!(matches!(at(0x1000, 8, 2), Err(Cause::BadPe { pe: 2, npes: 2, .. })));
        assert!(matches!(at(0x1000, 8, -1), Err(Cause::BadPe { .. })));
    }

    #[test]
    fn nothing_is_found_of_a_peer_that_is_lost() {
        let peers = [Peer::new((0, 0x100), (0, 0x80)), Peer::new((0x10_0000, 0x100), (-0x1000, 0x80))];
        let m = map(&peers);
        peers[1].lose();
        for addr in [0x1000, 0x10ff, 0x9000] {
            let at = addr as *const u8;
            assert!(m.local_mapping(at, 1, 0).is_some() && m.local_mapping_one(at, 0).is_some());
            assert!(m.local_mapping(at, 1, 1).is_none() && m.local_mapping_one(at, 1).is_none());
        }
    }

    #[test]
    fn an_empty_map_says_why() {
        assert_eq!(Map::empty().remote("dest", 0x1000 as *const u8, 1, 0), Err(Fault::from(Cause::NotInitialized)));
    }
}
