//! Where counts changed. Each commit is held against those before it, of as many PEs: of a count that varies from run
//! to run at one of them, against the last one at which it did not.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, Finding};
use crate::compare::carry::{carry, join};
use crate::compare::counts::{self, Change, Effect};
use crate::compare::same;
use crate::compare::side::Side;
use crate::history::store::{Entry, Store};
use crate::history::{of_branch, short};

/// All changes in the runs of like jobs of a series, oldest first; `on` names the jobs.
///
/// # Errors
/// What could not be read.
pub fn find(store: &Store, entries: &[&Entry], on: &str) -> Result<Checked, String> {
    let commits = Commit::of(entries);
    let Some((first, later)) = commits.split_first() else { return Ok(Checked::default()) };
    let mut walk =
        Walk { on, before: Before::new(first, first.side(store)), open: Vec::new(), checked: Checked::default() };
    let mut programs = BTreeSet::new();
    for (old, now) in commits.iter().zip(later) {
        let names = ((short(old.name()), old.program()), (short(now.name()), now.program()));
        // Once of each two, though runs of both may come in turn.
        if let Some(two) = same::two_programs(names.0, names.1)
            && programs.insert([old.program(), now.program()])
        {
            walk.checked.notes.push(format!("in {}: {two}", walk.series(now)));
        }
        walk.step(store, now)?;
    }
    let last = &commits[commits.len() - 1];
    let varying = walk.before.varying();
    let series = walk.series(last);
    walk.checked.notes.extend(varying.into_iter().map(|text| format!("in {series} {text}")));
    Ok(walk.checked)
}

/// The runs of a commit: those that were added one by one vary where they differ.
struct Commit<'e> {
    entries: Vec<&'e Entry>,
}

impl<'e> Commit<'e> {
    /// In the order of the first run of each.
    fn of(entries: &[&'e Entry]) -> Vec<Commit<'e>> {
        let (mut commits, mut places): (Vec<Commit<'e>>, BTreeMap<&str, usize>) = (Vec::new(), BTreeMap::new());
        for entry in entries {
            let at = *places.entry(&entry.commit).or_insert_with(|| {
                commits.push(Commit { entries: Vec::new() });
                commits.len() - 1
            });
            commits[at].entries.push(entry);
        }
        commits
    }

    fn name(&self) -> &'e str {
        &self.entries[0].commit
    }

    fn program(&self) -> &'e str {
        &self.entries[0].program
    }

    fn hashes(&self) -> BTreeSet<String> {
        self.entries.iter().map(|entry| entry.counts.clone()).collect()
    }

    fn runs(&self) -> usize {
        self.entries.iter().map(|entry| entry.runs as usize).sum()
    }

    fn side(&self, store: &Store) -> Result<Side, String> {
        let mut side = store.side(self.entries[0])?;
        let mut known = BTreeSet::from([&self.entries[0].counts]);
        for entry in &self.entries[1..] {
            if known.insert(&entry.counts) {
                side = join(&side, &store.side(entry)?);
            }
        }
        side.runs = self.runs();
        Ok(side)
    }

    /// Hashes of each part of the counts; nothing where a run has none.
    fn groups(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        if self.entries.iter().any(|entry| entry.groups.is_empty()) {
            return groups;
        }
        let names: BTreeSet<&String> = self.entries.iter().flat_map(|entry| entry.groups.keys()).collect();
        for (name, entry) in names.iter().flat_map(|name| self.entries.iter().map(move |entry| (*name, entry))) {
            groups.entry(name.clone()).or_default().insert(entry.groups.get(name).cloned().unwrap_or_default());
        }
        groups
    }
}

/// What a commit is held against.
struct Before {
    /// The last commit.
    commit: String,
    hashes: BTreeSet<String>,
    groups: BTreeMap<String, BTreeSet<String>>,
    /// Its counts, or earlier ones where they vary.
    side: Result<Side, String>,
    /// Of which routines they are earlier: of which commit, and since which one they vary.
    kept: BTreeMap<String, (String, String)>,
}

impl Before {
    fn new(commit: &Commit<'_>, side: Result<Side, String>) -> Before {
        Before {
            commit: commit.name().to_owned(),
            hashes: commit.hashes(),
            groups: commit.groups(),
            side,
            kept: BTreeMap::new(),
        }
    }

    /// The same counts once more.
    fn again(&mut self, commit: &Commit<'_>) {
        commit.name().clone_into(&mut self.commit);
        if let Ok(side) = &mut self.side {
            side.runs = side.runs.max(commit.runs());
        }
    }

    /// Other counts, of which these routines have been told.
    fn advance(&mut self, commit: &Commit<'_>, side: Result<Side, String>, told: &BTreeSet<String>) {
        let mut next = Before::new(commit, side);
        if let (Ok(old), Ok(now)) = (&self.side, &next.side) {
            let (side, kept) = carry(old, now, told);
            next.side = Ok(side);
            for op in kept {
                let from = self.kept.remove(&op).unwrap_or_else(|| (self.commit.clone(), next.commit.clone()));
                next.kept.insert(op, from);
            }
        }
        *self = next;
    }

    /// Parts of the counts that have no hash in common with a commit.
    fn other_groups(&self, commit: &Commit<'_>) -> Option<Vec<String>> {
        let (old, now) = (&self.groups, commit.groups());
        if old.is_empty() || now.is_empty() {
            return None;
        }
        let none = BTreeSet::from([String::new()]);
        let of = |groups: &BTreeMap<String, BTreeSet<String>>, name| groups.get(name).unwrap_or(&none).clone();
        let names: BTreeSet<&String> = old.keys().chain(now.keys()).collect();
        let other = names.into_iter().filter(|name| of(old, *name).is_disjoint(&of(&now, *name)));
        Some(other.cloned().collect())
    }

    /// What varies from run to run and did not, in words: a sentence for each two commits.
    fn varying(&self) -> Vec<String> {
        let mut sentences: BTreeMap<&(String, String), Vec<&str>> = BTreeMap::new();
        self.kept.iter().for_each(|(op, commits)| sentences.entry(commits).or_default().push(op));
        let sentence = |((of, since), ops): (&(String, String), Vec<&str>)| {
            let (ops, of, since) = (ops.join(", "), short(of), short(since));
            format!("calls of {ops} vary from run to run since {since}: later ones are held against those of {of}")
        };
        sentences.into_iter().map(sentence).collect()
    }
}

/// Whether one of two changes may be of the calls of the other.
fn is_at(one: &Change, other: &Change) -> bool {
    let in_all = one.site.is_none() || other.site.is_none();
    one.op == other.op && (in_all || (&one.site, &one.region) == (&other.site, &other.region))
}

/// The way through the commits.
struct Walk<'w> {
    on: &'w str,
    before: Before,
    /// Regressions that stand, by their place among the findings, with the counts before them.
    open: Vec<(usize, Side)>,
    checked: Checked,
}

impl Walk<'_> {
    fn series(&self, commit: &Commit<'_>) -> String {
        let entry = commit.entries[0];
        format!("`{}`{}{}", entry.suite, self.on, of_branch(&entry.branch))
    }

    fn step(&mut self, store: &Store, commit: &Commit<'_>) -> Result<(), String> {
        let hashes = commit.hashes();
        if hashes == self.before.hashes {
            self.before.again(commit);
            return Ok(());
        }
        let (mut changes, mut groups) = (Vec::new(), Vec::new());
        let side = commit.side(store);
        match (&self.before.side, &side) {
            (Ok(old), Ok(now)) => changes = counts::compare(old, now).changed,
            (Err(why), _) | (_, Err(why)) => groups = self.before.other_groups(commit).ok_or(why)?,
        }
        let mut finding = self.finding(commit, changes, groups);
        let told = finding.changes.iter().map(|change| change.op.clone()).collect();
        let old = self.before.side.clone();
        self.before.advance(commit, side, &told);
        self.close(&mut finding);
        if !finding.changes.is_empty() || !finding.groups.is_empty() {
            if let Ok(old) = old
                && finding.is_worse
            {
                self.open.push((self.checked.findings.len(), old));
            }
            self.checked.findings.push(finding);
        }
        Ok(())
    }

    fn finding(&self, commit: &Commit<'_>, changes: Vec<Change>, groups: Vec<String>) -> Finding {
        let entry = commit.entries[0];
        // Where calls varied before it may be each of the commits in between.
        let varied = changes.iter().find_map(|change| self.before.kept.get(&change.op));
        Finding {
            suite: entry.suite.clone(),
            branch: entry.branch.clone(),
            on: self.on.to_owned(),
            npes: entry.shape.npes,
            commit: entry.commit.clone(),
            before: varied.map_or(&self.before.commit, |(of, _)| of).clone(),
            varied_since: varied.map(|(_, since)| since.clone()),
            is_worse: changes.iter().any(|change| change.effect == Effect::Worse),
            changes,
            groups,
            ..Finding::default()
        }
    }

    /// Ends the regressions that are none any more with this finding, and takes out of it what tells that only.
    fn close(&mut self, finding: &mut Finding) {
        let Ok(now) = &self.before.side else { return };
        let findings = &mut self.checked.findings;
        self.open.retain(|(at, base)| {
            let rest = counts::compare(base, now).changed;
            let is_more = |change: &Change| change.delta().0 > 0 || change.delta().1 > 0;
            let is_left = |worse: &Change| rest.iter().any(|change| is_more(change) && is_at(change, worse));
            let told = &mut findings[*at];
            let stands = told.changes.iter().filter(|change| change.effect == Effect::Worse).any(is_left);
            if !stands {
                told.until = Some(finding.commit.clone());
                let is_told = |change: &Change| told.changes.iter().any(|other| is_at(change, other));
                finding.changes.retain(|change| !is_told(change) || rest.iter().any(|other| is_at(change, other)));
            }
            stands
        });
    }
}

#[cfg(test)]
mod tests;
