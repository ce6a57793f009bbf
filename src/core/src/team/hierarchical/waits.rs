//! How a schedule waits for what is missing, and how it finds that this will not come.

use crate::base::{Cause, Fault};
use crate::inter_host;
use crate::memory::Map;
use crate::os::wait::Backoff;
use crate::request;
use crate::team::World;
use crate::team::finalizing::{self, PeerQuery, Waiting};
use crate::team::pe_list::PeList;
use crate::transport::{Channel, Transport};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::task::Poll;

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
    /// Where PEs are.
    pub map: &'a Map,
    /// All members.
    pub pes: PeList,
}

impl Patience<'_> {
    /// Advances a schedule to its end.
    pub fn run<T>(&self, waits: &Waits, schedule: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let (mut backoff, mut query) = (Backoff::new(self.map.oversubscribed), PeerQuery::new());
        let mut seen = waits.taken.load(Ordering::Relaxed);
        inter_host::finish(schedule, || {
            let taken = waits.taken.load(Ordering::Relaxed);
            if taken != seen {
                seen = taken;
                (backoff, query) = (Backoff::new(self.map.oversubscribed), PeerQuery::new());
            }
            request::advance()?;
            if self.transport.is_some_and(|transport| transport.progress()) || !backoff.step() {
                return Ok(());
            }
            if let Some(fault) = self.map.lost_among(self.pes.iter()) {
                return Err(fault);
            }
            match (self.transport, waits.missing.load(Ordering::Relaxed)) {
                (Some(transport), pe @ 0..) => query.look(transport, self.channel, pe, &self.waiting),
                _ => Ok(()),
            }
        })
    }
}

/// Steps between looks at the clock of a schedule that nobody runs to its end.
const STEPS: u32 = 64;
/// Looks at a PE of this host that is in `shmem_finalize` before it is given up. What it had to send is in this PE's
/// memory by then: the looks only leave the time in which waiting threads take it out.
const LOOKS: u32 = 16;

/// What a collective that goes on after its call knows of those it waits for.
#[derive(Debug)]
pub struct Absence {
    /// Who is where.
    pub w: &'static World,
    /// Of the collective's puts.
    pub channel: Channel,
    /// Which collective it is.
    pub waiting: Waiting,
    /// What its steps have had.
    pub waits: Arc<Waits>,
    /// All members.
    pub pes: PeList,
}

impl Absence {
    /// A schedule that ends with a fault once a PE that it waits for is in `shmem_finalize`, without having begun the
    /// collective, and once a member is lost.
    /// `awaited`: where it shows for whom it waits.
    pub async fn observe(
        self,
        awaited: &AtomicI32,
        schedule: impl Future<Output = Result<(), Fault>>,
    ) -> Result<(), Fault> {
        let mut schedule = pin!(schedule);
        let (mut steps, mut looks, mut seen, mut query) = (0u32, 0, 0, PeerQuery::new());
        poll_fn(|context| {
            if let Poll::Ready(result) = schedule.as_mut().poll(context) {
                return Poll::Ready(result);
            }
            if let missing @ 0.. = self.waits.missing.load(Ordering::Relaxed) {
                awaited.store(missing, Ordering::Relaxed);
            }
            let taken = self.waits.taken.load(Ordering::Relaxed);
            if taken != seen {
                (steps, looks, seen, query) = (0, 0, taken, PeerQuery::new());
            }
            if request::is_by_helper() {
                // Who asks others waits: the program's calls do.
                return Poll::Pending;
            }
            steps = steps.wrapping_add(1);
            if !steps.is_multiple_of(STEPS) {
                return Poll::Pending;
            }
            self.look(&mut looks, &mut query).map_or_else(|fault| Poll::Ready(Err(fault)), |()| Poll::Pending)
        })
        .await
    }

    #[cold]
    fn look(&self, looks: &mut u32, query: &mut PeerQuery) -> Result<(), Fault> {
        let Self { w, channel, waiting, waits, pes } = self;
        if let Some(fault) = w.map.lost_among(pes.iter()) {
            return Err(fault);
        }
        let pe @ 0.. = waits.missing.load(Ordering::Relaxed) else { return Ok(()) };
        if (pe.wrapping_sub(w.map.first_pe) as u32) >= w.map.local_pes {
            return w.map.transport.map_or(Ok(()), |transport| query.look(transport, *channel, pe, waiting));
        }
        *looks = if finalizing::is_finalizing(w, pe) { *looks + 1 } else { 0 };
        if *looks < LOOKS { Ok(()) } else { Err(Fault::from(Cause::Finalizing { pe })) }
    }
}
