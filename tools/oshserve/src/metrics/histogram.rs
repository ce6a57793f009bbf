//! Histograms as they leave the house.
//!
//! The recorder has a bucket for each nanosecond up to 31, then 16 linear ones an octave. Readings are whole
//! nanoseconds, rounded down, so that what is below 2^k ns is exactly the buckets below that of 2^k: classic bounds at
//! powers of two are exact. Native buckets are exponential in seconds, in which no power of two of nanoseconds is a
//! bound: there the middle of each bucket is placed, which is up to 7.5 % off.

use std::collections::BTreeMap;

use pellucid_profile::histogram::{self, Histogram as Latency, bucket};
use pellucid_profile::model::SizeCount;
use pellucid_profile::size::size_bounds;

/// Native buckets an octave: 2^3.
pub const SCHEMA: i32 = 3;
/// Nanoseconds that classic bounds of durations are: 2^k for k = 6, 8 ... 34 (64 ns to 17 s).
const DURATION_BOUNDS: [u32; 15] = [6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34];
/// Size classes that end with a classic bound of sizes: class k ends at 2^k - 1 bytes.
const SIZE_BOUNDS: [usize; 8] = [4, 7, 10, 13, 16, 19, 22, 25];

/// A histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Upper bounds, and how many values are not above them; without the last, infinite one.
    pub buckets: Vec<(f64, u64)>,
    /// How many values there are.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// Values that are 0.
    pub zeros: u64,
    /// Native buckets of [`SCHEMA`]: the i-th ends at 2^(i/8).
    pub native: BTreeMap<i32, u64>,
}

impl Histogram {
    /// Durations of calls, whose sum is `sum_ns`.
    pub fn of_durations(latency: &Latency, sum_ns: u64) -> Histogram {
        let mut made = Histogram { sum: seconds(sum_ns), count: latency.total(), ..Histogram::default() };
        let below = |bound: u64| {
            let end = bucket(bound);
            let counts = latency.counts().iter().filter(|(at, _)| usize::from(*at) < end);
            counts.fold(0_u64, |sum, (_, count)| sum.saturating_add(*count))
        };
        made.buckets = DURATION_BOUNDS.iter().map(|&k| (seconds(1 << k), below(1 << k))).collect();
        for &(at, count) in latency.counts() {
            made.place(histogram::middle(usize::from(at)) as f64 / 1e9, count);
        }
        made
    }

    /// Sizes of messages.
    pub fn of_sizes(sizes: &[SizeCount]) -> Histogram {
        let mut made = Histogram::default();
        for size in sizes {
            made.count = made.count.saturating_add(size.calls);
            made.sum += size.bytes as f64;
            made.place(if size.calls == 0 { 0.0 } else { size.bytes as f64 / size.calls as f64 }, size.calls);
        }
        let up_to = |class: usize| {
            let within = sizes.iter().filter(|size| usize::from(size.class) <= class);
            within.fold(0_u64, |sum, size| sum.saturating_add(size.calls))
        };
        made.buckets = SIZE_BOUNDS.iter().map(|&class| (size_bounds(class).1 as f64, up_to(class))).collect();
        made
    }

    fn place(&mut self, value: f64, count: u64) {
        if value <= 0.0 {
            self.zeros = self.zeros.saturating_add(count);
            return;
        }
        let at = (value.log2() * f64::from(1 << SCHEMA)).ceil() as i32;
        let place = self.native.entry(at).or_default();
        *place = place.saturating_add(count);
    }
}

/// Nanoseconds as seconds.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_buckets_of_durations_are_exact() {
        let mut latency = Latency::default();
        for ns in [0, 63, 64, 65, 255, 256, 1 << 34, (1 << 34) - 1, 5] {
            latency.record(ns, 1);
        }
        let made = Histogram::of_durations(&latency, 1_500_000_000);
        let at = |bound: f64| made.buckets.iter().find(|(le, _)| *le == bound).map(|(_, count)| *count);
        assert_eq!((at(64e-9), at(256e-9), at(1024e-9)), (Some(3), Some(6), Some(7)));
        assert_eq!((made.buckets.last().unwrap().1, made.count, made.sum, made.zeros), (8, 9, 1.5, 1));
        assert!(made.buckets.windows(2).all(|two| two[0].1 <= two[1].1 && two[0].0 < two[1].0));
        assert_eq!(made.native.values().sum::<u64>() + made.zeros, made.count);
    }

    #[test]
    fn native_buckets_hold_the_middle() {
        let mut latency = Latency::default();
        latency.record(1_000_000, 7);
        let made = Histogram::of_durations(&latency, 0);
        let (&at, &count) = made.native.iter().next().unwrap();
        let (low, high) = (f64::from(at - 1) / 8.0, f64::from(at) / 8.0);
        assert_eq!(count, 7);
        assert!(low.exp2() < 1.03e-3 && high.exp2() > 0.97e-3, "{at}");
    }

    #[test]
    fn sizes() {
        let size = |class, calls, bytes| SizeCount { class, distance: 2, calls, bytes };
        let made = Histogram::of_sizes(&[size(0, 2, 0), size(4, 3, 24), size(5, 1, 16), size(40, 1, 1 << 39)]);
        assert_eq!(made.buckets[0], (15.0, 5));
        assert_eq!(made.buckets[1], (127.0, 6));
        assert_eq!((made.buckets[7], made.count, made.zeros), ((33_554_431.0, 6), 7, 2));
        assert_eq!(made.sum, 40.0 + 2_f64.powi(39));
    }
}
