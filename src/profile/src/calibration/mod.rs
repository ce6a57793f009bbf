//! What puts, gets and atomics take on this machine where nothing holds them up, and what the algorithms of collectives
//! take: `oshrun --calibrate` measures it, and keeps it in the user's cache; reports compare with it.

mod algorithms;

pub use algorithms::{AlgorithmPoint, AlgorithmTimes, split_name};

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::model::LIBRARY;
use crate::output::OutputFile;
use crate::text::visible_path;

/// From which median spread on a calibration is one of a machine at work.
pub const LOUD: f64 = 0.25;
/// As [`LOUD`], for the share of the time in which what measured stood in line for a core.
pub const CORELESS: f64 = 0.1;
/// First part of the names of the files.
const PREFIX: &str = "rates";

/// Kinds of calls that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measured {
    /// Contiguous stores.
    Put,
    /// Contiguous loads.
    Get,
    /// Atomics of 8 bytes.
    Amo,
    /// Stores of single elements of 8 bytes, each 16 bytes from the last.
    Strided,
}

impl Measured {
    /// All of them.
    pub const ALL: [Measured; 4] = [Measured::Put, Measured::Get, Measured::Amo, Measured::Strided];

    /// Name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Measured::Put => "put",
            Measured::Get => "get",
            Measured::Amo => "atomic",
            Measured::Strided => "strided",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Measured> {
        Measured::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a call of a size takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// What kind of call.
    pub kind: Measured,
    /// Bytes that it moves.
    pub bytes: u64,
    /// Time of the fastest group of calls, a call, in nanoseconds.
    pub ns: f64,
    /// How much longer the median group took: 0.1 for a tenth.
    pub spread: f64,
}

/// A calibration of one way between two hosts, or within one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// The library that it was made with.
    pub library: String,
    /// Both hosts.
    pub hosts: [String; 2],
    /// `memory`, or the provider of a network.
    pub way: String,
    /// Median of the spreads.
    pub spread: f64,
    /// Share of the time in which the PE that measured stood in line for a core: 0 to 1.
    pub coreless: f64,
    /// By kind and size.
    pub points: Vec<Point>,
}

impl Calibration {
    /// Sorts the points, and finds their common spread.
    pub fn new(hosts: [String; 2], way: String, mut points: Vec<Point>) -> Calibration {
        points.sort_by_key(|point| (point.kind, point.bytes));
        let mut spreads: Vec<f64> = points.iter().map(|point| point.spread).collect();
        spreads.sort_by(f64::total_cmp);
        let spread = spreads.get(spreads.len() / 2).copied().unwrap_or(0.0);
        Calibration { library: LIBRARY.into(), hosts, way, spread, coreless: 0.0, points }
    }

    /// The same, measured by a PE that had no core for this share of the time.
    #[must_use]
    pub fn with_coreless(self, coreless: f64) -> Calibration {
        Calibration { coreless, ..self }
    }

    /// `spread 3 %`, and where it is one in a hundred or more: `without a core 41 % of the time`.
    pub fn quality(&self) -> String {
        let spread = format!("spread {:.0} %", 100.0 * self.spread);
        let coreless = format!("without a core {:.0} % of the time", 100.0 * self.coreless);
        if self.coreless < 0.01 { spread } else { format!("{spread}, {coreless}") }
    }

    /// Whether the machine was at work with other things.
    pub fn is_loud(&self) -> bool {
        self.spread > LOUD || self.coreless > CORELESS
    }

    /// What a call of so many bytes takes, in nanoseconds; between the sizes that were measured by their line, beyond
    /// the largest at its rate.
    pub fn ns(&self, kind: Measured, bytes: f64) -> Option<f64> {
        let points: Vec<&Point> = self.points.iter().filter(|point| point.kind == kind).collect();
        let (first, last) = (points.first()?, points.last()?);
        if bytes <= first.bytes as f64 {
            return Some(first.ns);
        }
        if bytes >= last.bytes as f64 {
            return Some(last.ns * bytes / last.bytes as f64);
        }
        let above = points.iter().position(|point| point.bytes as f64 >= bytes)?;
        let (low, high) = (points[above - 1], points[above]);
        let part = (bytes - low.bytes as f64) / (high.bytes - low.bytes) as f64;
        Some(low.ns + part * (high.ns - low.ns))
    }

    fn json(&self) -> Value {
        let points: Vec<Value> = self
            .points
            .iter()
            .map(|p| json!({ "kind": p.kind.name(), "bytes": p.bytes, "ns": p.ns, "spread": p.spread }))
            .collect();
        json!({ "format": "pellucid-rates", "library": self.library, "hosts": self.hosts, "way": self.way,
                "spread": self.spread, "coreless": self.coreless, "points": points })
    }

    fn from_json(value: &Value) -> Option<Calibration> {
        let points = value["points"].as_array()?.iter().map(|p| {
            let bytes = p["bytes"].as_u64().filter(|&bytes| bytes > 0)?;
            Some(Point {
                kind: Measured::from_name(p["kind"].as_str()?)?,
                bytes,
                ns: sound(&p["ns"])?,
                spread: sound(&p["spread"])?,
            })
        });
        let mut points = points.collect::<Option<Vec<Point>>>()?;
        points.sort_by_key(|point| (point.kind, point.bytes));
        points.dedup_by_key(|point| (point.kind, point.bytes));
        Some(Calibration {
            library: text(&value["library"])?,
            hosts: [text(&value["hosts"][0])?, text(&value["hosts"][1])?],
            way: text(&value["way"])?,
            spread: sound(&value["spread"])?,
            // Those of the first versions do not say.
            coreless: sound(&value["coreless"]).unwrap_or(0.0),
            points,
        })
    }

    /// Keeps it in `folder` under the names of its hosts, way and library. One of a machine at work does not take the
    /// place of one of a quiet machine: then that stays. Gives the file, and whether this one is in it.
    ///
    /// # Errors
    /// What cannot be written, and why.
    pub fn keep(&self, folder: &Path) -> Result<(PathBuf, bool), String> {
        let is_better = |known: &Value| {
            let known = Calibration::from_json(known);
            known.is_some_and(|known| known.library == self.library && !known.is_loud())
        };
        let name = file_name(&self.hosts, &self.way);
        keep_file(folder, &name, &self.json(), self.is_loud().then_some(&is_better))
    }
}

/// Makes the folder, and sees whether files can be written there: before something is measured that is to be kept.
///
/// # Errors
/// What cannot be written, and why.
pub fn prepare(folder: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", visible_path(folder));
    fs::create_dir_all(folder).map_err(told)?;
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    fs::write(&probe, "").and_then(|()| fs::remove_file(&probe)).map_err(told)
}

/// Writes a file of the folder, unless `is_better` of what is in it. Gives the file, and whether it was written.
fn keep_file(
    folder: &Path,
    name: &str,
    value: &Value,
    is_better: Option<&dyn Fn(&Value) -> bool>,
) -> Result<(PathBuf, bool), String> {
    let told = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", visible_path(path));
    fs::create_dir_all(folder).map_err(|error| told(folder, &error))?;
    let path = folder.join(name);
    if is_better.is_some_and(|is_better| read(&path).is_some_and(|known| is_better(&known))) {
        return Ok((path, false));
    }
    let mut file = OutputFile::create(&path).map_err(|error| error.to_string())?;
    file.write_all(format!("{value:#}\n").as_bytes()).map_err(|error| told(&path, &error))?;
    file.finish().map_err(|error| error.to_string())?;
    Ok((path, true))
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn sound(value: &Value) -> Option<f64> {
    value.as_f64().filter(|n| n.is_finite() && *n >= 0.0)
}

/// What stands in a name of a file for a name of a host or provider.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect()
}

/// The library's version, in a name of a file.
fn version_part() -> String {
    plain(LIBRARY.rsplit(' ').next().unwrap_or_default())
}

fn file_name(hosts: &[String; 2], way: &str) -> String {
    format!("{PREFIX}-{}-{}-{}-{}.json", plain(&hosts[0]), plain(&hosts[1]), plain(way), version_part())
}

/// The folder that calibrations are kept in; none without a home.
pub fn folder() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = of("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    Some(cache.or_else(|| Some(of("HOME")?.join(".cache")))?.join("pellucid"))
}

/// The calibrations of this library in a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibrations {
    /// By hosts (in either order), and whether through memory.
    transfers: BTreeMap<(String, String, bool), Calibration>,
    /// By hosts and PEs.
    algorithms: BTreeMap<(Vec<String>, u32), AlgorithmTimes>,
}

impl Calibrations {
    /// Adds one; of several ways over a network that between the same hosts which comes first by name.
    pub fn add(&mut self, calibration: Calibration) {
        let is_memory = calibration.way == MEMORY;
        let [mut a, mut b] = calibration.hosts.clone();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        self.transfers.entry((a, b, is_memory)).or_insert(calibration);
    }

    /// Those in the user's folder.
    pub fn of_user() -> Calibrations {
        folder().map_or_else(Calibrations::default, |folder| Calibrations::read(&folder))
    }

    /// Those in a folder. What is damaged, or of another library, is as if it were not there.
    pub fn read(folder: &Path) -> Calibrations {
        let mut kept = Calibrations::default();
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(value) = read(&path).filter(|value| value["library"] == LIBRARY) else { continue };
            match name.split('-').next() {
                Some(PREFIX) => Calibration::from_json(&value).into_iter().for_each(|found| kept.add(found)),
                Some(algorithms::PREFIX) => {
                    AlgorithmTimes::from_json(&value).into_iter().for_each(|found| kept.add_algorithms(found));
                }
                _ => {}
            }
        }
        kept
    }

    /// Adds the times of the algorithms of collectives.
    pub fn add_algorithms(&mut self, times: AlgorithmTimes) {
        self.algorithms.insert((times.hosts.clone(), times.pes), times);
    }

    /// The times of the algorithms of collectives at so many PEs on these hosts, each named once or more.
    pub fn algorithms(&self, hosts: &[&str], pes: u32) -> Option<&AlgorithmTimes> {
        let mut hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        hosts.sort();
        hosts.dedup();
        self.algorithms.get(&(hosts, pes))
    }

    /// The one for calls through memory or a network, from one of these hosts to another or, where there is one only,
    /// within it.
    pub fn find(&self, hosts: &[&str], is_memory: bool) -> Option<&Calibration> {
        let first = *hosts.first()?;
        let of = |a: &str, b: &str| {
            let (a, b) = if a > b { (b, a) } else { (a, b) };
            self.transfers.get(&(a.to_owned(), b.to_owned(), is_memory))
        };
        if is_memory || hosts.len() == 1 {
            return hosts.iter().find_map(|host| of(host, host));
        }
        hosts.iter().find_map(|other| of(first, other).filter(|_| *other != first))
    }
}

/// [`Calibration::way`] of what goes through the memory of a host.
pub const MEMORY: &str = "memory";

#[cfg(test)]
mod tests {
    use super::*;

    fn points(spread: f64) -> Vec<Point> {
        let point = |kind, bytes, ns| Point { kind, bytes, ns, spread };
        vec![
            point(Measured::Put, 1024, 100.0),
            point(Measured::Put, 8, 10.0),
            point(Measured::Put, 2048, 200.0),
            point(Measured::Amo, 8, 20.0),
        ]
    }

    fn calibration(way: &str, spread: f64) -> Calibration {
        Calibration::new(["b".into(), "a".into()], way.into(), points(spread))
    }

    #[test]
    fn a_folder_is_seen_to_before_the_measurement() {
        let error = prepare(Path::new("/proc/self/pellucid")).unwrap_err();
        assert!(error.starts_with("/proc/self/pellucid: "), "{error}");
        let folder = std::env::temp_dir().join(format!("pellucid-calibration-{}", std::process::id()));
        prepare(&folder).unwrap();
        // Nothing is left in it.
        fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn times_lie_on_the_lines_between_what_was_measured() {
        let c = calibration(MEMORY, 0.1);
        let put = |bytes| c.ns(Measured::Put, bytes).unwrap();
        assert_eq!((put(1.0), put(8.0), put(1536.0), put(2048.0), put(4096.0)), (10.0, 10.0, 150.0, 200.0, 400.0));
        assert_eq!(c.ns(Measured::Amo, 8.0), Some(20.0));
        assert_eq!(c.ns(Measured::Get, 8.0), None);
    }

    #[test]
    fn what_is_kept_is_found_by_hosts_and_way() {
        let folder = std::env::temp_dir().join(format!("pellucid-rates-{}", std::process::id()));
        let quiet = calibration("tcp;ofi_rxm", 0.1);
        let (path, is_new) = quiet.keep(&folder).unwrap();
        assert!(is_new && path.file_name().unwrap().to_string_lossy().starts_with("rates-b-a-tcp_ofi_rxm-"));
        assert!(!calibration("tcp;ofi_rxm", 0.9).keep(&folder).unwrap().1, "a loud one does not take its place");
        let crowded = calibration("tcp;ofi_rxm", 0.0).with_coreless(0.2);
        assert!(crowded.is_loud() && crowded.quality() == "spread 0 %, without a core 20 % of the time");
        assert!(!crowded.keep(&folder).unwrap().1, "nor does one beside others");
        fs::write(folder.join("rates-damaged.json"), "{").unwrap();
        let kept = Calibrations::read(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(kept.find(&["a", "b"], false), Some(&quiet));
        assert_eq!(kept.find(&["b", "c", "a"], false), Some(&quiet));
        assert_eq!((kept.find(&["a", "b"], true), kept.find(&["a"], false), kept.find(&[], true)), (None, None, None));
    }

    #[test]
    fn what_is_damaged_is_not_there() {
        let sound = calibration(MEMORY, 0.1).json();
        assert!(Calibration::from_json(&sound).is_some());
        for (member, value) in [("library", json!(1)), ("hosts", json!(["a"])), ("points", json!([{ "kind": "put" }]))]
        {
            let mut damaged = sound.clone();
            damaged[member] = value;
            assert_eq!(Calibration::from_json(&damaged), None, "{member}");
        }
        let mut zero = sound;
        zero["points"][0]["bytes"] = json!(0);
        assert_eq!(Calibration::from_json(&zero), None, "no rate follows from no bytes");
    }
}
