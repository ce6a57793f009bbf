//! libfabric's row among the transports: what the environment says of it.
#![allow(unsafe_code)]

use super::counters::NetworkCounters;
use super::{Fabric, Settings, process_exit, start};
use crate::base::{Fault, env};
use crate::transport::registry::{Open, Row};
use crate::transport::{OpenRequest, SegmentId, Transport};

/// See [`crate::transport::registry`].
pub const ROW: Row = Row {
    name: "ofi",
    doc: "libfabric: PEs of other hosts, over whatever network the provider drives.",
    probe,
    open: Open::BetweenHosts(open),
    leave: process_exit::close,
    counters: || NetworkCounters::default().rows().into_iter().map(|(name, text, _)| (name, text)).collect(),
};

fn value(name: &str) -> Option<String> {
    env::lookup(name).map(|(_, value)| value)
}

/// Whether there is a libfabric. Which of its providers works here is for [`open`] to find out.
fn probe() -> Result<(), String> {
    let _opening = process_exit::opening();
    let settings = Settings { library: value("OFI_LIBRARY"), ..Settings::default() };
    start::open(&settings).map(drop).map_err(|fault| fault.to_string())
}

/// # Safety
/// As [`Open`].
unsafe fn open(request: OpenRequest) -> Result<Box<dyn Transport>, Fault> {
    let provider = value("OFI_PROVIDER").or_else(|| std::env::var("FI_PROVIDER").ok());
    let loopback = request.one_host && provider.as_ref().is_none_or(|name| name.starts_with("tcp"));
    let settings = Settings {
        provider: value("OFI_PROVIDER"),
        interface: value("OFI_INTERFACE").or_else(|| loopback.then(|| "lo".into())),
        library: value("OFI_LIBRARY"),
        atomics: request.atomics,
        loopback: request.one_host,
        oversubscribed: request.oversubscribed,
        posts_beside: request.posts_beside,
        ..Settings::default()
    };
    let regions = [request.segment(SegmentId::HEAP), request.segment(SegmentId::DATA)];
    // SAFETY: the caller's.
    let fabric = unsafe { Fabric::open(&settings, regions, request.pe, request.npes, request.directory)? };
    Ok(Box::new(fabric))
}
