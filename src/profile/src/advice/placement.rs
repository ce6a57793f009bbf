//! Traffic between hosts that could stay on one, were the PEs placed otherwise.

use std::collections::BTreeMap;

use crate::merge::Merged;
use crate::op::Class;
use crate::report::{hosts, shown_bytes, shown_time};
use crate::size::Distance;

use super::{Case, Finding, have_pointers, run_ns, sum};

/// Share of the bytes to other hosts that has to be saved.
const SAVED: f64 = 0.25;
/// Share of the run that transfers have to take.
const DOMINATES: f64 = 0.10;
/// PEs among which a better placement is looked for.
const MOST: usize = 256;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let hosts = hosts(profile);
    let pes = profile.pes.len();
    // What goes between PEs of one host through pointers would go between hosts, were they placed otherwise.
    if hosts.len() < 2 || pes > MOST || profile.other_pairs.0 > 0 || have_pointers(profile) {
        return None;
    }
    let moves = |class| matches!(class, Class::Put | Class::Get | Class::Amo | Class::Signal | Class::Order);
    let (_, ns) = sum(profile, |r| moves(r.class));
    let far: u64 = profile.routines.iter().map(|r| r.bytes[Distance::Remote as usize]).fold(0, u64::saturating_add);
    if far == 0 || ns / run_ns(profile) < DOMINATES {
        return None;
    }
    let place: BTreeMap<u32, usize> =
        profile.pes.iter().filter_map(|pe| Some((pe.pe, hosts.iter().position(|host| *host == &*pe.host)?))).collect();
    let numbers: Vec<u32> = place.keys().copied().collect();
    let traffic = traffic(profile, &numbers);
    let now: Vec<usize> = place.values().copied().collect();
    let before = inter_host_bytes(&traffic, &now);
    let better = improved(&traffic, now.clone());
    let after = inter_host_bytes(&traffic, &better);
    let saved = (before - after) as f64 / (before as f64).max(1.0);
    let share = ns / run_ns(profile) * saved;
    if saved < SAVED {
        return None;
    }
    let on = |host: usize| -> String {
        let there = numbers.iter().zip(&better).filter(|(_, of)| **of == host).map(|(pe, _)| pe.to_string());
        there.take(8).collect::<Vec<_>>().join(", ")
    };
    Some(Finding {
        what: format!(
            "{} go between hosts, of which {} could stay on one",
            shown_bytes(before),
            shown_bytes(before - after)
        ),
        evidence: format!(
            "{} in transfers over all PEs; with PEs {} on one host, {} would go between hosts",
            shown_time(ns),
            on(better[0]),
            shown_bytes(after)
        ),
        try_this: "PEs that exchange most belong to one host: number the parts of the problem so that neighbours \
                   follow each other (hosts are filled one after the other), or name the hosts in another order",
        share,
    })
}

/// Bytes between each two PEs, in both directions.
fn traffic(profile: &Merged, numbers: &[u32]) -> Vec<Vec<u64>> {
    let mut bytes = vec![vec![0_u64; numbers.len()]; numbers.len()];
    for (from, to) in &profile.pairs {
        let places = (numbers.binary_search(from), to.pe.map(|pe| numbers.binary_search(&pe)));
        if let (Ok(a), Some(Ok(b))) = places {
            let all = to.all().bytes;
            bytes[a][b] = bytes[a][b].saturating_add(all);
            bytes[b][a] = bytes[b][a].saturating_add(all);
        }
    }
    bytes
}

fn inter_host_bytes(bytes: &[Vec<u64>], host: &[usize]) -> u64 {
    let pairs = (0..host.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.filter(|(a, b)| host[*a] != host[*b]).map(|(a, b)| bytes[a][b]).fold(0, u64::saturating_add)
}

/// Exchanges places of two PEs as long as that saves bytes: each host keeps as many as it has.
fn improved(bytes: &[Vec<u64>], mut host: Vec<usize>) -> Vec<usize> {
    // What each PE exchanges with each host.
    let hosts = host.iter().max().map_or(0, |last| last + 1);
    let mut with = vec![vec![0_i128; hosts]; host.len()];
    for (pe, with) in with.iter_mut().enumerate() {
        (0..host.len()).filter(|at| *at != pe).for_each(|at| with[host[at]] += i128::from(bytes[pe][at]));
    }
    for _ in 0..host.len() {
        let mut best = (0_i128, 0, 0);
        for a in 0..host.len() {
            for b in 0..a {
                if host[a] == host[b] {
                    continue;
                }
                let gain = with[a][host[b]] - with[a][host[a]] + with[b][host[a]]
                    - with[b][host[b]]
                    - 2 * i128::from(bytes[a][b]);
                best = best.max((gain, a, b));
            }
        }
        if best.0 <= 0 {
            break;
        }
        let (_, a, b) = best;
        for (pe, with) in with.iter_mut().enumerate() {
            for (one, other) in [(a, b), (b, a)] {
                if pe != one {
                    let exchanged = i128::from(bytes[pe][one]);
                    with[host[one]] -= exchanged;
                    with[host[other]] += exchanged;
                }
            }
        }
        host.swap(a, b);
    }
    host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_come_to_one_host() {
        // 0 with 2 and 1 with 3, where 0 and 1 are on one host.
        let mut bytes = vec![vec![0_u64; 4]; 4];
        for (a, b) in [(0, 2), (1, 3)] {
            (bytes[a][b], bytes[b][a]) = (100, 100);
        }
        (bytes[0][1], bytes[1][0]) = (10, 10);
        assert_eq!(inter_host_bytes(&bytes, &[0, 0, 1, 1]), 200);
        let better = improved(&bytes, vec![0, 0, 1, 1]);
        assert_eq!(inter_host_bytes(&bytes, &better), 10);
        assert_eq!(better.iter().filter(|host| **host == 0).count(), 2);
    }
}
