//! Joining the PEs of other hosts at start-up.

use super::map;
use crate::base::{Cause, Fault, env};
use crate::bootstrap::Launch;
use crate::bootstrap::identity::Identity;
use crate::bootstrap::onhost::OnHost;
use crate::bootstrap::wireup::Wireup;
use crate::memory::Map;
use crate::os::{process, wait};
use crate::transport::far::Far;
use crate::transport::ofi::{Atomics, Directory, Fabric, Settings};
use std::sync::Arc;

/// The job beyond this host.
pub(super) struct Network {
    /// How its PEs are reached.
    pub far: &'static Fabric,
    /// First PEs of all hosts.
    pub hosts: Vec<u32>,
}

const ON_HOST: &str = "one host";
const IDENTITY: &str = "host";
const FABRIC: &str = "fabric";

/// How this PE finds the others, where not all of them are reached through memory. With `SHMEM_TRANSPORT=ofi` none is, and
/// each PE counts as a host.
pub(super) fn wireup(launch: &Launch) -> Result<Option<Arc<dyn Wireup>>, Fault> {
    let job = &launch.job;
    if job.npes() == 1 {
        return Ok(None);
    }
    match &launch.wireup {
        Some(wireup) if job.pes().len() < job.npes() as usize || env::network_only()? => Ok(Some(wireup.clone())),
        None if env::network_only()? => Ok(Some(Arc::new(OnHost::new(job, launch.pe)?))),
        _ => Ok(None),
    }
}

/// Opens the network and meets the PEs of all hosts. Collective over the job.
pub(super) fn join(wireup: Arc<dyn Wireup>, mine: &Map) -> Result<Network, Fault> {
    let (pe, npes) = (wireup.pe(), wireup.npes());
    let identity = Identity {
        version: env!("CARGO_PKG_VERSION").into(),
        heap: mine.heap_len as u64,
        data: mine.data_len as u64,
        host: process::host_name(),
    };
    let value = |name| env::lookup(name).map(|(_, value)| value).filter(|value| !value.is_empty());
    let settings = Settings {
        provider: value("OFI_PROVIDER"),
        interface: value("OFI_INTERFACE"),
        library: value("OFI_LIBRARY"),
        atomics: if env::atomics_by_nic()? { Atomics::Nic } else { Atomics::Cpu },
        // With the launcher's cards in the job file, all PEs are on this host.
        loopback: wireup.name() == ON_HOST,
        crowded: mine.crowded,
        ..Settings::default()
    };
    let regions = [(mine.heap_base, mine.heap_len), (mine.data_base, mine.data_len)];
    let (cards, names) = (wireup.clone(), wireup.clone());
    let host = move |pe| {
        let identity = names.card(pe, IDENTITY).ok().and_then(|card| Identity::decode(&card));
        identity.map_or_else(|| "unknown".into(), |identity| identity.host)
    };
    let directory = Directory { card: Box::new(move |pe| cards.card(pe, FABRIC)), host: Box::new(host) };
    let fabric = Fabric::open(&settings, regions, pe, npes, directory)?;
    let fabric: &'static Fabric = Box::leak(Box::new(fabric));
    wireup.publish(IDENTITY, &identity.encode())?;
    wireup.publish(FABRIC, &fabric.card()?)?;
    wireup.fence()?;
    // Every PE compares with the next one: so all are alike, or one of them says what differs.
    let next = (pe + 1) % npes;
    let theirs = Identity::decode(&wireup.card(next, IDENTITY)?).ok_or_else(|| unreadable(&identity, pe, next))?;
    identity.agree(pe, &theirs, next)?;
    let hosts = match wireup.hosts() {
        _ if mine.local_pes == 1 && env::network_only()? => (0..npes).collect(),
        Some(hosts) => hosts,
        None => return Err(Fault::from(Cause::Startup("the launcher does not tell hosts".into()))),
    };
    fabric.start()?;
    Ok(Network { far: fabric, hosts })
}

fn unreadable(mine: &Identity, pe: u32, other: u32) -> Fault {
    Fault::from(Cause::Startup(format!(
        "PE {other} is no PE of this version of Pellucid, {} on PE {pe} (host {}): all hosts need the same build of the library",
        mine.version, mine.host
    )))
}

/// Has everyone who waits move the network on.
pub(super) fn assist_waiters() {
    wait::set_hook(|| {
        if let Some(far) = map().far {
            far.poll();
        }
    });
}
