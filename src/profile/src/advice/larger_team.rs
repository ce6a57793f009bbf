//! Barriers of all PEs in a program whose PEs exchange data in groups only.

use crate::merge::Merged;
use crate::op::Class;
use crate::report::{shown_count, shown_time};

use super::{Case, Finding, busiest_share, costliest, have_pointers, run_ns, sum};

/// Share of the run that barriers have to take.
const DOMINATES: f64 = 0.10;
/// Barriers of a PE before they are many.
const MANY: u64 = 100;

fn is_of_all(name: &str) -> bool {
    name.ends_with("_barrier_all") || name.ends_with("_sync_all")
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let pes = profile.pes.len();
    let (calls, ns) = sum(profile, |r| r.class == Class::Barrier && is_of_all(&r.name));
    let (collectives, _) = sum(profile, |r| r.class == Class::Collective);
    // Nobody is faster by it than the PE that waits least.
    let share = (ns / run_ns(profile)).min(1.0 - busiest_share(profile));
    let many = calls / (pes as u64).max(1) >= MANY;
    // Data of all PEs needs a meeting of all, and who reads whose through pointers nobody knows.
    if have_pointers(profile) {
        return None;
    }
    if pes < 4 || !many || share < DOMINATES || collectives > calls / 100 || profile.other_pairs.0 > 0 {
        return None;
    }
    let groups = groups(profile)?;
    let (least, most) = (groups.iter().min()?, groups.iter().max()?);
    if groups.len() < 2 || *least < 2 {
        return None;
    }
    let size = if least == most { most.to_string() } else { format!("{least} to {most}") };
    Some(Finding {
        what: format!("barriers of all {pes} PEs, which exchange data in {} groups of {size} PEs only", groups.len()),
        evidence: format!(
            "{} in {} calls over all PEs{}",
            shown_time(ns),
            shown_count(calls),
            costliest(profile, is_of_all)
        ),
        try_this: "make a team of each group (shmem_team_split_strided, shmem_team_split_2d) and call \
                   shmem_team_sync on it: a PE then waits for its group, not for all",
        share,
    })
}

/// How many PEs each group of PEs has that put to, get from or update each other; `None` where some of that is not
/// known.
fn groups(profile: &Merged) -> Option<Vec<usize>> {
    let number: Vec<u32> = profile.pes.iter().map(|pe| pe.pe).collect();
    let mut group: Vec<usize> = (0..number.len()).collect();
    for (from, to) in &profile.pairs {
        let (from, to) = (number.binary_search(from).ok()?, number.binary_search(&to.pe?).ok()?);
        let (from, to) = (root(&mut group, from), root(&mut group, to));
        group[from.max(to)] = from.min(to);
    }
    let roots: Vec<usize> = (0..group.len()).map(|pe| root(&mut group, pe)).collect();
    let sizes = (0..group.len()).map(|root| roots.iter().filter(|other| **other == root).count());
    Some(sizes.filter(|&size| size > 0).collect())
}

fn root(group: &mut [usize], mut pe: usize) -> usize {
    while group[pe] != pe {
        group[pe] = group[group[pe]];
        pe = group[pe];
    }
    pe
}
