//! The files of a history.
//!
//! ```text
//! STORE/SUITE.jsonl         a line a run, only ever added to; git merges two versions by taking the lines of both
//! STORE/counts/HASH.json    the exact counts of runs, by the hash of the file: most commits do not change them
//! STORE/.gitattributes      tells git so
//! ```
//!
//! A line is written with one call, after its counts. Whoever is killed in between leaves a file of counts that nobody
//! names, or the begin of a line, which readers skip and the next writer ends.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::compare::place::Place;
use crate::compare::run::{Run, Shape, SiteKey};
use crate::compare::side::{Side, Site};
use crate::compare::{Amount, Range, metric};
use crate::gate::machine;
use crate::stats::median;

const VERSION: u64 = 1;
const ATTRIBUTES: &str = "*.jsonl merge=union\n";
/// Pairs of PEs that are kept; beyond, none are.
const MOST_PAIRS: usize = 4096;

/// What is told of a run beside its profile.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Commit.
    pub commit: String,
    /// Commit before it; may be empty.
    pub parent: String,
    /// Branch; may be empty.
    pub branch: String,
    /// Name of the series; `None`: from the program.
    pub suite: Option<String>,
    /// Seconds since 1970; `None`: now.
    pub time: Option<u64>,
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
            "counts": self.counts, "id": self.id, "metrics": self.metrics,
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
            id: text("id")?,
            metrics: metrics.filter_map(|(name, ns)| Some((name.clone(), ns.as_f64()?))).collect(),
        })
    }
}

/// The name of a program's series.
pub fn suite_of(run: &Run) -> String {
    let program = run.job.program.rsplit('/').next().unwrap_or_default();
    format!("{program} {} np {}", run.shape.arguments, run.shape.npes).split_whitespace().collect::<Vec<_>>().join(" ")
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
        fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Store { path: path.to_owned() })
    }

    /// One that is made where it is missing.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn make(path: &Path) -> Result<Store, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(path.join("counts")).map_err(failed)?;
        let attributes = path.join(".gitattributes");
        if !attributes.exists() {
            fs::write(&attributes, ATTRIBUTES).map_err(failed)?;
        }
        Ok(Store { path: path.to_owned() })
    }

    /// Adds runs of one program as one entry. Gives its series, and whether it was not there.
    ///
    /// # Errors
    /// What could not be written.
    pub fn add(&self, runs: &[&Run], facts: &Facts) -> Result<(String, bool), String> {
        let side = Side::of(runs);
        if let Some(other) = runs.iter().find(|run| run.shape != runs[0].shape) {
            return Err(format!("{}: not a run of the same program, PEs and arguments", other.dir.display()));
        }
        let counts = format!("{:#}\n", counts(&side));
        let values: Vec<_> = runs.iter().map(|run| metric::values(run)).collect();
        let of = |name: &String| median(&values.iter().filter_map(|v| v.get(name).copied()).collect::<Vec<_>>());
        let started: Vec<String> = runs.iter().map(|run| run.job.start_realtime_ns.to_string()).collect();
        let entry = Entry {
            suite: facts.suite.clone().unwrap_or_else(|| suite_of(runs[0])),
            commit: facts.commit.clone(),
            parent: facts.parent.clone(),
            branch: facts.branch.clone(),
            time: facts.time.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs())),
            machine: machine::class(&machine::facts()),
            program: runs[0].job.program.clone(),
            shape: side.shape.clone(),
            runs: runs.len() as u64,
            counts: hash(counts.as_bytes()),
            id: hash(format!("{} {}", facts.commit, started.join(" ")).as_bytes()),
            metrics: values[0].keys().map(|name| (name.clone(), of(name))).collect(),
        };
        if self.entries(&entry.suite)?.iter().any(|known| known.id == entry.id) {
            return Ok((entry.suite, false));
        }
        self.write_counts(&entry.counts, &counts)?;
        self.append(&entry)?;
        Ok((entry.suite, true))
    }

    fn write_counts(&self, hash: &str, text: &str) -> Result<(), String> {
        let path = self.path.join("counts").join(format!("{hash}.json"));
        if path.exists() {
            return Ok(());
        }
        let partial = path.with_extension(format!("{}.partial", std::process::id()));
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&partial)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&partial, &path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&partial);
            format!("{}: {error}", path.display())
        })
    }

    fn append(&self, entry: &Entry) -> Result<(), String> {
        let path = self.file(&entry.suite);
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
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

    /// The entries of a series, oldest first.
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

    /// All entries, series by series, oldest first.
    ///
    /// # Errors
    /// What could not be read.
    pub fn all(&self) -> Result<Vec<Entry>, String> {
        let listing = fs::read_dir(&self.path).map_err(|error| format!("{}: {error}", self.path.display()))?;
        let mut files: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        let entries: Result<Vec<Vec<Entry>>, String> = files.iter().map(|path| read(path)).collect();
        Ok(entries?.into_iter().flatten().collect())
    }

    /// The counts of an entry.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn side(&self, entry: &Entry) -> Result<Side, String> {
        let path = self.path.join("counts").join(format!("{}.json", entry.counts));
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut side = side(&value).ok_or_else(|| format!("{}: is no table of counts", path.display()))?;
        side.runs = entry.runs as usize;
        side.shape = entry.shape.clone();
        Ok(side)
    }
}

fn read(path: &Path) -> Result<Vec<Entry>, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    // What is no line of ours was cut off, or is of a later version.
    let mut entries: Vec<Entry> = text.lines().filter_map(Entry::parse).collect();
    entries.sort_by_key(|entry| entry.time);
    let mut seen = std::collections::HashSet::new();
    entries.retain(|entry| seen.insert(entry.id.clone()));
    Ok(entries)
}

/// Counts as a file has them: without lines, which change more often than they do.
fn counts(side: &Side) -> Value {
    let range = |r: &Range| json!([r.min.calls, r.max.calls, r.min.bytes, r.max.bytes]);
    let sites: Vec<Value> = side
        .sites
        .iter()
        .map(|site| json!([site.key.op, site.key.place.function, site.ordinal, site.key.region, range(&site.range)]))
        .collect();
    let sizes: Vec<Value> =
        side.sizes.iter().map(|((op, distance, class), r)| json!([op, distance, class, range(r)])).collect();
    let errors: Vec<Value> = side.errors.iter().map(|(op, r)| json!([op, range(r)])).collect();
    let pairs: Vec<Value> = side
        .pairs
        .iter()
        .filter(|_| side.pairs.len() <= MOST_PAIRS)
        .map(|((kind, from, to), r)| json!([kind, from, to, range(r)]))
        .collect();
    json!({ "v": VERSION, "sites": sites, "sizes": sizes, "errors": errors, "pairs": pairs })
}

fn side(value: &Value) -> Option<Side> {
    if value["v"].as_u64()? != VERSION {
        return None;
    }
    let range = |value: &Value| -> Option<Range> {
        let n = |at: usize| value[at].as_u64();
        Some(Range { min: Amount { calls: n(0)?, bytes: n(2)? }, max: Amount { calls: n(1)?, bytes: n(3)? } })
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let rows = |name: &str| value[name].as_array().cloned();
    let small = |value: &Value| value.as_u64().and_then(|n| u8::try_from(n).ok());
    let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
    let site = |row: &Value| -> Option<Site> {
        let ordinal = number(&row[2])?;
        let place = Place { function: text(&row[1])?, address: ordinal.into(), ..Place::default() };
        let key = SiteKey { op: text(&row[0])?, place, region: text(&row[3])? };
        Some(Site { key, ordinal, range: range(&row[4])? })
    };
    Some(Side {
        sites: rows("sites")?.iter().map(site).collect::<Option<_>>()?,
        sizes: rows("sizes")?
            .iter()
            .map(|row| Some(((text(&row[0])?, small(&row[1])?, small(&row[2])?), range(&row[3])?)))
            .collect::<Option<_>>()?,
        errors: rows("errors")?.iter().map(|row| Some((text(&row[0])?, range(&row[1])?))).collect::<Option<_>>()?,
        pairs: rows("pairs")?
            .iter()
            .map(|row| {
                Some(((small(&row[0]).filter(|kind| *kind < 3)?, number(&row[1])?, number(&row[2])?), range(&row[3])?))
            })
            .collect::<Option<_>>()?,
        ..Side::default()
    })
}

/// FNV-1a, 64 bits, as text: the same in every version of everything.
fn hash(bytes: &[u8]) -> String {
    let mixed = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{mixed:016x}")
}

#[cfg(test)]
mod tests;
