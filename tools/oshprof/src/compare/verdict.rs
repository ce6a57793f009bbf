//! A comparison as a whole, and what it comes to.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use pellucid_cli::{Words, text};

use super::accept::{self, Accept};
use super::asking::ENOUGH;
use super::cause::{self, Causes};
use super::counts::{self, Change, Counts, Effect};
use super::metric::{self, Metric};
use super::remarks::{self, Remark};
use super::run::{Run, Shape};
use super::same;
use super::sampled;
use super::side::Side;
use crate::stats::sequence::TestResult;

/// Exit status of a regression.
pub const REGRESSION: u8 = 3;
/// Exit status where there is nothing to compare, or nothing is known and `--strict` asks for an answer.
pub const NOT_COMPARABLE: u8 = 4;

/// What a changed count means to the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CountsMode {
    /// a regression
    #[default]
    Fail,
    /// a remark
    Warn,
    /// not looked at
    Off,
}

/// What it comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing got worse.
    #[default]
    Ok,
    /// Something got worse.
    Regression,
    /// Something got better, nothing worse.
    Improvement,
    /// It cannot be told.
    Inconclusive,
    /// The sides are not two versions of the same.
    NotComparable,
}

impl Verdict {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Regression => "regression",
            Verdict::Improvement => "improvement",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotComparable => "not comparable",
        }
    }

    /// Exit status.
    pub fn exit(self, strict: bool) -> u8 {
        match self {
            Verdict::Ok | Verdict::Improvement => 0,
            Verdict::Regression => REGRESSION,
            Verdict::NotComparable => NOT_COMPARABLE,
            Verdict::Inconclusive => {
                if strict {
                    NOT_COMPARABLE
                } else {
                    0
                }
            }
        }
    }
}

/// How to compare.
#[derive(Clone, Debug, Args)]
pub struct Rules {
    /// what more calls or bytes are
    #[arg(long, value_name = "HOW", value_parser = Words::<CountsMode>::all(), default_value = "fail")]
    pub counts: CountsMode,
    /// counts that vary from run to run may fail as well
    #[arg(long)]
    pub varying: bool,
    /// Whether jobs of different numbers of PEs are compared, by PE.
    #[arg(skip)]
    pub scale: bool,
    /// compare although the arguments of the programs differ
    #[arg(long)]
    pub any_arguments: bool,
    /// not to know is a failure
    #[arg(long)]
    pub strict: bool,
    /// least effect on time that matters
    #[arg(long, value_name = "P", value_parser = text(share), default_value = "2%")]
    pub min_effect: f64,
    /// what decides on time: run, library, waiting, region:NAME (repeat for several; default: the first three)
    #[arg(
        long = "metric", value_name = "M", value_parser = text(metric::primary),
        default_values = metric::PRIMARY, hide_default_value = true
    )]
    pub primary: Vec<String>,
    /// Changes that are accepted.
    #[arg(skip)]
    pub accepts: Vec<Accept>,
}

/// `2%` or `0.02`.
fn share(text: &str) -> Result<f64, String> {
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|value| value / 100.0),
        None => text.trim().parse().ok(),
    };
    number.filter(|value| (0.0..1.0).contains(value)).ok_or_else(|| "expected a share such as 2% or 0.02".to_owned())
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            counts: CountsMode::Fail,
            varying: false,
            scale: false,
            any_arguments: false,
            strict: false,
            min_effect: 0.02,
            primary: metric::PRIMARY.map(str::to_owned).to_vec(),
            accepts: Vec::new(),
        }
    }
}

/// What is told of a side.
#[derive(Clone, Debug, Default)]
pub struct SideSummary {
    /// What it is: a directory, a command, a commit.
    pub name: String,
    /// Program.
    pub program: String,
    /// Shape of its runs.
    pub shape: Shape,
    /// Runs.
    pub runs: usize,
    /// Facts of the machine and the library, by name.
    pub facts: Vec<(String, String)>,
}

/// All that was found.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The sides: base and new.
    pub sides: [SideSummary; 2],
    /// Why they cannot be compared.
    pub reasons: Vec<String>,
    /// The exact layer.
    pub counts: Counts,
    /// Times.
    pub metrics: Vec<Metric>,
    /// The least effect that matters.
    pub min_effect: f64,
    /// Where the difference in time comes from.
    pub causes: Causes,
    /// What else differs.
    pub remarks: Vec<Remark>,
    /// What to know before trusting it.
    pub notes: Vec<String>,
    /// Communication that varies from run to run is more than before, and that decides.
    pub varying_is_worse: bool,
    /// More communication is told and is no regression (`--counts warn`).
    pub counts_are_remarks: bool,
    /// What it comes to.
    pub verdict: Verdict,
    /// Exit status.
    pub exit: u8,
}

/// Compares runs; those with the same place in both lists are pairs where `paired` says so.
/// A run that is given again counts once; of pairs it is none.
pub fn compare(base: &[&Run], new: &[&Run], paired: bool, rules: &Rules) -> Comparison {
    let copies: Vec<String> = [base, new].into_iter().flat_map(same::copies).map(|(_, text)| text).collect();
    if paired && !copies.is_empty() {
        let mut found = Comparison { sides: [about(base), about(new)], reasons: copies, ..Comparison::default() };
        found.decide(rules, paired);
        return found;
    }
    let (base, mut notes) = same::without_copies(base);
    let (new, of_new) = same::without_copies(new);
    notes.extend(of_new);
    let mut found = compare_samples(&base, &new, paired, rules);
    found.notes.splice(0..0, notes);
    found
}

/// Compares runs, of which some may have call sites from samples.
fn compare_samples(base: &[&Run], new: &[&Run], paired: bool, rules: &Rules) -> Comparison {
    match sampled::comparable(base, new) {
        Some((sides, note)) => {
            let [base, new] = sides.each_ref().map(|runs| runs.iter().collect::<Vec<_>>());
            let mut found = compare_runs(&base, &new, paired, rules);
            found.notes.insert(0, note);
            found
        }
        None => compare_runs(base, new, paired, rules),
    }
}

fn compare_runs(base: &[&Run], new: &[&Run], paired: bool, rules: &Rules) -> Comparison {
    let (old, now) = (Side::of(base), Side::of(new));
    let mut found = Comparison { sides: [about(base), about(new)], ..Comparison::default() };
    found.notes.extend(base.iter().chain(new).flat_map(|run| run.doubts.iter().cloned()));
    for runs in [base, new] {
        found.reasons.extend(of_one_side(runs, rules));
    }
    let runs = || base.iter().chain(new);
    found.reasons.extend(base.first().and_then(|first| runs().find_map(|run| other_end(first, run))));
    for (side, runs) in [("base", base), ("new", new)] {
        found.reasons.extend(metric::missing(side, &metric::names(runs), &rules.primary));
    }
    circumstances(&mut found, base, new, paired);
    let (mut old, mut now) = (old, now);
    exact(&mut found, &mut old, &mut now, rules);
    if found.reasons.is_empty() {
        found.metrics = metric::of_runs([base, new], &rules.primary);
        if paired {
            metric::test(&mut found.metrics, rules.min_effect);
        }
        if old.shape.npes == now.shape.npes {
            found.causes = cause::find(base, new, &old, &now);
            found.remarks = remarks::find(base, new);
        }
    }
    found.decide(rules, paired);
    found
}

fn about(runs: &[&Run]) -> SideSummary {
    let Some(first) = runs.first() else { return SideSummary::default() };
    SideSummary {
        name: first.dir.display().to_string(),
        program: first.job.program.clone(),
        shape: first.shape.clone(),
        runs: runs.len(),
        facts: Vec::new(),
    }
}

/// Why a run that failed is none to compare with one that did not: it did less.
fn other_end(first: &Run, run: &Run) -> Option<String> {
    let has_failed = |run: &Run| (run.job.exit_status.unwrap_or(0), run.finalized < run.job.npes as usize);
    let said = |run: &Run| {
        let failure = run.failure().unwrap_or_else(|| "the job ended well".to_owned());
        format!("{}: {failure}", run.dir.display())
    };
    (has_failed(first) != has_failed(run)).then(|| format!("{}; {}", said(first), said(run)))
}

/// Why the runs of one side are not runs of the same. Calls by PE are those of two sides: within one, as many PEs are
/// asked for whatever is compared.
pub fn of_one_side(runs: &[&Run], rules: &Rules) -> Vec<String> {
    let differences = same::differences(runs, rules.any_arguments).into_iter();
    differences.map(|difference| format!("runs of one side with {difference}")).collect()
}

/// What does not keep two sides from being compared, and is to be known: another library, other hosts.
fn circumstances(found: &mut Comparison, base: &[&Run], new: &[&Run], paired: bool) {
    let (Some(old), Some(now)) = (base.first(), new.first()) else { return };
    for (side, run) in found.sides.iter_mut().zip([old, now]) {
        side.facts.extend(run.library.iter().map(|id| ("libsma".to_owned(), id.clone())));
    }
    if let (Some(a), Some(b)) = (&old.library, &now.library)
        && a != b
    {
        found.notes.push(format!("the library differs as well: libsma build {a:.12} against {b:.12}"));
    }
    found.notes.extend(same::two_programs(("base", old.program()), ("new", now.program())));
    let hosts = |runs: &[&Run]| runs.iter().map(|run| run.job.host.clone()).collect::<BTreeSet<_>>();
    let (old, now) = (hosts(base), hosts(new));
    if paired && old.is_disjoint(&now) {
        let list = |hosts: BTreeSet<String>| hosts.into_iter().collect::<Vec<_>>().join(", ");
        let (old, now) = (list(old), list(now));
        found.notes.push(format!("base ran on {old}, new on {now}: times are of different machines"));
    }
}

/// The exact layer alone.
pub fn exact(found: &mut Comparison, base: &mut Side, new: &mut Side, rules: &Rules) {
    found.min_effect = rules.min_effect;
    found.reasons.extend(differs(&base.shape, &new.shape, rules));
    found.reasons.dedup();
    if rules.counts == CountsMode::Off || !found.reasons.is_empty() {
        return;
    }
    if rules.scale && base.shape.npes != new.shape.npes {
        let by = (base.shape.npes, new.shape.npes);
        found.notes.push(format!(
            "{} PEs against {}: calls and bytes are those of {} PEs",
            by.0,
            by.1,
            lcm(by.0, by.1)
        ));
        base.scale(lcm(by.0, by.1) / by.0);
        new.scale(lcm(by.0, by.1) / by.1);
    }
    found.counts = counts::compare(base, new);
    let ended = accept::apply(&rules.accepts, &mut found.counts, &accept::today());
    found.notes.extend(ended);
    found.notes.extend(by_chance(&found.counts, base.runs.min(new.runs)));
    if !found.counts.certain && base.runs + new.runs > 0 {
        found
            .notes
            .push("one run of a side: give two of each, so that what varies from run to run is known".to_owned());
    }
}

/// What may differ by chance, and what would tell, of sides of so many runs at least.
fn by_chance(counts: &Counts, runs: usize) -> impl Iterator<Item = String> {
    let of = |is_wanted: &dyn Fn(&Change) -> bool| {
        let rows = counts.varying.iter().filter(|change| is_wanted(change));
        let ops: BTreeSet<&str> = rows.map(|change| change.op.as_str()).collect();
        (!ops.is_empty()).then(|| ops.into_iter().collect::<Vec<_>>().join(", "))
    };
    let asked = of(&|change| change.is_stable() && !change.is_dealt)
        .map(|ops| format!("{ops} may be called more or less often by chance: give five runs of each side"));
    let dealt = of(&|change| change.is_stable() && change.is_dealt).map(|ops| {
        format!(
            "calls of {ops} by single PEs vary from run to run, and those of all PEs together may by chance: give five \
             runs of each side"
        )
    });
    let varying = of(&|change| !change.is_stable() && (2..ENOUGH).contains(&runs))
        .map(|ops| format!("calls of {ops} vary from run to run: give five runs of each side"));
    asked.into_iter().chain(dealt).chain(varying)
}

fn lcm(a: u32, b: u32) -> u32 {
    let (mut x, mut y) = (a.max(1), b.max(1));
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a.max(1) / x).saturating_mul(b.max(1))
}

/// Why two shapes cannot be compared.
pub fn differs(base: &Shape, new: &Shape, rules: &Rules) -> Option<String> {
    if base.npes != new.npes && !rules.scale {
        return Some(format!("{} PEs against {} (oshprof diff --scale compares calls by PE)", base.npes, new.npes));
    }
    if base.arguments != new.arguments && !rules.any_arguments {
        let (a, b) = (&base.arguments, &new.arguments);
        return Some(format!("arguments `{a}` against `{b}` (--any-arguments compares all the same)"));
    }
    if base.npes == new.npes && base.hosts != new.hosts {
        return Some(format!("PEs on hosts {:?} against {:?}", base.hosts, new.hosts));
    }
    (base.level != new.level).then(|| format!("profiling level {} against {}", base.level, new.level))
}

impl Comparison {
    /// Changes that count, of one effect.
    pub fn changes(&self, effect: Effect) -> impl Iterator<Item = &Change> {
        self.counts.changed.iter().filter(move |change| change.effect == effect && change.accepted.is_none())
    }

    /// Communication that varies from run to run, where it is more than before and counts.
    pub fn more_that_varies(&self) -> impl Iterator<Item = &Change> {
        self.counts.varying.iter().filter(|change| change.accepted.is_none() && change.delta() > (0, 0))
    }

    /// What it comes to.
    pub fn decide(&mut self, rules: &Rules, paired: bool) {
        let of = |finding: TestResult| {
            self.metrics.iter().filter(|m| m.primary).any(|m| m.tested.is_some_and(|t| t.finding == finding))
        };
        let varying = rules.varying && self.more_that_varies().next().is_some();
        // Whoever is strict has asked for an answer, also where nothing was measured in pairs.
        let is_untested = rules.strict && self.metrics.iter().any(|metric| metric.primary && metric.tested.is_none());
        let open = paired && of(TestResult::Open) || is_untested;
        let counts = rules.counts == CountsMode::Fail;
        self.varying_is_worse = counts && varying;
        self.counts_are_remarks = !counts;
        self.verdict = if !self.reasons.is_empty() {
            Verdict::NotComparable
        } else if of(TestResult::Slower) || (counts && (varying || self.changes(Effect::Worse).next().is_some())) {
            Verdict::Regression
        } else if open {
            Verdict::Inconclusive
        } else if of(TestResult::Faster) || (counts && self.changes(Effect::Better).next().is_some()) {
            Verdict::Improvement
        } else {
            Verdict::Ok
        };
        self.exit = self.verdict.exit(rules.strict);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_programs_are_told_apart_by_their_names_not_their_folders() {
        let notes = |base: &str, new: &str| {
            let run = |program: &str| {
                let mut run = Run::default();
                run.job.program = program.to_owned();
                run
            };
            let mut found = Comparison::default();
            circumstances(&mut found, &[&run(base)], &[&run(new)], false);
            found.notes
        };
        assert_eq!(notes("/old/heat", "/new/heat"), Vec::<String>::new());
        assert_eq!(notes("/old/heat", "./isx"), ["two programs: base runs heat, new runs isx"]);
    }
}
