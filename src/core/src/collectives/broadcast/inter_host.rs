//! Broadcast between hosts: the root stands for its host, the first member for every other.
#![allow(unsafe_code)]

use super::super::inter_host::object;
use super::super::table::HOSTS_BROADCAST;
use super::intra_host;
use crate::base::Fault;
use crate::inter_host::{BoxedSchedule, Net, Object, Turned, broadcast_puts, broadcast_scatter, broadcast_small};
use crate::team::algorithm::Shape;
use crate::team::contribution::{Kind, signature};
use crate::team::hierarchical::{Hierarchy, InterHostCall};
use crate::team::{Team, World};

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
    let hosts = layout.heads.len();
    if layout.host == root_host {
        let first = layout.ranks(root_host).start as i32;
        if team.me == root {
            let net = call.hosts_with(root)?;
            net.run(inter_host(&net, choose(w, bytes, hosts), &to, &from, root_host))?;
        }
        return intra_host(w, local, dest, source, bytes, root - first, root_too);
    }
    if call.leads() {
        let net = call.hosts_with(root)?;
        net.run(inter_host(&net, choose(w, bytes, hosts), &to, &to, root_host))?;
    }
    intra_host(w, local, dest, dest, bytes, 0, false)
}

/// An algorithm: from the first member of a group, whose data `source` is, to `dest` on the others.
pub type InterHostBroadcast = for<'a> fn(&'a dyn Net, &'a Object, &'a Object) -> BoxedSchedule<'a>;

/// The algorithm for so many bytes among so many members of a group.
pub(in super::super) fn choose(w: &World, bytes: usize, members: usize) -> InterHostBroadcast {
    HOSTS_BROADCAST.choose(&w.algorithms, &Shape { bytes, members, ..Shape::default() })
}

/// From member `root` of a group to all others; `source` is the root's, and `dest` elsewhere.
pub(in super::super) async fn inter_host(
    net: &dyn Net,
    algorithm: InterHostBroadcast,
    dest: &Object,
    source: &Object,
    root: usize,
) -> Result<(), Fault> {
    algorithm(&Turned { net, first: root }, dest, source).await
}

/// Down a binomial tree, in messages.
pub fn messages<'a>(net: &'a dyn Net, _: &'a Object, source: &'a Object) -> BoxedSchedule<'a> {
    Box::pin(broadcast_small(net, source))
}

/// Puts down a binomial tree, in segments.
pub fn binomial<'a>(net: &'a dyn Net, dest: &'a Object, source: &'a Object) -> BoxedSchedule<'a> {
    Box::pin(broadcast_puts(net, dest, source))
}

/// A part for each member, then all gather the parts.
pub fn scatter<'a>(net: &'a dyn Net, dest: &'a Object, source: &'a Object) -> BoxedSchedule<'a> {
    Box::pin(broadcast_scatter(net, dest, source))
}
