//! The last line of every report: the one that matters.

use super::balance::balance;
use super::symbols::Symbols;
use super::text::is_blamed;
use super::view::{LateLine, Regions, located};
use super::{table, view};
use crate::advice::{Case, END, late_end, lost_at_end, run_ns, waits_itself};
use crate::merge::{Does, Merged, SiteRow, outside_parts};
use crate::model::Routine;
use crate::op::{self, Class};
use crate::text::{pe_list, visible};

/// Share of the time that a place has to take to be named.
const WORTH: f64 = 0.05;
/// Share of all time that has to be lost in finalization for it to be told without those who come late.
const AT_END: f64 = 0.1;
/// Share of what others lost that has to be due to one PE for it to be named.
const ONE_PE: f64 = 0.6;

/// Where most of the time goes that could be saved, and which view to look at next; empty where nothing was recorded.
pub(super) fn text(profile: &Merged, symbols: &dyn Symbols) -> String {
    let run = run_ns(profile);
    if profile.pes.is_empty() || profile.routines.is_empty() {
        return String::new();
    }
    let at_an_end = at_an_end(profile);
    let line = waiting(profile, run, symbols)
        .into_iter()
        .chain(moving(profile, run, symbols))
        .chain(outside(profile, run, at_an_end.is_some()))
        .chain(at_an_end)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    line.filter(|(share, _)| *share >= WORTH).map_or_else(String::new, |(_, line)| table::filled(&visible(&line)))
}

/// A share of the PEs' time, and the line that tells of it.
type Line = (f64, String);

fn percent(share: f64) -> String {
    format!("{:.0} % of PE time", 100.0 * share.min(1.0))
}

/// So much time in calls of the classes that `of` picks, no more of each PE than its run: several threads may be in
/// them at a time.
fn at_most(profile: &Merged, ns: u64, of: impl Fn(Class) -> bool) -> u64 {
    let of_pes = profile.pes.iter().map(|pe| pe.time_ns(&of).min(pe.main_ns()));
    ns.min(of_pes.fold(0, u64::saturating_add))
}

/// Where most is lost by waiting: in a barrier or collective for the PE that comes last, or in a wait or lock.
fn waiting(profile: &Merged, run: f64, symbols: &dyn Symbols) -> Option<Line> {
    let is_known = !profile.meetings_differ();
    let late = view::late_by_line(profile, Regions::Together, symbols);
    let late = late.into_iter().next().map(|line| (line.late.lost_ns, line));
    let late = late.filter(|_| is_known);
    let is_wait = |row: &SiteRow| op::class_of(&row.routine).is_some_and(Class::is_for_others);
    let wait = costliest(profile, symbols, is_wait);
    let wait = wait.map(|(row, ns)| (row, at_most(profile, ns, Class::is_for_others)));
    match (late, wait) {
        (Some((lost, late)), wait) if wait.is_none_or(|(_, ns)| lost >= ns) => {
            Some((lost as f64 / run, late_line(profile, &late, lost as f64 / run, symbols)))
        }
        (_, Some((wait, ns))) => {
            let share = ns as f64 / run;
            Some((share, format!("{} waits in {}; see --view waits", percent(share), site(wait, symbols))))
        }
        _ => None,
    }
}

/// The line at which the calls that `of` picks take most time, by one of its places, and that time.
fn costliest<'a>(
    profile: &'a Merged,
    symbols: &dyn Symbols,
    of: impl Fn(&SiteRow) -> bool,
) -> Option<(&'a SiteRow, u64)> {
    let lines = view::lines(profile, Regions::Together, symbols, |row| of(row) && row.place().is_some());
    let most = lines.into_iter().max_by_key(|line| (line.sum.known_ns, std::cmp::Reverse(line.first.address)))?;
    Some((most.first, most.sum.known_ns))
}

fn late_line(profile: &Merged, line: &LateLine, share: f64, symbols: &dyn Symbols) -> String {
    // Where the line is of a layer of the program, the call of it that costs most.
    let (called, late) = match line.callers.first() {
        Some((Some(caller), most)) if 2 * most.lost_ns > line.late.lost_ns => (format!(", called from {caller}"), most),
        _ => (String::new(), &line.late),
    };
    let share = share * late.lost_ns as f64 / line.late.lost_ns.max(1) as f64;
    let place = late.place().map(|place| view::place(Some(place), symbols));
    let place = place.map_or_else(|| late.routine.clone(), |place| format!("{} {}", late.routine, located(&place)));
    // Who waits for another one before is not the reason.
    let case = Case::new(profile, symbols);
    let is_one = |pe: u32, lost: u64| lost as f64 >= ONE_PE * late.lost_ns as f64 && !waits_itself(&case, late, pe);
    let worst = late.worst().filter(|(pe, _, lost)| is_one(*pe, *lost));
    let comma = if called.is_empty() { "" } else { "," };
    let rounded = |share: f64| format!("{:.0}", 100.0 * share.min(1.0));
    let whom = worst.map(|(pe, _, lost)| {
        // The others cause the rest.
        let its = share * lost as f64 / late.lost_ns.max(1) as f64;
        match rounded(its) == rounded(share) {
            true => format!("{comma} for PE {pe}"),
            false => format!(", {} % for PE {pe}", rounded(its)),
        }
    });
    format!("{} waits in {place}{called}{}; see --view imbalance", percent(share), whom.unwrap_or_default())
}

/// The routine that takes most of the time in which nobody is waited for.
fn moving(profile: &Merged, run: f64, symbols: &dyn Symbols) -> Option<Line> {
    let moves = |r: &&Routine| !matches!(r.class, Class::Wait | Class::Lock | Class::Setup);
    // What is waited for late PEs in barriers, collectives and allocations has a line of its own.
    let for_late = |r: &Routine| profile.lost_to_late_ns(|name| *name == *r.name);
    let spent = |r: &Routine| at_most(profile, r.spent_ns().saturating_sub(for_late(r)), |class| class == r.class);
    let routine = profile.routines.iter().filter(moves).max_by_key(|r| spent(r))?;
    let share = spent(routine) as f64 / run;
    let most = costliest(profile, symbols, |row| *row.routine == *routine.name);
    let place = most.map(|(row, _)| view::located(&view::place(row.place(), symbols)));
    let place = place.map(|place| format!(", most {place}")).unwrap_or_default();
    let beyond = if for_late(routine) > 0 { " beyond waiting for late PEs" } else { "" };
    Some((share, format!("{} is in {}{beyond}{place}; see --view callsites", percent(share), routine.name)))
}

/// What perfect balance of the time outside of the library would save.
fn outside(profile: &Merged, run: f64, is_at_an_end: bool) -> Option<Line> {
    let all = balance(&profile.pes);
    let outside = all.iter().find(|b| b.what == "outside the library").filter(|_| profile.pes.len() > 1)?;
    let share = (outside.max.1 as f64 - outside.mean_ns) * profile.pes.len() as f64 / run;
    // A PE that computes longer has the others wait: where they do is told before, unless nobody knows.
    // Of a job that broke off nobody knows how long each would have computed.
    let known = profile.late.iter().any(|late| late.lost_ns as f64 > 0.0) || is_at_an_end || profile.broke_off();
    let known = known || !profile.is_recorded_evenly();
    // Nor is anything lost by a PE that nobody waits for.
    let known = known || !is_blamed(profile, outside.max.0);
    let row = profile.pes.iter().find(|pe| pe.pe == outside.max.0);
    let computes = row.is_none_or(|pe| outside_parts(profile)(pe).most() == Does::Computes);
    let does = if computes { "computes" } else { "is outside of the library" };
    let text = format!("{} is lost because PE {} {does} longest; see --view pe", percent(share), outside.max.0);
    (!known).then_some((share, text))
}

/// Where PEs wait for others to begin or to end: for a few, or each for the next one.
fn at_an_end(profile: &Merged) -> Option<Line> {
    let said = |share: f64, routine: &str, whom: &str| {
        (share, format!("{} waits in {routine}{whom}; see --view efficiency", percent(share)))
    };
    if let Some(late) = late_end(profile) {
        return Some(said(late.share, late.routine, &format!(" for {}", pe_list(&late.pes))));
    }
    let (_, share) = lost_at_end(profile);
    (share >= AT_END).then(|| said(share, END, ""))
}

fn site(row: &SiteRow, symbols: &dyn Symbols) -> String {
    format!("{} {}", row.routine, located(&view::place(row.place(), symbols)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::Late;
    use crate::model::{Pe, Profile, Progress};
    use crate::report::NoSymbols;
    use crate::tables::{Module, Site};

    /// The PE that is longest outside of the library may sleep there.
    #[test]
    fn who_is_outside_longest_computes_where_it_is_on_a_core() {
        let said = |on_core_ms: u64| {
            let pe = |pe: u32| {
                let mut row = Pe { pe, progress: Progress::Initialized, end_ns: 500_000_000, ..Pe::default() };
                row.end_ns *= u64::from(1 + pe);
                let system = &mut row.tables.system;
                (system.usage.user_ns, system.queued_ns) = (on_core_ms * 1_000_000, Some(0));
                row
            };
            let profile = Merged::from(&Profile { pes: vec![pe(0), pe(1)], ..Profile::default() });
            outside(&profile, 1.5e9, false).unwrap().1
        };
        assert_eq!(said(1000), "33 % of PE time is lost because PE 1 computes longest; see --view pe");
        assert_eq!(said(10), "33 % of PE time is lost because PE 1 is outside of the library longest; see --view pe");
    }

    /// Four threads of one PE that wait at a time wait for as long as the PE runs.
    #[test]
    fn threads_wait_no_longer_than_their_pe_runs() {
        let name = "shmem_long_wait_until";
        let pe = |pe: u32| {
            let mut row = Pe { pe, progress: Progress::Finalized, end_ns: 1000, threads: 1, ..Pe::default() };
            if pe == 1 {
                let mut wait = Routine::new(name, Class::Wait);
                (wait.calls[0], wait.timed_calls, wait.total_ns) = (4, 4, 3600);
                let site = Site { routine: name.into(), calls: 4, total_ns: Some(3600), address: 5, ..Site::default() };
                (row.routines, row.threads) = (vec![wait], 4);
                row.tables.sites = vec![site];
                row.tables.modules = vec![Module { start: 0, end: 100, path: "/bin/x".into(), ..Module::default() }];
            }
            row
        };
        let profile = Merged::from(&Profile { pes: vec![pe(0), pe(1)], ..Profile::default() });
        let (share, said) = waiting(&profile, 2000.0, &NoSymbols).unwrap();
        assert!(share == 0.5 && said.starts_with("50 % of PE time waits in shmem_long_wait_until"), "{said}");
        let mut put = Routine::new("shmem_putmem", Class::Put);
        (put.calls[2], put.timed_calls, put.total_ns) = (4, 4, 3600);
        let mut puts = profile;
        (puts.routines, puts.pes[1].ns[Class::Put as usize]) = (vec![put], 3600);
        assert_eq!(moving(&puts, 2000.0, &NoSymbols).unwrap().0, 0.5);
    }

    /// Of what is lost at a line, one PE is charged with what is lost to it.
    #[test]
    fn what_others_cause_is_not_of_the_worst() {
        let said = |by_pe: &[(u32, u64)]| {
            let lost_ns = by_pe.iter().map(|(_, ns)| ns).sum();
            let by_pe = by_pe.iter().map(|(pe, ns)| (*pe, (10, *ns))).collect();
            let late = Late { routine: "shmem_barrier_all".into(), lost_ns, by_pe, ..Late::default() };
            let pe = |pe| Pe { pe, progress: Progress::Finalized, end_ns: 1000, ..Pe::default() };
            let profile = Profile { pes: vec![pe(0), pe(1)], ..Profile::default() };
            let mut profile = Merged::from(&profile);
            profile.late = vec![late];
            waiting(&profile, 2000.0, &NoSymbols).unwrap().1
        };
        let line = |whom: &str| format!("50 % of PE time waits in shmem_barrier_all{whom}; see --view imbalance");
        assert_eq!(said(&[(0, 300), (1, 700)]), line(", 35 % for PE 1"));
        assert_eq!(said(&[(0, 5), (1, 995)]), line(" for PE 1"));
        assert_eq!(said(&[(0, 450), (1, 550)]), line(""));
    }

    #[test]
    fn what_is_left_of_a_meeting_without_late_pes_is_told_as_that() {
        let mut barrier = Routine::new("shmem_barrier_all", Class::Barrier);
        (barrier.calls[0], barrier.timed_calls, barrier.total_ns) = (10, 10, 660);
        let pe = |pe| {
            let progress = Progress::Finalized;
            Pe { pe, progress, end_ns: 1000, routines: vec![barrier.clone()], ..Pe::default() }
        };
        let mut profile = Merged::from(&Profile { pes: vec![pe(0), pe(1)], ..Profile::default() });
        let line = |profile: &Merged| moving(profile, 2000.0, &NoSymbols).unwrap().1;
        assert_eq!(line(&profile), "66 % of PE time is in shmem_barrier_all; see --view callsites");
        profile.late = vec![Late { routine: "shmem_barrier_all".into(), lost_ns: 320, ..Late::default() }];
        let said = "50 % of PE time is in shmem_barrier_all beyond waiting for late PEs; see --view callsites";
        assert_eq!(line(&profile), said);
    }
}
