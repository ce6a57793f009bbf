//! A job of threads.

use crate::fabric::{End, Hub};
use pellucid_core::am::{MessagePaths, Messages};
use pellucid_core::collectives::table;
use pellucid_core::memory::Map;
use pellucid_core::memory::map::Peer;
use pellucid_core::memory::segments::INTERNAL;
use pellucid_core::team::algorithm;
use pellucid_core::team::finalizing::FinalizeBarrier;
use pellucid_core::team::hierarchical::{self, Common};
use pellucid_core::team::pe_list::PeList;
use pellucid_core::team::sync_block::{SYNC_BLOCK, TEAMS};
use pellucid_core::team::{ALWAYS, Config, NUMA_ID, Team, World};
use pellucid_core::transport::shm::{LaneMemory, SharedMemory};
use pellucid_core::transport::{Atomics, Directory, OpenRequest};
use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier};

/// Bytes of a heap.
pub const HEAP: usize = 8 << 20;

/// One PE, as its thread sees it.
pub struct Pe {
    pub w: &'static World,
    pub hub: Arc<Hub>,
}

thread_local! {
    /// Of the PE that this thread is.
    static MESSAGES: Cell<Option<&'static Messages>> = const { Cell::new(None) };
}

/// What every wait does: runs the handlers of the thread's PE.
fn assist() {
    if let Some(messages) = MESSAGES.get() {
        messages.poll().unwrap();
    }
}

impl Pe {
    pub fn me(&self) -> i32 {
        self.w.map.me
    }

    /// An address in the heap.
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < HEAP);
        (self.w.map.heap_base + offset) as *mut u8
    }

    pub fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= HEAP);
        // SAFETY: within the heap.
        unsafe { std::ptr::copy(bytes.as_ptr(), self.at(offset), bytes.len()) };
    }

    pub fn read(&self, offset: usize, bytes: usize) -> Vec<u8> {
        assert!(offset + bytes <= HEAP);
        // SAFETY: within the heap, which others do not write to now.
        unsafe { std::slice::from_raw_parts(self.at(offset), bytes) }.to_vec()
    }
}

/// Memory that lives as long as the process.
fn memory(bytes: usize) -> usize {
    // SAFETY: the size is not 0.
    unsafe { alloc_zeroed(Layout::from_size_align(bytes, 4096).unwrap()) as usize }
}

/// What a job is made of: the first PEs of its hosts, PEs, and what the environment would say.
#[derive(Debug, Clone)]
pub struct Shape<'a> {
    pub hosts: &'a [u32],
    pub npes: u32,
    pub algorithms: &'a str,
    pub check: bool,
    /// Whether nonblocking collectives have active messages within a host, as in a real job; or the fabric for
    /// everything.
    pub mail: bool,
}

impl<'a> Shape<'a> {
    pub const fn new(hosts: &'a [u32], npes: u32) -> Self {
        Self { hosts, npes, algorithms: "auto", check: false, mail: false }
    }

    fn host(&self, pe: u32) -> std::ops::Range<u32> {
        let next = self.hosts.partition_point(|first| *first <= pe);
        self.hosts[next - 1]..self.hosts.get(next).copied().unwrap_or(self.npes)
    }
}

/// Runs all PEs to their ends. One that panics ends the tests: others would wait for it forever.
pub fn run(shape: &Shape<'_>, part: impl Fn(&Pe) + Sync) {
    let npes = shape.npes as usize;
    let heaps: Vec<usize> = (0..npes).map(|_| memory(HEAP)).collect();
    let internals: Vec<usize> = shape.hosts.iter().map(|first| memory(shape.host(*first).len() * INTERNAL)).collect();
    let hub = Arc::new(Hub::new(heaps, HEAP));
    let all_here = Barrier::new(npes);
    std::thread::scope(|scope| {
        for pe in 0..shape.npes {
            let (hub, part, internals, all_here) = (hub.clone(), &part, &internals, &all_here);
            scope.spawn(move || {
                let all = || {
                    let pe = start(shape, pe, hub, internals);
                    all_here.wait();
                    part(&pe);
                };
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(all)).is_err() {
                    eprintln!("PE {pe} of {shape:?} failed");
                    std::process::exit(101);
                }
            });
        }
    });
    assert!(hub.stop.load(Ordering::Relaxed) || hub.is_empty(), "messages are left");
    // SAFETY: nobody uses the memory any more.
    unsafe {
        for heap in &hub.heaps {
            std::alloc::dealloc(*heap as *mut u8, Layout::from_size_align(HEAP, 4096).unwrap());
        }
        for (internal, first) in internals.iter().zip(shape.hosts) {
            let layout = Layout::from_size_align(shape.host(*first).len() * INTERNAL, 4096).unwrap();
            std::alloc::dealloc(*internal as *mut u8, layout);
        }
    }
}

fn start(shape: &Shape<'_>, pe: u32, hub: Arc<Hub>, internals: &[usize]) -> Pe {
    let me = pe as i32;
    let local = shape.host(pe);
    let heap = hub.heaps[pe as usize];
    let peers: Vec<Peer> = local
        .clone()
        .map(|other| Peer::new((hub.heaps[other as usize].wrapping_sub(heap) as isize, HEAP), (0, 0)))
        .collect();
    let transport: &'static End = Box::leak(Box::new(End::new(hub.clone(), me, 77)));
    let map = Map {
        heap_base: heap,
        heap_len: HEAP,
        first_pe: local.start as i32,
        local_pes: local.len() as u32,
        atomic_pes: local.len() as u32,
        me,
        npes: shape.npes as i32,
        peers: std::ptr::NonNull::from(Vec::leak(peers)).cast(),
        oversubscribed: true,
        check: shape.check,
        alert: shape.check.into(),
        transport: Some(transport),
        ..Map::empty()
    };
    let hosts = hierarchical::hosts(&map, transport).unwrap();
    assert_eq!(hosts, shape.hosts);
    let host = shape.hosts.partition_point(|first| *first <= pe) - 1;
    let internal = (internals[host] as *const u8).wrapping_sub(local.start as usize * INTERNAL);
    let all = PeList::Strided { start: 0, stride: 1, size: map.npes as usize };
    let algorithms = table::parse(shape.algorithms).unwrap();
    let w = World {
        barriers: algorithm::Barriers::of(&algorithms, map.oversubscribed),
        world: Team::placed(&hosts, internal, 0, all, me, Config::default()),
        shared: Team::new(
            internal,
            1,
            (local.start as i32, 1, local.len() as i32),
            me - local.start as i32,
            Config::default(),
        ),
        numa: Team::new(internal, NUMA_ID, (me, 1, 1), 0, Config::default()),
        finalize_barrier: FinalizeBarrier::new(
            internal,
            (local.start as i32, 1, local.len() as i32),
            me - local.start as i32,
        ),
        map,
        internal,
        algorithms,
        hosts,
        common: Common::new(),
    };
    w.world.mine().ids[0].store(ALWAYS, Ordering::Release);
    let w: &'static World = Box::leak(Box::new(w));
    if shape.mail {
        open_mail(w, internals[host]);
    }
    Pe { w, hub }
}

/// Rings behind the sync blocks, as in a job's memory.
fn open_mail(w: &'static World, internal: usize) {
    let m = &w.map;
    let base = (internal + SYNC_BLOCK * TEAMS) as *mut u8;
    let lanes = LaneMemory { base, stride: INTERNAL, first: m.first_pe, count: m.local_pes };
    let request = OpenRequest {
        pe: m.me as u32,
        npes: m.npes as u32,
        segments: Vec::new(),
        atomics: Atomics::Cpu,
        one_host: true,
        oversubscribed: true,
        posts_beside: false,
        directory: Directory::nobody(),
        mapping: Box::new(|_, _| None),
        lanes: Some(lanes),
    };
    let messages: &'static Messages = Box::leak(Box::new(Messages::new()));
    // SAFETY: the memory is the host's until all PEs have ended, and zero.
    let local: &'static SharedMemory = Box::leak(Box::new(unsafe { SharedMemory::new(request) }));
    let (me, npes) = (m.me, m.npes);
    messages.open(MessagePaths {
        me,
        npes,
        oversubscribed: true,
        local: Some(local),
        remote: None,
        data: MessagePaths::channel_for_data(None),
        segments: Vec::new(),
        losses: None,
    });
    w.common.mail.open(messages, assist, || {});
    MESSAGES.set(Some(messages));
}
