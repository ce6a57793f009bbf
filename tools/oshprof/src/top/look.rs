//! What has happened between two looks at a job.

use std::collections::BTreeMap;

use pellucid_profile::live::{Inactivity, PeNow, State, activity};
use pellucid_profile::model::{self, Profile};
use pellucid_profile::op;
use pellucid_profile::report::{Symbols, line, shown_time};
use pellucid_profile::segment::{CurrentOp, Phase};
use pellucid_profile::snapshot::{self, Outcome};
use pellucid_profile::timeline::{self, DATA};

use super::threads::{self, Threads};
use crate::live::Job;

/// The profile so far, and when.
pub(super) struct Look {
    ns: u64,
    profile: Profile,
    /// Of PEs that have several, by number.
    threads: BTreeMap<u32, Threads>,
}

/// Parts of an interval, 0 to 1 each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shares {
    /// The level was 0: nothing else is known of it.
    pub unrecorded: f64,
    /// Outside of the library.
    pub computing: f64,
    /// In waits, locks, barriers and collectives.
    pub waiting: f64,
    /// In all other calls.
    pub transferring: f64,
}

/// A PE.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PeRow {
    pub pe: u32,
    pub pid: u32,
    pub shares: Shares,
    pub heap: u64,
    pub heap_most: u64,
    /// The call site first.
    pub state: String,
}

/// A routine, all PEs together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RoutineRow {
    pub name: String,
    /// A second.
    pub calls: f64,
    /// A second.
    pub bytes: f64,
    /// Of the time of all PEs.
    pub share: f64,
}

/// All that is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Page {
    pub title: String,
    pub since_ns: u64,
    pub pes: Vec<PeRow>,
    pub routines: Vec<RoutineRow>,
}

impl Look {
    /// Looks at a job.
    pub(super) fn take(job: &Job, inactivity: &mut Inactivity) -> Look {
        inactivity.look(&job.segment);
        let (ns, profile) = (job.segment.now_ns(), snapshot::take(&job.segment, &Outcome::default()));
        let several = profile.pes.iter().filter(|pe| pe.threads > 1);
        let threads = several.map(|pe| (pe.pe, threads::look(&job.segment, pe.pe, pe.pid))).collect();
        Look { ns, profile, threads }
    }
}

impl Page {
    /// What has happened since `before`.
    pub(super) fn new(job: &Job, before: &Look, now: &Look, inactivity: &Inactivity, symbols: &dyn Symbols) -> Page {
        let interval = now.ns.saturating_sub(before.ns).max(1);
        let row = |mut pe: PeNow| {
            inactivity.note(&job.segment, &mut pe);
            let find = |look: &Look| look.profile.pes.iter().find(|row| row.pe == pe.pe).map(spent).unwrap_or_default();
            let threads = before.threads.get(&pe.pe).zip(now.threads.get(&pe.pe));
            let work = threads.map_or(0, |(before, now)| threads::work_ns(before, now));
            let shares = Shares::of_interval(find(before), find(now), interval, work);
            let (heap, heap_most) = pe.heap;
            PeRow { pe: pe.pe, pid: pe.pid, shares, heap, heap_most, state: state(&pe, symbols) }
        };
        let pes: Vec<PeRow> = job.look().into_iter().map(row).collect();
        let routines = routines(&before.profile, &now.profile, interval, pes.len());
        Page { title: job.title(), since_ns: now.ns, pes, routines }
    }

    /// Of all PEs.
    pub(super) fn mean(&self) -> Shares {
        // The sum of no numbers is -0.0, which would be shown with its sign.
        let sum = |of: fn(&Shares) -> f64| self.pes.iter().map(|pe| of(&pe.shares)).fold(0.0, |sum, one| sum + one);
        let mean = |of| sum(of) / self.pes.len().max(1) as f64;
        Shares {
            unrecorded: mean(|s| s.unrecorded),
            computing: mean(|s| s.computing),
            waiting: mean(|s| s.waiting),
            transferring: mean(|s| s.transferring),
        }
    }
}

/// Time of a PE since its start, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    unrecorded: u64,
    /// In waits.
    waiting: u64,
    /// In all other calls.
    data: u64,
}

fn spent(pe: &model::Pe) -> Spent {
    let mut sums = Spent { unrecorded: pe.tables.system.unrecorded_ns, ..Spent::default() };
    for routine in &pe.routines {
        let is_data = op::lookup(&routine.name).is_none_or(|op| timeline::kind_of(op) == DATA);
        let sum = if is_data { &mut sums.data } else { &mut sums.waiting };
        *sum = sum.saturating_add(routine.spent_ns());
    }
    sums
}

impl Shares {
    /// Several threads can have been in calls at once: those count as one. While they are, others may work: what is
    /// known of that, `work` in nanoseconds, is no waiting.
    fn of_interval(before: Spent, now: Spent, interval: u64, work: u64) -> Shares {
        let since = |of: fn(&Spent) -> u64| of(&now).saturating_sub(of(&before)) as f64;
        let (unrecorded, waiting, data) = (since(|s| s.unrecorded), since(|s| s.waiting), since(|s| s.data));
        let whole = (interval as f64).max(unrecorded + waiting + data);
        let [unrecorded, waiting, transferring] = [unrecorded, waiting, data].map(|ns| ns / whole);
        let (recorded, in_library) = (1.0 - unrecorded, waiting + transferring);
        let computing = (recorded - in_library).max(work as f64 / interval as f64).clamp(0.0, recorded.max(0.0));
        let left = if in_library > 0.0 { ((recorded - computing) / in_library).clamp(0.0, 1.0) } else { 1.0 };
        Shares { unrecorded, computing, waiting: waiting * left, transferring: transferring * left }
    }
}

/// By routine, most calls first.
fn routines(before: &Profile, now: &Profile, interval: u64, pes: usize) -> Vec<RoutineRow> {
    let totals = |profile: &Profile| {
        let mut totals: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
        for routine in profile.pes.iter().flat_map(|pe| &pe.routines) {
            let total = totals.entry(routine.name.clone()).or_default();
            total.0 += routine.all_calls();
            total.1 += routine.all_bytes();
            total.2 += routine.spent_ns();
        }
        totals
    };
    let earlier = totals(before);
    let seconds = interval as f64 / 1e9;
    let mut rows: Vec<RoutineRow> = totals(now)
        .into_iter()
        .map(|(name, now)| {
            let before = earlier.get(&name).copied().unwrap_or_default();
            let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
            let share = rate(now.2, before.2) / 1e9 / pes.max(1) as f64;
            RoutineRow { calls: rate(now.0, before.0), bytes: rate(now.1, before.1), share: share.min(1.0), name }
        })
        .filter(|row| row.calls > 0.0 || row.share > 0.001)
        .collect();
    rows.sort_by(|a, b| b.calls.total_cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// From when on a PE that is not seen to make a call computes.
const QUIET_NS: u64 = 100_000_000;

/// What a PE does, in few words, the call site first: `halo.c:203 barrier_all 2.0 s`, `computing 2.0 s since quiet`.
fn state(pe: &PeNow, symbols: &dyn Symbols) -> String {
    let running = matches!(pe.state, State::Running | State::Starting);
    let known = |current: &&CurrentOp| running && (pe.recorded || current.phase == Phase::Inside);
    let Some(current) = pe.threads.first().filter(known) else { return activity(pe) };
    let routine = current.routine.strip_prefix("shmem_").unwrap_or(current.routine);
    let outside = if pe.asleep { "asleep" } else { "computing" };
    let time = |ns: u64| shown_time(ns as f64);
    let peer = current.peer.map(|peer| format!(" PE {peer}")).unwrap_or_default();
    match (current.phase, current.elapsed_ns, pe.quiet_ns.filter(|ns| *ns >= QUIET_NS)) {
        (Phase::Inside, elapsed, _) => {
            let site = current.site.as_ref().map(|(path, address)| line(Some((path, *address)), symbols) + " ");
            let elapsed = elapsed.map(|ns| format!(" {}", time(ns))).unwrap_or_default();
            format!("{}{routine}{peer}{elapsed}", site.unwrap_or_default())
        }
        (Phase::Returned, Some(ns), _) => format!("{outside} {} since {routine}", time(ns)),
        (_, None, Some(ns)) => {
            let longer = if pe.at_least { " or longer" } else { "" };
            format!("{outside} {}{longer} since {routine}", time(ns))
        }
        _ => format!("{routine}{peer}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_no_pes_has_no_sign() {
        let page = Page { title: String::new(), since_ns: 0, pes: Vec::new(), routines: Vec::new() };
        let Shares { unrecorded, computing, waiting, transferring } = page.mean();
        assert!([unrecorded, computing, waiting, transferring].iter().all(|share| share.is_sign_positive()));
    }

    #[test]
    fn parts_of_an_interval_come_to_all_of_it() {
        let of = |unrecorded, waiting, data| Spent { unrecorded, waiting, data };
        let shares = Shares::of_interval(of(7, 100, 10), of(7, 400, 110), 1000, 0);
        assert_eq!(shares, Shares { computing: 0.6, waiting: 0.3, transferring: 0.1, unrecorded: 0.0 });
        // Two threads that wait at once.
        let shares = Shares::of_interval(of(0, 0, 0), of(0, 2000, 0), 1000, 0);
        assert_eq!((shares.computing, shares.waiting), (0.0, 1.0));
        // The level was 0: whether it computed is not known.
        let shares = Shares::of_interval(of(500, 0, 0), of(1500, 0, 0), 1000, 0);
        assert_eq!(shares, Shares { unrecorded: 1.0, ..Shares::default() });
        let shares = Shares::of_interval(of(0, 0, 0), of(750, 125, 0), 1000, 0);
        assert_eq!((shares.unrecorded, shares.computing, shares.waiting), (0.75, 0.125, 0.125));
    }
    /// One thread works, one waits and one puts: the PE works all the time.
    #[test]
    fn who_works_beside_threads_in_the_library_computes() {
        let of = |waiting, data| Spent { unrecorded: 0, waiting, data };
        let shares = |work| Shares::of_interval(of(0, 0), of(1000, 1000), 1000, work);
        assert_eq!(shares(1000), Shares { computing: 1.0, ..Shares::default() });
        assert_eq!(shares(3000), shares(1000));
        assert_eq!(shares(500), Shares { computing: 0.5, waiting: 0.25, transferring: 0.25, unrecorded: 0.0 });
        assert_eq!(shares(0), Shares { waiting: 0.5, transferring: 0.5, ..Shares::default() });
        let half = Shares::of_interval(of(0, 0), of(250, 250), 1000, 100);
        assert_eq!(half, Shares { computing: 0.5, waiting: 0.25, transferring: 0.25, unrecorded: 0.0 });
    }

    /// Nobody has looked before the first look: since when a PE calls nothing is not known.
    #[test]
    fn what_was_seen_at_the_first_look_may_have_lasted_longer() {
        let current = CurrentOp {
            thread: 1,
            routine: "shmem_my_pe",
            op: 0,
            phase: Phase::Entered,
            peer: None,
            site: None,
            team: None,
            condition: None,
            addr: None,
            bytes: None,
            start_ns: None,
            elapsed_ns: None,
        };
        let of = |at_least| {
            let quiet_ns = Some(1_000_000_000);
            let pe = PeNow { recorded: true, asleep: true, quiet_ns, at_least, ..PeNow::default() };
            let pe = PeNow { state: State::Running, threads: vec![current.clone()], ..pe };
            state(&pe, &pellucid_profile::report::NoSymbols)
        };
        assert_eq!([false, true].map(of), ["asleep 1.00 s since my_pe", "asleep 1.00 s or longer since my_pe"]);
    }
}
