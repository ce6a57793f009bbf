//! One collective on a team, as its members see each other in it.
//!
//! Collectives on a team are numbered. A member that has something to show writes it to its post for that number, which
//! the others read from its area; a post is used again RING collectives later, when every member is known to be done with
//! the old one. So a PE can be up to RING collectives ahead of the slowest, and nothing is ever cleared.

use crate::base::Fault;
use crate::memory::Map;
use crate::os::wait;
use crate::team::area::{Post, RING, WORDS};
use crate::team::{Team, World};
use std::sync::atomic::Ordering;

/// Bytes that a post carries itself.
pub const INLINE: usize = WORDS * 8;

/// Which collective, in a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Allocation: PEs compare sizes.
    Agree = 1,
    /// Broadcast.
    Broadcast,
    /// Collect.
    Collect,
    /// Fcollect.
    Fcollect,
    /// Alltoall.
    Alltoall,
    /// Alltoalls.
    Alltoalls,
    /// Reduction.
    Reduce,
    /// Inclusive scan.
    Inscan,
    /// Exclusive scan.
    Exscan,
}

const NAMES: [&str; 10] = [
    "no collective",
    "an allocation",
    "broadcast",
    "collect",
    "fcollect",
    "alltoall",
    "alltoalls",
    "a reduction",
    "an inclusive scan",
    "an exclusive scan",
];

/// Signature of a call that all members make with the same number.
pub fn signature(kind: Kind, number: usize) -> u64 {
    (kind as u64) << 56 | number as u64 & ((1 << 56) - 1)
}

/// A signature in words.
fn show(signature: u64) -> String {
    let name = NAMES.get((signature >> 56) as usize).unwrap_or(&"an unknown collective");
    format!("{name} of {} bytes", signature & ((1 << 56) - 1))
}

/// This PE's part in one collective.
pub struct Turn<'w> {
    /// The team.
    pub team: &'w Team,
    /// Translation to the members' objects.
    pub map: &'w Map,
    number: u64,
    signature: u64,
}

impl<'w> Turn<'w> {
    /// Begins the next collective of a team.
    #[inline]
    pub fn begin(w: &'w World, team: &'w Team, signature: u64) -> Self {
        let number = team.progress.posts.get() + 1;
        team.progress.posts.set(number);
        Self { team, map: &w.map, number, signature }
    }

    /// This PE's post, when it can be written: every member is done with what stood there.
    #[inline]
    fn free_post(&self) -> &Post {
        let oldest = self.number.saturating_sub(RING as u64);
        if oldest > self.team.progress.all_done.get() {
            self.wait_done(oldest);
        }
        &self.team.mine().posts[self.number as usize % RING]
    }

    /// Shows up, with `bytes` bytes at `data` (at most [`INLINE`]) as contribution.
    ///
    /// # Safety
    /// `data` is readable for `bytes` bytes.
    #[inline]
    #[allow(unsafe_code)]
    pub unsafe fn show_bytes(&self, data: *const u8, bytes: usize) {
        let mut words = [0u64; WORDS];
        // SAFETY: at most INLINE bytes, readable says the caller.
        unsafe { crate::transport::shm::copy::copy(words.as_mut_ptr().cast(), data, bytes.min(INLINE)) };
        self.show(&words[..bytes.div_ceil(8).min(WORDS)]);
    }

    /// Shows up, with some words as contribution.
    #[inline]
    pub fn show(&self, words: &[u64]) {
        let post = self.free_post();
        for (to, from) in post.words.iter().zip(words) {
            to.store(*from, Ordering::Relaxed);
        }
        post.signature.store(self.signature, Ordering::Relaxed);
        post.tag.store(self.number, Ordering::Release);
    }

    /// A member's post, when it is there. Fault: the member is in another collective.
    #[inline]
    pub fn see(&self, pe: i32) -> Result<&Post, Fault> {
        let post = &self.team.area(pe).posts[self.number as usize % RING];
        wait::until(self.map.crowded, || (post.tag.load(Ordering::Acquire) == self.number).then_some(()));
        let theirs = post.signature.load(Ordering::Relaxed);
        if theirs == self.signature { Ok(post) } else { Err(self.mismatch(theirs, pe)) }
    }

    #[cold]
    fn mismatch(&self, theirs: u64, pe: i32) -> Fault {
        Fault::Mismatch { mine: show(self.signature), theirs: show(theirs), pe: self.team.world(pe) }
    }

    /// The contribution in a post.
    #[inline]
    pub fn words(post: &Post) -> Bytes {
        Bytes(std::array::from_fn(|i| post.words[i].load(Ordering::Relaxed)))
    }

    /// Every member has shown up in this collective, so all have left the one before.
    #[inline]
    pub fn all_seen(&self) {
        self.team.progress.all_done.set(self.team.progress.all_done.get().max(self.number - 1));
    }

    /// This PE needs nothing of the others any more.
    #[inline]
    pub fn done(&self) {
        self.team.mine().done.0.store(self.number, Ordering::Release);
    }

    /// Waits until no member needs anything of this PE's any more.
    pub fn all_done(&self) {
        self.wait_done(self.number);
    }

    #[cold]
    fn wait_done(&self, number: u64) {
        let mut least = u64::MAX;
        for pe in 0..self.team.size {
            let done = &self.team.area(pe).done.0;
            let theirs = if pe == self.team.me {
                number
            } else {
                wait::until(self.map.crowded, || Some(done.load(Ordering::Acquire)).filter(|d| *d >= number))
            };
            least = least.min(theirs);
        }
        self.team.progress.all_done.set(least);
    }

    /// A member's instance of a symmetric object that was checked here.
    #[inline]
    pub fn of<T>(&self, arg: &'static str, addr: *const T, bytes: usize, pe: i32) -> Result<*mut T, Fault> {
        self.map.remote(arg, addr, bytes, self.team.world(pe))
    }
}

/// A small contribution, aligned for every type.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Bytes(pub [u64; WORDS]);
