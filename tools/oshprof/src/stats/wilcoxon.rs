//! The signed-rank test of Wilcoxon and the estimate of Hodges and Lehmann that belongs to it, both exact. Of more than
//! [`EXACT`] pairs the distribution is taken as normal.
//!
//! Of differences d_1 ... d_n the absolute values are ranked; W is the sum of the ranks of the positive ones. If base
//! and new do not differ each sign is as likely as the other, so the distribution of W follows from counting: no
//! assumption on the shape of the noise but that it is symmetric between the two.

use super::{median, middle, normal};

/// Most pairs whose distribution is counted: the work grows with the third power of their number. Of more, the normal
/// distribution makes a p value of 0.0005 greater by less than 3 %: it errs on the side of no finding.
const EXACT: usize = 500;

/// P(W >= w) where the differences have the median 0: small where they are positive. Differences of 0 are left out;
/// equal ones share their ranks. 1 where there are none.
pub fn p_greater(differences: &[f64]) -> f64 {
    let (ranks, positive) = ranks(differences);
    if ranks.len() > EXACT {
        let (mean, deviation) = moments(&ranks);
        // Half a rank nearer to the mean, as what is normal has no steps.
        return normal::above((positive as f64 - 1.0 - mean) / deviation);
    }
    shares(&ranks)[positive..].iter().sum()
}

/// P(W <= w): small where the differences are negative.
pub fn p_less(differences: &[f64]) -> f64 {
    let negated: Vec<f64> = differences.iter().map(|d| -d).collect();
    p_greater(&negated)
}

/// Twice the ranks, so that shared ones are whole, and twice W.
fn ranks(differences: &[f64]) -> (Vec<usize>, usize) {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0 && d.is_finite()).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut ranks, mut positive, mut at) = (Vec::with_capacity(sorted.len()), 0, 0);
    while at < sorted.len() {
        let equal = sorted[at..].iter().take_while(|d| d.abs() == sorted[at].abs()).count();
        // Ranks at + 1 to at + equal: their mean, twice.
        let rank = 2 * at + equal + 1;
        for d in &sorted[at..at + equal] {
            ranks.push(rank);
            positive += if *d > 0.0 { rank } else { 0 };
        }
        at += equal;
    }
    (ranks, positive)
}

/// Mean and standard deviation of the sum of ranks with positive signs.
fn moments(ranks: &[usize]) -> (f64, f64) {
    let sum = |of: fn(f64) -> f64| ranks.iter().map(|rank| of(*rank as f64)).sum::<f64>();
    (sum(|rank| rank) / 2.0, sum(|rank| rank * rank).sqrt() / 2.0)
}

/// The share of all signs that gives each sum of ranks. Shares, since there are more signs than a number can hold.
fn shares(ranks: &[usize]) -> Vec<f64> {
    let mut shares = vec![0.0; ranks.iter().sum::<usize>() + 1];
    shares[0] = 1.0;
    let mut most = 0;
    for &rank in ranks {
        most += rank;
        for sum in (0..=most).rev() {
            let with = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = 0.5 * (shares[sum] + with);
        }
    }
    shares
}

/// The mean of each pair of values, and each value itself, in order.
fn walsh(values: &[f64]) -> Vec<f64> {
    let pairs = values.iter().enumerate().flat_map(|(at, a)| values[at..].iter().map(move |b| (a + b) / 2.0));
    let mut averages: Vec<f64> = pairs.collect();
    averages.sort_by(f64::total_cmp);
    averages
}

/// The median of the Walsh averages (Hodges and Lehmann): nearly as sharp as the mean, and deaf to spikes.
pub fn estimate(differences: &[f64]) -> f64 {
    middle(&walsh(differences))
}

/// The interval that has the true median with this probability at least, from the order of the Walsh averages. With too
/// few values for it, all that they say.
pub fn interval(differences: &[f64], confidence: f64) -> (f64, f64) {
    let averages = walsh(differences);
    if averages.is_empty() {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    let cut = left_out(differences.len(), (1.0 - confidence) / 2.0).saturating_sub(1).min((averages.len() - 1) / 2);
    (averages[cut], averages[averages.len() - 1 - cut])
}

/// The largest number of averages that may be left out at each end, of so many differences.
fn left_out(differences: usize, level: f64) -> usize {
    let ranks: Vec<usize> = (1..=differences).map(|rank| 2 * rank).collect();
    if differences > EXACT {
        let (mean, deviation) = moments(&ranks);
        let is_rare = |cut: usize| normal::above((mean - (2 * cut + 1) as f64) / deviation) <= level;
        let (mut least, mut most) = (0, differences * (differences + 1) / 4);
        while least < most {
            let cut = usize::midpoint(least, most);
            (least, most) = if is_rare(cut) { (cut + 1, most) } else { (least, cut) };
        }
        return least;
    }
    let mut below = 0.0;
    shares(&ranks)
        .iter()
        .step_by(2)
        .take_while(|share| {
            below += **share;
            below <= level
        })
        .count()
}

/// The standard deviation of one run, where these are the differences of two.
pub fn noise(differences: &[f64]) -> f64 {
    let center = median(differences);
    let distances: Vec<f64> = differences.iter().map(|d| (d - center).abs()).collect();
    1.4826 * median(&distances) / std::f64::consts::SQRT_2
}

/// The smallest effect that so many pairs find in 95 of 100 cases, where a run has this noise: what the test needs at
/// this level, and what the estimate has to exceed.
pub fn visible(noise: f64, pairs: usize, z_level: f64, min_effect: f64) -> f64 {
    // Of the estimate; its efficiency against the mean is 3 / pi.
    let error = noise * std::f64::consts::SQRT_2 * (std::f64::consts::PI / 3.0 / pairs.max(1) as f64).sqrt();
    ((z_level + 1.645) * error).max(min_effect + 1.645 * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: depression scores before and after.
    const BEFORE: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    // Measured values, of which one happens to begin as pi does.
    #[allow(clippy::approx_constant)]
    const AFTER: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];

    fn depression() -> Vec<f64> {
        BEFORE.iter().zip(AFTER).map(|(before, after)| before - after).collect()
    }

    #[test]
    fn the_published_example() {
        // R: wilcox.test(before, after, paired = TRUE, alternative = "greater"): V = 40, p-value = 0.01953.
        let d = depression();
        assert_eq!(ranks(&d).1, 2 * 40);
        assert!((p_greater(&d) - 0.019_531_25).abs() < 1e-12, "{}", p_greater(&d));
        assert!((p_less(&d) - 0.986_328_125).abs() < 1e-12, "{}", p_less(&d));
        // The book: estimate 0.46, and (0.010, 0.786) at 96.1 %.
        assert!((estimate(&d) - 0.46).abs() < 0.005, "{}", estimate(&d));
        let (low, high) = interval(&d, 0.96);
        assert!((low - 0.010).abs() < 0.001 && (high - 0.786).abs() < 0.001, "{low} {high}");
    }

    #[test]
    fn tables_of_the_distribution() {
        // P(W <= w) of published tables: n, w, P.
        for (n, w, p) in [(5, 0, 0.0313), (10, 8, 0.0244), (10, 10, 0.0420), (15, 25, 0.0240), (20, 52, 0.0242)] {
            let share = shares(&(1..=n).collect::<Vec<_>>())[..=w].iter().sum::<f64>();
            assert!((share - p).abs() < 5.1e-5, "n {n}: P(W <= {w}) = {share}, not {p}");
        }
    }

    #[test]
    fn the_least_p_value() {
        let d: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(p_greater(&d), 1.0 / 1024.0);
        assert_eq!(p_less(&d), 1.0);
        assert_eq!((p_greater(&[]), p_greater(&[0.0, 0.0])), (1.0, 1.0));
    }

    #[test]
    fn equal_values_share_their_ranks() {
        // Ranks 1.5, 1.5, 3; W = 4.5 of at most 6: sums at least that: 4.5 twice, 6.
        assert_eq!(p_greater(&[1.0, -1.0, 2.0]), 3.0 / 8.0);
        assert_eq!(p_greater(&[1.0, -1.0]), 0.75);
    }

    /// What is counted and what is taken as normal agree where they meet, and no number of pairs is too many.
    #[test]
    fn many_pairs_are_taken_as_normal() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut pairs = |n: usize, more: f64| (0..n).map(|_| random.f64() - 0.5 + more).collect::<Vec<f64>>();
        for more in [0.0, 0.02, 0.04, -0.04] {
            let d = pairs(EXACT, more);
            let (ranks, positive) = ranks(&d);
            let (mean, deviation) = moments(&ranks);
            let (exact, near) = (p_greater(&d), normal::above((positive as f64 - 1.0 - mean) / deviation));
            assert!((near / exact - 1.0).abs() < 0.02, "{more}: {exact} {near}");
        }
        for n in [EXACT + 1, 1100, 3000] {
            let (equal, slower) = (pairs(n, 0.0), pairs(n, 0.1));
            assert!((0.01..0.99).contains(&p_greater(&equal)), "{n}: {}", p_greater(&equal));
            assert!(p_greater(&slower) < 1e-4 && p_less(&slower) > 0.999, "{n}: {}", p_greater(&slower));
            let (low, high) = interval(&slower, 0.99);
            assert!(
                low > 0.0 && low < estimate(&slower) && estimate(&slower) < high && high < 0.2,
                "{n}: {low} {high}"
            );
        }
        let at_limit = [left_out(EXACT, 0.005), left_out(EXACT + 1, 0.005)];
        assert!(at_limit[0].abs_diff(at_limit[1]) < 400, "{at_limit:?}");
        assert_eq!(p_greater(&vec![0.0; 2000]), 1.0);
    }

    #[test]
    fn the_interval_has_the_estimate_in_it() {
        let mut random = fastrand::Rng::with_seed(7);
        for n in 1..=40 {
            let d: Vec<f64> = (0..n).map(|_| random.f64() - 0.3).collect();
            let (low, high) = interval(&d, 0.99);
            assert!(low <= estimate(&d) && estimate(&d) <= high, "{n}");
        }
    }
}
