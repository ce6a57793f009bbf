//! What is kept of a PE's time line: as many columns as a line of text has room for.

use crate::model::Pe;
use crate::timeline::KINDS;

/// Columns of a PE's time line.
pub const STRIP_COLUMNS: usize = 64;
/// What stands for all of a column's time.
const ALL: f64 = 255.0;

/// A PE's time from its begin to its end, in columns of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Begin of the first column, in nanoseconds since the job's start.
    pub begin_ns: u64,
    /// End of the last.
    pub end_ns: u64,
    /// Share of a column's time by kind of time in the library, as 255ths.
    columns: [[u8; KINDS]; STRIP_COLUMNS],
}

impl Strip {
    /// The time line of a PE; `None` where it has none.
    pub(super) fn new(pe: &Pe) -> Option<Box<Strip>> {
        let line = &pe.tables.timeline;
        if line.slices.is_empty() || line.width_ns == 0 || pe.end_ns <= pe.start_ns {
            return None;
        }
        let column_ns = (pe.end_ns - pe.start_ns) as f64 / STRIP_COLUMNS as f64;
        let mut columns = [[0; KINDS]; STRIP_COLUMNS];
        for (at, column) in columns.iter_mut().enumerate() {
            let begin = pe.start_ns as f64 + at as f64 * column_ns;
            *column = shares(line, (begin, begin + column_ns), column_ns);
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

    /// Shares of a column's time by kind, 0 to 1 together.
    pub fn shares(&self, column: usize) -> [f64; KINDS] {
        self.columns[column].map(|share| f64::from(share) / ALL)
    }
}

/// Shares of `whole_ns` nanoseconds that a PE spent in the library between two moments.
fn shares(line: &crate::tables::Timeline, (begin, end): (f64, f64), whole_ns: f64) -> [u8; KINDS] {
    let width = line.width_ns as f64;
    let place = |moment: f64| ((moment - line.begin_ns as f64) / width).max(0.0) as usize;
    let mut sums = [0.0; KINDS];
    for at in place(begin)..=place(end).min(line.slices.len().saturating_sub(1)) {
        let Some(slice) = line.slices.get(at) else { break };
        let from = line.begin_ns as f64 + at as f64 * width;
        let part = ((from + width).min(end) - from.max(begin)).max(0.0) / width;
        sums.iter_mut().zip(slice).for_each(|(sum, &ns)| *sum += part * ns as f64);
    }
    let all: f64 = sums.iter().sum();
    // Samples may come late for the calls that they stand for.
    sums.map(|ns| (ALL * ns / whole_ns.max(all).max(1.0)).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Progress;
    use crate::tables::{PeTables, Timeline};

    #[test]
    fn columns_have_what_slices_have() {
        // Half of the run in barriers, then nothing; slices that are wider than columns and begin before them.
        let slices = vec![[0, 0, 1000], [0, 0, 1000], [0, 0, 0], [0, 0, 0]];
        let timeline = Timeline { begin_ns: 1000, width_ns: 1000, slices };
        let tables = PeTables { timeline, ..PeTables::default() };
        let pe = Pe { start_ns: 1000, end_ns: 5000, progress: Progress::Finalized, tables, ..Pe::default() };
        let strip = Strip::new(&pe).unwrap();
        assert!((0..32).all(|at| strip.shares(at) == [0.0, 0.0, 1.0]), "{strip:?}");
        assert!((32..64).all(|at| strip.shares(at) == [0.0; KINDS]));
        assert_eq!((strip.range_ns(0).0, strip.range_ns(63).1), (1000, 5000));
        assert!(Strip::new(&Pe::default()).is_none());
    }
}
