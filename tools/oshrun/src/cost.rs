//! What profiling costs: the job runs once more without it, and the difference is told.

use pellucid_core::os::processes;
use std::time::{Duration, Instant};

use pellucid_profile::companion::Destinations;

use crate::job::{self, Failure};
use crate::options::{Options, ProfileChoice};
use crate::sys::process::{self, Ended};

/// Runs the job with its profile, then without, and prints the difference. Gives the status of the first run; where
/// that is not 0, there is no second.
///
/// # Errors
/// What keeps the first run from starting is told by it; an error is that there can be no process for it.
pub fn run(options: &Options) -> Result<i32, Failure> {
    let profiled = match options.profile {
        ProfileChoice::Silent => Options { profile: ProfileChoice::Level(1), ..options.clone() },
        ProfileChoice::Off | ProfileChoice::Level(_) => options.clone(),
    };
    let (status, with) = in_child(&profiled)?;
    if status != 0 {
        pellucid_profile::say!("oshrun: --profile-cost: exit status {status}: the job is not run again");
        return Ok(status);
    }
    pellucid_profile::say!("oshrun: --profile-cost: the job runs again, without its profile");
    let (status, without) = in_child(&bare(options))?;
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

/// `profiling cost 31.2 ms, 4.1 %: 790.0 ms with it, 758.8 ms without, from start to end of the job`
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
    format!("{what}: {} with it, {} without, from start to end of the job", ms(with), ms(without))
}

/// Runs the job in a process of its own, as if this one had: a launcher runs one job. Gives its status, and the time it
/// took.
fn in_child(options: &Options) -> Result<(i32, Duration), Failure> {
    let (begin, parent) = (Instant::now(), process::id());
    let child = process::fork().map_err(|error| Failure::needs("start the job", processes::refused(&error)))?;
    let Some(child) = child else {
        // Should this process be killed, the job ends as if its launcher had been.
        let status = if process::die_with(parent) { job::run(options).unwrap_or_else(crate::say) } else { 1 };
        std::process::exit(status);
    };
    let status = match process::wait_for_end(child) {
        Ended::Exited(status) => status,
        Ended::Killed { signal, .. } => 128 + signal,
    };
    Ok((status, begin.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_told_with_what_it_is_of() {
        let ms = Duration::from_millis;
        assert_eq!(
            text(ms(520), ms(500)),
            "profiling cost 20.0 ms, 4.0 %: 520.0 ms with it, 500.0 ms without, from start to end of the job"
        );
        assert!(text(ms(499), ms(500)).starts_with("profiling cost nothing that can be told: 1.0 ms less"));
    }
}
