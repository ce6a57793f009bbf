//! Several fabrics in one process, as PEs of a job that reach each other over the loopback interface.

use super::pes::{self, DATA, HEAP, Memory};
use pellucid_core::base::Fault;
use pellucid_core::transport::Directory;
use pellucid_core::transport::Transport;
use pellucid_core::transport::ofi::{Fabric, Settings};
use std::ops::Deref;
use std::sync::{Arc, Mutex};

/// One PE: its fabric and its memory. The fabric is dropped before the memory.
pub struct Pe {
    pub fabric: Fabric,
    memory: Memory,
}

impl Pe {
    /// Waits for a word of the heap, as `shmem_wait_until` does.
    pub fn await_word(&self, offset: usize, is: impl Fn(u64) -> bool) {
        self.memory.await_word(offset, is, || self.fabric.progress());
    }
}

impl Deref for Pe {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.memory
    }
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
    let memory = Memory::new();
    let regions = [(memory.heap() as usize, HEAP), (memory.data() as usize, DATA)];
    let _opening = pes::opening();
    // SAFETY: both live as long as the fabric, and are only looked at through pointers.
    let fabric = unsafe { Fabric::open(settings, regions, me as u32, npes as u32, directory)? };
    Ok(Pe { fabric, memory })
}
