//! A test that looks several times and stops when it knows.
//!
//! After 10, 14, 20, 28 and 40 pairs the differences of every primary metric are tested: against no effect, and against
//! the least effect that matters. The levels are such that all looks together keep the promise (`simulation`).

use super::holm;
use super::wilcoxon::{estimate, interval, noise, p_greater, p_less, visible};

/// Level of the test of one metric at one look, from [`FULL`] pairs on; at earlier looks half of it, since all looks
/// together must keep the promise, and the later ones see more.
pub const ALPHA: f64 = 0.0005;
const FULL: usize = 20;
/// Level at which an effect that matters is ruled out.
pub const BETA: f64 = 0.01;
/// The normal quantiles of `ALPHA` and of its half.
const Z_ALPHA: [f64; 2] = [3.29, 3.48];
/// Fewest pairs that can say slower or faster: of fewer, all point one way by chance more often than half of `ALPHA`.
pub const ABLE: usize = 12;
/// Confidence of intervals.
pub const CONFIDENCE: f64 = 0.99;
/// Pairs after which is looked.
const LOOKS: [usize; 5] = [10, 14, 20, 28, 40];

/// What is known of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestResult {
    /// It takes longer.
    Slower,
    /// It takes less time.
    Faster,
    /// An effect that matters is ruled out.
    NoEffect,
    /// Neither.
    Open,
}

/// A metric after so many pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// Pairs.
    pub pairs: usize,
    /// Estimate of the effect, as the logarithm of a ratio.
    pub effect: f64,
    /// Interval of it.
    pub interval: (f64, f64),
    /// What it is at most, with the confidence that the test needs which rules out an effect that matters.
    pub most: f64,
    /// P value of the test for an increase.
    pub p: f64,
    /// P value of the test for a decrease.
    pub p_faster: f64,
    /// P value of the test that it is less than what matters.
    pub p_below: f64,
    /// Level that `p` and `p_faster` are held against.
    pub alpha: f64,
    /// Standard deviation of a run, of logarithms.
    pub noise: f64,
    /// What is known.
    pub finding: TestResult,
}

impl Tested {
    /// The smallest effect that so many pairs would see at this noise, as the logarithm of a ratio; infinite where they
    /// are too few for any.
    pub fn visible(&self, pairs: usize, min_effect: f64) -> f64 {
        let z = Z_ALPHA[usize::from(pairs < FULL)];
        if pairs < ABLE { f64::INFINITY } else { visible(self.noise, pairs, z, min_effect.ln_1p()) }
    }
}

/// After how many pairs to look, where at least and at most so many are to be run.
pub fn looks(least: usize, most: usize) -> Vec<usize> {
    let mut looks: Vec<usize> = LOOKS.into_iter().filter(|look| (least..most).contains(look)).collect();
    looks.push(most);
    looks
}

/// Tests the primary metrics together. `min_effect` is a share: 0.02 are 2 %.
pub fn test(metrics: &[&[f64]], min_effect: f64) -> Vec<Tested> {
    let matters = min_effect.ln_1p();
    let mut tested: Vec<Tested> = metrics.iter().map(|d| one(d, matters)).collect();
    // Holm at this level for each: the first of k is held against it, the last against k times as much.
    let level = tested.first().map_or(ALPHA, |t| t.alpha) * metrics.len() as f64;
    let slower = holm(&tested.iter().map(|t| t.p).collect::<Vec<_>>(), level);
    let faster = holm(&tested.iter().map(|t| t.p_faster).collect::<Vec<_>>(), level);
    for (at, t) in tested.iter_mut().enumerate() {
        t.finding = match () {
            () if slower[at] && t.effect > matters => TestResult::Slower,
            () if faster[at] && t.effect < -matters => TestResult::Faster,
            () if t.p_below <= BETA => TestResult::NoEffect,
            () => TestResult::Open,
        };
    }
    tested
}

fn one(differences: &[f64], matters: f64) -> Tested {
    let from_limit: Vec<f64> = differences.iter().map(|d| d - matters).collect();
    Tested {
        pairs: differences.len(),
        effect: estimate(differences),
        interval: interval(differences, CONFIDENCE),
        // One-sided: as likely on the other side.
        most: interval(differences, 1.0 - 2.0 * BETA).1,
        p: p_greater(differences),
        p_faster: p_less(differences),
        p_below: p_less(&from_limit),
        alpha: if differences.len() < FULL { ALPHA / 2.0 } else { ALPHA },
        noise: noise(differences),
        finding: TestResult::Open,
    }
}

/// Whether nothing that is known can change: a metric is slower, or none is open.
pub fn is_decided(tested: &[Tested]) -> bool {
    tested.iter().any(|t| t.finding == TestResult::Slower) || tested.iter().all(|t| t.finding != TestResult::Open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_lie_between_the_limits() {
        assert_eq!(looks(10, 40), LOOKS);
        assert_eq!(looks(12, 30), [14, 20, 28, 30]);
        assert_eq!(looks(10, 10), [10]);
    }

    #[test]
    fn so_few_as_are_said_to_be_too_few_are() {
        let findings = |pairs: usize| {
            let slow: Vec<f64> = (0..pairs).map(|at| 0.5 + 0.001 * at as f64).collect();
            let tested = test(&[&slow], 0.02)[0];
            (tested.finding == TestResult::Slower, tested.visible(pairs, 0.02).is_finite())
        };
        assert_eq!(
            [10, ABLE - 1, ABLE, FULL - 1, FULL].map(findings),
            [false, false, true, true, true].map(|is| (is, is))
        );
    }

    /// What is printed beside a finding is what it was found by.
    #[test]
    fn the_bound_says_what_the_test_says() {
        let mut random = fastrand::Rng::with_seed(9);
        let mut ruled_out = 0;
        for pairs in [10, 14, 20, 28].into_iter().cycle().take(200) {
            let d: Vec<f64> = (0..pairs).map(|_| 0.03 * (random.f64() + random.f64() - 1.0)).collect();
            let tested = one(&d, 0.01);
            assert_eq!(tested.p_below <= BETA, tested.most < 0.01, "{tested:?}");
            ruled_out += usize::from(tested.p_below <= BETA);
        }
        assert!((20..180).contains(&ruled_out), "{ruled_out}");
    }

    #[test]
    fn says_what_is_known() {
        let quiet: Vec<f64> = (0..20).map(|at| 0.001 * f64::from(at % 3 - 1)).collect();
        let slow: Vec<f64> = quiet.iter().map(|d| d + 0.05).collect();
        let fast: Vec<f64> = quiet.iter().map(|d| d - 0.05).collect();
        let loud: Vec<f64> = (0..20).map(|at| if at % 2 == 0 { 0.3 } else { -0.3 + 0.001 * f64::from(at) }).collect();
        let findings = |metrics: &[&[f64]]| test(metrics, 0.02).iter().map(|t| t.finding).collect::<Vec<_>>();
        use TestResult::*;
        assert_eq!(findings(&[&quiet, &slow, &fast, &loud]), [NoEffect, Slower, Faster, Open]);
        assert!(is_decided(&test(&[&quiet, &slow, &loud], 0.02)) && !is_decided(&test(&[&quiet, &loud], 0.02)));
        assert!(is_decided(&test(&[&quiet, &fast], 0.02)));
    }
}
