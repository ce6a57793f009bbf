//! What is outstanding, by channel and peer.

use super::op::Op;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr;

/// Peers beyond which a channel forgets those to which nothing is outstanding.
const PEERS: usize = 4096;

/// What one channel has outstanding to one PE.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outstanding {
    /// Writes, and atomics of the provider's, that are not complete.
    pub writes: u32,
    /// Reads that are not complete.
    pub fetches: u32,
    /// Requests that were not replied to, the one that is being filled included.
    pub requests: u32,
    /// The epoch of the channel in which `writes` left zero, or before which none of them is known to be.
    pub writes_since: u32,
    /// The same of `requests`.
    pub requests_since: u32,
    /// Of the writes, those that a signal follows, which is a request once they are complete.
    pub signals: u32,
    /// Writes may have to be followed by a request that is replied to, before they are known to be complete.
    pub dirty: bool,
    /// A request that is being filled; null where none is.
    pub open: *mut Op,
    /// Its place in [`Channel::open`].
    open_at: u32,
}

impl Default for Outstanding {
    fn default() -> Self {
        Self {
            writes: 0,
            fetches: 0,
            requests: 0,
            writes_since: 0,
            requests_since: 0,
            signals: 0,
            dirty: false,
            open: ptr::null_mut(),
            open_at: 0,
        }
    }
}

impl Outstanding {
    fn idle(&self) -> bool {
        self.quiet() && !self.dirty
    }

    /// Nothing is outstanding.
    pub fn quiet(&self) -> bool {
        self.writes == 0 && self.fetches == 0 && self.requests == 0
    }

    /// A write is posted.
    pub fn add_write(&mut self, epoch: u32) {
        if self.writes == 0 {
            self.writes_since = epoch;
        }
        self.writes += 1;
    }

    /// A request is begun.
    pub fn add_request(&mut self, epoch: u32) {
        if self.requests == 0 {
            self.requests_since = epoch;
        }
        self.requests += 1;
    }

    /// Whether writes from before the last fence may still be outstanding.
    pub fn writes_fenced(&self, epoch: u32) -> bool {
        self.writes > 0 && self.writes_since != epoch
    }

    /// Whether requests from before the last fence may still be outstanding.
    pub fn requests_fenced(&self, epoch: u32) -> bool {
        self.requests > 0 && self.requests_since != epoch
    }

    /// Whether signals of writes from before the last fence may still have to be sent.
    pub fn signals_fenced(&self, epoch: u32) -> bool {
        self.signals > 0 && self.writes_fenced(epoch)
    }

    /// A signal is on its way whose write was posted in an epoch: it is as old as that.
    pub fn signal_follows(&mut self, epoch: u32) {
        self.signals -= 1;
        if is_older(epoch, self.requests_since) {
            self.requests_since = epoch;
        }
    }

    /// How many of some operations are outstanding.
    fn count(&self, what: What) -> u64 {
        let count = match what {
            What::Writes => self.writes,
            What::Fetches => self.fetches,
            What::Requests => self.requests,
            What::All => self.writes + self.fetches + self.requests,
        };
        count.into()
    }

    /// Of some operations, none from before an epoch is outstanding any more.
    fn caught_up(&mut self, what: What, epoch: u32) {
        let since = match what {
            What::Writes => &mut self.writes_since,
            What::Requests => &mut self.requests_since,
            What::Fetches | What::All => return,
        };
        if is_older(*since, epoch) {
            *since = epoch;
        }
    }
}

/// Whether an epoch is older than another one. Their numbers come round again.
fn is_older(epoch: u32, than: u32) -> bool {
    than.wrapping_sub(epoch).cast_signed() > 0
}

/// Operations to a peer, or of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Writes, and atomics of the provider's.
    Writes,
    /// Reads.
    Fetches,
    /// Requests.
    Requests,
    /// All of these.
    All,
}

/// A wait for operations that were begun before it. Other threads may begin more without end: those do not count.
#[derive(Debug)]
struct Wait {
    /// The channel's time at its begin, which names it.
    before: u64,
    /// The PE whose operations it is for; `None`: all.
    pe: Option<u32>,
    what: What,
    /// The epoch at its begin.
    epoch: u32,
    /// How many are not over.
    left: u64,
}

impl Wait {
    /// Whether it is for an operation.
    fn is_for(&self, pe: u32, what: What, begun: u64) -> bool {
        begun < self.before && self.pe.is_none_or(|of| of == pe) && (self.what == What::All || self.what == what)
    }
}

/// A hash of PE numbers: consecutive ones do not collide.
#[derive(Debug, Default)]
pub(super) struct PeHasher(u64);

impl Hasher for PeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0 ^ u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(20);
    }
}

/// A channel.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Fences so far.
    pub epoch: u32,
    /// Operations that are not complete.
    pub outstanding: u64,
    /// Waits so far: each operation is stamped with the number at its begin.
    time: u64,
    /// Waits that are not over.
    waits: Vec<Wait>,
    peers: HashMap<u32, Outstanding, BuildHasherDefault<PeHasher>>,
    /// Peers with a request that is being filled.
    open: Vec<u32>,
    /// Peers that were written to since the last quiet, where completions do not say that data have arrived.
    pub dirty: Vec<u32>,
    /// PEs that were lost with something outstanding, of which no quiet has told yet.
    pub lost: Vec<u32>,
}

impl Channel {
    /// What is outstanding to a PE.
    pub fn to(&mut self, pe: u32) -> &mut Outstanding {
        if self.peers.len() >= PEERS && !self.peers.contains_key(&pe) {
            self.peers.retain(|_, peer| !peer.idle());
        }
        self.peers.entry(pe).or_default()
    }

    /// A write to a PE is begun. Gives its stamp.
    pub fn add_write(&mut self, pe: u32) -> u64 {
        self.outstanding += 1;
        let epoch = self.epoch;
        self.to(pe).add_write(epoch);
        self.time
    }

    /// A write to a PE is posted whose completion will not say that the data have arrived. Not before: what is sent
    /// for those that are posted is no word about it.
    pub fn soil(&mut self, pe: u32) {
        if !std::mem::replace(&mut self.to(pe).dirty, true) {
            self.dirty.push(pe);
        }
    }

    /// The data of writes to a PE will be known to have arrived.
    pub fn clean(&mut self, pe: u32) {
        self.to(pe).dirty = false;
        // Whoever cleans many begins at the end.
        if let Some(at) = self.dirty.iter().rposition(|dirty| *dirty == pe) {
            self.dirty.swap_remove(at);
        }
    }

    /// A read is posted. Gives its stamp.
    pub fn add_fetch(&mut self, pe: u32) -> u64 {
        self.outstanding += 1;
        self.to(pe).fetches += 1;
        self.time
    }

    /// A request to a PE is begun. Gives its stamp.
    pub fn begin(&mut self, pe: u32, request: *mut Op) -> u64 {
        self.outstanding += 1;
        let (epoch, at) = (self.epoch, self.open.len() as u32);
        let peer = self.to(pe);
        peer.add_request(epoch);
        peer.open = request;
        peer.open_at = at;
        self.open.push(pe);
        self.time
    }

    /// An operation with a stamp is over. Gives what else is outstanding to its peer.
    pub fn done(&mut self, pe: u32, what: What, begun: u64) -> &mut Outstanding {
        self.outstanding -= 1;
        let mut i = 0;
        while let Some(wait) = self.waits.get_mut(i) {
            wait.left -= u64::from(wait.is_for(pe, what, begun));
            if wait.left > 0 {
                i += 1;
                continue;
            }
            let Wait { pe: of, what, epoch, .. } = self.waits.swap_remove(i);
            if let Some(pe) = of {
                self.to(pe).caught_up(what, epoch);
            }
        }
        let peer = self.to(pe);
        match what {
            What::Writes => peer.writes -= 1,
            What::Fetches => peer.fetches -= 1,
            What::Requests | What::All => peer.requests -= 1,
        }
        peer
    }

    /// Begins a wait for what is outstanding now, to a PE or to all; `None`: nothing is. What is begun from here on is
    /// not waited for.
    pub fn wait_for(&mut self, pe: Option<u32>, what: What) -> Option<u64> {
        let left = match pe {
            Some(pe) => self.peers.get(&pe).map_or(0, |peer| peer.count(what)),
            None if what == What::All => self.outstanding,
            None => self.peers.values().map(|peer| peer.count(what)).sum(),
        };
        if left == 0 {
            return None;
        }
        self.time += 1;
        self.waits.push(Wait { before: self.time, pe, what, epoch: self.epoch, left });
        Some(self.time)
    }

    /// Whether a wait is over.
    pub fn is_over(&self, wait: u64) -> bool {
        self.waits.iter().all(|other| other.before != wait)
    }

    /// A request with a stamp has taken in what follows from an operation with an older one: the waits for that wait
    /// for the request, too. Gives its new stamp.
    pub fn follow(&mut self, pe: u32, request: u64, followed: u64) -> u64 {
        for wait in &mut self.waits {
            let is_for = |begun| wait.is_for(pe, What::Requests, begun);
            wait.left += u64::from(is_for(followed) && !is_for(request));
        }
        request.min(followed)
    }

    /// The request to a PE that is being filled, null where none is, is to be sent.
    pub fn end(&mut self, pe: u32) -> *mut Op {
        let peer = self.to(pe);
        let request = std::mem::replace(&mut peer.open, ptr::null_mut());
        if !request.is_null() {
            let at = peer.open_at;
            self.open.swap_remove(at as usize);
            if let Some(moved) = self.open.get(at as usize).copied() {
                self.to(moved).open_at = at;
            }
        }
        request
    }

    /// A PE with a request that is being filled.
    pub fn any_open(&self) -> Option<u32> {
        self.open.last().copied()
    }

    /// Whether writes to a PE have to be followed by a request.
    pub fn is_dirty(&mut self, pe: u32) -> bool {
        self.peers.get(&pe).is_some_and(|peer| peer.dirty)
    }

    /// PEs to which something is outstanding.
    pub fn waits_for(&self) -> impl Iterator<Item = u32> {
        self.peers.iter().filter(|(_, peer)| !peer.quiet()).map(|(pe, _)| *pe)
    }

    /// A PE is lost: no request to it is being filled any more, and no writes need be followed by one.
    pub fn lose(&mut self, pe: u32) {
        self.dirty.retain(|dirty| *dirty != pe);
        if let Some(peer) = self.peers.get_mut(&pe) {
            peer.dirty = false;
        }
        if self.peers.contains_key(&pe) {
            self.end(pe);
        }
    }

    /// Takes the news that a PE was lost with something outstanding: of one of these, or of any.
    pub fn take_lost(&mut self, among: Option<&[u32]>) -> Option<u32> {
        let at = self.lost.iter().position(|pe| among.is_none_or(|among| among.contains(pe)))?;
        let pe = self.lost[at];
        match among {
            Some(_) => drop(self.lost.swap_remove(at)),
            None => self.lost.clear(),
        }
        Some(pe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_forgotten_when_nothing_is_outstanding() {
        let mut channel = Channel::default();
        channel.to(7).writes = 1;
        for pe in 0..1_000_000 {
            channel.to(pe);
        }
        assert!(channel.peers.len() <= PEERS);
        assert_eq!(channel.to(7).writes, 1);
        assert_eq!(channel.waits_for().collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn requests_that_are_being_filled_are_found() {
        let mut channel = Channel::default();
        let mut marks = [0u8; 5];
        let marks: Vec<*mut Op> = marks.iter_mut().map(|m| std::ptr::from_mut(m).cast()).collect();
        for pe in 0..5 {
            channel.begin(pe, marks[pe as usize]);
        }
        assert_eq!(channel.end(1), marks[1]);
        assert_eq!(channel.end(4), marks[4]);
        assert!(channel.end(1).is_null());
        let mut left = Vec::new();
        while let Some(pe) = channel.any_open() {
            assert_eq!(channel.end(pe), marks[pe as usize]);
            left.push(pe);
        }
        left.sort_unstable();
        assert_eq!(left, [0, 2, 3]);
        assert_eq!(channel.outstanding, 5);
    }

    #[test]
    fn only_what_is_older_than_the_fence_is_fenced() {
        let mut peer = Outstanding::default();
        peer.add_request(3);
        assert!(!peer.requests_fenced(3) && peer.requests_fenced(4) && !peer.writes_fenced(4));
        peer.add_write(4);
        peer.add_write(5);
        assert!(!peer.writes_fenced(4) && peer.writes_fenced(5));
        peer.writes = 0;
        assert!(!peer.writes_fenced(6));
    }

    #[test]
    fn a_wait_is_for_what_was_begun_before_it() {
        let mut channel = Channel::default();
        assert_eq!(channel.wait_for(None, What::All), None);
        let (write, read) = (channel.add_write(1), channel.add_fetch(2));
        let all = channel.wait_for(None, What::All).unwrap();
        assert_eq!(channel.wait_for(Some(1), What::Requests), None);
        let later = channel.add_write(1);
        let (to_one, to_two) =
            (channel.wait_for(Some(1), What::All).unwrap(), channel.wait_for(Some(2), What::All).unwrap());
        assert_eq!(channel.done(1, What::Writes, write).writes, 1);
        assert!(!channel.is_over(all) && !channel.is_over(to_one));
        channel.done(2, What::Fetches, read);
        assert!(channel.is_over(all) && channel.is_over(to_two) && !channel.is_over(to_one));
        channel.done(1, What::Writes, later);
        assert!(channel.is_over(to_one) && channel.outstanding == 0);
    }

    #[test]
    fn who_waits_for_a_put_waits_for_the_signal_that_follows_it() {
        let mut channel = Channel::default();
        let write = channel.add_write(1);
        let (all, writes) =
            (channel.wait_for(None, What::All).unwrap(), channel.wait_for(Some(1), What::Writes).unwrap());
        let request = channel.begin(1, ptr::null_mut());
        let before = channel.follow(1, request, write);
        channel.done(1, What::Writes, write);
        assert!(!channel.is_over(all) && channel.is_over(writes));
        // Once more: it has the time of the first already.
        assert_eq!(channel.follow(1, before, write), write);
        channel.done(1, What::Requests, before);
        assert!(channel.is_over(all));
    }

    #[test]
    fn a_signal_is_as_old_as_the_write_that_it_follows() {
        let mut channel = Channel::default();
        let write = channel.add_write(1);
        channel.to(1).signals += 1;
        channel.epoch += 1;
        assert!(channel.to(1).signals_fenced(1) && !channel.to(1).signals_fenced(0));
        channel.begin(1, ptr::null_mut());
        channel.to(1).signal_follows(0);
        channel.done(1, What::Writes, write);
        assert!(channel.to(1).requests_fenced(1) && !channel.to(1).signals_fenced(1));
    }

    #[test]
    fn a_wait_that_is_over_leaves_nothing_from_before_a_fence() {
        let mut channel = Channel::default();
        let first = channel.begin(1, ptr::null_mut());
        channel.epoch += 1;
        let wait = channel.wait_for(Some(1), What::Requests).unwrap();
        channel.begin(1, ptr::null_mut());
        assert!(channel.to(1).requests_fenced(1));
        channel.done(1, What::Requests, first);
        assert!(channel.is_over(wait) && !channel.to(1).requests_fenced(1) && channel.to(1).requests_fenced(2));
        assert!(is_older(u32::MAX, 0) && !is_older(0, u32::MAX) && !is_older(3, 3));
    }
}
