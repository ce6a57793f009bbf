//! Change points of a series: E-divisive (Matteson and James 2014) with a permutation test.
//!
//! For every place at which a series could be split in two, the statistic is how much further values of different
//! parts lie from each other than values of one part. Whether the largest such number means anything, shuffled series
//! tell: it does where at most 1 % of them have as large a one. Both parts are then searched in turn. A t-test of the
//! two parts would take the split for given, though it was chosen as the best of many: it sees changes in a third of
//! the series that have none.
//!
//! Distances are those of values that have been clipped: a run that was slow by a third, for whatever reason, would
//! else weigh more than all runs that are slower by a twentieth.

use super::{NORMAL, median};

/// Least length of a part.
pub const SHORTEST: usize = 5;
/// Shuffled series, of which at most one in a hundred may have as large a statistic where one series is looked at, and
/// of ten series that belong together one in a thousand each.
const PERMUTATIONS: usize = 999;
/// The same for more series than ten.
const MOST_PERMUTATIONS: usize = 9999;
/// By how many standard deviations a value may be off the median of its part and count in full.
const CLIP: f64 = 3.0;
/// Level for all series together.
const LEVEL: f64 = 0.01;

/// A change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value after it.
    pub at: usize,
    /// Medians before and after.
    pub before: f64,
    /// After.
    pub after: f64,
    /// P value of the permutation test.
    pub p: f64,
}

/// Change points of a series of logarithms where the level changes by more than `min_effect`, a logarithm too. It is
/// one of `together` series (the metrics of a history): each is tested at a part of the level, so that all of them
/// together keep it.
pub fn change_points(series: &[f64], min_effect: f64, together: usize) -> Vec<ChangePoint> {
    let mut random = fastrand::Rng::with_seed(0x5eed);
    let mut cuts = Vec::new();
    search(series, 0, together.max(1), &mut random, &mut cuts);
    cuts.sort_by_key(|(at, _)| *at);
    loop {
        let ends: Vec<usize> = cuts.iter().map(|(at, _)| *at).chain([series.len()]).collect();
        let level = |part: usize| {
            let begin = if part == 0 { 0 } else { ends[part - 1] };
            median(&series[begin..ends[part]])
        };
        let points: Vec<ChangePoint> = cuts
            .iter()
            .enumerate()
            .map(|(part, &(at, p))| ChangePoint { at, before: level(part), after: level(part + 1), p })
            .collect();
        // What is too small joins its neighbours, the least first, as that changes their medians.
        let size = |point: &ChangePoint| (point.after - point.before).abs();
        match points.iter().enumerate().min_by(|a, b| size(a.1).total_cmp(&size(b.1))) {
            Some((least, point)) if size(point) <= min_effect => drop(cuts.remove(least)),
            _ => return points,
        }
    }
}

fn search(series: &[f64], begin: usize, together: usize, random: &mut fastrand::Rng, cuts: &mut Vec<(usize, f64)>) {
    let mut shuffled = clipped(series);
    let Some((at, best)) = best_split(&shuffled) else { return };
    let permutations = (100 * together).saturating_sub(1).clamp(PERMUTATIONS, MOST_PERMUTATIONS);
    let allowed = (LEVEL / together as f64 * (permutations + 1) as f64) as usize;
    let (mut larger, allowed) = (0, allowed.max(1));
    for _ in 0..permutations {
        random.shuffle(&mut shuffled);
        larger += usize::from(best_split(&shuffled).is_some_and(|(_, q)| q >= best));
        if larger >= allowed {
            return;
        }
    }
    cuts.push((begin + at, (larger + 1) as f64 / (permutations + 1) as f64));
    search(&series[..at], begin, together, random, cuts);
    search(&series[at..], begin + at, together, random, cuts);
}

/// The values, of which none is further off their median than single slow runs may be. Where more than half are equal
/// nobody knows how far that is.
fn clipped(series: &[f64]) -> Vec<f64> {
    let center = median(series);
    let off: Vec<f64> = series.iter().map(|value| (value - center).abs()).collect();
    let most = CLIP * NORMAL * median(&off);
    let clip = |value: &f64| if most > 0.0 { value.clamp(center - most, center + most) } else { *value };
    series.iter().map(clip).collect()
}

/// The split with the largest statistic, and the statistic.
fn best_split(series: &[f64]) -> Option<(usize, f64)> {
    let n = series.len();
    if n < 2 * SHORTEST {
        return None;
    }
    let distances = |at: usize, range: std::ops::Range<usize>| -> f64 {
        series[range].iter().map(|value| (value - series[at]).abs()).sum()
    };
    // Sums of distances within the left part, within the right part, and between them, for a split that moves right.
    let (mut left, mut right, mut across) = (0.0, 0.0, 0.0);
    (0..n).for_each(|at| right += distances(at, at + 1..n));
    let mut best: Option<(usize, f64)> = None;
    for split in 1..=n - SHORTEST {
        let moved = split - 1;
        let (to_left, to_right) = (distances(moved, 0..moved), distances(moved, split..n));
        left += to_left;
        right -= to_right;
        across += to_right - to_left;
        if split < SHORTEST {
            continue;
        }
        let (l, r) = (split as f64, (n - split) as f64);
        let energy = 2.0 * across / (l * r) - 2.0 * left / (l * (l - 1.0)) - 2.0 * right / (r * (r - 1.0));
        let statistic = energy * l * r / (l + r);
        if best.is_none_or(|(_, most)| statistic > most) {
            best = Some((split, statistic));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(random: &mut fastrand::Rng) -> f64 {
        // Nearly normal: the sum of twelve.
        (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
    }

    #[test]
    fn the_statistic_is_what_its_definition_says() {
        let mut random = fastrand::Rng::with_seed(3);
        let series: Vec<f64> = (0..23).map(|_| random.f64()).collect();
        let mean = |a: &[f64], b: &[f64], pairs: f64| {
            a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum::<f64>() / pairs
        };
        let of = |split: usize| {
            let (a, b) = series.split_at(split);
            let (m, n) = (a.len() as f64, b.len() as f64);
            let energy = 2.0 * mean(a, b, m * n) - mean(a, a, m * (m - 1.0)) - mean(b, b, n * (n - 1.0));
            energy * m * n / (m + n)
        };
        let best =
            (SHORTEST..=23 - SHORTEST).map(|split| (split, of(split))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        let found = best_split(&series).unwrap();
        assert!(found.0 == best.0 && (found.1 - best.1).abs() < 1e-9, "{found:?} {best:?}");
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
}
