//! Collectives of PEs each of which speaks for itself, as schedules: active sets on several hosts, and all nonblocking
//! collectives.
//!
//! The functions are schedules ([`crate::inter_host`]): [`FlatCall::run`] advances one to its end,
//! [`FlatCall::start`] lets it go on beside the program. Several of a group can be under way at a time, since
//! each has numbers of its own for its messages.

use super::super::alltoall::block;
use super::super::broadcast::inter_host as broadcast;
use super::super::contribution::{Kind, signature};
use super::super::gather::inter_host::{ends, shape};
use super::super::kernel::Kernel;
use super::super::reduce::inter_host as reduce;
use super::super::table::{HOSTS_ALLTOALL, HOSTS_FCOLLECT};
use super::{Strided, object};
use crate::base::Fault;
use crate::inter_host::{Buffer, By, Net, Phase, dissemination, gather, step};
use crate::request::{self, Request, uses};
use crate::team::World;
use crate::team::algorithm::Shape;
use crate::team::check::{Arg, Compared, check_collected};
use crate::team::finalizing::{self, Waiting};
use crate::team::hierarchical::{Absence, Patience, Peers, Ranks, Waits};
use crate::team::pe_list::PeList;
use crate::transport::shm::copy::copy;
use crate::transport::{Channel, Event, EventSlot};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

/// Collectives that one may be made of: each has a number of its own.
const PARTS: u32 = 4;

/// The part in which members compare their calls.
const COMPARED: u32 = PARTS - 1;

/// This PE's part in one collective.
#[derive(Clone)]
pub(in super::super) struct FlatCall<'w> {
    w: &'w World,
    pes: PeList,
    me: usize,
    /// Names the group.
    key: u64,
    /// Of the first part.
    number: u32,
    /// All members meet before the collective.
    meets: bool,
    /// Of a collective that nobody waits for in the call.
    event: Option<&'static Event>,
    waits: Arc<Waits>,
}

impl FlatCall<'static> {
    /// Starts the schedule that `steps` makes of the collective, which goes on after the call.
    pub fn start<F: Future<Output = Result<(), Fault>> + 'static>(
        self,
        steps: impl FnOnce(Self) -> F,
    ) -> Result<Request, Fault> {
        let (w, channel, waiting, waits) = (self.w, self.channel(), self.waiting(), self.waits.clone());
        self.check_lost()?;
        w.common.mail.begin();
        let absence = Absence { w, channel, waiting, waits, pes: self.pes.clone() };
        w.map.transport.inspect(|transport| transport.leave_messages(true));
        let begun =
            request::start(|event, awaited| absence.observe(awaited, steps(Self { event: Some(event), ..self })));
        if let Some(transport) = w.map.transport {
            transport.leave_messages(false);
            transport.progress_beside();
        }
        w.common.mail.leave();
        begun
    }
}

impl<'w> FlatCall<'w> {
    /// Begins the next collective of a group, as its members count them. `goes_one_way`: not everyone hears of everyone
    /// in it.
    pub fn begin(w: &'w World, pes: PeList, me: usize, key: u64, goes_one_way: bool) -> Self {
        let (number, meets) = w.common.begin(key, PARTS, !goes_one_way);
        Self { w, pes, me, key, number, meets, event: None, waits: Arc::default() }
    }

    /// Something of this collective's begins that uses the program's memory and is to be ended, by whomever: its
    /// request is not complete before. None in a call that waits.
    pub fn transfer_begins(&self) -> Option<EventSlot> {
        let slot = self.event?.slot();
        slot.begin();
        Some(slot)
    }

    /// Advances a schedule of this collective's to its end.
    pub fn run<T>(&self, schedule: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        self.check_lost()?;
        let (map, pes) = (&self.w.map, self.pes.clone());
        Patience { transport: map.transport, channel: self.channel(), waiting: self.waiting(), map, pes }
            .run(&self.waits, schedule)
    }

    /// A fault where a member is lost.
    fn check_lost(&self) -> Result<(), Fault> {
        self.w.map.lost_among(self.pes.iter()).map_or(Ok(()), Err)
    }

    fn channel(&self) -> Channel {
        self.w.map.transport.map_or(Channel::DEFAULT, |transport| self.w.common.channel(transport))
    }

    fn waiting(&self) -> Waiting {
        Waiting { times: finalizing::next(self.w), group: (self.key, 0), number: self.number }
    }

    /// The members, in a part of the collective.
    fn net(&self, part: u32, kind: Kind, bytes: usize) -> Peers<'w> {
        debug_assert!(part < PARTS);
        Peers {
            map: &self.w.map,
            transport: self.w.map.transport,
            // A call that waits goes over the network, as active sets on several hosts always have.
            mail: self.event.map(|_| &self.w.common.mail).filter(|mail| mail.is_carried()),
            channel: self.channel(),
            ranks: Ranks::All(self.pes.clone()),
            pes: self.pes.clone(),
            me: self.me,
            group: self.key,
            number: self.number.wrapping_add(part),
            signature: signature(kind, bytes),
            waiting: self.waiting(),
            event: self.event,
            waits: self.waits.clone(),
        }
    }

    /// With `--check`: a fault where the member before makes another call. When all are like their neighbours, all are
    /// alike.
    pub async fn compare(self, kind: Kind, args: Vec<(Arg, u64)>) -> Result<(), Fault> {
        let peers = self.net(COMPARED, kind, 0);
        let net: &dyn Net = &peers;
        let (me, size) = (net.me(), net.size());
        let (step, before) = (step(Phase::First, 0, 0), (me + size - 1) % size);
        if size == 1 {
            return Ok(());
        }
        let call = uses::name_of_call();
        let mine: Vec<u8> = args.iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
        net.send((me + 1) % size, step, &mine)?;
        let mut theirs = vec![0; mine.len()];
        let compared = async {
            net.receive(before, step, &mut theirs).await?;
            let theirs = theirs.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
            Compared { kind, args: &args }.same(theirs, self.pes.world(before))
        };
        compared.await.map_err(|fault| fault.made_in(&call))
    }

    /// From here on in the thread that messages are left to, where there is one, or in the program's next call.
    pub async fn left(&self) {
        let is_begun = || !self.w.map.transport.is_some_and(|transport| transport.leaves_messages());
        poll_fn(|_| if is_begun() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// All members are here.
    pub async fn barrier(&self) -> Result<(), Fault> {
        dissemination(&self.net(0, Kind::Barrier, 0)).await
    }

    /// From member `root` to all others; the root's own `dest` is not written.
    pub async fn broadcast(&self, dest: *mut u8, source: *const u8, bytes: usize, root: i32) -> Result<(), Fault> {
        // In the first step, which is in the program's call of the collective; so below.
        let algorithm = broadcast::choose(self.w, bytes, self.pes.size());
        if self.meets {
            self.barrier().await?;
        }
        let net = self.net(1, Kind::Broadcast, bytes);
        let source = if self.me == root as usize { source } else { dest };
        // SAFETY: checked by the caller.
        let (to, from) = unsafe { (object(dest, bytes), object(source, bytes)) };
        broadcast::inter_host(&net, algorithm, &to, &from, root as usize).await
    }

    /// Blocks of `bytes` bytes of all members, in order.
    pub async fn fcollect(&self, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
        let net = self.net(0, Kind::Fcollect, bytes);
        // SAFETY: checked by the caller.
        let (all, mine) = unsafe { (object(dest, bytes * net.size()), object(source, bytes)) };
        all.copy_from(bytes * net.me(), &mine);
        let algorithm = HOSTS_FCOLLECT.choose(&self.w.algorithms, &shape(all.len(), &net));
        algorithm(&net, &all, &|member| member * bytes).await
    }

    /// As [`Self::fcollect`], with a size that may differ between members and may be 0.
    pub async fn collect(&self, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
        let ends = ends(&self.net(0, Kind::Collect, 0), bytes).await?;
        let total = ends.last().copied().unwrap_or(0);
        if total == 0 {
            return Ok(());
        }
        check_collected(&self.w.map, dest, total)?;
        let first = |member: usize| member.checked_sub(1).map_or(0, |before| ends[before]);
        let net = self.net(1, Kind::Collect, 0);
        // SAFETY: checked here and by the caller.
        let (all, mine) = unsafe { (object(dest, total), object(source, bytes)) };
        all.copy_from(first(net.me()), &mine);
        let (forced, shape) = (&self.w.algorithms, shape(total, &net));
        let algorithm = match self.event {
            None => HOSTS_FCOLLECT.choose(forced, &shape),
            // The step that knows the sizes of a nonblocking one may be in any call, and is told to nobody.
            Some(_) => HOSTS_FCOLLECT.pick(forced, &shape).0,
        };
        algorithm(&net, &all, &first).await
    }

    /// Some words of each member, in order, in a part of the collective.
    pub async fn words(&self, part: u32, kind: Kind, mine: &[u64]) -> Result<Vec<u64>, Fault> {
        let net = self.net(part, kind, 0);
        let bytes = size_of_val(mine);
        let mut all = Buffer::new(bytes * net.size());
        let object = all.object();
        for (i, word) in mine.iter().enumerate() {
            object.write(bytes * net.me() + 8 * i, &word.to_le_bytes());
        }
        gather(&net, &object, &object, &|member| member * bytes, By::Messages, false).await?;
        Ok(all.bytes().as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// As [`Self::words`], for member `to` alone; the others have none of them.
    pub async fn words_for(&self, part: u32, kind: Kind, to: usize, mine: &[u64]) -> Result<Vec<u64>, Fault> {
        let peers = self.net(part, kind, 0);
        let net: &dyn Net = &peers;
        let step = step(Phase::First, 0, 0);
        let own: Vec<u8> = mine.iter().flat_map(|word| word.to_le_bytes()).collect();
        if self.me != to {
            net.send(to, step, &own)?;
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; own.len() * net.size()];
        for (member, place) in bytes.chunks_exact_mut(own.len()).enumerate() {
            if member == to {
                place.copy_from_slice(&own);
            } else {
                net.receive(member, step, place).await?;
            }
        }
        Ok(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// Some words of member `from` for each of the members `to`, in a part of the collective, which it and they call;
    /// `of` gives those of one. The others' are left as they are.
    pub async fn hand_out<const N: usize>(
        &self,
        part: u32,
        kind: Kind,
        from: usize,
        to: &[usize],
        of: impl Fn(usize) -> [u64; N],
    ) -> Result<[u64; N], Fault> {
        let peers = self.net(part, kind, 0);
        let net: &dyn Net = &peers;
        let mut mine = [0; N];
        let step = step(Phase::First, 0, 0);
        if self.me == from {
            for (i, member) in to.iter().enumerate() {
                if *member == from {
                    mine = of(i);
                } else {
                    net.send(*member, step, &of(i).map(u64::to_le_bytes).concat())?;
                }
            }
        } else {
            let mut bytes = vec![0; 8 * N];
            net.receive(from, step, &mut bytes).await?;
            mine = std::array::from_fn(|i| u64::from_le_bytes(bytes.as_chunks().0[i]));
        }
        Ok(mine)
    }

    /// Block `i` of each member's `source` to member `i`.
    pub async fn alltoall(&self, dest: *mut u8, source: *const u8, bytes: usize) -> Result<(), Fault> {
        let (me, size) = (self.me, self.pes.size());
        let total = bytes * size;
        // SAFETY: checked by the caller.
        let (to, from) = unsafe { (object(dest, total), object(source, total)) };
        let data = self.net(1, Kind::Alltoall, bytes);
        let shape = Shape { bytes, members: size, remote: size, ..Shape::default() };
        let algorithm = HOSTS_ALLTOALL.choose(&self.w.algorithms, &shape);
        if algorithm.synchronizes {
            self.barrier().await?;
        }
        if algorithm.local_copies {
            to.copy_from(me * bytes, &from.part(me * bytes, bytes));
        }
        (algorithm.exchange)(&data, 0..0, &to, &from, bytes).await?;
        if algorithm.synchronizes {
            dissemination(&self.net(2, Kind::Alltoall, bytes)).await?;
        }
        Ok(())
    }

    /// As [`Self::alltoall`], strided.
    pub async fn alltoalls(&self, dest: *mut u8, source: *const u8, shape: Strided) -> Result<(), Fault> {
        let Strided { dst, sst, nelems, elem } = shape;
        // SAFETY: checked by the caller for the extents of all blocks.
        unsafe { block(dest, source, dst, sst, nelems, elem, self.me, self.me) };
        shape.inter_host(&self.net(0, Kind::Alltoalls, nelems * elem), 0..0, dest, source).await
    }

    /// Combines the elements of all members into `dest` on each.
    pub async fn reduce(&self, dest: *mut u8, source: *const u8, nelems: usize, kernel: Kernel) -> Result<(), Fault> {
        let bytes = nelems * kernel.elem;
        let net = self.net(0, Kind::Reduce, bytes);
        if dest.cast_const() != source {
            // SAFETY: checked by the caller.
            unsafe { copy(dest, source, bytes) };
        }
        // SAFETY: as above.
        let all = unsafe { object(dest, bytes) };
        reduce::inter_host(&net, self.w, &all, kernel).await
    }
}
