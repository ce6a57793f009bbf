//! `oshrun --calibrate -n N`: what each algorithm of each collective takes at so many PEs, a job for each choice.

use std::fmt::Write as _;
use std::path::Path;

use super::number;
use pellucid_core::collectives::table;
use pellucid_profile::calibration::{AlgorithmPoint, AlgorithmTimes, LOUD, split_name};
use pellucid_profile::report::{shown_bytes, shown_time};
use pellucid_profile::text::visible_path;

/// Behind [`super::OPTION`] and the library: such a PE measures collectives.
pub const OPTION: &str = "algorithms";

/// Rows of collectives between hosts, which jobs on one host do not come to.
const BETWEEN_HOSTS: &str = "hosts-";

/// Collectives by their names in `SHMEM_COLLECTIVES`, with their algorithms.
fn choices(over_hosts: bool) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in table::rows().into_iter().filter(|row| row.collective.starts_with(BETWEEN_HOSTS) == over_hosts) {
        match all.last_mut().filter(|(collective, _)| *collective == row.collective) {
            Some((_, names)) => names.push(row.name),
            None => all.push((row.collective, vec![row.name])),
        }
    }
    all
}

/// Measures all choices at `pes` PEs. `job` runs a job with this `SHMEM_COLLECTIVES`, and gives what its PE 0 says.
///
/// # Errors
/// What `job` says, or that the job has said nothing of use.
pub fn measure(
    pes: u32,
    over_hosts: bool,
    job: impl Fn(&str) -> Result<String, String>,
) -> Result<AlgorithmTimes, String> {
    let choices = choices(over_hosts);
    let rounds = choices.iter().map(|(_, names)| names.len()).max().unwrap_or(0);
    let (mut hosts, mut points) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let forced: Vec<(&str, String)> = choices
            .iter()
            .filter_map(|(collective, names)| Some((*collective, format!("{collective}:{}", names.get(round)?))))
            .collect();
        let value = forced.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(",");
        let text = job(&value)?;
        let found =
            understood(&text, &forced).ok_or_else(|| format!("the job with {value} has said nothing of use"))?;
        hosts = found.0;
        points.extend(found.1);
    }
    Ok(AlgorithmTimes::new(hosts, pes, points))
}

/// Hosts, and the points of the collectives whose algorithms were forced.
fn understood(text: &str, forced: &[(&str, String)]) -> Option<(Vec<String>, Vec<AlgorithmPoint>)> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("hosts\t"));
    let hosts = lines.next()?.split('\t').skip(1).map(str::to_owned).collect();
    let mut points = Vec::new();
    for line in lines {
        let mut words = line.split('\t');
        let (collective, bytes) = (words.next()?, words.next()?.parse().ok()?);
        let (ns, spread) = (number(words.next()?)?, number(words.next()?)?);
        let is_it = |name: &str| name.strip_prefix(BETWEEN_HOSTS).unwrap_or(name) == collective;
        let name = forced.iter().find(|(name, _)| is_it(name)).map(|(_, name)| name.clone());
        points.extend(name.map(|name| AlgorithmPoint { name, bytes, ns, spread }));
    }
    (!points.is_empty()).then_some((hosts, points))
}

/// A line for each collective and size: the time of its fastest algorithm, and how many times as long the others take.
pub fn summary(times: &AlgorithmTimes, path: &Path, is_kept: bool) -> String {
    let mut out = format!("collectives of {} PEs on {}: ", times.pes, times.hosts.join(", "));
    let _ = writeln!(out, "spread {:.0} %", 100.0 * times.scatter());
    let mut shown: Vec<(&str, u64)> =
        times.points.iter().map(|point| (split_name(&point.name).0, point.bytes)).collect();
    shown.sort_unstable();
    shown.dedup();
    for (collective, bytes) in shown {
        let of = |point: &&AlgorithmPoint| point.bytes == bytes && split_name(&point.name).0 == collective;
        let mut rows: Vec<&AlgorithmPoint> = times.points.iter().filter(of).collect();
        rows.sort_by(|a, b| a.ns.total_cmp(&b.ns));
        let best = rows.first().map_or(0.0, |row| row.ns.max(0.1));
        let rows: Vec<String> = rows
            .iter()
            .enumerate()
            .map(|(at, row)| {
                let (times, digits) = (row.ns / best, if row.ns < 10.0 * best { 2 } else { 0 });
                let took = if at == 0 { shown_time(row.ns) } else { format!("{times:.digits$} x") };
                format!("{} {took}", split_name(&row.name).1)
            })
            .collect();
        let size = if bytes == 0 { "-".to_owned() } else { shown_bytes(bytes) };
        let _ = writeln!(out, "  {collective:<14}{size:>7}  {}", rows.join(", "));
    }
    let file = visible_path(path);
    out.push_str(&match (is_kept, times.is_loud()) {
        (true, false) => format!("kept in {file}\n"),
        (true, true) => format!(
            "kept in {file}, marked: spread above {:.0} %, others were at work or PEs share cores\n",
            100.0 * LOUD
        ),
        (false, _) => format!("not kept: others were at work, and {file} is of a quiet machine\n"),
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_is_forced_once() {
        let said = "hosts\tb\ta\nbarrier\t0\t80\t0.1\nreduce\t8\t100\t0.1\nalltoall\t8\t1\t0\n";
        let times = measure(4, false, |_| Ok(said.to_owned())).expect("times");
        let all = table::rows();
        let mut names: Vec<String> = times.points.iter().map(|point| point.name.clone()).collect();
        names.sort();
        let of = |row: &table::Listed| ["barrier", "reduce"].contains(&row.collective);
        let mut expected: Vec<String> =
            all.iter().filter(|row| of(row)).map(|row| format!("{}:{}", row.collective, row.name)).collect();
        expected.sort();
        assert_eq!((names, &*times.hosts), (expected, &["a".to_owned(), "b".to_owned()][..]));
        let text = summary(&times, Path::new("/c/x.json"), true);
        assert!(text.starts_with("collectives of 4 PEs on a, b: spread 10 %\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn between_hosts_their_algorithms_are_measured() {
        let times = measure(2, true, |_| Ok("hosts\ta\tb\nalltoall\t8\t5\t0\nbarrier\t0\t1\t0\n".to_owned()));
        let times = times.expect("times");
        assert!(times.points.iter().all(|point| point.name.starts_with("hosts-alltoall:")), "{times:?}");
        let error = measure(2, true, |_| Ok("nothing".to_owned())).expect_err("nothing of use");
        assert!(error.contains("hosts-broadcast:scatter") && error.contains("nothing of use"), "{error}");
        assert_eq!(measure(2, true, |_| Err("no room".to_owned())), Err("no room".to_owned()));
    }
}
