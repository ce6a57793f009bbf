//! `count`, `cost` and `mix` of a call site.

use std::collections::BTreeMap;

/// Calls of one size and their time.
pub type Sized = (f64, f64);

/// `count`, `cost` and `mix`, which add up to the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// By another number of calls.
    pub count: f64,
    /// By another time of a call.
    pub cost: f64,
    /// By other shares of the sizes.
    pub mix: f64,
}

impl Parts {
    /// The difference.
    pub fn sum(&self) -> f64 {
        self.count + self.cost + self.mix
    }

    /// Adds those of another row.
    pub fn add(&mut self, other: Parts) {
        self.count += other.count;
        self.cost += other.cost;
        self.mix += other.mix;
    }
}

/// Divides up the difference of a site: calls and nanoseconds by size class, before and now.
pub fn parts(base: &BTreeMap<usize, Sized>, new: &BTreeMap<usize, Sized>) -> Parts {
    let all =
        |table: &BTreeMap<usize, Sized>| table.values().fold((0.0, 0.0), |(n, t), (calls, ns)| (n + calls, t + ns));
    let ((calls, ns), (new_calls, new_ns)) = (all(base), all(new));
    let difference = new_ns - ns;
    if calls <= 0.0 {
        // Calls that were not there have no old mean.
        return Parts { count: difference, ..Parts::default() };
    }
    let count = (new_calls - calls) * (ns / calls);
    let cost_of = |(size, (n, t)): (&usize, &Sized)| {
        base.get(size).filter(|(old, _)| *old > 0.0 && *n > 0.0).map_or(0.0, |(old, time)| t - n * (time / old))
    };
    let cost: f64 = new.iter().map(cost_of).sum();
    Parts { count, cost, mix: difference - count - cost }
}
