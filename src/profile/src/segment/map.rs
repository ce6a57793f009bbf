//! The reading side of a segment.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::layout::{HEADER_BYTES, Header, MAGIC, REGION_BYTES, Region, VERSION, segment_bytes};
use super::mapping::Mapping;
use crate::clock::{Scale, Source};
use crate::model::MOST_PES;
use crate::op;
use crate::output::OwnFd;

/// A segment mapped for reading. Reading never makes a PE wait.
#[derive(Debug)]
pub struct Segment {
    mapping: Mapping,
    fd: OwnFd,
    npes: u32,
    first_pe: u32,
    local_pes: u32,
    scale: Scale,
}

impl Segment {
    /// Maps a segment; the descriptor is duplicated and stays the caller's.
    ///
    /// # Errors
    /// `InvalidData` when it is no segment of this version, or one that could shrink, else what the system answered.
    pub fn map(fd: BorrowedFd<'_>) -> io::Result<Segment> {
        let facts = SegmentShape::read(fd.as_raw_fd())?;
        let mapping = Mapping::new(fd.as_raw_fd(), 0, segment_bytes(facts.local_pes), false)?;
        let fd = OwnFd::new(fd.try_clone_to_owned()?)?;
        let SegmentShape { npes, first_pe, local_pes, scale, .. } = facts;
        Ok(Segment { mapping, fd, npes, first_pe, local_pes, scale })
    }

    /// PEs of the job.
    pub fn npes(&self) -> u32 {
        self.npes
    }

    /// World numbers of the PEs that record here.
    pub fn pes(&self) -> std::ops::Range<u32> {
        self.first_pe..self.first_pe + self.local_pes
    }

    /// Scale of all time stamps.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Nanoseconds since the segment was created, on the time line of all its stamps.
    pub fn now_ns(&self) -> u64 {
        self.since_start(self.scale.now())
    }

    /// A time stamp as nanoseconds since the segment was created.
    pub fn since_start(&self, ticks: u64) -> u64 {
        self.scale.ns(ticks.saturating_sub(self.header().start_ticks.load(Relaxed)))
    }

    /// The time stamp of a moment, given as nanoseconds since the segment was created.
    pub fn ticks_at(&self, ns: u64) -> u64 {
        self.header().start_ticks.load(Relaxed).saturating_add(self.scale.ticks(ns))
    }

    /// The header.
    pub fn header(&self) -> &Header {
        // SAFETY: the mapping starts with a header, is page-aligned, sealed against shrinking and lives as long as
        // `self`.
        unsafe { &*self.mapping.as_ptr().cast::<Header>() }
    }

    /// The region of a PE; `None` when it does not record here.
    pub fn region(&self, pe: u32) -> Option<&Region> {
        let index = pe.checked_sub(self.first_pe).filter(|&index| index < self.local_pes)?;
        // SAFETY: `index` is below the number of regions that `map` mapped; alignment is a page; all fields are
        // atomics.
        Some(unsafe { &*self.mapping.as_ptr().add(HEADER_BYTES + index as usize * REGION_BYTES).cast::<Region>() })
    }

    /// Calls `visit` with the byte ranges of `within` (offsets in the segment) that hold data. Reading the holes
    /// between them through the mapping would make the kernel allocate a page for each.
    pub(crate) fn data_ranges(&self, within: std::ops::Range<usize>, mut visit: impl FnMut(std::ops::Range<usize>)) {
        let Some(fd) = self.fd.get() else { return visit(within) };
        let mut at = within.start;
        while at < within.end {
            let Some(data) = seek(fd, at, libc::SEEK_DATA) else { return };
            if data >= within.end {
                return;
            }
            let hole = seek(fd, data, libc::SEEK_HOLE).unwrap_or(within.end).min(within.end);
            visit(data..hole);
            at = hole;
        }
    }

    /// Offset of a reference into the mapping.
    pub(crate) fn offset_of<T>(&self, item: &T) -> usize {
        std::ptr::from_ref(item).addr() - self.mapping.as_ptr().addr()
    }
}

fn seek(fd: BorrowedFd<'_>, at: usize, whence: libc::c_int) -> Option<usize> {
    let at = libc::off_t::try_from(at).ok()?;
    // SAFETY: plain system call on a descriptor we own; nobody uses its file position.
    usize::try_from(unsafe { libc::lseek(fd.as_raw_fd(), at, whence) }).ok()
}

/// What a segment's header says about its shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentShape {
    pub(crate) npes: u32,
    pub(crate) first_pe: u32,
    pub(crate) local_pes: u32,
    pub(crate) scale: Scale,
    pub(crate) counts_only: bool,
}

impl SegmentShape {
    /// Reads and checks the header behind a descriptor.
    pub(crate) fn read(fd: RawFd) -> io::Result<SegmentShape> {
        check_sealed(fd)?;
        let bytes = file_bytes(fd)?;
        if bytes < HEADER_BYTES {
            return Err(invalid(format!("profile segment: {bytes} bytes are less than its header of {HEADER_BYTES}")));
        }
        let mapping = Mapping::new(fd, 0, HEADER_BYTES, false)?;
        // SAFETY: the file has at least a header, the mapping is page-aligned and outlives the reference.
        let header = unsafe { &*mapping.as_ptr().cast::<Header>() };
        let magic = header.magic.load(Acquire);
        if magic != MAGIC {
            return Err(invalid(format!("profile segment: starts with {magic:#018x}, not {MAGIC:#018x}")));
        }
        let version = header.version.load(Relaxed);
        if version != VERSION {
            return Err(invalid(format!("profile segment: version {version}, this build reads version {VERSION}")));
        }
        let (ops, hash) = (header.ops.load(Relaxed) as usize, header.ops_hash.load(Relaxed));
        if ops != op::TOTAL || hash != op::TABLE_HASH {
            let count = op::TOTAL;
            return Err(invalid(format!(
                "profile segment: made by another build, whose table of {ops} operations is not the one of {count} \
                 here: library and launcher differ"
            )));
        }
        let local_pes = header.local_pes.load(Relaxed);
        if segment_bytes(local_pes) != bytes {
            return Err(invalid(format!("profile segment: {bytes} bytes do not fit its {local_pes} PEs")));
        }
        let source = header.clock_source.load(Relaxed);
        let source =
            Source::from_number(source).ok_or_else(|| invalid(format!("profile segment: clock source {source}")))?;
        let scale =
            Scale { source, mult: header.clock_mult.load(Relaxed), overhead: header.clock_overhead.load(Relaxed) };
        let (npes, first_pe) = (header.npes.load(Relaxed), header.first_pe.load(Relaxed));
        check_pes(npes, first_pe, local_pes)?;
        Ok(SegmentShape { npes, first_pe, local_pes, scale, counts_only: header.counts_only.load(Relaxed) != 0 })
    }
}

/// Whether so many PEs from `first_pe` on are PEs of a job of `npes`: who made the segment may be anybody.
pub(super) fn check_pes(npes: u32, first_pe: u32, local_pes: u32) -> io::Result<()> {
    if npes > MOST_PES {
        return Err(invalid(format!("profile segment: {npes} PEs, where a job has at most {MOST_PES}")));
    }
    if first_pe.checked_add(local_pes).is_none_or(|end| end > npes) {
        let message = format!("profile segment: {local_pes} PEs from PE {first_pe} on do not fit a job of {npes}");
        return Err(invalid(message));
    }
    Ok(())
}

/// A file that can shrink would be a bus error under its reader: whoever offers a segment has made that impossible.
fn check_sealed(fd: RawFd) -> io::Result<()> {
    // SAFETY: plain system call; anything but memory of memfd_create answers with an error.
    let seals = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
    if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
        return Err(invalid(
            "profile segment: the memory is not sealed: whoever made it could take it back".to_owned(),
        ));
    }
    Ok(())
}

fn file_bytes(fd: RawFd) -> io::Result<usize> {
    // SAFETY: an all-zero stat is a valid value to be overwritten.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a valid place for the result.
    if unsafe { libc::fstat(fd, &raw mut stat) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(stat.st_size).unwrap_or(0))
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::sync::atomic::AtomicU32;

    use super::*;
    use crate::segment::{JobInfo, create};

    #[test]
    fn numbers_of_pes_that_cannot_be_are_refused() {
        let job = JobInfo { first_pe: 2, local_pes: Some(3), ..JobInfo::default() };
        let fd = create(8, &job).unwrap();
        let header = Mapping::new(fd.as_raw_fd(), 0, HEADER_BYTES, true).unwrap();
        // SAFETY: the mapping has a header, is page-aligned and lives until the end; all fields are atomics.
        let header = unsafe { &*header.as_ptr().cast::<Header>() };
        let refused = |field: &AtomicU32, number: u32| {
            let right = field.swap(number, Relaxed);
            let said = Segment::map(fd.as_fd()).err().map(|error| error.to_string());
            field.store(right, Relaxed);
            said
        };
        assert_eq!(refused(&header.npes, MOST_PES), None);
        assert_eq!(refused(&header.npes, 5), None);
        for (field, number, what) in [
            (&header.npes, 4, "3 PEs from PE 2 on do not fit a job of 4"),
            (&header.npes, MOST_PES + 1, "16777217 PEs, where a job has at most 16777216"),
            (&header.npes, u32::MAX, "4294967295 PEs, where"),
            (&header.first_pe, 6, "3 PEs from PE 6 on do not fit a job of 8"),
            (&header.first_pe, u32::MAX, "3 PEs from PE 4294967295 on"),
            (&header.local_pes, 4, "do not fit its 4 PEs"),
        ] {
            let said = refused(field, number).unwrap_or_default();
            assert!(said.contains(what), "{said:?}, not {what:?}");
        }
    }
}
