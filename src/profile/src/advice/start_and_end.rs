//! PEs that come late to initialization, or to finalization: the others wait for them there.

use crate::merge::{Merged, PeRow};
use crate::model::{End, Progress};
use crate::op;
use crate::report::shown_time;
use crate::text::pe_list;

use super::{Case, Finding, run_ns};

/// Share of all time, what is lost included, that has to be lost.
const LOST: f64 = 0.10;
/// Share of what is lost that has to be lost while all but the late PEs are there.
const TO_THEM: f64 = 0.5;
/// What the last one has to be behind the mean of the others, in nanoseconds: starting processes takes some.
const LEAST_NS: u64 = 20_000_000;

pub(crate) const END: &str = "shmem_finalize";

/// Where PEs wait for some that come late.
pub(crate) struct LateEnd {
    /// C name of the routine that the others wait in.
    pub(crate) routine: &'static str,
    /// Those that come late.
    pub(crate) pes: Vec<u32>,
    /// What the others lost by it together, in nanoseconds.
    pub(crate) lost_ns: u64,
    /// Share of the time of all PEs, what is lost included.
    pub(crate) share: f64,
}

/// Whether a PE came to its end: it has finalized, or left that to the exit of its program.
fn has_ended(pe: &PeRow) -> bool {
    pe.progress == Progress::Finalized || pe.finalize_ns > 0 && pe.end == End::Exited(0)
}

/// Whether all PEs of a job came to their ends.
fn have_ended(profile: &Merged) -> bool {
    !profile.pes.is_empty() && profile.pes.iter().all(has_ended)
}

/// How long each PE waits in finalization for the last one, in nanoseconds: of a job whose PEs have all come to it.
pub(super) fn waits_at_end(profile: &Merged) -> impl Fn(&PeRow) -> u64 + use<> {
    let last = have_ended(profile).then(|| profile.pes.iter().map(|pe| pe.finalize_ns).max()).flatten();
    move |pe| last.unwrap_or(0).saturating_sub(pe.finalize_ns)
}

/// What PEs lose in finalization that come early to it, together, in nanoseconds, and what share of all time that is,
/// what is lost included; nothing where it may be the machine's noise.
pub(crate) fn lost_at_end(profile: &Merged) -> (u64, f64) {
    let lost = profile.pes.iter().map(waits_at_end(profile)).fold(0, u64::saturating_add);
    match lost / (profile.pes.len() as u64).saturating_sub(1).max(1) {
        LEAST_NS.. => (lost, lost as f64 / (run_ns(profile) + lost as f64)),
        _ => (0, 0.0),
    }
}

/// Where PEs come late to a call that all make, each at a moment and after so long in line for its first core: those
/// that come after the moments at which most is lost.
fn late_to(
    profile: &Merged,
    routine: &'static str,
    moment: fn(&PeRow) -> u64,
    in_line: fn(&PeRow) -> u64,
) -> Option<LateEnd> {
    // With a core from the first, it would have come then.
    let came = |pe: &PeRow| moment(pe).saturating_sub(in_line(pe));
    let mut pes: Vec<&PeRow> = profile.pes.iter().collect();
    pes.sort_by_key(|pe| (came(pe), pe.pe));
    let last = came(pes.last()?);
    let lost = |pes: &[&PeRow]| pes.iter().map(|pe| last.saturating_sub(moment(pe))).fold(0, u64::saturating_add);
    // What is lost until the one before them comes is not their own.
    let own = |early: &usize| (came(pes[*early]) - came(pes[*early - 1])).saturating_mul(*early as u64);
    let early = (1..pes.len()).max_by_key(own)?;
    let lost_ns = lost(&pes[..early]);
    let share = lost_ns as f64 / (run_ns(profile) + lost_ns as f64);
    let is_theirs = own(&early) as f64 >= TO_THEM * lost(&pes) as f64 && lost_ns / early as u64 >= LEAST_NS;
    let mut late: Vec<u32> = pes[early..].iter().map(|pe| pe.pe).collect();
    late.sort_unstable();
    (is_theirs && share >= LOST).then_some(LateEnd { routine, pes: late, lost_ns, share })
}

/// The end of the run at which more is lost by PEs that come late, if it is worth a word.
pub(crate) fn late(profile: &Merged) -> Option<LateEnd> {
    let pes = &profile.pes;
    let has_ended = have_ended(profile);
    // On other hosts, processes are started when they can be.
    let is_one_host = pes.windows(2).all(|two| two[0].host == two[1].host);
    let is_called = |name: &&str| profile.routines.iter().any(|routine| routine.name == *name);
    let begins =
        (0..).zip(&op::ALL).filter(|(op, _)| op::traits(*op) & op::INITIALIZES != 0).map(|(_, row)| row.name());
    let first = begins.clone().find(is_called).or_else(|| begins.into_iter().next())?;
    let begin = || late_to(profile, first, |pe| pe.start_ns, |pe| pe.system.queued_before_ns);
    let begin = (has_ended && is_one_host).then(begin).flatten();
    let end = has_ended.then(|| late_to(profile, END, |pe| pe.finalize_ns, |_| 0)).flatten();
    begin.into_iter().chain(end).max_by_key(|late| late.lost_ns)
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let LateEnd { routine, pes, lost_ns, share } = late(profile)?;
    let is_end = routine == END;
    let is_one = pes.len() == 1;
    // What several have more to do until the end is what another rule is for.
    if is_end && !is_one && profile.uneven().is_some() {
        return None;
    }
    let each = shown_time(lost_ns as f64 / (profile.pes.len() - pes.len()) as f64);
    let (they, them) = if is_one { ("it comes", "it") } else { ("they come", "them") };
    Some(Finding {
        what: format!("{routine} waits for {}: {they} {each} after the others in the mean", pe_list(&pes)),
        evidence: format!("the others lost {} by {them} together", shown_time(lost_ns as f64)),
        try_this: match (is_end, is_one) {
            (true, true) => "what that PE does at the end can be shared out, or done while the others still work",
            (true, false) => "what these PEs do at the end can be shared out, or done while the others still work",
            (false, true) => {
                "what that PE does before that call can be done after it, while the others go on, or by each for itself"
            }
            (false, false) => {
                "what these PEs do before that call can be done after it, while the others go on, or by each for itself"
            }
        },
        share,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pe, Profile, Routine};
    use crate::op::Class;
    use crate::report::NoSymbols;

    const MS: u64 = 1_000_000;

    fn profile(moments: &[(u64, u64)]) -> Merged {
        let last = moments.iter().map(|(_, end)| *end).max().unwrap_or(0);
        let pe = |(number, (start, end)): (usize, &(u64, u64))| Pe {
            pe: number as u32,
            progress: Progress::Finalized,
            start_ns: start * MS,
            init_ns: 600 * MS,
            finalize_ns: end * MS,
            end_ns: last * MS,
            ..Pe::default()
        };
        Merged::from(&Profile { pes: moments.iter().enumerate().map(pe).collect(), ..Profile::default() })
    }

    #[test]
    fn who_comes_late_to_an_end_is_named() {
        let found = |moments: &[(u64, u64)]| {
            find(&Case::new(&profile(moments), &NoSymbols)).map(|found| (found.what, found.share))
        };
        let (what, share) = found(&[(0, 700), (0, 1200), (0, 700)]).unwrap();
        assert_eq!(what, "shmem_finalize waits for PE 1: it comes 500 ms after the others in the mean");
        // 1 s is lost beside 100, 600 and 100 ms.
        assert!((share - 1000.0 / 1800.0).abs() < 1e-9, "{share}");
        let (what, _) = found(&[(0, 700), (0, 700), (550, 700)]).unwrap();
        assert_eq!(what, "shmem_init waits for PE 2: it comes 550 ms after the others in the mean");
        // Several.
        let (what, share) = found(&[(0, 700), (550, 700), (560, 700)]).unwrap();
        assert_eq!(what, "shmem_init waits for PEs 1, 2: they come 560 ms after the others in the mean");
        assert!((share - 560.0 / 860.0).abs() < 1e-9, "{share}");
        // To the end, that they have more to do says more.
        assert_eq!(found(&[(0, 700), (0, 1190), (0, 1200)]), None);
        // As one after another is started, or ends; and alone.
        assert_eq!(found(&[(0, 700), (5, 700), (10, 700)]), None);
        assert_eq!(found(&[(0, 700), (0, 800), (0, 900), (0, 1000), (0, 1100)]), None);
        assert_eq!(found(&[(0, 700)]), None);
    }

    /// Where there are too few cores, one of the processes gets the first one late.
    #[test]
    fn who_had_no_core_to_start_on_is_not_late() {
        let of = |in_line_ms: u64| {
            let mut starved = profile(&[(0, 700), (0, 700), (550, 700)]);
            starved.pes[2].system.queued_before_ns = in_line_ms * MS;
            find(&Case::new(&starved, &NoSymbols)).map(|found| found.what)
        };
        assert_eq!(of(0).unwrap(), "shmem_init waits for PE 2: it comes 550 ms after the others in the mean");
        assert_eq!(of(150).unwrap(), "shmem_init waits for PE 2: it comes 400 ms after the others in the mean");
        assert_eq!((of(540), of(600)), (None, None));
    }

    #[test]
    fn the_call_that_a_program_begins_with_is_named() {
        let mut client = profile(&[(0, 700), (0, 700), (550, 700)]);
        client.routines = vec![Routine::new("gex_Client_Init", Class::Setup)];
        let found = find(&Case::new(&client, &NoSymbols)).unwrap();
        assert!(found.what.starts_with("gex_Client_Init waits for PE 2") && !found.try_this.contains("shmem_"));
    }

    #[test]
    fn an_end_that_is_left_to_the_exit_is_one() {
        let mut open = profile(&[(0, 700), (0, 1200), (0, 700)]);
        open.pes.iter_mut().for_each(|pe| (pe.progress, pe.end) = (Progress::Initialized, End::Exited(0)));
        assert!(
            find(&Case::new(&open, &NoSymbols))
                .is_some_and(|found| found.what.starts_with("shmem_finalize waits for PE 1"))
        );
        // One that was ended in it came to none.
        open.pes[0].end = End::Killed(9);
        assert_eq!(find(&Case::new(&open, &NoSymbols)), None);
    }
}
