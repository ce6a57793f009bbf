//! The memory of a space's members on one host: a part of the job's file, or, for huge pages of the system's pool, a
//! file of its own. The first of them takes it; all map it whole, and their own part a second time.
#![allow(unsafe_code)]

use super::JOB;
use crate::memory::heap::LARGEST_ALIGN;
use crate::memory::spaces::{ALIGN, Pages};
use crate::os::{huge, mmap, numa, process};
use crate::team::World;
use crate::transport::SegmentId;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// Of a member.
    pub bytes: usize,
    /// Of a page; 0: as it comes.
    pub page: usize,
    /// The node that it has to be on.
    pub node: Option<u32>,
}

/// What a member could not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Room in the job's file.
    Room = 1,
    /// Mapping it.
    Map,
    /// A page size that there is not.
    Size,
    /// The pool is empty.
    Pool,
    /// Binding it to a node.
    Bind,
    /// The file of another member.
    Share,
    /// The network.
    Register,
}

impl What {
    const ALL: [Self; 7] = [Self::Room, Self::Map, Self::Size, Self::Pool, Self::Bind, Self::Share, Self::Register];

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Room => "no room in the job's memory file",
            Self::Map => "its memory cannot be mapped",
            Self::Size => "the system has no pages of page_size bytes (/sys/kernel/mm/hugepages)",
            Self::Pool => {
                "the system has too few free huge pages of page_size bytes: its administrator makes them \
                 (/sys/kernel/mm/hugepages/*/nr_hugepages), or has it make them where a program asks \
                 (/sys/kernel/mm/transparent_hugepage/shmem_enabled)"
            }
            Self::Bind => "its memory cannot be bound to numa_node",
            Self::Share => "the huge pages of another PE of the host cannot be opened",
            Self::Register => "the network refuses its memory",
        }
    }
}

/// What a member could not do, and what the system said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failed {
    pub what: What,
    pub error: i32,
}

impl Failed {
    /// As a word for others; not 0.
    pub fn word(self) -> u64 {
        (self.what as u64) << 32 | u64::from(self.error as u32)
    }

    /// See [`Self::word`].
    pub fn from_word(word: u64) -> Option<Self> {
        let what = What::ALL.into_iter().find(|what| *what as u64 == word >> 32)?;
        Some(Self { what, error: word as u32 as i32 })
    }
}

fn fail<T>(what: What, error: i32) -> Result<T, Failed> {
    Err(Failed { what, error })
}

/// Where the memory of the host's members is.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// In the job's file: where, and how much there this PE has taken.
    at: usize,
    bytes: usize,
    /// A file of its own, which stays open until all have it.
    file: Option<OwnedFd>,
}

impl Source {
    /// For the other members: where it is, or the descriptor and the process that has it open.
    pub fn words(&self) -> [u64; 2] {
        match &self.file {
            None => [self.at as u64, 0],
            Some(file) => [file.as_raw_fd() as u64, u64::from(process::id() as u32)],
        }
    }

    /// The part of the job's file that this PE has taken; `None`: none.
    pub fn extent(&self) -> Option<Range<usize>> {
        (self.bytes > 0).then(|| self.at..self.at + self.bytes)
    }
}

/// What page a space gets: those of a pool, and bytes from one member's part to the next one's.
fn shape(wish: &Wish) -> Result<(bool, usize), Failed> {
    let page = wish.page;
    if page <= mmap::page() {
        let align = if wish.bytes >= ALIGN { ALIGN } else { mmap::GRANULE };
        return Ok((false, mmap::round_up(wish.bytes, align)));
    }
    match huge::pool(page) {
        Some((_, free)) if free > 0 => Ok((true, mmap::round_up(wish.bytes, page))),
        _ if huge::made_size() == page && huge::are_made_for_files() => Ok((false, mmap::round_up(wish.bytes, page))),
        Some(_) => fail(What::Pool, 0),
        None => fail(What::Size, 0),
    }
}

/// Takes the memory of `count` members.
pub(super) fn take(wish: &Wish, count: usize) -> Result<Source, Failed> {
    let (of_pool, stride) = shape(wish)?;
    let Some(bytes) = stride.checked_mul(count) else { return fail(What::Room, libc::ENOMEM) };
    if of_pool {
        let file = huge::memfd(c"pellucid-space", wish.page).or_else(|error| fail(What::Pool, error))?;
        return match mmap::grow(file.as_raw_fd(), bytes) {
            Ok(()) => Ok(Source { file: Some(file), ..Source::default() }),
            Err(_) => fail(What::Room, libc::EFBIG),
        };
    }
    let align = if stride.is_multiple_of(ALIGN) { ALIGN } else { mmap::GRANULE };
    match JOB.get().map(|job| job.take(bytes, align)) {
        Some(Ok(at)) => Ok(Source { at, bytes, file: None }),
        _ => fail(What::Room, libc::EFBIG),
    }
}

/// Maps it: this PE's part, the `index`-th of `count`, at `base` where that is free.
pub(super) fn map(
    wish: &Wish,
    [at, pid]: [u64; 2],
    (index, count): (usize, usize),
    base: usize,
) -> Result<Pages, Failed> {
    let Some(job) = JOB.get() else { return fail(What::Map, libc::EBADF) };
    let opened = match pid {
        0 => None,
        _ => Some(huge::open_of(pid as i32, at as i32).or_else(|error| fail(What::Share, error))?),
    };
    // The first has found out which pages there are: they may be gone from the pool since.
    let stride = match &opened {
        Some(_) => mmap::round_up(wish.bytes, wish.page),
        None if wish.page > mmap::page() => mmap::round_up(wish.bytes, wish.page),
        None => shape(wish)?.1,
    };
    let (fd, start) = opened.as_ref().map_or((job.fd(), at as usize), |file| (file.as_raw_fd(), 0));
    let map_failed = |_| fail(What::Map, mmap::last_errno());
    let (offset, place) = (start + index * stride, (base, LARGEST_ALIGN));
    let (view, own) = match &opened {
        // Those of a pool are taken at once: where there are too few, nobody is stopped by a signal later.
        Some(_) => {
            let failed = |error| fail(What::Pool, error);
            let view = mmap::reserved(fd, start, stride * count, None).or_else(failed)?;
            (view, mmap::reserved_aligned(fd, offset, stride, place).or_else(failed))
        }
        None => {
            let view = mmap::shared(fd, start, stride * count, None).or_else(map_failed)?;
            (view, mmap::shared_aligned(fd, offset, stride, place).or_else(map_failed))
        }
    };
    let own = match own {
        Ok(own) => own,
        Err(failed) => {
            // SAFETY: mapped just now.
            unsafe { mmap::unmap(view, stride * count) };
            return Err(failed);
        }
    };
    // Core files have what is this PE's own.
    mmap::dump(view as usize, stride * count, false);
    let pages = Pages { own, view, stride, count };
    if wish.page > mmap::page() && opened.is_none() {
        // SAFETY: mapped above.
        unsafe {
            huge::advise(own, stride);
            huge::advise(view, stride * count);
        }
    }
    let Some(node) = wish.node else {
        // SAFETY: mapped above.
        unsafe { numa::unbind(own, stride) };
        return Ok(pages);
    };
    // SAFETY: mapped above.
    unsafe { numa::bind(own, stride, node) }.map(|()| pages).or_else(|error| fail(What::Bind, error))
}

/// Gives back what a PE has taken of the job's file, once no member uses it.
pub(super) fn give_back(extent: Option<Range<usize>>) {
    if let (Some(extent), Some(job)) = (extent, JOB.get()) {
        job.give_back(extent.start, extent.len());
    }
}

/// Has the network reach it. Gives what others have to know.
pub(super) fn register(w: &World, number: u16, own: *mut u8, bytes: usize) -> Result<[u64; 2], Failed> {
    let Some(transport) = w.map.transport else { return Ok([0; 2]) };
    // SAFETY: mapped until the space has ended, which deregisters it first; others write there at any time.
    let key = unsafe { transport.register(SegmentId(number), own, bytes) };
    let Ok(key) = key else { return fail(What::Register, 0) };
    let words = key.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
    let mut all = [0; 2];
    all.iter_mut().zip(words).for_each(|(to, word)| *to = word);
    Ok(all)
}

/// The node that this PE is at home on.
pub(super) fn own_node(w: &World) -> u32 {
    JOB.get().map_or(0, |job| job.pe(w.map.me as u32).node())
}
