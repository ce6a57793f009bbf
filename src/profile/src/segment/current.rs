//! What each thread of a PE does now, or did last: for reports on PEs that died or hang.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::layout::{OWNER_NONE, Region, SLOTS, STATE_DONE, STATE_ENTERED, STATE_INSIDE, Slot, state_of};
use super::map::Segment;
use super::meetings::TEAMS;
use super::names::Module;
use super::phrase::object;
use super::sites::split_key;
use super::waiting::Condition;
use crate::op::{self, TOGETHER, traits};
use crate::order;
use crate::tables::TeamKey;
#[cfg(feature = "report")]
use crate::trace::{Unreturned, read::EventSite};

/// Where a thread is relative to its last recorded operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In the routine, or the PE died there.
    Inside,
    /// The routine has returned.
    Returned,
    /// The routine was entered. It is one of the short ones, whose return is not recorded.
    Entered,
}

/// The last recorded operation of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentOp {
    /// Thread id in the PE's process; 0 when the thread has exited.
    pub thread: u32,
    /// C name of the routine.
    pub routine: &'static str,
    /// Operation id.
    pub op: u16,
    /// Whether the thread is inside it.
    pub phase: Phase,
    /// World number of the peer; `None` where the call has none.
    pub peer: Option<u32>,
    /// Where it was called from: file and return address in it. For calls that are timed, while the thread is inside.
    pub site: Option<(String, u64)>,
    /// The team of a collective: number, first PE, stride, members.
    pub team: Option<TeamKey>,
    /// What a variable is waited for, in a long wait.
    pub condition: Option<Condition>,
    /// Address argument, for routines that are timed each call.
    pub addr: Option<u64>,
    /// Bytes, for routines that are timed each call.
    pub bytes: Option<u64>,
    /// When it was entered, in nanoseconds since the segment was created; for routines that are timed each call.
    pub start_ns: Option<u64>,
    /// How long ago that is, in nanoseconds; for routines that are timed each call. Of one that has returned: how long
    /// ago it did, where that is known.
    pub elapsed_ns: Option<u64>,
}

impl Segment {
    /// Words for where a PE is now, or was when it ended: that of its most telling thread; empty where it recorded
    /// nothing. `line` is that of [`CurrentOp::called_from`].
    pub fn place(&self, pe: u32, line: impl Fn(&str, u64) -> Option<String>) -> String {
        let current = self.current(pe).into_iter().next();
        current.map(|current| current.phrase(self.objects(pe)) + &current.called_from(line)).unwrap_or_default()
    }

    /// Names addresses of a PE: as objects in its symmetric memory, without those of its symbol table.
    pub(super) fn objects(&self, pe: u32) -> impl Fn(u64) -> String {
        let memory = self.region(pe).map(|region| region.head.memory.each_ref().map(|word| word.load(Relaxed)));
        move |addr| object(memory.unwrap_or_default(), addr)
    }

    /// The last operation of each thread of a PE: threads inside a routine first, then the most recent.
    ///
    /// Threads that have exited count only when no live one recorded anything. Threads beyond the segment's slots are
    /// not seen. Empty when the PE recorded nothing.
    pub fn current(&self, pe: u32) -> Vec<CurrentOp> {
        let Some(region) = self.region(pe) else { return Vec::new() };
        let now = self.scale().now();
        let used = region.slots[..SLOTS].iter().take(region.head.slots_used.load(Acquire) as usize);
        let mut all: Vec<CurrentOp> =
            used.filter_map(|slot| self.decode(region, slot, slot.head.owner.load(Relaxed), now)).collect();
        if all.iter().any(|c| c.thread != OWNER_NONE) {
            all.retain(|c| c.thread != OWNER_NONE);
        }
        order::sort_by_key(&mut all, |c| (c.phase != Phase::Inside, c.elapsed_ns.unwrap_or(u64::MAX)));
        all
    }

    /// The call that the thread of a slot was in when its PE ended, at `ended_ns` of this time line. Routines whose
    /// return is not recorded are not known to be such.
    #[cfg(feature = "report")]
    pub fn unreturned(&self, pe: u32, slot: u32, ended_ns: u64) -> Option<Unreturned> {
        let region = self.region(pe)?;
        let slot = region.slots[..SLOTS].get(slot as usize)?;
        let now =
            self.decode(region, slot, slot.head.owner.load(Relaxed), 0).filter(|now| now.phase == Phase::Inside)?;
        let begin = slot.head.current.start.load(Relaxed);
        let site = site(slot, now.op).and_then(|address| {
            let row = module(region, address)?;
            let (path, build_id) = (row.path.get().into(), row.build_id.get().into());
            Some(EventSite { path, build_id, address: address.wrapping_sub(row.base.load(Relaxed)) })
        });
        Some(Unreturned {
            thread: now.thread,
            op: now.op,
            peer: now.peer,
            addr: now.addr.unwrap_or(0),
            bytes: now.bytes.unwrap_or(0),
            team: now.team,
            site,
            ticks: [begin, self.ticks_at(ended_ns).max(begin)],
        })
    }

    fn decode(&self, region: &Region, slot: &Slot, thread: u32, now: u64) -> Option<CurrentOp> {
        let current = &slot.head.current;
        let word = current.word.load(Acquire);
        let phase = match state_of(word) {
            STATE_INSIDE => Phase::Inside,
            STATE_DONE => Phase::Returned,
            STATE_ENTERED => Phase::Entered,
            _ => return None,
        };
        let op = word as u16;
        let timed = phase != Phase::Entered;
        let start = current.start.load(Relaxed);
        Some(CurrentOp {
            thread,
            routine: op::get(op)?.name(),
            op,
            phase,
            peer: u32::try_from((word >> 32) as u32 as i32).ok(),
            site: (phase == Phase::Inside).then(|| site(slot, op)).flatten().and_then(|at| in_file(region, at)),
            team: timed.then(|| team(slot, op, (word >> 32) as i32)).flatten(),
            condition: (phase == Phase::Inside).then(|| slot.tables.waiting.read(start)).flatten(),
            addr: timed.then(|| current.addr.load(Relaxed)),
            bytes: timed.then(|| current.bytes.load(Relaxed)),
            start_ns: (timed && start != 0).then(|| self.since_start(start)),
            elapsed_ns: (timed && (start != 0 || phase == Phase::Returned))
                .then(|| self.scale().ns(now.saturating_sub(since(slot, phase, start)))),
        })
    }
}

/// When a call that began at `start` was entered; where it has returned, when that was, as far as it was noted.
fn since(slot: &Slot, phase: Phase, start: u64) -> u64 {
    let left = [&slot.tables.phase.left, &slot.tables.waited.left].map(|left| left.load(Relaxed)).into_iter().max();
    left.filter(|left| phase == Phase::Returned && *left > start).unwrap_or(start)
}

/// Where the timed call of this operation comes from.
fn site(slot: &Slot, op: u16) -> Option<u64> {
    let row = slot.tables.sites.get(slot.head.site.load(Relaxed) as usize)?;
    let (address, of, _) = split_key(row.key.load(Relaxed));
    (address != 0 && of == op).then_some(address)
}

/// The file that an address of the PE's process is from, and the address there.
pub(crate) fn in_file(region: &Region, address: u64) -> Option<(String, u64)> {
    let row = module(region, address)?;
    Some((row.path.get(), address.wrapping_sub(row.base.load(Relaxed))))
}

/// The loaded object that an address of the PE's process is in.
fn module(region: &Region, address: u64) -> Option<&Module> {
    let loaded = |row: &&Module| {
        let start = row.start.load(Acquire);
        start != 0 && (start..row.end.load(Relaxed)).contains(&address)
    };
    region.names.modules.iter().find(loaded)
}

/// The team that a call of all its PEs is on. `peer` is what was recorded: below -1 the row of the team, -1 the world.
fn team(slot: &Slot, op: u16, peer: i32) -> Option<TeamKey> {
    if traits(op) & TOGETHER == 0 || peer >= 0 {
        return None;
    }
    let at = if peer == -1 { 0 } else { usize::try_from(-2 - peer).ok()? };
    let row = slot.tables.teams[..TEAMS - 1].get(at)?;
    let get = |word: &std::sync::atomic::AtomicI32| word.load(Relaxed);
    let key = (row.id.load(Relaxed), get(&row.start), get(&row.stride), get(&row.size));
    (key.3 > 0).then_some(key)
}
