//! Log-linear latency buckets.
//!
//! Values up to 31 ns have a bucket each; above, every octave has 16 buckets, so a bucket is at most 1/16 (6.25 %)
//! wide. These are the buckets of an HDR histogram with one significant digit and unit 1: `oshprof report --hdr` writes
//! such ones.

/// Buckets per octave.
pub const SUB_BUCKETS: usize = 16;
const SUB_BITS: u32 = SUB_BUCKETS.trailing_zeros();
/// Values below this have a bucket each.
const LINEAR: u64 = 2 * SUB_BUCKETS as u64;

/// Number of buckets: every `u64` has one.
pub const BUCKETS: usize = 976;

const _: () = assert!(bucket(u64::MAX) + 1 == BUCKETS);

/// The bucket of a value.
#[inline]
pub const fn bucket(value: u64) -> usize {
    // `| 16` makes the first two octaves one linear range without a branch.
    let octave = 63 - (value | SUB_BUCKETS as u64).leading_zeros() - SUB_BITS;
    ((octave as usize) << SUB_BITS) + (value >> octave) as usize
}

/// Smallest and largest value of a bucket.
///
/// # Panics
/// When `bucket` is not below [`BUCKETS`].
pub const fn bounds(bucket: usize) -> (u64, u64) {
    assert!(bucket < BUCKETS);
    if (bucket as u64) < LINEAR {
        return (bucket as u64, bucket as u64);
    }
    let octave = (bucket >> SUB_BITS) - 1;
    let low = ((bucket & (SUB_BUCKETS - 1)) + SUB_BUCKETS) as u64;
    (low << octave, (low << octave) + ((1 << octave) - 1))
}

/// The value that stands for a bucket: its middle, so that the error is at most 1/32.
pub const fn middle(bucket: usize) -> u64 {
    let (low, high) = bounds(bucket);
    low + (high - low).div_ceil(2)
}

/// Counts by bucket, only the nonzero ones, in the order of the buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<(u16, u64)>,
}

impl Histogram {
    /// A histogram from counts by bucket. Buckets out of range and zero counts are left out; equal buckets are added
    /// up.
    pub fn from_counts(counts: impl IntoIterator<Item = (u16, u64)>) -> Histogram {
        let mut histogram = Histogram::default();
        for (bucket, count) in counts {
            if usize::from(bucket) < BUCKETS && count > 0 {
                histogram.add(bucket, count);
            }
        }
        histogram
    }

    /// Nonzero counts, in the order of the buckets.
    pub fn counts(&self) -> &[(u16, u64)] {
        &self.counts
    }

    /// Counts a value `weight` times.
    pub fn record(&mut self, value: u64, weight: u64) {
        if weight > 0 {
            self.add(bucket(value) as u16, weight);
        }
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for &(bucket, count) in &other.counts {
            self.add(bucket, count);
        }
    }

    /// Sum of all counts.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }

    /// The value below or at which the share `q` (0 to 1) of the counted values lies; 0 for an empty histogram.
    pub fn quantile(&self, q: f64) -> u64 {
        let total = self.total();
        let rank = ((q.clamp(0.0, 1.0) * total as f64).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0_u64;
        for &(bucket, count) in &self.counts {
            seen = seen.saturating_add(count);
            if seen >= rank {
                return middle(usize::from(bucket));
            }
        }
        0
    }

    fn add(&mut self, bucket: u16, count: u64) {
        match self.counts.binary_search_by_key(&bucket, |&(b, _)| b) {
            Ok(at) => self.counts[at].1 = self.counts[at].1.saturating_add(count),
            Err(at) => self.counts.insert(at, (bucket, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_every_value_without_gap_or_overlap() {
        let mut next = 0_u64;
        for b in 0..BUCKETS {
            let (low, high) = bounds(b);
            assert_eq!(low, next, "bucket {b}");
            assert_eq!((bucket(low), bucket(high)), (b, b));
            assert!(high - low <= low / 16, "bucket {b} is too wide");
            assert!((low..=high).contains(&middle(b)));
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends at u64::MAX");
    }

    #[test]
    fn edges() {
        for (value, expected) in
            [(0, 0), (1, 1), (15, 15), (16, 16), (31, 31), (32, 32), (33, 32), (34, 33), (63, 47), (64, 48)]
        {
            assert_eq!(bucket(value), expected, "value {value}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(bounds(BUCKETS - 1).1, u64::MAX);
        assert_eq!(bucket(1 << 63), BUCKETS - 16);
    }

    #[test]
    fn quantiles() {
        let mut h = Histogram::default();
        assert_eq!(h.quantile(0.5), 0);
        (1..=20).for_each(|v| h.record(v, 5));
        assert_eq!((h.quantile(0.0), h.quantile(0.5), h.quantile(1.0)), (1, 10, 20));
        assert_eq!(h.total(), 100);
        h.record(1 << 40, 1);
        assert_eq!(h.quantile(0.99), 20);
        let top = h.quantile(1.0);
        assert!(top.abs_diff(1 << 40) <= (1 << 40) / 32);
        h.record(u64::MAX, u64::MAX);
        assert_eq!(h.total(), u64::MAX);
    }

    #[test]
    fn from_counts_ignores_what_is_out_of_range() {
        let h = Histogram::from_counts([(40, 2), (3, 1), (40, 1), (976, 9), (5, 0)]);
        assert_eq!(h.counts(), [(3, 1), (40, 3)]);
        let mut twice = h.clone();
        twice.merge(&h);
        assert_eq!(twice.counts(), [(3, 2), (40, 6)]);
    }
}
