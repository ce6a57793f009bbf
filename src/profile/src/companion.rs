//! A process beside a job that serves, writes and pushes its metrics: `oshprof serve --job-on-stdin`. Neither the
//! library nor the launcher has HTTP; they start it and hand the profile's segment over to it.
//!
//! It is no child of whoever starts it for longer than a moment, and has a session of its own: it outlives the job
//! until its last numbers have been fetched.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use crate::output::{self, OwnFd};
use crate::segment::handover::Handover;
use crate::spawn::{Spawned, Stream, variables_without};

/// The variable that asks for it where there is no option.
pub const VARIABLE: &str = "SHMEM_METRICS";
/// What a value of [`VARIABLE`] looks like.
pub const EXPECTED: &str =
    "expected serve, serve=ADDRESS, file=FILE, push=URL, push, forget or page, separated by commas";
/// Has the address of a push come from the `OTEL_*` variables.
pub const BY_VARIABLES: &str = "otlp";
/// How long it may take to prepare.
const START: Duration = Duration::from_secs(10);
/// How long a snapshot may take.
const SNAPSHOT: Duration = Duration::from_secs(5);
/// Between two looks whether another thread has its answer.
const PAUSE: Duration = Duration::from_millis(5);
/// How long its last exports may take, and a little.
const LAST: Duration = Duration::from_millis(2500);
/// How long numbers are served after the end of a job that nobody fetches.
const LINGER: &str = "2m";
/// The same for a page: its reader looks every second.
const PAGE_LINGER: &str = "10s";
/// Variables that are for the program only.
const NOT_FOR_IT: [&str; 3] = ["LD_PRELOAD", "SHMEM_TOOLS", VARIABLE];

/// What is to become of a job's metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destinations {
    /// They are served at this address; empty: at the usual one.
    pub serve: Option<String>,
    /// They are written to a file.
    pub file: Option<String>,
    /// They are pushed to an address.
    pub push: Option<String>,
    /// A Pushgateway is to forget the job at its end.
    pub forget: bool,
    /// A page for a browser.
    pub page: bool,
}

impl Destinations {
    /// Understands a value of [`VARIABLE`].
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Destinations, &'static str> {
        let mut wanted = Destinations::default();
        // Commas may be part of names of files and of addresses.
        let mut words: Vec<String> = Vec::new();
        for word in text.split(',') {
            let begins = ["serve", "file=", "push", "forget", "page", "on", "off"].iter().any(|known| {
                word.strip_prefix(known)
                    .is_some_and(|rest| known.ends_with('=') || rest.is_empty() || rest.starts_with('='))
            });
            match words.last_mut() {
                Some(last) if !begins => *last += &format!(",{word}"),
                _ => words.push(word.to_owned()),
            }
        }
        for word in words {
            match word.split_once('=') {
                None => match word.as_str() {
                    "serve" | "on" | "1" => once(&mut wanted.serve, "")?,
                    "push" => once(&mut wanted.push, BY_VARIABLES)?,
                    "forget" => wanted.forget = true,
                    "page" => wanted.page = true,
                    "" | "off" | "0" => {}
                    _ => return Err(EXPECTED),
                },
                Some((_, "")) => return Err(EXPECTED),
                Some(("serve", address)) => once(&mut wanted.serve, address)?,
                Some(("file", file)) => once(&mut wanted.file, file)?,
                Some(("push", to)) => once(&mut wanted.push, to)?,
                Some(_) => return Err(EXPECTED),
            }
        }
        if wanted.forget && wanted.push.is_none() {
            return Err("forget is of a Pushgateway: expected push=URL beside it");
        }
        Ok(wanted)
    }

    /// As a value of [`VARIABLE`].
    pub fn text(&self) -> String {
        let serve =
            self.serve.as_ref().map(|to| if to.is_empty() { "serve".to_owned() } else { format!("serve={to}") });
        let file = self.file.as_ref().map(|file| format!("file={file}"));
        let push = self.push.as_ref().map(|to| format!("push={to}"));
        let word = |is: bool, word: &str| is.then(|| word.to_owned());
        let all = [serve, file, push, word(self.forget, "forget"), word(self.page, "page")];
        all.into_iter().flatten().collect::<Vec<_>>().join(",")
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.serve.is_none() && self.file.is_none() && self.push.is_none() && !self.page
    }

    /// What the processes that do it serve, and their arguments: the page has one of its own.
    fn commands(&self) -> Vec<(&'static str, Vec<&str>)> {
        let mut metrics = vec!["serve", "--job-on-stdin", "--linger", LINGER];
        match self.serve.as_deref() {
            None => {}
            Some("") => metrics.extend(["--listen", "127.0.0.1:9745"]),
            Some(address) => metrics.extend(["--listen", address]),
        }
        for (option, value) in [("--file", &self.file), ("--push", &self.push)] {
            metrics.extend(value.iter().flat_map(|value| [option, value.as_str()]));
        }
        metrics.extend(self.forget.then_some("--push-forget"));
        let page = vec!["serve", "--job-on-stdin", "--linger", PAGE_LINGER, "--listen", "127.0.0.1:0", "--page"];
        let any = self.serve.is_some() || self.file.is_some() || self.push.is_some();
        [any.then_some(("metrics", metrics)), self.page.then_some(("dashboard", page))].into_iter().flatten().collect()
    }
}

/// Takes a destination, of which there is one of each kind.
fn once(place: &mut Option<String>, given: &str) -> Result<(), &'static str> {
    match place.replace(given.to_owned()) {
        None => Ok(()),
        Some(_) => Err("expected each of serve, file and push once"),
    }
}

/// Those that are beside a job.
#[derive(Debug, Default)]
pub struct Companions(Vec<Companion>);

/// One of them.
#[derive(Debug)]
struct Companion {
    stream: OwnFd,
    /// Held by whoever waits for an answer.
    answers: Mutex<()>,
    what: &'static str,
    url: String,
}

impl Companions {
    /// Starts what is wanted, and waits until it is ready.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn start(wanted: &Destinations, tool: Option<&Path>) -> Result<Companions, String> {
        if wanted.is_empty() {
            return Ok(Companions::default());
        }
        let tool = tool.ok_or("oshprof is neither beside this program nor in PATH")?;
        // A file that is the standard output is this process's.
        let descriptor = wanted.file.as_deref().and_then(|file| output::descriptor(Path::new(file)));
        let output = if descriptor == Some(libc::STDOUT_FILENO) { Stream::Inherited } else { Stream::Null };
        let each = wanted
            .commands()
            .into_iter()
            .map(|(what, arguments)| Companion::start(tool, what, &arguments, output, START));
        each.collect::<Result<_, _>>().map(Companions)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What they serve and where, for people.
    pub fn urls(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|one| (one.what, one.url.as_str())).filter(|(_, url)| !url.is_empty())
    }

    /// Hands the job over.
    ///
    /// # Errors
    /// What the system answered.
    pub fn take(&self, segment: BorrowedFd<'_>) -> io::Result<()> {
        self.0.iter().try_for_each(|one| Handover::over(one.stream.open()?, segment))
    }

    /// Has the numbers of this moment written.
    pub fn snapshot(&self) {
        for one in &self.0 {
            one.ask("snapshot\n", SNAPSHOT);
        }
    }

    /// Says how the job ended, and waits until its last numbers are where they are to go.
    pub fn end(&self, state: &str) {
        let until = Instant::now() + LAST;
        // First all are told: each does its work in the time of the others.
        let told = self.0.iter().filter(|one| one.say(&format!("state={state}\n\n")).is_ok());
        for one in told.collect::<Vec<_>>() {
            one.read_answer(until.saturating_duration_since(Instant::now()));
        }
    }
}

impl Companion {
    fn start(
        tool: &Path,
        what: &'static str,
        arguments: &[&str],
        output: Stream<'_>,
        within: Duration,
    ) -> Result<Companion, String> {
        let failed = |error: io::Error| format!("{}: {error}", tool.display());
        let (mine, theirs) = UnixStream::pair().map_err(failed)?;
        let streams = [Stream::Of(theirs.as_fd()), output, Stream::Inherited];
        let child = Spawned::new(tool, arguments, variables_without(&NOT_FOR_IT), streams).map_err(failed)?;
        // The other end is the child's alone.
        drop(theirs);
        let stream = OwnFd::new(mine.into()).map_err(failed)?;
        let companion = Companion { stream, answers: Mutex::new(()), what, url: String::new() };
        let said = companion.read_until(b"\n\n", within);
        // It has gone on as another process before it said anything, which ends with this connection if it is not
        // ready. What has not is something else, and ends now. Whoever takes all children here may have been first.
        if !said.ends_with("\n\n") && child.runs() {
            child.kill();
        }
        child.wait();
        match said.trim_end().split_once('=') {
            Some(("ready", url)) => Ok(Companion { url: url.to_owned(), ..companion }),
            Some(("error", why)) => Err(why.to_owned()),
            _ => Err(format!("{} did not begin", tool.display())),
        }
    }

    /// The right to wait for an answer, unless another thread has it until then: what ends does not wait for longer
    /// because a snapshot is asked for.
    fn reading(&self, until: Instant) -> Option<MutexGuard<'_, ()>> {
        loop {
            match self.answers.try_lock() {
                Ok(reading) => return Some(reading),
                Err(TryLockError::Poisoned(reading)) => return Some(reading.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return None,
            }
        }
    }

    fn ask(&self, what: &str, at_most: Duration) {
        if self.say(what).is_ok() {
            self.read_answer(at_most);
        }
    }

    fn say(&self, what: &str) -> io::Result<()> {
        crate::segment::handover::tell(self.stream.open()?, what.as_bytes())
    }

    /// Waits for the answer.
    fn read_answer(&self, at_most: Duration) {
        self.read_until(b"\n", at_most);
    }

    fn read_until(&self, end: &[u8], at_most: Duration) -> String {
        let until = Instant::now() + at_most;
        let Some(_reading) = self.reading(until) else { return String::new() };
        let stream = self.stream.open().and_then(|stream| stream.try_clone_to_owned());
        let Ok(mut stream) = stream.map(UnixStream::from) else { return String::new() };
        let mut text = Vec::new();
        let mut byte = [0];
        while !text.ends_with(end) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                break;
            }
            match stream.read(&mut byte) {
                Ok(1) => text.push(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// `oshprof`: the one in a folder, else one of the user's.
pub fn tool(folder: Option<PathBuf>, path: Option<OsString>) -> Option<PathBuf> {
    let path = path.unwrap_or_default();
    let named = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folder.into_iter().chain(named).map(|folder| folder.join("oshprof")).find(|file| file.is_file())
}

/// Says something to the terminal, where there is one to hear it.
pub fn announce(who: &str, companions: &Companions) {
    for (what, url) in companions.urls() {
        crate::say!("{who}: {what}: {url}");
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn values_of_the_variable() {
        let of = |text: &str| Destinations::parse(text).unwrap();
        let serve = |address: &str| Destinations { serve: Some(address.to_owned()), ..Destinations::default() };
        assert_eq!((of("on"), of("serve"), of("1")), (serve(""), serve(""), serve("")));
        assert_eq!(of("serve=[::1]:80"), serve("[::1]:80"));
        for nothing in ["", "off", "0"] {
            assert!(of(nothing).is_empty(), "{nothing}");
        }
        let all = of("serve=:9745,file=a,b.prom,push=http://c:4318/x?y=1,2,forget,page");
        assert_eq!(all.file.as_deref(), Some("a,b.prom"));
        assert_eq!(all.push.as_deref(), Some("http://c:4318/x?y=1,2"));
        assert!(all.forget && all.page);
        assert_eq!(of(&all.text()), all);
        assert_eq!(of("push").push.as_deref(), Some(BY_VARIABLES));
        for wrong in ["serve=a,serve=b", "on,serve", "file=a,file=b", "push,push=u", "forget", "serve,forget"] {
            assert!(Destinations::parse(wrong).is_err_and(|error| error != EXPECTED), "{wrong}");
        }
        for wrong in ["yes", "file", "file=", "serve=", "metrics=1", "9745"] {
            assert_eq!(Destinations::parse(wrong), Err(EXPECTED), "{wrong}");
        }
    }

    #[test]
    fn one_process_for_metrics_and_one_for_the_page() {
        let commands = |text: &str| {
            Destinations::parse(text).unwrap().commands().iter().map(|(_, c)| c.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(commands("off"), [""; 0]);
        assert_eq!(
            commands("file=f,push=u,forget"),
            ["serve --job-on-stdin --linger 2m --file f --push u --push-forget"]
        );
        assert_eq!(commands("serve=a,page").len(), 2);
    }

    #[test]
    fn without_the_tool_there_is_a_message() {
        let wanted = Destinations::parse("serve").unwrap();
        let message = |tool| Companions::start(&wanted, tool).unwrap_err();
        assert!(message(None).contains("neither beside"));
        assert!(message(Some(Path::new("/nowhere/oshprof"))).contains("/nowhere/oshprof: No such file"));
        assert!(message(Some(Path::new("/bin/true"))).contains("/bin/true did not begin"));
    }

    #[test]
    fn an_end_does_not_wait_for_a_snapshot() {
        let (mine, theirs) = UnixStream::pair().unwrap();
        let stream = OwnFd::new(mine.into()).unwrap();
        let one = Companion { stream, answers: Mutex::new(()), what: "metrics", url: String::new() };
        let snapshot = one.answers.lock().unwrap();
        assert_eq!(one.read_until(b"\n", Duration::from_millis(20)), "");
        drop(snapshot);
        (&theirs).write_all(b"written\n").unwrap();
        assert_eq!(one.read_until(b"\n", Duration::from_secs(60)), "written\n");
    }

    #[test]
    fn what_does_not_begin_is_ended() {
        // It is waited for: the test ends when that has.
        let message =
            Companion::start(Path::new("/bin/sleep"), "metrics", &["100000"], Stream::Null, Duration::from_millis(50))
                .unwrap_err();
        assert!(message.contains("/bin/sleep did not begin"), "{message}");
    }
}
