//! Routines of which samples have call sites and peers: where their calls come from and go to is not known exactly, so
//! they are compared in all.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pellucid_profile::op;
use pellucid_profile::segment::peers::transfer;

use super::Amount;
use super::place::Place;
use super::run::{Run, SiteKey};

/// The runs of both sides, comparable: each routine whose sites are sampled in one of them has one site in all. `None`
/// where there is none; else with a note that says so.
pub fn comparable(base: &[&Run], new: &[&Run]) -> Option<([Vec<Run>; 2], String)> {
    let sampled: BTreeSet<String> = base.iter().chain(new).flat_map(|run| run.sampled_sites.iter().cloned()).collect();
    let names: Vec<&str> = sampled.iter().map(String::as_str).collect();
    let note = format!(
        "calls of {} by site and pair are those of samples: they are compared in all (SHMEM_PROFILE_SITES=exact counts \
         each)",
        names.join(", ")
    );
    let sides = || [base, new].map(|runs| runs.iter().map(|run| in_all(run, &sampled)).collect());
    (!sampled.is_empty()).then(|| (sides(), note))
}

/// A run in which these routines have one site, outside of all regions, and nothing of its traffic by pair but who sent
/// to whom.
fn in_all(run: &Run, sampled: &BTreeSet<String>) -> Run {
    let of = |key: &SiteKey| match sampled.contains(&key.op) {
        true => SiteKey { op: key.op.clone(), place: Place::all(), region: String::new() },
        false => key.clone(),
    };
    let kinds: BTreeSet<u8> = sampled.iter().filter_map(|name| kind(name)).collect();
    let mut made =
        Run { sites: BTreeMap::new(), keys: Vec::new(), cells: BTreeMap::new(), late: BTreeMap::new(), ..run.clone() };
    for (key, amount) in &run.sites {
        made.sites.entry(of(key)).or_default().add(*amount);
    }
    for ((key, pe), (times, lost)) in &run.late {
        let sum = made.late.entry((of(key), *pe)).or_default();
        *sum = (sum.0 + times, sum.1 + lost);
    }
    let mut numbers: HashMap<SiteKey, usize> = HashMap::new();
    for ((number, pe), cell) in &run.cells {
        let number = *numbers.entry(of(&run.keys[*number])).or_insert_with_key(|key| {
            made.keys.push(key.clone());
            made.keys.len() - 1
        });
        let sum = made.cells.entry((number, *pe)).or_default();
        sum.amount.add(cell.amount);
        sum.ns = sum.ns.saturating_add(cell.ns);
    }
    made.pairs.iter_mut().filter(|(key, _)| kinds.contains(&key.0)).for_each(|(_, amount)| *amount = Amount::default());
    made
}

/// The kind of [`Run::pairs`] that a routine is of.
fn kind(name: &str) -> Option<u8> {
    let op = op::lookup(name).filter(|op| op::traits(*op) & op::TRANSFER != 0)?;
    u8::try_from(transfer(op)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::run::Cell;
    use crate::compare::verdict::{Rules, Verdict, compare};

    fn run(sites: &[(&str, &str, u64)], to_first: u64, sampled: &[&str]) -> Run {
        let amount = |calls| Amount { calls, bytes: 8 * calls };
        let key = |(op, function, _): &(&str, &str, u64)| SiteKey {
            op: (*op).to_owned(),
            place: Place { function: (*function).to_owned(), ..Place::default() },
            region: String::new(),
        };
        let cell = |(at, row): (usize, &(&str, &str, u64))| ((at, 0), Cell { amount: amount(row.2), ns: 10 * row.2 });
        Run {
            sites: sites.iter().map(|row| (key(row), amount(row.2))).collect(),
            keys: sites.iter().map(key).collect(),
            cells: sites.iter().enumerate().map(cell).collect(),
            pairs: BTreeMap::from([((0, 0, 1), amount(to_first)), ((1, 0, 1), amount(5))]),
            sampled_sites: sampled.iter().map(|op| (*op).to_owned()).collect(),
            ..Run::default()
        }
    }

    #[test]
    fn routines_with_sampled_sites_are_compared_in_all() {
        let exact = run(&[("shmem_long_p", "a", 60), ("shmem_long_p", "b", 40), ("shmem_long_g", "a", 5)], 100, &[]);
        let sites = [("shmem_long_p", "a", 70), ("shmem_long_p", "b", 30), ("shmem_long_g", "a", 5)];
        let sampled = run(&sites, 99, &["shmem_long_p"]);
        assert!(comparable(&[&exact], &[&exact]).is_none());
        let ([base, new], note) = comparable(&[&exact], &[&sampled]).unwrap();
        assert!(note.starts_with("calls of shmem_long_p by site and pair are those of samples: "), "{note}");
        assert_eq!((&base[0].sites, &base[0].pairs), (&new[0].sites, &new[0].pairs));
        assert_eq!(base[0].sites.values().map(|amount| amount.calls).collect::<Vec<_>>(), [5, 100]);
        assert_eq!(base[0].pairs.values().map(|amount| amount.calls).collect::<Vec<_>>(), [0, 5]);
        // All of the time is there, at the site that is compared.
        assert_eq!((base[0].keys.len(), base[0].cells.values().map(|cell| cell.ns).sum::<u64>()), (2, 1050));
        assert_eq!(compare(&[&exact], &[&sampled], false, &Rules::default()).verdict, Verdict::Ok);
        let more = run(&[("shmem_long_p", "a", 71), ("shmem_long_p", "b", 30), sites[2]], 99, &["shmem_long_p"]);
        let found = compare(&[&exact; 2], &[&more; 2], false, &Rules::default());
        let [row] = &found.counts.changed[..] else { panic!("{:?}", found.counts) };
        assert_eq!((found.verdict, row.key().as_str()), (Verdict::Regression, "shmem_long_p@*"));
        assert_eq!((row.shown.as_str(), &row.site), ("all places", &None));
        assert_eq!(found.notes, [note], "once, however many runs there are");
    }
}
