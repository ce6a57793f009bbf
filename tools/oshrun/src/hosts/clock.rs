//! How far the hosts' clocks are apart: the time of the profile, which is each host's counter in nanoseconds.

use pellucid_profile::clock::Scale;

/// Round trips of a measurement.
const TRIPS: u32 = 16;

/// This host's counter in nanoseconds.
pub fn counter_ns() -> u64 {
    let scale = Scale::of_this_machine();
    scale.ns(scale.now())
}

/// What a measurement found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// The head's counter less the host's, in nanoseconds.
    pub ns: i64,
    /// When, on the host's counter.
    pub counter_ns: u64,
    /// Nanoseconds of the quickest round trip: twice what the offset may be off by at most.
    pub trip_ns: u64,
}

/// Several round trips, of which the quickest counts: it was held up least.
#[derive(Debug, Default)]
pub struct Measurement {
    trips: u32,
    sent_ns: u64,
    best: Option<Offset>,
}

impl Measurement {
    /// The number of the next trip; `None`: there were enough.
    pub fn next(&mut self, now_ns: u64) -> Option<u32> {
        self.sent_ns = now_ns;
        (self.trips < TRIPS).then_some(self.trips)
    }

    /// Whether there was a trip.
    pub fn has_begun(&self) -> bool {
        self.sent_ns > 0
    }

    /// A trip is over: the host's counter stood at `there_ns` on the way.
    pub fn back(&mut self, number: u32, there_ns: u64, now_ns: u64) {
        if number != self.trips {
            return;
        }
        self.trips += 1;
        let trip_ns = now_ns.saturating_sub(self.sent_ns);
        let ns = (self.sent_ns + trip_ns / 2).wrapping_sub(there_ns) as i64;
        if self.best.is_none_or(|best| trip_ns < best.trip_ns) {
            self.best = Some(Offset { ns, counter_ns: there_ns, trip_ns });
        }
    }

    /// The result.
    pub fn best(&self) -> Option<Offset> {
        self.best
    }
}

/// Puts a host's moment `t`, on a time line that was right at its begin, onto the head's, which at the host's `at` was
/// ahead of it by `drift`.
pub fn corrected(t: u64, drift: i64, at: u64) -> u64 {
    if at == 0 {
        return t;
    }
    t.saturating_add_signed((i128::from(drift) * i128::from(t) / i128::from(at)) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_trip_counts() {
        let mut measurement = Measurement::default();
        // The host's counter is 1,000,000 behind; ways take 50, and sometimes more in one direction.
        let mut now = 5_000_000;
        while let Some(number) = measurement.next(now) {
            let delay = if number == 7 { 0 } else { 900 * u64::from(number + 1) };
            let there = now + 50 - 1_000_000;
            now += 100 + delay;
            measurement.back(number, there, now);
            measurement.back(number, 0, now);
        }
        let best = measurement.best().unwrap();
        assert_eq!((best.ns, best.trip_ns), (1_000_000, 100));
    }

    #[test]
    fn drift_grows_with_time() {
        assert_eq!(corrected(500, -100, 1000), 450);
        assert_eq!(corrected(2000, 100, 1000), 2200);
        assert_eq!(corrected(7, 100, 0), 7);
        assert_eq!(corrected(10, -1000, 10), 0);
    }

    #[test]
    fn the_counter_goes_on() {
        let before = counter_ns();
        assert!(counter_ns() >= before);
    }
}
