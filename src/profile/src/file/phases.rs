//! The section of phases: `u32` number of routines and their names; a row for each synchronisation, in their order; the
//! rows of those after the last ones, each with the `u64` end behind it.
//!
//! A row: `u32` place of the routine among the names (`u32::MAX`: the phase begins with the end of initialization),
//! `u64` return address, begin, time in the library.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list};
use crate::op;
use crate::tables::{LastPhase, PeTables, Phase};

/// What lies before the synchronisations, in their order, and after the last ones.
pub(super) const SECTION: Section = Section {
    tag: 18,
    is_there: |d| d.syncs.iter().any(|sync| sync.phase.begin_ns > 0) || !d.last_phases.is_empty(),
    encode,
    decode,
};

/// How much of the phases was in waits and locks; left out where nothing was.
pub(super) const WAITS: Section =
    Section { tag: 38, is_there: |d| waits(d).any(|ns| ns > 0), encode: encode_waits, decode: decode_waits };

fn encode(out: &mut Out, d: &PeTables) {
    let all = d.syncs.iter().map(|sync| sync.phase).chain(d.last_phases.iter().map(|last| last.phase));
    let mut ops: Vec<u16> = all.filter_map(|phase| Some(phase.from?.1)).collect();
    ops.sort_unstable();
    ops.dedup();
    out.list(&ops, |out, &op| out.text(op::get(op).map_or("", |row| row.name())));
    let row = |out: &mut Out, phase: Phase| {
        let (address, op) = phase.from.unwrap_or_default();
        let place = ops.binary_search(&op).map_or(u32::MAX, |at| at as u32);
        out.u32(if phase.from.is_some() { place } else { u32::MAX });
        [address, phase.begin_ns, phase.library_ns].into_iter().for_each(|n| out.u64(n));
    };
    out.list(&d.syncs, |out, sync| row(out, sync.phase));
    out.list(&d.last_phases, |out, last| {
        row(out, last.phase);
        out.u64(last.end_ns);
    });
}

fn decode(c: &mut Cursor<'_>, d: &mut PeTables) -> Result<(), ReadError> {
    let names = list(c, |c| c.text("a routine before a phase"))?;
    let ops: Vec<u16> = names.iter().map(|name| op::lookup(name).unwrap_or(u16::MAX)).collect();
    let phases = list(c, |c| row(c, &ops))?;
    // Those of synchronisations that were not kept, or not read, belong to nothing.
    if phases.len() == d.syncs.len() {
        d.syncs.iter_mut().zip(phases).for_each(|(sync, phase)| sync.phase = phase);
    }
    d.last_phases = list(c, |c| Ok(LastPhase { phase: row(c, &ops)?, end_ns: c.u64("the end of a phase")? }))?;
    Ok(())
}

fn row(c: &mut Cursor<'_>, ops: &[u16]) -> Result<Phase, ReadError> {
    let place = c.u32("a phase")?;
    let (address, begin_ns, library_ns) = (c.u64("a phase")?, c.u64("a phase")?, c.u64("a phase")?);
    let from = match place {
        u32::MAX => None,
        place => match ops.get(place as usize) {
            Some(&op) => Some((address, op)),
            None => return Err(c.corrupt(format!("a phase after routine {place} of {}", ops.len()))),
        },
    };
    Ok(Phase { from, begin_ns, library_ns, waits_ns: 0 })
}

/// The section of waits in phases, a list of `u64` nanoseconds: of those before synchronisations, before those that had
/// not returned, and of those after the last.
fn encode_waits(out: &mut Out, d: &PeTables) {
    let all: Vec<u64> = waits(d).collect();
    out.list(&all, |out, ns| out.u64(*ns));
}

fn waits(d: &PeTables) -> impl Iterator<Item = u64> {
    let syncs = d.syncs.iter().chain(&d.open_syncs).map(|sync| &sync.phase);
    syncs.chain(d.last_phases.iter().map(|last| &last.phase)).map(|phase| phase.waits_ns)
}

fn decode_waits(c: &mut Cursor<'_>, d: &mut PeTables) -> Result<(), ReadError> {
    let known = list(c, |c| c.u64("waits in a phase"))?;
    let syncs = d.syncs.iter_mut().chain(&mut d.open_syncs).map(|sync| &mut sync.phase);
    let phases: Vec<&mut Phase> = syncs.chain(d.last_phases.iter_mut().map(|last| &mut last.phase)).collect();
    // Where some were not read, it is not known whose they are.
    if phases.len() == known.len() {
        phases.into_iter().zip(known).for_each(|(phase, ns)| phase.waits_ns = ns);
    }
    Ok(())
}
