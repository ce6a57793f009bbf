//! How a call of a collective comes to one of its algorithms: rows with a name, when they serve, and a function. The
//! rows are in `collectives/table.rs`, those of barriers here, since every other collective meets by them.

use super::members::TeamView;
use super::{central_counter, dissemination, flat, tell_algorithm};
use crate::base::Fault;

/// Collectives that the table has rows of.
pub const COLLECTIVES: usize = 9;

/// Up to this many members, reading what all have contributed beats the rounds of a tree: 16 members on 16 cores
/// take half the time of a tree so, and each more takes 30 ns. Where PEs share cores it always does: a round of
/// messages costs every PE a turn on its core, however little it does in it.
const FLAT_MEMBERS: usize = 24;

/// What algorithms are chosen by.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shape {
    /// Bytes of the call's argument, of a block where there is one a member, or of the whole result of an fcollect.
    pub bytes: usize,
    /// Members; between hosts, of whatever group exchanges data: hosts, or members that speak for themselves.
    pub members: usize,
    /// Members on other hosts, for each at most.
    pub remote: usize,
    /// More PEs than cores.
    pub oversubscribed: bool,
}

impl Shape {
    /// Whether rounds of messages pay.
    pub fn is_large_team(&self) -> bool {
        self.members > FLAT_MEMBERS && !self.oversubscribed
    }
}

/// One algorithm of a collective; `F` is the type of its function.
#[derive(Debug, Clone, Copy)]
pub struct Algorithm<F> {
    /// Name in `SHMEM_COLLECTIVES`.
    pub name: &'static str,
    /// What it does, and to which sizes it is limited.
    pub help: &'static str,
    /// Whether it can do such a call. Where it is forced and cannot, the next row that can does.
    pub fits: fn(&Shape) -> bool,
    /// Whether it does such a call where nothing is forced. The first row that fits and pays is taken.
    pub pays: fn(&Shape) -> bool,
    /// The algorithm.
    pub run: F,
}

/// A collective and its algorithms. The last row takes every call.
#[derive(Debug, Clone, Copy)]
pub struct Collective<F: 'static> {
    /// Name in `SHMEM_COLLECTIVES`.
    pub name: &'static str,
    /// Where it is in the table.
    pub place: TablePlace,
    /// Its algorithms, what is best in fewer cases first.
    pub rows: &'static [Algorithm<F>],
}

/// Where a collective is in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TablePlace {
    /// Collectives before it.
    pub collective: usize,
    /// Algorithms before its own.
    pub algorithm: u8,
}

/// Algorithms that a collective has at most.
pub const MOST_ROWS: usize = 4;

/// For [`Algorithm::fits`] and [`Algorithm::pays`]: every call.
pub const ANY: fn(&Shape) -> bool = |_| true;

impl<F: Copy> Collective<F> {
    /// The place behind this one.
    pub const fn next(&self) -> TablePlace {
        assert!(self.rows.len() <= MOST_ROWS);
        let TablePlace { collective, algorithm } = self.place;
        TablePlace { collective: collective + 1, algorithm: algorithm + self.rows.len() as u8 }
    }

    /// The algorithm that takes every call, and its number.
    pub const fn last(&self) -> (F, u8) {
        let last = self.rows.len() - 1;
        (self.rows[last].run, self.place.algorithm + last as u8)
    }

    /// The row of a call.
    #[inline(always)]
    fn row(&self, forced: &Forced, shape: &Shape) -> usize {
        let last = self.rows.len() - 1;
        match forced.0[self.place.collective] {
            0 => self.best(shape),
            row => (usize::from(row) - 1..last).find(|row| (self.rows[*row].fits)(shape)).unwrap_or(last),
        }
    }

    /// The row that a call takes where none is forced. No loop: so the functions of a row are known here, and inlined.
    #[inline(always)]
    fn best(&self, shape: &Shape) -> usize {
        let last = self.rows.len() - 1;
        let takes = |row: usize| row < last && (self.rows[row].fits)(shape) && (self.rows[row].pays)(shape);
        const { assert!(MOST_ROWS == 4) };
        if takes(0) {
            0
        } else if takes(1) {
            1
        } else if takes(2) {
            2
        } else {
            last
        }
    }

    /// The algorithm of a call. Who counts algorithms is told.
    #[inline(always)]
    pub fn choose(&self, forced: &Forced, shape: &Shape) -> F {
        let (run, number) = self.pick(forced, shape);
        tell_algorithm(number);
        run
    }

    /// As [`Self::choose`], and nobody is told: that is left to the caller, with the number of the algorithm.
    #[inline(always)]
    pub fn pick(&self, forced: &Forced, shape: &Shape) -> (F, u8) {
        let row = self.row(forced, shape);
        (self.rows[row].run, self.place.algorithm + row as u8)
    }
}

/// What the environment forces, by collective: the number of the row, from 1 on; 0 leaves the choice to size and
/// members.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forced(pub [u8; COLLECTIVES]);

impl Forced {
    /// Nothing is forced.
    pub const AUTO: Self = Self([0; COLLECTIVES]);
}

/// Of a barrier. Who counts algorithms is told by itself, with this number: in the time that it waits, where it does.
pub type Barrier = fn(&TeamView<'_>, u8) -> Result<(), Fault>;

/// The barriers of a job, with their numbers.
#[derive(Debug, Clone, Copy)]
pub struct Barriers {
    /// Of teams that are not large.
    small: (Barrier, u8),
    /// See [`Shape::is_large_team`].
    large: (Barrier, u8),
}

impl Barriers {
    /// Before anything is known of the job.
    pub const LAST: Self = Self { small: BARRIER.last(), large: BARRIER.last() };

    /// Those of a job.
    pub fn of(forced: &Forced, oversubscribed: bool) -> Self {
        let among = |members| BARRIER.pick(forced, &Shape { members, oversubscribed, ..Shape::default() });
        Self { small: among(FLAT_MEMBERS), large: among(FLAT_MEMBERS + 1) }
    }

    /// The barrier among so many members of a host, and its number.
    #[inline(always)]
    pub fn among(&self, members: i32) -> (Barrier, u8) {
        if members as usize > FLAT_MEMBERS { self.large } else { self.small }
    }
}

/// Barriers.
pub const BARRIER: Collective<Barrier> = Collective {
    name: "barrier",
    place: TablePlace { collective: 0, algorithm: 0 },
    rows: &[
        Algorithm {
            name: "counter",
            help: "all count themselves in on one PE, the last lets all go",
            fits: ANY,
            pays: |shape| shape.oversubscribed,
            run: |view, number| central_counter(view, || tell_algorithm(number)),
        },
        Algorithm {
            name: "flat",
            help: "all show themselves and look at all others",
            fits: ANY,
            pays: |shape| !shape.is_large_team(),
            run: |view, number| flat(view, || tell_algorithm(number)),
        },
        Algorithm {
            name: "dissemination",
            help: "rounds of messages, each to three PEs: 1, 2, 3, then 4, 8, 12, then 16 ... further on",
            fits: ANY,
            pays: ANY,
            run: |view, number| dissemination(view, || tell_algorithm(number)),
        },
    ],
};
