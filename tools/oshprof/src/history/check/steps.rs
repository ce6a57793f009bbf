//! Where counts changed. Each commit is held against those before it, of as many PEs: of a count that varies from run
//! to run at one of them, against the last one at which it did not, and against all that it was since then: what is
//! not far from that is suspected only.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checked, Finding};
use crate::compare::Range;
use crate::compare::asking::{ENOUGH, Sample};
use crate::compare::carry::{carry, join, widen};
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
    /// All that the counts have been, of those that vary.
    seen: Result<Side, String>,
    /// Routines whose counts vary, with how many runs have agreed since: as many as do not by chance end it.
    agreed: BTreeMap<String, usize>,
}

impl Before {
    fn new(commit: &Commit<'_>, side: Result<Side, String>) -> Before {
        Before {
            commit: commit.name().to_owned(),
            hashes: commit.hashes(),
            groups: commit.groups(),
            agreed: side.as_ref().map_or_else(|_| BTreeMap::new(), not_stable),
            seen: side.clone(),
            side,
            kept: BTreeMap::new(),
        }
    }

    fn varies(&self, op: &str) -> bool {
        self.agreed.get(op).is_some_and(|runs| *runs < ENOUGH)
    }

    /// The same counts once more.
    fn again(&mut self, commit: &Commit<'_>) {
        commit.name().clone_into(&mut self.commit);
        for side in [&mut self.side, &mut self.seen].into_iter().flatten() {
            side.runs = side.runs.max(commit.runs());
        }
        let Ok(side) = &self.side else { return };
        let is_one = self.hashes.len() == 1;
        let stable = |op: &str| is_one && side.totals.get(op).is_none_or(Range::is_stable);
        self.agreed.iter_mut().filter(|(op, _)| stable(op)).for_each(|(_, runs)| *runs += commit.runs());
    }

    /// Other counts, of which these routines have been told, and these are sure.
    fn advance(
        &mut self,
        commit: &Commit<'_>,
        side: Result<Side, String>,
        told: &BTreeSet<String>,
        sure: &BTreeSet<String>,
    ) {
        let now = side.clone();
        let mut next = Before::new(commit, side);
        if let (Ok(old), Ok(now)) = (&self.side, &next.side) {
            let (side, kept) = carry(old, now, told);
            next.side = Ok(side);
            for op in kept {
                let from = self.kept.remove(&op).unwrap_or_else(|| (self.commit.clone(), next.commit.clone()));
                next.kept.insert(op, from);
            }
        }
        self.widen(&mut next, &now, sure);
        *self = next;
    }

    /// Takes what a commit has to what was seen before it.
    fn widen(&self, next: &mut Before, now: &Result<Side, String>, told: &BTreeSet<String>) {
        let (Ok(old), Ok(seen), Ok(now)) = (&self.side, &self.seen, now) else { return };
        let (side, varying) = widen(seen, now, told, |op| self.varies(op));
        next.seen = Ok(side);
        let total = |side: &Side, op: &str| side.totals.get(op).copied().unwrap_or_default();
        let before = self.agreed.keys().filter(|op| self.varies(op) && !told.contains(*op));
        for op in before.chain(&varying) {
            let is_same = total(old, op) == total(now, op);
            let runs = match (self.agreed.get(op), now.is_stable(op, &total(now, op))) {
                (Some(runs), true) if is_same => runs + now.runs,
                (_, true) => now.runs,
                (_, false) => 0,
            };
            // One commit cannot tell that it does not vary any more, however many runs it has.
            let runs = if self.varies(op) { runs } else { runs.min(ENOUGH - 1) };
            next.agreed.insert(op.clone(), runs);
        }
    }

    /// Which of these changes are near what was seen of counts that vary.
    fn near(&self, now: &Side, changes: &[Change]) -> BTreeSet<String> {
        let varying: BTreeSet<&String> = changes.iter().map(|change| &change.op).filter(|op| self.varies(op)).collect();
        let Some(seen) = self.seen.as_ref().ok().filter(|_| !varying.is_empty()) else { return BTreeSet::new() };
        let (found, sample) = (counts::compare(seen, now), Sample::of(seen, now));
        let rows = found.changed.iter().chain(&found.varying);
        let far = rows.filter(|row| sample.is_distinct(&row.base, &row.new)).map(|row| &row.op);
        let far: BTreeSet<&String> = far.collect();
        varying.difference(&far).map(|op| (*op).clone()).collect()
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
            format!(
                "calls of {ops} vary from run to run since {since}: later ones are held against those of {of}, and are \
                 suspected only where they are near what was seen since"
            )
        };
        sentences.into_iter().map(sentence).collect()
    }
}

/// Routines of which runs of a commit have other counts: none agree.
fn not_stable(side: &Side) -> BTreeMap<String, usize> {
    let sites = side.sites.iter().map(|site| (&site.key.op, &site.range));
    let varying = sites.chain(&side.totals).filter(|(_, range)| !range.is_stable());
    varying.map(|(op, _)| (op.clone(), 0)).collect()
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
        let (mut changes, mut groups, mut unread) = (Vec::new(), Vec::new(), None);
        let side = commit.side(store);
        match (&self.before.side, &side) {
            (Ok(old), Ok(now)) => changes = counts::compare(old, now).changed,
            (Err(why), _) | (_, Err(why)) => {
                groups = self.before.other_groups(commit).ok_or(why)?;
                unread = Some(why.clone());
            }
        }
        let near = side.as_ref().map_or_else(|_| BTreeSet::new(), |now| self.before.near(now, &changes));
        let mut finding = Finding { groups, unread, ..self.finding(commit, changes) };
        let ops = |changes: &[Change]| changes.iter().map(|change| change.op.clone()).collect::<BTreeSet<_>>();
        let told = ops(&finding.changes);
        let sure = &told - &near;
        let old = self.before.side.clone();
        self.before.advance(commit, side, &told, &sure);
        self.close(&mut finding);
        let (changes, suspected) = finding.changes.into_iter().partition(|change| sure.contains(&change.op));
        let is_worse = |changes: &[Change]| changes.iter().any(|change| change.effect == Effect::Worse);
        let (changes, suspected): (Vec<Change>, Vec<Change>) = (changes, suspected);
        let finding = Finding { changes: Vec::new(), ..finding };
        if !suspected.is_empty() {
            let is_worse = is_worse(&suspected);
            let groups = Vec::new();
            let is_suspected = true;
            self.checked.findings.push(Finding {
                is_worse,
                is_suspected,
                changes: suspected,
                groups,
                ..finding.clone()
            });
        }
        if !changes.is_empty() || !finding.groups.is_empty() {
            let finding = Finding { is_worse: is_worse(&changes), changes, ..finding };
            if let Ok(old) = old
                && finding.is_worse
            {
                self.open.push((self.checked.findings.len(), old));
            }
            self.checked.findings.push(finding);
        }
        Ok(())
    }

    fn finding(&self, commit: &Commit<'_>, changes: Vec<Change>) -> Finding {
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
