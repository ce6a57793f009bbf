//! Change points of a series: E-divisive (Matteson and James 2014) with a permutation test.
//!
//! For every place at which a series could be split in two, the statistic is how much further values of different
//! parts lie from each other than values of one part. Whether the largest such number means anything, shuffled series
//! tell: it does where at most 1 % of them have as large a one. Both parts are then searched in turn. A t-test of the
//! two parts would take the split for given, though it was chosen as the best of many: it sees changes in a third of
//! the series that have none.
//!
//! Where a change was taken back no split of the whole is far from what shuffled series have: on one of its sides there
//! are values of both kinds. So where none means anything, stretches of the series against the rest of it are tested,
//! and splits of windows, as one family. Each of the two tests has half of the level.
//!
//! Distances are those of values that have been clipped: a run that was slow by a third, for whatever reason, would
//! else weigh more than all runs that are slower by a twentieth. They are clipped around a running median: the values
//! of a stretch are no outliers, few as they may be among all.

use super::{NORMAL, median};
use distances::{Distances, Found};

mod distances;

/// Least length of a part.
pub const SHORTEST: usize = 5;
/// Least and most shuffled series. As many are taken as may have as large a statistic twice.
const PERMUTATIONS: (usize, usize) = (999, 9999);
/// By how many standard deviations a value may be off the median around it and count in full.
const CLIP: f64 = 3.0;
/// Values of which that median is: more than half of them are of the part that the value in their middle is of.
const AROUND: usize = 2 * SHORTEST - 1;
/// Level for all series together.
const LEVEL: f64 = 0.01;
/// What is looked for, one after the other.
const FAMILIES: [fn(&Distances) -> Option<Found>; 2] = [Distances::best_split, Distances::best_inside];

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
    let values = clipped(series);
    let level = LEVEL / (together * FAMILIES.len()) as f64;
    let found = FAMILIES.iter().find_map(|family| tested(&values, *family, level, random));
    let Some((found, p)) = found else { return };
    let mut from = 0;
    for end in found.cuts().chain([series.len()]) {
        if from > 0 {
            cuts.push((begin + from, (p * FAMILIES.len() as f64).min(1.0)));
        }
        search(&series[from..end], begin + from, together, random, cuts);
        from = end;
    }
}

/// What is most of a family, where few shuffled series have as much, and its p value.
fn tested(
    values: &[f64],
    family: fn(&Distances) -> Option<Found>,
    level: f64,
    random: &mut fastrand::Rng,
) -> Option<(Found, f64)> {
    let found = family(&Distances::of(values))?;
    let permutations = ((2.0 / level).round() as usize - 1).clamp(PERMUTATIONS.0, PERMUTATIONS.1);
    let allowed = ((level * (permutations + 1) as f64) as usize).max(1);
    let (mut shuffled, mut distances, mut larger) = (values.to_vec(), Distances::default(), 0);
    for _ in 0..permutations {
        random.shuffle(&mut shuffled);
        distances.fill(&shuffled);
        larger += usize::from(family(&distances).is_some_and(|other| other.statistic >= found.statistic));
        if larger >= allowed {
            return None;
        }
    }
    Some((found, (larger + 1) as f64 / (permutations + 1) as f64))
}

/// The values, of which none is further off the median around it than single slow runs may be. Where more than half are
/// equal to it nobody knows how far that is.
fn clipped(series: &[f64]) -> Vec<f64> {
    let width = AROUND.min(series.len());
    let center = |at: usize| {
        let from = at.saturating_sub(width / 2).min(series.len() - width);
        median(&series[from..from + width])
    };
    let centers: Vec<f64> = (0..series.len()).map(center).collect();
    let off: Vec<f64> = series.iter().zip(&centers).map(|(value, center)| (value - center).abs()).collect();
    let most = CLIP * NORMAL * median(&off);
    let clip = |(value, center): (&f64, &f64)| value.clamp(center - most, center + most);
    if most > 0.0 { series.iter().zip(&centers).map(clip).collect() } else { series.to_vec() }
}

#[cfg(test)]
mod tests;
