//! What is known of each PE that was talked to.
//!
//! A table of chunks: of a million PEs, those that this one never meets cost the eighth of a byte.

use super::address::EndpointAddress;

/// PEs of a chunk.
const CHUNK: usize = 64;

/// One PE. Packed: without, it takes 64 bytes, and with its part of the table more than the budget below.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, packed(4))]
pub(super) struct Peer {
    /// The provider's address; counts only where [`Self::KNOWN`] is set.
    pub address: u64,
    /// Keys of its heap and data.
    pub keys: [u64; 2],
    /// What is added to an offset to give an RMA address, by segment.
    pub bases: [u64; 2],
    /// What messages to it begin with.
    pub token: u64,
    /// Requests sent to it.
    pub sent: u32,
    /// Requests of it that were carried out.
    pub seen: u32,
    /// Transfers to it that the provider has taken and not completed.
    pub in_flight: u16,
    /// The flags below.
    pub flags: u16,
}

impl Peer {
    /// Its address is in the provider's table.
    pub const KNOWN: u16 = 1;
    /// It has been sent this PE's endpoint address.
    pub const GREETED: u16 = 2;
    /// Something was sent to it with success.
    pub const REACHED: u16 = 4;
    /// A message was sent to it that it may not have taken in yet.
    pub const UNCONFIRMED: u16 = 8;
    /// It is lost, in a job that goes on without it.
    pub const LOST: u16 = 16;

    /// Whether all of some flags are set.
    pub fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }

    /// Takes over what its endpoint address says.
    pub fn learn(&mut self, address: u64, endpoint_address: &EndpointAddress) {
        self.address = address;
        self.keys = endpoint_address.keys;
        self.bases = endpoint_address.bases;
        self.token = endpoint_address.token;
        self.flags |= Self::KNOWN;
    }
}

/// All PEs of the job.
#[derive(Debug)]
pub(super) struct Peers {
    chunks: Vec<Option<Box<[Peer; CHUNK]>>>,
}

impl Peers {
    /// A table for `npes` PEs.
    pub fn new(npes: u32) -> Self {
        let mut chunks = Vec::new();
        chunks.resize_with((npes as usize).div_ceil(CHUNK), || None);
        Self { chunks }
    }

    /// A PE; one that was never talked to has no flags. `None` beyond the last.
    pub fn get(&mut self, pe: u32) -> Option<&mut Peer> {
        let chunk = self.chunks.get_mut(pe as usize / CHUNK)?;
        Some(&mut chunk.get_or_insert_with(|| Box::new([Peer::default(); CHUNK]))[pe as usize % CHUNK])
    }

    /// Bytes of the table where all of `npes` PEs have been talked to.
    pub const fn bytes(npes: usize) -> usize {
        let chunks = npes.div_ceil(CHUNK);
        chunks * (size_of::<Option<Box<[Peer; CHUNK]>>>() + size_of::<[Peer; CHUNK]>())
    }
}

/// The budget of the design: 64 bytes a remote PE, at a million PEs that are all talked to.
const _: () = assert!(Peers::bytes(1_000_000) <= 64 * 1_000_000);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_paid_for_peers_that_are_never_met() {
        let mut peers = Peers::new(1_000_000);
        assert!(peers.chunks.capacity() * 8 <= 1_000_000 / 8 + 8);
        peers.get(999_999).unwrap().sent = 7;
        assert_eq!({ peers.get(999_999).unwrap().sent }, 7);
        assert_eq!(peers.chunks.iter().flatten().count(), 1);
        assert!(peers.get(1_000_000).is_none());
    }
}
