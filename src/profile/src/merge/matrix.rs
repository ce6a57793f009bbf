//! Who sends how much to whom: every cell counts, in as many groups of PEs as a reader can take in, and the busiest
//! pairs.

use std::cmp::Reverse;
use std::sync::Arc;

use super::plan::Plan;
use crate::model::Pe;
use crate::tables::{Peer, Traffic};

/// Rows of a matrix in JSON; up to as many PEs have a row each.
pub const LARGEST: usize = 256;
/// Rows of a matrix as a chart.
pub const LARGEST_CHART: usize = 64;
/// Rows of a matrix as text.
pub const LARGEST_TEXT: usize = 8;
/// Sizes that are made.
pub(super) const SIZES: [usize; 3] = [LARGEST_TEXT, LARGEST_CHART, LARGEST];

/// Traffic from each origin (row) to each target (column).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// What a row or column stands for: a PE, a host, or a range of PEs.
    pub labels: Vec<String>,
    /// Whether rows stand for PEs one by one.
    pub by_pe: bool,
    /// Bytes.
    pub bytes: Vec<Vec<u64>>,
    /// Calls.
    pub calls: Vec<Vec<u64>>,
    /// Traffic to PEs that found no room in a thread's table.
    pub elsewhere: Traffic,
}

/// Which row or column a PE belongs to. Takes no memory by PE, but for the hosts, if there are several.
#[derive(Debug)]
pub(super) struct Groups {
    labels: Vec<String>,
    npes: usize,
    of: Of,
}

#[derive(Debug)]
enum Of {
    /// PEs that make one row.
    Range(usize),
    /// Its host's, by PE.
    Host(Arc<[u32]>),
}

impl Groups {
    /// At most `largest` groups: the PEs themselves where that many fit, else their hosts, else ranges of them. `host`
    /// has the place of each PE's host in `hosts`, where there are several.
    pub(super) fn new(npes: usize, hosts: &[String], host: &Arc<[u32]>, largest: usize) -> Groups {
        if npes > largest && (2..=largest).contains(&hosts.len()) {
            return Groups { labels: hosts.to_vec(), npes, of: Of::Host(Arc::clone(host)) };
        }
        let step = npes.div_ceil(largest.max(1)).max(1);
        let label = |first: usize| match step {
            1 => first.to_string(),
            _ => format!("{first}-{}", (first + step).min(npes) - 1),
        };
        Groups { labels: (0..npes).step_by(step).map(label).collect(), npes, of: Of::Range(step) }
    }

    fn is_by_pe(&self) -> bool {
        matches!(self.of, Of::Range(1))
    }

    /// The row of a PE; `None`: the job has no such PE.
    fn of(&self, pe: u32) -> Option<usize> {
        let pe = Some(pe as usize).filter(|&pe| pe < self.npes)?;
        match &self.of {
            Of::Range(step) => Some(pe / step),
            Of::Host(host) => host.get(pe).map(|&group| group as usize),
        }
    }
}

/// Sums by pair of groups.
#[derive(Debug, Default)]
pub(super) struct Matrices {
    /// Rows one after the other, by size.
    cells: Vec<Vec<Traffic>>,
    elsewhere: Traffic,
    pairs: Pairs,
}

/// One pair of PEs.
pub type Pair = (u32, Peer);

/// The pairs with most bytes, and the sum of the others.
#[derive(Debug, Default)]
struct Pairs {
    kept: Vec<Pair>,
    others: Peer,
    left_out: u64,
}

fn rank((from, to): &Pair) -> impl Ord + use<> {
    let all = to.all();
    (Reverse((all.bytes, all.calls)), *from, to.pe)
}

impl Pairs {
    fn cut(&mut self, most: usize) {
        if self.kept.len() <= most {
            return;
        }
        self.kept.select_nth_unstable_by_key(most, rank);
        for (_, left_out) in self.kept.drain(most..) {
            self.others.merge(&left_out);
            self.left_out += 1;
        }
    }
}

impl Matrices {
    pub(super) fn new(plan: &Plan) -> Matrices {
        let empty = |groups: &Groups| vec![Traffic::default(); groups.labels.len().pow(2)];
        Matrices { cells: plan.groups.iter().map(empty).collect(), ..Matrices::default() }
    }

    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        for peer in &pe.tables.peers {
            let all = peer.all();
            let mut is_known = false;
            for (groups, cells) in plan.groups.iter().zip(&mut self.cells) {
                if let (Some(from), Some(to)) = (groups.of(pe.pe), peer.pe.and_then(|pe| groups.of(pe))) {
                    cells[from * groups.labels.len() + to].add(all);
                    is_known = true;
                }
            }
            if !is_known {
                self.elsewhere.add(all);
            }
            self.pairs.kept.push((pe.pe, *peer));
        }
        if self.pairs.kept.len() > 2 * plan.limits.pairs {
            self.pairs.cut(plan.limits.pairs);
        }
    }

    pub(super) fn join(&mut self, plan: &Plan, other: Matrices) {
        for (to, from) in self.cells.iter_mut().flatten().zip(other.cells.into_iter().flatten()) {
            to.add(from);
        }
        self.elsewhere.add(other.elsewhere);
        self.pairs.kept.extend(other.pairs.kept);
        self.pairs.others.merge(&other.pairs.others);
        self.pairs.left_out += other.pairs.left_out;
        self.pairs.cut(plan.limits.pairs);
    }

    /// A matrix of each size; the pairs, most bytes first; how many are left out, and their sum.
    pub(super) fn finish(mut self, plan: &Plan) -> (Vec<Matrix>, Vec<Pair>, (u64, Peer)) {
        let matrix = |(groups, cells): (&Groups, &Vec<Traffic>)| {
            let rows = |of: fn(&Traffic) -> u64| -> Vec<Vec<u64>> {
                cells.chunks(groups.labels.len().max(1)).map(|row| row.iter().map(of).collect()).collect()
            };
            Matrix {
                labels: groups.labels.clone(),
                by_pe: groups.is_by_pe(),
                bytes: rows(|traffic| traffic.bytes),
                calls: rows(|traffic| traffic.calls),
                elsewhere: self.elsewhere,
            }
        };
        let matrices = plan.groups.iter().zip(&self.cells).map(matrix).collect();
        self.pairs.cut(plan.limits.pairs);
        self.pairs.kept.sort_unstable_by_key(rank);
        (matrices, self.pairs.kept, (self.pairs.left_out, self.pairs.others))
    }
}
