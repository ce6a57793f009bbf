//! With `--check`: before a collective the members compare what they are about to do, down to its arguments.
//!
//! Without it only what their contributions say anyway is compared ([`super::contribution`]): which collective, and how
//! many bytes.

use super::contribution::{CollectiveCall, Kind, name, signature};
use super::hierarchical::InterHostCall;
use super::{Team, TeamView, World};
use crate::base::{Cause, Fault};
use crate::inter_host::{Net, Phase, step};
use crate::memory::Map;
use crate::request::uses::{self, Access, Use};
use crate::transport::SegmentId;
use pellucid_kernels::reduction::Kernel;
use std::sync::atomic::Ordering;

/// What a number in a call is, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arg {
    /// A number that users give, by its name.
    Number(&'static str),
    /// A symmetric object; see [`place`].
    Object(&'static str),
    /// The operation of a reduction or scan; see [`operation`].
    Op,
    /// Whether a meeting is a barrier; see [`meeting`].
    Meeting,
}

/// A call that all members must make alike.
#[derive(Debug)]
pub struct Compared<'a> {
    /// Which.
    pub kind: Kind,
    /// Arguments that must be the same; at most as many as a slot has words.
    pub args: &'a [(Arg, u64)],
}

/// Before a collective: a fault where a member is lost; compares the call with those of the other members, where
/// `SHMEM_DEBUG` asks for it. What `args` gives is worked out then only.
#[inline(always)]
pub fn check_matching<const N: usize>(
    w: &World,
    team: &Team,
    kind: Kind,
    args: impl FnOnce() -> [(Arg, u64); N],
) -> Result<(), Fault> {
    if w.map.alert.load(Ordering::Relaxed) { look(w, team, &Compared { kind, args: &args() }) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn look(w: &World, team: &Team, call: &Compared<'_>) -> Result<(), Fault> {
    if let Some(fault) = w.lost_member(team) {
        return Err(fault);
    }
    if w.map.check { compare(w, team, call) } else { Ok(()) }
}

fn compare(w: &World, team: &Team, call: &Compared<'_>) -> Result<(), Fault> {
    let words: Vec<u64> = call.args.iter().map(|(_, value)| *value).collect();
    let Some(hierarchy) = &team.hierarchy else { return compare_on_host(w, team, call, &words) };
    compare_on_host(w, &hierarchy.local, call, &words)?;
    compare_hosts(&InterHostCall::begin(w, team, hierarchy, signature(call.kind, 0))?, call, &words)
}

/// Each host's first member compares with the host before: when all are like their neighbours, all are alike.
fn compare_hosts(hosts: &InterHostCall<'_>, call: &Compared<'_>, words: &[u64]) -> Result<(), Fault> {
    if !hosts.leads() {
        return Ok(());
    }
    let peers = hosts.hosts()?;
    let (me, size) = (peers.me(), peers.size());
    let mine: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let (step, before) = (step(Phase::First, 0, 0), (me + size - 1) % size);
    peers.send((me + 1) % size, step, &mine)?;
    let mut theirs = vec![0; mine.len()];
    let net: &dyn Net = &peers;
    peers.run(net.receive(before, step, &mut theirs))?;
    let theirs = theirs.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or([0; 8])));
    call.same(theirs, peers.ranks.world(before))
}

/// Every member looks at every other.
fn compare_on_host(w: &World, team: &Team, call: &Compared<'_>, words: &[u64]) -> Result<(), Fault> {
    let exchange = CollectiveCall::start(TeamView { w, team }, signature(call.kind, 0))?;
    exchange.contribute(words);
    for pe in 0..team.size {
        let slot = exchange.slot_of(pe)?.map_err(|theirs| {
            let (mine, theirs) = (name(signature(call.kind, 0)).into(), name(theirs).into());
            Fault::from(Cause::Mismatch { mine, theirs, pe: team.world(pe) })
        })?;
        call.same(CollectiveCall::<TeamView<'_>>::words(slot).0.into_iter(), team.world(pe))?;
    }
    exchange.all_synchronized();
    exchange.done();
    Ok(())
}

impl Compared<'_> {
    /// Compares with the arguments of a PE, given by its world number.
    pub fn same(&self, theirs: impl Iterator<Item = u64>, pe: i32) -> Result<(), Fault> {
        match self.args.iter().zip(theirs).find(|((_, mine), theirs)| mine != theirs) {
            None => Ok(()),
            Some(((arg, mine), theirs)) => {
                let call = name(signature(self.kind, 0));
                let (mine, theirs) = (describe(call, *arg, *mine), describe(call, *arg, theirs));
                Err(Fault::from(Cause::Mismatch { mine, theirs, pe }))
            }
        }
    }
}

/// A call with one of its arguments, in words.
pub fn describe(call: &str, arg: Arg, value: u64) -> String {
    match arg {
        Arg::Number(name) => format!("{call} with {name} = {}", value as i64),
        Arg::Object(name) => match value >> 62 {
            HEAP => format!("{call} with {name} at byte {} of the symmetric heap", value & OFFSET),
            DATA => format!("{call} with {name} at byte {} of the static data", value & OFFSET),
            SPACE => format!("{call} with {name} at byte {} of a space", value & IN_SPACE),
            _ => format!("{call} with a {name} that is not symmetric"),
        },
        Arg::Op => format!("{call} by {}", name_operation(value)),
        Arg::Meeting if value == 0 => "a sync".into(),
        Arg::Meeting => "a barrier".into(),
    }
}

/// What a barrier shows, which completes stores, and what a sync shows, which does not.
pub fn meeting(completes: bool) -> [(Arg, u64); 1] {
    [(Arg::Meeting, u64::from(completes))]
}

/// What a reduction or scan does, to which elements.
pub fn operation(kernel: &Kernel) -> (Arg, u64) {
    (Arg::Op, kernel.op as u64 | (kernel.scalar as u64) << 8 | (kernel.elem as u64) << 16)
}

fn name_operation(value: u64) -> String {
    let name = |names: &[&'static str], index: u64| names.get((index & 0xff) as usize).copied().unwrap_or("unknown");
    format!("{} of {}-byte {}", name(&OPS, value), value >> 16, name(&SCALARS, value >> 8))
}

const SCALARS: [&str; 3] = ["integers", "reals", "complex numbers"];
const OPS: [&str; 7] = ["sum", "prod", "min", "max", "and", "or", "xor"];
const HEAP: u64 = 1;
const DATA: u64 = 2;
const SPACE: u64 = 3;
const OFFSET: u64 = (1 << 62) - 1;
/// Of an object in a space: its offset. Above is the number of the space.
const IN_SPACE: u64 = (1 << 46) - 1;

/// A symmetric address as a number that is the same on all PEs; 0 where it is not symmetric.
pub fn place<T>(m: &Map, addr: *const T) -> u64 {
    let (heap, data) = ((addr as usize).wrapping_sub(m.heap_base), (addr as usize).wrapping_sub(m.data_base));
    if heap < m.heap_len {
        HEAP << 62 | heap as u64
    } else if data < m.data_len {
        DATA << 62 | data as u64
    } else {
        place_in_space(m, addr as usize)
    }
}

/// As [`place`], of an object that is only read: constants of the executable, too, which lie as far from its data on
/// all PEs that run it.
pub fn place_of_source<T>(m: &Map, addr: *const T) -> u64 {
    match place(m, addr) {
        0 => (addr as u64).wrapping_sub(m.data_base as u64) & OFFSET,
        place => place,
    }
}

#[cold]
fn place_in_space(m: &Map, addr: usize) -> u64 {
    m.space_of(addr)
        .map_or(0, |(_, space)| SPACE << 62 | u64::from(space.segment.0) << 46 | (addr - space.base) as u64 & IN_SPACE)
}

/// The address of this PE that a [`place`] or [`place_of_source`] stands for; `None` where it is in a space that this
/// PE is no member of.
pub fn address(m: &Map, place: u64) -> Option<usize> {
    match place >> 62 {
        HEAP => Some(m.heap_base + (place & OFFSET) as usize),
        SPACE => {
            let number = SegmentId((place >> 46) as u16);
            let all = m.spaces?.all();
            let space = all.iter().find(|space| space.segment == number)?;
            Some(space.base + (place & IN_SPACE) as usize)
        }
        // Constants may be in front of the data.
        _ => Some(m.data_base.wrapping_add_signed(((place << 2) as i64 >> 2) as isize)),
    }
}

/// What a PE of this host has at a [`place`] or [`place_of_source`], where this PE reaches it.
///
/// Error: names `arg`, as that PE gave it.
pub fn memory_of(m: &Map, arg: &'static str, place: u64, bytes: usize, pe: i32) -> Result<*mut u8, Fault> {
    let Some(here) = address(m, place) else { return Err(foreign(m, arg, pe)) };
    m.remote(arg, here as *const u8, bytes, pe)
}

/// Memory of a PE that this one, which moves the bytes, does not reach.
#[cold]
fn foreign(m: &Map, arg: &str, pe: i32) -> Fault {
    let text = format!("{arg} of PE {pe} lies in a space that PE {} is no member of, which moves the bytes here", m.me);
    Fault::from(Cause::Message(text))
}

/// The arguments that most collectives have in common.
pub fn common_arguments(w: &World, dest: *const u8, source: *const u8, bytes: usize) -> [(Arg, u64); 3] {
    [
        (Arg::Number("bytes"), bytes as u64),
        (Arg::Object("dest"), place(&w.map, dest)),
        (Arg::Object("source"), place(&w.map, source)),
    ]
}

/// What a collect makes, once the sizes of all members are known, and before any of it is written: one object, with
/// `--check`.
pub fn check_collected(m: &Map, dest: *const u8, total: usize) -> Result<(), Fault> {
    if total == 0 {
        return Ok(());
    }
    if m.check {
        m.check_object("dest", dest as usize, total)?;
    }
    m.local("dest", dest, total).map(drop)
}

/// With `--check`: two objects of a call that must not share memory, unless they are one and the same and that is
/// allowed; nor with what an operation uses that is under way.
#[inline(always)]
pub fn check_overlap(
    m: &Map,
    dest: *const u8,
    dest_bytes: usize,
    source: *const u8,
    source_bytes: usize,
    in_place: bool,
) -> Result<(), Fault> {
    let (to, from) = (dest as usize, source as usize);
    if !m.check {
        return Ok(());
    }
    if uses::are_kept() {
        let (addr, bytes, access) = (from, source_bytes, Access::Read);
        let source = Use { arg: "source", pe: m.me, addr, bytes, access };
        uses::check([Use { arg: "dest", addr: to, bytes: dest_bytes, access: Access::Write, ..source }, source])?;
    }
    let disjoint = to.saturating_add(dest_bytes) <= from || from.saturating_add(source_bytes) <= to;
    if disjoint || (in_place && to == from) {
        return Ok(());
    }
    let objects = [("dest", to, dest_bytes), ("source", from, source_bytes)];
    Err(Fault::from(Cause::Overlap { objects, in_place }))
}
