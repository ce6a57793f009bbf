//! Measurements of all repetitions and libraries, and the rows they come to.

use std::collections::HashMap;

use crate::library::OURS;
use crate::line::{Instructions, Key, Measurement};
use crate::stats::{Summary, summarize};

/// Whose time a measurement is, where it is no library's.
pub const MACHINE: &str = "machine";

/// One line of the table, one object of the JSON.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the group it was measured in.
    pub group: &'static str,
    /// What was measured.
    pub key: Key,
    /// This library's nanoseconds (of the machine itself in the group of limits).
    pub ours: Option<Summary>,
    /// True where `ours` is of the machine itself.
    pub machine: bool,
    /// Name and nanoseconds of other libraries.
    pub peers: Vec<(&'static str, Summary)>,
    /// What the machine needs for the same: name and nanoseconds.
    pub limit: Option<(String, f64)>,
    /// Instructions of one call and of what it is compared with.
    pub instructions: Option<(f64, f64)>,
}

impl Row {
    /// Nanoseconds of a library by name.
    pub fn peer(&self, name: &str) -> Option<f64> {
        let found = self.peers.iter().find(|(n, _)| *n == name);
        found.map(|(_, summary)| summary.median)
    }
}

/// Values of one key from one library, a repetition each.
#[derive(Default)]
struct Values {
    ns: Vec<f64>,
    limits: Vec<(String, f64)>,
}

/// All measurements so far.
#[derive(Default)]
pub struct Results {
    keys: Vec<(&'static str, Key)>,
    values: HashMap<(&'static str, Key), Values>,
    instructions: Vec<Instructions>,
}

impl Results {
    /// Adds a repetition. `library` is its name, or [`MACHINE`].
    pub fn add(&mut self, group: &'static str, library: &'static str, measurement: Measurement) {
        let Measurement { key, ns, limit } = measurement;
        if !self.keys.iter().any(|(g, k)| *g == group && *k == key) {
            self.keys.push((group, key.clone()));
        }
        let values = self.values.entry((library, key)).or_default();
        values.ns.push(ns);
        values.limits.extend(limit);
    }

    /// Adds instruction counts, which belong to rows of this library: to those with their times, where there are some,
    /// else they have one of their own, of the one PE that they are counted with.
    pub fn add_instructions(&mut self, group: &'static str, counted: Instructions) {
        if !self.keys.iter().any(|(_, key)| counted.is_of(key)) {
            let Instructions { bench, memory, bytes, .. } = &counted;
            let key = Key { bench: bench.clone(), memory: memory.clone(), bytes: *bytes, pes: 1 };
            self.keys.push((group, key));
        }
        self.instructions.push(counted);
    }

    /// One row for each thing measured, in the order in which they first came.
    pub fn rows(&self) -> Vec<Row> {
        self.keys.iter().map(|(g, k)| self.row(g, k)).collect()
    }

    fn row(&self, group: &'static str, key: &Key) -> Row {
        let of = |library: &'static str| self.values.get(&(library, key.clone()));
        let summary = |library| of(library).and_then(|v| summarize(&v.ns));
        let machine = of(MACHINE).is_some();

        let mut peer_names: Vec<&'static str> = self
            .values
            .keys()
            .filter(|(library, k)| k == key && *library != OURS && *library != MACHINE)
            .map(|(library, _)| *library)
            .collect();
        peer_names.sort_unstable();

        // The limit as our own runs saw it; where we have none, as a peer's did.
        let limit = [OURS].iter().chain(&peer_names).find_map(|library| of(library).and_then(|v| middle(&v.limits)));
        let instructions = self.instructions.iter().find(|counted| counted.is_of(key)).map(|i| (i.count, i.limit));
        Row {
            group,
            key: key.clone(),
            ours: summary(if machine { MACHINE } else { OURS }),
            machine,
            peers: peer_names.into_iter().filter_map(|name| Some((name, summary(name)?))).collect(),
            limit,
            instructions,
        }
    }
}

/// The median limit, with the name it had then: which way to copy is fastest may differ between repetitions.
fn middle(limits: &[(String, f64)]) -> Option<(String, f64)> {
    let mut sorted: Vec<&(String, f64)> = limits.iter().collect();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (name, _) = sorted.get(sorted.len().checked_sub(1)? / 2)?;
    let values: Vec<f64> = limits.iter().map(|(_, ns)| *ns).collect();
    Some((name.clone(), summarize(&values)?.median))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A measurement for tests, here and in other modules.
    pub fn measured(bench: &str, memory: &str, bytes: u64, pes: u32, ns: f64) -> Measurement {
        Measurement {
            key: Key { bench: bench.to_owned(), memory: memory.to_owned(), bytes, pes },
            ns,
            limit: Some(("memcpy".to_owned(), 2.0)),
        }
    }

    #[test]
    fn repetitions_become_one_row_with_its_peers() {
        let mut results = Results::default();
        for ns in [5.0, 4.0, 90.0] {
            results.add("rma", OURS, measured("p", "heap", 8, 2, ns));
            results.add("rma", "oshmem", measured("p", "heap", 8, 2, 3.0 * ns));
        }
        let rows = results.rows();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].ours.unwrap().median, 5.0);
        assert_eq!(rows[0].peer("oshmem"), Some(15.0));
        assert_eq!(rows[0].limit, Some(("memcpy".to_owned(), 2.0)));
        assert!(!rows[0].machine);
    }

    #[test]
    fn a_peer_alone_still_makes_a_row_and_gives_the_limit() {
        let mut results = Results::default();
        results.add("rma", "oshmem", measured("p", "heap", 8, 2, 15.0));
        let row = &results.rows()[0];
        assert!(row.ours.is_none());
        assert!(row.limit.is_some());
    }

    #[test]
    fn instructions_join_their_row_or_have_one() {
        let mut results = Results::default();
        results.add("interception", OURS, measured("p/off", "heap", 8, 2, 2.0));
        for (bench, count) in [("p/off", 9.0), ("sum/off", 300.0)] {
            let counted =
                Instructions { bench: bench.to_owned(), memory: "heap".to_owned(), bytes: 8, count, limit: 7.0 };
            results.add_instructions("interception", counted);
        }
        let rows = results.rows();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].instructions, rows[0].key.pes), (Some((9.0, 7.0)), 2));
        assert_eq!((rows[1].instructions, rows[1].ours.is_some()), (Some((300.0, 7.0)), false));
    }
}
