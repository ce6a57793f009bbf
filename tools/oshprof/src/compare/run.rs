//! What a comparison needs of one profile.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use pellucid_profile::file::Directory;
use pellucid_profile::merge::{Merged, PeSource};
use pellucid_profile::model::{Job, Pe, Progress, Routine};
use pellucid_profile::op::{Class, class_of};
use pellucid_profile::report::stored::Lines;
use pellucid_profile::tables::Traffic;

use super::place::{Place, Places};
use super::{Amount, library, remarks};

/// A call site: routine, place, region.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteKey {
    /// C name of the routine; empty for calls that found no room in the table of sites.
    pub op: String,
    /// Where it is called.
    pub place: Place,
    /// Region; empty outside of all.
    pub region: String,
}

/// Calls of one PE from one site.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Calls and bytes.
    pub amount: Amount,
    /// Time in them in nanoseconds.
    pub ns: u64,
}

/// Time that PEs lost since one came late: the routine, the region, the late PE.
pub type LateKey = (SiteKey, u32);

/// What has to be equal for two runs to be comparable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// PEs.
    pub npes: u32,
    /// PEs of each host, most first.
    pub hosts: Vec<u32>,
    /// Arguments of the program.
    pub arguments: String,
    /// Highest profiling level.
    pub level: i32,
}

/// What jobs have in common whose counts and times can be compared: PEs, PEs by host, profiling level.
pub type Jobs<'s> = (u32, &'s [u32], i32);

impl Shape {
    /// All but the arguments. Runs of one suite may have different ones, such as where the output goes, only where
    /// somebody has given the suite its name.
    pub fn jobs(&self) -> Jobs<'_> {
        (self.npes, &self.hosts, self.level)
    }
}

/// One profile.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Where it was read.
    pub dir: PathBuf,
    /// The job.
    pub job: Job,
    /// What has to be equal.
    pub shape: Shape,
    /// Calls and bytes by site, over all PEs.
    pub sites: BTreeMap<SiteKey, Amount>,
    /// By routine, distance and size class.
    pub sizes: BTreeMap<(String, u8, u8), Amount>,
    /// Routines whose calls by site and by pair are those of samples.
    pub sampled_sites: BTreeSet<String>,
    /// Calls that failed, by routine.
    pub errors: BTreeMap<String, u64>,
    /// By pair of PEs and kind: 0 put, 1 get, 2 atomic.
    pub pairs: BTreeMap<(u8, u32, u32), Amount>,
    /// Algorithms that the calls of a routine have taken: how often. Empty in profiles of earlier versions.
    pub algorithms: BTreeMap<(String, String), Amount>,
    /// The sites of `cells`.
    pub keys: Vec<SiteKey>,
    /// Time by site (a place in `keys`) and PE. Setup is left out: it is not part of the run.
    pub cells: BTreeMap<(usize, u32), Cell>,
    /// Time outside the library by region and PE, so that with `cells` it adds up to the time from the end of
    /// initialization to the begin of finalization. Estimates may make it negative.
    pub own: BTreeMap<(String, u32), i64>,
    /// Time lost by waiting for a PE that came late: meetings and nanoseconds.
    pub late: BTreeMap<LateKey, (u64, u64)>,
    /// From the end of the first initialization to the begin of the last finalization.
    pub run_ns: u64,
    /// Times of regions, the longest of a PE: from begin to end.
    pub regions: BTreeMap<String, u64>,
    /// Routines over all PEs, with their latencies; setup is left out.
    pub routines: Vec<Routine>,
    /// Latencies, counters: what explains and does not decide.
    pub values: remarks::Values,
    /// Build id of the library that it ran with; `None` where it is part of the program, or gone.
    pub library: Option<String>,
    /// What to know before trusting it.
    pub doubts: Vec<String>,
    /// PEs that ended by `shmem_finalize`.
    pub finalized: usize,
}

/// Most pairs of PEs that are compared one by one: jobs of a thousand PEs that all talk to each other.
const MOST_PAIRS: usize = 1 << 20;

impl Run {
    /// The number of gets among the kinds of [`Run::pairs`].
    pub const GETS: u8 = 1;
    /// How many there are.
    pub const KINDS: usize = 3;

    /// Reads a profile.
    ///
    /// # Errors
    /// What could not be read: a comparison with a part of a profile would be a guess.
    pub fn read(dir: &Path, places: &Places<'_>) -> Result<Run, String> {
        let mut numbers = HashMap::new();
        let directory = Directory::open(dir).map_err(|error| error.to_string())?;
        let merged = Merged::new(&directory, |_, _| {});
        // The program may have been built anew since: each version has lines of its own.
        let lines = Lines::open(places.symbols(), &merged, dir);
        let places = &Places::new(&lines);
        let mut run = Run { dir: dir.to_owned(), job: merged.job.clone(), ..Run::default() };
        let mut per_host: BTreeMap<String, u32> = BTreeMap::new();
        let (mut first, mut last) = (u64::MAX, 0);
        for at in 0..directory.len() {
            let Some(pe) = directory.pe(at) else { continue };
            *per_host.entry(pe.host.clone()).or_default() += 1;
            // Of a PE that was ended, until then.
            let end = if pe.finalize_ns > 0 { pe.finalize_ns } else { pe.end_ns };
            (first, last) = (first.min(pe.init_ns), last.max(end));
            run.add(&pe, places, &mut numbers);
            run.library =
                run.library.take().or_else(|| library::build_id(&pe.tables.modules, run.job.start_realtime_ns));
        }
        if let Some(problem) = directory.problems().into_iter().next() {
            return Err(problem);
        }
        run.run_ns = last.saturating_sub(first);
        run.shape.npes = run.job.npes;
        run.shape.arguments = run.job.arguments.clone();
        run.shape.hosts = per_host.into_values().collect();
        run.shape.hosts.sort_unstable_by(|a, b| b.cmp(a));
        run.shape.level = merged.pes.iter().map(|pe| pe.level).max().unwrap_or(0);
        for late in &merged.late {
            let place = places.find(late.site.as_ref().map(|(path, address)| (path.as_str(), *address)));
            let key = SiteKey { op: late.routine.clone(), place, region: late.region.clone() };
            for (&pe, &(times, lost)) in &late.by_pe {
                let sum = run.late.entry((key.clone(), pe)).or_default();
                *sum = (sum.0 + times, sum.1 + lost);
            }
        }
        run.doubt(&merged);
        run.doubts.extend(lines.lost().iter().map(|note| format!("{}: {note}", dir.display())));
        run.values = remarks::values(&merged);
        run.routines = merged.routines;
        run.routines.retain(|routine| routine.class != Class::Setup);
        Ok(run)
    }

    /// What the program is called, wherever it lies; empty where that is not known.
    pub fn program(&self) -> &str {
        self.job.program.rsplit('/').next().unwrap_or_default()
    }

    /// How it failed, in words, if it did.
    pub fn failure(&self) -> Option<String> {
        let both: Vec<String> = [self.bad_status(), self.part()].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(", "))
    }

    fn bad_status(&self) -> Option<String> {
        let status = self.job.exit_status.filter(|status| *status != 0)?;
        Some(format!("the job ended with status {status}"))
    }

    fn part(&self) -> Option<String> {
        let (ended, npes) = (self.finalized, self.job.npes as usize);
        (ended < npes).then(|| format!("{ended} of {npes} PEs ended by shmem_finalize"))
    }

    /// Says whose sites are those of samples.
    pub fn sampled(&self) -> String {
        let names: Vec<&str> = self.sampled_sites.iter().map(String::as_str).collect();
        format!("{}: calls of {} by site and pair are those of samples", self.dir.display(), names.join(", "))
    }

    fn doubt(&mut self, merged: &Merged) {
        let dir = self.dir.display().to_string();
        self.finalized = merged.pes.iter().filter(|pe| pe.progress == Progress::Finalized).count();
        self.doubts.extend(self.part().map(|part| format!("{dir}: {part}: the profile is part of a run")));
        self.doubts.extend(self.bad_status().map(|status| format!("{dir}: {status}")));
        if self.sites.keys().any(|key| key.op.is_empty()) {
            self.doubts
                .push(format!("{dir}: some calls found no room in the table of call sites: they are compared as one"));
        }
    }

    fn add(&mut self, pe: &Pe, places: &Places<'_>, numbers: &mut HashMap<SiteKey, usize>) {
        self.add_sites(pe, places, numbers);
        for routine in &pe.routines {
            if routine.sampled_sites {
                self.sampled_sites.insert(routine.name.clone());
            }
            for size in &routine.sizes {
                let key = (routine.name.clone(), size.distance, size.class);
                self.sizes.entry(key).or_default().add(Amount { calls: size.calls, bytes: size.bytes });
            }
            if routine.errors > 0 {
                *self.errors.entry(routine.name.clone()).or_default() += routine.errors;
            }
        }
        for peer in &pe.tables.peers {
            let to = peer.pe.unwrap_or(u32::MAX);
            for (kind, Traffic { calls, bytes }) in [peer.put, peer.get, peer.amo].into_iter().enumerate() {
                if calls > 0 && self.pairs.len() < MOST_PAIRS {
                    self.pairs.entry((kind as u8, pe.pe, to)).or_default().add(Amount { calls, bytes });
                }
            }
        }
        for taken in &pe.tables.algorithms {
            let key = (taken.routine.clone(), taken.name.clone());
            self.algorithms.entry(key).or_default().add(Amount { calls: taken.calls, bytes: 0 });
        }
        for region in pe.tables.regions.iter().filter(|region| !region.name.is_empty()) {
            let longest = self.regions.entry(region.name.clone()).or_default();
            *longest = region.total_ns.max(*longest);
        }
    }

    fn add_sites(&mut self, pe: &Pe, places: &Places<'_>, numbers: &mut HashMap<SiteKey, usize>) {
        let mut in_library: BTreeMap<String, i64> = BTreeMap::new();
        for site in &pe.tables.sites {
            let place = places.find(pe.in_file(site.address));
            let region = pe.region_name(site.region).to_owned();
            let key = SiteKey { op: site.routine.clone(), place, region: region.clone() };
            let amount = Amount { calls: site.calls, bytes: site.bytes };
            self.sites.entry(key.clone()).or_default().add(amount);
            if class_of(&site.routine) == Some(Class::Setup) {
                continue;
            }
            let ns = pe.site_ns(site).unwrap_or(0);
            *in_library.entry(region).or_default() += ns as i64;
            let number = *numbers.entry(key).or_insert_with_key(|key| {
                self.keys.push(key.clone());
                self.keys.len() - 1
            });
            let cell = self.cells.entry((number, pe.pe)).or_default();
            cell.amount.add(amount);
            cell.ns = cell.ns.saturating_add(ns);
        }
        let mut left = pe.finalize_ns.saturating_sub(pe.init_ns) as i64;
        let regions = pe.tables.regions.iter().filter(|region| !region.name.is_empty());
        for (name, own_ns) in regions.map(|region| (&region.name, region.own_ns as i64)) {
            left -= own_ns;
            let inside = in_library.remove(name).unwrap_or(0);
            *self.own.entry((name.clone(), pe.pe)).or_default() += own_ns - inside;
        }
        // What is left is outside of all regions.
        let inside: i64 = in_library.values().sum();
        *self.own.entry((String::new(), pe.pe)).or_default() += left - inside;
    }

    /// Numbers of its PEs.
    pub fn pes(&self) -> BTreeSet<u32> {
        self.own.keys().map(|(_, pe)| *pe).collect()
    }
}
