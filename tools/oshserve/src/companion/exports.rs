//! The file and what is pushed: at times, at snapshots, and when the job has ended.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use pellucid_profile::clock::realtime_ns;
use pellucid_profile::output::OutputFile;
use pellucid_profile::segment::handover;

use crate::metrics::text;
use crate::push::settings::Settings;
use crate::push::{Push, PushedJob};
use crate::say::complain;
use crate::serve::jobs::Jobs;

/// Time from one writing of the file to the next.
const EVERY: Duration = Duration::from_secs(15);
/// What a program that asks for a snapshot waits at most.
const SNAPSHOT: Duration = Duration::from_secs(5);

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Destinations {
    /// A file.
    pub file: Option<PathBuf>,
    /// An address.
    pub push: Option<String>,
    /// Whether a Pushgateway is to forget the job at its end.
    pub forget: bool,
}

/// What is exported, before there is a job.
pub struct Exports {
    file: Option<Planned>,
    push: Option<Push>,
}

/// The threads that export: a collector that does not answer keeps nobody from the file.
pub struct Running {
    file: Option<Worker>,
    push: Option<Worker>,
}

impl Exports {
    /// Checks what is wanted.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(wanted: &Destinations) -> Result<Exports, String> {
        let file = wanted.file.as_deref().map(Planned::new).transpose()?;
        let variable = |name: &str| std::env::var(name).ok();
        let open = |to: &String| Push::open(to, Settings::from(variable)?, wanted.forget);
        Ok(Exports { file, push: wanted.push.as_ref().map(open).transpose()? })
    }

    /// Begins to export the jobs' numbers.
    pub fn start(self, jobs: Arc<Jobs>, mut about: PushedJob) -> Running {
        let open =
            |planned: Planned| planned.open(&about.job_id).map_err(|error| complain(format_args!("metrics: {error}")));
        let file = self.file.and_then(|planned| open(planned).ok()).map(|file| {
            let shown = file.path.display().to_string();
            Worker::start(shown, Pages { file, jobs: Arc::clone(&jobs), next: Instant::now() + EVERY, said: false })
        });
        let push = self.push.map(|push| {
            push.complete(&mut about.source);
            let (shown, next) = (push.shown(), Instant::now() + push.interval());
            Worker::start(shown, Pushes { push, jobs, about, next })
        });
        Running { file, push }
    }
}

impl Running {
    /// Writes the file with the numbers of this moment.
    pub fn now(&self) {
        if let Some(file) = &self.file {
            let _ = file.ask(None).recv_timeout(SNAPSHOT);
        }
    }

    /// Exports the last numbers, within this time. What could not be done in it is told.
    pub fn finish(self, within: Duration) {
        let end = Instant::now() + within;
        // A thread that can still say why it fails says it before it is given up.
        let until = end.checked_sub(within / 8).unwrap_or(end);
        let workers = [self.file, self.push];
        // Both begin at once; the file, which needs nobody else, is waited for first.
        let asked: Vec<_> = workers.iter().flatten().map(|worker| (worker, worker.ask(Some(until)))).collect();
        for (worker, answer) in asked {
            let left = end.saturating_duration_since(Instant::now());
            if answer.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                let ms = within.as_millis();
                complain(format_args!("metrics to {}: the last numbers were not taken within {ms} ms", worker.shown));
            }
        }
    }
}

/// A thread that exports, as those see it that tell it to.
struct Worker {
    /// Where to, for messages.
    shown: String,
    orders: Sender<Order>,
}

/// What such a thread is told: the numbers of now, or the last ones, up to a time. Each order has an answer of its own:
/// one that comes too late is not taken for that of the next.
struct Order {
    last: Option<Instant>,
    done: Sender<()>,
}

/// What such a thread does.
trait Export: Send + 'static {
    /// When the next export is due.
    fn next(&self) -> Instant;
    /// Does it. Gives an order that came meanwhile.
    fn due(&mut self, orders: &Receiver<Order>) -> Option<Order>;
    /// Exports the numbers of this moment.
    fn now(&mut self);
    /// Exports the last ones.
    fn last(&mut self, until: Instant);
}

impl Worker {
    fn start(shown: String, mut export: impl Export) -> Worker {
        let (orders, asked) = channel();
        let work = move || work(&mut export, &asked);
        // Without the thread there is nobody to answer: what waits for it sees that.
        if let Err(error) = std::thread::Builder::new().name("exports".into()).spawn(work) {
            complain(format_args!("metrics to {shown}: {error}"));
        }
        Worker { shown, orders }
    }

    /// Gives an order; the answer comes when it is done.
    fn ask(&self, last: Option<Instant>) -> Receiver<()> {
        let (done, answer) = channel();
        // Where the thread has gone, so has the other end of the answer.
        let _ = self.orders.send(Order { last, done });
        answer
    }
}

fn work(export: &mut impl Export, orders: &Receiver<Order>) {
    // An order that came while an export was being tried again.
    let mut early = None;
    loop {
        let wait = export.next().saturating_duration_since(Instant::now());
        match early.take().map_or_else(|| orders.recv_timeout(wait), Ok) {
            Ok(Order { last: None, done }) => {
                export.now();
                let _ = done.send(());
            }
            Ok(Order { last: Some(until), done }) => {
                export.last(until);
                let _ = done.send(());
                return;
            }
            Err(RecvTimeoutError::Timeout) => early = export.due(orders),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The file, before there is a job.
enum Planned {
    /// It can be written.
    Open(Output),
    /// A name that the job is part of.
    OfJob(String),
}

impl Planned {
    fn new(path: &Path) -> Result<Planned, String> {
        // Bytes of another encoding stand for themselves.
        let Some(pattern) = path.to_str() else { return Output::open(path.to_owned()).map(Planned::Open) };
        let failed = |error| format!("{pattern}: {error}");
        let of_any = file_name(pattern, "job").map_err(failed)?;
        let is_of_all = file_name(pattern, "other").map_err(failed)? == of_any;
        // What is said of one job's is so of another one's.
        let file = Output::open(of_any.into())?;
        Ok(if is_of_all { Planned::Open(file) } else { Planned::OfJob(pattern.to_owned()) })
    }

    fn open(self, job: &str) -> Result<Output, String> {
        match self {
            Planned::Open(file) => Ok(file),
            Planned::OfJob(pattern) => Output::open(file_name(&pattern, job)?.into()),
        }
    }
}

/// The file.
struct Output {
    path: PathBuf,
    /// Where it is a pipe: its reader sees one end, that of the job, and all pages before.
    _pipe: Option<File>,
}

impl Output {
    /// A place that cannot be written to is told before the job begins.
    fn open(path: PathBuf) -> Result<Output, String> {
        let tried = OutputFile::create_at_once(&path).map_err(|error| error.to_string())?;
        let is_pipe = fs::metadata(&path).is_ok_and(|about| about.file_type().is_fifo());
        let open = || fs::OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(&path);
        let pipe = is_pipe.then(open).transpose();
        drop(tried);
        let pipe = pipe.map_err(|error| OutputFile::failed(&path, error).to_string())?;
        Ok(Output { path, _pipe: pipe })
    }
}

/// What is written to it.
struct Pages {
    file: Output,
    jobs: Arc<Jobs>,
    next: Instant,
    /// Whether has been said that it cannot be written.
    said: bool,
}

impl Export for Pages {
    fn next(&self) -> Instant {
        self.next
    }

    fn due(&mut self, _: &Receiver<Order>) -> Option<Order> {
        self.next = Instant::now() + EVERY;
        self.now();
        None
    }

    fn now(&mut self) {
        let written = text::encode(&self.jobs.numbers()).and_then(|page| write(&self.file.path, &page));
        if let Err(error) = written
            && !std::mem::replace(&mut self.said, true)
        {
            complain(format_args!("metrics: {error}"));
        }
    }

    fn last(&mut self, _: Instant) {
        self.now();
    }
}

/// What is pushed.
struct Pushes {
    push: Push,
    jobs: Arc<Jobs>,
    about: PushedJob,
    next: Instant,
}

impl Export for Pushes {
    fn next(&self) -> Instant {
        self.next
    }

    fn due(&mut self, orders: &Receiver<Order>) -> Option<Order> {
        self.next = Instant::now() + self.push.interval();
        self.about.source.now_ns = realtime_ns();
        let mut order = None;
        self.push.export(&self.jobs.numbers(), &self.about, self.next, &mut |time| {
            order = orders.recv_timeout(time).ok();
            order.is_some()
        });
        order
    }

    /// Snapshots are for the file.
    fn now(&mut self) {}

    fn last(&mut self, until: Instant) {
        self.about.source.now_ns = realtime_ns();
        self.push.finish(&self.jobs.numbers(), &self.about, until);
    }
}

/// Whoever reads the file sees all of the old one or all of the new one.
fn write(path: &Path, page: &str) -> Result<(), String> {
    let mut file = OutputFile::create_at_once(path).map_err(|error| error.to_string())?;
    file.write_all(page.as_bytes()).map_err(|error| OutputFile::failed(path, error).to_string())?;
    file.finish().map_err(|error| error.to_string())
}

/// A pattern with what it stands for: `%h` the host, `%j` the job, `%%` a percent sign.
fn file_name(pattern: &str, job: &str) -> Result<String, &'static str> {
    let mut name = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            name.push(letter);
            continue;
        }
        match letters.next() {
            Some('h') => name += &handover::host(),
            // A name of a file, whatever the job is called.
            Some('j') => name += &job.replace('/', "_"),
            Some('%') => name.push('%'),
            _ => return Err("after % comes h (the host), j (the job_id) or %"),
        }
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::serve::jobs::Limits;

    /// Nothing, which is enough to be written.
    fn no_jobs() -> Arc<Jobs> {
        let limits = Limits { linger: EVERY, max_series: 1, show_user: false, top: 0, by_node: false };
        let jobs = Arc::new(Jobs::new(limits));
        jobs.only_these();
        jobs
    }

    #[test]
    fn the_name_of_the_file_has_host_and_job() {
        let host = handover::host();
        assert_eq!(file_name("d%%/%h-%j.prom", "7/1"), Ok(format!("d%/{host}-7_1.prom")));
        assert!(Planned::new(Path::new("/nowhere/%j.prom")).is_err_and(|error| error.contains("/nowhere/job.prom")));
        let folder = std::env::temp_dir().join(format!("pellucid-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let planned = Planned::new(&folder.join("%j.prom")).unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is there before the job");
        assert_eq!(planned.open("71_0").unwrap().path, folder.join("71_0.prom"));
        std::fs::remove_dir_all(&folder).unwrap();
        for wrong in ["a%", "a%x", "% h"] {
            assert!(file_name(wrong, "7").is_err(), "{wrong}");
            assert!(Planned::new(Path::new(wrong)).is_err_and(|error| error.starts_with(wrong)), "{wrong}");
        }
    }

    #[test]
    fn a_collector_that_hangs_does_not_hold_up_the_file() {
        let folder = std::env::temp_dir().join(format!("pellucid-exports-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("job.prom");
        let collector = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", collector.local_addr().unwrap());
        let minute = Duration::from_secs(60);
        let settings = Settings { interval: minute, timeout: minute, ..Settings::default() };
        let (jobs, next) = (no_jobs(), Instant::now());
        let file_of_pages = Output::open(file.clone()).unwrap();
        let push = Push::open(&address, settings, false).unwrap();
        let pushes = Pushes { push, jobs: Arc::clone(&jobs), about: PushedJob::default(), next };
        let running = Running {
            file: Some(Worker::start(
                "file".into(),
                Pages { file: file_of_pages, jobs, next: next + EVERY, said: false },
            )),
            push: Some(Worker::start(address, pushes)),
        };
        // From here on a push is under way.
        let (hanging, _) = collector.accept().unwrap();
        running.now();
        assert!(file.exists(), "a snapshot");
        std::fs::remove_file(&file).unwrap();
        running.finish(Duration::from_secs(2));
        assert!(file.exists(), "the last numbers");
        drop(hanging);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// An answer that comes late is that of its own order.
    #[test]
    fn orders_have_answers_of_their_own() {
        struct Slow(Receiver<()>);
        impl Export for Slow {
            fn next(&self) -> Instant {
                Instant::now() + EVERY
            }
            fn due(&mut self, _: &Receiver<Order>) -> Option<Order> {
                None
            }
            fn now(&mut self) {
                let _ = self.0.recv();
            }
            fn last(&mut self, _: Instant) {
                let _ = self.0.recv();
            }
        }
        let (go_on, wait) = channel();
        let worker = Worker::start("nowhere".into(), Slow(wait));
        let first = worker.ask(None);
        assert_eq!(first.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
        let last = worker.ask(Some(Instant::now()));
        go_on.send(()).unwrap();
        first.recv().unwrap();
        assert_eq!(last.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty));
        go_on.send(()).unwrap();
        last.recv().unwrap();
    }
}
