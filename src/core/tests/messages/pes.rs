//! PEs that are threads, and the ways between them.
#![allow(unsafe_code)]

use super::delayed;
use super::job;
use pellucid_core::am::{Handler, MessagePaths, Messages};
use pellucid_core::transport::shm::{LANES, LaneMemory, SharedMemory};
use pellucid_core::transport::{Atomics, Directory, OpenRequest, SegmentId, Transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a heap.
pub const HEAP: usize = job::HEAP;

/// How long a PE waits for something, on a machine however busy.
const LONG: Duration = Duration::from_secs(300);

/// What goes through what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Shm,
    Ofi,
    Delayed,
    /// Two PEs a host, with shared memory within it.
    ShmAndOfi,
    ShmAndDelayed,
}

impl Way {
    pub const ALL: [Self; 5] = [Self::Shm, Self::Ofi, Self::Delayed, Self::ShmAndOfi, Self::ShmAndDelayed];

    /// PEs of a host: so many, or all.
    fn host(self, npes: usize) -> usize {
        match self {
            Self::Shm => npes,
            Self::Ofi | Self::Delayed => 1,
            Self::ShmAndOfi | Self::ShmAndDelayed => 2,
        }
    }
}

/// A PE of a test.
pub struct Pe {
    pub me: i32,
    pub npes: i32,
    pub messages: &'static Messages,
    pub heap: usize,
    /// What handlers count.
    pub counts: &'static [AtomicUsize; 8],
    meeting: Arc<Meeting>,
}

/// A barrier in which everyone goes on polling.
struct Meeting {
    arrived: AtomicUsize,
    npes: usize,
    /// A PE has panicked: nobody waits for it.
    failed: AtomicBool,
}

/// Lives as long as a PE's thread: tells the others where that panics.
pub struct Alarm<'a>(&'a Meeting);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Release);
        }
    }
}

impl Pe {
    /// Registers a handler that gets the address of [`Self::counts`] as its context.
    pub fn register(&self, number: u16, name: &'static str, run: fn(&mut pellucid_core::am::Message<'_>, usize)) {
        let context = std::ptr::from_ref(self.counts) as usize;
        self.messages.register(number, Handler { name, run, context }).unwrap();
    }

    /// For the PE's thread to hold.
    pub fn alarm(&self) -> Alarm<'_> {
        Alarm(&self.meeting)
    }

    /// Waits for all PEs, and runs handlers meanwhile.
    pub fn barrier(&self) {
        let mine = self.meeting.arrived.fetch_add(1, Ordering::AcqRel);
        let round = (mine / self.meeting.npes + 1) * self.meeting.npes;
        self.until(|| self.meeting.arrived.load(Ordering::Acquire) >= round);
    }

    /// Polls until something is so.
    pub fn until(&self, is: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is() {
            assert!(!self.meeting.failed.load(Ordering::Acquire), "PE {}: another PE has failed", self.me);
            assert!(begin.elapsed() < LONG, "PE {} of {} waits in vain; counts {:?}", self.me, self.npes, self.counts);
            if self.messages.poll().unwrap() == 0 {
                std::thread::yield_now();
            }
        }
    }

    pub fn count(&self, i: usize) -> usize {
        self.counts[i].load(Ordering::Acquire)
    }

    /// Bytes of the heap as they are now.
    pub fn bytes(&self, offset: usize, len: usize) -> Vec<u8> {
        // SAFETY: the tests stay in the heap; others write there, hence volatile.
        (0..len).map(|i| unsafe { ((self.heap + offset + i) as *const u8).read_volatile() }).collect()
    }
}

/// The counts that a handler was registered with.
pub fn counts(context: usize) -> &'static [AtomicUsize; 8] {
    // SAFETY: what `register` passes, which lives for ever.
    unsafe { &*(context as *const [AtomicUsize; 8]) }
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Rings of the PEs of a host, of a segment each.
fn lanes(first: usize, count: usize) -> LaneMemory {
    let words = vec![[0u64; 8]; (count * LANES).div_ceil(64) + 1].leak();
    let base = words.as_mut_ptr() as usize;
    LaneMemory { base: base.next_multiple_of(64) as *mut u8, stride: LANES, first: first as i32, count: count as u32 }
}

fn directory() -> Directory {
    Directory {
        address: Box::new(|_| Ok(Vec::new())),
        host: Box::new(|pe| format!("host{pe}")),
        answer: Box::new(|_| 0),
        note: Box::new(|_| ()),
        lost: Box::new(|_| ()),
        unreached: Box::new(|_, _| false),
    }
}

/// PEs that know each other; `None`, with a message, where the machine has not what the way needs.
pub fn job(way: Way, npes: usize) -> Option<Vec<Pe>> {
    let fabrics = matches!(way, Way::Ofi | Way::ShmAndOfi).then(|| job::job(npes, &job::settings()));
    let fabrics: Option<&'static Vec<job::Pe>> = match fabrics {
        Some(None) => return None,
        Some(Some(fabrics)) => Some(leak(fabrics)),
        None => None,
    };
    let heaps: Vec<usize> = (0..npes)
        .map(|pe| fabrics.map_or_else(|| vec![0u64; HEAP / 8].leak().as_ptr() as usize, |pes| pes[pe].heap() as usize))
        .collect();
    let hub = matches!(way, Way::Delayed | Way::ShmAndDelayed).then(|| delayed::Hub::new(heaps.clone()));
    let meeting = Arc::new(Meeting { arrived: AtomicUsize::new(0), npes, failed: AtomicBool::new(false) });
    let host = way.host(npes);
    let rings: Vec<LaneMemory> = (0..npes).step_by(host).map(|first| lanes(first, host.min(npes - first))).collect();
    let pes = (0..npes).map(|me| {
        let (memory, heaps) = (rings[me / host], heaps.clone());
        let near = memory.first..memory.first + memory.count as i32;
        let all = heaps.clone();
        let request = OpenRequest {
            pe: me as u32,
            npes: npes as u32,
            segments: vec![(SegmentId::HEAP, heaps[me], HEAP)],
            atomics: Atomics::Cpu,
            one_host: true,
            oversubscribed: true,
            posts_beside: false,
            directory: directory(),
            mapping: Box::new(move |pe, segment| {
                (near.contains(&pe) && segment == SegmentId::HEAP).then(|| (all[pe as usize], HEAP))
            }),
            lanes: Some(memory),
        };
        let remote: Option<&'static dyn Transport> = match (fabrics, &hub) {
            (Some(pes), _) => Some(&pes[me].fabric),
            (_, Some(hub)) => Some(leak(delayed::End::new(hub.clone(), me as i32))),
            _ => None,
        };
        let messages = leak(Messages::new());
        messages.open(MessagePaths {
            me: me as i32,
            npes: npes as i32,
            oversubscribed: true,
            // SAFETY: heaps and rings live for ever, and the tests expect writes there at any time.
            local: Some(leak(unsafe { SharedMemory::new(request) })),
            remote,
            data: MessagePaths::channel_for_data(remote),
            segments: vec![(SegmentId::HEAP, heaps[me], HEAP)],
            losses: None,
        });
        Pe {
            me: me as i32,
            npes: npes as i32,
            messages,
            heap: heaps[me],
            counts: leak(Default::default()),
            meeting: meeting.clone(),
        }
    });
    Some(pes.collect())
}
