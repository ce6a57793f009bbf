//! The jobs of this host, from the moment they are known until their last numbers were scraped.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::found;
use super::tracked::{Key, Stage, Tracked};
use crate::metrics::family::{Family, Value, join, without_job};
use crate::metrics::series::cut;
use crate::metrics::table::Id;

/// Whoever has scraped within this time is expected to scrape again.
const REGULAR: Duration = Duration::from_secs(150);
/// How often jobs are looked for under `/proc` at most.
const LOOK: Duration = Duration::from_millis(500);

/// Limits of what is shown.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a job that has ended is shown at most.
    pub linger: Duration,
    /// Series that a job may have.
    pub max_series: usize,
    /// Whether users are named.
    pub show_user: bool,
    /// PEs of a job that have series of their own.
    pub top: usize,
    /// Series do not say of which job they are: a host has one at a time.
    pub by_node: bool,
}

/// All jobs.
#[derive(Debug)]
pub struct Jobs {
    limits: Limits,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    list: Vec<Tracked>,
    /// When each scraper was last here.
    scrapers: BTreeMap<IpAddr, Instant>,
    looked: Option<Instant>,
    /// Jobs that were not handed over are not looked for.
    only_these: bool,
    read_errors: u64,
    dropped: u64,
}

/// A job as the landing page shows it.
#[derive(Debug)]
pub struct Line {
    /// Label `job_id`.
    pub job_id: String,
    /// Whether it runs.
    pub runs: bool,
}

impl Jobs {
    /// None yet.
    pub fn new(limits: Limits) -> Jobs {
        Jobs { limits, inner: Mutex::default() }
    }

    /// Limits of what is shown.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job that was handed over. One that was found before is from now on known by its connection.
    pub fn add(&self, mut job: Tracked) {
        let mut inner = self.inner();
        if let Some(known) = inner.list.iter_mut().find(|known| known.key == job.key) {
            known.watched = job.watched;
            return;
        }
        // Steps of a batch job that were started by hand have no number of their own.
        if inner.list.iter().any(|known| known.identity.job_id == job.identity.job_id) {
            job.identity.job_id += &format!("_{}", job.key.0);
        }
        job.top = self.limits.top;
        inner.list.push(job);
    }

    /// A job has ended. `state`: how, where that was said.
    pub fn end(&self, key: Key, state: Option<&'static str>) {
        if let Some(job) = self.inner().list.iter_mut().find(|job| job.key == key) {
            job.end(state);
        }
    }

    /// A segment could not be read.
    pub fn count_error(&self) {
        self.inner().read_errors += 1;
    }

    /// The whole page. `scraper`: who asks, where it is one who asks regularly; jobs whose end it has seen are not
    /// shown to it again.
    pub fn page(&self, scraper: Option<IpAddr>) -> Vec<Family> {
        let started = Instant::now();
        let mut inner = self.inner();
        inner.look(self.limits.show_user);
        inner.list.iter_mut().for_each(|job| job.top = self.limits.top);
        inner.forget(self.limits.linger, scraper);
        let running = inner.list.iter().filter(|job| job.runs()).count();
        let ended = inner.list.len() - running;
        let mut pages = Vec::new();
        // A job that has ended makes room for the next one.
        let only =
            self.limits.by_node.then(|| inner.list.iter().rposition(Tracked::runs).unwrap_or(ended.saturating_sub(1)));
        for (at, job) in inner.list.iter_mut().enumerate() {
            if only.is_some_and(|only| only != at) {
                continue;
            }
            let mut families = job.families();
            let dropped = cut(&mut families, self.limits.max_series);
            if only.is_some() {
                without_job(&mut families);
            }
            pages.push((families, dropped));
        }
        inner.dropped += pages.iter().map(|(_, dropped)| dropped).sum::<u64>();
        let mut families = join(pages.into_iter().map(|(families, _)| families));
        families.extend(inner.about_exporter((running, ended), started, &families));
        families
    }

    /// From now on only jobs that are handed over are known.
    pub fn only_these(&self) {
        self.inner().only_these = true;
    }

    /// Whether no job is known any more.
    pub fn is_empty(&self) -> bool {
        self.inner().list.is_empty()
    }

    /// Whether no job is known any more, but for those that have ended so long ago.
    pub fn is_over(&self, ago: Duration) -> bool {
        let mut inner = self.inner();
        inner.look(self.limits.show_user);
        inner.list.iter().all(|job| matches!(&job.stage, Stage::Ended { at, .. } if at.elapsed() >= ago))
    }

    /// The numbers of all jobs, without those of the exporter.
    pub fn numbers(&self) -> Vec<Family> {
        let mut inner = self.inner();
        let most = self.limits.max_series;
        let mut cut_off = 0;
        let mut pages = Vec::new();
        for job in &mut inner.list {
            let mut families = job.families();
            cut_off += cut(&mut families, most);
            pages.push(families);
        }
        inner.dropped += cut_off;
        join(pages)
    }

    /// What the page shows of the newest job. Whoever has seen its end needs no other look.
    pub fn state(&self) -> serde_json::Value {
        let mut inner = self.inner();
        let state = inner.list.last().map(Tracked::state).unwrap_or_default();
        if inner.list.last().is_some_and(|job| !job.runs()) {
            inner.list.pop();
        }
        state
    }

    /// What the landing page lists.
    pub fn lines(&self) -> Vec<Line> {
        let mut inner = self.inner();
        inner.look(self.limits.show_user);
        inner.list.iter().map(|job| Line { job_id: job.identity.job_id.clone(), runs: job.runs() }).collect()
    }
}

impl Inner {
    /// Finds jobs that were not handed over, and the end of those.
    fn look(&mut self, show_user: bool) {
        for job in self.list.iter_mut().filter(|job| job.runs()) {
            if job.watched.is_some_and(|pid| !crate::sys::runs(pid)) {
                job.end(None);
            }
        }
        if self.only_these || self.looked.is_some_and(|at| at.elapsed() < LOOK) {
            return;
        }
        self.looked = Some(Instant::now());
        let known: Vec<Key> = self.list.iter().map(|job| job.key).collect();
        for found in found::jobs(&known, show_user) {
            match found {
                Ok(job) => self.list.push(job),
                Err(_) => self.read_errors += 1,
            }
        }
    }

    /// Jobs leave once all who scrape regularly have seen their last numbers, or their time is over.
    fn forget(&mut self, linger: Duration, scraper: Option<IpAddr>) {
        let now = Instant::now();
        self.scrapers.retain(|_, last| now.duration_since(*last) < REGULAR);
        self.scrapers.extend(scraper.map(|who| (who, now)));
        let regular: Vec<IpAddr> = self.scrapers.keys().copied().collect();
        self.list.retain_mut(|job| match &mut job.stage {
            Stage::Runs(_) => true,
            Stage::Ended { at, seen_by, .. } => {
                let all_have = !seen_by.is_empty() && regular.iter().all(|who| seen_by.contains(who));
                seen_by.extend(scraper);
                !all_have && now.duration_since(*at) < linger
            }
        });
    }

    fn about_exporter(&self, (running, ended): (usize, usize), started: Instant, of: &[Family]) -> Vec<Family> {
        let mut build = Family::new(Id::BuildInfo);
        build.add(&[env!("CARGO_PKG_VERSION")], Value::Count(1));
        let mut jobs = Family::new(Id::Jobs);
        jobs.add(&["running"], Value::Count(running as u64));
        jobs.add(&["ended"], Value::Count(ended as u64));
        let one = |id, value| {
            let mut family = Family::new(id);
            family.add(&[], value);
            family
        };
        // Seven of its own.
        let series = of.iter().map(Family::len).sum::<usize>() as u64 + 7;
        vec![
            build,
            jobs,
            one(Id::ScrapeDuration, Value::Number(started.elapsed().as_secs_f64())),
            one(Id::ReadErrors, Value::Count(self.read_errors)),
            one(Id::Series, Value::Count(series)),
            one(Id::SeriesDropped, Value::Count(self.dropped)),
        ]
    }
}
