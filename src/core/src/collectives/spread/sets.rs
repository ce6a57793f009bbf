//! Active sets on several hosts: all of their PEs are members of one group, and none stands for others.

use super::super::alltoall::block;
use super::super::kernel::Kernel;
use super::super::post::{Kind, signature};
use super::alltoall::puts;
use super::gather::{ends, gather_between};
use super::{Strided, alltoall, broadcast, object, reduce};
use crate::base::Fault;
use crate::group::{Net, exchange_passing, meet};
use crate::team::algorithm::HostsAlltoall;
use crate::team::spread::{Peers, Ranks};
use crate::team::{World, leaving};
use crate::transport::shm::copy::copy;

/// An active set, and this PE's number in it.
#[derive(Clone, Copy)]
pub(in super::super) struct Members<'w> {
    pub w: &'w World,
    pub start: i32,
    pub stride: i32,
    pub size: i32,
    pub me: i32,
}

impl<'w> Members<'w> {
    /// Begins the next call of the set, as its members count them.
    fn call(&self, kind: Kind, bytes: usize) -> Result<Peers<'w>, Fault> {
        let (start, stride) = (self.start, self.stride);
        let ranks = Ranks::All { start, stride, size: self.size as usize };
        let goes_one_way = kind == Kind::Broadcast;
        let begin = |kind, bytes, heard| {
            let (what, next) = (signature(kind, bytes), leaving::next(self.w));
            self.w.common.begin(&self.w.map, self.key(), ranks, self.me as usize, what, heard, next)
        };
        if goes_one_way && self.w.common.far_ahead(self.key()) {
            meet(&begin(Kind::Barrier, 0, true)?)?;
        }
        begin(kind, bytes, !goes_one_way)
    }

    /// Different for all active sets of a job, and from the ids of teams.
    fn key(&self) -> u64 {
        // The last PE is one of the job: the product has 31 bits at most.
        let log_stride = self.stride.trailing_zeros();
        let shape = ((self.size as u64 - 1) << (log_stride + 1)) | 1 << log_stride;
        1 << 63 | (self.start as u64) << 32 | shape
    }

    pub(in super::super) fn sync(&self) -> Result<(), Fault> {
        meet(&self.call(Kind::Barrier, 0)?)
    }

    /// The root's own `dest` is not written.
    pub(in super::super) fn broadcast(
        &self,
        dest: *mut u8,
        source: *const u8,
        bytes: usize,
        root: i32,
    ) -> Result<(), Fault> {
        let net = self.call(Kind::Broadcast, bytes)?;
        let source = if self.me == root { source } else { dest };
        // SAFETY: checked by the caller.
        let (to, from) = unsafe { (object(dest, bytes), object(source, bytes)) };
        broadcast::between(&net, &self.w.algorithms, &to, &from, root as usize)
    }

    pub(in super::super) fn fcollect(&self, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
        let net = self.call(Kind::Fcollect, bytes)?;
        // SAFETY: checked by the caller.
        let (all, mine) = unsafe { (object(dest, bytes * net.size()), object(source, bytes)) };
        all.copy_from(bytes * net.me(), &mine);
        gather_between(&net, &self.w.algorithms, &all, &|member| member * bytes)
    }

    pub(in super::super) fn collect(&self, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
        let ends = ends(&self.call(Kind::Collect, 0)?, bytes)?;
        let total = ends.last().copied().unwrap_or(0);
        if total == 0 {
            return Ok(());
        }
        self.w.map.local("dest", dest, total)?;
        let first = |member: usize| member.checked_sub(1).map_or(0, |before| ends[before]);
        let net = self.call(Kind::Collect, 0)?;
        // SAFETY: checked here and by the caller.
        let (all, mine) = unsafe { (object(dest, total), object(source, bytes)) };
        all.copy_from(first(net.me()), &mine);
        gather_between(&net, &self.w.algorithms, &all, &first)
    }

    pub(in super::super) fn alltoall(&self, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
        let (me, total) = (self.me as usize, bytes * self.size as usize);
        // SAFETY: checked by the caller.
        let (to, from) = unsafe { (object(dest, total), object(source, total)) };
        let size = self.size as usize;
        match self.w.algorithms.hosts_alltoall(bytes, size, size) {
            HostsAlltoall::Passing => {
                return exchange_passing(&self.call(Kind::Alltoall, bytes)?, &to, &from, bytes);
            }
            HostsAlltoall::Messages => {
                to.copy_from(me * bytes, &from.part(me * bytes, bytes));
                return alltoall::between(&self.call(Kind::Alltoall, bytes)?, 0..0, &to, &from, bytes);
            }
            HostsAlltoall::Puts => {}
        }
        self.sync()?;
        to.copy_from(me * bytes, &from.part(me * bytes, bytes));
        puts(&self.call(Kind::Alltoall, bytes)?, 0..0, &to, &from, bytes)?;
        self.sync()
    }

    pub(in super::super) fn alltoalls(&self, dest: *mut u8, source: *const u8, shape: Strided) -> Result<(), Fault> {
        let Strided { dst, sst, nelems, elem } = shape;
        // SAFETY: checked by the caller for the extents of all blocks.
        unsafe { block(dest, source, dst, sst, nelems, elem, self.me as usize, self.me as usize) };
        shape.between(&self.call(Kind::Alltoalls, nelems * elem)?, 0..0, dest, source)
    }

    pub(in super::super) fn reduce(
        &self,
        dest: *mut u8,
        source: *const u8,
        nelems: usize,
        kernel: Kernel,
    ) -> Result<(), Fault> {
        let bytes = nelems * kernel.elem;
        let net = self.call(Kind::Reduce, bytes)?;
        if dest.cast_const() != source {
            // SAFETY: checked by the caller.
            unsafe { copy(dest, source, bytes) };
        }
        // SAFETY: as above.
        reduce::between(&net, &self.w.algorithms, &unsafe { object(dest, bytes) }, kernel)
    }
}
