//! What the program of random calls says that it has done.

use std::collections::BTreeMap;

/// Numbers by what they are of, `size shmem_putmem 16`: summed over the PEs.
pub struct Known {
    sums: BTreeMap<String, Vec<f64>>,
    /// By meeting, in nanoseconds: when each PE came.
    arrivals: BTreeMap<String, Vec<f64>>,
}

impl Known {
    /// Reads what all PEs have printed.
    pub fn read(stdout: &str) -> Known {
        let mut known = Known { sums: BTreeMap::new(), arrivals: BTreeMap::new() };
        for line in stdout.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let names = match words[0] {
                "count" | "cell" | "region" | "time" | "arrive" | "leave" => 2,
                "size" => 3,
                _ => panic!("what is {line}?"),
            };
            let numbers = words[names..].iter().map(|word| word.parse().expect("a number"));
            if words[0] == "arrive" {
                known.arrivals.entry(words[1].to_owned()).or_default().extend(numbers);
                continue;
            }
            let sum = known.sums.entry(words[..names].join(" ")).or_insert_with(|| vec![0.0; words.len() - names]);
            sum.iter_mut().zip(numbers).for_each(|(sum, number): (_, f64)| *sum += number);
        }
        known
    }

    /// What is known of one kind: by name, without what was never done.
    pub fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a [f64])> {
        let all = self
            .sums
            .iter()
            .filter_map(move |(of, numbers)| Some((of.strip_prefix(kind)?.strip_prefix(' ')?, numbers)));
        all.filter(|(_, numbers)| numbers[0] > 0.0).map(|(of, numbers)| (of, numbers.as_slice()))
    }

    /// Calls and bytes of a routine.
    pub fn count(&self, routine: &str) -> [f64; 2] {
        self.of("count").find(|(name, _)| *name == routine).map_or([0.0; 2], |(_, numbers)| [numbers[0], numbers[1]])
    }

    /// Time that PEs have waited in meetings for the last one, in nanoseconds.
    pub fn lost_ns(&self) -> f64 {
        let last = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
        self.arrivals.values().map(|all| all.iter().map(|one| last(all) - one).sum::<f64>()).sum()
    }

    /// How many PEs have met how often.
    pub fn arrivals(&self) -> usize {
        self.arrivals.values().map(Vec::len).sum()
    }
}
