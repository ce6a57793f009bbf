//! Statistics of runs. They know nothing of profiles.
//!
//! | module | what it is |
//! |---|---|
//! | `wilcoxon` | signed-rank test, exact up to 500 pairs; Hodges-Lehmann estimate and its interval |
//! | `normal` | the normal distribution, for very many pairs |
//! | `sequence` | a test that looks several times and stops when it knows |
//! | `divisive` | change points of a series: E-divisive with a permutation test |

pub mod divisive;
mod normal;
pub mod sequence;
#[cfg(test)]
mod simulation;
pub mod wilcoxon;

/// Standard deviations of a median of distances from a median, where values are normal.
pub const NORMAL: f64 = 1.4826;

/// The median; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    middle(&sorted)
}

fn middle(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Which of several tests hold together, after Holm: the smallest p value is held against `level` divided by their
/// number, the next against `level` divided by one less, until one does not hold.
pub fn holm(p: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut holds = vec![false; p.len()];
    for (rank, &at) in order.iter().enumerate() {
        if p[at] > level / (p.len() - rank) as f64 {
            break;
        }
        holds[at] = true;
    }
    holds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_spreads() {
        assert_eq!((median(&[]), median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0])), (0.0, 2.0, 2.5));
    }

    #[test]
    fn holm_stops_at_the_first_that_does_not_hold() {
        // In order 0.0001, 0.01, 0.03 ...: against 0.01, 0.0125, 0.0167.
        assert_eq!(holm(&[0.01, 0.03, 0.0001, 0.04, 0.2], 0.05), [true, false, true, false, false]);
        assert_eq!(holm(&[0.04], 0.05), [true]);
        assert!(holm(&[], 0.05).is_empty());
    }
}
