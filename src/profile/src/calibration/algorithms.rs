//! What the algorithms of collectives take at a number of PEs: `oshrun --calibrate -n N` measures it; advice compares
//! with it what a program's collectives have taken.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{LOUD, keep_file, plain, sound, text, version_part};
use crate::model::LIBRARY;

/// First part of the names of the files.
pub(super) const PREFIX: &str = "algorithms";

/// What a call takes by one algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct AlgorithmPoint {
    /// Collective and algorithm, as in `SHMEM_COLLECTIVES`: `reduce:tree`.
    pub name: String,
    /// Bytes of the argument of each PE; 0 for barriers.
    pub bytes: u64,
    /// Time of a call in the median group of calls, in nanoseconds.
    pub ns: f64,
    /// How far the quarters of the groups are from each other, as a share of that: 0.1 for a tenth.
    pub spread: f64,
}

/// A calibration of collectives of all PEs of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlgorithmTimes {
    /// The library that it was made with.
    pub library: String,
    /// Hosts of the PEs, each once, sorted.
    pub hosts: Vec<String>,
    /// PEs.
    pub pes: u32,
    /// By algorithm and size.
    pub points: Vec<AlgorithmPoint>,
}

/// Collective and algorithm of a name of `SHMEM_COLLECTIVES`.
pub fn split_name(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or((name, ""))
}

impl AlgorithmTimes {
    /// Sorts hosts and points.
    pub fn new(mut hosts: Vec<String>, pes: u32, mut points: Vec<AlgorithmPoint>) -> AlgorithmTimes {
        hosts.sort();
        hosts.dedup();
        points.sort_by(|a, b| (&a.name, a.bytes).cmp(&(&b.name, b.bytes)));
        AlgorithmTimes { library: LIBRARY.into(), hosts, pes, points }
    }

    /// Median of the spreads.
    pub fn scatter(&self) -> f64 {
        let mut spreads: Vec<f64> = self.points.iter().map(|point| point.spread).collect();
        spreads.sort_by(f64::total_cmp);
        spreads.get(spreads.len() / 2).copied().unwrap_or(0.0)
    }

    /// Whether the machine was at work with other things.
    pub fn is_loud(&self) -> bool {
        self.scatter() > LOUD
    }

    /// What a call of so many bytes takes by this algorithm, in nanoseconds, and the spread of that; between the sizes
    /// that were measured, and up to twice the largest, by their line.
    pub fn ns(&self, name: &str, bytes: f64) -> Option<(f64, f64)> {
        let points: Vec<&AlgorithmPoint> = self.points.iter().filter(|point| point.name == name).collect();
        let last = points.last()?;
        if bytes > 2.0 * last.bytes as f64 {
            return None;
        }
        let above = points.iter().position(|point| point.bytes as f64 >= bytes).unwrap_or(points.len() - 1);
        let (low, high) = (points[above.saturating_sub(1)], points[above]);
        if low.bytes == high.bytes {
            return Some((high.ns, high.spread));
        }
        let part = (bytes - low.bytes as f64) / (high.bytes - low.bytes) as f64;
        Some((low.ns + part * (high.ns - low.ns), low.spread.max(high.spread)))
    }

    /// The algorithm of the same collective that is fastest at this size, its time and the spread of that.
    pub fn fastest(&self, name: &str, bytes: f64) -> Option<(&str, f64, f64)> {
        let mut names: Vec<&str> = self.points.iter().map(|point| point.name.as_str()).collect();
        names.dedup();
        let same = names.into_iter().filter(|other| split_name(other).0 == split_name(name).0);
        let times = same.filter_map(|other| self.ns(other, bytes).map(|(ns, spread)| (other, ns, spread)));
        times.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn json(&self) -> Value {
        let points: Vec<Value> = self
            .points
            .iter()
            .map(|p| json!({ "algorithm": p.name, "bytes": p.bytes, "ns": p.ns, "spread": p.spread }))
            .collect();
        json!({ "format": "pellucid-algorithms", "library": self.library, "hosts": self.hosts, "pes": self.pes,
                "points": points })
    }

    pub(super) fn from_json(value: &Value) -> Option<AlgorithmTimes> {
        let points = value["points"].as_array()?.iter().map(|p| {
            Some(AlgorithmPoint {
                name: text(&p["algorithm"])?,
                bytes: p["bytes"].as_u64()?,
                ns: sound(&p["ns"])?,
                spread: sound(&p["spread"])?,
            })
        });
        let points = points.collect::<Option<Vec<AlgorithmPoint>>>()?;
        let hosts = value["hosts"].as_array()?.iter().map(text).collect::<Option<Vec<String>>>()?;
        let pes = u32::try_from(value["pes"].as_u64()?).ok()?;
        Some(AlgorithmTimes { library: text(&value["library"])?, ..AlgorithmTimes::new(hosts, pes, points) })
    }

    /// Keeps it in `folder` under the names of its hosts, its number of PEs and its library. One of a machine at work
    /// does not take the place of one of a quiet machine: then that stays. Gives the file, and whether this one is in
    /// it.
    ///
    /// # Errors
    /// What cannot be written, and why.
    pub fn keep(&self, folder: &Path) -> Result<(PathBuf, bool), String> {
        let hosts: Vec<String> = self.hosts.iter().take(2).map(|host| plain(host)).collect();
        let more = if self.hosts.len() > 2 { format!("-{}", self.hosts.len()) } else { String::new() };
        let name = format!("{PREFIX}-{}{more}-n{}-{}.json", hosts.join("-"), self.pes, version_part());
        let is_better = |known: &Value| {
            let known = AlgorithmTimes::from_json(known);
            known.is_some_and(|known| known.library == self.library && !known.is_loud())
        };
        keep_file(folder, &name, &self.json(), self.is_loud().then_some(&is_better))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Calibrations;
    use super::*;

    fn times(spread: f64) -> AlgorithmTimes {
        let point = |name: &str, bytes, ns| AlgorithmPoint { name: name.into(), bytes, ns, spread };
        let points = vec![
            point("reduce:tree", 1024, 200.0),
            point("reduce:tree", 8, 100.0),
            point("reduce:flat", 8, 50.0),
            point("reduce:flat", 1024, 400.0),
            point("barrier:counter", 0, 80.0),
        ];
        AlgorithmTimes::new(vec!["b".into(), "a".into(), "b".into()], 4, points)
    }

    #[test]
    fn the_fastest_depends_on_the_size() {
        let t = times(0.1);
        assert_eq!(t.hosts, ["a", "b"]);
        assert_eq!((t.ns("reduce:tree", 8.0), t.ns("reduce:tree", 516.0)), (Some((100.0, 0.1)), Some((150.0, 0.1))));
        assert_eq!((t.ns("reduce:tree", 2048.0).map(|n| n.0 > 290.0), t.ns("reduce:tree", 2049.0)), (Some(true), None));
        assert_eq!((t.ns("reduce:tree", 1.0), t.ns("scan:flat", 8.0)), (Some((100.0, 0.1)), None));
        assert_eq!(t.fastest("reduce:tree", 8.0), Some(("reduce:flat", 50.0, 0.1)));
        assert_eq!(t.fastest("reduce:flat", 1024.0), Some(("reduce:tree", 200.0, 0.1)));
        assert_eq!(t.fastest("barrier:dissemination", 0.0), Some(("barrier:counter", 80.0, 0.1)));
    }

    #[test]
    fn what_is_kept_is_found_by_hosts_and_pes() {
        let folder = std::env::temp_dir().join(format!("pellucid-algorithms-{}", std::process::id()));
        let quiet = times(0.1);
        let (path, is_new) = quiet.keep(&folder).unwrap();
        assert!(is_new && path.file_name().unwrap().to_string_lossy().starts_with("algorithms-a-b-n4-"));
        assert!(!times(0.9).keep(&folder).unwrap().1, "a loud one does not take its place");
        std::fs::write(folder.join("algorithms-damaged.json"), "{\"pes\":4}").unwrap();
        let kept = Calibrations::read(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(kept.algorithms(&["b", "a", "a", "b"], 4), Some(&quiet));
        assert_eq!((kept.algorithms(&["a"], 4), kept.algorithms(&["a", "b"], 5)), (None, None));
    }
}
