//! Times of runs, and what the statistics say of them. The unit is a run, never a call: the million calls of a run
//! depend on each other.

use std::collections::{BTreeMap, BTreeSet};

use pellucid_profile::op::class_of;

use super::run::Run;
use crate::stats::median;
use crate::stats::sequence::{self, TestResult, Tested};

/// A metric and its pairs.
#[derive(Clone, Debug, Default)]
pub struct Metric {
    /// `run`, `library`, `waiting`, or `region:NAME`.
    pub name: String,
    /// Whether it was chosen beforehand, and decides.
    pub primary: bool,
    /// Whether effects are shares of the run, and not of the metric: what is small may double and mean nothing.
    pub of_run: bool,
    /// Nanoseconds of each run of the base, and of the new side. Where they were measured in pairs, those with the same
    /// place are one; else there may be more of one side.
    pub sides: [Vec<f64>; 2],
    /// What the test says; `None`: too few pairs.
    pub tested: Option<Tested>,
}

impl Metric {
    /// Medians of all runs of the sides.
    pub fn medians(&self) -> [f64; 2] {
        self.sides.each_ref().map(|side| median(side))
    }

    /// Runs with the same place: base and new.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (f64, f64)> {
        let [base, new] = &self.sides;
        base.iter().copied().zip(new.iter().copied())
    }

    /// What is known, as JSON has it.
    pub fn verdict(&self) -> &'static str {
        match self.tested.map(|t| t.finding) {
            Some(TestResult::Slower) => "slower",
            Some(TestResult::Faster) => "faster",
            Some(TestResult::NoEffect) => "no effect",
            Some(TestResult::Open) => "inconclusive",
            None => "not tested",
        }
    }

    /// Logarithms of the ratios of the pairs.
    fn differences(&self, run: &[f64]) -> Vec<f64> {
        if !self.of_run {
            return self.pairs().map(|(base, new)| (new.max(1.0) / base.max(1.0)).ln()).collect();
        }
        self.pairs().zip(run).map(|((base, new), whole)| added(base, new, *whole)).collect()
    }
}

/// The values of one run, by metric: those of the library by PE, regions by their longest PE.
pub fn values(run: &Run) -> BTreeMap<String, f64> {
    let mut library: BTreeMap<u32, f64> = run.pes().into_iter().map(|pe| (pe, 0.0)).collect();
    let mut waiting = 0.0;
    for ((site, pe), cell) in &run.cells {
        match class_of(&run.keys[*site].op) {
            Some(class) if class.waits() => waiting += cell.ns as f64,
            _ => *library.entry(*pe).or_default() += cell.ns as f64,
        }
    }
    let pes = library.len().max(1) as f64;
    // Work: the PE that was disturbed least. Waiting: all that was lost, as a mean of the PEs.
    let least = library.into_values().fold(f64::INFINITY, f64::min);
    let mut values: BTreeMap<String, f64> =
        run.regions.iter().map(|(name, ns)| (format!("region:{name}"), *ns as f64)).collect();
    values.insert("run".to_owned(), run.run_ns as f64);
    values.insert("library".to_owned(), if least.is_finite() { least } else { 0.0 });
    values.insert("waiting".to_owned(), waiting / pes);
    values
}

/// Metrics that decide unless others are named.
pub const PRIMARY: [&str; 3] = ["run", "library", "waiting"];

/// The name of a metric that may decide.
pub fn primary(name: &str) -> Result<String, String> {
    let is_known = PRIMARY.contains(&name) || name.strip_prefix("region:").is_some_and(|region| !region.is_empty());
    is_known.then(|| name.to_owned()).ok_or_else(|| "there are: run, library, waiting, region:NAME".to_owned())
}

/// By how much a run of `whole` nanoseconds gets longer where a part of it takes `new` in place of `base`: the
/// logarithm of the ratio.
pub fn added(base: f64, new: f64, whole: f64) -> f64 {
    (1.0 + (new - base) / whole.max(1.0)).max(0.05).ln()
}

/// Whether a metric is a part of the run, and its effects are shares of it.
pub fn is_of_run(name: &str) -> bool {
    name == "library" || name == "waiting"
}

/// Metrics that runs have.
pub fn names(runs: &[&Run]) -> BTreeSet<String> {
    runs.iter().flat_map(|run| values(run).into_keys()).collect()
}

/// Metrics that were to decide and that a side has not, which has those that are known. A side that knows of no times
/// is none to ask.
pub fn missing(side: &str, known: &BTreeSet<String>, primary: &[String]) -> Vec<String> {
    let unknown = primary.iter().filter(|name| !known.is_empty() && !known.contains(*name));
    let list = || known.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    unknown.map(|name| format!("no run of {side} has the metric {name:?}; there are {}", list())).collect()
}

/// All metrics of the runs of both sides; those named decide. One that a run has not took no time there.
pub fn of_runs(sides: [&[&Run]; 2], primary: &[String]) -> Vec<Metric> {
    let values = sides.map(|runs| runs.iter().map(|run| values(run)).collect::<Vec<_>>());
    let mut names: Vec<String> = values[0].iter().flat_map(|of| of.keys().cloned()).collect();
    names.sort_by_key(|name| {
        (!primary.contains(name), PRIMARY.iter().position(|p| p == name).unwrap_or(9), name.clone())
    });
    names.dedup();
    let metric = |name: String| Metric {
        primary: primary.contains(&name),
        of_run: is_of_run(&name),
        sides: values.each_ref().map(|side| side.iter().map(|of| of.get(&name).copied().unwrap_or(0.0)).collect()),
        name,
        tested: None,
    };
    names.into_iter().map(metric).collect()
}

/// Fewest pairs that are tested: fewer could not rule out anything. That a program is slower takes some more
/// ([`sequence::ABLE`]).
pub const FEWEST: usize = 10;

/// Tests all metrics: those that decide together, the others each alone.
pub fn test(metrics: &mut [Metric], min_effect: f64) {
    let run: Vec<f64> = metrics.iter().find(|m| m.name == "run").map(|m| m.sides[0].clone()).unwrap_or_default();
    if metrics.iter().any(|metric| metric.pairs().len() < FEWEST) {
        return;
    }
    let differences: Vec<Vec<f64>> = metrics.iter().map(|metric| metric.differences(&run)).collect();
    let of =
        |primary: bool| -> Vec<usize> { (0..metrics.len()).filter(|&at| metrics[at].primary == primary).collect() };
    let (primary, others) = (of(true), of(false));
    let chosen: Vec<&[f64]> = primary.iter().map(|&at| differences[at].as_slice()).collect();
    for (at, tested) in primary.into_iter().zip(sequence::test(&chosen, min_effect)) {
        metrics[at].tested = Some(tested);
    }
    for at in others {
        metrics[at].tested = sequence::test(&[&differences[at]], min_effect).pop();
    }
}
