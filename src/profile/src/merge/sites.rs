//! Call sites over all PEs, whose processes may be loaded at different addresses.
//!
//! Where there are more than are kept, those stay that take most of a single PE's time. That can be told without
//! knowing the sums, in any order: a site that is dropped while PEs are read has been overtaken by as many as are kept,
//! and can come back only with a PE where it takes more. Its sums then lack what was dropped, so the sums of the sites
//! that stay are made by reading once more.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::plan::{Plan, SiteName};
use super::pool::Pool;
use crate::model::Pe;
use crate::tables::Site;

/// Names are numbers of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    path: u32,
    address: u64,
    routine: u32,
    region: u32,
}

/// Calls from one place, over all PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteSum {
    /// Calls.
    pub calls: u64,
    /// Bytes.
    pub bytes: u64,
    /// Calls that were timed.
    pub timed_calls: u64,
    /// Longest timed call in nanoseconds.
    pub max_ns: u64,
    /// Time of the calls of which it is known, and how many these are.
    pub known_ns: u64,
    known_calls: u64,
    /// Calls that had not returned, and their part of the time.
    pub unfinished: u64,
    /// See [`Self::unfinished`].
    pub unfinished_ns: u64,
    /// PEs that called from here.
    pub pes: u64,
    /// Most time that a PE spent here, and the first such PE.
    pub most: (u64, u32),
    /// Most calls of a PE.
    most_calls: u64,
}

impl SiteSum {
    /// Whether the time of some of its calls that have returned is an estimate.
    pub fn is_estimated(&self) -> bool {
        self.timed_calls < self.calls.saturating_sub(self.unfinished)
    }

    /// Mean time of a call that has returned; `None` where none is known, or none has.
    pub fn mean_ns(&self) -> Option<f64> {
        let returned = self.calls.saturating_sub(self.unfinished);
        let ns = self.total_ns()?.saturating_sub(self.unfinished_ns);
        (returned > 0).then(|| ns as f64 / returned as f64)
    }

    /// Longest timed call, where it may be the longest of all. Where the mean is longer, samples of other places of the
    /// routine say what calls from here took, and no longest of these is known; nor is it where none was timed.
    pub fn longest_ns(&self) -> Option<u64> {
        let mean = self.mean_ns().unwrap_or(0.0);
        if self.max_ns == 0 {
            return self.total_ns().is_none_or(|ns| ns == 0).then_some(0);
        }
        let is_one = self.calls.saturating_sub(self.unfinished) == 1;
        // It was kept to 24 bits.
        if mean <= self.max_ns as f64 || is_one || mean as f32 <= self.max_ns as f32 {
            return Some(self.max_ns.max(mean.ceil() as u64));
        }
        None
    }

    /// Time of all calls: those of unknown time take the mean of the others. `None` where none is known.
    pub fn total_ns(&self) -> Option<u64> {
        let all = u128::from(self.known_ns) * u128::from(self.calls);
        (self.known_calls > 0).then(|| (all / u128::from(self.known_calls)) as u64)
    }

    /// Calls of each PE that called from here, where these are equally many.
    pub(super) fn calls_of_each(&self) -> Option<u64> {
        (self.most_calls.checked_mul(self.pes) == Some(self.calls)).then_some(self.most_calls)
    }

    fn of(site: &Site, total_ns: Option<u64>, pe: u32) -> SiteSum {
        let known_calls = if total_ns.is_some() { site.calls } else { 0 };
        let ns = total_ns.unwrap_or(0);
        SiteSum {
            calls: site.calls,
            bytes: site.bytes,
            timed_calls: site.timed_calls,
            max_ns: site.max_ns,
            known_ns: ns,
            known_calls,
            unfinished: site.unfinished,
            unfinished_ns: site.unfinished_ns,
            pes: 1,
            most: (ns, pe),
            most_calls: site.calls,
        }
    }

    /// Adds what the same PE did there.
    pub(crate) fn add_same(&mut self, other: &SiteSum) {
        let most = (self.most.0.saturating_add(other.most.0), self.most.1);
        let most_calls = self.most_calls.saturating_add(other.most_calls);
        self.add(&SiteSum { pes: 0, ..*other });
        (self.most, self.most_calls) = (most, most_calls);
    }

    /// Adds what was done elsewhere, or by other PEs.
    pub(crate) fn add(&mut self, other: &SiteSum) {
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.timed_calls = self.timed_calls.saturating_add(other.timed_calls);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.known_ns = self.known_ns.saturating_add(other.known_ns);
        self.known_calls = self.known_calls.saturating_add(other.known_calls);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.unfinished_ns = self.unfinished_ns.saturating_add(other.unfinished_ns);
        self.pes += other.pes;
        self.most = more(self.most, other.most);
        self.most_calls = self.most_calls.max(other.most_calls);
    }
}

/// The larger of two values with their PEs; the first PE of equal ones.
pub(super) fn more(a: (u64, u32), b: (u64, u32)) -> (u64, u32) {
    if (b.0, Reverse(b.1)) > (a.0, Reverse(a.1)) { b } else { a }
}

/// One call site.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteRow {
    /// File; empty where not known.
    pub path: Arc<str>,
    /// Address in it.
    pub address: u64,
    /// C name of the routine; empty for calls that found no room.
    pub routine: Arc<str>,
    /// Region; empty outside of all.
    pub region: Arc<str>,
    /// The numbers.
    pub sum: SiteSum,
}

impl SiteRow {
    /// File and address in it, where known.
    pub fn place(&self) -> Option<(&str, u64)> {
        (!self.path.is_empty()).then_some((&*self.path, self.address))
    }
}

#[derive(Debug, Default)]
pub(super) struct Sites {
    pool: Pool,
    sums: HashMap<Key, SiteSum>,
    /// The only ones to keep.
    selected: Option<HashSet<Key>>,
    others: SiteSum,
    is_cut: bool,
}

impl Sites {
    pub(super) fn new(plan: &Plan) -> Sites {
        let mut sites = Sites::default();
        sites.selected = plan.sites.as_ref().map(|names| {
            let key = |(path, address, routine, region): &SiteName| Key {
                path: sites.pool.number(path),
                address: *address,
                routine: sites.pool.number(routine),
                region: sites.pool.number(region),
            };
            names.iter().map(key).collect()
        });
        sites
    }

    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        let mut own: HashMap<Key, SiteSum> = HashMap::new();
        for site in &pe.tables.sites {
            let (path, address) = pe.in_file(site.address).unwrap_or_default();
            let key = Key {
                path: self.pool.number(path),
                address,
                routine: self.pool.number(&site.routine),
                region: self.pool.number(pe.region_name(site.region)),
            };
            let sum = SiteSum::of(site, pe.site_ns(site), pe.pe);
            own.entry(key).and_modify(|known| known.add_same(&sum)).or_insert(sum);
        }
        own.into_iter().for_each(|(key, sum)| self.put(key, sum));
        if self.sums.len() > 2 * plan.limits.sites {
            self.cut(plan.limits.sites);
        }
    }

    fn put(&mut self, key: Key, sum: SiteSum) {
        if self.selected.as_ref().is_some_and(|selected| !selected.contains(&key)) {
            return self.others.add(&sum);
        }
        self.sums.entry(key).and_modify(|known| known.add(&sum)).or_insert(sum);
    }

    /// Keeps those that take most of a PE's time. What is dropped is not summed up: it is read again.
    fn cut(&mut self, most: usize) {
        if self.selected.is_some() || self.sums.len() <= most {
            return;
        }
        let mut all: Vec<(Key, SiteSum)> = self.sums.drain().collect();
        let name = |key: &Key| self.name(key);
        all.select_nth_unstable_by(most, |a, b| b.1.most.0.cmp(&a.1.most.0).then_with(|| name(&a.0).cmp(&name(&b.0))));
        all.truncate(most);
        self.sums = all.into_iter().collect();
        self.is_cut = true;
    }

    fn name(&self, key: &Key) -> (&str, u64, &str, &str) {
        (self.pool.text(key.path), key.address, self.pool.text(key.routine), self.pool.text(key.region))
    }

    pub(super) fn join(&mut self, plan: &Plan, other: Sites) {
        let number = self.pool.take_in(&other.pool);
        let here = |n: u32| number[n as usize];
        for (key, sum) in other.sums {
            let key = Key {
                path: here(key.path),
                routine: here(key.routine),
                region: here(key.region),
                address: key.address,
            };
            self.put(key, sum);
        }
        self.others.add(&other.others);
        self.is_cut |= other.is_cut;
        self.cut(plan.limits.sites);
    }

    /// Those to keep, where some were dropped: they are to be read again.
    pub(super) fn selection(&mut self, plan: &Plan) -> Option<Vec<SiteName>> {
        self.cut(plan.limits.sites);
        let name = |key: &Key| {
            let text = |number: u32| self.pool.text(number).clone();
            (text(key.path), key.address, text(key.routine), text(key.region))
        };
        self.is_cut.then(|| self.sums.keys().map(name).collect())
    }

    /// By file, address, routine and region; and the sum of the others.
    pub(super) fn finish(self) -> (Vec<SiteRow>, SiteSum) {
        let text = |number: u32| self.pool.text(number).clone();
        let row = |(key, sum): (&Key, &SiteSum)| SiteRow {
            path: text(key.path),
            address: key.address,
            routine: text(key.routine),
            region: text(key.region),
            sum: *sum,
        };
        let mut rows: Vec<SiteRow> = self.sums.iter().map(row).collect();
        rows.sort_by(|a, b| {
            (&a.path, a.address, &a.routine, &a.region).cmp(&(&b.path, b.address, &b.routine, &b.region))
        });
        (rows, self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mean_is_above_the_longest_call() {
        let site = |calls, timed_calls, max_ns| Site { calls, timed_calls, max_ns, ..Site::default() };
        let timed = SiteSum::of(&site(2, 1, 55), Some(100), 0);
        assert_eq!((timed.mean_ns(), timed.longest_ns()), (Some(50.0), Some(55)));
        // Calls of the line that were not timed take the mean of the routine, which is longer.
        let mut mixed = timed;
        mixed.add_same(&SiteSum::of(&site(8, 0, 0), Some(1600), 0));
        assert_eq!((mixed.mean_ns(), mixed.longest_ns()), (Some(170.0), None));
        // So may those take that were all samples: sites add up to their routine. Of one call the mean is the longest.
        assert_eq!(SiteSum::of(&site(2, 2, 55), Some(120), 0).longest_ns(), None);
        assert_eq!(SiteSum::of(&site(1, 1, 55), Some(60), 0).longest_ns(), Some(60));
        assert_eq!(SiteSum::of(&site(2, 2, 1 << 31), Some((1 << 32) + 2), 0).longest_ns(), Some((1 << 31) + 1));
        // What took nothing at all has a longest as well.
        assert_eq!(SiteSum::of(&site(2, 2, 0), Some(0), 0).longest_ns(), Some(0));
    }
}
