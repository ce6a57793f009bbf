//! What the profile costs whole programs: each run of a variant is paired with one without a profile, right before or
//! right after it, and the median of the ratios counts.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::stats::{interval, summarize};

/// A program of `examples/`, and arguments with which it runs for about a second.
pub struct Example {
    /// Folder and file name.
    pub name: &'static str,
    /// Arguments.
    pub args: &'static [&'static str],
    /// The same for a short run.
    pub quick: &'static [&'static str],
}

/// What is run.
pub const EXAMPLES: [Example; 2] = [
    Example { name: "gups", args: &["-u", "33554432"], quick: &["-u", "4194304"] },
    Example { name: "isort", args: &["-k", "16000000"], quick: &["-k", "2000000"] },
];

/// A way to run a program.
pub struct Variant {
    /// Name.
    pub name: &'static str,
    /// Options of oshrun; `DIR` stands for a directory that is not there.
    options: &'static [&'static str],
    /// Environment.
    environment: &'static [(&'static str, &'static str)],
    /// How many times the time without a profile it may take.
    pub limit: Option<f64>,
}

/// Without a profile.
pub const OFF: Variant = Variant { name: "off", options: &["--profile", "off"], environment: &[], limit: None };

/// What is compared with [`OFF`].
pub const VARIANTS: [Variant; 4] = [
    Variant { name: "level1", options: &[], environment: &[], limit: Some(1.01) },
    Variant { name: "kept", options: &["--profile-dir=DIR"], environment: &[], limit: None },
    Variant { name: "trace", options: &["--trace=DIR"], environment: &[], limit: Some(1.05) },
    Variant {
        name: "trace-full",
        options: &["--trace=DIR"],
        environment: &[("SHMEM_TRACE_DETAIL", "full")],
        limit: None,
    },
];

impl Variant {
    /// Puts the options of this variant before the program and its arguments.
    pub fn apply(&self, command: &mut Command, directory: &Path) {
        let directory = directory.display().to_string();
        command.args(self.options.iter().map(|option| option.replace("DIR", &directory)));
        command.envs(self.environment.iter().copied()).env_remove("SHMEM_PROFILE");
    }
}

/// Removes what a run left behind.
pub fn clean(directory: &Path) {
    // Where a run left nothing there is nothing to remove.
    let _ = fs::remove_dir_all(directory);
}

/// Pairs of one program and variant: seconds with and without.
pub struct Pairs {
    /// Program and variant.
    pub name: String,
    /// See [`Variant::limit`].
    pub limit: Option<f64>,
    /// With and without, in nanoseconds.
    pub ns: Vec<(f64, f64)>,
}

impl Pairs {
    /// `gups/trace  1.031 x off (1.024 to 1.040, 20 pairs), limit 1.05: met`
    pub fn line(&self) -> String {
        let ratios: Vec<f64> = self.ns.iter().map(|(with, without)| with / without).collect();
        let Some(summary) = summarize(&ratios) else { return format!("{:<18} not measured", self.name) };
        let (low, high) = interval(&ratios);
        let verdict = match self.limit {
            None => String::new(),
            Some(limit) => {
                let verdict = match (summary.median <= limit, low <= limit && limit < high) {
                    (true, false) => "met",
                    (true, true) => "met, but within the interval",
                    (false, true) => "not met, but within the interval",
                    (false, false) => "not met",
                };
                format!(", limit {limit:.2}: {verdict}")
            }
        };
        let pairs = ratios.len();
        format!("{:<18} {:.3} x off ({low:.3} to {high:.3}, {pairs} pairs){verdict}", self.name, summary.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_the_pairs_counts() {
        let ns = (0..21).map(|i| (100.0 + f64::from(i % 3), 100.0)).collect();
        let pairs = Pairs { name: "gups/trace".into(), limit: Some(1.05), ns };
        assert!(pairs.line().starts_with("gups/trace         1.010 x off (1.00"), "{}", pairs.line());
        assert!(pairs.line().ends_with("21 pairs), limit 1.05: met"), "{}", pairs.line());
        let none = Pairs { name: "gups/trace".into(), limit: None, ns: Vec::new() };
        assert!(none.line().ends_with("not measured"));
    }
}
