//! Two sets of profiles, compared: what `oshprof diff` and `oshprof gate` say comes from here.
//!
//! | module | what it is |
//! |---|---|
//! | `run` | what a comparison needs of one profile: shape, exact counts, times by PE |
//! | `same` | whether runs are runs of one program |
//! | `place` | names of call sites that survive edits of the source |
//! | `asking` | which counts depend on time |
//! | `distinct` | which of those that vary changed all the same |
//! | `side` | several runs of one program: what is the same in all of them, and what varies |
//! | `sampled` | routines of which samples have call sites: compared in all |
//! | `align` | which call sites of the two programs correspond |
//! | `counts` | the exact layer: what changed, what moved, what varies |
//! | `carry` | counts of several commits: what later ones are held against |
//! | `accept` | changes that `.pellucid-perf.toml` accepts until a date |
//! | `metric` | times of runs, and what the statistics say of them |
//! | `cause` | the difference in time, divided up so that the parts add up to it |
//! | `remarks` | what else differs: latencies, counters |
//! | `library` | which library a program ran with |
//! | `verdict` | all of it in one value, and the exit status |

pub mod accept;
mod align;
pub mod asking;
pub mod carry;
pub mod cause;
pub mod counts;
mod distinct;
mod library;
pub mod metric;
pub mod place;
#[cfg(test)]
mod recorded;
pub mod remarks;
pub mod run;
pub mod same;
mod sampled;
pub mod side;
pub mod verdict;

/// Calls and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount {
    /// Calls.
    pub calls: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Amount {
    /// Adds another amount.
    pub fn add(&mut self, other: Amount) {
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// The least and the greatest amount among the runs of a side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Least calls, least bytes.
    pub min: Amount,
    /// Most calls, most bytes.
    pub max: Amount,
}

impl Range {
    /// Of values of which there is at least one.
    pub fn of(values: impl IntoIterator<Item = Amount>) -> Range {
        let mut values = values.into_iter();
        let first = values.next().unwrap_or_default();
        values.fold(Range { min: first, max: first }, |range, value| Range {
            min: Amount { calls: range.min.calls.min(value.calls), bytes: range.min.bytes.min(value.bytes) },
            max: Amount { calls: range.max.calls.max(value.calls), bytes: range.max.bytes.max(value.bytes) },
        })
    }

    /// What is in one or the other.
    pub fn or(&self, other: &Range) -> Range {
        Range::of([self.min, self.max, other.min, other.max])
    }

    /// Whether all runs have the same.
    pub fn is_stable(&self) -> bool {
        self.min == self.max
    }

    /// Whether a value may belong to both.
    pub fn overlaps(&self, other: &Range) -> bool {
        let within = |a: (u64, u64), b: (u64, u64)| a.0 <= b.1 && b.0 <= a.1;
        within((self.min.calls, self.max.calls), (other.min.calls, other.max.calls))
            && within((self.min.bytes, self.max.bytes), (other.min.bytes, other.max.bytes))
    }
}
