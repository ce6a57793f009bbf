//! Joining the PEs of other hosts at start-up.
#![allow(unsafe_code)]

use super::{NETWORK, WIREUP, exit, helper, messages, world};
use crate::base::{Cause, Fault, env};
use crate::bootstrap::common::CommonSettings;
use crate::bootstrap::identity::Identity;
use crate::bootstrap::onhost::OnHost;
use crate::bootstrap::wireup::Wireup;
use crate::bootstrap::{Launch, Profiles};
use crate::memory::Map;
use crate::memory::map::ABOUT_SPACES;
use crate::os::{cpu, elf, machine, process, wait};
use crate::team::{finalizing, hierarchical};
use crate::transport::registry::{self, Wanted};
use crate::transport::{Atomics, Directory, OpenRequest, SegmentId, Transport};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// The job beyond this host.
pub(super) struct Network {
    /// How its PEs are reached.
    pub transport: &'static dyn Transport,
    /// The name of that.
    name: &'static str,
    /// How they were found.
    wireup: Arc<dyn Wireup>,
}

/// The time line of the job's profile and trace, under a launcher that gives none.
pub(super) struct Begin<'a> {
    pub profiles: Profiles,
    pub segment: Option<&'a OwnedFd>,
    /// What this PE's environment asks for.
    pub settings: CommonSettings,
}

impl Begin<'_> {
    /// PE 0 tells when the job began, whether or not other hosts ask; called before a fence.
    fn tell(&self, wireup: &dyn Wireup) -> Result<(), Fault> {
        if wireup.pe() != 0 || WIREUP.get().is_none() {
            return Ok(());
        }
        let told = self.segment.map(|fd| (self.profiles.origin)(fd.as_raw_fd()));
        wireup.publish(BEGIN, &told.unwrap_or_default())
    }

    /// The first PE of each other host, which made the segment, takes that over; called after the fence, before PEs
    /// record.
    fn take(&self, wireup: &dyn Wireup) -> Result<(), Fault> {
        let is_first = wireup.pe() == wireup.local().start && wireup.pe() != 0;
        if let Some(fd) = self.segment.filter(|_| is_first && self.is_wanted()) {
            (self.profiles.follow)(fd.as_raw_fd(), &wireup.lookup(0, BEGIN)?);
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        WIREUP.get().is_some()
            && (env::profile_directory().is_some() || env::trace().is_ok_and(|trace| trace.is_some()))
    }
}

const BEGIN: &str = "begin";
const IDENTITY: &str = "host";
const FABRIC: &str = "fabric";

/// How this PE finds the others, where not all of them are reached through memory. With `only` the network none is, and
/// each PE counts as a host.
pub(super) fn wireup(launch: &Launch, only: bool) -> Result<Option<Arc<dyn Wireup>>, Fault> {
    let job = &launch.job;
    if job.npes() == 1 {
        return Ok(None);
    }
    match &launch.wireup {
        Some(wireup) if job.pes().len() < job.npes() as usize || only => Ok(Some(wireup.clone())),
        None if only => Ok(Some(Arc::new(OnHost::new(job, launch.pe)?))),
        _ => Ok(None),
    }
}

/// Answers a PE of another host.
fn answer(question: [u64; 3]) -> u64 {
    match question {
        [ABOUT_SPACES, addr, word] => world().map.spaces.map_or(0, |spaces| spaces.directory().answer(addr, word)),
        _ => finalizing::answer(question),
    }
}

/// What a transport asks of others: where PEs are, who they are, and whom to tell.
fn directory(wireup: &Arc<dyn Wireup>) -> Directory {
    let (pe, key_values, names, launcher) = (wireup.pe(), wireup.clone(), wireup.clone(), wireup.clone());
    let name = move |pe| {
        let identity = names.lookup(pe, IDENTITY).ok().and_then(|value| Identity::decode(&value));
        identity.map_or_else(|| "unknown".into(), |identity| identity.host)
    };
    Directory {
        address: Box::new(move |pe| key_values.lookup(pe, FABRIC)),
        host: Box::new(name),
        answer: Box::new(answer),
        note: Box::new(move |text| crate::say!("pellucid: PE {pe}: {text}")),
        lost: Box::new(exit::lost),
        unreached: Box::new(move |pe, why| launcher.unreached(pe, why)),
    }
}

/// Opens the network and meets the PEs of all hosts; gives their first PEs, too. Collective over the job.
pub(super) fn join(
    wireup: Arc<dyn Wireup>,
    mine: &Map,
    wanted: Wanted,
    atomics: Atomics,
    begin: &Begin,
) -> Result<(Network, Vec<u32>), Fault> {
    let (pe, npes, only) = (wireup.pe(), wireup.npes(), wanted.is_network_only());
    mine.losses.inspect(|losses| losses.set_launcher(wireup.clone()));
    let request = OpenRequest {
        pe,
        npes,
        segments: vec![
            (SegmentId::HEAP, mine.heap_base, mine.heap_len),
            (SegmentId::DATA, mine.data_base, mine.data_len),
        ],
        atomics,
        one_host: wireup.is_one_host(),
        oversubscribed: mine.oversubscribed,
        posts_beside: helper::has_core(mine),
        directory: directory(&wireup),
        mapping: Box::new(|_, _| None),
        lanes: None,
    };
    // SAFETY: the segments stay mapped, and other PEs of this host write there at any time already.
    let (name, transport) = unsafe { registry::open_between_hosts(wanted, request)? };
    let transport: &'static dyn Transport = Box::leak(transport);
    let identity = identity(mine, begin.settings, transport);
    wireup.publish(IDENTITY, &identity.encode())?;
    wireup.publish(FABRIC, transport.endpoint_address())?;
    begin.tell(&*wireup)?;
    wireup.fence()?;
    begin.take(&*wireup)?;
    // Every PE compares with the next one: so all are alike, or one of them says what differs.
    let next = (pe + 1) % npes;
    let theirs = Identity::decode(&wireup.lookup(next, IDENTITY)?).ok_or_else(|| unreadable(&identity, pe, next))?;
    identity.check_matching(pe, &theirs, next)?;
    let hosts = if only { Some((0..npes).collect()) } else { wireup.hosts() };
    let hosts = hosts.map_or_else(|| hierarchical::hosts(mine, transport), Ok)?;
    Ok((Network { transport, name, wireup }, hosts))
}

/// What this PE says of itself.
fn identity(mine: &Map, settings: CommonSettings, transport: &dyn Transport) -> Identity {
    let mut stack = DefaultHasher::new();
    machine::network_stack().hash(&mut stack);
    Identity {
        version: env!("CARGO_PKG_VERSION").into(),
        heap: mine.heap_len as u64,
        data: mine.data_len as u64,
        executable: if mine.data_len > 0 { elf::build_id() } else { 0 },
        settings,
        stack: stack.finish(),
        address: transport.internet_address(),
        host: process::host_name(),
    }
}

fn unreadable(mine: &Identity, pe: u32, other: u32) -> Fault {
    Fault::from(Cause::Startup(format!(
        "PE {other} is no PE of this version of Pellucid, {} on PE {pe} (host {}): all hosts need the same build of \
         the library",
        mine.version, mine.host
    )))
}

impl Network {
    /// Meets all PEs without the network, after the last barrier over it. Collective over the job. A process that ends
    /// before closes its connections, and messages of that barrier to others may be lost with them. Afterwards
    /// everything that was sent has come, and nobody need be asked for it; and the same is done after each barrier of
    /// all PEs that tools still make.
    pub(super) fn settle(&self) -> Result<(), Fault> {
        match world().map.losses {
            Some(losses) => finalizing::barrier_at_end(world(), losses)?,
            None => self.wireup.fence()?,
        }
        self.transport.all_arrived();
        world().common.after_syncs(Some(settle));
        Ok(())
    }

    /// What was chosen and why, for people.
    pub(super) fn about(&self, hosts: usize) -> String {
        format!("network between {hosts} hosts:\n{}", self.transport.describe())
    }
}

/// See [`Network::settle`].
fn settle() -> Result<(), Fault> {
    NETWORK.get().map_or(Ok(()), Network::settle)
}

/// Name of the transport of this job: that between hosts, where there is one.
pub fn transport_name() -> &'static str {
    NETWORK.get().map_or_else(registry::name_within_host, |network| network.name)
}

/// What the network has done so far: names and numbers. Nothing in a job without one.
pub fn network_counters() -> Vec<(&'static str, u64)> {
    let Some(network) = NETWORK.get() else { return Vec::new() };
    network.transport.counters().into_iter().map(|(name, _, value)| (name, value)).collect()
}

/// Has everyone who waits move the network on.
pub(super) fn assist_waiters() {
    wait::set_hook(messages::progress);
    cpu::nap_between_yields();
}
