//! Times in the profile against a clock outside of it.

use std::collections::BTreeMap;

use serde_json::Value;

/// How far a total may be off.
pub const LIMIT: f64 = 0.02;

/// One routine over all PEs: calls and nanoseconds outside, and in the profile.
pub struct Compared {
    /// C name.
    pub routine: String,
    outside: (u64, f64),
    inside: (u64, f64),
}

impl Compared {
    /// How far the profile's total is off the clock's, as a share of that.
    fn off(&self) -> f64 {
        (self.inside.1 - self.outside.1) / self.outside.1
    }

    /// Whether calls are the same and times close.
    pub fn is_right(&self) -> bool {
        self.outside.0 == self.inside.0 && self.off().abs() <= LIMIT
    }

    /// `shmem_putmem  80 calls, 51.2 ms outside, 51.1 ms in the profile: -0.10 %`
    pub fn line(&self) -> String {
        let calls = if self.outside.0 == self.inside.0 {
            format!("{} calls", self.inside.0)
        } else {
            format!("{} calls, {} in the profile", self.outside.0, self.inside.0)
        };
        format!(
            "{:<26} {calls}, {:.3} ms outside, {:.3} ms in the profile: {:+.2} %{}",
            self.routine,
            self.outside.1 / 1e6,
            self.inside.1 / 1e6,
            100.0 * self.off(),
            if self.is_right() { "" } else { " (limit 2 %)" }
        )
    }
}

/// What the program printed, against what the report of its profile has.
///
/// # Errors
/// What is missing.
pub fn compare(output: &str, report: &str) -> Result<Vec<Compared>, String> {
    let report: Value = serde_json::from_str(report).map_err(|error| format!("the report is no JSON: {error}"))?;
    let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    for line in output.lines().filter_map(|line| line.strip_prefix("outside ")) {
        let mut words = line.split(' ');
        let (name, calls, ns) = (words.next(), words.next(), words.next());
        let numbers = calls.and_then(|c| c.parse::<u64>().ok()).zip(ns.and_then(|n| n.parse::<f64>().ok()));
        let (Some(name), Some((calls, ns))) = (name, numbers) else { return Err(format!("cannot read '{line}'")) };
        let sum = sums.entry(name.to_owned()).or_default();
        *sum = (sum.0 + calls, sum.1 + ns);
    }
    if sums.is_empty() {
        return Err("the program printed no times".to_owned());
    }
    let routines = report["routines"].as_array().ok_or("the report has no routines")?;
    let inside = |name: &str| {
        let row = routines.iter().find(|row| row["name"] == name)?;
        Some((row["calls"].as_u64()?, row["time_ns"]["total"].as_f64()?))
    };
    sums.into_iter()
        .map(|(routine, outside)| {
            let inside = inside(&routine).ok_or(format!("{routine} is not in the profile"))?;
            Ok(Compared { routine, outside, inside })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_and_calls_are_compared() {
        let report = r#"{"routines": [{"name": "shmem_putmem", "calls": 4, "time_ns": {"total": 1010}}]}"#;
        let compared = compare("outside shmem_putmem 2 400\nhello\noutside shmem_putmem 2 600\n", report).unwrap();
        assert!(compared[0].is_right() && compared[0].line().contains("+1.00 %"), "{}", compared[0].line());
        let off = compare("outside shmem_putmem 4 900\n", report).unwrap();
        assert!(!off[0].is_right() && off[0].line().ends_with("(limit 2 %)"));
        assert!(!compare("outside shmem_putmem 3 1010\n", report).unwrap()[0].is_right());
        assert!(compare("outside shmem_getmem 1 1\n", report).is_err());
        assert!(compare("", report).is_err());
    }
}
