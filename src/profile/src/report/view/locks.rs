//! Distributed locks: who stands in line, and for how long each is held.

use super::object;
use super::row::{Bars, Chart, Tables, View};
use crate::merge::{LockKey, LockSum, Merged};
use crate::op::Class;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;
use crate::report::{Options, units};

pub(super) static VIEW: View = View {
    name: "locks",
    title: "Locks: who stands in line, and for how long each is held",
    help: "distributed locks: who stands in line, how long each is held",
    hint: "Each distributed lock: how often it was taken, how long PEs stood in line for it, how long it was held. \
           Busy near 100 %: the program is as fast as what is done under it.",
    chart: Chart::Bars(Bars { title: "time in line", label: |of| of("lock"), value: "waited_ns" }),
    tables: Tables::Made(|p, o, s| vec![grid(p, o, s)]),
    ..View::BASE
};

const COLUMNS: [Column; 11] = [
    column("lock", "lock", Kind::Text),
    column("taken", "taken", Kind::Count),
    column("contended", "contended", Kind::Share),
    column("waited_ns", "waited", Kind::Time),
    column("held_ns", "held", Kind::Time),
    column("mean_held_ns", "a hold", Kind::Time),
    column("busy", "busy", Kind::Share),
    column("handover_ns", "handover", Kind::Time),
    column("max_held_ns", "", Kind::Time),
    column("pes", "", Kind::Count),
    column("waiting", "", Kind::Count),
];

/// Share of the run from which on a lock is held so much that more PEs cannot help.
const BUSY: f64 = 0.75;

/// Locks that were not given are listed.
const LISTED: usize = 4;

fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    // Without details it is known that locks were taken, but not which.
    let is_known = profile.is_detailed() || profile.routines.iter().all(|routine| routine.class != Class::Lock);
    let empty =
        if is_known { "no lock was taken" } else { "locks are in profiles that are kept (oshrun --profile-dir)" };
    let mut grid = Grid::new("locks", "Distributed locks", &COLUMNS, empty);
    let main: u64 = profile.pes.iter().map(|pe| pe.main_ns()).max().unwrap_or(0);
    let mut busiest: Option<(f64, String)> = None;
    for (key, sum) in &profile.locks {
        let (all, name) = (&sum.all, name(*key, sum, symbols));
        let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
        let busy = share(all.held_ns, main).min(1.0);
        if key.is_some() && busiest.as_ref().is_none_or(|(most, _)| busy > *most) {
            busiest = Some((busy, name.clone()));
        }
        grid.row([
            name.into(),
            all.taken.into(),
            Cell::Real(share(all.contended, all.taken)),
            all.waited_ns.into(),
            all.held_ns.into(),
            Cell::Real(share(all.held_ns, all.taken)),
            if key.is_some() { Cell::Real(busy) } else { Cell::None },
            (all.handovers > 0).then(|| share(all.handover_ns, all.handovers)).into(),
            all.max_held_ns.into(),
            sum.pes.into(),
            sum.waiting.into(),
        ]);
    }
    grid.cut(options.top);
    // In a job that was ended a lock may have been held for want of a release.
    if let Some((busy, name)) = busiest.filter(|(busy, _)| *busy >= BUSY && !profile.broke_off()) {
        grid.notes.push(format!(
            "{name}: busy {:.0} % of the run: shorten what is done under it or split it; more PEs cannot help.",
            100.0 * busy
        ));
    }
    grid.notes.extend(not_given(profile, symbols));
    if let Some(ring) = profile.lock_rings.text() {
        grid.notes.push(format!("{ring}, and will for ever: oshprof hang shows it while the job runs."));
    }
    if !grid.rows.is_empty() {
        grid.notes.push(
            "Times are summed over the PEs; busy: time held over the run; handover: from a release on this host to \
             having it, a time."
                .to_owned(),
        );
    }
    grid
}

/// Locks that PEs waited for when they ended.
fn not_given(profile: &Merged, symbols: &dyn Symbols) -> Option<String> {
    let waited = profile.locks.iter().filter(|(_, sum)| sum.waiting > 0);
    let one = |(key, sum): &(LockKey, LockSum)| {
        let pes = if sum.waiting == 1 { "PE" } else { "PEs" };
        format!("{} {pes} for {}", units::count(sum.waiting), name(*key, sum, symbols))
    };
    let list: Vec<String> = waited.clone().take(LISTED).map(one).collect();
    let more = if waited.count() > LISTED { ", and others" } else { "" };
    (!list.is_empty()).then(|| format!("Still waiting at the end, in the waited times: {}{more}.", list.join(", ")))
}

/// `table_lock on PE 0`, `locks+0x18 on PE 0`, `heap+0x40 on PE 0`: locks are PE 0's.
fn name(key: LockKey, sum: &LockSum, symbols: &dyn Symbols) -> String {
    key.map_or("(others)".to_owned(), |lock| format!("{} on PE 0", object(lock, sum.symbol.as_ref(), symbols)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::Limits;
    use crate::model::{End, Job, Pe, Profile, Progress, Routine};
    use crate::report::NoSymbols;
    use crate::tables::{Lock, Site};

    const MS: u64 = 1_000_000;

    fn merged(pes: Vec<Pe>, exit_status: i32) -> Merged {
        let job = Job { npes: pes.len() as u32, exit_status: Some(exit_status), ..Job::default() };
        Merged::with_limits(&Profile { job, pes }, Limits::default(), |_, _| {})
    }

    /// Two PEs of which each has a lock and waits for that of the other.
    fn stuck() -> Merged {
        let pe = |number: u32| {
            let mut set = Routine::new("shmem_set_lock", Class::Lock);
            (set.calls[0], set.timed_calls, set.total_ns) = (2, 1, 2850);
            (set.unfinished, set.unfinished_ns) = (1, 7900 * MS);
            let mine = Lock { object: Some((1, u64::from(number) * 8)), taken: 1, ..Lock::default() };
            let other = Lock { object: Some((1, u64::from(1 - number) * 8)), ..Lock::default() };
            let mut pe = Pe { pe: number, progress: Progress::Initialized, end: End::Stopped, ..Pe::default() };
            (pe.end_ns, pe.routines) = (7901 * MS, vec![set]);
            pe.tables.locks = vec![
                Lock { held_ns: 7900 * MS, max_held_ns: 7900 * MS, waited_ns: 2850, ..mine },
                Lock { waited_ns: 7900 * MS, ..other },
            ];
            pe
        };
        merged(vec![pe(0), pe(1)], 124)
    }

    #[test]
    fn open_waits_count_and_nobody_is_told_to_hold_a_lock_for_less() {
        let text = grid(&stuck(), &Options::default(), &NoSymbols).text();
        for part in ["7.90 s", "1 PE for static+0x0 on PE 0", "PEs 0 and 1 wait for each other's locks", "oshprof hang"]
        {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(!text.contains("shorten what is done"), "{text}");
    }

    #[test]
    fn what_is_said_without_locks_is_true() {
        let pe = |class, is_kept: bool| {
            let mut pe =
                Pe { progress: Progress::Finalized, routines: vec![Routine::new("of", class)], ..Pe::default() };
            pe.routines[0].calls[0] = 1;
            pe.tables.sites.extend(is_kept.then(|| Site { calls: 1, ..Site::default() }));
            merged(vec![pe], 0)
        };
        let said = |profile| grid(&profile, &Options::default(), &NoSymbols).text();
        assert_eq!(said(pe(Class::Put, true)), "no lock was taken\n");
        assert_eq!(said(pe(Class::Put, false)), "no lock was taken\n");
        assert!(said(pe(Class::Lock, false)).contains("--profile-dir"));
    }
}
