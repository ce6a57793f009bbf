//! A line of a history: a run of a commit.

use std::collections::BTreeMap;

use clap::Args;
use pellucid_cli::{string, text};
use serde_json::{Value, json};

use super::VERSION;
use crate::compare::run::Shape;
use crate::history::{OF_ADD, commit, seconds, suite};

/// What is told of a run beside its profile.
#[derive(Clone, Debug, Default, Args)]
pub struct RunMetadata {
    /// add: where the commit is; list, check, plot: only the runs of this branch
    #[arg(long, value_name = "NAME", value_parser = string(), default_value = "", hide_default_value = true)]
    pub branch: String,
    /// of the program that was run
    #[arg(
        long, value_name = "SHA", value_parser = text(commit), default_value = "", hide_default_value = true,
        help_heading = OF_ADD
    )]
    pub commit: String,
    /// the commit before it: it comes first, whatever the times are
    #[arg(
        long, value_name = "SHA", value_parser = text(commit), default_value = "", hide_default_value = true,
        help_heading = OF_ADD
    )]
    pub parent: String,
    /// when, since 1970 (default: now)
    #[arg(long, value_name = "SECONDS", value_parser = text(seconds), help_heading = OF_ADD)]
    pub time: Option<u64>,
    /// what the runs are compared with (default: program, PEs and arguments)
    #[arg(long, value_name = "NAME", value_parser = text(suite), help_heading = OF_ADD)]
    pub suite: Option<String>,
    /// counts only: for a baseline in a repository, where times of some machine mean nothing
    #[arg(long, help_heading = OF_ADD)]
    pub no_times: bool,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Name of the series.
    pub suite: String,
    /// Commit.
    pub commit: String,
    /// Commit before it; may be empty.
    pub parent: String,
    /// Branch; may be empty.
    pub branch: String,
    /// Seconds since 1970.
    pub time: u64,
    /// Kind of machine: times of different kinds are never compared.
    pub machine: String,
    /// Program.
    pub program: String,
    /// What has to be equal.
    pub shape: Shape,
    /// How many runs.
    pub runs: u64,
    /// Hash of the counts.
    pub counts: String,
    /// Hashes of parts of the counts, by name: `barrier`, `put` ... of call sites, `sizes`, `pairs`, `errors`. They
    /// tell what changed where the counts themselves are gone.
    pub groups: BTreeMap<String, String>,
    /// Tells runs apart.
    pub id: String,
    /// Medians in nanoseconds.
    pub metrics: BTreeMap<String, f64>,
}

impl Entry {
    /// As a line has it.
    pub fn to_json(&self) -> Value {
        json!({
            "v": VERSION, "suite": self.suite, "commit": self.commit, "parent": self.parent, "branch": self.branch,
            "time": self.time, "machine": self.machine, "program": self.program, "pes": self.shape.npes,
            "hosts": self.shape.hosts, "arguments": self.shape.arguments, "level": self.shape.level, "runs": self.runs,
            "counts": self.counts, "groups": self.groups, "id": self.id, "metrics": self.metrics,
        })
    }

    /// From a line; `None` for what is none.
    pub fn parse(line: &str) -> Option<Entry> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let number = |name: &str| value[name].as_u64();
        if number("v")? != VERSION {
            return None;
        }
        let hosts = value["hosts"].as_array()?.iter().map(|n| n.as_u64().and_then(|n| n.try_into().ok()));
        let metrics = value["metrics"].as_object()?.iter();
        let counts = text("counts").filter(|hash| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()))?;
        Some(Entry {
            suite: text("suite")?,
            commit: text("commit")?,
            parent: text("parent")?,
            branch: text("branch")?,
            time: number("time")?,
            machine: text("machine")?,
            program: text("program")?,
            shape: Shape {
                npes: number("pes")?.try_into().ok()?,
                hosts: hosts.collect::<Option<_>>()?,
                arguments: text("arguments")?,
                level: value["level"].as_i64()?.try_into().ok()?,
            },
            runs: number("runs")?,
            counts,
            groups: value["groups"].as_object().map_or_else(BTreeMap::new, |groups| {
                groups.iter().filter_map(|(name, hash)| Some((name.clone(), hash.as_str()?.to_owned()))).collect()
            }),
            id: text("id")?,
            metrics: metrics.filter_map(|(name, ns)| Some((name.clone(), ns.as_f64()?))).collect(),
        })
    }
}
