//! Regions and markers over all PEs.

use std::collections::{BTreeMap, HashMap};

use super::plan::Plan;
use super::sites::more;
use crate::model::Pe;
use crate::op::{self, Class};
use crate::tables::Marker;

/// A region, over all PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionSum {
    /// How often it was begun.
    pub entries: u64,
    /// From begin to end, in nanoseconds.
    pub total_ns: u64,
    /// The part of it outside inner regions.
    pub own_ns: u64,
    /// Longest time from begin to end.
    pub max_ns: u64,
    /// Begins without an end.
    pub open: u64,
    /// Calls in it, outside inner regions.
    pub calls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their time.
    pub library_ns: u64,
    /// The part of it in barriers, waits, collectives, locks.
    pub waiting_ns: u64,
    /// Most time that a PE spent in it, and the first such PE.
    pub most: (u64, u32),
}

impl RegionSum {
    fn add(&mut self, other: &RegionSum) {
        self.entries += other.entries;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.own_ns = self.own_ns.saturating_add(other.own_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.open += other.open;
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.library_ns = self.library_ns.saturating_add(other.library_ns);
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
        // Who spends no time there is nobody in particular.
        self.most = if other.most.0 > 0 { more(self.most, other.most) } else { self.most };
    }
}

/// A marker: a row a PE, or one for all PEs that have no row of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerRow {
    /// `None`: several.
    pub pe: Option<u32>,
    /// The values. Those of several PEs have neither sum nor last: 0.
    pub marker: Marker,
}

#[derive(Debug, Default)]
pub(super) struct Regions {
    sums: BTreeMap<String, RegionSum>,
    markers: BTreeMap<(u32, usize), Marker>,
    others: BTreeMap<String, Marker>,
}

impl Regions {
    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe) {
        for region in pe.tables.regions.iter().filter(|r| r.entries > 0 || r.name.is_empty()) {
            let time = if region.name.is_empty() { region.own_ns } else { region.total_ns };
            let sum = RegionSum {
                entries: region.entries,
                total_ns: region.total_ns,
                own_ns: region.own_ns,
                max_ns: region.max_ns,
                open: region.open,
                most: (time, pe.pe),
                ..RegionSum::default()
            };
            self.region(&region.name).add(&sum);
        }
        let mut classes: HashMap<&str, Option<Class>> = HashMap::new();
        for site in &pe.tables.sites {
            let class = *classes.entry(&site.routine).or_insert_with_key(|name| op::class_of(name));
            // Regions have no part of initialization and finalization.
            let is_setup = class == Some(Class::Setup);
            let ns = if is_setup { 0 } else { pe.site_ns(site).unwrap_or(0) };
            let is_wait = class.is_some_and(Class::waits);
            let sum = RegionSum {
                calls: site.calls,
                bytes: site.bytes,
                library_ns: ns,
                waiting_ns: if is_wait { ns } else { 0 },
                ..RegionSum::default()
            };
            self.region(pe.region_name(site.region)).add(&sum);
        }
        self.markers.extend(pe.tables.markers.iter().enumerate().map(|(at, m)| ((pe.pe, at), m.clone())));
        self.cut(plan.limits.markers);
    }

    fn region(&mut self, name: &str) -> &mut RegionSum {
        if !self.sums.contains_key(name) {
            self.sums.insert(name.to_owned(), RegionSum::default());
        }
        self.sums.get_mut(name).expect("it is there now")
    }

    fn cut(&mut self, most: usize) {
        while self.markers.len() > most {
            let Some((_, marker)) = self.markers.pop_last() else { break };
            self.other(marker);
        }
    }

    fn other(&mut self, marker: Marker) {
        match self.others.get_mut(&marker.name) {
            Some(sum) => {
                sum.count += marker.count;
                (sum.min, sum.max) = (sum.min.min(marker.min), sum.max.max(marker.max));
            }
            None => {
                let sum = Marker { sum: 0.0, last: 0.0, ..marker };
                self.others.insert(sum.name.clone(), sum);
            }
        }
    }

    pub(super) fn join(&mut self, plan: &Plan, other: Regions) {
        other.sums.iter().for_each(|(name, sum)| self.region(name).add(sum));
        self.markers.extend(other.markers);
        other.others.into_values().for_each(|marker| self.other(marker));
        self.cut(plan.limits.markers);
    }

    /// Regions by name, markers by PE.
    pub(super) fn finish(self) -> (Vec<(String, RegionSum)>, Vec<MarkerRow>) {
        let rows = self.markers.into_iter().map(|((pe, _), marker)| MarkerRow { pe: Some(pe), marker });
        let others = self.others.into_values().map(|marker| MarkerRow { pe: None, marker });
        (self.sums.into_iter().collect(), rows.chain(others).collect())
    }
}
