//! Median and spread of repeated measurements.

/// What repetitions of one measurement come to. All in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The middle value: half of the repetitions gave less.
    pub median: f64,
    /// From the first to the third quartile: the range that holds the middle half of the repetitions.
    pub spread: f64,
}

/// `None` for no values.
pub fn summarize(values: &[f64]) -> Option<Summary> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    Some(Summary { median: quantile(&sorted, 0.5)?, spread: quantile(&sorted, 0.75)? - quantile(&sorted, 0.25)? })
}

/// The 95 % interval of the median, by resampling: draws as many values as there are, with repetition, a thousand
/// times.
pub fn interval(values: &[f64]) -> (f64, f64) {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |count: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % count.max(1)
    };
    let mut medians: Vec<f64> = (0..1000)
        .filter_map(|_| {
            let drawn: Vec<f64> = values.iter().map(|_| values[below(values.len())]).collect();
            summarize(&drawn).map(|summary| summary.median)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    (quantile(&medians, 0.025).unwrap_or(f64::NAN), quantile(&medians, 0.975).unwrap_or(f64::NAN))
}

/// Between the two nearest values where the quantile falls between them.
fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = q * last as f64;
    let below = sorted[at.floor() as usize];
    let above = sorted[at.ceil() as usize];
    Some(below + (above - below) * at.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(summarize(&[]), None);
        assert_eq!(summarize(&[f64::NAN]), None);
    }

    #[test]
    fn one_value_has_no_spread() {
        assert_eq!(summarize(&[7.0]), Some(Summary { median: 7.0, spread: 0.0 }));
    }

    #[test]
    fn order_does_not_matter_and_an_outlier_moves_neither() {
        let calm = summarize(&[3.0, 1.0, 2.0, 5.0, 4.0]).unwrap();
        let wild = summarize(&[3.0, 1.0, 2.0, 5e9, 4.0]).unwrap();
        assert_eq!(calm, wild);
        assert_eq!(calm.median, 3.0);
        assert_eq!(calm.spread, 2.0);
    }

    #[test]
    fn the_interval_holds_the_median_and_shrinks() {
        let few: Vec<f64> = (0..9).map(f64::from).collect();
        let many: Vec<f64> = (0..900).map(|i| f64::from(i % 9)).collect();
        let ((a, b), (c, d)) = (interval(&few), interval(&many));
        assert!(a <= 4.0 && 4.0 <= b && c <= 4.0 && 4.0 <= d && d - c < b - a, "{a} {b} {c} {d}");
        assert!(interval(&[]).0.is_nan());
    }

    #[test]
    fn even_counts_take_the_mean_of_the_middle() {
        let summary = summarize(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(summary.median, 2.5);
        assert_eq!(summary.spread, 1.5);
    }
}
