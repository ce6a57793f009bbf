//! How fast puts, gets and atomics were, over all PEs.

use std::collections::BTreeMap;

use crate::model::Pe;
use crate::tables::Rate;

/// By routine, size class and distance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rates(BTreeMap<(String, u8, u8), Rate>);

impl Rates {
    pub(super) fn add(&mut self, pe: &Pe) {
        pe.tables.rates.iter().for_each(|rate| self.put(rate.clone()));
    }

    fn put(&mut self, rate: Rate) {
        let key = (rate.routine.clone(), rate.class, rate.distance);
        match self.0.get_mut(&key) {
            Some(known) => known.add(&rate),
            None => _ = self.0.insert(key, rate),
        }
    }

    pub(super) fn join(&mut self, other: Rates) {
        other.0.into_values().for_each(|rate| self.put(rate));
    }

    pub(super) fn finish(self) -> Vec<Rate> {
        self.0.into_values().collect()
    }
}
