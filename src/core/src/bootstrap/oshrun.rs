//! Our own launcher's key-value space, for a job that spans hosts: what the PE wants, it asks of the `oshrun` of its
//! host.
//!
//! Any thread may ask at any time, also while another one waits in a fence: whoever waits first reads for all.

use super::agreement::{Agreement, Proposal};
use super::job::Job;
use super::talk::{self, PeRequest, Reply};
use super::wireup::Wireup;
use crate::base::{Cause, Fault};
use crate::os::own_fd::OwnFd;
use crate::os::{packet, poll};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The connection to the `oshrun` of this host.
pub struct Oshrun {
    socket: OwnFd,
    pe: u32,
    npes: u32,
    local: Range<u32>,
    state: Mutex<State>,
    changed: Condvar,
}

/// What has come and is not taken.
#[derive(Default)]
struct State {
    /// A thread is reading.
    read: bool,
    /// Fences that this PE has come to, and those that all have come to.
    fences: u64,
    fenced: u64,
    next_id: u32,
    key_values: HashMap<u32, Option<Vec<u8>>>,
    hosts: Option<Vec<(u32, u32)>>,
    agreed: HashMap<u32, Agreement>,
    /// Nothing will come any more: why.
    gone: Option<String>,
}

impl Oshrun {
    /// The connection over a socket that the launcher handed to this PE.
    pub fn new(socket: OwnedFd, job: &Job, pe: u32) -> Self {
        let (npes, local) = (job.npes(), job.pes());
        Self { socket: OwnFd::new(socket), pe, npes, local, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, request: &PeRequest) -> Result<(), Fault> {
        packet::send(&self.socket, &request.encode(), true).map_err(|error| gone(&error.to_string()))
    }

    /// Waits until `ready` finds what it looks for.
    fn wait<T>(&self, mut ready: impl FnMut(&mut State) -> Option<T>) -> Result<T, Fault> {
        let mut state = self.lock();
        loop {
            if let Some(found) = ready(&mut state) {
                return Ok(found);
            }
            if let Some(why) = &state.gone {
                return Err(gone(why));
            }
            if state.read {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state = self.read(state, true);
        }
    }

    /// Takes a message that has come, or `waits` for one.
    fn read<'a>(&'a self, mut state: MutexGuard<'a, State>, waits: bool) -> MutexGuard<'a, State> {
        state.read = true;
        drop(state);
        let message = packet::receive(&self.socket, waits);
        let mut state = self.lock();
        state.read = false;
        match message.map(|message| Reply::decode(&message)) {
            Ok(Some(Reply::Fenced)) => state.fenced += 1,
            Ok(Some(Reply::Value { id, value })) => drop(state.key_values.insert(id, value)),
            Ok(Some(Reply::Hosts(runs))) => state.hosts = Some(runs),
            Ok(Some(Reply::Agreed { id, outcome })) => drop(state.agreed.insert(id, outcome)),
            Ok(None) => state.gone = Some("it has ended, or is of another version".into()),
            Err(error) if !waits && error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => state.gone = Some(error.to_string()),
        }
        self.changed.notify_all();
        state
    }

    fn next_id(&self) -> u32 {
        let mut state = self.lock();
        state.next_id = state.next_id.wrapping_add(1);
        state.next_id
    }
}

fn gone(why: &str) -> Fault {
    Fault::from(Cause::Startup(format!("the connection to the oshrun of this host is lost: {why}")))
}

impl Wireup for Oshrun {
    fn name(&self) -> &'static str {
        "oshrun"
    }

    fn pe(&self) -> u32 {
        self.pe
    }

    fn npes(&self) -> u32 {
        self.npes
    }

    fn local(&self) -> Range<u32> {
        self.local.clone()
    }

    fn hosts(&self) -> Option<Vec<u32>> {
        self.ask(&PeRequest::Hosts).ok()?;
        let runs = self.wait(|state| state.hosts.clone()).ok()?;
        Some(talk::ranges(&runs).into_iter().map(|pes| pes.start).collect())
    }

    fn publish(&self, key: &str, value: &[u8]) -> Result<(), Fault> {
        check(key, value)?;
        self.ask(&PeRequest::Publish { key: key.into(), value: value.into() })
    }

    fn fence(&self) -> Result<(), Fault> {
        let number = {
            let mut state = self.lock();
            state.fences += 1;
            state.fences
        };
        self.ask(&PeRequest::Fence)?;
        self.wait(|state| (state.fenced >= number).then_some(()))
    }

    fn lookup(&self, pe: u32, key: &str) -> Result<Vec<u8>, Fault> {
        let id = self.next_id();
        self.ask(&PeRequest::Lookup { id, pe, key: key.into() })?;
        self.wait(|state| state.key_values.remove(&id))?.ok_or_else(|| no_value(pe, key))
    }

    fn propose(&self, proposal: Proposal) -> Result<u32, Fault> {
        let id = self.next_id();
        self.ask(&PeRequest::Agree { id, proposal })?;
        Ok(id)
    }

    fn outcome(&self, id: u32) -> Result<Option<Agreement>, Fault> {
        let mut state = self.lock();
        if state.agreed.contains_key(&id) || state.read {
            return Ok(state.agreed.remove(&id));
        }
        // A message has room of its own, which is not made in vain.
        if poll::wait(&[(self.socket.as_raw_fd(), poll::Interest::Input)], Some(Duration::ZERO)) == [true] {
            state = self.read(state, false);
        }
        match (state.agreed.remove(&id), &state.gone) {
            (None, Some(why)) => Err(gone(why)),
            (outcome, _) => Ok(outcome),
        }
    }

    fn unreached(&self, pe: u32, why: &str) -> bool {
        self.ask(&PeRequest::Unreached { pe, why: why.into() }).is_ok()
    }

    fn abort(&self, status: i32, message: &str) {
        // Without an oshrun there is nobody left to end the job for.
        let _ = self.ask(&PeRequest::Abort { status, message: message.into() });
    }

    fn finish(&self) {
        let _ = self.ask(&PeRequest::Finish);
    }
}

/// Refuses what no launcher would pass on.
pub(super) fn check(key: &str, value: &[u8]) -> Result<(), Fault> {
    if key.len() <= talk::KEY_BYTES && value.len() <= talk::VALUE_BYTES {
        return Ok(());
    }
    let (key_bytes, bytes) = (key.len(), value.len());
    Err(Fault::from(Cause::Startup(format!(
        "value {key:?} of {bytes} bytes: at most {} are passed on, under a name of at most {} (here {key_bytes})",
        talk::VALUE_BYTES,
        talk::KEY_BYTES
    ))))
}

pub(super) fn no_value(pe: u32, key: &str) -> Fault {
    Fault::from(Cause::Startup(format!("PE {pe} has published no value {key:?}")))
}

#[cfg(test)]
#[path = "oshrun_tests.rs"]
mod tests;
