//! `oshprof hang`: what each PE of a running job does, and who waits for whom.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pellucid_profile::live::{Inactivity, ListedPe, PeNow, State, Waits, activity_at, listed};
use pellucid_profile::text::{ADVICE, has_line};

use crate::live::{self, Job};
use crate::resolve::Resolver;
use crate::stack;

/// Between two looks at a job.
const BETWEEN: Duration = Duration::from_millis(150);

/// say who waits for whom in a hung job
///
/// Says what every PE of a running job does and for how long, who waits for whom, and names rings of PEs that wait for
/// each other. The job goes on: PEs outside of the library are stopped for less than a millisecond, to see where they
/// are. JOB is the process id of its launcher (oshrun, mpirun, mpiexec ...) or of one of its PEs; where one job runs,
/// it need not be given. Of a job on several hosts the PEs of this host are seen.
///
/// oshrun says the same on SIGQUIT, on SIGUSR1 where the program does not handle that, and at the end of --timeout.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 it was said, 1 there is no such job, 2 wrong usage.")]
pub struct Request {
    /// process id of its launcher or of one of its PEs
    #[arg(value_parser = pellucid_cli::text(live::pid))]
    job: Option<u32>,
}

/// Prints the report.
pub fn run(request: &Request) -> ExitCode {
    live::with_job(request.job, report)
}

fn report(job: Job) -> ExitCode {
    // Whether PEs that are not seen to wait make calls takes two looks.
    let mut inactivity = Inactivity::default();
    inactivity.look(&job.segment);
    std::thread::sleep(BETWEEN);
    let mut pes = job.look();
    pes.iter_mut().for_each(|pe| inactivity.note(&job.segment, pe));
    let symbols = Resolver::with_offsets();
    let computes = |pe: &&mut PeNow| pe.is_outside() && pe.state == State::Running;
    pes.iter_mut().filter(computes).for_each(|pe| pe.place = stack::shown(pe.pid, &symbols));
    let mut text = format!("{}, since {:.1} s\n\n", job.title(), job.segment.now_ns() as f64 / 1e9);
    let lines: Vec<ListedPe> =
        pes.iter().map(|pe| ListedPe { pe: pe.pe, pid: pe.pid, text: activity_at(pe, &symbols) }).collect();
    for line in listed(&lines, "") {
        text += &format!("{line}\n");
    }
    if lines.iter().any(|line| line.text.contains("called from") && !has_line(&line.text)) {
        text += &format!("({ADVICE})\n");
    }
    let waits = Waits::find_at(&pes, &symbols).text();
    text += "\n";
    text += if waits.is_empty() { "nobody waits\n" } else { &waits };
    crate::print(&text)
}
