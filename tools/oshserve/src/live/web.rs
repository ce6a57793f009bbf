//! `oshprof top --web`: the page of a job that runs already.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pellucid_profile::segment::{Segment, handover};

use crate::commands::FAILED;
use crate::say::{complain, print};
use crate::serve::found::identity;
use crate::serve::jobs::{Jobs, Limits};
use crate::serve::server::{self, Listener};
use crate::serve::tracked::Tracked;
use crate::serve::{Listen, Pages, word};

/// How often is looked whether the job has ended.
const LOOK: Duration = Duration::from_millis(200);
/// How long its end is shown to nobody.
const LINGER: Duration = Duration::from_secs(10);

/// Serves until the job has ended and its reader knows. `pid`: its launcher.
pub fn run(segment: Segment, pid: u32) -> ExitCode {
    match serve(segment, pid) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("top: {error}"));
            ExitCode::from(FAILED)
        }
    }
}

fn serve(segment: Segment, pid: u32) -> Result<(), String> {
    let jobs = Arc::new(Jobs::new(Limits {
        linger: LINGER,
        max_series: usize::MAX,
        show_user: false,
        top: 0,
        by_node: false,
    }));
    jobs.only_these();
    let identity = identity(&segment, pid, false);
    // The only one.
    let _ = jobs.add(Tracked::new(segment, identity, Some(pid), handover::user()));
    let listener = Listener::bind(&Listen::Tcp("127.0.0.1:0".into()))?;
    let word = word().map_err(|error| error.to_string())?;
    print(&format!("oshprof: top: {}{word}\n", listener.root(false)))?;
    let served = Arc::clone(&jobs);
    let work = move || match server::serve(listener, served, None, Pages::Live(word)) {
        Ok(never) => match never {},
        Err(error) => complain(format_args!("top: {error}")),
    };
    std::thread::Builder::new().name("server".into()).spawn(work).map_err(|error| error.to_string())?;
    while !jobs.is_over(LINGER) {
        std::thread::sleep(LOOK);
    }
    // The last answer is on its way.
    std::thread::sleep(Duration::from_secs(1));
    Ok(())
}
