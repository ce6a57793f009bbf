//! Laying out and mapping the symmetric segments of all PEs of the host at start-up.
//!
//! The job file holds, behind the control pages: for each PE its internal area (collectives), its heap and its
//! `.data`/`.bss` pages. Every PE maps the whole file once; its own heap a second time at an address that is the same
//! on all PEs where the kernel allows; and its own data pages over the executable's.

use super::fork_copy;
use super::heap::LARGEST_ALIGN;
use super::map::{BEHIND, Map, Peer};
use crate::base::{Cause, Fault, env};
use crate::bootstrap::common::CommonSettings;
use crate::bootstrap::job::Job;
use crate::os::elf;
use crate::os::hold::Hold;
use crate::os::pagemap::Pagemap;
use crate::os::{cgroup, cpu, mmap, numa, wait};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;

/// Where the heap is asked for: free in ordinary processes and under AddressSanitizer.
const HEAP_AT: usize = 0x2a00_0000_0000;
/// Segments begin at multiples of this, so that huge pages can be used.
const ALIGN: usize = 2 << 20;
/// Bytes a PE of internal area: never-touched pages cost nothing.
pub const INTERNAL: usize = 8 << 20;

/// The mapped segments.
pub struct Segments {
    /// The host's first PE.
    first: u32,
    /// One entry a PE of the host.
    pub peers: &'static [Peer],
    /// First address of this PE's heap.
    pub heap_base: usize,
    /// Bytes of a heap.
    pub heap_len: usize,
    /// This PE's `.data`/`.bss` pages, where they are symmetric.
    pub data: Option<elf::Range>,
    /// Address of the internal area of the host's first PE; the others follow at [`INTERNAL`] bytes.
    pub internal: *mut u8,
    /// Cores that the host's PEs may take between them: those that they may run on, or fewer where their control group
    /// has a quota.
    pub cores: u32,
    /// What the user may want to know (shown with `SHMEM_DEBUG`).
    pub notes: Vec<String>,
}

struct Layout {
    /// PEs of this host; a PE's index is its place among them.
    pes: usize,
    control: usize,
    heap: usize,
    data: usize,
}

impl Layout {
    fn internal(&self, pe: usize) -> usize {
        mmap::round_up(self.control, ALIGN) + pe * INTERNAL
    }
    fn heap(&self, pe: usize) -> usize {
        self.internal(self.pes) + pe * mmap::round_up(self.heap + BEHIND, ALIGN)
    }
    fn data(&self, pe: usize) -> usize {
        self.heap(self.pes) + pe * mmap::round_up(self.data, ALIGN)
    }
    fn total(&self) -> usize {
        self.data(self.pes)
    }

    /// Whether files may be as long as that: with less the sums above are right.
    fn check(&self) -> Result<(), Fault> {
        let a_pe = [INTERNAL, self.heap, BEHIND, self.data, 2 * ALIGN].iter().map(|part| *part as u128).sum::<u128>();
        let total = self.control as u128 + ALIGN as u128 + self.pes as u128 * a_pe;
        if total <= i64::MAX as u128 {
            return Ok(());
        }
        let (by, heap, pes) = (env::symmetric_size_by(), self.heap, self.pes);
        Err(Fault::from(Cause::Startup(format!(
            "{by} gives {heap} bytes, which for the PEs of this host ({pes}) is more than a file of memory can have: \
             set a smaller one"
        ))))
    }
}

/// Meets the other PEs of the host, and compares with them what all need alike.
fn compare(job: &Job, pe: u32, settings: CommonSettings, heap_len: usize, data: (u64, u64)) -> Result<(), Fault> {
    let cpus = cpu::affinity();
    job.pe(pe).publish(heap_len as u64, data, settings, &cpus);
    job.pe(pe).set_node(numa::node_of(&cpus).unwrap_or_else(numa::current_node));
    job.host_barrier();
    for other in job.pes() {
        settings.check_matching(job.pe(other).settings(), other)?;
        let theirs = job.pe(other).heap();
        if theirs != heap_len as u64 {
            let by = env::symmetric_size_by();
            return Err(Fault::from(Cause::Startup(format!(
                "{by} gives {heap_len} bytes here but {theirs} on PE {other}: all PEs need the same"
            ))));
        }
    }
    Ok(())
}

/// Meets the other PEs and maps everybody's segments. Collective over the job.
pub fn establish(
    job: &Job,
    pe: u32,
    settings: CommonSettings,
    heap_len: usize,
    symmetric_data: bool,
) -> Result<Segments, Fault> {
    mmap::check_page()?;
    let mut notes = Vec::new();
    let (mut data, parts, executable) = static_data(symmetric_data);
    let data_len = data.map_or(0, |r| r.end - r.start);
    let own = (data_len as u64, elf::build_id());
    compare(job, pe, settings, heap_len, own)?;
    if let Some(differs) = differing(job, own).filter(|_| data.is_some()) {
        notes.push(differs);
        data = None;
    }
    let layout = Layout { pes: job.pes().len(), control: job.control_bytes(), heap: heap_len, data: data_len };
    layout.check()?;
    job.lay_out(layout.total());
    mmap::grow(job.fd(), layout.total())?;
    let view = mmap::shared(job.fd(), 0, layout.total(), None)?;
    let mine = (pe - job.pes().start) as usize;
    let heap = mmap::shared_aligned(job.fd(), layout.heap(mine), heap_len + BEHIND, (HEAP_AT, LARGEST_ALIGN))?;
    // Of the heap, core files have what is allocated (`Heap`); static objects are mapped in their places below.
    mmap::dump(view as usize, layout.total(), false);
    mmap::dump(heap as usize, heap_len + BEHIND, false);
    if heap as usize != HEAP_AT {
        notes.push(format!("the symmetric heap is at {heap:p}, not at the common address {HEAP_AT:#x}"));
    }
    let all = 0..job.pes().len();
    if let Some(range) = data {
        share_data(job, layout.data(mine), range, &parts)?;
        let others = all.clone().filter(|other| *other != mine).map(|other| view as usize + layout.data(other));
        show_constants(executable.as_ref(), others, range, &parts)?;
    }
    let peers: Vec<Peer> = all
        .map(|other| {
            let data_len = data.map_or(0, |range| range.end - range.start);
            if other == mine {
                return Peer::new((0, heap_len), (0, data_len));
            }
            let at = |offset: usize, base: usize| (view as usize + offset).wrapping_sub(base) as isize;
            let data = data.map_or(0, |range| at(layout.data(other), range.start));
            Peer::new((at(layout.heap(other), heap as usize), heap_len), (data, data_len))
        })
        .collect();
    let cores = cores(job);
    save_quota(peers.len(), cores);
    Ok(Segments {
        first: job.pes().start,
        peers: peers.leak(),
        heap_base: heap as usize,
        heap_len,
        data,
        internal: view.wrapping_add(layout.internal(0)),
        cores,
        notes,
    })
}

/// Who runs another executable, in words: its objects may be elsewhere in as many bytes.
fn differing(job: &Job, own: (u64, u64)) -> Option<String> {
    let other = job.pes().find(|other| job.pe(*other).data() != own)?;
    Some(format!(
        "static objects are not symmetric: PE {other} runs another executable (.data and .bss have {} bytes here, {} \
         there)",
        own.0,
        job.pe(other).data().0
    ))
}

impl Segments {
    /// The translation map of PE `pe`, for a job of which `pes` are on this host and reached through their memory.
    pub fn map(&self, pe: u32, pes: Range<u32>, npes: u32, check: bool) -> Map {
        let skipped = pes.start - self.first;
        let (all, cores) = (self.peers.len() as u32, self.cores);
        Map {
            heap_base: self.heap_base,
            heap_len: self.heap_len,
            data_base: self.data.map_or(0, |r| r.start),
            data_len: self.data.map_or(0, |r| r.end - r.start),
            first_pe: pes.start as i32,
            local_pes: pes.len() as u32,
            me: pe as i32,
            npes: npes as i32,
            atomic_pes: pes.len() as u32,
            peers: NonNull::from(&self.peers[skipped as usize..][..pes.len()]).cast(),
            cores,
            oversubscribed: all > cores,
            spare_cores: all < cores,
            check,
            alert: AtomicBool::new(check),
            transport: None,
            heap: None,
            spaces: None,
            losses: None,
        }
    }
}

/// Cores that the PEs of this host may take between them.
fn cores(job: &Job) -> u32 {
    let mut union = [0u64; cpu::MASK_WORDS];
    for pe in job.pes() {
        for (all, one) in union.iter_mut().zip(job.pe(pe).affinity()) {
            *all |= one;
        }
    }
    cpu::count(&union).min(job.cpus().max(1))
}

/// Where more PEs than that share a quota of CPU time, whoever waits leaves it to others.
fn save_quota(pes: usize, cores: u32) {
    if pes > cores as usize && cgroup::cpu_quota() == Some(cores) {
        wait::save_cpu_time();
    }
}

/// What of the executable is symmetric, as a whole and in parts; and its file, where that is needed: constants between
/// the parts are read from there by other PEs.
fn static_data(is_wanted: bool) -> (Option<elf::Range>, Vec<elf::Range>, Option<File>) {
    let mut parts = if is_wanted { elf::writable_data() } else { Vec::new() };
    let mut executable = None;
    if let Some(constants) = parts.iter().find(|part| part.constants_at.is_some()) {
        executable = File::open("/proc/self/exe").ok().filter(|file| is_in(file, constants));
        if executable.is_none() {
            let groups = parts.split(|part| part.constants_at.is_some());
            let bytes = |group: &&[elf::Range]| group.iter().map(|part| part.end - part.start).sum::<usize>();
            parts = groups.max_by_key(bytes).unwrap_or_default().to_vec();
        }
    }
    let all = parts.first().zip(parts.last()).map(|(first, last)| elf::Range { start: first.start, ..*last });
    (all, parts, executable)
}

/// Whether a file has these constants: a program may be started by another, as by the loader.
#[allow(unsafe_code)]
fn is_in(file: &File, constants: &elf::Range) -> bool {
    let mut first = [0; 256];
    let read = file.read_exact_at(&mut first, constants.constants_at.unwrap_or_default() as u64);
    // SAFETY: whole pages of constants, which are mapped as long as the program runs.
    read.is_ok() && first == unsafe { *(constants.start as *const [u8; 256]) }
}

/// The constants between the data of other PEs, whose pages are mapped at these addresses: those of the executable,
/// which is the same, to be read only.
#[allow(unsafe_code)]
fn show_constants(
    executable: Option<&File>,
    others: impl Iterator<Item = usize> + Clone,
    all: elf::Range,
    parts: &[elf::Range],
) -> Result<(), Fault> {
    for part in parts {
        let (Some(file), Some(offset)) = (executable, part.constants_at) else { continue };
        for at in others.clone() {
            let (at, bytes) = (at + (part.start - all.start), part.end - part.start);
            // SAFETY: pages of the view that no PE has any data in.
            unsafe { mmap::replace_by_constants(file.as_raw_fd(), offset, at, bytes)? };
        }
    }
    Ok(())
}

/// Moves the executable's data pages into the job file and maps that over them.
fn share_data(job: &Job, offset: usize, all: elf::Range, parts: &[elf::Range]) -> Result<(), Fault> {
    let at = |address: usize| offset + (address - all.start);
    let writable: Vec<elf::Range> = parts.iter().filter(|part| part.constants_at.is_none()).copied().collect();
    let zeros = |part: &elf::Range| Pagemap::new(part.zero_from, part.end - part.zero_from);
    let mut zeros: Vec<Pagemap> = writable.iter().map(zeros).collect();
    let hold = Hold::begin(writable.iter().map(|part| part.start..part.end).collect());
    for (part, zeros) in writable.iter().zip(&mut zeros) {
        share_part(job, at(part.start), *part, zeros)?;
    }
    drop(hold);
    // So that all of it is there, for network cards too. What else may be between them stays: no object is.
    for gap in parts.windows(2).map(|pair| pair[0].end..pair[1].start).filter(|gap| !gap.is_empty()) {
        let _ = mmap::reserved(job.fd(), at(gap.start), gap.len(), Some(gap.start));
    }
    fork_copy::arm(job.known(), writable.iter().map(|part| (at(part.start), *part)).collect())
}

/// Between the first copy and the mapping nothing may write to static objects: other threads and handlers are held up.
/// In a static executable those of the C library are among them: so no allocation in between.
#[allow(unsafe_code)]
fn share_part(job: &Job, offset: usize, range: elf::Range, zeros: &mut Pagemap) -> Result<(), Fault> {
    let copy = |from: usize, len: usize| mmap::copy_to_file(job.fd(), offset + (from - range.start), from, len);
    copy(range.start, range.zero_from - range.start)?;
    match zeros.touched() {
        // Never-touched zero pages stay holes in the file: a large .bss costs neither time nor memory.
        Some(touched) => {
            let page = mmap::page();
            for (at, _) in touched.enumerate().filter(|(_, touched)| *touched) {
                copy(range.zero_from + at * page, page)?;
            }
        }
        None => copy(range.zero_from, range.end - range.zero_from)?,
    }
    // SAFETY: the file holds what the pages hold, to which nobody stores meanwhile.
    unsafe { mmap::replace_shared(job.fd(), offset, range.start, range.end - range.start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_that_no_file_has_room_for_are_refused() {
        let of = |pes, heap| Layout { pes, control: 1 << 20, heap, data: 1 << 20 };
        assert!(of(2, 1 << 40).check().is_ok() && of(2, 1 << 62).check().is_err());
        for (pes, heap) in [(1, usize::MAX), (4, 1 << 62), (2, usize::MAX / 2)] {
            let told = of(pes, heap).check().unwrap_err().to_string();
            assert!(told.contains(&format!("{heap} bytes")), "{told}");
        }
    }
}
