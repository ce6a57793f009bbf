//! `oshprof report`.

use std::process::ExitCode;

use pellucid_profile::{file, report};

use crate::args::Report;
use crate::{FAILED, print};

/// Prints the report. What cannot be read is named on standard error; the rest is reported.
pub fn run(request: &Report) -> ExitCode {
    let loaded = match file::read(&request.dir) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("oshprof: {error}");
            return ExitCode::from(FAILED);
        }
    };
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    let text = if request.json {
        report::json(&loaded.profile, &request.options, &problems)
    } else {
        report::text(&loaded.profile, &request.options)
    };
    let printed = print(&text);
    for problem in &problems {
        eprintln!("oshprof: {problem}");
    }
    if problems.is_empty() { printed } else { ExitCode::from(FAILED) }
}
