//! Where in the program calls come from.

/// Calls of one routine from one place of the program in one region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Return address in the process; 0 where it is not known (no room in the table, or not called through an entry).
    pub address: u64,
    /// C name of the routine; empty for calls that found no room.
    pub routine: String,
    /// Number of the region, an index of [`super::PeTables::regions`].
    pub region: u8,
    /// Calls. Exact.
    pub calls: u64,
    /// Bytes. Exact.
    pub bytes: u64,
    /// Calls that were timed.
    pub timed_calls: u64,
    /// Time in all calls that have returned, in nanoseconds: exact where each was timed, else estimated so that sites
    /// add up to their routine. `None` where none was timed.
    pub total_ns: Option<u64>,
    /// Longest timed call in nanoseconds.
    pub max_ns: u64,
    /// Calls that had not returned when the numbers were read; 0 in profiles of earlier versions.
    pub unfinished: u64,
    /// Time in those calls so far, in nanoseconds.
    pub unfinished_ns: u64,
}

impl Site {
    /// Adds another thread's calls from the same place.
    pub fn merge(&mut self, other: &Site) {
        self.total_ns = match (self.total_ns, other.total_ns) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            // Calls that were not timed take what the timed ones took.
            (Some(ns), None) => Some(scaled(ns, self.calls, self.calls + other.calls)),
            (None, Some(ns)) => Some(scaled(ns, other.calls, self.calls + other.calls)),
            (None, None) => None,
        };
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.timed_calls = self.timed_calls.saturating_add(other.timed_calls);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.unfinished_ns = self.unfinished_ns.saturating_add(other.unfinished_ns);
    }
}

fn scaled(ns: u64, from: u64, to: u64) -> u64 {
    if from == 0 { ns } else { (u128::from(ns) * u128::from(to) / u128::from(from)) as u64 }
}

/// An object that was loaded into the PE's process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// What is added to its file's addresses.
    pub base: u64,
    /// First address of its code.
    pub start: u64,
    /// End of its code.
    pub end: u64,
    /// File.
    pub path: String,
    /// Its build id, in hexadecimal digits; empty where it has none, or the profile does not say.
    pub build_id: String,
}

/// A place of a program that calls the library.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodePlace {
    /// C name of the routine.
    pub routine: String,
    /// File; empty where not known.
    pub path: String,
    /// Address of the return, in it.
    pub address: u64,
}

/// One way to a call site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callers {
    /// Where the call returns to, as in [`Site`].
    pub address: u64,
    /// C name of the routine.
    pub routine: String,
    /// Region, by number.
    pub region: u8,
    /// Where the function that has the call returns to, where that one returns to, and so on.
    pub returns: Vec<u64>,
    /// How often it was seen.
    pub times: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untimed_calls_take_the_mean_of_timed_ones() {
        let mut a = Site { calls: 10, timed_calls: 10, total_ns: Some(100), ..Site::default() };
        a.merge(&Site { calls: 30, ..Site::default() });
        assert_eq!((a.calls, a.total_ns, a.timed_calls), (40, Some(400), 10));
        let mut b = Site { calls: 1, ..Site::default() };
        b.merge(&Site { calls: 1, ..Site::default() });
        assert_eq!(b.total_ns, None);
    }
}
