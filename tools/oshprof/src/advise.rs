//! `oshprof advise`: what slows a program down, with the evidence, and what to try. Each rule is a file and a row of
//! [`RULES`]; a rule that is not sure says nothing.

mod barrier_late;
mod get_and_wait;
mod heap;
mod polling;
mod quiet_often;
mod small_puts;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;

use pellucid_profile::merge::{Merged, PeRow};
use pellucid_profile::model::Routine;
use pellucid_profile::op::Class;
use pellucid_profile::report::{Symbols, grids};
use pellucid_profile::text::visible;
use serde_json::json;

use crate::report::{complain, load};
use crate::resolve::Resolver;
use crate::{FAILED, print};

/// What a rule found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is wrong, in one line.
    pub what: String,
    /// The numbers that show it.
    pub evidence: String,
    /// What to try.
    pub try_this: &'static str,
    /// What it costs at most, as a share of the run time of all PEs.
    pub share: f64,
}

/// One rule.
pub struct Rule {
    /// Name.
    pub name: &'static str,
    /// Looks at a profile.
    pub find: fn(&Merged, &dyn Symbols) -> Option<Finding>,
}

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule { name: "small-puts", find: small_puts::find },
    Rule { name: "quiet-often", find: quiet_often::find },
    Rule { name: "barrier-late", find: barrier_late::find },
    Rule { name: "get-and-wait", find: get_and_wait::find },
    Rule { name: "polling", find: polling::find },
    Rule { name: "heap", find: heap::find },
];

/// Below this share of the run time nothing is worth a word.
const WORTH: f64 = 0.02;

/// Findings with the names of their rules, the most expensive first.
pub fn findings(profile: &Merged, symbols: &dyn Symbols) -> Vec<(&'static str, Finding)> {
    let mut found: Vec<_> =
        RULES.iter().filter_map(|rule| (rule.find)(profile, symbols).map(|finding| (rule.name, finding))).collect();
    found.sort_by(|a, b| b.1.share.total_cmp(&a.1.share).then_with(|| a.0.cmp(b.0)));
    found
}

/// Prints the findings on the profile in `dir`.
pub fn run(dir: Option<&Path>, as_json: bool) -> ExitCode {
    let Some((profile, directory)) = load(dir) else { return ExitCode::from(FAILED) };
    let problems = directory.problems();
    let found = findings(&profile, &Resolver::default());
    let printed = print(&if as_json { json_text(&found, &problems) } else { text(&found) });
    complain(&problems);
    if problems.is_empty() { printed } else { ExitCode::from(FAILED) }
}

fn text(found: &[(&'static str, Finding)]) -> String {
    if found.is_empty() {
        return "nothing found: no rule sees a reason for this program to be slow\n".to_owned();
    }
    let mut out = String::new();
    for (at, (name, f)) in found.iter().enumerate() {
        let share = 100.0 * f.share;
        out.push_str(&format!(
            "{}. {} [{name}, up to {share:.0} % of the run]\n   seen: {}\n   try:  {}\n",
            at + 1,
            visible(&f.what),
            f.evidence,
            f.try_this
        ));
    }
    out
}

fn json_text(found: &[(&'static str, Finding)], problems: &[String]) -> String {
    let list: Vec<_> = found
        .iter()
        .map(|(name, f)| json!({ "rule": name, "what": f.what, "evidence": f.evidence, "try": f.try_this, "share": f.share }))
        .collect();
    format!("{:#}\n", json!({ "schema_version": 1, "findings": list, "problems": problems }))
}

/// Run time of all PEs.
fn run_ns(profile: &Merged) -> f64 {
    profile.pes.iter().map(|pe| pe.wall_ns() as f64).sum::<f64>().max(1.0)
}

/// Calls and time of the routines that `of` picks, over all PEs.
fn sum(profile: &Merged, of: impl Fn(&Routine) -> bool) -> (u64, f64) {
    let picked = profile.routines.iter().filter(|r| of(r));
    picked.fold((0, 0.0), |(calls, ns), r| (calls.saturating_add(r.all_calls()), ns + r.spent_ns() as f64))
}

fn is_quiet(r: &Routine) -> bool {
    r.class == Class::Order && r.name.contains("quiet")
}

/// The busiest call site of the routines that `of` picks, for people.
fn busiest(profile: &Merged, symbols: &dyn Symbols, of: impl Fn(&str) -> bool) -> String {
    let view = pellucid_profile::report::View::Callsites;
    let options =
        pellucid_profile::report::Options { sort: pellucid_profile::report::SortKey::Calls, ..Default::default() };
    let grids = grids(view, profile, &options, symbols);
    let cell = |row: &[pellucid_profile::report::grid::Cell], at: usize| {
        row[at].shown(pellucid_profile::report::grid::Kind::Text)
    };
    let found = grids.iter().flat_map(|grid| &grid.rows).find(|row| of(&cell(row, 1)));
    found.map_or(String::new(), |row| format!("; most at {}", cell(row, 0)))
}

/// PEs by what `of` gives, and their sum.
fn by_pe(profile: &Merged, of: impl Fn(&PeRow) -> u64) -> Vec<(u32, u64)> {
    profile.pes.iter().map(|pe| (pe.pe, of(pe))).collect()
}
