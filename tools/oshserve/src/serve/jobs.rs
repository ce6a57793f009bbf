//! The jobs of this host, from the moment they are known until their last numbers were scraped.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::found;
use super::scrapers::{Scraper, Scrapers};
use super::tracked::{Key, Stage, Tracked};
use crate::metrics::family::{Family, Value, join, without_job};
use crate::metrics::series::cut;
use crate::metrics::table::Id;

/// Jobs that have ended and are still shown: of more the oldest ends go.
const MOST_ENDED: usize = 256;
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
    scrapers: Scrapers,
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

    /// Adds a job that was handed over. One that was found before is from now on known by its connection, one that was
    /// handed over before by both. False: its memory, which its user has written, says that it is a job that is another
    /// user's.
    #[must_use]
    pub fn add(&self, mut job: Tracked) -> bool {
        let mut inner = self.inner();
        job.holders = 1;
        inner.forget(self.limits.linger, None);
        match inner.list.iter_mut().find(|known| known.key == job.key) {
            Some(known) if known.user != job.user => return false,
            Some(known) => {
                known.watched = job.watched;
                known.holders += 1;
            }
            None => inner.admit(job, self.limits.top),
        }
        true
    }

    /// A connection has ended, and with it the job, unless another one holds it. `state`: how, where that was said:
    /// whoever says so knows.
    pub fn end(&self, key: Key, state: Option<&'static str>) {
        let mut inner = self.inner();
        if let Some(job) = inner.list.iter_mut().find(|job| job.key == key) {
            job.holders = job.holders.saturating_sub(1);
            if job.holders == 0 || state.is_some() {
                job.end(state);
            }
        }
        inner.forget(self.limits.linger, None);
    }

    /// A segment could not be read.
    pub fn count_error(&self) {
        self.inner().read_errors += 1;
    }

    /// The whole page. `scraper`: who asks, where it is one who asks regularly; jobs whose end it has seen are not
    /// shown to it again.
    pub fn page(&self, scraper: Option<&Scraper>) -> Vec<Family> {
        let started = Instant::now();
        let mut inner = self.inner();
        inner.look(self.limits);
        inner.forget(self.limits.linger, scraper);
        let running = inner.list.iter().filter(|job| job.runs()).count();
        let ended = inner.list.len() - running;
        let mut pages = Vec::new();
        // A job that has ended makes room for the next one.
        let only = inner.newest().filter(|_| self.limits.by_node);
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
        inner.look(self.limits);
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
        let Some(newest) = inner.newest() else { return serde_json::Value::default() };
        let state = inner.list[newest].state();
        if !inner.list[newest].runs() {
            inner.list.remove(newest);
        }
        state
    }

    /// What the landing page lists.
    pub fn lines(&self) -> Vec<Line> {
        let mut inner = self.inner();
        inner.look(self.limits);
        inner.forget(self.limits.linger, None);
        inner.list.iter().map(|job| Line { job_id: job.identity.job_id.clone(), runs: job.runs() }).collect()
    }
}

impl Inner {
    /// Finds jobs that were not handed over, and the end of those.
    fn look(&mut self, limits: Limits) {
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
        for found in found::jobs(&known, limits.show_user) {
            match found {
                Ok(job) => self.admit(job, limits.top),
                Err(_) => self.read_errors += 1,
            }
        }
    }

    /// The place of the job that began last: of those that run, or else of all. How it became known says nothing of
    /// that: jobs that were there before the exporter are found after others that were handed over.
    fn newest(&self) -> Option<usize> {
        let all = self.list.iter().enumerate();
        all.max_by_key(|(_, job)| (job.runs(), job.key.start)).map(|(at, _)| at)
    }

    /// One more job, by whichever way it became known.
    fn admit(&mut self, mut job: Tracked, top: usize) {
        let is_taken = |id: &String| self.list.iter().any(|known| known.identity.job_id == *id);
        if is_taken(&job.identity.job_id) {
            // Steps of a batch job that were started by hand have no number of their own.
            let own = format!("{}_{}", job.identity.job_id, job.key.maker);
            let more = (2..).map(|number| format!("{own}_{number}"));
            if let Some(free) = std::iter::once(own.clone()).chain(more).find(|id| !is_taken(id)) {
                job.identity.job_id = free;
            }
        }
        job.top = top;
        self.list.push(job);
    }

    /// Jobs leave once all who scrape regularly have seen their last numbers, or their time is over, or more have
    /// ended since than there is room for.
    fn forget(&mut self, linger: Duration, scraper: Option<&Scraper>) {
        let now = Instant::now();
        match scraper {
            Some(who) => self.scrapers.visit(who, now),
            None => self.scrapers.forget(now),
        }
        let scrapers = &self.scrapers;
        self.list.retain_mut(|job| match &mut job.stage {
            Stage::Runs(_) => true,
            Stage::Ended { at, seen_by, .. } => {
                let all_have = scrapers.all_have_seen(seen_by, now);
                if let Some(who) = scraper {
                    seen_by.entry(who.clone()).or_insert(now);
                }
                !all_have && now.duration_since(*at) < linger
            }
        });
        let mut ends: Vec<Instant> = self.list.iter().filter_map(Tracked::ended_at).collect();
        let too_many = ends.len().saturating_sub(MOST_ENDED);
        ends.sort_unstable();
        if let Some(&last) = ends[..too_many].last() {
            self.list.retain(|job| job.ended_at().is_none_or(|at| at > last));
        }
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

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use pellucid_profile::segment::{self, JobInfo, Segment};

    use super::*;
    use crate::metrics::collect::Identity;

    fn jobs(linger: Duration) -> Jobs {
        limited(Limits { linger, max_series: 1000, show_user: false, top: 0, by_node: false })
    }

    fn limited(limits: Limits) -> Jobs {
        let jobs = Jobs::new(limits);
        jobs.only_these();
        jobs
    }

    /// A job without PEs that have begun.
    fn job(job_id: &str) -> Tracked {
        let fd = segment::create(1, &JobInfo::default()).unwrap();
        let segment = Segment::map(fd.as_fd()).unwrap();
        Tracked::new(segment, Identity { job_id: job_id.to_owned(), ..Identity::default() }, None, 1000)
    }

    fn has_ended(jobs: &Jobs, number: u64) {
        let mut job = job(&number.to_string());
        job.key.start = number;
        let key = job.key;
        assert!(jobs.add(job));
        jobs.end(key, Some("finished"));
    }

    #[test]
    fn jobs_of_one_name_are_told_apart() {
        let jobs = jobs(Duration::from_secs(60));
        for start in 0..3 {
            let mut job = job("7");
            (job.key.maker, job.key.start) = (10, start);
            jobs.inner().admit(job, 4);
        }
        let names: Vec<String> = jobs.lines().into_iter().map(|line| line.job_id).collect();
        assert_eq!(names, ["7", "7_10", "7_10_2"]);
        assert!(jobs.inner().list.iter().all(|job| job.top == 4));
    }

    #[test]
    fn a_node_shows_the_newest_job_that_runs_or_else_the_last() {
        let linger = Duration::from_secs(60);
        let jobs = limited(Limits { linger, max_series: 1000, show_user: false, top: 0, by_node: true });
        let shown = || {
            let families = jobs.page(None);
            let info = families.iter().find(|family| family.row.id == Id::JobInfo).expect("a job");
            assert_eq!(info.len(), 1);
            let name = info.series[0].pairs(info.row).find(|(label, _)| *label == "job_id");
            name.expect("its name").1.to_owned()
        };
        // The one that began first is known last.
        let mut keys: Vec<Key> = [1, 2, 0]
            .map(|number| {
                let mut job = job(&number.to_string());
                job.key.start = number;
                let key = job.key;
                assert!(jobs.add(job));
                key
            })
            .to_vec();
        keys.sort_unstable_by_key(|key| key.start);
        for (ends, left) in [(None, "2"), (Some(1), "2"), (Some(2), "0"), (Some(0), "2")] {
            ends.iter().for_each(|end: &usize| jobs.end(keys[*end], Some("finished")));
            assert_eq!(shown(), left, "{ends:?}");
        }
    }

    #[test]
    fn nobody_takes_over_the_job_of_another() {
        let jobs = jobs(Duration::from_secs(60));
        let [mine, mut other, mut again] = ["mine", "other", "again"].map(job);
        (other.key, other.user, again.key) = (mine.key, 1001, mine.key);
        assert!(jobs.add(mine));
        assert!(!jobs.add(other));
        assert!(jobs.add(again), "its own user may");
        assert_eq!(jobs.lines().len(), 1);
    }

    #[test]
    fn a_job_that_was_handed_over_twice_ends_with_the_last_or_when_it_says_so() {
        let jobs = jobs(Duration::from_secs(60));
        for said in [None, Some("finished")] {
            let [mut first, mut second] = ["twice", "twice"].map(job);
            (first.key.start, second.key) = (u64::from(said.is_some()), first.key);
            second.key.start = first.key.start;
            let this = first.key;
            assert!(jobs.add(first) && jobs.add(second));
            let runs = || jobs.inner().list.iter().find(|job| job.key == this).is_some_and(Tracked::runs);
            jobs.end(this, said);
            assert_eq!(runs(), said.is_none(), "{said:?}");
            jobs.end(this, None);
            assert!(!runs());
        }
    }

    #[test]
    fn without_a_scraper_jobs_are_forgotten_too() {
        let jobs = jobs(Duration::ZERO);
        (0..3).for_each(|number| has_ended(&jobs, number));
        assert!(jobs.is_empty(), "at each end");
        let running = job("runs");
        let this = running.key;
        assert!(jobs.add(running));
        assert_eq!(jobs.lines().len(), 1);
        jobs.end(this, None);
        assert!(jobs.is_empty());
    }

    #[test]
    fn jobs_that_have_ended_are_bounded() {
        let jobs = jobs(Duration::from_secs(3600));
        assert!(jobs.add(job("runs")));
        (0..MOST_ENDED as u64 + 5).for_each(|number| has_ended(&jobs, number));
        let names: Vec<String> = jobs.lines().into_iter().map(|line| line.job_id).collect();
        assert_eq!(names.len(), 1 + MOST_ENDED);
        assert_eq!((names[0].as_str(), names[1].as_str()), ("runs", "5"), "the oldest go");
    }
}
