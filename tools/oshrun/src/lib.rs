//! `oshrun`: runs a program as the PEs of one OpenSHMEM job, on this host or on several.
//!
//! | module | what it is |
//! |---|---|
//! | [`cli`], [`options`], [`values`], [`foreign`] | the command line: its options, from which all is made; their values; what others call them |
//! | [`program`], [`linked`], [`tools`], [`bind`], [`cpus`], [`files`], [`plan`] | what is run, with which tools, where, with which environment |
//! | [`job`], [`spawn`], [`watchdog`], [`debugger`] | starting it, also under a debugger, and ending it should this process be killed |
//! | [`supervise`] | the loop: [`output`] ([`lines`], [`sink`]), [`input`], [`signals`], [`pes`], [`ending`], [`orphans`] |
//! | [`hosts`] | a job on several hosts |
//! | [`report`], [`profile`], [`results`] | what is said of PEs that die or hang; what the job spent its time on |
//! | [`cost`] | the job once more, without its profile |
//! | [`calibrate`] | what puts, gets, atomics and algorithms of collectives take on this machine |
//! | [`source`] | source lines of calls, for these messages: `oshprof` finds them |
//! | [`handover`], [`metrics`] | the profile, handed over to the host's exporter of metrics, and to one beside the job |
//! | [`sys`] | system calls |
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stderr))]

mod bind;
mod calibrate;
pub mod cli;
mod cost;
mod cpus;
mod debugger;
mod ending;
mod files;
mod foreign;
mod format;
mod handover;
mod hosts;
mod input;
mod job;
mod lines;
mod linked;
mod metrics;
mod options;
mod orphans;
mod output;
mod pes;
mod plan;
mod profile;
mod program;
mod report;
mod results;
mod settings;
mod signals;
mod sink;
mod source;
mod spawn;
mod supervise;
mod sys;
mod tools;
mod values;
mod watchdog;

use options::Request;
use pellucid_cli::Answer;
use pellucid_core::base::text::visible_lines;
use pellucid_core::bootstrap::by_option;
use std::process::exit;

/// Exit status for a command line that cannot be understood.
const USAGE: i32 = 2;

/// Does what the command line asks for, and ends the process.
#[allow(unsafe_code)]
pub fn main() {
    // Started by another oshrun: nothing that a user would type.
    if std::env::args_os().skip(1).eq([hosts::daemon::OPTION]) {
        exit(hosts::daemon::run());
    }
    // SAFETY: this process has one thread.
    unsafe { by_option::forget() };
    // A PE of the job that `--calibrate` runs.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == calibrate::OPTION) {
        let library = std::path::PathBuf::from(arguments.next().unwrap_or_default());
        let of_collectives = arguments.next().is_some_and(|second| second == calibrate::algorithms::OPTION);
        exit(if of_collectives { calibrate::collectives::run(&library) } else { calibrate::pe::run(&library) });
    }
    let status = match cli::parse(std::env::args_os().skip(1)) {
        Ok(Request::Run(mut options)) => {
            options.take_over(std::env::var_os("SHMEM_PROFILE_DIR"), std::env::var_os("SHMEM_TRACE"));
            // The table of the profile goes to standard error.
            if let Some(columns) = sys::file::columns(2) {
                pellucid_profile::report::set_width(columns);
            }
            let status = if options.profile_cost {
                cost::run(&options)
            } else {
                job::run(&options).map(|outcome| outcome.status)
            };
            status.unwrap_or_else(say)
        }
        Ok(Request::Calibrate(options)) => {
            let others = std::env::args_os().skip(1).filter(|argument| argument != "--calibrate");
            calibrate::run(&options, others).map_or_else(say, |text| print(&text))
        }
        Ok(Request::Info(options)) => job::info(&options).map_or_else(say, |text| print(&text)),
        Err(Answer::Text(text)) => print(&text),
        Err(Answer::Wrong(message)) => {
            pellucid_profile::say!("oshrun: {message}");
            USAGE
        }
    };
    exit(status)
}

/// Says why there is no job; gives the exit status.
fn say(failure: job::Failure) -> i32 {
    pellucid_profile::say!("oshrun: {}", visible_lines(&failure.message));
    failure.status
}

/// Prints to standard output; a reader who has gone is no reason to complain.
fn print(text: &str) -> i32 {
    use std::io::Write;
    i32::from(std::io::stdout().write_all(text.as_bytes()).is_err())
}
