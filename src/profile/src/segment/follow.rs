//! One time line for the segments of several hosts, where no launcher of ours gives it: that of the host with PE 0.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering::Relaxed;

use super::layout::{HEADER_BYTES, Header};
use super::map::SegmentShape;
use super::mapping::Mapping;
use crate::clock::realtime_ns;
use crate::output::Claim;

/// Bytes of what [`origin`] gives before the name.
const BYTES: usize = 12 + 32;

/// The begin of a segment's job, for [`follow`] on other hosts: nanoseconds since 1970, a process, the claims, and what
/// the job is called. At most 300 bytes.
///
/// # Errors
/// As for reading a segment.
pub fn origin(fd: RawFd) -> io::Result<Vec<u8>> {
    let (_, mapping) = open(fd)?;
    let header = header(&mapping);
    let (realtime, pid) = (header.start_realtime.load(Relaxed), header.launcher_pid.load(Relaxed));
    let claims = header.claims.iter().flatten().flat_map(|word| word.load(Relaxed).to_le_bytes());
    let name = header.job_id.get().into_bytes();
    Ok(realtime.to_le_bytes().into_iter().chain(pid.to_le_bytes()).chain(claims).chain(name).collect())
}

/// Has a segment count from the begin of another host's, as far as the clocks of both hosts agree. Before anybody
/// records.
///
/// # Errors
/// `InvalidData` for what is not of [`origin`]; as for reading a segment.
pub fn follow(fd: RawFd, origin: &[u8]) -> io::Result<()> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidData, "this is no begin of a job");
    let (origin, name) = origin.split_at_checked(BYTES).ok_or_else(invalid)?;
    let name = str::from_utf8(name).map_err(|_| invalid())?;
    let (realtime, pid) = origin.split_first_chunk().ok_or_else(invalid)?;
    let realtime = u64::from_le_bytes(*realtime);
    let (pid, claims) = pid.split_first_chunk().ok_or_else(invalid)?;
    let pid = u32::from_le_bytes(*pid);
    let (scale, mapping) = open(fd)?;
    let header = header(&mapping);
    let (now, ticks) = (realtime_ns(), scale.now());
    let begin = ticks.saturating_sub(scale.ticks(now.saturating_sub(realtime)));
    header.start_ticks.store(begin, Relaxed);
    header.start_realtime.store(realtime, Relaxed);
    header.launcher_pid.store(pid, Relaxed);
    if !name.is_empty() {
        header.job_id.set(name);
    }
    for (word, bytes) in header.claims.iter().flatten().zip(claims.as_chunks().0) {
        word.store(u64::from_le_bytes(*bytes), Relaxed);
    }
    Ok(())
}

/// Where the PEs of this segment write profile and trace; `None`: nobody has said so.
///
/// # Errors
/// As for reading a segment.
pub fn claims(fd: RawFd) -> io::Result<[Option<Claim>; 2]> {
    let (_, mapping) = open(fd)?;
    Ok(header(&mapping).claims.each_ref().map(|words| {
        let [number, token] = words.each_ref().map(|word| word.load(Relaxed));
        (token != 0).then_some(Claim { number: number as u32, token })
    }))
}

/// Says where the PEs of this segment write profile and trace. Before they look.
///
/// # Errors
/// As for reading a segment.
pub fn set_claims(fd: RawFd, claims: [Option<Claim>; 2]) -> io::Result<()> {
    let (_, mapping) = open(fd)?;
    for (words, claim) in header(&mapping).claims.iter().zip(claims) {
        let Claim { number, token } = claim.unwrap_or_default();
        words[0].store(u64::from(number), Relaxed);
        words[1].store(token, Relaxed);
    }
    Ok(())
}

pub(super) fn open(fd: RawFd) -> io::Result<(crate::clock::Scale, Mapping)> {
    let facts = SegmentShape::read(fd)?;
    Ok((facts.scale, Mapping::new(fd, 0, HEADER_BYTES, true)?))
}

pub(super) fn header(mapping: &Mapping) -> &Header {
    // SAFETY: `SegmentShape::read` has checked that there is a header; the mapping is page-aligned; all fields are
    // atomics.
    unsafe { &*mapping.as_ptr().cast::<Header>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{JobInfo, Segment, create};
    use std::os::fd::{AsFd, AsRawFd};

    #[test]
    fn a_segment_takes_over_the_begin_of_another() {
        let info = |first_pe| JobInfo { first_pe, local_pes: Some(1), ..JobInfo::default() };
        let (one, other) = (create(2, &info(0)).unwrap(), create(2, &info(1)).unwrap());
        let claim = [None, Some(Claim { number: 2, token: 77 })];
        set_claims(one.as_raw_fd(), claim).unwrap();
        header(&open(one.as_raw_fd()).unwrap().1).job_id.set(&"é".repeat(64));
        let told = origin(one.as_raw_fd()).unwrap();
        follow(other.as_raw_fd(), &told).unwrap();
        assert_eq!(origin(other.as_raw_fd()).unwrap(), told);
        assert_eq!(claims(other.as_raw_fd()).unwrap(), claim);
        let (one, other) = (Segment::map(one.as_fd()).unwrap(), Segment::map(other.as_fd()).unwrap());
        // Both were made in this process, one after the other; the clocks are read one after the other, too.
        assert!(one.now_ns().abs_diff(other.now_ns()) < 1_000_000_000);
    }

    #[test]
    fn nonsense_is_refused() {
        let fd = create(1, &JobInfo::default()).unwrap();
        for told in [&[][..], &[0; 11], &[0; 43], &[0xff; 45]] {
            assert!(follow(fd.as_raw_fd(), told).is_err());
        }
    }
}
