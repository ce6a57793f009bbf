//! Reading which lines of which PE short calls go to.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::tables::written;
use crate::op;
use crate::order;
use crate::segment::Segment;
use crate::segment::layout::{RegionHead, Slot, symmetric};
use crate::segment::lines::peer;
use crate::tables::HotLine;

/// Lines that are kept of a PE.
const MOST: usize = 16;
/// Part of a PE's calls that a line has to have for certain.
const WORTH: f64 = 0.002;
/// Samples that a line has to have where they stand for other calls than themselves. One that met a page fault stands
/// for the time of a thousand of them, and would make any word that is used once look like one that all calls go to.
const SAMPLES: u64 = 3;

/// Reads the lines of all threads of a PE.
pub(crate) fn take<'a>(segment: &Segment, head: &RegionHead, slots: impl Iterator<Item = &'a Slot>) -> Vec<HotLine> {
    let get = |word: &AtomicU64| word.load(Relaxed);
    let memory = head.memory.each_ref().map(get);
    let mut lines: Vec<HotLine> = Vec::new();
    let mut all = 0_u64;
    for slot in slots {
        written(segment, &slot.tables.lines, |_, row| {
            let (key, calls) = (get(&row.key), get(&row.calls));
            let (Some(routine), true) = (op::get(get(&row.op) as u16), key != 0) else { return };
            let calls = calls.saturating_sub(get(&row.error));
            all = all.saturating_add(calls);
            let samples = get(&row.samples);
            if samples < SAMPLES.min(calls) {
                return;
            }
            let Some(object) = symmetric(memory, get(&row.address)) else { return };
            let line = HotLine { peer: peer(key), object, routine: routine.name().into(), calls, ns: get(&row.ns) };
            match lines.iter_mut().find(|known| known.is_like(&line)) {
                Some(known) => known.add(&line),
                None => lines.push(line),
            }
        });
    }
    lines.retain(|line| line.calls as f64 >= WORTH * all as f64);
    order::sort_by(&mut lines, |a, b| b.ns.cmp(&a.ns).then_with(|| (a.peer, a.object).cmp(&(b.peer, b.object))));
    lines.truncate(MOST);
    lines
}
