//! Broadcast: the root stands for its host, the first member for every other.

use super::super::broadcast::intra_host;
use super::super::contribution::{Kind, signature};
use super::object;
use crate::base::Fault;
use crate::inter_host::{Net, Object, Turned, broadcast_puts, broadcast_scatter, broadcast_small};
use crate::team::algorithm::HostsBroadcast;
use crate::team::hierarchical::{Hierarchy, InterHostCall};
use crate::team::{Team, World, chosen};

#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub(in super::super) fn broadcast(
    w: &World,
    team: &Team,
    hierarchy: &Hierarchy,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
    root_too: bool,
) -> Result<(), Fault> {
    let call = InterHostCall::begin(w, team, hierarchy, signature(Kind::Broadcast, bytes))?;
    let (layout, local) = (&hierarchy.layout, &hierarchy.local);
    let root_host = layout.host_of(root);
    // SAFETY: checked by the caller.
    let (to, from) = unsafe { (object(dest, bytes), object(source, bytes)) };
    let algorithm = || chosen(w.algorithms.hosts_broadcast(bytes, layout.heads.len()));
    if layout.host == root_host {
        let first = layout.ranks(root_host).start as i32;
        if team.me == root {
            let net = call.hosts_with(root)?;
            net.run(inter_host(&net, algorithm(), &to, &from, root_host))?;
        }
        return intra_host(w, local, dest, source, bytes, root - first, root_too);
    }
    if call.leads() {
        let net = call.hosts_with(root)?;
        net.run(inter_host(&net, algorithm(), &to, &to, root_host))?;
    }
    intra_host(w, local, dest, dest, bytes, 0, false)
}

/// From member `root` of a group to all others; `source` is the root's, and `dest` elsewhere.
pub(in super::super) async fn inter_host(
    net: &dyn Net,
    algorithm: HostsBroadcast,
    dest: &Object,
    source: &Object,
    root: usize,
) -> Result<(), Fault> {
    let net = &Turned { net, first: root };
    match algorithm {
        HostsBroadcast::Messages => broadcast_small(net, source).await,
        HostsBroadcast::Binomial => broadcast_puts(net, dest, source).await,
        HostsBroadcast::Scatter => broadcast_scatter(net, dest, source).await,
    }
}
