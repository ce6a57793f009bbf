//! What is kept of a PE's time line: as many columns as a line of text has room for.

use crate::model::{Pe, Progress};
use crate::timeline::{DATA, KINDS, SETUP};

/// Columns of a PE's time line.
pub const STRIP_COLUMNS: usize = 64;
/// Kinds of time in a column: those of slices, and [`SETUP`].
pub const STRIP_KINDS: usize = KINDS + 1;
/// What stands for all of a column's time.
const ALL: f64 = 255.0;

/// A PE's time from its begin to its end, in columns of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Begin of the first column, in nanoseconds since the job's start.
    pub begin_ns: u64,
    /// End of the last.
    pub end_ns: u64,
    /// Share of a column's time by kind, as 255ths.
    columns: [[u8; STRIP_KINDS]; STRIP_COLUMNS],
}

impl Strip {
    /// The time line of a PE; `None` where it has none.
    pub(super) fn new(pe: &Pe) -> Option<Box<Strip>> {
        let line = &pe.tables.timeline;
        if line.slices.is_empty() || line.width_ns == 0 || pe.end_ns <= pe.start_ns {
            return None;
        }
        let column_ns = (pe.end_ns - pe.start_ns) as f64 / STRIP_COLUMNS as f64;
        let ends = Ends::of(pe);
        let mut columns = [[0; STRIP_KINDS]; STRIP_COLUMNS];
        for (at, column) in columns.iter_mut().enumerate() {
            let begin = pe.start_ns as f64 + at as f64 * column_ns;
            *column = shares(line, &ends, (begin, begin + column_ns));
        }
        Some(Box::new(Strip { begin_ns: pe.start_ns, end_ns: pe.end_ns, columns }))
    }

    /// Begin and end of a column, in nanoseconds since the job's start.
    pub fn range_ns(&self, column: usize) -> (u64, u64) {
        let at = |column: usize| {
            let passed = u128::from(self.end_ns - self.begin_ns) * column as u128 / STRIP_COLUMNS as u128;
            self.begin_ns + passed as u64
        };
        (at(column), at(column + 1))
    }

    /// The column of a moment.
    pub fn column_at(&self, ns: u64) -> Option<usize> {
        let passed = ns.checked_sub(self.begin_ns)?;
        let whole = u128::from(self.end_ns - self.begin_ns).max(1);
        let column = (u128::from(passed) * STRIP_COLUMNS as u128 / whole) as usize;
        (column < STRIP_COLUMNS).then_some(column)
    }

    /// Whether some of its time is of a kind.
    pub fn has(&self, kind: usize) -> bool {
        self.columns.iter().any(|column| column[kind] > 0)
    }

    /// Shares of a column's time by kind, 0 to 1 together.
    pub fn shares(&self, column: usize) -> [f64; STRIP_KINDS] {
        self.columns[column].map(|share| f64::from(share) / ALL)
    }
}

/// When a PE was in its initialization and in its finalization, in nanoseconds since the job's start.
struct Ends([(f64, f64); 2]);

impl Ends {
    fn of(pe: &Pe) -> Ends {
        // Who never came out of its initialization was in it to its end.
        let begun = if pe.progress == Progress::Attached { pe.end_ns } else { pe.init_ns.max(pe.start_ns) };
        let over = if pe.finalize_ns > 0 { pe.finalize_ns } else { pe.end_ns };
        Ends([(pe.start_ns, begun), (over, pe.end_ns)].map(|(from, to)| (from as f64, to as f64)))
    }

    /// How much of a time they take.
    fn within(&self, (begin, end): (f64, f64)) -> f64 {
        self.0.iter().map(|(from, to)| (to.min(end) - from.max(begin)).max(0.0)).sum()
    }

    /// How much of a time is outside of them.
    fn outside(&self, (begin, end): (f64, f64)) -> f64 {
        (end - begin - self.within((begin, end))).max(0.0)
    }
}

/// Shares of the time between two moments that a PE spent in the library.
fn shares(line: &crate::tables::Timeline, ends: &Ends, (begin, end): (f64, f64)) -> [u8; STRIP_KINDS] {
    let width = line.width_ns as f64;
    let place = |moment: f64| ((moment - line.begin_ns as f64) / width).max(0.0) as usize;
    let mut sums = [0.0; STRIP_KINDS];
    for at in place(begin)..=place(end).min(line.slices.len().saturating_sub(1)) {
        let Some(slice) = line.slices.get(at) else { break };
        let from = line.begin_ns as f64 + at as f64 * width;
        let outside = ends.outside((from, from + width));
        let common = (from.max(begin), (from + width).min(end));
        if outside <= 0.0 || common.1 <= common.0 {
            continue;
        }
        let part = ends.outside(common) / outside;
        let mut kinds = slice.map(|ns| ns as f64);
        kinds[DATA] = (kinds[DATA] - ends.within((from, from + width))).max(0.0);
        sums.iter_mut().zip(kinds).for_each(|(sum, ns)| *sum += part * ns);
    }
    sums[SETUP] = ends.within((begin, end));
    let all: f64 = sums.iter().sum();
    // Samples may come late for the calls that they stand for.
    let whole = (end - begin).max(all).max(1.0);
    sums.map(|ns| (ALL * ns / whole).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Progress;
    use crate::tables::{PeTables, Timeline};
    use crate::timeline::UNRECORDED;

    #[test]
    fn columns_have_what_slices_have() {
        // Half of the run in barriers, then nothing; slices that are wider than columns and begin before them.
        let slices = vec![[0, 0, 1000, 0], [0, 0, 1000, 0], [0; KINDS], [0; KINDS]];
        let timeline = Timeline { begin_ns: 1000, width_ns: 1000, slices };
        let tables = PeTables { timeline, ..PeTables::default() };
        let pe = Pe { start_ns: 1000, end_ns: 5000, progress: Progress::Finalized, tables, ..Pe::default() };
        let strip = Strip::new(&pe).unwrap();
        assert!((0..32).all(|at| strip.shares(at) == [0.0, 0.0, 1.0, 0.0, 0.0]), "{strip:?}");
        assert!((32..64).all(|at| strip.shares(at) == [0.0; STRIP_KINDS]));
        assert_eq!((strip.range_ns(0).0, strip.range_ns(63).1), (1000, 5000));
        assert!(Strip::new(&Pe::default()).is_none());
    }

    #[test]
    fn initialization_and_finalization_are_no_puts() {
        // A quarter of the run each; a slice of the first half has 100 of puts beside 500 of the initialization.
        let slices = vec![[1000, 0, 0, 0], [0; KINDS], [100, 0, 0, 0], [1000, 0, 0, 0]];
        let timeline = Timeline { begin_ns: 1000, width_ns: 1000, slices };
        let tables = PeTables { timeline, ..PeTables::default() };
        let (init_ns, finalize_ns) = (2000, 4000);
        let pe = Pe { start_ns: 1000, end_ns: 5000, progress: Progress::Finalized, tables, ..Pe::default() };
        let strip = Strip::new(&Pe { init_ns, finalize_ns, ..pe.clone() }).unwrap();
        let setup = [0.0, 0.0, 0.0, 0.0, 1.0];
        assert!((0..16).chain(48..64).all(|at| strip.shares(at) == setup), "{strip:?}");
        assert!((16..32).all(|at| strip.shares(at) == [0.0; STRIP_KINDS]), "{strip:?}");
        assert!((32..48).all(|at| (strip.shares(at)[DATA] - 0.1).abs() < 0.01), "{strip:?}");
        // In the middle of a slice: what is not of the initialization is beside it.
        let strip = Strip::new(&Pe { init_ns: 1500, finalize_ns: 5000, ..pe }).unwrap();
        assert!((0..8).all(|at| strip.shares(at) == setup), "{strip:?}");
        assert!((8..16).all(|at| strip.shares(at) == [1.0, 0.0, 0.0, 0.0, 0.0]), "{strip:?}");
    }

    #[test]
    fn what_was_not_recorded_is_a_kind_of_its_own() {
        let slices = vec![[0; KINDS], [0, 0, 0, 1000]];
        let timeline = Timeline { begin_ns: 1000, width_ns: 1000, slices };
        let tables = PeTables { timeline, ..PeTables::default() };
        let pe = Pe { start_ns: 1000, end_ns: 3000, progress: Progress::Finalized, tables, ..Pe::default() };
        let strip = Strip::new(&pe).unwrap();
        assert!(strip.has(UNRECORDED) && !strip.has(DATA));
        assert_eq!([10, 50].map(|at| strip.shares(at)[UNRECORDED]), [0.0, 1.0]);
    }
}
