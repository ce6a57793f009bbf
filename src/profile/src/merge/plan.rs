//! What has to be known of all PEs before their numbers are added up.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::efficiency::LastArrivals;
use super::matrix::{Groups, SIZES};
use super::meetings::{FirstReading, LatePhases, Meeting};
use super::{Head, PeSource};

/// Most rows that are kept of what grows with the job. What is beyond is summed up, or stood for by others.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Call sites: those that take most of a PE's time.
    pub sites: usize,
    /// Pairs of PEs: those with most bytes.
    pub pairs: usize,
    /// Meetings in barriers and collectives: a sample.
    pub meetings: usize,
    /// Markers, by PE: those of the first PEs.
    pub markers: usize,
    /// Contexts and teams.
    pub groups: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { sites: 1 << 14, pairs: 1 << 17, meetings: 1 << 18, markers: 1 << 16, groups: 1 << 13 }
    }
}

/// A call site: file, address in it, routine, region.
pub(super) type SiteName = (Arc<str>, u64, Arc<str>, Arc<str>);

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) limits: Limits,
    /// By the sizes of [`SIZES`].
    pub(super) groups: Vec<Groups>,
    /// The call sites to keep; `None`: those that take most.
    pub(super) sites: Option<Vec<SiteName>>,
    /// What the first reading has found of meetings.
    pub(super) last_arrivals: LastArrivals,
    /// See [`super::meetings::FirstReading`].
    pub(super) long: HashSet<Meeting>,
    /// See [`super::meetings::FirstReading`].
    pub(super) late_phases: LatePhases,
    /// PEs that ended waits of others.
    pub(super) releasers: BTreeSet<u32>,
}

impl Plan {
    /// For the PEs of `source`, in a job of `npes` of which `host` started.
    pub(super) fn new(source: &dyn PeSource, npes: u32, host: &str, limits: Limits) -> Plan {
        let mut heads: Vec<Head> = (0..source.len()).filter_map(|at| source.head(at)).collect();
        heads.sort_by_key(|head| head.pe);
        let npes = heads.last().map_or(0, |last| last.pe as usize + 1).max(npes as usize);
        let mut hosts: Vec<String> = Vec::new();
        let mut numbers = HashMap::new();
        for head in heads.iter().filter(|head| !head.host.is_empty()) {
            numbers.entry(head.host.as_str()).or_insert_with(|| {
                hosts.push(head.host.clone());
                hosts.len() as u32 - 1
            });
        }
        // Of one host, nothing is kept by PE: how many a job has is what a segment says.
        let mut of = vec![0; if hosts.len() > 1 { npes } else { 0 }];
        if !of.is_empty() {
            heads.iter().for_each(|head| of[head.pe as usize] = numbers.get(head.host.as_str()).copied().unwrap_or(0));
        }
        let of = of.into();
        if hosts.is_empty() && !host.is_empty() {
            hosts.push(host.to_owned());
        }
        let groups = SIZES.map(|largest| Groups::new(npes, &hosts, &of, largest)).into();
        Plan { groups, ..Plan::of_sums(limits) }
    }

    /// For sums over PEs, without matrices.
    pub(super) fn of_sums(limits: Limits) -> Plan {
        Plan {
            limits,
            groups: Vec::new(),
            sites: None,
            last_arrivals: LastArrivals::new(),
            long: HashSet::new(),
            late_phases: LatePhases::new(),
            releasers: BTreeSet::new(),
        }
    }

    /// Takes what is told of meetings.
    pub(super) fn take(&mut self, told: FirstReading) {
        (self.last_arrivals, self.long, self.late_phases) = (told.last_arrivals, told.long, told.late_phases);
    }
}
