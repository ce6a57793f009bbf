//! All-to-all exchange: members of a host copy from each other, blocks for other hosts go straight to their member.

use super::super::gather::rotated;
use super::super::inter_host::object;
use super::super::table::HOSTS_ALLTOALL;
use super::block;
use crate::base::Fault;
use crate::inter_host::{BoxedSchedule, Net, Object, exchange, exchange_passing};
use crate::team::algorithm::Shape;
use crate::team::contribution::{HostCall, Kind, signature};
use crate::team::hierarchical::{Hierarchy, InterHostCall, sync};
use crate::team::{Team, World};
use crate::transport::shm::copy::copy;
use std::ops::Range;

/// Blocks of `nelems` elements of `elem` bytes that are `dst` elements apart in `dest` and `sst` in `source`.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Strided {
    pub dst: isize,
    pub sst: isize,
    pub nelems: usize,
    pub elem: usize,
}

#[cold]
#[inline(never)]
pub(in super::super) fn alltoall(
    w: &World,
    team: &Team,
    hierarchy: &Hierarchy,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) -> Result<(), Fault> {
    let call = InterHostCall::begin(w, team, hierarchy, signature(Kind::Alltoall, bytes))?;
    let total = bytes * team.size as usize;
    // SAFETY: checked by the caller.
    let (to, from) = unsafe { (object(dest, total), object(source, total)) };
    let (members, local_at_least) = (team.size as usize, hierarchy.layout.fewest as usize);
    let shape = Shape { bytes, members, remote: members - local_at_least, ..Shape::default() };
    let algorithm = HOSTS_ALLTOALL.choose(&w.algorithms, &shape);
    if algorithm.local_copies {
        intra_host(w, &call, |local_call, pe, rank| {
            let theirs = local_call.of("source", source, total, pe)?.wrapping_add(team.me as usize * bytes);
            // SAFETY: dest was checked for `total` bytes; the member's source is mapped for as many.
            unsafe { copy(dest.wrapping_add(rank * bytes), theirs, bytes) };
            Ok(())
        })?;
    }
    let net = call.all()?;
    if algorithm.synchronizes {
        sync(w, team, hierarchy)?;
    }
    net.run((algorithm.exchange)(&net, call.local_members(), &to, &from, bytes))?;
    if algorithm.synchronizes {
        sync(w, team, hierarchy)?;
    }
    call.all_synchronized();
    Ok(())
}

/// An algorithm.
#[derive(Clone, Copy)]
pub struct InterHostAlltoall {
    /// Members of a host copy each other's blocks before.
    pub local_copies: bool,
    /// All members synchronize before, since nobody writes to a member that is not in the call, and after, so that
    /// nobody leaves before everything is there.
    pub synchronizes: bool,
    /// Exchanges the blocks with all members of a group, but for those with these numbers where they are copied.
    pub exchange: BlockSchedule,
}

/// Of the group, the numbers of the members that are left out, `dest`, `source`, the bytes of a block.
type BlockSchedule = for<'a> fn(&'a dyn Net, Range<usize>, &'a Object, &'a Object, usize) -> BoxedSchedule<'a>;

/// Blocks are passed on in rounds, those of the same host as well.
pub const PASSING: InterHostAlltoall = InterHostAlltoall {
    local_copies: false,
    synchronizes: false,
    exchange: |net, _, dest, source, bytes| Box::pin(exchange_passing(net, dest, source, bytes)),
};

/// A block is sent in messages.
pub const MESSAGES: InterHostAlltoall = InterHostAlltoall {
    local_copies: true,
    synchronizes: false,
    exchange: |net, but, dest, source, bytes| Box::pin(messages(net, but, dest, source, bytes)),
};

/// A block is put where it belongs.
pub const PUTS: InterHostAlltoall = InterHostAlltoall {
    local_copies: true,
    synchronizes: true,
    exchange: |net, but, dest, source, bytes| Box::pin(puts(net, but, dest, source, bytes)),
};

/// Blocks for all members of a group but some, in messages.
async fn messages(net: &dyn Net, but: Range<usize>, dest: &Object, source: &Object, bytes: usize) -> Result<(), Fault> {
    exchange(
        net,
        but,
        bytes,
        &mut |member, at, part| source.read(member * bytes + at, part),
        &mut |member, at, part| dest.write(member * bytes + at, part),
    )
    .await
}

/// Puts this member's blocks where they belong, the next member's first.
async fn puts(net: &dyn Net, but: Range<usize>, dest: &Object, source: &Object, bytes: usize) -> Result<(), Fault> {
    let (me, size) = (net.me(), net.size());
    for member in (me + 1..size).chain(0..me).filter(|member| !but.contains(member)) {
        net.put(member, dest, me * bytes, source, member * bytes, bytes)?;
    }
    net.settle().await
}

#[cold]
#[inline(never)]
pub(in super::super) fn alltoalls(
    w: &World,
    team: &Team,
    hierarchy: &Hierarchy,
    dest: *mut u8,
    source: *const u8,
    shape: Strided,
) -> Result<(), Fault> {
    let Strided { dst, sst, nelems, elem } = shape;
    let call = InterHostCall::begin(w, team, hierarchy, signature(Kind::Alltoalls, nelems.wrapping_mul(elem)))?;
    let reach = shape.extent(sst, team.size as usize);
    intra_host(w, &call, |local_call, pe, rank| {
        let theirs = local_call.of("source", source, reach, pe)?;
        // SAFETY: both extents were checked.
        unsafe { block(dest, theirs, dst, sst, nelems, elem, rank, team.me as usize) };
        Ok(())
    })?;
    let net = call.all()?;
    net.run(shape.inter_host(&net, call.local_members(), dest, source))?;
    call.all_synchronized();
    Ok(())
}

impl Strided {
    /// Bytes from the first to the last of the elements of `members` blocks.
    fn extent(&self, stride: isize, members: usize) -> usize {
        (stride as usize * (self.nelems * members - 1) + 1) * self.elem
    }

    /// Blocks for all members of a group but some. A message carries the elements side by side.
    pub async fn inter_host(
        &self,
        net: &dyn Net,
        but: Range<usize>,
        dest: *mut u8,
        source: *const u8,
    ) -> Result<(), Fault> {
        let Self { dst, sst, nelems, elem } = *self;
        // SAFETY: checked by the caller for the extents of all blocks.
        let (to, from) =
            unsafe { (object(dest, self.extent(dst, net.size())), object(source, self.extent(sst, net.size()))) };
        let first = |member: usize, at: usize| member * nelems + at / elem;
        exchange(
            net,
            but,
            nelems * elem,
            &mut |member, at, part| {
                for (i, element) in part.chunks_exact_mut(elem).enumerate() {
                    from.read((first(member, at) + i) * sst as usize * elem, element);
                }
            },
            &mut |member, at, part| {
                for (i, element) in part.chunks_exact(elem).enumerate() {
                    to.write((first(member, at) + i) * dst as usize * elem, element);
                }
            },
        )
        .await
    }
}

/// The members of this host: `take` copies from one, given by its numbers on the host and in the team.
fn intra_host(
    w: &World,
    call: &InterHostCall<'_>,
    take: impl Fn(&HostCall<'_>, i32, usize) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let local = &call.hierarchy.local;
    let local_call = HostCall::begin(w, local, call.signature())?;
    local_call.contribute(&[]);
    for pe in rotated(local.me, local.size) {
        local_call.contribution(pe)?;
        take(&local_call, pe, call.local_members().start + pe as usize)?;
    }
    local_call.all_synchronized();
    local_call.done();
    local_call.leave_together()?;
    Ok(())
}
