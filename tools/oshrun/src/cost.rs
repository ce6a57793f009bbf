//! What profiling costs: the job runs once more without it, and the difference is told.

mod input;

use pellucid_core::os::processes;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use pellucid_profile::companion::Destinations;

use crate::job::{self, Failure, Outcome};
use crate::options::{Options, ProfileChoice};
use crate::sys::file;
use crate::sys::process::{self, Ended};
use input::Input;

/// Runs the job with its profile, then without, and prints the difference. Gives the status of the first run; where
/// that is not 0, there is no second.
///
/// # Errors
/// What keeps the first run from starting is told by it; an error is that there can be no process for it, or that its
/// input cannot be kept.
pub fn run(options: &Options) -> Result<i32, Failure> {
    let profiled = match options.profile {
        ProfileChoice::Silent => Options { profile: ProfileChoice::Level(1), ..options.clone() },
        ProfileChoice::Off | ProfileChoice::Level(_) => options.clone(),
    };
    let mut input = Input::new().map_err(input_failed)?;
    let Outcome { status, ran: with } = in_child(&profiled, &mut input)?;
    if status != 0 {
        pellucid_profile::say!("oshrun: --profile-cost: exit status {status}: the job is not run again");
        return Ok(status);
    }
    pellucid_profile::say!("oshrun: --profile-cost: the job runs again, without its profile");
    let Outcome { status, ran: without } = in_child(&bare(options), &mut input)?;
    if status != 0 {
        pellucid_profile::say!("oshrun: --profile-cost: exit status {status} without the profile: nothing to compare");
        return Ok(status);
    }
    pellucid_profile::say!("oshrun: {}", text(with, without));
    Ok(0)
}

/// The same job, of which nothing is recorded.
fn bare(options: &Options) -> Options {
    Options {
        profile: ProfileChoice::Off,
        profile_dir: None,
        settings: Vec::new(),
        trace: None,
        metrics: Destinations::default(),
        ..options.clone()
    }
}

/// `profiling cost 31.2 ms, 4.1 %: 790.0 ms with it, 758.8 ms without, from the first ...`
fn text(with: Duration, without: Duration) -> String {
    let ms = |time: f64| format!("{:.1} ms", 1e3 * time);
    let (with, without) = (with.as_secs_f64(), without.as_secs_f64());
    let cost = with - without;
    let percent = 100.0 * cost / without.max(1e-9);
    let what = if cost >= 0.0 {
        format!("profiling cost {}, {percent:.1} %", ms(cost))
    } else {
        format!("profiling cost nothing that can be told: {} less", ms(-cost))
    };
    format!("{what}: {} with it, {} without, from the first PE's start to the last one's end", ms(with), ms(without))
}

fn input_failed(error: io::Error) -> Failure {
    Failure::needs("keep standard input for the second run", error)
}

/// Runs the job in a process of its own, as if this one had: a launcher runs one job.
fn in_child(options: &Options, input: &mut Input) -> Result<Outcome, Failure> {
    let failed = |error: io::Error| Failure::needs("start the job", processes::refused(&error));
    let (told, teller) = io::pipe().map_err(failed)?;
    let (given, parent) = (input.open().map_err(input_failed)?, process::id());
    let Some(child) = process::fork().map_err(failed)? else {
        drop(told);
        // Or its input has no end.
        input.leave_to_parent();
        // Should this process be killed, the job ends as if its launcher had been.
        std::process::exit(if process::die_with(parent) { run_and_tell(options, given, teller) } else { 1 });
    };
    drop((given, teller));
    input.feed(&told).map_err(input_failed)?;
    let status = match process::wait_for_end(child) {
        Ended::Exited(status) => status,
        Ended::Killed { signal, .. } => 128 + signal,
    };
    // A job without a time has not begun, and has a status that says so.
    Ok(Outcome { status, ran: time(told).unwrap_or_default() })
}

/// Runs the job, and tells how long its PEs ran: what is made of the profile afterwards is none of its cost.
fn run_and_tell(options: &Options, input: Option<OwnedFd>, mut teller: PipeWriter) -> i32 {
    let replaced = input.map_or(Ok(()), |input| file::replace(0, &input));
    match replaced.map_err(input_failed).and_then(|()| job::run(options)) {
        Ok(Outcome { status, ran }) => {
            let _ = teller.write_all(&(ran.as_nanos() as u64).to_ne_bytes());
            status
        }
        Err(failure) => crate::say(failure),
    }
}

/// What [`run_and_tell`] has told. Does not wait for it.
fn time(mut told: PipeReader) -> io::Result<Duration> {
    let mut nanoseconds = [0; 8];
    file::set_nonblocking(&told)?;
    told.read_exact(&mut nanoseconds)?;
    Ok(Duration::from_nanos(u64::from_ne_bytes(nanoseconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_told_with_what_it_is_of() {
        let ms = Duration::from_millis;
        assert_eq!(
            text(ms(520), ms(500)),
            "profiling cost 20.0 ms, 4.0 %: 520.0 ms with it, 500.0 ms without, from the first PE's start \
             to the last one's end"
        );
        assert!(text(ms(499), ms(500)).starts_with("profiling cost nothing that can be told: 1.0 ms less"));
    }
}
