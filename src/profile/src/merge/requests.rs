//! Requests and errors, over all PEs.

use std::collections::BTreeMap;

use crate::model::Pe;
use crate::tables::Requests;

/// By routine; by code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestSums {
    requests: BTreeMap<String, Requests>,
    errors: BTreeMap<u32, u64>,
}

impl RequestSums {
    pub(super) fn add(&mut self, pe: &Pe) {
        pe.tables.requests.iter().for_each(|of| self.put(of.clone()));
        pe.tables.errors.iter().for_each(|(code, count)| self.put_errors(*code, *count));
    }

    fn put(&mut self, of: Requests) {
        match self.requests.get_mut(&of.routine) {
            Some(known) => known.add(&of),
            None => _ = self.requests.insert(of.routine.clone(), of),
        }
    }

    fn put_errors(&mut self, code: u32, count: u64) {
        let sum = self.errors.entry(code).or_default();
        *sum = sum.saturating_add(count);
    }

    pub(super) fn join(&mut self, other: RequestSums) {
        other.requests.into_values().for_each(|of| self.put(of));
        other.errors.into_iter().for_each(|(code, count)| self.put_errors(code, count));
    }

    /// Those of routines that were under way longest first; errors by code.
    pub(super) fn finish(self) -> (Vec<Requests>, Vec<(u32, u64)>) {
        let mut requests: Vec<Requests> = self.requests.into_values().collect();
        requests.sort_by(|a, b| b.open_ns.cmp(&a.open_ns).then_with(|| a.routine.cmp(&b.routine)));
        (requests, self.errors.into_iter().collect())
    }
}
