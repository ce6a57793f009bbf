//! The launcher's side of snapshots on request.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use super::futex;
use super::layout::{HEADER_BYTES, Header};
use super::mapping::Mapping;

/// Requests for snapshots, as whoever writes them sees them.
#[derive(Debug)]
pub struct SnapshotRequests {
    mapping: Mapping,
}

impl SnapshotRequests {
    /// From now on PEs of this segment wait for the snapshots that they ask for.
    ///
    /// # Errors
    /// What the system answered.
    pub fn serve(fd: BorrowedFd<'_>) -> io::Result<SnapshotRequests> {
        let requests = SnapshotRequests { mapping: Mapping::new(fd.as_raw_fd(), 0, HEADER_BYTES, true)? };
        requests.header().flush_served.store(1, Release);
        Ok(requests)
    }

    /// Waits for a request, `at_most` so long. Returns its number, for [`Self::done`].
    pub fn next(&self, at_most: Duration) -> Option<u32> {
        let header = self.header();
        let done = header.flush_done.load(Relaxed);
        if header.flush_wanted.load(Acquire) == done {
            futex::wait(&header.flush_wanted, done, at_most);
        }
        Some(header.flush_wanted.load(Acquire)).filter(|&wanted| wanted != done)
    }

    /// The snapshots up to this number are written, or never will be.
    pub fn done(&self, number: u32) {
        self.header().flush_done.store(number, Release);
        futex::wake(&self.header().flush_done);
    }

    /// Nobody writes snapshots any more.
    pub fn end(&self) {
        self.header().flush_served.store(0, Release);
        futex::wake(&self.header().flush_wanted);
        futex::wake(&self.header().flush_done);
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping is a header, page-aligned, and lives as long as `self`; all fields are atomics.
        unsafe { &*self.mapping.as_ptr().cast::<Header>() }
    }
}
