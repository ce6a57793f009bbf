//! Who called the functions that call the library, over all PEs.

use std::collections::BTreeMap;

use crate::model::Pe;

/// File and address in it; empty where not known.
pub type CodeAddress = (String, u64);
/// Call site, routine, region.
pub type CalledAt = (CodeAddress, String, String);

/// Ways that are kept.
const MOST: usize = 1 << 14;

/// How often each way to each call site was seen: where the callers return to, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerSums(BTreeMap<CalledAt, BTreeMap<Vec<CodeAddress>, u64>>);

impl CallerSums {
    pub(super) fn add(&mut self, pe: &Pe) {
        let place = |address: u64| {
            let (path, address) = pe.in_file(address).unwrap_or_default();
            (path.to_owned(), address)
        };
        for row in &pe.tables.callers {
            let site = (place(row.address), row.routine.clone(), pe.region_name(row.region).to_owned());
            self.put(site, row.returns.iter().map(|&address| place(address)).collect(), row.times);
        }
    }

    fn put(&mut self, site: CalledAt, way: Vec<CodeAddress>, times: u64) {
        let sum = self.0.entry(site).or_default().entry(way).or_default();
        *sum = sum.saturating_add(times);
    }

    pub(super) fn join(&mut self, other: CallerSums) {
        for (site, ways) in other.0 {
            ways.into_iter().for_each(|(way, times)| self.put(site.clone(), way, times));
        }
    }

    /// Call sites in their order, as many as are kept.
    pub(super) fn finish(mut self) -> CallerSums {
        let mut left = MOST;
        self.0.retain(|_, ways| {
            let fits = ways.len() <= left;
            left = left.saturating_sub(ways.len());
            fits
        });
        self
    }

    /// The ways to a call site, and how often each was seen.
    pub fn of(&self, path: &str, address: u64, routine: &str, region: &str) -> Vec<(&[CodeAddress], u64)> {
        let ways = self.0.get(&((path.to_owned(), address), routine.to_owned(), region.to_owned()));
        ways.into_iter().flatten().map(|(way, times)| (way.as_slice(), *times)).collect()
    }
}
