//! `oshrun --calibrate`: what puts, gets and atomics take here where nothing holds them up. Two PEs measure it, which
//! are this program; it is kept for `oshprof report --view rates`. With `-n N` so many PEs measure the algorithms of
//! collectives, too, which is kept for `oshprof advise`.

pub mod algorithms;
pub mod collectives;
mod common;
pub mod pe;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pellucid_profile::calibration::{self, CORELESS, Calibration, LOUD, MEMORY, Measured, Point};
use pellucid_profile::report::shown_time;
use pellucid_profile::text::visible_path;

use crate::job::Failure;
use crate::options::Options;

/// With this option and the library's file, `oshrun` is such a PE.
pub const OPTION: &str = "--calibrating";

/// Measures, keeps and prints it. `arguments` are those of this program, without `--calibrate`.
///
/// # Errors
/// The job cannot be started, or fails; what it finds cannot be kept.
pub fn run(options: &Options, arguments: impl Iterator<Item = OsString>) -> Result<String, Failure> {
    let failed = |message: String| Failure { status: 1, message: format!("--calibrate: {message}") };
    let oshrun = std::env::current_exe().map_err(|error| Failure::needs("find the file of oshrun", error))?;
    let library = library(&oshrun).ok_or_else(|| failed("there is no lib/libsma.so beside it".to_owned()))?;
    let folder = calibration::folder().ok_or_else(|| failed("neither XDG_CACHE_HOME nor HOME is set".to_owned()))?;
    calibration::prepare(&folder).map_err(failed)?;
    let arguments: Vec<OsString> = arguments.collect();
    let job = |more: &[&str], measures: &[&str], collectives: Option<&str>| {
        let mut job = Command::new(&oshrun);
        job.args(&arguments).args(more).args(["--profile", "off", "--"]);
        job.arg(&oshrun).arg(OPTION).arg(&library).args(measures);
        ["SHMEM_PROFILE_DIR", "SHMEM_TRACE", "SHMEM_METRICS"].iter().for_each(|name| _ = job.env_remove(name));
        job.envs(collectives.map(|value| ("SHMEM_COLLECTIVES", value)));
        output(job.stdin(Stdio::null()).stderr(Stdio::inherit()))
    };
    let over_hosts = options.hosts.is_some() || options.hostfile.is_some();
    // Else both would be on the first host.
    let apart: &[&str] = if options.ppn.is_none() && over_hosts { &["--ppn", "1"] } else { &[] };
    let text = job(&[&["-n", "2"], apart].concat(), &[], None).map_err(failed)?;
    let found = understood(&text).ok_or_else(|| failed("the job that measures has said nothing of use".to_owned()))?;
    let (path, is_kept) = found.keep(&folder).map_err(failed)?;
    let mut told = summary(&found, &path, is_kept);
    if options.pes_given.is_some_and(|pes| pes > 1) {
        let of = |value: &str| job(&[], &[algorithms::OPTION], Some(value));
        let times = algorithms::measure(options.pes, over_hosts, of).map_err(failed)?;
        let (path, is_kept) = times.keep(&folder).map_err(failed)?;
        told.push_str(&algorithms::summary(&times, &path, is_kept));
    }
    Ok(told)
}

/// What the job says.
fn output(job: &mut Command) -> Result<String, String> {
    let output = job.output().map_err(|error| format!("the job that measures cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("the job that measures ended with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The library beside this program.
fn library(oshrun: &Path) -> Option<PathBuf> {
    let lib = oshrun.parent()?.parent()?.join("lib");
    ["libsma.so.1", "libsma.so"].iter().map(|name| lib.join(name)).find(|path| path.exists())
}

/// A time or a share.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)
}

/// What PE 0 says.
fn understood(text: &str) -> Option<Calibration> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("hosts\t"));
    let mut head = lines.next()?.split('\t').skip(1).map(str::to_owned);
    let (hosts, way, coreless) = ([head.next()?, head.next()?], head.next()?, head.next()?);
    let point = |line: &str| {
        let mut words = line.split('\t');
        Some(Point {
            kind: Measured::from_name(words.next()?)?,
            bytes: words.next()?.parse().ok().filter(|&bytes: &u64| bytes > 0)?,
            ns: number(words.next()?)?,
            spread: number(words.next()?)?,
        })
    };
    let points = lines.map(point).collect::<Option<Vec<Point>>>()?;
    let coreless = number(&coreless).filter(|&share| share <= 1.0)?;
    (!points.is_empty()).then(|| Calibration::new(hosts, way, points).with_coreless(coreless))
}

/// Sizes that are shown.
const SHOWN: [u64; 4] = [8, 2048, 131_072, 8 << 20];

fn summary(c: &Calibration, path: &Path, is_kept: bool) -> String {
    let [from, to] = &c.hosts;
    let place = if from == to { format!("on {from}") } else { format!("from {from} to {to}") };
    let by = if c.way == MEMORY { "through memory" } else { c.way.as_str() };
    let mut out = format!("calibrated {place}, {by}: {}\n", c.quality());
    for kind in Measured::ALL {
        let shown =
            c.points.iter().filter(|p| p.kind == kind && (kind == Measured::Strided || SHOWN.contains(&p.bytes)));
        let parts: Vec<String> = shown
            .map(|p| {
                let bytes = pellucid_profile::report::shown_bytes(p.bytes);
                if p.bytes < 1024 {
                    format!("{bytes} {}", shown_time(p.ns))
                } else {
                    format!("{bytes} {:.1} GB/s", p.bytes as f64 / p.ns.max(0.1))
                }
            })
            .collect();
        out.push_str(&format!("  {:<8} {}\n", kind.name(), parts.join(", ")));
    }
    let file = visible_path(path);
    let others = format!(
        "others were at work\n(spread above {:.0} % or without a core for more than {:.0} %)",
        100.0 * LOUD,
        100.0 * CORELESS
    );
    out.push_str(&match (is_kept, c.is_loud()) {
        (true, false) => format!("kept in {file}\n"),
        (true, true) => format!("kept in {file}, marked: {others}; run it again when they are not\n"),
        (false, _) => format!("not kept: {others}, and {file} is of a quiet machine\n"),
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_pe_says_is_understood() {
        let text = "hosts\ta\tb\ttcp\t0.25\nput\t8\t3.5\t0.5\nput\t1048576\t100000\t0.5\n";
        let found = understood(text).expect("a calibration");
        assert_eq!((found.hosts.clone(), found.way.as_str()), (["a".into(), "b".into()], "tcp"));
        let text = summary(&found, Path::new("/c/x.json"), true);
        assert!(
            text.starts_with("calibrated from a to b, tcp: spread 50 %, without a core 25 % of the time\n"),
            "{text}"
        );
        assert!(text.contains("put      8 B 3.50 ns\n") && text.contains("kept in /c/x.json, marked"), "{text}");
        assert!(text.lines().all(|line| line.len() < 120), "{text}");
        assert_eq!(understood("hosts\ta\tb\ttcp\t2\nput\t8\t3.5\t0.5\n"), None);
        assert_eq!(understood("put\t8\t3.5\t0.5\n"), None);
        assert_eq!(understood("hosts\ta\tb\ttcp\t0.25\nput\t8\t-1\t0.5\n"), None);
        assert_eq!(understood("hosts\ta\tb\ttcp\t0.25\n"), None);
    }
}
