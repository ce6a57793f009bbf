//! Who waits for whom.
//!
//! A PE in a collective waits for those that are not in it; one that waits for a lock waits for its holder; one that
//! waits for a variable waits for a store that any PE may make. PEs that wait for each other in a ring will do so for
//! ever.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use super::{Object, PeNow, State, describe, is_collective, row};
use crate::op::{self, Class};
use crate::report::{NoSymbols, Symbols, team_name};
use crate::segment::{CurrentOp, Phase};
use crate::tables::{Lock, TeamKey, place_in};
use crate::text::pe_list;

/// PEs that are listed one by one.
const LISTED: usize = 16;
/// From when on a transfer waits: data take time, too.
const LONG_NS: u64 = 500_000_000;
/// From when on a PE is believed to be where it was seen: a look at many PEs is not one moment, and one that was seen
/// in a barrier may be in what comes after it when the next one is looked at.
const STANDS_NS: u64 = 100_000_000;

fn stands(thread: &CurrentOp) -> bool {
    thread.elapsed_ns.is_some_and(|ns| ns >= STANDS_NS)
}

/// What a PE waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum For {
    /// These PEs, which are not in the collective.
    Members {
        /// They.
        missing: Vec<u32>,
        /// Only some PEs may take part (a team or an active set): which is not known.
        perhaps: bool,
    },
    /// The holder of a lock; `None`: nobody is seen to hold it.
    Lock(Option<u32>),
    /// A store to a variable, by whomever.
    Store,
    /// The network, which has something under way to this PE.
    Answer(u32),
    /// The reply to an active message.
    Reply {
        /// Of whom.
        peer: u32,
        /// Of which handler.
        handler: u16,
        /// It is known not to have run.
        is_pending: bool,
    },
    /// A handler, which makes room in a queue.
    Handler {
        /// Of whom.
        peer: u32,
        /// Which.
        handler: u16,
    },
    /// An active message of whomever.
    Message {
        /// A request of this PE that may be without reply: to whom, for which handler, and whether that is known not to
        /// have run.
        asked: Option<(u32, u16, bool)>,
    },
    /// What another PE has to do in a collective of active messages.
    Part {
        /// Who.
        peer: u32,
        /// It is not known whether it is the collective that is waited for.
        perhaps: bool,
    },
    /// What is missing of a PE in an operation that has a handle.
    Request {
        /// Of whom, where it is known.
        peer: Option<u32>,
        /// The routine that began it, where it is known.
        of: Option<&'static str>,
    },
}

/// A PE that waits.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Who.
    pub pe: u32,
    /// Where.
    pub routine: &'static str,
    /// The object that it looks at, where there is one.
    pub object: Option<String>,
    /// What that is to be, and what it is: `sig == 7, is 0`.
    pub condition: Option<String>,
    /// For what.
    pub what: For,
}

/// A collective: its routine, and its team where that is known.
type Meeting = (&'static str, Option<TeamKey>);

/// Whether a PE is in a team.
fn is_member(team: TeamKey, pe: u32) -> bool {
    place_in(team, pe).is_some()
}

/// All that wait.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// By PE.
    pub waits: Vec<Wait>,
    /// Rings: each PE waits for the next one, the last for the first.
    pub cycles: Vec<Vec<u32>>,
    /// Collectives that PEs are in at the same time, where they are more than one.
    pub different: Vec<(String, Vec<u32>)>,
}

/// For each collective that PEs are in, the members that are not.
fn missing(pes: &[PeNow], collectives: &BTreeMap<Meeting, Vec<usize>>) -> BTreeMap<Meeting, Vec<u32>> {
    let of = |(meeting, members): (&Meeting, &Vec<usize>)| {
        let mut there = vec![false; pes.len()];
        members.iter().for_each(|&member| there[member] = true);
        let absent = pes.iter().zip(there).filter(|(_, there)| !there).map(|(pe, _)| pe.pe);
        (*meeting, absent.filter(|&pe| meeting.1.is_none_or(|team| is_member(team, pe))).collect())
    };
    collectives.iter().map(of).collect()
}

/// Collectives that PEs with a team in common are in at the same time, where they are more than one. One routine on two
/// teams is as many.
fn different(pes: &[PeNow], collectives: &BTreeMap<Meeting, Vec<usize>>) -> Vec<(String, Vec<u32>)> {
    let mut names: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for one @ (&(name, team), members) in collectives {
        let on_another = collectives.iter().any(|other| other.0.0 == name && differ(pes, one, other));
        if on_another || collectives.iter().any(|other| other.0.0 != name && have_a_pe(pes, team, other.0.1)) {
            let team = team.filter(|_| on_another).map(|team| format!(" of {}", team_name(team, pes.len() as u32)));
            let shown = format!("{name}{}", team.unwrap_or_default());
            names.entry(shown).or_default().extend(members.iter().map(|&index| pes[index].pe));
        }
    }
    if names.len() > 1 { names.into_iter().collect() } else { Vec::new() }
}

/// Whether different collectives on these teams may be a mistake: on teams that have no PE in common they are as they
/// should be.
fn have_a_pe(pes: &[PeNow], a: Option<TeamKey>, b: Option<TeamKey>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => pes.iter().any(|pe| is_member(a, pe.pe) && is_member(b, pe.pe)),
        _ => true,
    }
}

/// Whether of a routine's calls on two teams each lacks a PE that is in the other one: threads may be in both.
fn differ(pes: &[PeNow], a: (&Meeting, &Vec<usize>), b: (&Meeting, &Vec<usize>)) -> bool {
    let lacks = |here: &[usize], team: Option<TeamKey>, there: &[usize]| {
        let is_of = |index: &&usize| team.is_some_and(|team| is_member(team, pes[**index].pe));
        there.iter().filter(is_of).any(|index| !here.contains(index))
    };
    a.0.1 != b.0.1 && lacks(a.1, a.0.1, b.1) && lacks(b.1, b.0.1, a.1)
}

/// What a wait for messages is for.
fn message(thread: &CurrentOp) -> For {
    use op::gasnet::{Awaited, BLOCKUNTIL, NO_ROOM, POLL};
    match (thread.awaited(), thread.peer) {
        (Some((peer, Awaited::Part)), _) => For::Part { peer, perhaps: matches!(thread.op, POLL | BLOCKUNTIL) },
        (Some((peer, Awaited::Request { handler, .. })), _) if thread.op == NO_ROOM => For::Handler { peer, handler },
        (Some((peer, Awaited::Request { handler, is_pending, replies: true })), _) => {
            For::Reply { peer, handler, is_pending }
        }
        (Some((peer, Awaited::Request { handler, is_pending, .. })), _) => {
            For::Message { asked: Some((peer, handler, is_pending)) }
        }
        (None, Some(peer)) if thread.op == NO_ROOM => For::Answer(peer),
        _ => For::Message { asked: None },
    }
}

/// Calls that a PE is in.
fn inside(pe: &PeNow) -> Vec<CurrentOp> {
    let live = !matches!(pe.state, State::Ended | State::Finalized | State::Absent);
    pe.threads.iter().filter(|t| live && t.phase == Phase::Inside).cloned().collect()
}

/// The collectives among the calls of the PEs, and which PEs are in them.
fn collectives(threads: &[Vec<CurrentOp>], counts: impl Fn(&CurrentOp) -> bool) -> BTreeMap<Meeting, Vec<usize>> {
    let mut found: BTreeMap<Meeting, Vec<usize>> = BTreeMap::new();
    for (index, threads) in threads.iter().enumerate() {
        for thread in threads.iter().filter(|thread| counts(thread)) {
            let (class, name) = row(thread);
            if is_collective(class, name) {
                found.entry((name, thread.team)).or_default().push(index);
            }
        }
    }
    found
}

impl Waits {
    /// Finds out.
    pub fn find(pes: &[PeNow]) -> Waits {
        Self::find_at(pes, &NoSymbols)
    }

    /// As [`Self::find`], with the names of static objects.
    pub fn find_at(pes: &[PeNow], symbols: &dyn Symbols) -> Waits {
        let threads: Vec<Vec<CurrentOp>> = pes.iter().map(inside).collect();
        let collectives = collectives(&threads, |_| true);
        let mut holders: BTreeMap<Object, u32> = BTreeMap::new();
        for pe in pes {
            holders.extend(pe.locks.iter().filter_map(|&lock| pe.symmetric(lock)).map(|lock| (lock, pe.pe)));
        }
        let missing = missing(pes, &collectives);
        let (mut waits, mut next) = (Vec::new(), BTreeMap::new());
        for (pe, threads) in pes.iter().zip(&threads) {
            // While one of its threads is outside, that one may do what the others wait for.
            let all_are_inside = threads.len() == pe.threads.len();
            for thread in threads {
                let (class, routine) = row(thread);
                let addr = thread.addr.filter(|&addr| addr != 0);
                let what = match class {
                    _ if op::gasnet::waits_for_messages(thread.op) => message(thread),
                    Class::Wait if op::request::waits(thread.op) => {
                        let (peer, of) = thread.awaited_request().unwrap_or_default();
                        For::Request { peer, of }
                    }
                    Class::Wait => For::Store,
                    Class::Lock if Lock::is_waited_for_in(routine) => {
                        let lock = addr.and_then(|addr| pe.symmetric(addr));
                        For::Lock(lock.and_then(|lock| holders.get(&lock).copied()))
                    }
                    _ if is_collective(class, routine) => For::Members {
                        missing: missing.get(&(routine, thread.team)).cloned().unwrap_or_default(),
                        perhaps: thread.team.is_none() && !is_of_all(routine),
                    },
                    Class::Order | Class::Get | Class::Amo | Class::Put | Class::Signal => match thread.peer {
                        Some(peer) if thread.elapsed_ns.is_some_and(|ns| ns >= LONG_NS) => For::Answer(peer),
                        _ => continue,
                    },
                    _ => continue,
                };
                let shows_whom = op::gasnet::waits_for_messages(thread.op) || op::request::waits(thread.op);
                let has_object = matches!(class, Class::Wait | Class::Lock) && !shows_whom;
                let object = has_object.then_some(addr).flatten();
                let object = object.map(|addr| describe::object(pe, addr, symbols));
                let condition = thread.condition.as_ref().filter(|_| class == Class::Wait);
                let condition = condition.map(|it| it.shown(&describe::object(pe, it.addr, symbols)));
                let wait = Wait { pe: pe.pe, routine, object, condition, what };
                if stands(thread) && all_are_inside {
                    next.entry(wait.pe).or_insert_with(Vec::new).extend(wait.surely());
                }
                waits.push(wait);
            }
        }
        Waits { cycles: cycles(next), waits, different: different(pes, &self::collectives(&threads, stands)) }
    }

    /// The text of a report, a line a group of PEs that wait for the same.
    pub fn text(&self) -> String {
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        for wait in &self.waits {
            let phrase = wait.phrase();
            if !order.contains(&phrase) {
                order.push(phrase.clone());
            }
            groups.entry(phrase).or_default().push(wait.pe);
        }
        let mut text = String::new();
        for phrase in order {
            let pes = &groups[&phrase];
            let phrase = if pes.len() > 1 { phrase.replacen("waits", "wait", 1) } else { phrase };
            let _ = writeln!(text, "{} {phrase}", pe_list(pes));
        }
        if self.different.len() > 1 {
            let names: Vec<String> =
                self.different.iter().map(|(name, pes)| format!("{} in {name}", pe_list(pes))).collect();
            let _ = writeln!(text, "different collectives at the same time: {}", names.join(", "));
        }
        for cycle in &self.cycles {
            let ring: Vec<String> = cycle.iter().chain(cycle.first()).map(|pe| format!("PE {pe}")).collect();
            let _ = writeln!(text, "cycle: {}: none of them can go on", ring.join(" -> "));
        }
        text
    }
}

impl Wait {
    fn phrase(&self) -> String {
        let routine = self.routine;
        let object = self.object.as_ref().map(|object| format!(" ({object})")).unwrap_or_default();
        match &self.what {
            For::Members { missing, .. } if missing.is_empty() => format!("waits in {routine}, where all PEs are"),
            For::Members { missing, perhaps } => {
                let perhaps = if *perhaps { ", as far as they are members" } else { "" };
                format!("waits in {routine} for {}{perhaps}", pe_list(missing))
            }
            For::Lock(Some(holder)) => format!("waits in {routine}{object} for PE {holder}, which holds the lock"),
            For::Lock(None) => format!("waits in {routine}{object} for a lock that no PE is seen to hold"),
            For::Answer(peer) => format!("waits in {routine} for what is under way to PE {peer}"),
            For::Reply { peer, handler, is_pending } => {
                let pending = if *is_pending { ", which has not run it yet" } else { "" };
                format!("waits in {routine} for the reply of handler {handler} of PE {peer}{pending}")
            }
            For::Handler { peer, handler } => format!("waits in {routine} for PE {peer} to run handler {handler}"),
            For::Message { asked } => {
                let asked = asked.map(|(peer, handler, is_pending)| {
                    let has = if is_pending { "has not" } else { "may not have" };
                    format!("; PE {peer} {has} run handler {handler} yet")
                });
                format!("waits in {routine} for an active message of any PE{}", asked.unwrap_or_default())
            }
            For::Part { peer, perhaps } => {
                let perhaps = if *perhaps { ", perhaps" } else { "" };
                format!("waits in {routine}{perhaps} for PE {peer} in a collective")
            }
            For::Request { peer, of } => {
                let of = of.unwrap_or("an operation");
                let peer = peer.map(|peer| format!(" for PE {peer}")).unwrap_or_default();
                format!("waits in {routine} of {of}{peer}")
            }
            For::Store => match &self.condition {
                Some(condition) => format!("waits in {routine} for {condition}: a store by any PE"),
                None => format!("waits in {routine}{object} for a store by any PE"),
            },
        }
    }

    /// PEs that this one surely waits for.
    fn surely(&self) -> &[u32] {
        match &self.what {
            For::Members { missing, perhaps: false } => missing,
            For::Lock(Some(holder)) => std::slice::from_ref(holder),
            For::Reply { peer, is_pending: true, .. }
            | For::Request { peer: Some(peer), .. }
            | For::Handler { peer, .. }
            | For::Part { peer, perhaps: false } => std::slice::from_ref(peer),
            _ => &[],
        }
    }
}

/// Whether a collective is one of all PEs whatever its arguments.
fn is_of_all(routine: &str) -> bool {
    op::has(routine, op::OF_ALL | op::INITIALIZES | op::FINALIZES)
}

/// One shortest ring for each set of PEs that all wait for each other; `next`: for whom each one waits.
fn cycles(mut next: BTreeMap<u32, Vec<u32>>) -> Vec<Vec<u32>> {
    // Who waits for nobody that waits is in no ring.
    next.retain(|_, to| !to.is_empty());
    let mut cycles: Vec<Vec<u32>> = Vec::new();
    for &start in next.keys() {
        if cycles.iter().any(|cycle| cycle.contains(&start)) || cycles.len() >= LISTED {
            continue;
        }
        if let Some(cycle) = shortest(start, &next) {
            cycles.push(cycle);
        }
    }
    cycles
}

/// The shortest way from a PE back to itself.
fn shortest(start: u32, next: &BTreeMap<u32, Vec<u32>>) -> Option<Vec<u32>> {
    let mut from: BTreeMap<u32, u32> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(pe) = queue.pop_front() {
        for &to in next.get(&pe).map(Vec::as_slice).unwrap_or_default() {
            if to == start {
                let mut ring = vec![pe];
                while let Some(&before) = ring.last().and_then(|last| from.get(last)) {
                    ring.push(before);
                }
                ring.reverse();
                return Some(ring);
            }
            if to != start && next.contains_key(&to) && !from.contains_key(&to) {
                from.insert(to, pe);
                queue.push_back(to);
            }
        }
    }
    None
}
