//! Whatever the numbers are, the parts add up to the difference.

use std::collections::BTreeMap;

use super::parts::parts;
use super::*;
use crate::compare::Amount;
use crate::compare::place::Place;
use crate::compare::run::{Cell, SiteKey};
use crate::compare::verdict::Comparison;

#[test]
fn a_site_divides_up() {
    let base = BTreeMap::from([(4, (10.0, 100.0))]);
    // Twice as many calls, as fast as before.
    assert_eq!(parts(&base, &BTreeMap::from([(4, (20.0, 200.0))])), Parts { count: 100.0, ..Parts::default() });
    // As many, twice as slow.
    assert_eq!(parts(&base, &BTreeMap::from([(4, (10.0, 200.0))])), Parts { cost: 100.0, ..Parts::default() });
    // Large ones in place of small ones: neither number nor cost of a size changed.
    let two = BTreeMap::from([(4, (10.0, 100.0)), (9, (10.0, 900.0))]);
    let shifted = BTreeMap::from([(4, (5.0, 50.0)), (9, (15.0, 1350.0))]);
    assert_eq!(parts(&two, &shifted), Parts { mix: 400.0, ..Parts::default() });
    assert_eq!(parts(&BTreeMap::new(), &base).count, 100.0);
    assert_eq!(parts(&base, &BTreeMap::new()).count, -100.0);
}

fn key(op: &str, function: &str, region: &str) -> SiteKey {
    let place = Place { function: function.into(), file: "a.c".into(), line: 1, address: 0 };
    SiteKey { op: op.into(), place, region: region.into() }
}

const OPS: [&str; 5] =
    ["shmem_barrier_all", "shmem_long_put", "shmem_getmem", "shmem_long_sum_reduce", "shmem_long_wait_until"];

fn random_run(random: &mut fastrand::Rng, pes: u32) -> Run {
    let mut run = Run::default();
    for (at, op) in OPS.iter().enumerate() {
        for function in ["f", "g"] {
            if random.u8(..4) == 0 {
                continue;
            }
            let site = key(op, function, ["", "solve"][at % 2]);
            run.keys.push(site.clone());
            for pe in 0..pes {
                let amount = Amount { calls: random.u64(0..9), bytes: random.u64(0..9) * 64 };
                run.sites.entry(site.clone()).or_default().add(amount);
                run.cells.insert((run.keys.len() - 1, pe), Cell { amount, ns: random.u64(0..1_000_000) });
                if at % 3 == 0 {
                    run.late.insert((site.clone(), pe), (1, random.u64(0..400_000)));
                }
            }
        }
    }
    for _ in 0..random.u32(0..9) {
        let pair = (random.u8(..3), random.u32(..pes), random.u32(..pes));
        run.pairs.insert(pair, Amount { calls: 1, bytes: 8 });
    }
    for region in ["", "solve"] {
        for pe in 0..pes {
            run.own.insert((region.into(), pe), random.i64(-1000..5_000_000));
        }
    }
    run
}

#[test]
fn the_parts_add_up_to_the_difference() {
    let mut random = fastrand::Rng::with_seed(17);
    for round in 0..400 {
        let pes = random.u32(1..6);
        let mut runs = |n: usize| -> Vec<Run> { (0..n).map(|_| random_run(&mut random, pes)).collect() };
        let (base, new) = (runs(1 + round % 3), runs(1 + round % 3));
        let (base, new): (Vec<&Run>, Vec<&Run>) = (base.iter().collect(), new.iter().collect());
        let (old, now) = (Side::of(&base), Side::of(&new));
        let rows = Rows::new(&old, &now);
        let (before, after) = (rows.times(0, &base), rows.times(1, &new));
        let all = (0..pes).collect();
        let found = divide(&rows, &before, &after, &all);
        let sum: f64 = found.iter().map(|(_, cause)| cause.parts.sum()).sum();
        let causes = find(&base, &new, &old, &now);
        let scale = causes.base_ns.abs().max(causes.delta_ns.abs()).max(1.0);
        assert!((sum - causes.delta_ns).abs() <= 1e-9 * scale, "round {round}: {sum} of {}", causes.delta_ns);
        let shown: f64 = causes.rows.iter().map(|cause| cause.parts.count + cause.parts.cost + cause.parts.mix).sum();
        assert!((shown + causes.others_ns - causes.delta_ns).abs() <= 1e-9 * scale);
    }
}

/// Four PEs; what each takes in a get, and at the barrier where the last is waited for.
fn stencil(get_ns: [u64; 4]) -> Run {
    let mut run = Run {
        keys: vec![key("shmem_getmem", "halo_exchange", ""), key("shmem_barrier_all", "step", "")],
        ..Run::default()
    };
    let last = get_ns.iter().max().copied().unwrap_or(0);
    for (pe, ns) in (0..4).zip(get_ns) {
        let amount = Amount { calls: 10, bytes: 640 };
        run.cells.insert((0, pe), Cell { amount, ns });
        run.cells.insert((1, pe), Cell { amount: Amount { calls: 10, bytes: 0 }, ns: 1000 + last - ns });
        run.own.insert((String::new(), pe), 5_000_000);
        if ns == last {
            let lost = get_ns.iter().map(|ns| last - ns).sum();
            run.late.insert((run.keys[1].clone(), pe), (10, lost));
        }
    }
    run.sites = run.keys.iter().map(|key| (key.clone(), Amount { calls: 40, bytes: 0 })).collect();
    run
}

#[test]
fn a_late_pe_is_charged_with_what_made_it_late() {
    let (base, new) = (stencil([100, 100, 100, 120]), stencil([100, 100, 100, 40_000_120]));
    let (old, now) = (Side::of(&[&base]), Side::of(&[&new]));
    let causes = find(&[&base], &[&new], &old, &now);
    let first = &causes.rows[0];
    assert_eq!((first.what, first.op.as_str(), first.site.as_str()), (What::Late, "shmem_getmem", "halo_exchange"));
    assert_eq!(first.late_pe, Some(3));
    assert_eq!(causes.delta_ns, 160_000_000.0);
    assert!(first.parts.sum() >= 0.9 * causes.delta_ns, "{first:?}");
    assert_eq!(first.waited_at.as_ref().map(|at| at.0.as_str()), Some("shmem_barrier_all"));
}

#[test]
fn few_pairs_have_no_causes_for_people() {
    for (pairs, is_told) in [(1, false), (4, false), (5, true)] {
        let runs = |last: u64| -> Vec<Run> { (0..pairs).map(|_| stencil([100, 100, 100, last])).collect() };
        let (base, new) = (runs(120), runs(40_000_120));
        let (base, new): (Vec<&Run>, Vec<&Run>) = (base.iter().collect(), new.iter().collect());
        let causes = find(&base, &new, &Side::of(&base), &Side::of(&new));
        let found = Comparison { causes, ..Comparison::default() };
        for page in [crate::outline::text::page(&found), crate::outline::markdown::comment(&found, "id")] {
            assert_eq!(page.contains("PE 3: "), is_told, "{pairs} pairs: {page}");
            assert_ne!(page.contains("takes 5 pairs of runs or more"), is_told, "{pairs} pairs: {page}");
        }
    }
}

/// A function that has another name takes no time away and brings none: what takes longer is the first row.
#[test]
fn what_was_moved_is_no_cause() {
    let run = |function: &str, get_ns: u64| {
        let mut run = stencil([get_ns; 4]);
        let site = key("shmem_barrier_all", function, "");
        run.sites.remove(&run.keys[1]);
        run.sites.insert(site.clone(), Amount { calls: 40, bytes: 0 });
        run.late = run.late.into_iter().filter(|((key, _), _)| *key != run.keys[1]).collect();
        run.keys[1] = site;
        run.cells.iter_mut().filter(|((at, _), _)| *at == 1).for_each(|(_, cell)| cell.ns = 30_000_000);
        run
    };
    let (base, new) = (run("step", 1_000_000), run("advance", 3_000_000));
    let causes = find(&[&base], &[&new], &Side::of(&[&base]), &Side::of(&[&new]));
    let rows: Vec<(&str, f64)> = causes.rows.iter().map(|row| (row.op.as_str(), row.parts.sum())).collect();
    assert_eq!(rows, [("shmem_getmem", 8_000_000.0)]);
    // In the new function it takes longer, which is what calls cost.
    let mut slow = run("advance", 1_000_000);
    slow.cells.iter_mut().filter(|((at, _), _)| *at == 1).for_each(|(_, cell)| cell.ns = 31_000_000);
    let causes = find(&[&base], &[&slow], &Side::of(&[&base]), &Side::of(&[&slow]));
    let [row] = &causes.rows[..] else { panic!("{causes:?}") };
    assert_eq!((row.site.as_str(), row.parts), ("advance", Parts { cost: 4_000_000.0, ..Parts::default() }));
}

/// A pipeline: each PE computes, then waits for its left neighbour's flag. What PE 1 takes longer for its get is
/// waited for by PE 2, and PE 3 waits for PE 2, which does nothing longer itself.
#[test]
fn who_waits_for_a_flag_is_charged_to_the_pe_that_was_late() {
    let pipeline = |get_ns: u64, waits: [u64; 4]| {
        let keys = vec![key("shmem_getmem", "load", ""), key("shmem_long_wait_until", "receive", "")];
        let mut run = Run { keys, ..Run::default() };
        for (pe, wait) in (0..4).zip(waits) {
            let amount = Amount { calls: 10, bytes: 640 };
            run.cells.insert((0, pe), Cell { amount, ns: if pe == 1 { get_ns } else { 1000 } });
            run.cells.insert((1, pe), Cell { amount: Amount { calls: 10, bytes: 0 }, ns: wait });
            run.own.insert((String::new(), pe), 5_000_000);
            if pe > 0 {
                run.pairs.insert((0, pe - 1, pe), Amount { calls: 10, bytes: 80 });
            }
        }
        run.sites = run.keys.iter().map(|key| (key.clone(), Amount { calls: 40, bytes: 0 })).collect();
        run
    };
    let (base, new) = (pipeline(1000, [0, 500, 500, 500]), pipeline(30_001_000, [0, 500, 30_000_500, 30_000_500]));
    let causes = find(&[&base], &[&new], &Side::of(&[&base]), &Side::of(&[&new]));
    let first = &causes.rows[0];
    assert_eq!((first.what, first.op.as_str(), first.late_pe), (What::Late, "shmem_getmem", Some(1)), "{causes:?}");
    assert_eq!((first.parts.sum(), first.waited_ns, causes.delta_ns), (90_000_000.0, 60_000_000.0, 90_000_000.0));
    assert_eq!(first.waited_at.as_ref().map(|at| at.0.as_str()), Some("shmem_long_wait_until"));
}

/// 5 % more time in one region, runs that differ by 3 %: the region is the first row in each of 200 trials of 20 pairs.
#[test]
fn the_region_that_takes_longer_is_named() {
    let mut random = fastrand::Rng::with_seed(8);
    let mut one = |factor: f64| {
        let mut run = stencil([100, 100, 100, 100]);
        for pe in 0..4 {
            let noise = 0.03 * ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0);
            run.own.insert(("solve".into(), pe), (60_000_000.0 * factor * noise.exp()) as i64);
            run.own.insert(("exchange".into(), pe), (20_000_000.0 * noise.exp()) as i64);
        }
        run
    };
    for trial in 0..200 {
        let base: Vec<Run> = (0..20).map(|_| one(1.0)).collect();
        let new: Vec<Run> = (0..20).map(|_| one(1.05)).collect();
        let (base, new): (Vec<&Run>, Vec<&Run>) = (base.iter().collect(), new.iter().collect());
        let causes = find(&base, &new, &Side::of(&base), &Side::of(&new));
        let first = causes.rows.first().map(|cause| (cause.what, cause.region.as_str()));
        assert_eq!(first, Some((What::Own, "solve")), "trial {trial}: {causes:?}");
    }
}
