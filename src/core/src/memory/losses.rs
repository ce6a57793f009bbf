//! PEs that are lost in a job that goes on without them: what this PE knows of them.
//!
//! The launcher notes a loss in the job file, where slow paths look. A thread of each PE sleeps on that note, and takes
//! the PE's entry out of the address map, so that fast paths find nothing there.

use super::map::Peer;
use crate::base::{Cause, Fault};
use crate::bootstrap::agreement::{Agreement, Proposal};
use crate::bootstrap::job::{Job, Loss};
use crate::bootstrap::wireup::Wireup;
use crate::os::wait;
use crate::transport::Transport;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The losses of a job.
pub struct Losses {
    job: &'static Job,
    /// The PEs of this host, by number from the first of [`Job::pes`] on.
    peers: &'static [Peer],
    /// Losses that the program has taken note of, by PE.
    acknowledged: Box<[AtomicBool]>,
    acknowledgements: AtomicU32,
    /// Who makes agreements, in a job whose PEs do not all share memory.
    launcher: OnceLock<Arc<dyn Wireup>>,
}

impl std::fmt::Debug for Losses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Losses").finish_non_exhaustive()
    }
}

impl Losses {
    /// Of a job that goes on without PEs that are lost; `None`: it ends with them.
    pub fn of(job: &'static Job, peers: &'static [Peer]) -> Option<Self> {
        job.survives().then(|| Self {
            job,
            peers,
            acknowledged: (0..job.npes()).map(|_| AtomicBool::new(false)).collect(),
            acknowledgements: AtomicU32::new(0),
            launcher: OnceLock::new(),
        })
    }

    /// Agreements are made by this launcher from now on.
    pub fn set_launcher(&self, launcher: Arc<dyn Wireup>) {
        let _ = self.launcher.set(launcher);
    }

    /// Gives this PE's word in an agreement that the launcher makes, and waits until all others have, too, or are lost.
    pub fn decide(&self, oversubscribed: bool, proposal: Proposal) -> Result<Agreement, Fault> {
        let none = || Fault::from(Cause::Startup("no launcher makes agreements of PEs on several hosts".into()));
        let launcher = self.launcher.get().ok_or_else(none)?;
        let id = launcher.propose(proposal)?;
        wait::until(oversubscribed, || launcher.outcome(id).transpose())
    }

    /// How many PEs are lost.
    #[inline]
    pub fn count(&self) -> u32 {
        self.job.losses().load(Ordering::Acquire)
    }

    /// Whether a PE is lost. What it has stored before its end is to be seen then.
    #[inline]
    pub fn is_lost(&self, pe: i32) -> bool {
        self.count() > 0 && u32::try_from(pe).is_ok_and(|pe| self.job.loss(pe).is_some())
    }

    /// The fault of whoever needs a PE that is lost; `None`: it is there.
    pub fn fault(&self, pe: i32) -> Option<Fault> {
        let how = self.job.loss(u32::try_from(pe).ok()?)?;
        Some(Fault::from(Cause::Lost { pe, how: how.to_string() }))
    }

    /// The fault of whoever needs all of some PEs.
    pub fn fault_among(&self, mut pes: impl Iterator<Item = i32>) -> Option<Fault> {
        if self.count() == 0 { None } else { pes.find_map(|pe| self.fault(pe)) }
    }

    /// The fault of whoever waits, without knowing for whom: a PE is lost that the program has taken no note of.
    pub fn unacknowledged(&self) -> Option<Fault> {
        if self.count() <= self.acknowledgements.load(Ordering::Acquire) {
            return None;
        }
        let unknown = |pe: &i32| !self.acknowledged[*pe as usize].load(Ordering::Acquire);
        (0..self.job.npes() as i32).filter(unknown).find_map(|pe| self.fault(pe))
    }

    /// The program has taken note of the loss of a PE: nothing that was outstanding to it is told of any more.
    pub fn acknowledge(&self, pe: i32, transport: Option<&dyn Transport>) {
        let how = if self.count() == 0 { None } else { u32::try_from(pe).ok().and_then(|pe| self.job.loss(pe)) };
        let Some(how) = how.filter(|_| !self.acknowledged[pe as usize].swap(true, Ordering::AcqRel)) else { return };
        if let Some(transport) = transport {
            // The network may not have heard of it yet.
            tell(transport, pe, how);
            transport.forget_lost(pe);
        }
        self.acknowledgements.fetch_add(1, Ordering::AcqRel);
    }

    /// A PE of this host that is lost, or not.
    pub fn peer(&self, pe: i32) -> Option<&'static Peer> {
        let pes = self.job.pes();
        u32::try_from(pe).ok().filter(|pe| pes.contains(pe)).and_then(|pe| self.peers.get((pe - pes.start) as usize))
    }

    /// Takes the PEs that are lost out of the address map, and tells the network of them.
    pub fn apply(&self, transport: Option<&dyn Transport>) {
        let lost = |pe: u32| self.job.loss(pe).map(|how| (pe as i32, how));
        self.job.pes().filter_map(lost).filter_map(|(pe, _)| self.peer(pe)).for_each(Peer::lose);
        let Some(transport) = transport else { return };
        (0..self.job.npes()).filter_map(lost).for_each(|(pe, how)| tell(transport, pe, how));
    }

    /// Sleeps while no more than `seen` PEs are lost, at most as long as this; or less long.
    pub fn wait(&self, seen: u32, limit: Duration) {
        self.job.wait_for_loss(seen, limit);
    }
}

/// Tells the network that a PE is lost.
fn tell(transport: &dyn Transport, pe: i32, how: Loss) {
    let fault = Fault::from(Cause::Lost { pe, how: how.to_string() });
    transport.lose(pe, &fault, how == Loss::Host);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_told_of_until_it_is_acknowledged() {
        let job: &'static Job = Box::leak(Box::new(Job::create(0..3, 3).unwrap()));
        assert!(Losses::of(job, &[]).is_none());
        job.survive();
        let losses = Losses::of(job, &[]).unwrap();
        assert_eq!((losses.unacknowledged(), losses.is_lost(1)), (None, false));
        losses.acknowledge(1, None);
        job.lose(1, Loss::Killed(9));
        let fault = losses.unacknowledged().unwrap();
        assert_eq!((fault.code(), fault.to_string()), (-11, "PE 1 is lost (killed by signal 9 (kill))".into()));
        assert_eq!(losses.fault_among([0, 2].into_iter()), None);
        assert_eq!(losses.fault_among([0, 1, 2].into_iter()), Some(fault));
        losses.acknowledge(1, None);
        losses.acknowledge(1, None);
        assert_eq!(losses.unacknowledged(), None);
        job.lose(2, Loss::Host);
        assert!(losses.unacknowledged().is_some_and(|fault| fault.to_string().contains("PE 2")));
    }
}
