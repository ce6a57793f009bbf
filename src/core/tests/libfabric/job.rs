//! Several fabrics in one process, as PEs of a job that reach each other over the loopback interface.

use pellucid_core::base::Fault;
use pellucid_core::transport::Directory;
use pellucid_core::transport::ofi::{Fabric, Settings};
use pellucid_core::transport::{RemoteAddress, SegmentId, Transport};
use std::sync::{Arc, Mutex};

/// One PE: its fabric and its memory. The fabric is dropped before the memory.
pub struct Pe {
    pub fabric: Fabric,
    heap: Box<[u64]>,
    data: Box<[u64]>,
}

/// Bytes of a heap and of a data segment.
pub const HEAP: usize = 4 << 20;
pub const DATA: usize = 64 << 10;

#[allow(unsafe_code)]
impl Pe {
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

    /// Waits for a word of the heap, as `shmem_wait_until` does.
    pub fn await_word(&self, offset: usize, is: impl Fn(u64) -> bool) {
        while !is(self.word(offset)) {
            if !self.fabric.progress() {
                std::thread::yield_now();
            }
        }
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
    }
}

/// An object in a heap.
pub fn heap(pe: i32, offset: usize) -> RemoteAddress {
    RemoteAddress { pe, segment: SegmentId::HEAP, offset }
}

/// What the tests ask for: the provider that is on every machine, or the one of PELLUCID_TEST_PROVIDER.
pub fn settings() -> Settings {
    let provider = std::env::var("PELLUCID_TEST_PROVIDER").unwrap_or_else(|_| "tcp;ofi_rxm".into());
    Settings {
        provider: Some(provider),
        interface: Some("127.0.0.1".into()),
        loopback: true,
        oversubscribed: true,
        ..Settings::default()
    }
}

/// PEs that know each other; none, with a message, where there is no libfabric.
pub fn job(npes: usize, settings: &Settings) -> Option<Vec<Pe>> {
    if let Err(error) = libfabric_sys::Library::open(None) {
        eprintln!("skipped: {error}");
        return None;
    }
    let addresses: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let pes = (0..npes).map(|me| {
        let addresses = addresses.clone();
        let directory = Directory {
            address: Box::new(move |pe| -> Result<Vec<u8>, Fault> {
                Ok(addresses.lock().unwrap()[pe as usize].clone())
            }),
            host: Box::new(|pe| format!("host{pe}")),
            answer: Box::new(|_| 0),
            note: Box::new(|_| ()),
            lost: Box::new(|_| ()),
            unreached: Box::new(|_, _| false),
        };
        open(me, npes, settings, directory).unwrap()
    });
    let pes: Vec<Pe> = pes.collect();
    *addresses.lock().unwrap() = pes.iter().map(|pe| pe.fabric.endpoint_address().to_vec()).collect();
    Some(pes)
}

/// One PE.
#[allow(unsafe_code)]
pub fn open(me: usize, npes: usize, settings: &Settings, directory: Directory) -> Result<Pe, Fault> {
    let heap = vec![0u64; HEAP / 8].into_boxed_slice();
    let data = vec![0u64; DATA / 8].into_boxed_slice();
    let regions = [(heap.as_ptr() as usize, HEAP), (data.as_ptr() as usize, DATA)];
    // A provider reads the environment as it is opened, and opening says something there: a process has one transport
    // otherwise.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _opening = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: both live as long as the fabric, and are only looked at through pointers.
    let fabric = unsafe { Fabric::open(settings, regions, me as u32, npes as u32, directory)? };
    Ok(Pe { fabric, heap, data })
}
