//! How many series a job has, and that its counters never decrease.

use std::collections::HashMap;

use super::family::{Family, Value};
use super::table::{Id, Kind};

/// Operations that have series of their own; the sum of all others is `(others)`.
pub const OPS: usize = 32;
/// Regions that have series of their own.
pub const REGIONS: usize = 20;
/// What all others are called.
pub const OTHERS: &str = "(others)";

/// What is remembered of a job from one answer to the next.
#[derive(Debug, Default)]
pub struct Memory {
    ops: Vec<String>,
    regions: Vec<String>,
    highest: HashMap<(Id, Vec<String>), f64>,
}

impl Memory {
    /// Gives operations series of their own, those in front first. Who has one keeps it.
    pub fn choose_ops(&mut self, names: impl IntoIterator<Item = String>) -> &[String] {
        choose(&mut self.ops, names, OPS)
    }

    /// Gives regions series of their own.
    pub fn choose_regions(&mut self, names: impl IntoIterator<Item = String>) -> &[String] {
        choose(&mut self.regions, names, REGIONS)
    }

    /// Estimates may fall, and a reader may see one word from before a call and the next from after it: a counter then
    /// stays where it was.
    pub fn hold(&mut self, families: &mut [Family]) {
        let grows = |family: &&mut Family| matches!(family.row.kind, Kind::Counter | Kind::Histogram);
        for family in families.iter_mut().filter(grows) {
            for series in &mut family.series {
                let highest = self.highest.entry((family.row.id, series.labels.clone())).or_insert(0.0);
                match (series.value.number(), &mut series.value) {
                    (value, _) if value >= *highest => *highest = value,
                    // Of a histogram only the sum is an estimate: its counts are words that grow.
                    (_, Value::Histogram(histogram)) => histogram.sum = *highest,
                    (_, value) => *value = Value::Number(*highest),
                }
            }
        }
    }
}

fn choose(known: &mut Vec<String>, names: impl IntoIterator<Item = String>, most: usize) -> &[String] {
    for name in names {
        if known.len() < most && !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// Leaves out what is beyond `most` series, from the end; returns how many those were.
pub fn cut(families: &mut [Family], most: usize) -> u64 {
    let (mut room, mut dropped) = (most, 0);
    for family in families {
        family.series.retain(|series| {
            let fits = series.len() <= room;
            if fits {
                room -= series.len()
            } else {
                dropped += series.len() as u64
            }
            fits
        });
    }
    dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_never_decreases() {
        let mut memory = Memory::default();
        let mut seen = Vec::new();
        for value in [1.0, 3.0, 2.5, 4.0] {
            let mut family = Family::new(Id::Overhead);
            family.add(&["j"], Value::Number(value));
            memory.hold(std::slice::from_mut(&mut family));
            seen.push(family.series[0].value.number());
        }
        assert_eq!(seen, [1.0, 3.0, 3.0, 4.0]);
    }

    #[test]
    fn who_has_a_series_keeps_it() {
        let mut memory = Memory::default();
        memory.choose_ops((0..40).map(|op| op.to_string()));
        assert_eq!(memory.choose_ops(["new".to_owned(), "3".to_owned()]).len(), OPS);
        assert_eq!(memory.choose_ops([])[31], "31");
    }

    #[test]
    fn what_is_too_many_is_counted() {
        let mut family = Family::new(Id::LostPes);
        (0..10).for_each(|job| family.add(&[&job.to_string()], Value::Count(1)));
        assert_eq!(cut(std::slice::from_mut(&mut family), 7), 3);
        assert_eq!(family.len(), 7);
    }
}
