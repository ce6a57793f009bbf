//! The file and what is pushed: at times, at snapshots, and when the job has ended.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use pellucid_profile::clock::realtime_ns;
use pellucid_profile::output::OutputFile;
use pellucid_profile::segment::handover;

use crate::metrics::text;
use crate::push::settings::Settings;
use crate::push::{About, Push};
use crate::serve::jobs::Jobs;

/// Time from one writing of the file to the next.
const EVERY: Duration = Duration::from_secs(15);
/// What a program that asks for a snapshot waits at most.
const SNAPSHOT: Duration = Duration::from_secs(5);
/// In the name of the file: the host.
const HOST: &str = "%h";

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// A file.
    pub file: Option<PathBuf>,
    /// An address.
    pub push: Option<String>,
    /// Whether a Pushgateway is to forget the job at its end.
    pub forget: bool,
}

/// What is exported, before there is a job.
pub struct Exports {
    file: Option<PathBuf>,
    push: Option<Push>,
}

/// The thread that exports.
pub struct Running {
    orders: Sender<Order>,
    done: Receiver<()>,
}

/// What the thread is told.
enum Order {
    Now,
    Last(Instant),
}

impl Exports {
    /// Checks what is wanted.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(wanted: &Wanted) -> Result<Exports, String> {
        let file = wanted.file.as_deref().map(with_host);
        if let Some(file) = &file {
            // A place that cannot be written to is told before the job begins.
            drop(OutputFile::create(file).map_err(|error| error.to_string())?);
        }
        let variable = |name: &str| std::env::var(name).ok();
        let open = |to: &String| Push::open(to, Settings::from(variable)?, wanted.forget);
        Ok(Exports { file, push: wanted.push.as_ref().map(open).transpose()? })
    }

    /// Begins to export the jobs' numbers.
    pub fn start(self, jobs: Arc<Jobs>, mut about: About) -> Running {
        let (orders, asked) = channel();
        let (tell, done) = channel();
        if let Some(push) = &self.push {
            push.complete(&mut about.source);
        }
        let due = Instant::now();
        let mut exporter = Exporter {
            next_file: self.file.is_some().then(|| due + EVERY),
            next_push: self.push.as_ref().map(|push| due + push.interval()),
            exports: self,
            jobs,
            about,
            complained: false,
        };
        let work = move || exporter.work(&asked, &tell);
        // Without the thread there is nobody to answer: what waits for it sees that.
        if let Err(error) = std::thread::Builder::new().name("exports".into()).spawn(work) {
            eprintln!("oshprof: metrics: {error}");
        }
        Running { orders, done }
    }
}

impl Running {
    /// Writes the file with the numbers of this moment.
    pub fn now(&self) {
        if self.orders.send(Order::Now).is_ok() {
            let _ = self.done.recv_timeout(SNAPSHOT);
        }
    }

    /// Exports the last numbers, within this time.
    pub fn finish(self, within: Duration) {
        if self.orders.send(Order::Last(Instant::now() + within)).is_ok() {
            let _ = self.done.recv_timeout(within);
        }
    }
}

struct Exporter {
    exports: Exports,
    jobs: Arc<Jobs>,
    about: About,
    next_file: Option<Instant>,
    next_push: Option<Instant>,
    complained: bool,
}

impl Exporter {
    fn work(&mut self, orders: &Receiver<Order>, done: &Sender<()>) {
        // An order that came while an export was being tried again.
        let mut early = None;
        loop {
            let due = [self.next_file, self.next_push].into_iter().flatten().min();
            let wait = due.map_or(Duration::from_secs(3600), |due| due.saturating_duration_since(Instant::now()));
            let order = match early.take() {
                Some(order) => Ok(order),
                None => orders.recv_timeout(wait),
            };
            match order {
                Ok(Order::Now) => {
                    self.write();
                    let _ = done.send(());
                }
                Ok(Order::Last(until)) => {
                    self.last(until);
                    let _ = done.send(());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => early = self.due(orders),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Does what is due; gives an order that came meanwhile.
    fn due(&mut self, orders: &Receiver<Order>) -> Option<Order> {
        let now = Instant::now();
        if self.next_file.is_some_and(|due| due <= now) {
            self.write();
            self.next_file = Some(now + EVERY);
        }
        if self.next_push.is_none_or(|due| due > now) {
            return None;
        }
        let push = self.exports.push.as_mut()?;
        let until = now + push.interval();
        self.next_push = Some(until);
        self.about.source.now_ns = realtime_ns();
        let mut order = None;
        push.export(&self.jobs.numbers(), &self.about, until, &mut |time| {
            order = orders.recv_timeout(time).ok();
            order.is_some()
        });
        order
    }

    fn last(&mut self, until: Instant) {
        self.write();
        self.about.source.now_ns = realtime_ns();
        if let Some(push) = &mut self.exports.push {
            push.finish(&self.jobs.numbers(), &self.about, until);
        }
    }

    fn write(&mut self) {
        let Some(file) = &self.exports.file else { return };
        let written = text::encode(&self.jobs.numbers()).and_then(|page| write(file, &page));
        if let Err(error) = written
            && !std::mem::replace(&mut self.complained, true)
        {
            eprintln!("oshprof: metrics: {error}");
        }
    }
}

/// Whoever reads the file sees all of the old one or all of the new one.
fn write(path: &Path, page: &str) -> Result<(), String> {
    let mut file = OutputFile::create(path).map_err(|error| error.to_string())?;
    file.write_all(page.as_bytes()).map_err(|error| OutputFile::failed(path, error).to_string())?;
    file.finish().map_err(|error| error.to_string())
}

fn with_host(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) if text.contains(HOST) => text.replace(HOST, &handover::host()).into(),
        _ => path.to_owned(),
    }
}
