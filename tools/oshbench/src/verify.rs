//! Times in the profile against a clock outside of it.
//!
//! The program times its own calls (`programs/verify.c`). What the profile had of a routine before that is taken off:
//! in the first calls of a routine the system makes the pages of the profile's memory, some 60 us that are in no
//! routine's time. What a clock outside sees beside the routine is recording itself. Another process that takes the
//! processor between the two clocks is in one of them only: so the program runs several times, and the median counts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::stats;

/// How far a total may be off.
pub const LIMIT: f64 = 0.02;
/// How far the mean of calls of nanoseconds may be off in nanoseconds: what no clock resolves.
const RESOLUTION_NS: f64 = 5.0;
/// Standard errors that an estimate may be off.
const ERRORS: f64 = 3.0;

/// One routine over all PEs in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    routine: String,
    /// Calls of nanoseconds, timed in a row, of which the profile times samples.
    is_short: bool,
    /// Calls and nanoseconds.
    outside: (u64, f64),
    inside: (u64, f64),
    stderr_ns: f64,
}

/// One routine over all runs.
pub struct Compared {
    /// C name.
    pub routine: String,
    is_short: bool,
    same_calls: bool,
    calls: u64,
    /// Mean of a call outside, in nanoseconds: of the run in the middle.
    mean_ns: f64,
    /// By how much the profile's totals are off the clock's, a run each.
    off: Vec<f64>,
    /// Standard error of the profile's total as a share of it.
    stderr: f64,
}

impl Compared {
    /// By how much the profile is off: the median of the runs.
    fn off(&self) -> f64 {
        stats::summarize(&self.off).map_or(f64::NAN, |summary| summary.median)
    }

    /// How far it may be off.
    fn limit(&self) -> f64 {
        if self.is_short { LIMIT.max(ERRORS * self.stderr).max(RESOLUTION_NS / self.mean_ns) } else { LIMIT }
    }

    /// Whether calls are the same and times close.
    pub fn is_right(&self) -> bool {
        self.same_calls && self.off().abs() <= self.limit()
    }

    /// `shmem_putmem  80 calls of 51.2 us: -0.10 % (5 runs, -0.21 to +0.05 %)`
    pub fn line(&self) -> String {
        let low = self.off.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.off.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = if self.mean_ns < 1000.0 {
            format!("{:.1} ns", self.mean_ns)
        } else {
            format!("{:.1} us", self.mean_ns / 1e3)
        };
        let mut line = format!(
            "{:<30} {:>7} calls of {mean:>9}: {:+6.2} % ({} runs, {:+.2} to {:+.2} %)",
            self.routine,
            self.calls,
            100.0 * self.off(),
            self.off.len(),
            100.0 * low,
            100.0 * high,
        );
        if self.is_short {
            let off_ns = self.off() * self.mean_ns;
            line += &format!(", {off_ns:+.1} ns a call, standard error {:.1} %", 100.0 * self.stderr);
        }
        if !self.same_calls {
            line += ", other calls in the profile";
        }
        if !self.is_right() {
            line += &format!(" (limit {:.0} %)", 100.0 * self.limit());
        }
        line
    }
}

/// What the program printed, against what the report of its profile has.
///
/// # Errors
/// What is missing.
pub fn measured(output: &str, report: &str) -> Result<Vec<Measured>, String> {
    let report: Value = serde_json::from_str(report).map_err(|error| format!("the report is no JSON: {error}"))?;
    let mut sums: BTreeMap<(String, String), (u64, f64)> = BTreeMap::new();
    for line in output.lines() {
        let mut words = line.split(' ');
        let (Some(kind @ ("before" | "outside" | "batch")), Some(name)) = (words.next(), words.next()) else {
            continue;
        };
        let numbers = words.next().and_then(|c| c.parse::<u64>().ok());
        let numbers = numbers.zip(words.next().and_then(|n| n.parse::<f64>().ok()));
        let Some((calls, ns)) = numbers else { return Err(format!("cannot read '{line}'")) };
        let sum = sums.entry((kind.to_owned(), name.to_owned())).or_default();
        *sum = (sum.0 + calls, sum.1 + ns);
    }
    let routines = report["routines"].as_array().ok_or("the report has no routines")?;
    let inside = |name: &str| {
        let row = routines.iter().find(|row| row["name"] == name)?;
        let time = &row["time_ns"];
        Some((row["calls"].as_u64()?, time["total"].as_f64()?, time["total_stderr"].as_f64()?))
    };
    let timed: Vec<_> = sums.iter().filter(|((kind, _), _)| kind != "before").collect();
    if timed.is_empty() {
        return Err("the program printed no times".to_owned());
    }
    timed
        .into_iter()
        .map(|((kind, routine), &outside)| {
            let (calls, ns, stderr_ns) = inside(routine).ok_or(format!("{routine} is not in the profile"))?;
            let before = sums.get(&("before".to_owned(), routine.clone())).copied().unwrap_or_default();
            let inside = (calls.saturating_sub(before.0), ns - before.1);
            Ok(Measured { routine: routine.clone(), is_short: kind == "batch", outside, inside, stderr_ns })
        })
        .collect()
}

/// The runs together.
pub fn compare(runs: &[Vec<Measured>]) -> Vec<Compared> {
    let Some(first) = runs.first() else { return Vec::new() };
    let of = |routine: &Measured| {
        let same = |m: &&Measured| m.routine == routine.routine && m.is_short == routine.is_short;
        let all: Vec<&Measured> = runs.iter().flatten().filter(same).collect();
        let middle = |of: &dyn Fn(&Measured) -> f64| {
            let values: Vec<f64> = all.iter().map(|m| of(m)).collect();
            stats::summarize(&values).map_or(f64::NAN, |summary| summary.median)
        };
        Compared {
            routine: routine.routine.clone(),
            is_short: routine.is_short,
            same_calls: all.iter().all(|m| m.outside.0 == m.inside.0),
            calls: routine.outside.0,
            mean_ns: middle(&|m| m.outside.1 / m.outside.0.max(1) as f64),
            off: all.iter().map(|m| (m.inside.1 - m.outside.1) / m.outside.1).collect(),
            stderr: middle(&|m| m.stderr_ns / m.inside.1.max(1.0)),
        }
    };
    first.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str =
        r#"{"routines": [{"name": "shmem_putmem", "calls": 5, "time_ns": {"total": 1510, "total_stderr": 0}}]}"#;

    fn run(output: &str) -> Vec<Measured> {
        measured(output, REPORT).unwrap()
    }

    #[test]
    fn totals_and_calls_are_compared() {
        let good =
            "before shmem_putmem 1 500\noutside shmem_putmem 2 400\nhello\noutside shmem_putmem 2 600\nswitches 7\n";
        let compared = compare(&[run(good)]);
        assert!(compared[0].is_right() && compared[0].line().contains("+1.00 %"), "{}", compared[0].line());
        let off = compare(&[run("before shmem_putmem 1 500\noutside shmem_putmem 4 900\n")]);
        assert!(!off[0].is_right() && off[0].line().ends_with("(limit 2 %)"), "{}", off[0].line());
        assert!(!compare(&[run("outside shmem_putmem 4 1510\n")])[0].is_right(), "a call more");
        assert!(measured("outside shmem_getmem 1 1\n", REPORT).is_err());
        assert!(measured("outside shmem_putmem x 1\n", REPORT).is_err());
        assert!(measured("", REPORT).is_err() && compare(&[]).is_empty());
    }

    #[test]
    fn the_run_in_the_middle_counts() {
        let (near, far) = ("outside shmem_putmem 5 1500\n", "outside shmem_putmem 5 3000\n");
        assert!(compare(&[run(near), run(far), run(near)])[0].is_right());
        assert!(!compare(&[run(far), run(far), run(near)])[0].is_right());
    }

    #[test]
    fn what_no_clock_resolves_is_allowed_for_calls_of_nanoseconds_only() {
        // 30 ns a call.
        let short = REPORT.replace("1510", "151");
        let is_right = |line: &str| compare(&[measured(line, &short).unwrap()])[0].is_right();
        assert!(!is_right("outside shmem_putmem 5 147\n"));
        assert!(is_right("batch shmem_putmem 5 147\n") && is_right("batch shmem_putmem 5 130\n"));
        assert!(!is_right("batch shmem_putmem 5 100\n"));
        let estimated = REPORT.replace("\"total_stderr\": 0", "\"total_stderr\": 100");
        assert!(compare(&[measured("batch shmem_putmem 5 1400\n", &estimated).unwrap()])[0].is_right());
    }
}
