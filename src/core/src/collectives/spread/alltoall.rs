//! All-to-all exchange: members of a host copy from each other, blocks for other hosts go straight to their member.

use super::super::alltoall::block;
use super::super::gather::from_me;
use super::super::post::{Kind, Turn, signature};
use super::object;
use crate::base::Fault;
use crate::group::{Net, Object, exchange, exchange_passing};
use crate::team::algorithm::HostsAlltoall;
use crate::team::spread::{Call, Spread, sync};
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
    spread: &Spread,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
) -> Result<(), Fault> {
    let call = Call::begin(w, team, spread, signature(Kind::Alltoall, bytes))?;
    let total = bytes * team.size as usize;
    // SAFETY: checked by the caller.
    let (to, from) = unsafe { (object(dest, total), object(source, total)) };
    let (members, here_at_least) = (team.size as usize, spread.layout.fewest as usize);
    let algorithm = w.algorithms.hosts_alltoall(bytes, members, members - here_at_least);
    if algorithm == HostsAlltoall::Passing {
        exchange_passing(&call.all()?, &to, &from, bytes)?;
        call.all_heard();
        return Ok(());
    }
    here(w, &call, |turn, pe, rank| {
        let theirs = turn.of("source", source, total, pe)?.wrapping_add(team.me as usize * bytes);
        // SAFETY: dest was checked for `total` bytes; the member's source is mapped for as many.
        unsafe { copy(dest.wrapping_add(rank * bytes), theirs, bytes) };
        Ok(())
    })?;
    let net = call.all()?;
    if algorithm == HostsAlltoall::Messages {
        between(&net, call.here(), &to, &from, bytes)?;
    } else {
        // Nobody writes to a member before it is in the call, nor leaves before everything is there.
        sync(w, team, spread)?;
        puts(&net, call.here(), &to, &from, bytes)?;
        sync(w, team, spread)?;
    }
    call.all_heard();
    Ok(())
}

/// Blocks for all members of a group but some, in messages.
pub(in super::super) fn between(
    net: &dyn Net,
    but: Range<usize>,
    dest: &Object,
    source: &Object,
    bytes: usize,
) -> Result<(), Fault> {
    exchange(
        net,
        but,
        bytes,
        &mut |member, at, part| source.read(member * bytes + at, part),
        &mut |member, at, part| dest.write(member * bytes + at, part),
    )
}

/// Puts this member's blocks where they belong, the next member's first.
pub(in super::super) fn puts(
    net: &dyn Net,
    but: Range<usize>,
    dest: &Object,
    source: &Object,
    bytes: usize,
) -> Result<(), Fault> {
    let (me, size) = (net.me(), net.size());
    for member in (me + 1..size).chain(0..me).filter(|member| !but.contains(member)) {
        net.put(member, dest, me * bytes, source, member * bytes, bytes)?;
    }
    net.settle()
}

#[cold]
#[inline(never)]
pub(in super::super) fn alltoalls(
    w: &World,
    team: &Team,
    spread: &Spread,
    dest: *mut u8,
    source: *const u8,
    shape: Strided,
) -> Result<(), Fault> {
    let Strided { dst, sst, nelems, elem } = shape;
    let call = Call::begin(w, team, spread, signature(Kind::Alltoalls, nelems.wrapping_mul(elem)))?;
    let reach = shape.extent(sst, team.size as usize);
    here(w, &call, |turn, pe, rank| {
        let theirs = turn.of("source", source, reach, pe)?;
        // SAFETY: both extents were checked.
        unsafe { block(dest, theirs, dst, sst, nelems, elem, rank, team.me as usize) };
        Ok(())
    })?;
    shape.between(&call.all()?, call.here(), dest, source)?;
    call.all_heard();
    Ok(())
}

impl Strided {
    /// Bytes from the first to the last of the elements of `members` blocks.
    fn extent(&self, stride: isize, members: usize) -> usize {
        (stride as usize * (self.nelems * members - 1) + 1) * self.elem
    }

    /// Blocks for all members of a group but some. A message carries the elements side by side.
    pub fn between(&self, net: &dyn Net, but: Range<usize>, dest: *mut u8, source: *const u8) -> Result<(), Fault> {
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
    }
}

/// The members of this host: `take` copies from one, given by its numbers on the host and in the team.
fn here(w: &World, call: &Call<'_>, take: impl Fn(&Turn<'_>, i32, usize) -> Result<(), Fault>) -> Result<(), Fault> {
    let local = &call.spread.local;
    let turn = Turn::begin(w, local, call.signature())?;
    turn.show(&[]);
    for pe in from_me(local.me, local.size) {
        turn.see(pe)?;
        take(&turn, pe, call.here().start + pe as usize)?;
    }
    turn.all_heard();
    turn.done();
    turn.leave_together()?;
    Ok(())
}
