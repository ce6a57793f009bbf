//! PEs that are of one process, and the ways between them: the one place that opens transports. All of them are opened
//! by their rows; what a test needs to know of one, its capabilities say.
#![allow(unsafe_code)]

use pellucid_core::base::Fault;
use pellucid_core::transport::registry::{LANES, Open, Row, WithinHost, within_host};
use pellucid_core::transport::{
    AmoOp, Atomic, Atomics, Channel, Completion, Directory, LaneMemory, OpenRequest, RemoteAddress, SegmentId,
    Transport,
};
use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a heap and of a data segment.
pub const HEAP: usize = 4 << 20;
pub const DATA: usize = 64 << 10;

/// Opens what reaches other hosts.
type OpenRemote = Box<dyn Fn(OpenRequest) -> Result<Box<dyn Transport>, Fault>>;

/// What goes through what: hosts of so many PEs, which reach each other through memory, and what reaches other hosts.
pub struct Way {
    pub name: String,
    /// PEs of a host.
    host: usize,
    remote: Option<OpenRemote>,
    /// Names of the counters of what reaches other hosts.
    pub counters: Vec<&'static str>,
}

impl Way {
    /// All PEs on one host.
    pub fn within(row: &'static Row) -> Self {
        Self { name: row.name.into(), host: usize::MAX, remote: None, counters: Vec::new() }
    }

    /// A PE on each host.
    pub fn between(name: &str, remote: OpenRemote) -> Self {
        Self { name: name.into(), host: 1, remote: Some(remote), counters: Vec::new() }
    }

    /// The ways through a row, alone and, between hosts, beside that within a host; none, with a message, where the
    /// machine has not what it needs.
    pub fn of(row: &'static Row, within: &'static Row) -> Vec<Self> {
        if let Err(missing) = (row.probe)() {
            eprintln!("{} is skipped: {missing}", row.name);
            return Vec::new();
        }
        let Open::BetweenHosts(open) = row.open else { return vec![Self::within(row)] };
        let both = format!("{} and {}", within.name, row.name);
        let counters: Vec<_> = (row.counters)().into_iter().map(|(name, _)| name).collect();
        let ways = [(row.name.to_owned(), 1), (both, 2)];
        ways.map(|(name, host)| {
            // SAFETY: a PE's memory outlives its transports, and the tests expect writes there at any time.
            let way = Self::between(&name, Box::new(move |request| unsafe { open(request) }));
            Self { host, counters: counters.clone(), ..way }
        })
        .into()
    }

    /// Opens all PEs, which know each other.
    pub fn open(&self, npes: usize) -> Vec<Pe> {
        let _opening = opening();
        let host = self.host.min(npes);
        let rings = (0..npes).step_by(host).map(|_| vec![[0u64; 8]; (host * LANES).div_ceil(64) + 1]);
        let shared = Arc::new(Shared { rings: rings.collect(), ..Shared::default() });
        let pes: Vec<Pe> = (0..npes).map(|me| self.open_one(me, npes, &shared)).collect();
        let addresses = pes.iter().map(|pe| pe.remote.as_ref().map_or(Vec::new(), |it| it.endpoint_address().to_vec()));
        *shared.addresses.lock().unwrap() = addresses.collect();
        pes
    }

    fn open_one(&self, me: usize, npes: usize, shared: &Arc<Shared>) -> Pe {
        let memory = Memory::new();
        let (host, first) = (self.host.min(npes), me / self.host.min(npes) * self.host.min(npes));
        let host = first as i32..(first + host).min(npes) as i32;
        let segments =
            vec![(SegmentId::HEAP, memory.heap() as usize, HEAP), (SegmentId::DATA, memory.data() as usize, DATA)];
        for (segment, start, bytes) in &segments {
            shared.map(me as i32, *segment, *start, *bytes);
        }
        let request = || OpenRequest {
            pe: me as u32,
            npes: npes as u32,
            segments: segments.clone(),
            atomics: Atomics::Cpu,
            one_host: true,
            oversubscribed: true,
            posts_beside: false,
            directory: shared.directory(me),
            mapping: Box::new(|_, _| None),
            lanes: None,
        };
        let (all, near) = (shared.clone(), host.clone());
        let mapping = Box::new(move |pe, segment| {
            all.mapped.lock().unwrap().get(&(pe, segment)).filter(|_| near.contains(&pe)).copied()
        });
        let lanes = Some(shared.lanes(&host, self.host.min(npes)));
        // SAFETY: as above; the rings are the host's, and zero.
        let local = unsafe { within_host(OpenRequest { mapping, lanes, ..request() }) };
        let remote = self.remote.as_ref().map(|open| open(request()).unwrap());
        Pe { me: me as i32, npes: npes as i32, remote, local, host, memory, shared: shared.clone() }
    }
}

/// What all PEs of a job know.
#[derive(Default)]
struct Shared {
    mapped: Mutex<HashMap<(i32, SegmentId), (usize, usize)>>,
    addresses: Mutex<Vec<Vec<u8>>>,
    /// Of each host.
    rings: Vec<Vec<[u64; 8]>>,
}

impl Shared {
    fn map(&self, pe: i32, segment: SegmentId, start: usize, bytes: usize) {
        self.mapped.lock().unwrap().insert((pe, segment), (start, bytes));
    }

    fn lanes(&self, host: &Range<i32>, pes: usize) -> LaneMemory {
        let base = self.rings[host.start as usize / pes].as_ptr() as usize;
        let base = base.next_multiple_of(64) as *mut u8;
        LaneMemory { base, stride: LANES, first: host.start, count: host.len() as u32 }
    }

    fn directory(self: &Arc<Self>, me: usize) -> Directory {
        let all = self.clone();
        Directory {
            address: Box::new(move |pe| Ok(all.addresses.lock().unwrap()[pe as usize].clone())),
            host: Box::new(|pe| format!("host{pe}")),
            answer: Box::new(move |question| answer(me as i32, question)),
            ..Directory::nobody()
        }
    }
}

/// What a PE answers.
pub fn answer(pe: i32, [a, b, c]: [u64; 3]) -> u64 {
    a * 1_000_000 + b * 1000 + c * 10 + pe as u64
}

/// One PE. Its transports are dropped before its memory.
pub struct Pe {
    pub me: i32,
    pub npes: i32,
    /// What reaches other hosts.
    pub remote: Option<Box<dyn Transport>>,
    /// What reaches the PEs of its host, itself at least.
    pub local: WithinHost,
    /// These are the PEs of its host.
    host: Range<i32>,
    memory: Memory,
    shared: Arc<Shared>,
}

impl Pe {
    /// The transport to a PE.
    pub fn way(&self, pe: i32) -> &dyn Transport {
        match &self.remote {
            Some(remote) if !self.host.contains(&pe) => &**remote,
            _ => &self.local,
        }
    }

    /// All its transports.
    pub fn transports(&self) -> impl Iterator<Item = &dyn Transport> {
        let local: &dyn Transport = &self.local;
        std::iter::once(local).chain(self.remote.as_deref())
    }

    /// Moves all of them on; whether anything happened.
    pub fn progress(&self) -> bool {
        self.transports().filter(|transport| transport.progress()).count() > 0
    }

    /// Completes what its default channels have.
    pub fn quiet(&self) {
        self.transports().for_each(|transport| transport.quiet(Channel::DEFAULT).unwrap());
    }

    /// Orders it.
    pub fn fence(&self) {
        self.transports().for_each(|transport| transport.fence(Channel::DEFAULT).unwrap());
    }

    /// Has the PEs of this host find a segment beside heap and data.
    pub fn map(&self, segment: SegmentId, start: *mut u8, bytes: usize) {
        self.shared.map(self.me, segment, start as usize, bytes);
    }

    /// Waits for a word of the heap, as `shmem_wait_until` does.
    pub fn await_word(&self, offset: usize, is: impl Fn(u64) -> bool) {
        self.memory.await_word(offset, is, || self.progress());
    }
}

impl Deref for Pe {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.memory
    }
}

/// Heap and data of a PE.
pub struct Memory {
    heap: Box<[u64]>,
    data: Box<[u64]>,
}

impl Memory {
    pub fn new() -> Self {
        Self { heap: vec![0; HEAP / 8].into_boxed_slice(), data: vec![0; DATA / 8].into_boxed_slice() }
    }

    pub fn heap(&self) -> *mut u8 {
        self.heap.as_ptr().cast_mut().cast()
    }

    pub fn data(&self) -> *mut u8 {
        self.data.as_ptr().cast_mut().cast()
    }

    /// Bytes of a segment as they are now.
    pub fn bytes(&self, segment: SegmentId, offset: usize, len: usize) -> Vec<u8> {
        let base = if segment == SegmentId::HEAP { self.heap() } else { self.data() };
        (0..len)
            // SAFETY: the tests stay in the segments; others write there, hence volatile.
            .map(|i| unsafe { base.add(offset + i).read_volatile() })
            .collect()
    }

    /// A word of the heap as it is now.
    pub fn word(&self, offset: usize) -> u64 {
        // SAFETY: as above, and aligned.
        unsafe { self.heap().add(offset).cast::<u64>().read_volatile() }
    }

    /// Waits for a word of the heap; `progress` moves on what its PE has, and gives whether anything happened.
    pub fn await_word(&self, offset: usize, is: impl Fn(u64) -> bool, progress: impl Fn() -> bool) {
        while !is(self.word(offset)) {
            if !progress() {
                std::thread::yield_now();
            }
        }
        fence(Ordering::Acquire);
    }
}

/// To be held while a transport is opened. A provider reads the environment then, and opening says something there: a
/// process has one transport otherwise.
pub fn opening() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An object in a heap.
pub fn heap(pe: i32, offset: usize) -> RemoteAddress {
    RemoteAddress { pe, segment: SegmentId::HEAP, offset }
}

pub fn put(pe: &Pe, to: RemoteAddress, data: &[u8], when: Completion) {
    // SAFETY: the tests keep the data until the quiet.
    unsafe { pe.way(to.pe).put(Channel::DEFAULT, to, data.as_ptr(), data.len(), when).unwrap() }
}

pub fn get(pe: &Pe, from: RemoteAddress, data: &mut [u8], when: Completion) {
    // SAFETY: as above.
    unsafe { pe.way(from.pe).get(Channel::DEFAULT, data.as_mut_ptr(), from, data.len(), when).unwrap() }
}

/// An operation with a result.
pub fn amo(pe: &Pe, at: RemoteAddress, op: AmoOp, width: u8, operand: u64, compare: u64) -> u64 {
    let mut result = 0u64;
    let atomic = Atomic { op, width, operand, compare, result: (&raw mut result).cast() };
    // SAFETY: the result lives until the return.
    unsafe { pe.way(at.pe).atomic(Channel::DEFAULT, at, atomic, Completion::Local).unwrap() };
    result
}

/// An operation without a result.
pub fn update(pe: &Pe, at: RemoteAddress, op: AmoOp, width: u8, operand: u64, when: Completion) {
    let atomic = Atomic { op, width, operand, compare: 0, result: std::ptr::null_mut() };
    // SAFETY: nothing comes back.
    unsafe { pe.way(at.pe).atomic(Channel::DEFAULT, at, atomic, when).unwrap() };
}

/// Runs `part` over every way between three PEs, from PE 0 to another one: one of each host that there is.
pub fn everywhere(ways: Vec<Way>, part: impl Fn(&[Pe], i32)) {
    for way in ways {
        let pes = way.open(3);
        let beside = (pes[0].host.end == 2).then_some(1);
        for to in beside.into_iter().chain([2]) {
            println!("{}, to PE {to}", way.name);
            part(&pes, to);
        }
    }
}
