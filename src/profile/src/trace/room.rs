//! A trace file and its part that can be written to: mapped, and reserved on the disk.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::format::{CHUNK_BYTES, HEAD_BYTES};
use super::guard::{self, Ground};
use crate::output::{OutputDir, OwnFd};
use crate::pages::{page, populate};

/// Chunks that are reserved at a time: a tradeoff between how often and how long a call is held up.
const STEP: u32 = 4;

/// A mapped file.
pub(super) struct Room {
    file: OwnFd,
    /// By what it is opened again, where the program has closed it.
    place: (&'static OutputDir, String),
    base: *mut u8,
    ground: &'static Ground,
    /// Chunks that may be written to.
    ready: u32,
    /// Chunks that it may have; less than asked for where the disk is full.
    bound: u32,
}

impl Room {
    /// A new file with its head reserved and mapped. No file is left where that cannot be done.
    pub(super) fn create(dir: &'static OutputDir, name: &str, bound: u32) -> io::Result<Room> {
        let file = OwnFd::new(dir.create(name)?.into())?;
        let room = Self::map(file, (dir, name.to_owned()), bound);
        if room.is_err() {
            let _ = dir.remove(name);
        }
        room
    }

    fn map(file: OwnFd, place: (&'static OutputDir, String), bound: u32) -> io::Result<Room> {
        let bytes = offset(bound);
        let fd = file.open()?.as_raw_fd();
        reserve(fd, 0, HEAD_BYTES)?;
        // Addresses for all that the file may become; they cannot be touched before the file has that part: tools that
        // follow memory (valgrind) keep notes of all that can.
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nobody.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, libc::MAP_SHARED, fd, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: exactly the range mapped above; failure costs only the size of core dumps.
        unsafe { libc::madvise(base, bytes, libc::MADV_DONTDUMP) };
        let ready = open(base.cast(), HEAD_BYTES);
        let ground = ready.and_then(|()| guard::register(base.cast(), bytes).ok_or(io::ErrorKind::OutOfMemory.into()));
        let Ok(ground) = ground else {
            // SAFETY: exactly the range mapped above, which nobody uses.
            unsafe { libc::munmap(base, bytes) };
            return Err(ground.err().unwrap_or(io::ErrorKind::OutOfMemory.into()));
        };
        Ok(Room { file, place, base: base.cast(), ground, ready: 0, bound })
    }

    /// The head of the file.
    pub(super) fn head(&self) -> *mut u8 {
        self.base
    }

    /// Whether the file was cut, so that what is written goes nowhere.
    pub(super) fn is_lost(&self) -> bool {
        self.ground.is_lost()
    }

    /// Chunks that the file may have.
    pub(super) fn chunks(&self) -> u32 {
        self.bound
    }

    /// The file ends behind so many chunks: what was reserved for more is given back.
    pub(super) fn cut(&mut self, chunks: u32) {
        let Ok(fd) = self.descriptor() else { return };
        // SAFETY: plain system call on a descriptor that is ours. Where it fails, the file is longer than need be.
        unsafe { libc::ftruncate(fd, offset(chunks) as libc::off_t) };
    }

    /// The file's descriptor, to be used at once. The file is opened again where the program has closed it.
    fn descriptor(&mut self) -> io::Result<RawFd> {
        if self.file.get().is_none() {
            let (dir, name) = &self.place;
            if !self.file.renew(dir.open(name, true)?.into()) {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the file was replaced"));
            }
        }
        Ok(self.file.open()?.as_raw_fd())
    }

    /// The place of chunk `index`, for which there is room: otherwise how many chunks the file has room for, and the
    /// first time why not more.
    pub(super) fn chunk(&mut self, index: u32) -> Result<*mut u8, (u32, Option<io::Error>)> {
        if index >= self.bound {
            return Err((self.bound, None));
        }
        if index >= self.ready {
            let step = STEP.min(self.bound - self.ready);
            let (at, bytes) = (offset(self.ready), step as usize * CHUNK_BYTES);
            let reserved = self
                .descriptor()
                .and_then(|fd| reserve(fd, at, bytes))
                // SAFETY: within the mapping, which has `bound` chunks.
                .and_then(|()| open(unsafe { self.base.add(at) }, bytes));
            if let Err(error) = reserved {
                self.bound = self.ready;
                return Err((self.bound, Some(error)));
            }
            self.ready += step;
        }
        // SAFETY: `index` is below `bound`, which the mapping has room for.
        Ok(unsafe { self.base.add(offset(index)) })
    }
}

fn offset(chunk: u32) -> usize {
    HEAD_BYTES + chunk as usize * CHUNK_BYTES
}

/// Has a part of the mapping, which the file has by now, written to.
fn open(at: *mut u8, bytes: usize) -> io::Result<()> {
    let before = at.addr() % page();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: pages of the mapping. Where they are larger than a part, this opens some of the next one.
    if unsafe { libc::mprotect(at.wrapping_sub(before).cast(), before + bytes, protection) } != 0 {
        return Err(io::Error::last_os_error());
    }
    populate(at, bytes)
}

/// Gives a part of the file room on the disk.
fn reserve(fd: libc::c_int, at: usize, bytes: usize) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // Beyond the limit of file sizes there is a signal that ends the process.
    // SAFETY: `limit` is a valid place for the result.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0 && (at + bytes) as u64 > limit.rlim_cur {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    // SAFETY: plain system calls on a descriptor that is ours.
    match unsafe { libc::posix_fallocate(fd, at as libc::off_t, bytes as libc::off_t) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
