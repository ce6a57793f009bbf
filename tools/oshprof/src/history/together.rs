//! One commit may change the times of many series, which then are one finding: those whose change points are the same
//! commit's, and which go the same way all along.

use std::collections::BTreeMap;

use super::check::Finding;
use super::store::Entry;
use crate::stats::median;

/// How much series have to correlate.
const CORRELATED: f64 = 0.9;
/// Commits that both must have.
const FEWEST: usize = 10;
/// Runs over which noise is taken out by their median.
const WINDOW: usize = 5;

/// A finding, and the series that it is of.
#[derive(Clone, Debug)]
pub struct Seen {
    finding: Finding,
    /// By commit: the logarithm of the time that changed most.
    series: BTreeMap<String, f64>,
}

impl Seen {
    /// A finding in these runs, oldest first.
    pub fn new(finding: Finding, entries: &[&Entry]) -> Seen {
        let name = finding.times.first().map_or("", |(name, _)| name);
        let known: Vec<(&String, f64)> = entries
            .iter()
            .filter_map(|entry| Some((&entry.commit, entry.metrics.get(name).filter(|ns| **ns >= 1.0)?.ln())))
            .collect();
        let smooth = |at: usize| {
            let from = at.saturating_sub(WINDOW / 2);
            let to = (at + WINDOW / 2 + 1).min(known.len());
            median(&known[from..to].iter().map(|(_, value)| *value).collect::<Vec<_>>())
        };
        let series = known.iter().enumerate().map(|(at, (commit, _))| ((*commit).clone(), smooth(at))).collect();
        Seen { finding, series }
    }

    fn effect(&self) -> f64 {
        self.finding.times.first().map_or(0.0, |(_, effect)| *effect)
    }

    fn is_like(&self, other: &Seen) -> bool {
        let (a, b) = (&self.finding, &other.finding);
        let told = |of: &Finding| (of.is_worse, of.is_suspected, of.until.is_some());
        (&a.commit, &a.branch, told(a)) == (&b.commit, &b.branch, told(b))
            && correlation(&self.series, &other.series) > CORRELATED
    }
}

/// Of the values of commits that both have.
fn correlation(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> f64 {
    let pairs: Vec<(f64, f64)> = a.iter().filter_map(|(commit, x)| Some((*x, *b.get(commit)?))).collect();
    if pairs.len() < FEWEST {
        return 0.0;
    }
    let n = pairs.len() as f64;
    let (mean_x, mean_y) =
        (pairs.iter().map(|pair| pair.0).sum::<f64>() / n, pairs.iter().map(|pair| pair.1).sum::<f64>() / n);
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let both = sum(&|(x, y)| (x - mean_x) * (y - mean_y));
    let (x, y) = (sum(&|(x, _)| (x - mean_x).powi(2)), sum(&|(_, y)| (y - mean_y).powi(2)));
    if x > 0.0 && y > 0.0 { both / (x * y).sqrt() } else { 0.0 }
}

/// Puts those together that are alike; the one with the largest effect names them all.
pub fn merge(mut seen: Vec<Seen>) -> Vec<Finding> {
    // The order of what stays is that of the series.
    let mut order: Vec<usize> = (0..seen.len()).collect();
    order.sort_by(|&a, &b| seen[b].effect().abs().total_cmp(&seen[a].effect().abs()));
    let mut heads: Vec<usize> = Vec::new();
    for at in order {
        match heads.iter().copied().find(|&head| seen[head].is_like(&seen[at])) {
            None => heads.push(at),
            Some(head) => {
                let Finding { suite, on, .. } = seen[at].finding.clone();
                seen[head].finding.join(suite, on);
            }
        }
    }
    heads.sort_unstable();
    heads.into_iter().map(|head| seen[head].finding.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check::times;
    use super::*;

    fn history(suite: &str, seed: u64, step: f64, cut: usize) -> Vec<Entry> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut noise = || 0.01 * ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0);
        let mut one = |at: usize| Entry {
            suite: suite.to_owned(),
            commit: format!("c{at}"),
            metrics: BTreeMap::from([("run".to_owned(), 1e9 * (if at < cut { 0.0 } else { step } + noise()).exp())]),
            ..Entry::default()
        };
        (0..60).map(&mut one).collect()
    }

    #[test]
    fn series_that_change_together_are_one_finding() {
        let series = [
            history("small", 1, 0.1, 30),
            history("large", 2, 0.2, 30),
            history("other", 3, 0.2, 40),
            history("faster", 4, -0.2, 30),
        ];
        let mut seen = Vec::new();
        for entries in &series {
            let entries: Vec<&Entry> = entries.iter().collect();
            seen.extend(times(&entries).into_iter().map(|finding| Seen::new(finding, &entries)));
        }
        assert_eq!(seen.len(), 4);
        let found = merge(seen);
        let names: Vec<(&str, usize)> = found.iter().map(|f| (f.suite.as_str(), f.also.len())).collect();
        assert_eq!(names, [("large", 1), ("other", 0), ("faster", 0)]);
        assert!(found[0].text().contains("in `large`, `small`: run +"), "{}", found[0].text());
    }
}
