//! The difference, divided up by who did what.

use std::collections::{BTreeMap, BTreeSet};

use pellucid_profile::size::size_class;

use super::lost::{Excess, Lost, lost};
use super::parts::{Parts, Sized, parts};
use super::times::{Deed, Rows, Times, difference};
use super::{Cause, What};

/// All that a PE may do: calls from each site, time outside the library in each region.
pub fn deeds(rows: &Rows<'_>, old: &Times, now: &Times) -> Vec<Deed> {
    let regions: BTreeSet<&String> = old.own.keys().chain(now.own.keys()).map(|(region, _)| region).collect();
    let mut deeds: Vec<Deed> = (0..rows.pairs.len()).map(Deed::Row).collect();
    deeds.extend(regions.into_iter().map(|region| Deed::Own(region.clone())));
    deeds
}

/// What late PEs did longer than the others and what is charged for it, and what is left of waiting: row, late PE,
/// time.
type Charges = (BTreeMap<(Deed, u32), f64>, Vec<(usize, u32, f64)>);

fn charges(lost: &Lost, excess: &Excess, pes: &BTreeSet<u32>) -> Charges {
    let (mut charges, mut waits) = (BTreeMap::new(), Vec::new());
    for &pe in pes {
        let at: Vec<(usize, f64)> = lost
            .iter()
            .filter(|((_, late), ns)| *late == pe && **ns != 0.0)
            .map(|((row, _), ns)| (*row, *ns))
            .collect();
        // A sum of nothing has a sign, too.
        if at.is_empty() {
            continue;
        }
        let whole_lost: f64 = at.iter().map(|(_, lost)| lost).sum();
        // Whoever takes so much longer makes each of the others wait as long at most.
        let others = pes.len().saturating_sub(1) as f64;
        let shares = excess.of(pe, whole_lost.signum());
        let whole: f64 = shares.iter().map(|(_, excess)| excess).sum();
        let explained = whole_lost.abs().min(whole.abs() * others).copysign(whole_lost);
        for (deed, excess) in shares {
            *charges.entry((deed, pe)).or_default() += explained * excess / whole;
        }
        let left = if whole_lost == 0.0 { 1.0 } else { 1.0 - explained / whole_lost };
        waits.extend(at.into_iter().map(|(row, lost)| (row, pe, lost * left)).filter(|(_, _, lost)| *lost != 0.0));
    }
    (charges, waits)
}

/// Divides up the whole difference; the parts add up to it.
pub fn divide(rows: &Rows<'_>, old: &Times, now: &Times, pes: &BTreeSet<u32>) -> Vec<(Deed, Cause)> {
    let deeds = deeds(rows, old, now);
    let excess = Excess::new(rows, &deeds, old, now, pes);
    let lost = lost(rows, old, now, pes, &excess);
    let (charges, waits) = charges(&lost, &excess, pes);
    let mut found = Vec::new();
    for deed in &deeds {
        let alone: Vec<u32> = pes.iter().copied().filter(|&pe| charges.contains_key(&(deed.clone(), pe))).collect();
        let rest: Vec<u32> = pes.iter().copied().filter(|pe| !alone.contains(pe)).collect();
        for pe in alone {
            let waited = charges[&(deed.clone(), pe)];
            found.push((deed.clone(), late_cause(rows, deed, parts_of(deed, old, now, &[pe]), pe, waited, &lost)));
        }
        let mut cause = cause(rows, deed, parts_of(deed, old, now, &rest));
        // What was lost there is charged elsewhere.
        cause.parts.cost -= lost_at(&lost, deed);
        found.push((deed.clone(), cause));
    }
    for (row, pe, lost) in waits {
        let deed = Deed::Row(row);
        let cause = cause(rows, &deed, Parts { cost: lost, ..Parts::default() });
        found.push((deed, Cause { what: What::Wait, late_pe: Some(pe), waited_ns: lost, ..cause }));
    }
    found
}

/// What all PEs lost at a site.
pub fn lost_at(lost: &Lost, deed: &Deed) -> f64 {
    match deed {
        Deed::Row(row) => lost.range((*row, 0)..=(*row, u32::MAX)).map(|(_, ns)| ns).sum(),
        Deed::Own(_) => 0.0,
    }
}

/// The parts of a deed over some PEs.
fn parts_of(deed: &Deed, old: &Times, now: &Times, pes: &[u32]) -> Parts {
    let Deed::Row(row) = deed else {
        let cost = pes.iter().map(|&pe| difference(deed, old, now, pe)).sum();
        return Parts { cost, ..Parts::default() };
    };
    let by_size = |times: &Times| {
        let mut sizes: BTreeMap<usize, Sized> = BTreeMap::new();
        for (calls, bytes, ns) in pes.iter().filter_map(|&pe| times.cells.get(&(*row, pe))) {
            let each = if *calls > 0.0 { (bytes / calls).round() as usize } else { 0 };
            let sum = sizes.entry(size_class(each)).or_default();
            *sum = (sum.0 + calls, sum.1 + ns);
        }
        sizes
    };
    parts(&by_size(old), &by_size(now))
}

fn late_cause(rows: &Rows<'_>, deed: &Deed, mut parts: Parts, pe: u32, waited: f64, lost: &Lost) -> Cause {
    // Others waited for the same reason for which it took longer.
    let charge = if parts.count.abs() > parts.cost.abs() {
        Parts { count: waited, ..Parts::default() }
    } else {
        Parts { cost: waited, ..Parts::default() }
    };
    parts.add(charge);
    let of_pe = lost.iter().filter(|((_, late), _)| *late == pe);
    let most = of_pe.max_by(|a, b| (a.1 * waited.signum()).total_cmp(&(b.1 * waited.signum())));
    let place = most.and_then(|((row, _), _)| rows.site(*row));
    let waited_at = place.map(|key| (key.op.clone(), key.place.shown()));
    Cause { what: What::Late, late_pe: Some(pe), waited_ns: waited, waited_at, ..cause(rows, deed, parts) }
}

fn cause(rows: &Rows<'_>, deed: &Deed, parts: Parts) -> Cause {
    let mut cause = Cause {
        what: What::Call,
        op: String::new(),
        site: String::new(),
        shown: String::new(),
        region: String::new(),
        late_pe: None,
        parts,
        waited_ns: 0.0,
        waited_at: None,
        agree: 1.0,
        is_meeting: matches!(deed, Deed::Row(row) if rows.is_meeting(*row)),
    };
    match deed {
        Deed::Own(region) => (cause.what, cause.region) = (What::Own, region.clone()),
        Deed::Row(row) => {
            if let Some(key) = rows.site(*row) {
                cause.op = key.op.clone();
                cause.site = key.place.one_function().unwrap_or_default().to_owned();
                cause.shown = key.place.shown();
                cause.region = key.region.clone();
            }
        }
    }
    cause
}
