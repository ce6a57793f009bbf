//! A job that is known to the exporter.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use pellucid_profile::live::{PeNow, State};
use pellucid_profile::merge::{Following, Merged};
use pellucid_profile::model::{Profile, Progress};
use pellucid_profile::segment::{Segment, handover};
use pellucid_profile::snapshot::{self, Outcome};

use serde_json::Value;

use crate::live;
use crate::metrics::collect::{Identity, View, collect};
use crate::metrics::family::Family;
use crate::metrics::live::Now;
use crate::metrics::series::Memory;
use crate::serve::scrapers::FirstSeen;
use crate::sys;

/// What tells the segments of a host apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Process of this host that has made it.
    pub maker: u32,
    /// Begin of the job, in nanoseconds since 1970.
    pub start: u64,
    /// The first PE that records there.
    pub first_pe: u32,
}

/// A job.
#[derive(Debug)]
pub struct Tracked {
    /// Which.
    pub key: Key,
    /// Who.
    pub identity: Identity,
    /// The launcher, where only its process tells whether the job runs.
    pub watched: Option<u32>,
    /// The user whose it is, as the kernel says.
    pub user: u32,
    /// Connections that hold it.
    pub holders: usize,
    /// How it stands.
    pub stage: Stage,
    /// How many of its PEs have series of their own.
    pub top: usize,
    memory: Memory,
    following: Following,
}

/// How a job stands.
#[derive(Debug)]
pub enum Stage {
    /// It runs.
    Runs(Box<Segment>),
    /// It has ended.
    Ended {
        /// Its last numbers.
        last: Vec<Family>,
        /// The same for the page.
        state: Box<Value>,
        /// When it ended.
        at: Instant,
        /// Who has scraped them.
        seen_by: FirstSeen,
    },
}

/// The key of a segment.
pub fn key(segment: &Segment) -> Key {
    let header = segment.header();
    Key {
        maker: header.maker_pid.load(Relaxed),
        start: header.start_realtime.load(Relaxed),
        first_pe: segment.pes().start,
    }
}

impl Tracked {
    /// A job that runs.
    pub fn new(segment: Segment, identity: Identity, watched: Option<u32>, user: u32) -> Tracked {
        let (key, stage) = (key(&segment), Stage::Runs(Box::new(segment)));
        Tracked {
            key,
            identity,
            watched,
            user,
            holders: 0,
            stage,
            top: 0,
            memory: Memory::default(),
            following: Following::default(),
        }
    }

    /// Its metrics now.
    pub fn families(&mut self) -> Vec<Family> {
        match &self.stage {
            Stage::Runs(segment) => {
                let profile = self.following.look(segment);
                let moment = Moment::of(segment, None, (&profile, self.following.sums(&profile)));
                moment.families(&self.identity, &mut self.memory, self.top)
            }
            Stage::Ended { last, .. } => last.clone(),
        }
    }

    /// What the page shows of it now.
    pub fn state(&self) -> Value {
        match &self.stage {
            Stage::Runs(segment) => Moment::whole(segment, None).state(&self.identity),
            Stage::Ended { state, .. } => (**state).clone(),
        }
    }

    /// Takes the last numbers and lets go of the segment. `state`: how the job ended, where that was said.
    pub fn end(&mut self, state: Option<&'static str>) {
        if let Stage::Runs(segment) = &self.stage {
            let moment = Moment::whole(segment, Some(state));
            let last = moment.families(&self.identity, &mut self.memory, self.top);
            let state = Box::new(moment.state(&self.identity));
            self.stage = Stage::Ended { last, state, at: Instant::now(), seen_by: FirstSeen::new() };
        }
    }

    /// When it ended.
    pub fn ended_at(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Runs(_) => None,
            Stage::Ended { at, .. } => Some(*at),
        }
    }

    /// Whether it runs, as far as is known.
    pub fn runs(&self) -> bool {
        matches!(self.stage, Stage::Runs(_))
    }
}

/// How a job has ended, as far as one of its PEs has ended it.
fn told(segment: &Segment) -> Option<&'static str> {
    let status = segment.header().ended_with.load(Relaxed).checked_sub(1)?;
    Some(handover::state_by_itself(status as i32))
}

/// A job at one moment.
struct Moment {
    merged: Merged,
    pes: Vec<PeNow>,
    lost: u64,
    state: &'static str,
    has_ended: bool,
    seconds: f64,
}

impl Moment {
    /// Reads all of a segment. `ended`: the job has, and perhaps how.
    fn whole(segment: &Segment, ended: Option<Option<&'static str>>) -> Moment {
        let mut profile = snapshot::take(segment, &Outcome::default());
        if ended.is_some() {
            // What is counted since the last sample will not be measured any more.
            profile.pes.iter_mut().flat_map(|pe| &mut pe.routines).for_each(|routine| routine.expected_ns = 0);
        }
        Moment::of(segment, ended, (&profile, Merged::from(&profile)))
    }

    /// Of a profile and its sums, however much is in them.
    fn of(segment: &Segment, ended: Option<Option<&'static str>>, (profile, merged): (&Profile, Merged)) -> Moment {
        let look = |number| {
            let pe = PeNow::look(segment, number, ended.is_none());
            if ended.is_some() || pe.pid == 0 || sys::runs(pe.pid) { pe } else { PeNow::look(segment, number, false) }
        };
        let pes: Vec<PeNow> = segment.pes().map(look).collect();
        let gone: HashSet<u32> = pes.iter().filter(|pe| pe.state == State::Ended).map(|pe| pe.pe).collect();
        let unfinished = profile.pes.iter().filter(|pe| pe.progress != Progress::Finalized);
        let lost = unfinished.filter(|pe| gone.contains(&pe.pe)).count() as u64;
        let state = match ended {
            Some(Some(state)) => state,
            Some(None) if let Some(state) = told(segment) => state,
            Some(None) if lost > 0 || profile.pes.is_empty() => "killed",
            Some(None) => "finished",
            None if profile.pes.iter().all(|pe| pe.progress == Progress::Attached) => "starting",
            None => "running",
        };
        let seconds = segment.now_ns() as f64 / 1e9;
        Moment { merged, pes, lost, state, has_ended: ended.is_some(), seconds }
    }

    fn families(&self, identity: &Identity, memory: &mut Memory, top: usize) -> Vec<Family> {
        let now = match self.has_ended {
            true => Now { lost: self.lost, ..Now::default() },
            false => Now::of(&self.pes, self.lost),
        };
        collect(&View { identity, state: self.state, merged: &self.merged, now: &now, top }, memory)
    }

    fn state(&self, identity: &Identity) -> Value {
        let Moment { merged, pes, state, seconds, .. } = self;
        live::state::of(&live::state::Moment { identity, state, merged, pes, seconds: *seconds })
    }
}
