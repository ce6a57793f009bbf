//! Metrics of a kept profile: `oshprof metrics DIR`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pellucid_profile::file::Directory;
use pellucid_profile::merge::Merged;
use pellucid_profile::model::{Job, JobIdentity};

use crate::commands::{FAILED, Format};
use crate::metrics::collect::{Identity, View, collect, state_of};
use crate::metrics::family::Family;
use crate::metrics::live::Now;
use crate::metrics::series::Memory;
use crate::metrics::{openmetrics, otlp, text};
use crate::say::{complain, page};

/// print metrics of a profile, for Prometheus
///
/// Prints the metrics of the profile in DIR, which `oshrun --profile` wrote (docs/metrics.md lists them).
#[derive(Debug, PartialEq, Eq, Args)]
#[command(after_help = "Exit status: 0 all was read, 1 something could not be read, 2 wrong usage.")]
pub struct Request {
    /// directory of the profile
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// how they are printed
    #[arg(long, value_parser = pellucid_cli::Words::<Format>::all(), default_value = "prometheus")]
    pub format: Format,
    /// label job_id (default: the one that the job had)
    #[arg(long, value_name = "ID", value_parser = pellucid_cli::string())]
    pub job_id: Option<String>,
}

impl Request {
    /// Prints them. What cannot be read of the profile is named on standard error.
    pub fn run(&self) -> ExitCode {
        run(self)
    }
}

fn run(request: &Request) -> ExitCode {
    let directory = match Directory::open(&request.dir) {
        Ok(directory) => directory,
        Err(error) => {
            complain(error);
            return ExitCode::from(FAILED);
        }
    };
    let merged = Merged::new(&directory, |_, _| {});
    let problems = directory.problems();
    problems.iter().for_each(complain);
    let text = match print(request, &merged) {
        Ok(text) => text,
        Err(error) => {
            complain(format_args!("metrics: {error}"));
            return ExitCode::from(FAILED);
        }
    };
    if page(&text) && problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

fn print(request: &Request, merged: &Merged) -> Result<String, String> {
    let job = &merged.job;
    let identity = identity(job, request.job_id.as_deref());
    let families = families(merged, &identity);
    match request.format {
        Format::Prometheus => text::encode(&families),
        Format::OpenMetrics => Ok(openmetrics::encode(&families)),
        Format::OtlpJson => {
            let request = otlp::request(&families, &otlp::Source::of_job(job, &identity));
            serde_json::to_string(&request).map(|text| text + "\n").map_err(|error| error.to_string())
        }
    }
}

fn identity(job: &Job, job_id: Option<&str>) -> Identity {
    let JobIdentity { id, step, launcher } = job.identity.clone();
    let of_before = || format!("{}-{}", job.host, job.start_realtime_ns / 1_000_000_000);
    let own = if id.is_empty() { of_before() } else { id };
    Identity { job_id: job_id.map_or(own, str::to_owned), step, launcher, scope: "job".into(), ..Identity::default() }
}

/// The metrics of a job: of one that has ended, or of a snapshot.
fn families(merged: &Merged, identity: &Identity) -> Vec<Family> {
    let now = Now { lost: merged.lost_pes().count() as u64, ..Now::default() };
    let state = state_of(merged);
    collect(&View { identity, state, merged, now: &now, top: 0 }, &mut Memory::default())
}

#[cfg(test)]
mod tests {
    use pellucid_profile::model::{End, Pe, Profile, Progress};

    use super::*;
    use crate::metrics::table::Id;

    #[test]
    fn a_snapshot_has_lost_only_pes_that_are_known_to_have_ended() {
        let pe = |number: u32, progress: Progress, end: End| Pe { pe: number, progress, end, ..Pe::default() };
        let pes = vec![
            pe(0, Progress::Initialized, End::Unknown),
            pe(1, Progress::Initialized, End::Killed(9)),
            pe(2, Progress::Finalized, End::Exited(0)),
        ];
        for (exit_status, lost, state) in [(None, 1, "running"), (Some(0), 2, "finished"), (Some(200), 2, "failed")] {
            let job = Job { npes: 3, exit_status, ..Job::default() };
            let merged = Merged::from(&Profile { job, pes: pes.clone() });
            let families = families(&merged, &Identity::default());
            let family = |id: Id| families.iter().find(|family| family.row.id == id).expect("a family");
            assert_eq!(family(Id::LostPes).series[0].value.number(), f64::from(lost), "{exit_status:?}");
            let states = &family(Id::JobState).series;
            let is = states.iter().find(|series| series.value.number() == 1.0).expect("a state");
            assert_eq!(is.labels[1], state);
        }
    }
}
