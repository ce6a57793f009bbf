//! How a schedule that is run to its end waits for what is missing.

use crate::base::Fault;
use crate::inter_host;
use crate::os::wait::Backoff;
use crate::request;
use crate::team::finalizing::{PeerQuery, Waiting};
use crate::transport::{Channel, Transport};
use std::future::Future;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// What the steps of a schedule have had, and what they lack.
#[derive(Debug)]
pub struct Waits {
    /// World number of the PE whose message is missing; negative: none is.
    missing: AtomicI32,
    /// Messages so far.
    taken: AtomicU32,
}

impl Default for Waits {
    fn default() -> Self {
        Self { missing: AtomicI32::new(-1), taken: AtomicU32::new(0) }
    }
}

impl Waits {
    /// A PE's message has not come.
    pub fn miss(&self, pe: i32) {
        self.missing.store(pe, Ordering::Relaxed);
    }

    /// A message has come.
    pub fn take(&self) {
        self.missing.store(-1, Ordering::Relaxed);
        self.taken.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whom to ask when a message does not come, and what about.
#[derive(Debug)]
pub struct Patience<'a> {
    /// The way to other hosts.
    pub transport: Option<&'a dyn Transport>,
    /// Of the collective's puts.
    pub channel: Channel,
    /// Which collective it is.
    pub waiting: Waiting,
    /// More PEs than cores.
    pub oversubscribed: bool,
}

impl Patience<'_> {
    /// Advances a schedule to its end.
    pub fn run<T>(&self, waits: &Waits, schedule: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let (mut backoff, mut query) = (Backoff::new(self.oversubscribed), PeerQuery::new());
        let mut seen = waits.taken.load(Ordering::Relaxed);
        inter_host::finish(schedule, || {
            let taken = waits.taken.load(Ordering::Relaxed);
            if taken != seen {
                seen = taken;
                (backoff, query) = (Backoff::new(self.oversubscribed), PeerQuery::new());
            }
            request::advance()?;
            if self.transport.is_some_and(|transport| transport.progress()) || !backoff.step() {
                return Ok(());
            }
            match (self.transport, waits.missing.load(Ordering::Relaxed)) {
                (Some(transport), pe @ 0..) => query.look(transport, self.channel, pe, &self.waiting),
                _ => Ok(()),
            }
        })
    }
}
