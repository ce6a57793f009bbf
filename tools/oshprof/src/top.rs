//! `oshprof top`: a running job on one screen.

pub(crate) mod screen;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};
use pellucid_profile::model::Profile;
use pellucid_profile::snapshot::{self, Outcome};

use crate::args::Command;
use crate::hang;
use crate::live::{self, Job};
use screen::Terminal;

const HELP: &str = "\
usage: oshprof top [JOB] [options]

Shows what a running job does: calls and bytes a second by routine, the state of
each PE, its heap. The job goes on undisturbed. JOB is the process id of its
oshrun; where one job runs, it need not be given. Ends with q or Ctrl-C, or with
the job.

  --interval S   seconds between two looks (default 1)
  --once         look for one interval, print, and end: for scripts; also where
                 the output is no terminal
  --web          serve a page for a browser instead, on this host only, and
                 print its address
  -h, --help     this text
";

/// `oshprof top`.
#[derive(Debug, PartialEq)]
pub struct Request {
    job: Option<u32>,
    interval: Duration,
    once: bool,
    web: bool,
}

impl Eq for Request {}

/// Understands what follows `top`.
pub fn parse(mut parser: Parser) -> Result<Command, String> {
    let (mut job, mut interval, mut once, mut web) = (None, 1.0, false, false);
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(HELP)),
            Arg::Long("once") => once = true,
            Arg::Long("web") => web = true,
            Arg::Long("interval") => {
                let value = parser.value().map_err(|_| "top: --interval needs a value")?;
                let parsed = value.clone().parse::<f64>().ok().filter(|s| (0.01..=3600.0).contains(s));
                interval = parsed.ok_or_else(|| {
                    format!(
                        "top: --interval `{}` is not a number of seconds from 0.01 to 3600",
                        value.to_string_lossy()
                    )
                })?;
            }
            Arg::Value(value) if job.is_none() => job = Some(hang::number("top", &value)?),
            other => return Err(format!("top: {}", other.unexpected())),
        }
    }
    Ok(Command::Top(Request { job, interval: Duration::from_secs_f64(interval), once, web }))
}

/// Shows a job.
pub fn run(request: &Request) -> ExitCode {
    let job = match live::find(request.job) {
        Ok(job) => job,
        Err(error) => {
            eprintln!("oshprof: {error}");
            return ExitCode::from(crate::FAILED);
        }
    };
    if request.web {
        return crate::exporter::page(job);
    }
    let mut before = take(&job);
    let terminal = if request.once { None } else { Terminal::open() };
    let Some(terminal) = terminal else {
        std::thread::sleep(request.interval);
        return crate::print(&page(&job, &before, &take(&job), None));
    };
    loop {
        if terminal.wait_for_q(request.interval) || !job.runs() {
            return ExitCode::SUCCESS;
        }
        let now = take(&job);
        let text = page(&job, &before, &now, Some(terminal.size()));
        before = now;
        let mut out = io::stdout().lock();
        // Home, each line with its rest cleared, then everything below.
        let lines: Vec<String> = text.lines().map(|line| format!("{line}\x1b[K")).collect();
        if write!(out, "\x1b[H{}\x1b[J", lines.join("\r\n")).and_then(|()| out.flush()).is_err() {
            return ExitCode::from(crate::FAILED);
        }
    }
}

/// The profile so far, and when.
struct Look {
    ns: u64,
    profile: Profile,
}

fn take(job: &Job) -> Look {
    Look { ns: job.segment.now_ns(), profile: snapshot::take(&job.segment, &Outcome::default()) }
}

/// A line of the table of routines.
struct Rate {
    name: String,
    calls: f64,
    bytes: f64,
}

/// Calls and bytes a second by routine, most calls first.
fn rates(before: &Look, now: &Look) -> Vec<Rate> {
    let seconds = (now.ns.saturating_sub(before.ns) as f64 / 1e9).max(1e-9);
    let totals = |profile: &Profile| {
        let mut totals = std::collections::BTreeMap::new();
        for routine in profile.pes.iter().flat_map(|pe| &pe.routines) {
            let total: &mut (u64, u64) = totals.entry(routine.name.clone()).or_default();
            total.0 += routine.calls.iter().sum::<u64>();
            total.1 += routine.bytes.iter().sum::<u64>();
        }
        totals
    };
    let earlier = totals(&before.profile);
    let mut rates: Vec<Rate> = totals(&now.profile)
        .into_iter()
        .map(|(name, (calls, bytes))| {
            let (calls0, bytes0) = earlier.get(&name).copied().unwrap_or_default();
            let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
            Rate { calls: rate(calls, calls0), bytes: rate(bytes, bytes0), name: name.to_string() }
        })
        .filter(|rate| rate.calls > 0.0)
        .collect();
    rates.sort_by(|a, b| b.calls.total_cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
    rates
}

/// The whole page; `size` is that of the screen in columns and lines.
fn page(job: &Job, before: &Look, now: &Look, size: Option<(usize, usize)>) -> String {
    let (columns, lines) = size.unwrap_or((usize::MAX, usize::MAX));
    let pes = job.look();
    let rates = rates(before, now);
    let mut text = vec![format!("{}, since {:.1} s", job.title(), now.ns as f64 / 1e9), String::new()];
    text.push(format!("{:<32} {:>12} {:>12}", "routine", "calls/s", "bytes/s"));
    // Half of the screen for routines, but no more than they need.
    let room = lines.saturating_sub(6);
    let shown = rates.len().min((room / 2).max(room.saturating_sub(pes.len())));
    for rate in &rates[..shown] {
        let bytes = if rate.bytes > 0.0 { amount(rate.bytes) } else { "-".to_owned() };
        text.push(format!("{:<32} {:>12} {bytes:>12}", rate.name, amount(rate.calls)));
    }
    if rates.is_empty() {
        text.push("(no calls)".to_owned());
    }
    text.push(String::new());
    text.push(format!("{:>6} {:>8} {:>12} {:>12}  {}", "PE", "pid", "heap, bytes", "most", "state"));
    let rest = lines.saturating_sub(text.len() + 1).min(pes.len());
    for pe in &pes[..rest] {
        let (used, most) = pe.heap;
        let state = pellucid_profile::live::activity(pe);
        text.push(format!(
            "{:>6} {:>8} {:>12} {:>12}  {state}",
            pe.pe,
            pe.pid,
            amount(used as f64),
            amount(most as f64)
        ));
    }
    if rest < pes.len() {
        text.push(format!("{:>6} more PEs", pes.len() - rest));
    }
    let cut = |line: String| line.chars().take(columns).collect::<String>() + "\n";
    text.into_iter().map(cut).collect()
}

/// A number with few digits: `12.3 M`.
fn amount(value: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")];
    match UNITS.iter().find(|(unit, _)| value >= *unit) {
        Some((1e4, name)) => format!("{:.1}{name}", value / 1e3),
        Some((unit, name)) => format!("{:.1}{name}", value / unit),
        None => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        for (value, text) in [(0.0, "0"), (9999.0, "9999"), (12_345.0, "12.3 k"), (2.5e6, "2.5 M"), (3e13, "30.0 T")] {
            assert_eq!(amount(value), text);
        }
    }

    #[test]
    fn options() {
        let parsed = |line: &str| crate::args::parse(line.split_whitespace().map(std::ffi::OsString::from));
        let Ok(Command::Top(request)) = parsed("top 71 --once --interval 0.5") else { panic!() };
        assert_eq!((request.job, request.once, request.interval), (Some(71), true, Duration::from_millis(500)));
        for (line, part) in
            [("top x", "`x` is not the process id"), ("top --interval 0", "`0` is not a number"), ("hang 1 2", "2")]
        {
            assert!(parsed(line).unwrap_err().contains(part), "{line}");
        }
    }
}
