//! A process beside one job, started by its launcher: it serves the job's metrics at an address of their own, writes
//! them to a file and pushes them, so that the launcher and the library need no HTTP.
//!
//! Its standard input is a socket to whoever started it. Over that the companion says whether it is ready; then comes
//! the job, as to the exporter of a host ([`crate::serve::handover`]), then a line `snapshot` for each that is to be
//! written, and at last how the job ended. The companion says `done` after each of them, at the end when all that was
//! to be exported has been.
//!
//! | module | what it is |
//! |---|---|
//! | [`exports`] | the file and what is pushed, each in a thread of its own |
//! | [`talk`] | what is said over the socket |

pub mod exports;
pub mod talk;

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pellucid_profile::output;

use crate::commands::FAILED;
use crate::say::complain;
use crate::serve::jobs::Jobs;
use crate::serve::server::{self, Listener};
use crate::serve::sockets::Sockets;
use crate::serve::{self, Pages, config, successor};
use crate::sys;
use exports::{Destinations, Exports};
use talk::{LauncherMessage, Talk};

/// Seconds that preparing may take: whoever started it does not wait longer.
const PREPARE: u32 = 10;
/// How long the last exports may take.
const LAST: Duration = Duration::from_secs(2);

/// `oshprof serve --job-on-stdin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it serves: without an address, nothing.
    pub serve: serve::Request,
    /// Where metrics are pushed to.
    pub push: Option<String>,
    /// Whether a Pushgateway is to forget the job at its end.
    pub forget: bool,
    /// The file that metrics are written to.
    pub file: Option<PathBuf>,
}

impl Request {
    /// The descriptor of whoever started this process that the user has named for the file, as shells do for `>(...)`.
    fn inherited(&self) -> Option<i32> {
        self.file.as_deref().and_then(output::descriptor)
    }

    /// The same, without names of files that are relative to the present directory.
    fn absolute(&self) -> io::Result<Request> {
        let mut request = self.clone();
        for name in [&mut request.file, &mut request.serve.web_config].into_iter().flatten() {
            *name = std::path::absolute(&*name)?;
        }
        Ok(request)
    }
}

/// Stays with a job until its last numbers have been fetched.
pub fn run(request: &Request) -> ExitCode {
    sys::close_all_but(request.inherited());
    let stream = match sys::take_standard_input() {
        Ok(stream) => stream,
        Err(error) => {
            complain(format_args!("serve: --job-on-stdin: standard input is no socket: {error}"));
            return ExitCode::from(FAILED);
        }
    };
    if let Err(error) = sys::leave_the_starter() {
        complain(format_args!("serve: {error}"));
        return ExitCode::from(FAILED);
    }
    match serve_job(request, stream) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(FAILED),
    }
}

/// All that has to be there before the job begins.
struct Ready {
    listener: Option<Listener>,
    config: Option<config::Config>,
    exports: Exports,
}

fn prepare(request: &Request) -> Result<Ready, String> {
    let request = &request.absolute().map_err(|error| error.to_string())?;
    let config = request.serve.web_config.clone().map(config::Config::open).transpose()?;
    let wanted = Destinations { file: request.file.clone(), push: request.push.clone(), forget: request.forget };
    let exports = Exports::open(&wanted)?;
    // Last: nothing is left behind where another part fails.
    let listener = request.serve.listen.as_ref().map(Listener::bind).transpose()?;
    Ok(Ready { listener, config, exports })
}

fn serve_job(request: &Request, stream: UnixStream) -> Result<(), ()> {
    let mut talk = Talk::new(stream);
    // A file of another machine, or a pipe in its place, may be waited for without an end.
    sys::end_in(PREPARE);
    let ready = prepare(request).map_err(|error| talk.refuse(&error))?;
    sys::end_in(0);
    let sockets = Sockets::default();
    if let Some(Listener::Unix(_, path)) = &ready.listener {
        sockets.add(path);
        let made = sockets.clone();
        // Where there is no thread for it, the socket stays behind if a signal ends this process.
        let _ = sys::before_signals_end(move || made.remove());
    }
    // From here on nothing is found by a relative name; the directory may be one that is to go after the job.
    let _ = std::env::set_current_dir("/");
    let outcome = stay(request, ready, talk);
    sockets.remove();
    outcome
}

fn stay(request: &Request, ready: Ready, mut talk: Talk) -> Result<(), ()> {
    let Ready { listener, config, exports } = ready;
    let pages = request.serve.pages.clone();
    let has_tls = config.as_ref().is_some_and(config::Config::has_tls);
    let url = listener.as_ref().map(|listener| match &pages {
        Pages::Live(token) => listener.root(has_tls) + token,
        Pages::Metrics => listener.url(has_tls),
    });
    talk.ready(url.as_deref());
    let jobs = Arc::new(Jobs::new(request.serve.limits()));
    // Nobody but this job: others are not looked for.
    jobs.only_these();
    let job = talk.job(&jobs).map_err(|error| complain(format_args!("serve: the job: {error}")))?;
    // The launcher has found that there will be none.
    let Some((key, about)) = job else { return Ok(()) };
    let port = listener.as_ref().and_then(Listener::port);
    let serves = listener.map(|listener| serve_beside(listener, &jobs, config, pages)).is_some();
    let exports = exports.start(Arc::clone(&jobs), about);
    let state = loop {
        match talk.read_request() {
            LauncherMessage::Snapshot => {
                exports.now();
                talk.done();
            }
            LauncherMessage::End(state) => break state,
        }
    };
    jobs.end(key, state);
    exports.finish(LAST);
    // The file is written, and what was pushed has been taken. The next job may begin as soon as this one is told so.
    let way = port.and_then(successor::reserve);
    talk.done();
    drop(talk);
    // Whoever reads what the job has said waits for the end of it.
    sys::silence(request.inherited());
    if let Some(way) = way {
        way.give(|| std::process::exit(0));
    }
    if serves {
        linger(&jobs, request.serve.linger);
    }
    Ok(())
}

fn serve_beside(listener: Listener, jobs: &Arc<Jobs>, config: Option<config::Config>, pages: Pages) {
    let jobs = Arc::clone(jobs);
    let work = move || match server::serve(listener, jobs, config, pages) {
        Ok(never) => match never {},
        Err(error) => complain(format_args!("serve: {error}")),
    };
    if let Err(error) = std::thread::Builder::new().name("server".into()).spawn(work) {
        complain(format_args!("serve: {error}"));
    }
}

/// Until the last numbers have been seen by all who fetch them regularly, or nobody came for so long.
fn linger(jobs: &Jobs, at_most: Duration) {
    let until = Instant::now() + at_most;
    while !jobs.is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    // The last answer is on its way.
    std::thread::sleep(Duration::from_secs(1));
}
