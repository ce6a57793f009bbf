//! The files of a history.
//!
//! ```text
//! STORE/SUITE-HASH.jsonl    a line a run, only ever added to; git merges two versions by taking the lines of both
//! STORE/counts/HASH.json    the exact counts of runs, by the hash of the file: most commits do not change them
//! STORE/.gitattributes      tells git so
//! ```
//!
//! A line is written with one call, after its counts. Whoever is killed in between leaves a file of counts that nobody
//! names, or the begin of a line, which readers skip and the next writer ends.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pellucid_profile::hash::fnv1a;
use pellucid_profile::output::OutputDir;
use pellucid_profile::text::visible_path;
use serde_json::Value;

use crate::compare::metric;
use crate::compare::run::Run;
use crate::compare::same;
use crate::compare::side::Side;
use crate::gate::machine;
use crate::history::of_branch;
use crate::stats::median;

mod entry;
mod order;
mod table;

pub use entry::{Entry, RunMetadata};

const VERSION: u64 = 1;
const ATTRIBUTES: &str = "*.jsonl merge=union\n";
/// The name of a program's series.
pub fn suite_of(run: &Run) -> String {
    let name = format!("{} {} np {}", run.program(), run.shape.arguments, run.shape.npes);
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
}

impl Store {
    /// One that is there.
    ///
    /// # Errors
    /// When it is not.
    pub fn open(path: &Path) -> Result<Store, String> {
        fs::read_dir(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!(
                "{}: there is no history: oshprof history add DIR --commit SHA begins one, --store DIR names \
                 another place",
                path.display()
            ),
            _ => format!("{}: {error}", path.display()),
        })?;
        Ok(Store { path: path.to_owned() })
    }

    /// One that is made where it is missing.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn make(path: &Path) -> Result<Store, String> {
        let store = Store { path: path.to_owned() };
        store.dir("counts")?;
        let (name, file) = (".gitattributes", path.join(".gitattributes"));
        // An empty one was made when there was no room for what is in it.
        if !fs::symlink_metadata(&file).is_ok_and(|facts| !facts.is_file() || facts.len() > 0) {
            let written = store.dir("")?.replace_for_good(name, ATTRIBUTES.as_bytes());
            written.map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(store)
    }

    /// Adds runs of one program as one entry. Gives its series, and whether it was not there.
    ///
    /// # Errors
    /// What could not be written.
    pub fn add(&self, runs: &[&Run], facts: &RunMetadata) -> Result<(String, bool), String> {
        let side = Side::of(runs);
        if let Some(difference) = same::differences(runs, false).into_iter().next() {
            return Err(format!("these are not runs of one program: {difference}"));
        }
        if let Some(run) = runs.iter().find(|run| !run.sampled_sites.is_empty()) {
            return Err(format!(
                "{}: a history has exact counts; record with oshrun --profile 1,sites=exact",
                run.sampled()
            ));
        }
        let counts = format!("{:#}\n", table::counts(&side));
        let values: Vec<_> = runs.iter().map(|run| metric::values(run)).collect();
        let of = |name: &String| median(&values.iter().filter_map(|v| v.get(name).copied()).collect::<Vec<_>>());
        // The same runs are the same in whatever order they are named.
        let mut started: Vec<u64> = runs.iter().map(|run| run.job.start_realtime_ns).collect();
        started.sort_unstable();
        let started: Vec<String> = started.iter().map(u64::to_string).collect();
        let names: BTreeSet<&String> = values.iter().flat_map(|of| of.keys()).filter(|_| !facts.no_times).collect();
        let entry = Entry {
            suite: facts.suite.clone().unwrap_or_else(|| suite_of(runs[0])),
            commit: facts.commit.clone(),
            parent: facts.parent.clone(),
            branch: facts.branch.clone(),
            time: facts.time.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs())),
            machine: if facts.no_times { String::new() } else { machine::class(&machine::facts()) },
            program: runs[0].job.program.clone(),
            shape: side.shape.clone(),
            runs: runs.len() as u64,
            counts: hash(counts.as_bytes()),
            groups: table::groups(&side),
            // Where only counts matter, those that are there already are the same.
            id: if facts.no_times {
                let branch = of_branch(&facts.branch);
                hash(format!("{} {}{branch}", facts.commit, hash(counts.as_bytes())).as_bytes())
            } else {
                hash(format!("{} {}", facts.commit, started.join(" ")).as_bytes())
            },
            metrics: names.into_iter().map(|name| (name.clone(), of(name))).collect(),
        };
        let known = self.entries(&entry.suite)?.into_iter().find(|known| known.id == entry.id);
        // The counts of what is there may be gone, or damaged.
        if known.as_ref().is_none_or(|known| known.counts == entry.counts) {
            self.write_counts(&entry.counts, &counts)?;
        }
        if known.is_some() {
            return Ok((entry.suite, false));
        }
        self.append(&entry)?;
        Ok((entry.suite, true))
    }

    fn write_counts(&self, hash: &str, text: &str) -> Result<(), String> {
        let path = self.path.join("counts").join(format!("{hash}.json"));
        // One that was damaged is written anew.
        if fs::read(&path).is_ok_and(|known| known == text.as_bytes()) {
            return Ok(());
        }
        let written = self.dir("counts")?.replace_for_good(format!("{hash}.json"), text.as_bytes());
        written.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// A directory of the store, made where it is missing. Several users may share one.
    fn dir(&self, name: &str) -> Result<OutputDir, String> {
        OutputDir::shared(&self.path.join(name)).map_err(|error| error.to_string())
    }

    fn append(&self, entry: &Entry) -> Result<(), String> {
        let (dir, path) = (self.dir("")?, self.file(&entry.suite));
        let write = || -> std::io::Result<()> {
            let mut file = dir.append(path.file_name().unwrap_or_default())?;
            let mut line = format!("{}\n", entry.to_json());
            // Somebody may have been killed in the middle of a line.
            let mut last = [b'\n'];
            if file.seek(SeekFrom::End(0))? > 0 {
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
            }
            if last != [b'\n'] {
                line.insert(0, '\n');
            }
            file.write_all(line.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The file of a series: its name as far as files take it, and a hash that tells apart what this makes equal.
    fn file(&self, suite: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-.+".contains(c) { c } else { '_' };
        let name: String = suite.chars().take(60).map(plain).collect();
        self.path.join(format!("{}-{}.jsonl", name.trim_start_matches('.'), &hash(suite.as_bytes())[..6]))
    }

    /// The entries of a series, in the order of their commits.
    ///
    /// # Errors
    /// What could not be read.
    pub fn entries(&self, suite: &str) -> Result<Vec<Entry>, String> {
        let path = self.file(suite);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let mut entries = read(&path)?;
        entries.retain(|entry| entry.suite == suite);
        Ok(entries)
    }

    /// All entries, or those of a branch, suite by suite, in the order of their commits.
    ///
    /// # Errors
    /// What could not be read, and a branch without any.
    pub fn all(&self, branch: Option<&str>) -> Result<Vec<Entry>, String> {
        let listing = fs::read_dir(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))?;
        let mut files: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        let entries: Result<Vec<Vec<Entry>>, String> = files.iter().map(|path| read(path)).collect();
        let mut entries: Vec<Entry> = entries?.into_iter().flatten().collect();
        if let Some(branch) = branch {
            entries.retain(|entry| entry.branch == branch);
            if entries.is_empty() {
                return Err(format!("{}: no run of branch {branch}", self.path.display()));
            }
        }
        Ok(entries)
    }

    /// The counts of an entry.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn side(&self, entry: &Entry) -> Result<Side, String> {
        let path = self.path.join("counts").join(format!("{}.json", entry.counts));
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        // Another table would say that communication changed.
        if hash(text.as_bytes()) != entry.counts {
            return Err(format!("{}: is not what was written there: its hash is another", path.display()));
        }
        let value: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut side = table::side(&value).ok_or_else(|| format!("{}: is no table of counts", path.display()))?;
        side.runs = entry.runs as usize;
        side.shape = entry.shape.clone();
        Ok(side)
    }
}

fn read(path: &Path) -> Result<Vec<Entry>, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut entries: Vec<Entry> = lines.iter().filter_map(|line| Entry::parse(line)).collect();
    // What is no line of ours was cut off, is of a later version, or is what a merge has left.
    let skipped = lines.len() - entries.len();
    if skipped > 0 {
        let plural = if skipped == 1 { "" } else { "s" };
        let path = visible_path(path);
        pellucid_profile::say!("oshprof: {path}: {skipped} line{plural} skipped: no run could be read there");
    }
    let mut seen = std::collections::HashSet::new();
    entries.retain(|entry| seen.insert(entry.id.clone()));
    Ok(order::by_commit(entries))
}

/// FNV-1a, as text.
fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", fnv1a(bytes))
}

#[cfg(test)]
mod tests;
