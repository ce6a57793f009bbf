//! How the processes of a job that spans hosts find each other, before they have anything but their launcher.
//!
//! Each PE publishes a few small values under keys, all PEs meet once, and from then on a PE reads the values of those
//! peers that it really talks to.

use super::agreement::{Agreement, Proposal};
use crate::base::{Cause, Fault};
use std::ops::Range;
use std::os::fd::OwnedFd;

/// A launcher's key-value space.
pub trait Wireup: Send + Sync {
    /// The launcher's protocol: `oshrun`, `pmix`, `pmi2`, `pmi1`.
    fn name(&self) -> &'static str;

    /// This PE's number.
    fn pe(&self) -> u32;

    /// PEs of the job.
    fn npes(&self) -> u32;

    /// PEs of this host, this one among them, as far as they are numbered consecutively.
    fn local(&self) -> Range<u32>;

    /// Whether all PEs of the job are known to be on this host.
    fn is_one_host(&self) -> bool {
        false
    }

    /// First PEs of all hosts in ascending order, where the launcher says so without asking every PE. Hosts as in
    /// [`Self::local`].
    fn hosts(&self) -> Option<Vec<u32>> {
        None
    }

    /// Makes a value (at most 400 bytes) readable for all after the next [`Self::fence`].
    fn publish(&self, key: &str, value: &[u8]) -> Result<(), Fault>;

    /// Waits until every PE of the job has called this as often.
    fn fence(&self) -> Result<(), Fault>;

    /// What a PE published before a fence; from any thread, at any time until the process ends.
    fn lookup(&self, pe: u32, key: &str) -> Result<Vec<u8>, Fault>;

    /// Gives this PE's word in an agreement; gives the name under which [`Self::outcome`] knows it.
    fn propose(&self, _proposal: Proposal) -> Result<u32, Fault> {
        Err(Fault::from(Cause::Startup(format!("the launcher ({}) makes no agreements", self.name()))))
    }

    /// What an agreement has come to; `None`: nothing yet.
    fn outcome(&self, _id: u32) -> Result<Option<Agreement>, Fault> {
        Ok(None)
    }

    /// Tells the launcher that this PE has not reached another one for long, so that it ends one of the two. False: it
    /// cannot be told.
    fn unreached(&self, _pe: u32, _why: &str) -> bool {
        false
    }

    /// Asks the launcher to end the job everywhere.
    fn abort(&self, status: i32, message: &str);

    /// The connection to the launcher's server, which hangs up when that is gone; `None`: there is none that is known.
    fn server(&self) -> Option<OwnedFd> {
        None
    }

    /// Whether the launcher kills the PEs of a host as soon as the connection of one of them is closed.
    fn kills_at_once(&self) -> bool {
        false
    }

    /// Tells the launcher that this PE is about to end in good order.
    fn finish(&self) {}
}
