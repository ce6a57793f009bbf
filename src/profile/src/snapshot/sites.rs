//! Reading call sites, whose times add up to those of their routines.
//!
//! A routine's total weighs each sample with the calls that it stands for. The samples of one call site are fewer:
//! their mean, times the calls of the site, is a guess whose sum over the sites may be off the total by much more than
//! the total is off the truth. So the guesses of a routine's sites are scaled to what its total leaves for them (a
//! ratio estimate).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::flows::Flows;
use super::sampled::add_up;
use super::tables::written;
use super::unfinished::Unfinished;
use crate::model::Routine;
use crate::op;
use crate::order;
use crate::segment::Segment;
use crate::segment::sites::{self, SITE_OVERFLOW, SITES, split_key};
use crate::tables::Site;

/// One site of a PE, over its threads.
#[derive(Clone, Debug, Default)]
struct Sum {
    calls: u64,
    bytes: u64,
    /// Calls each of which was timed, and their nanoseconds.
    exact_calls: u64,
    exact_ns: u64,
    samples: u64,
    /// What its samples say of the calls of the threads that have any: calls and nanoseconds.
    sampled_calls: u64,
    sampled_ns: f64,
    max_ns: u64,
    /// Calls that have not returned, and how long they have taken so far.
    unfinished: u64,
    unfinished_ns: u64,
}

impl Sum {
    /// `of_flows` are calls and bytes that are not counted in the row.
    fn of(row: &sites::Site, of_flows: (u64, u64), op: u16, overhead_ns: f64) -> Sum {
        let get = |word: &AtomicU64| word.load(Relaxed);
        let calls = get(&row.calls).saturating_add(of_flows.0);
        let (exact_calls, weight) = (get(&row.exact_calls), get(&row.sample_weight));
        let others = if weight > 0 { calls.saturating_sub(exact_calls) } else { 0 };
        let mean = (get(&row.sample_ns) as f64 / weight.max(1) as f64 - overhead_ns).max(0.0);
        Sum {
            calls,
            bytes: get(&row.bytes).saturating_add(of_flows.1).saturating_add(op::bytes_of_calls(op, calls)),
            exact_calls,
            exact_ns: get(&row.exact_ns),
            samples: row.samples.load(Relaxed).into(),
            sampled_calls: others,
            sampled_ns: mean * others as f64,
            max_ns: f32::from_bits(row.max_ns.load(Relaxed)) as u64,
            ..Sum::default()
        }
    }

    fn merge(&mut self, more: &Sum) {
        self.calls += more.calls;
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.exact_calls += more.exact_calls;
        self.exact_ns = self.exact_ns.saturating_add(more.exact_ns);
        self.samples += more.samples;
        self.sampled_calls += more.sampled_calls;
        self.sampled_ns += more.sampled_ns;
        self.max_ns = self.max_ns.max(more.max_ns);
        self.unfinished += more.unfinished;
        self.unfinished_ns = self.unfinished_ns.saturating_add(more.unfinished_ns);
    }

    /// Calls that have returned and were not each timed.
    fn others(&self) -> u64 {
        self.calls.saturating_sub(self.exact_calls).saturating_sub(self.unfinished)
    }

    /// Their time, by the samples of this site; those of threads without one take the mean.
    fn guess_ns(&self) -> Option<f64> {
        (self.sampled_calls > 0).then(|| self.sampled_ns * self.others() as f64 / self.sampled_calls as f64)
    }
}

/// The call sites of a PE, whose run ended at `end_ns`. `slots` are those with something in them, `routines` what it
/// called, by operation.
pub(crate) fn take(
    segment: &Segment,
    slots: &[Flows<'_>],
    (overhead_ns, end_ns): (f64, u64),
    routines: &BTreeMap<u16, Routine>,
) -> Vec<Site> {
    let op_of = |key: u64| split(key).1;
    let mut sums: Vec<(u64, Sum)> = Vec::new();
    for slot in slots {
        let mut of_flows = slot.by_site();
        written(segment, &slot.slot.tables.sites[..=SITES], |at, row| {
            let key = if at == SITE_OVERFLOW { u64::MAX } else { row.key.load(Relaxed) };
            if key != 0 && row.calls.load(Relaxed) > 0 {
                let found = of_flows.binary_search_by_key(&key, |(key, _)| *key);
                let flows = found.map_or((0, 0), |at| std::mem::take(&mut of_flows[at].1));
                sums.push((key, Sum::of(row, flows, op_of(key), overhead_ns)));
            }
        });
        // Their call sites found no room for a row, or their PE was killed before they had one.
        for (key, (calls, bytes)) in of_flows.into_iter().filter(|(_, (calls, _))| *calls > 0) {
            let bytes = bytes.saturating_add(op::bytes_of_calls(op_of(key), calls));
            sums.push((key, Sum { calls, bytes, ..Sum::default() }));
        }
        let inside = Unfinished::of(segment, slot.slot, end_ns);
        if let Some((key, ns)) = inside.and_then(|call| Some((call.key?, call.ns))) {
            sums.push((key, Sum { unfinished: 1, unfinished_ns: ns, ..Sum::default() }));
        }
    }
    order::merge_by_key(&mut sums, |(key, _)| (op_of(*key), *key), |(_, sum), (_, more)| sum.merge(more));
    let is_full = sums.last().is_some_and(|(key, _)| *key == u64::MAX);
    let mut sites = Vec::new();
    for rows in sums.chunk_by_mut(|(a, _), (b, _)| op_of(*a) == op_of(*b)) {
        let op = op_of(rows[0].0);
        // Those that found no room are not known by routine.
        if let Some(routine) = routines.get(&op).filter(|routine| routine.sampled_sites && !is_full) {
            add_up(&mut rows.iter_mut().map(|(_, sum)| &mut sum.calls).collect::<Vec<_>>(), routine.all_calls());
            add_up(&mut rows.iter_mut().map(|(_, sum)| &mut sum.bytes).collect::<Vec<_>>(), routine.all_bytes());
        }
        let times = times(rows, routines.get(&op));
        sites.extend(rows.iter().zip(times).map(|((key, sum), total_ns)| (*key, site(*key, sum, total_ns))));
    }
    order::sort_by_key(&mut sites, |(key, _): &(u64, Site)| *key);
    sites.into_iter().map(|(_, site)| site).collect()
}

/// Address, operation and region.
fn split(key: u64) -> (u64, u16, u8) {
    if key == u64::MAX { (0, u16::MAX, 0) } else { split_key(key) }
}

fn site(key: u64, sum: &Sum, total_ns: Option<u64>) -> Site {
    let (address, op, region) = split(key);
    Site {
        address,
        routine: op::get(op).map(|row| row.name().to_owned()).unwrap_or_default(),
        region,
        calls: sum.calls,
        bytes: sum.bytes,
        timed_calls: sum.exact_calls + sum.samples,
        total_ns,
        max_ns: sum.max_ns,
        unfinished: sum.unfinished,
        unfinished_ns: sum.unfinished_ns,
    }
}

/// Time of each site of a routine in calls that have returned. `None` where nothing is known of it.
fn times(rows: &[(u64, Sum)], routine: Option<&Routine>) -> Vec<Option<u64>> {
    // No thread has come back from any: some of them may be of no site.
    let is_inside = routine.is_some_and(|routine| routine.unfinished > 0 && routine.unfinished >= routine.all_calls());
    let routine = routine.filter(|routine| routine.timed_calls > 0);
    let mean = routine.map(Routine::mean_ns);
    let guesses: Vec<Option<f64>> = rows
        .iter()
        .map(|(_, sum)| match sum.others() {
            0 => Some(0.0),
            _ if is_inside => Some(0.0),
            others => sum.guess_ns().or(mean.map(|mean| mean * others as f64)),
        })
        .collect();
    let scale = routine.and_then(|routine| scale(rows, &guesses, routine)).unwrap_or(1.0);
    rows.iter()
        .zip(guesses)
        .map(|((_, sum), guess)| guess.map(|ns| sum.exact_ns.saturating_add((ns * scale).round() as u64)))
        .collect()
}

/// By what the guesses are multiplied so that the sites add up to the routine. Calls that no site has take the mean:
/// they found no room in the table, or their PE was killed while it counted them.
fn scale(rows: &[(u64, Sum)], guesses: &[Option<f64>], routine: &Routine) -> Option<f64> {
    let calls: u64 = rows.iter().map(|(_, sum)| sum.calls).sum();
    let exact: u64 = rows.iter().map(|(_, sum)| sum.exact_ns).sum();
    let guessed: f64 = guesses.iter().flatten().sum();
    let of_no_site = routine.all_calls().saturating_sub(calls) as f64 * routine.mean_ns();
    (guessed > 0.0).then(|| routine.total_ns.saturating_sub(exact) as f64 / (guessed + of_no_site))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Class;

    fn routine(calls: u64, total_ns: u64) -> Routine {
        let mut routine = Routine::new("shmem_putmem", Class::Put);
        (routine.calls[1], routine.timed_calls, routine.total_ns) = (calls, 10, total_ns);
        routine
    }

    fn sum(calls: u64, exact: (u64, u64), sampled: (u64, f64)) -> (u64, Sum) {
        let (exact_calls, exact_ns) = exact;
        let (sampled_calls, sampled_ns) = sampled;
        (0, Sum { calls, exact_calls, exact_ns, sampled_calls, sampled_ns, ..Sum::default() })
    }

    #[test]
    fn sites_add_up_to_their_routine() {
        // 2,000 ns are left for what the samples put at 1,000 and 3,000.
        let rows = [sum(12, (2, 50), (10, 1000.0)), sum(10, (0, 0), (10, 3000.0)), sum(1, (1, 450), (0, 0.0))];
        assert_eq!(times(&rows, Some(&routine(23, 2500))), [Some(550), Some(1500), Some(450)]);
    }

    #[test]
    fn a_site_without_samples_takes_the_mean() {
        let rows = [sum(10, (0, 0), (10, 300.0)), sum(10, (0, 0), (0, 0.0))];
        assert_eq!(times(&rows, Some(&routine(20, 600))), [Some(300), Some(300)]);
        assert_eq!(times(&rows, None), [Some(300), None]);
    }

    #[test]
    fn calls_that_have_not_returned_take_nothing() {
        let rows = [sum(1, (0, 0), (0, 0.0))];
        let mut killed = routine(1, 0);
        (killed.timed_calls, killed.unfinished) = (0, 1);
        assert_eq!(times(&rows, Some(&killed)), [Some(0)]);
        killed.unfinished = 0;
        assert_eq!(times(&rows, Some(&killed)), [None]);
    }

    #[test]
    fn calls_that_have_not_returned_take_no_part_of_those_that_have() {
        let mut inside = sum(1, (0, 0), (0, 0.0));
        (inside.1.unfinished, inside.1.unfinished_ns) = (1, 5000);
        let rows = [sum(10, (0, 0), (10, 300.0)), inside];
        let mut killed = routine(11, 600);
        (killed.unfinished, killed.unfinished_ns) = (1, 5000);
        assert_eq!(times(&rows, Some(&killed)), [Some(600), Some(0)]);
    }

    #[test]
    fn calls_of_no_site_take_the_mean() {
        let rows = [sum(10, (0, 0), (10, 300.0))];
        // The samples of the site put its calls at 30 ns, those of the routine at 60: of 11 calls, 10 are here.
        assert_eq!(times(&rows, Some(&routine(11, 660))), [Some(550)]);
        assert_eq!(times(&rows, Some(&routine(10, 600))), [Some(600)]);
    }
}
