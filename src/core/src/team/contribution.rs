//! One collective on a team, as its members see each other in it.
//!
//! Collectives on a team are numbered. A member that has something to show writes it to its slot for that number, which
//! the others read from its sync block; a slot is used again RING collectives later, when every member is known to be
//! done with the old one. So a PE can be up to RING collectives ahead of the slowest, and nothing is ever cleared.
//!
//! What is known follows from the calls alone, so it is the same on all members: a collective in which everyone hears
//! of everyone tells that all before it are done, and where RING of the other kind follow each other, the members meet.

use super::algorithm::{Collective, Forced, Shape};
use super::sync_block::{MailboxSlot, WORDS};
use super::{Members, Team, TeamView, World, tell_algorithm};
use crate::base::word::Word;
use crate::base::{Cause, Fault};
use crate::transport::shm::copy::copy;
use std::cell::Cell;
use std::sync::atomic::Ordering;

pub use super::sync_block::INLINE;

/// Which call, in a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // NAMES says what they are
pub enum Kind {
    Barrier = 1,
    Broadcast,
    Collect,
    Fcollect,
    Alltoall,
    Alltoalls,
    Reduce,
    Inscan,
    Exscan,
    Allocate,
    Resize,
    Free,
    Split,
    Split2d,
    Destroy,
    Init,
    Finalize,
    FileOpen,
    FileClose,
    FileSync,
    FileSize,
    FileTruncate,
    FileRead,
    FileWrite,
    SpaceCreate,
    SpaceMemory,
    SpaceFree,
    SpaceDestroy,
    Agree,
}

const NAMES: [&str; 30] = [
    "no collective",
    "a barrier or sync",
    "a broadcast",
    "a collect",
    "an fcollect",
    "an alltoall",
    "an alltoalls",
    "a reduction",
    "an inclusive scan",
    "an exclusive scan",
    "an allocation",
    "shmem_realloc",
    "shmem_free",
    "shmem_team_split_strided",
    "shmem_team_split_2d",
    "shmem_team_destroy",
    "shmem_init",
    "shmem_finalize or exit",
    "shmemx_file_open",
    "shmemx_file_close",
    "shmemx_file_sync",
    "shmemx_file_size",
    "shmemx_file_truncate",
    "a read of a file by all",
    "a write of a file by all",
    "shmemx_space_create",
    "an allocation in a space",
    "shmemx_space_free",
    "shmemx_space_destroy",
    "shmemx_agree",
];

/// The kind of call in a signature, in words.
pub fn name(signature: u64) -> &'static str {
    NAMES.get((signature >> 56) as usize).unwrap_or(&"an unknown collective")
}

/// Signature of a call that all members make with the same number.
pub fn signature(kind: Kind, number: usize) -> u64 {
    (kind as u64) << 56 | number as u64 & ((1 << 56) - 1)
}

/// A signature in words.
pub(super) fn describe_signature(signature: u64) -> String {
    let number = signature & ((1 << 56) - 1);
    if number == 0 { name(signature).to_owned() } else { format!("{} of {number} bytes", name(signature)) }
}

/// This PE's part in one collective.
pub struct CollectiveCall<M> {
    members: M,
    number: u64,
    signature: u64,
    /// The algorithm that nobody has been told of yet: its number plus 1, or 0.
    untold: Cell<u8>,
}

/// As collectives use it.
pub type HostCall<'w> = CollectiveCall<TeamView<'w>>;

impl<M: Members> CollectiveCall<M> {
    /// Begins the next collective of a team. Every member does, also those that show nothing.
    #[inline]
    pub fn start(members: M, signature: u64) -> Result<Self, Fault> {
        let progress = members.progress();
        let number = progress.contributions.get() + 1;
        progress.contributions.set(number);
        if number > progress.all_done.get() + M::RING {
            members.sync()?;
            progress.all_done.set(number - 1);
        }
        Ok(Self { members, number, signature, untold: Cell::new(0) })
    }

    /// The algorithm that it takes. Who counts algorithms is told once this PE waits for another, or is done.
    #[inline(always)]
    pub fn choose<F: Copy>(&self, collective: &Collective<F>, forced: &Forced, shape: &Shape) -> F {
        let (run, number) = collective.pick(forced, shape);
        self.untold.set(number + 1);
        run
    }

    #[inline(always)]
    fn tell(&self) {
        if let Some(algorithm) = self.untold.replace(0).checked_sub(1) {
            tell_algorithm(algorithm);
        }
    }

    /// Shows up, with some words as contribution.
    #[inline(always)]
    pub fn contribute(&self, words: &[u64]) {
        let slot = self.members.slot(self.members.me(), self.number);
        for (to, from) in slot.words.iter().zip(words) {
            to.store(*from, Ordering::Relaxed);
        }
        slot.signature.store(self.signature, Ordering::Relaxed);
        slot.tag.store(self.number, Ordering::Release);
        self.members.tell(self.members.me(), &slot.tag);
        // The line of the next slot is with those who have read it: it comes here while this PE waits, not when the
        // others wait for what is written there.
        let next = self.number + 1;
        if next <= self.members.progress().all_done.get() + M::RING {
            self.members.slot(self.members.me(), next).signature.store(0, Ordering::Relaxed);
        }
    }

    /// A member's slot, when it is there. Error: the signature of the other collective that the member is in.
    #[inline(always)]
    pub fn slot_of(&self, pe: i32) -> Result<Result<&MailboxSlot<M::Word>, u64>, Fault> {
        let slot = self.members.slot(pe, self.number);
        if slot.tag.load(Ordering::Acquire) != self.number {
            self.await_slot(pe, slot)?;
        }
        let theirs = slot.signature.load(Ordering::Relaxed);
        Ok(if theirs == self.signature { Ok(slot) } else { Err(theirs) })
    }

    #[inline(never)]
    fn await_slot(&self, pe: i32, slot: &MailboxSlot<M::Word>) -> Result<(), Fault> {
        self.tell();
        self.members.until_told(pe, &slot.tag, |tag| tag == self.number)
    }

    /// The contribution in a slot.
    #[inline]
    pub fn words(slot: &MailboxSlot<M::Word>) -> Bytes {
        Bytes(std::array::from_fn(|i| slot.words[i].load(Ordering::Relaxed)))
    }

    /// Every member has heard of every other in this collective, so all are done with those before it.
    #[inline]
    pub fn all_synchronized(&self) {
        self.members.progress().all_done.set(self.number - 1);
    }

    /// This PE needs nothing of the others any more.
    #[inline(always)]
    pub fn done(&self) {
        self.tell();
        let (me, done) = (self.members.me(), self.members.done(self.members.me()));
        done.store(self.number, Ordering::Release);
        self.members.tell(me, done);
    }

    /// Waits until no member needs anything of this PE's any more.
    pub fn wait_for_others(&self) -> Result<(), Fault> {
        for pe in (0..self.members.size()).filter(|pe| *pe != self.members.me()) {
            let done = self.members.done(pe);
            self.members.until_told(pe, done, |number| number >= self.number)?;
        }
        Ok(())
    }

    /// As [`Self::wait_for_others`], called by all members.
    #[inline]
    pub fn leave_together(&self) -> Result<(), Fault> {
        self.members.sync()?;
        self.members.progress().all_done.set(self.number);
        Ok(())
    }
}

impl<M> std::ops::Deref for CollectiveCall<M> {
    type Target = M;

    #[inline(always)]
    fn deref(&self) -> &M {
        &self.members
    }
}

impl<'w> HostCall<'w> {
    /// Begins the next collective of a team.
    #[inline]
    pub fn begin(w: &'w World, team: &'w Team, signature: u64) -> Result<Self, Fault> {
        Self::start(TeamView { w, team }, signature)
    }

    /// Shows up, with up to a word of bytes at `data` as contribution.
    ///
    /// # Safety
    /// `data` is readable for `bytes` bytes.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn contribute_word(&self, data: *const u8, bytes: usize) {
        let mut word = 0_u64;
        // SAFETY: at most a word of bytes, readable says the caller.
        unsafe { copy((&raw mut word).cast(), data, bytes.min(size_of::<u64>())) };
        self.contribute(&[word]);
    }

    /// Copies the contribution in a slot, which has `bytes` bytes (at most [`INLINE`]).
    ///
    /// # Safety
    /// `to` is writable for `bytes` bytes.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn copy_contribution(slot: &MailboxSlot, to: *mut u8, bytes: usize) {
        // SAFETY: so says the caller; a slot has INLINE bytes.
        unsafe {
            if bytes <= size_of::<u64>() {
                let word = slot.words[0].load(Ordering::Relaxed);
                copy(to, (&raw const word).cast(), bytes);
            } else {
                copy(to, Self::words(slot).0.as_ptr().cast(), bytes);
            }
        }
    }

    /// As [`Self::contribution`], the first word of it.
    #[inline(always)]
    pub fn contributed_word(&self, pe: i32) -> Result<u64, Fault> {
        Ok(self.contribution(pe)?.words[0].load(Ordering::Relaxed))
    }

    /// Shows up, with `bytes` bytes at `data` (at most [`INLINE`]) as contribution.
    ///
    /// # Safety
    /// `data` is readable for `bytes` bytes.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn contribute_bytes(&self, data: *const u8, bytes: usize) {
        // SAFETY: so says the caller.
        unsafe {
            if bytes <= size_of::<u64>() {
                self.contribute_word(data, bytes)
            } else {
                self.contribute_words(data, bytes)
            }
        }
    }

    #[inline(never)]
    #[allow(unsafe_code)]
    unsafe fn contribute_words(&self, data: *const u8, bytes: usize) {
        let mut words = [0u64; WORDS];
        // SAFETY: at most INLINE bytes, readable says the caller.
        unsafe { copy(words.as_mut_ptr().cast(), data, bytes.min(INLINE)) };
        self.contribute(&words[..bytes.div_ceil(8).min(WORDS)]);
    }

    /// A member's slot, when it is there. Fault: the member is in another collective.
    #[inline(always)]
    pub fn contribution(&self, pe: i32) -> Result<&MailboxSlot, Fault> {
        self.slot_of(pe)?.map_err(|theirs| self.mismatch(theirs, pe))
    }

    #[cold]
    fn mismatch(&self, theirs: u64, pe: i32) -> Fault {
        Fault::from(Cause::Mismatch {
            mine: describe_signature(self.signature),
            theirs: describe_signature(theirs),
            pe: self.team.world(pe),
        })
    }

    /// A member's instance of a symmetric object that was checked here.
    #[inline(always)]
    pub fn of<T>(&self, arg: &'static str, addr: *const T, bytes: usize, pe: i32) -> Result<*mut T, Fault> {
        self.w.map.remote(arg, addr, bytes, self.team.world(pe))
    }
}

/// A small contribution, aligned for every type.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Bytes(pub [u64; WORDS]);
