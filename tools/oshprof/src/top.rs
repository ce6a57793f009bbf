//! `oshprof top`: a running job on one screen.

mod ansi;
mod look;
pub(crate) mod screen;
mod threads;
mod view;

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use pellucid_cli::text;
use pellucid_profile::live::Inactivity;
use pellucid_profile::report::shown_bytes;

use crate::live::{self, Job};
use crate::resolve::Resolver;
use ansi::Ansi;
use look::{Look, Page};
use screen::{Key, Terminal};
use view::View;

/// watch a job that runs
///
/// Shows what a running job does: of each PE a bar with the parts of the last interval in which it computed, waited and
/// transferred, and where it is now; calls and bytes a second by routine. The job goes on undisturbed. JOB is the
/// process id of its launcher (oshrun, mpirun ...) or of one of its PEs; where one job runs, it need not be given. Ends
/// with q or Ctrl-C, or with the job; h lists the keys that sort and scroll.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 the job was shown, 1 there is no such job, 2 wrong usage.")]
pub struct Request {
    /// process id of its launcher or of one of its PEs
    #[arg(value_parser = text(live::pid))]
    job: Option<u32>,
    /// time between two looks
    #[arg(long, value_name = "TIME", value_parser = text(interval), default_value = "1")]
    interval: Duration,
    /// look for one interval, print, and end: for scripts; also where the output is no terminal
    #[arg(long, conflicts_with = "web")]
    once: bool,
    /// serve a page for a browser instead, on this host only, and print its address
    #[arg(long)]
    web: bool,
}

fn interval(time: &str) -> Result<Duration, String> {
    let range = Duration::from_millis(10)..=Duration::from_hours(1);
    let time = pellucid_cli::duration(time).filter(|time| range.contains(time));
    time.ok_or_else(|| format!("expected a time from 10ms to 1h: {}", pellucid_cli::TIMES))
}

/// Shows a job.
pub fn run(request: &Request) -> ExitCode {
    live::with_job(request.job, |job| show(request, job))
}

fn show(request: &Request, job: Job) -> ExitCode {
    if request.web {
        return crate::exporter::page(job);
    }
    let terminal = if request.once { None } else { Terminal::open() };
    let Some(terminal) = terminal else {
        let (symbols, mut inactivity) = (Resolver::with_offsets(), Inactivity::default());
        let before = Look::take(&job, &mut inactivity);
        std::thread::sleep(request.interval);
        let now = Look::take(&job, &mut inactivity);
        return crate::print(&page_text(&Page::new(&job, &before, &now, &inactivity, &symbols)));
    };
    match on_screen(&job, request.interval, terminal) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(crate::FAILED),
    }
}

/// Until the user or the job ends it.
fn on_screen(job: &Job, interval: Duration, mut terminal: Terminal) -> io::Result<()> {
    let mut screen = ratatui::Terminal::new(Ansi::new(io::stdout().lock(), screen::size))?;
    let (symbols, mut inactivity, mut view) = (Resolver::with_offsets(), Inactivity::default(), View::default());
    let mut before = Look::take(job, &mut inactivity);
    let mut page = Page { title: job.title(), ..Page::default() };
    // The first page comes soon.
    let mut next = Instant::now() + interval.min(Duration::from_millis(200));
    loop {
        screen.draw(|frame| view.draw(frame, &page))?;
        match terminal.key(next) {
            Some(Key::Quit) => return Ok(()),
            Some(key) => view.key(key),
            None if !job.runs() => return Ok(()),
            None => {
                let now = Look::take(job, &mut inactivity);
                page = Page::new(job, &before, &now, &inactivity, &symbols);
                before = now;
                next = Instant::now() + interval;
            }
        }
    }
}

/// The page for scripts: all rows.
fn page_text(page: &Page) -> String {
    const BAR: usize = 20;
    let mut lines = vec![view::head(page), view::summary(page), String::new()];
    lines.push(format!("{:<36} {:>12} {:>12} {:>8}", "routine", "calls/s", "bytes/s", "time"));
    lines.extend(page.routines.iter().map(view::routine));
    if page.routines.is_empty() {
        lines.push("(no calls)".to_owned());
    }
    lines.push(String::new());
    lines.push(format!("{:>5} {:>8} {:<BAR$} {:>10} {:>10}  state", "PE", "pid", "", "heap", "most"));
    for pe in &page.pes {
        let bar = view::bar(pe.shares, BAR).concat();
        let [heap, most] = [pe.heap, pe.heap_most].map(shown_bytes);
        lines.push(format!("{:>5} {:>8} {bar} {heap:>10} {most:>10}  {}", pe.pe, pe.pid, pe.state));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Asked, parsed};

    #[test]
    fn options() {
        let Ok(Asked::Top(request)) = parsed("top 71 --once --interval 0.5") else { panic!() };
        assert_eq!((request.job, request.once, request.interval), (Some(71), true, Duration::from_millis(500)));
        for (line, part) in [
            ("top x", "invalid value 'x' for '[JOB]': expected the process id"),
            ("top --interval 0", "'0' for '--interval <TIME>': expected a time from 10ms to 1h"),
            ("top --once --web", "'--once' cannot be used with '--web'"),
            ("hang 1 2", "'2'"),
        ] {
            assert!(parsed(line).unwrap_err().contains(part), "{line}");
        }
    }
}
