//! Sums over PEs that come one by one, in any order, in any number of heaps.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::Merged;
use super::addresses::Addresses;
use super::callers::CallerSums;
use super::causes::{Causes, Work};
use super::counters::CounterSums;
use super::efficiency::{Efficiencies, Recorded};
use super::groups::Groups;
use super::locks::Locks;
use super::matrix::Matrices;
use super::meetings::{self, FirstReading, MeetingTimes, Meetings};
use super::open::OpenMeetings;
use super::pe::PeRow;
use super::phases::Phases;
use super::plan::{Plan, SiteName};
use super::rates::Rates;
use super::regions::Regions;
use super::requests::RequestSums;
use super::routines::Routines;
use super::sites::Sites;
use crate::model::{Job, Pe};
use crate::segment::names::is_replaced;
use crate::tables::{Module, Site};

#[derive(Debug)]
pub(super) struct Fold<'p> {
    plan: &'p Plan,
    hosts: HashMap<String, Arc<str>>,
    pes: Vec<PeRow>,
    routines: Routines,
    matrices: Matrices,
    sites: Sites,
    regions: Regions,
    meetings: Meetings,
    meeting_times: MeetingTimes,
    open: OpenMeetings,
    groups: Groups,
    counters: CounterSums,
    efficiencies: Efficiencies,
    phases: Phases,
    locks: Locks,
    addresses: Addresses,
    rates: Rates,
    requests: RequestSums,
    callers: CallerSums,
    builds: BTreeMap<String, String>,
    replaced: BTreeSet<String>,
    causes: Causes,
    work: Work,
    /// By PE: how long others were waited for while nonblocking operations were completed.
    nbi_waiting: HashMap<u32, u64>,
}

impl<'p> Fold<'p> {
    pub(super) fn new(plan: &'p Plan) -> Fold<'p> {
        Fold {
            plan,
            hosts: HashMap::new(),
            pes: Vec::new(),
            routines: Routines::default(),
            matrices: Matrices::new(plan),
            sites: Sites::new(plan),
            regions: Regions::default(),
            meetings: Meetings::default(),
            meeting_times: MeetingTimes::default(),
            open: OpenMeetings::default(),
            groups: Groups::default(),
            counters: CounterSums::default(),
            efficiencies: Efficiencies::default(),
            phases: Phases::default(),
            locks: Locks::default(),
            addresses: Addresses::default(),
            rates: Rates::default(),
            requests: RequestSums::default(),
            callers: CallerSums::default(),
            builds: BTreeMap::new(),
            replaced: BTreeSet::new(),
            causes: Causes::default(),
            work: Work::default(),
            nbi_waiting: HashMap::new(),
        }
    }

    /// Adds a PE.
    pub(super) fn add(&mut self, pe: &Pe) {
        self.add_sums(pe);
        self.matrices.add(self.plan, pe);
        self.sites.add(self.plan, pe);
        self.counters.add(pe);
        self.locks.add(self.plan, pe);
        self.addresses.add(pe);
        self.rates.add(pe);
        self.requests.add(pe);
        self.callers.add(pe);
        self.causes.add(pe);
        self.open.add(pe);
        for module in pe.tables.modules.iter().filter(|module| !module.path.is_empty()) {
            self.build(&module.path, &module.build_id);
        }
        let is_in = |module: &Module, site: &Site| (module.start..module.end).contains(&site.address);
        let replaced = pe.tables.modules.iter().filter(|module| is_replaced(module.start));
        let called = replaced.filter(|module| pe.tables.sites.iter().any(|site| is_in(module, site)));
        self.replaced.extend(called.map(|module| module.path.clone()));
    }

    /// Adds a file and its build id. Where hosts have different ones under a name, one of them stands for all.
    fn build(&mut self, path: &str, id: &str) {
        match self.builds.get_mut(path) {
            Some(known) if known.as_str() < id => id.clone_into(known),
            Some(_) => {}
            None => _ = self.builds.insert(path.to_owned(), id.to_owned()),
        }
    }

    /// Adds what is summed over PEs, without what tells pairs of them and places in the program apart.
    pub(super) fn add_sums(&mut self, pe: &Pe) {
        let host = match self.hosts.get(&pe.host) {
            Some(host) => host.clone(),
            None => self.hosts.entry(pe.host.clone()).or_insert(pe.host.as_str().into()).clone(),
        };
        self.pes.push(PeRow::new(pe, host));
        self.routines.add(pe);
        self.regions.add(self.plan, pe);
        self.meetings.add(self.plan, pe);
        self.meeting_times.add(pe);
        self.groups.add(self.plan, pe);
    }

    /// Adds what needs to know all PEs: how long each waited for others, and the call sites where only some are kept.
    pub(super) fn add_again(&mut self, pe: &Pe) {
        let recorded = Recorded::new(self.plan, pe);
        // What is missing of it was no computing.
        if !pe.incomplete {
            self.efficiencies.add(&recorded, pe);
            self.work.add(self.plan, pe, &recorded);
        }
        let met_ns = pe.tables.nbi.met_ns;
        if met_ns > 0 {
            self.nbi_waiting.insert(pe.pe, (met_ns as f64 * recorded.until_last()) as u64);
        }
        self.phases.add(self.plan, pe, &recorded);
        if self.plan.sites.is_some() {
            self.sites.add(self.plan, pe);
        }
    }

    /// Adds another heap.
    pub(super) fn join(&mut self, other: Fold<'_>) {
        self.pes.extend(other.pes);
        self.routines.join(other.routines);
        self.matrices.join(self.plan, other.matrices);
        self.sites.join(self.plan, other.sites);
        self.regions.join(self.plan, other.regions);
        self.meetings.join(self.plan, other.meetings);
        self.meeting_times.join(&other.meeting_times);
        self.open.join(other.open);
        self.groups.join(self.plan, other.groups);
        self.counters.join(other.counters);
        self.efficiencies.join(other.efficiencies);
        self.phases.join(other.phases);
        self.locks.join(self.plan, other.locks);
        self.addresses.join(other.addresses);
        self.rates.join(other.rates);
        self.requests.join(other.requests);
        self.callers.join(other.callers);
        other.builds.iter().for_each(|(path, id)| self.build(path, id));
        self.replaced.extend(other.replaced);
        self.causes.join(other.causes);
        self.work.join(other.work);
        self.nbi_waiting.extend(other.nbi_waiting);
    }

    /// The meetings, which others go on with.
    pub(super) fn take_meetings(&mut self) -> Meetings {
        std::mem::take(&mut self.meetings)
    }

    /// What is known of meetings once all PEs have been added.
    pub(super) fn told(&mut self) -> FirstReading {
        self.meetings.told()
    }

    /// What PEs did that ended waits of others.
    pub(super) fn work(&self) -> &Work {
        &self.work
    }

    /// How long a PE waited for others while its nonblocking operations were completed.
    pub(super) fn nbi_waiting_ns(&self, pe: u32) -> u64 {
        self.nbi_waiting.get(&pe).copied().unwrap_or(0)
    }

    /// The call sites that are to be read again, where there were too many.
    pub(super) fn selection(&mut self) -> Option<Vec<SiteName>> {
        self.sites.selection(self.plan)
    }

    /// What reports are made from.
    pub(super) fn finish(mut self, job: Option<Job>) -> Merged {
        self.pes.sort_by_key(|pe| (pe.pe, pe.pid));
        let job = job.unwrap_or_else(|| Job {
            npes: self.pes.last().map_or(0, |pe| pe.pe.saturating_add(1)),
            wall_ns: self.pes.iter().map(|pe| pe.end_ns).max().unwrap_or(0),
            ..Job::default()
        });
        let mut merged = Merged { job, pes: self.pes, ..Merged::default() };
        (merged.routines, merged.most) = self.routines.finish();
        (merged.matrices, merged.pairs, merged.other_pairs) = self.matrices.finish(self.plan);
        (merged.sites, merged.other_sites) = self.sites.finish();
        (merged.regions, merged.markers) = self.regions.finish();
        let whole: HashSet<u32> = merged.pes.iter().filter(|pe| !pe.incomplete).map(|pe| pe.pe).collect();
        (merged.late, merged.every, merged.unpaired) = self.meetings.finish();
        merged.meeting_times = self.meeting_times;
        meetings::add(&mut merged.late, self.open.finish(|pe| whole.contains(&pe)));
        meetings::bound(&mut merged.late, &merged.routines);
        let Groups { contexts, teams, network, algorithms } = self.groups;
        merged.contexts = contexts.into_iter().collect();
        merged.teams = teams.into_iter().collect();
        merged.network = network.into_iter().collect();
        merged.algorithms = algorithms.into_iter().collect();
        merged.counters = self.counters;
        merged.efficiencies = self.efficiencies;
        merged.phases = self.phases.finish();
        merged.causes = self.causes;
        (merged.locks, merged.lock_rings) = self.locks.finish();
        merged.addresses = self.addresses.finish();
        (merged.rates, merged.remote_times) = self.rates.finish();
        (merged.requests, merged.errors) = self.requests.finish();
        merged.callers = self.callers.finish();
        merged.builds = self.builds.into_iter().collect();
        merged.replaced = self.replaced.into_iter().collect();
        merged
    }
}
