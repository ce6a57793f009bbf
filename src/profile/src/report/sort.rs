//! The order of routines in a report.

use std::cmp::Ordering;

use crate::model::Routine;

/// What routines are sorted by: largest first, names in alphabetical order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// Total time, with that of calls that have not returned.
    #[default]
    Total,
    /// Calls.
    Calls,
    /// Bytes.
    Bytes,
    /// Mean time.
    Mean,
    /// Median time.
    P50,
    /// 99th percentile.
    P99,
    /// Longest timed call.
    Max,
    /// Errors.
    Errors,
    /// Name.
    Name,
}

impl SortKey {
    /// Every key with its name on the command line.
    pub const ALL: [(&'static str, SortKey); 9] = [
        ("total", SortKey::Total),
        ("calls", SortKey::Calls),
        ("bytes", SortKey::Bytes),
        ("mean", SortKey::Mean),
        ("p50", SortKey::P50),
        ("p99", SortKey::P99),
        ("max", SortKey::Max),
        ("errors", SortKey::Errors),
        ("name", SortKey::Name),
    ];

    /// The key with this name.
    pub fn from_name(name: &str) -> Option<SortKey> {
        SortKey::ALL.iter().find(|(n, _)| *n == name).map(|&(_, key)| key)
    }

    fn compare(self, a: &Routine, b: &Routine) -> Ordering {
        let largest = match self {
            SortKey::Total => b.spent_ns().cmp(&a.spent_ns()),
            SortKey::Calls => b.all_calls().cmp(&a.all_calls()),
            SortKey::Bytes => b.all_bytes().cmp(&a.all_bytes()),
            SortKey::Mean => b.mean_ns().total_cmp(&a.mean_ns()),
            SortKey::P50 => b.quantile_ns(0.5).cmp(&a.quantile_ns(0.5)),
            SortKey::P99 => b.quantile_ns(0.99).cmp(&a.quantile_ns(0.99)),
            SortKey::Max => b.max_ns.cmp(&a.max_ns),
            SortKey::Errors => b.errors.cmp(&a.errors),
            SortKey::Name => Ordering::Equal,
        };
        largest.then_with(|| a.name.cmp(&b.name))
    }
}

/// Sorts routines and cuts the list; returns how many were cut off.
pub(super) fn select(routines: &mut Vec<Routine>, key: SortKey, top: Option<usize>) -> usize {
    routines.sort_by(|a, b| key.compare(a, b));
    let cut = routines.len().saturating_sub(top.unwrap_or(usize::MAX));
    routines.truncate(routines.len() - cut);
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Class;

    #[test]
    fn every_key_puts_the_largest_first() {
        let small = Routine::new("shmem_b", Class::Put);
        let mut large = Routine::new("shmem_c", Class::Put);
        large.calls[1] = 5;
        large.bytes[1] = 40;
        (large.errors, large.timed_calls, large.total_ns, large.max_ns) = (1, 5, 100, 50);
        large.latency.record(20, 5);
        for (name, key) in SortKey::ALL {
            assert_eq!(SortKey::from_name(name), Some(key));
            let mut list = vec![small.clone(), large.clone(), Routine::new("shmem_a", Class::Put)];
            assert_eq!(select(&mut list, key, Some(2)), 1);
            let expected = if key == SortKey::Name { ["shmem_a", "shmem_b"] } else { ["shmem_c", "shmem_a"] };
            assert_eq!(list.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), expected, "by {name}");
        }
        assert_eq!(SortKey::from_name("size"), None);
    }
}
