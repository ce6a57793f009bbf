//! Single PEs: those that stand out, where `--pe-labels top=K` asks for them. Their number does not grow with the job.

use super::collect::{View, communication_ratio};
use super::family::{Family, Value};
use super::histogram::seconds;
use super::live::KINDS;
use super::table::Id;

/// The most that there can be of each metric.
pub const MOST: usize = 16;

/// Adds their series.
pub fn add(view: &View<'_>, families: &mut [Family]) {
    let job = view.identity.job_id.as_str();
    let family = |families: &mut [Family], id, list: Vec<(&str, f64, u32)>| {
        let Some(family) = families.iter_mut().find(|family| family.row.id == id) else { return };
        for (label, value, pe) in top(list, view.top) {
            family.add(&[job, label, &pe.to_string()], Value::Number(value));
        }
    };
    let ratios = view.merged.pes.iter().filter_map(|pe| Some(("pe", communication_ratio(pe)?, pe.pe)));
    family(families, Id::CommunicationRatio, ratios.collect());
    let waits = view.now.waiting.iter().map(|&(kind, ns, pe)| (KINDS[kind].0, seconds(ns), pe));
    family(families, Id::LongestWait, waits.collect());
    let heaps = view.merged.pes.iter().map(|pe| ("pe", pe.system.heap_used as f64, pe.pe));
    family(families, Id::HeapUsed, heaps.collect());
}

/// Those with most, in the order of their numbers.
fn top(mut list: Vec<(&str, f64, u32)>, most: usize) -> Vec<(&str, f64, u32)> {
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
    list.truncate(most.min(MOST));
    list.sort_by_key(|(label, _, pe)| (*pe, *label));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_most_are_named() {
        let all = vec![("pe", 0.5, 0), ("pe", 0.9, 1), ("pe", 0.5, 2), ("pe", 0.1, 3)];
        assert_eq!(top(all.clone(), 2), [("pe", 0.5, 0), ("pe", 0.9, 1)]);
        assert_eq!(top(all, 0), []);
        assert_eq!(top((0..40).map(|pe| ("pe", 0.0, pe)).collect(), 100).len(), MOST);
    }
}
