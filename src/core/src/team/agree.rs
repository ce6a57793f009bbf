//! With `--check`: before a collective the members compare what they are about to do, down to its arguments.
//!
//! Without it only what their posts say anyway is compared ([`super::post`]): which collective, and how many bytes.

use super::post::{Exchange, Kind, name, signature};
use super::{Present, Team, World};
use crate::base::{Cause, Fault};
use crate::memory::Map;

/// What a number in a call is, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arg {
    /// A number that users give, by its name.
    Number(&'static str),
    /// A symmetric object; see [`place`].
    Object(&'static str),
    /// An operation of a reduction.
    Op,
}

/// A call that all members must make alike.
#[derive(Debug)]
pub struct Call<'a> {
    /// Which.
    pub kind: Kind,
    /// Arguments that must be the same; at most as many as a post has words.
    pub args: &'a [(Arg, u64)],
}

/// Compares a call with those of the other members, where `SHMEM_DEBUG` asks for it.
#[inline(always)]
pub fn agree(w: &World, team: &Team, kind: Kind, args: &[(Arg, u64)]) -> Result<(), Fault> {
    if w.map.check { compare(w, team, &Call { kind, args }) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn compare(w: &World, team: &Team, call: &Call<'_>) -> Result<(), Fault> {
    let turn = Exchange::start(Present { w, team }, signature(call.kind, 0));
    let words: Vec<u64> = call.args.iter().map(|(_, value)| *value).collect();
    turn.show(&words);
    for pe in 0..team.size {
        let mismatch = |mine, theirs| Fault::from(Cause::Mismatch { mine, theirs, pe: team.world(pe) });
        let mine = name(signature(call.kind, 0));
        let post = turn.look(pe).map_err(|theirs| mismatch(mine.into(), name(theirs).into()))?;
        let theirs = Exchange::<Present<'_>>::words(post).0;
        if let Some(((arg, mine_value), theirs)) = call.args.iter().zip(theirs).find(|((_, a), b)| a != b) {
            return Err(mismatch(describe(mine, *arg, *mine_value), describe(mine, *arg, theirs)));
        }
    }
    turn.all_heard();
    turn.done();
    Ok(())
}

fn describe(call: &str, arg: Arg, value: u64) -> String {
    match arg {
        Arg::Number(name) => format!("{call} with {name} = {}", value as i64),
        Arg::Object(name) => match value >> 62 {
            HEAP => format!("{call} with {name} at byte {} of the symmetric heap", value & OFFSET),
            DATA => format!("{call} with {name} at byte {} of the static data", value & OFFSET),
            _ => format!("{call} with a {name} that is not symmetric"),
        },
        Arg::Op => format!("{call} by {}", OPS.get(value as usize).unwrap_or(&"an unknown operation")),
    }
}

const OPS: [&str; 7] = ["sum", "prod", "min", "max", "and", "or", "xor"];
const HEAP: u64 = 1;
const DATA: u64 = 2;
const OFFSET: u64 = (1 << 62) - 1;

/// A symmetric address as a number that is the same on all PEs; 0 where it is not symmetric.
pub fn place<T>(m: &Map, addr: *const T) -> u64 {
    let (heap, data) = ((addr as usize).wrapping_sub(m.heap_base), (addr as usize).wrapping_sub(m.data_base));
    if heap < m.heap_len {
        HEAP << 62 | heap as u64
    } else if data < m.data_len {
        DATA << 62 | data as u64
    } else {
        0
    }
}

/// The arguments that most collectives have in common.
#[inline(always)]
pub fn alike(w: &World, dest: *const u8, source: *const u8, bytes: usize) -> [(Arg, u64); 3] {
    if !w.map.check {
        return [(Arg::Op, 0); 3];
    }
    [
        (Arg::Number("bytes"), bytes as u64),
        (Arg::Object("dest"), place(&w.map, dest)),
        (Arg::Object("source"), place(&w.map, source)),
    ]
}

/// With `--check`: two objects of a call that must not share memory, unless they are one and the same and that is allowed.
#[inline(always)]
pub fn apart(
    m: &Map,
    dest: *const u8,
    dest_bytes: usize,
    source: *const u8,
    source_bytes: usize,
    in_place: bool,
) -> Result<(), Fault> {
    let (to, from) = (dest as usize, source as usize);
    let disjoint = to.saturating_add(dest_bytes) <= from || from.saturating_add(source_bytes) <= to;
    if !m.check || disjoint || (in_place && to == from) {
        return Ok(());
    }
    Err(Fault::from(Cause::Overlap { dest: to, dest_bytes, source: from, source_bytes, in_place }))
}
