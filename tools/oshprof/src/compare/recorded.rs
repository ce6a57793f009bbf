//! Two series of real gates, replayed: `tests/recorded/series.py` made them, docs/regression.md has their numbers. The
//! pairs are those of a machine, once loud and once quiet, and not of a model.

use super::metric::{FEWEST, Metric, PRIMARY, test};
use crate::stats::sequence::{TestResult, is_decided, looks};

/// On a machine that others used.
const LOUD: &str = include_str!("../../tests/recorded/loud.tsv");
/// On a machine with nothing else to do.
const QUIET: &str = include_str!("../../tests/recorded/quiet.tsv");
/// The least effect that matters, as gates have it.
const MATTERS: f64 = 0.02;

struct Gate {
    is_slower: bool,
    verdict: &'static str,
    /// The report named the region that takes longer.
    is_named: bool,
    /// Nanoseconds of the pairs, by metric.
    values: Vec<Vec<(f64, f64)>>,
}

fn gates(series: &'static str) -> Vec<Gate> {
    let pair = |text: &'static str| {
        let (base, new) = text.split_once(':').expect("a pair");
        (1000.0 * base.parse::<f64>().expect("a time"), 1000.0 * new.parse::<f64>().expect("a time"))
    };
    let gate = |line: &'static str| {
        let cells: Vec<&'static str> = line.split('\t').collect();
        Gate {
            is_slower: cells[0] == "slower",
            verdict: cells[1],
            is_named: cells[2] == "1",
            values: cells[3..].iter().map(|cell| cell.split(',').map(pair).collect()).collect(),
        }
    };
    series.lines().map(gate).collect()
}

/// What the three metrics that decide come to, with pairs given one after the other.
fn replay(values: &[Vec<(f64, f64)>], most: usize) -> Vec<Metric> {
    let mut metrics = Vec::new();
    for look in looks(FEWEST, most) {
        metrics = PRIMARY
            .iter()
            .zip(values)
            .map(|(name, values)| Metric {
                name: (*name).to_owned(),
                primary: true,
                of_run: *name != "run",
                sides: [0, 1].map(|side| values[..look].iter().map(|pair| [pair.0, pair.1][side]).collect()),
                tested: None,
            })
            .collect();
        test(&mut metrics, MATTERS);
        let tested: Vec<_> = metrics.iter().filter_map(|metric| metric.tested).collect();
        if is_decided(&tested) {
            break;
        }
    }
    metrics
}

fn has(metrics: &[Metric], finding: TestResult) -> bool {
    metrics.iter().any(|metric| metric.tested.is_some_and(|t| t.finding == finding))
}

#[test]
fn recorded_gates_come_to_what_they_came_to() {
    for series in [LOUD, QUIET] {
        let gates = gates(series);
        let (same, slower): (Vec<&Gate>, Vec<&Gate>) = gates.iter().partition(|gate| !gate.is_slower);
        assert!(same.len() >= 100 && slower.len() >= 50, "{} and {}", same.len(), slower.len());
        // Times were recorded in whole microseconds: a verdict at the edge may come out otherwise.
        let is_otherwise = |gate: &&Gate| {
            let found = replay(&gate.values, gate.values[0].len());
            has(&found, TestResult::Slower) != (gate.verdict == "regression")
        };
        let otherwise = gates.iter().filter(is_otherwise).count();
        assert!(otherwise * 100 <= gates.len(), "{otherwise} of {} come to something else", gates.len());
        let wrong = same.iter().filter(|gate| gate.verdict == "regression").count();
        assert!(wrong * 100 <= same.len(), "{wrong} of {}", same.len());
        // Where nothing was found nobody said that there is nothing.
        assert!(slower.iter().all(|gate| gate.verdict != "ok"), "5 % were called nothing");
    }
}

#[test]
fn what_takes_longer_was_found_where_it_was_quiet() {
    let gates = gates(QUIET);
    let slower: Vec<&Gate> = gates.iter().filter(|gate| gate.is_slower).collect();
    let found = slower.iter().filter(|gate| gate.verdict == "regression").count();
    assert!(slower.len() >= 200 && found * 100 >= 95 * slower.len(), "{found} of {}", slower.len());
    assert!(slower.iter().all(|gate| gate.is_named), "a region was not named");
}

/// Pairs of equal programs may change their sides: any number of series like the recorded ones.
#[test]
fn recorded_noise_makes_no_regressions() {
    for series in [LOUD, QUIET] {
        noise_makes_no_regressions(&gates(series));
    }
}

fn noise_makes_no_regressions(gates: &[Gate]) {
    let pool: Vec<&Gate> = gates.iter().filter(|gate| !gate.is_slower).collect();
    let many = if std::env::var_os("PELLUCID_TEST_LONG").is_some() { 1000 } else { 200 };
    let mut random = fastrand::Rng::with_seed(3);
    let (mut wrong, mut ruled_out) = (0, 0);
    for _ in 0..many {
        let mut values = vec![Vec::new(); PRIMARY.len()];
        while values[0].len() < 40 {
            // Runs that follow each other are alike: several of them stay together.
            let gate = pool[random.usize(..pool.len())];
            let from = random.usize(..gate.values[0].len());
            for at in from..(from + 5).min(gate.values[0].len()) {
                let swap = random.bool();
                for (to, of) in values.iter_mut().zip(&gate.values) {
                    to.push(if swap { (of[at].1, of[at].0) } else { of[at] });
                }
            }
        }
        wrong += usize::from(has(&replay(&values, 40), TestResult::Slower));
        // The same, where the new side takes 5 % longer.
        values[0].iter_mut().for_each(|pair| pair.1 *= 1.05);
        ruled_out += usize::from(replay(&values, 40)[0].tested.is_some_and(|t| t.finding == TestResult::NoEffect));
    }
    assert!(wrong * 100 <= many, "{wrong} of {many} equal programs are slower");
    assert!(ruled_out * 100 <= many, "5 % are no effect in {ruled_out} of {many}");
}
