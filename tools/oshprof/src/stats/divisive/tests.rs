//! Simulated series: how often changes are found, and how often what is none is called one.

use super::*;

fn noise(random: &mut fastrand::Rng) -> f64 {
    // Nearly normal: the sum of twelve.
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

#[test]
fn planted_changes_are_found_where_they_are() {
    let mut random = fastrand::Rng::with_seed(11);
    let level = |at: usize| match at {
        0..60 => 0.0,
        60..110 => 0.08,
        110..160 => 0.03,
        _ => 0.15,
    };
    let series: Vec<f64> = (0..200).map(|at| level(at) + 0.015 * noise(&mut random)).collect();
    let found: Vec<usize> = change_points(&series, 0.02, 1).iter().map(|point| point.at).collect();
    assert_eq!(found.len(), 3, "{found:?}");
    for (found, planted) in found.iter().zip([60, 110, 160]) {
        assert!(found.abs_diff(planted) <= 2, "{found} for {planted}");
    }
}

/// How many of 100 series of 30 runs, of which the last 10 take 5 % longer and of which each may be slow by 30 %,
/// name one of the five commits around the change: what docs/regression.md has.
#[test]
fn single_slow_runs_hide_no_change() {
    let series = if std::env::var_os("PELLUCID_TEST_LONG").is_some() { 100 } else { 40 };
    for (deviation, slow, most_missed) in [(0.003, 0.05, 5), (0.003, 0.1, 15), (0.01, 0.05, 10), (0.01, 0.1, 28)] {
        let mut random = fastrand::Rng::with_seed(7);
        let mut value = |at: usize| {
            let spike = if random.f64() < slow { 1.3_f64.ln() } else { 0.0 };
            let level = if at < 20 { 0.0 } else { 1.05_f64.ln() };
            level + spike + deviation * noise(&mut random)
        };
        let mut found = 0;
        for _ in 0..series {
            let values: Vec<f64> = (0..30).map(&mut value).collect();
            let is_near = |point: &ChangePoint| point.at.abs_diff(20) <= 2;
            found += usize::from(change_points(&values, 0.02, 3).iter().any(is_near));
        }
        let missed = series - found;
        assert!(missed * 100 <= series * most_missed, "{deviation} {slow}: {missed} of {series} missed");
    }
}

/// How many of series whose level changes by `longer` at each of these runs and back at the next one name all of them,
/// two runs off at most, in 100.
fn all_named(length: usize, changes: &[usize], longer: f64) -> usize {
    let series = if std::env::var_os("PELLUCID_TEST_LONG").is_some() { 100 } else { 10 };
    let mut random = fastrand::Rng::with_seed(7);
    let mut value = |at: usize| {
        let spike = if random.f64() < 0.05 { 1.3_f64.ln() } else { 0.0 };
        let is_odd = changes.iter().filter(|change| **change <= at).count() % 2 == 1;
        spike + if is_odd { longer.ln() } else { 0.0 } + 0.01 * noise(&mut random)
    };
    let mut named = 0;
    for _ in 0..series {
        let values: Vec<f64> = (0..length).map(&mut value).collect();
        let found = change_points(&values, 0.02, 3);
        named += usize::from(changes.iter().all(|at| found.iter().any(|point| point.at.abs_diff(*at) <= 2)));
    }
    named * 100 / series
}

#[test]
fn what_was_taken_back_is_found() {
    for (length, changes, longer) in [
        (30, &[10, 20][..], 1.2),
        (50, &[20, 30], 1.05),
        (45, &[20, 30], 2.0),
        (45, &[15, 25], 1.0 / 1.2),
        (40, &[10, 20, 30], 1.2),
    ] {
        let named = all_named(length, changes, longer);
        assert!(named >= 90, "{named} % of changes at {changes:?} of {length} runs");
    }
}

#[test]
fn series_without_changes_have_none() {
    // 1,000 in the long form: at most 15 with a finding.
    let series = if std::env::var_os("PELLUCID_TEST_LONG").is_some() { 1000 } else { 200 };
    let mut random = fastrand::Rng::with_seed(5);
    let mut wrong = 0;
    for length in [20, 30, 45, 60].into_iter().cycle().take(series) {
        let values: Vec<f64> = (0..length).map(|_| 0.03 * noise(&mut random)).collect();
        wrong += usize::from(!change_points(&values, 0.0, 1).is_empty());
    }
    assert!(wrong * 1000 <= series * 15 + 1000, "{wrong} of {series}");
}

#[test]
fn short_and_constant_series() {
    assert!(change_points(&[], 0.02, 1).is_empty());
    assert!(change_points(&[1.0; 9], 0.02, 1).is_empty());
    assert!(change_points(&[1.0; 40], 0.02, 1).is_empty());
}
