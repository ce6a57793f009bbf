//! What a report says that profiling took, against a measurement of it.
//!
//! The program (`programs/cost.c`) runs one loop with the profile off and on in turns, and says how much more processor
//! time it took on. The report of the same job says what it makes of that itself.

use serde_json::Value;

use crate::stats::summarize;

/// The loops, as the program names them.
pub const KERNELS: [&str; 7] = ["gups", "n_pes", "put-4KiB", "barrier", "sum", "flag", "region"];
/// By which factor what is told may be off.
const LIMIT: f64 = 4.0 / 3.0;
/// What loops that are alike differ by, in nanoseconds a turn: so much is no error.
const SMALL_NS: f64 = 0.5;

/// One run of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Turns of the loop that were recorded, of all PEs.
    turns: f64,
    /// Processor time that they took more than without, in nanoseconds.
    measured_ns: f64,
    /// What the report says that profiling took.
    told_ns: f64,
}

/// A loop.
pub struct LoopResult {
    /// Its name.
    pub kernel: &'static str,
    /// Its runs.
    pub runs: Vec<Run>,
}

impl LoopResult {
    /// `gups  2.61 ns a turn measured (2.50 to 2.73, 5 runs), 2.70 told: 1.03 x, within a third or 0.5 ns: met`
    pub fn line(&self) -> String {
        let of = |ns: fn(&Run) -> f64| summarize(&self.runs.iter().map(|run| ns(run) / run.turns).collect::<Vec<_>>());
        let (Some(measured), Some(told)) = (of(|run| run.measured_ns), of(|run| run.told_ns)) else {
            return format!("cost/{:<10} not measured", self.kernel);
        };
        let ratio = told.median / measured.median;
        let is_small = (told.median - measured.median).abs() <= SMALL_NS;
        let verdict = if is_small || (LIMIT.recip()..=LIMIT).contains(&ratio) { "met" } else { "not met" };
        let each = |of: fn(f64, f64) -> f64, start: f64| {
            self.runs.iter().map(|run| run.measured_ns / run.turns).fold(start, of)
        };
        format!(
            "cost/{:<10} {:.2} ns a turn measured ({:.2} to {:.2}, {} runs), {:.2} told: {ratio:.2} x, within a third \
             or {SMALL_NS} ns: {verdict}",
            self.kernel,
            measured.median,
            each(f64::min, f64::INFINITY),
            each(f64::max, f64::NEG_INFINITY),
            self.runs.len(),
            told.median
        )
    }
}

/// What the program printed, and the report on it.
///
/// # Errors
/// What is missing.
pub fn measured(output: &str, report: &str) -> Result<Run, String> {
    let report: Value = serde_json::from_str(report).map_err(|error| format!("the report is no JSON: {error}"))?;
    let told_ns = report["overhead_ns"].as_f64().ok_or("the report does not say what profiling took")?;
    let mut run = Run { turns: 0.0, measured_ns: 0.0, told_ns };
    for line in output.lines().filter(|line| line.starts_with("cost ")) {
        let mut numbers = line.split(' ').skip(2).map(|word| word.parse::<f64>().ok());
        let (Some(Some(turns)), Some(Some(ns))) = (numbers.next(), numbers.next()) else {
            return Err(format!("cannot read '{line}'"));
        };
        run.turns += turns;
        run.measured_ns += ns;
    }
    if run.turns > 0.0 { Ok(run) } else { Err("the program printed no times".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_are_summed_up_and_the_median_counts() {
        let output = "cost gups 100 200\nother\ncost gups 100 240\n";
        let run = measured(output, r#"{ "overhead_ns": 400 }"#).unwrap();
        assert_eq!(run, Run { turns: 200.0, measured_ns: 440.0, told_ns: 400.0 });
        let told = LoopResult { kernel: "gups", runs: vec![run, Run { measured_ns: 600.0, ..run }, run] };
        let line = told.line();
        assert!(
            line.starts_with("cost/gups       2.20 ns a turn measured (2.20 to 3.00, 3 runs), 2.00 told"),
            "{line}"
        );
        assert!(line.ends_with("0.91 x, within a third or 0.5 ns: met"), "{line}");
        let half = LoopResult { kernel: "gups", runs: vec![Run { told_ns: 200.0, ..run }] };
        assert!(half.line().ends_with("not met"), "{}", half.line());
    }

    #[test]
    fn what_is_missing_is_told() {
        assert!(measured("cost gups 1 1", "{}").unwrap_err().contains("does not say"));
        assert!(measured("cost gups x 1", r#"{ "overhead_ns": 1 }"#).unwrap_err().contains("cannot read"));
        assert!(measured("", r#"{ "overhead_ns": 1 }"#).unwrap_err().contains("no times"));
        assert!(LoopResult { kernel: "gups", runs: Vec::new() }.line().ends_with("not measured"));
    }
}
