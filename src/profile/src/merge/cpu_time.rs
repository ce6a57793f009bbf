//! Short calls that do not wait take no more time than the PE was on cores for.
//!
//! Of such calls samples are timed, which stand for the others; a sample that has lost its core meanwhile stands for
//! calls that have not. What samples may claim is the time that has passed, and where other programs have the cores
//! most of that is nobody's work. Nor do they take more than a PE of one thread had left beside its other calls.

use std::borrow::Cow;

use crate::model::{Pe, Routine};
use crate::size::Distance;

/// Whether a routine's calls are on a core from begin to end, and samples say how long they took: over a network they
/// wait.
fn is_on_core(r: &Routine) -> bool {
    let is_short = r.estimated && r.class.is_library_time() && !r.class.waits();
    is_short && r.calls[Distance::Remote as usize] == 0
}

/// What the times of these calls have to be multiplied by; 1 where that is not known. Of a PE that runs it is not known
/// for how long it has been on cores until now.
fn factor(pe: &Pe) -> f64 {
    let sum = |of: fn(&Routine) -> u64| pe.routines.iter().map(of).fold(0, u64::saturating_add);
    let short = sum(|r| if is_on_core(r) { r.total_ns } else { 0 });
    let usage = &pe.tables.system.usage;
    let on_core = usage.user_ns.saturating_add(usage.system_ns);
    // Calls of several threads overlap.
    let others = sum(|r| if r.class.is_library_time() && !is_on_core(r) { r.spent_ns() } else { 0 });
    let left = if pe.threads == 1 { pe.main_ns().saturating_sub(others) } else { 0 };
    // 0: not known.
    let most = [on_core, left].into_iter().filter(|ns| *ns != 0).min().unwrap_or(u64::MAX);
    if pe.finalize_ns == 0 || short <= most { 1.0 } else { most as f64 / short as f64 }
}

/// A PE whose short calls together take no more than it was on cores for: the rest of their estimates is what samples
/// would have claimed.
pub(crate) fn within_cpu_time(pe: Cow<'_, Pe>) -> Cow<'_, Pe> {
    let factor = factor(&pe);
    if factor >= 1.0 {
        return pe;
    }
    let mut pe = pe.into_owned();
    let part = |ns: u64| (ns as f64 * factor) as u64;
    for r in pe.routines.iter_mut().filter(|r| is_on_core(r)) {
        let total = part(r.total_ns);
        r.denied_ns = r.denied_ns.saturating_add(r.total_ns - total);
        (r.total_ns, r.expected_ns) = (total, part(r.expected_ns));
        r.total_variance *= factor * factor;
        let sites = pe.tables.sites.iter_mut().filter(|site| site.routine == r.name);
        sites.for_each(|site| site.total_ns = site.total_ns.map(part));
    }
    Cow::Owned(pe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Progress;
    use crate::op::Class;
    use crate::tables::Site;

    /// Each of two short routines seems to take 200 ms of a PE that was on cores for 100 ms.
    fn starved() -> Pe {
        let routine = |name: &str, class, estimated| {
            let mut r = Routine::new(name, class);
            (r.calls[Distance::Host as usize], r.timed_calls, r.total_ns, r.estimated) =
                (1000, 10, 200_000_000, estimated);
            r
        };
        let routines = vec![
            routine("shmem_long_p", Class::Put, true),
            routine("shmem_long_g", Class::Get, true),
            routine("shmem_barrier_all", Class::Barrier, true),
            routine("shmem_putmem", Class::Put, false),
        ];
        let (finalize_ns, progress) = (1_000_000_000, Progress::Finalized);
        let mut pe = Pe { finalize_ns, progress, threads: 1, routines, ..Pe::default() };
        (pe.tables.system.usage.user_ns, pe.tables.system.usage.system_ns) = (70_000_000, 30_000_000);
        let site = |ns| Site { routine: "shmem_long_p".into(), calls: 500, total_ns: Some(ns), ..Site::default() };
        pe.tables.sites = vec![site(150_000_000), site(50_000_000)];
        pe
    }

    #[test]
    fn short_calls_take_no_longer_than_the_pe_had_cores() {
        let pe = within_cpu_time(Cow::Owned(starved()));
        let ms: Vec<u64> = pe.routines.iter().map(|r| r.total_ns / 1_000_000).collect();
        assert_eq!(ms, [50, 50, 200, 200], "calls that wait, and those that were all timed, took what passed");
        let bounded: Vec<bool> = pe.routines.iter().map(Routine::is_bounded).collect();
        assert_eq!(bounded, [true, true, false, false]);
        let sites = pe.tables.sites.iter().map(|site| site.total_ns.map(|ns| ns / 100_000));
        assert_eq!(sites.collect::<Vec<_>>(), [Some(375), Some(125)]);
        assert_eq!(within_cpu_time(Cow::Borrowed(&pe)), Cow::Borrowed(&*pe), "once is enough");
    }

    #[test]
    fn nor_longer_than_a_thread_had_beside_its_other_calls() {
        let mut pe = starved();
        pe.finalize_ns = 600_000_000;
        pe.tables.system.usage.user_ns = 570_000_000;
        assert_eq!(*within_cpu_time(Cow::Borrowed(&Pe { threads: 2, ..pe.clone() })), Pe { threads: 2, ..pe.clone() });
        let pe = within_cpu_time(Cow::Owned(pe));
        let ms: Vec<u64> = pe.routines.iter().map(|r| r.total_ns / 1_000_000).collect();
        assert_eq!(ms, [100, 100, 200, 200]);
    }

    #[test]
    fn what_may_have_taken_so_long_stays() {
        let stays = |change: fn(&mut Pe)| {
            let mut pe = starved();
            change(&mut pe);
            *within_cpu_time(Cow::Borrowed(&pe)) == pe
        };
        assert!(!stays(|_| ()));
        assert!(stays(|pe| pe.finalize_ns = 0), "it runs");
        assert!(stays(|pe| pe.tables.system.usage.user_ns = 370_000_000));
        assert!(stays(|pe| pe.routines.iter_mut().for_each(|r| r.calls[Distance::Remote as usize] = 1)));
        assert!(stays(|pe| pe.tables.system.usage = crate::tables::Usage::default()), "nobody knows");
    }
}
