//! One PE that comes late to initialization, or to finalization: the others wait for it there.

use std::cmp::Reverse;

use crate::merge::{Merged, PeRow};
use crate::model::{End, Progress};
use crate::report::shown_time;

use super::{Case, Finding, run_ns};

/// Share of all time, what is lost included, that has to be lost.
const LOST: f64 = 0.10;
/// Share of what is lost that has to be due to the last PE alone.
const ONE_PE: f64 = 0.5;
/// What the last one has to be behind the mean of the others, in nanoseconds: starting processes takes some.
const LEAST_NS: u64 = 20_000_000;

/// By what a program begins.
const BEGINS: [&str; 5] = ["shmem_init", "shmem_init_thread", "start_pes", "gex_Client_Init", "gasnet_init"];
const END: &str = "shmem_finalize";

/// Where PEs wait for one that comes late.
pub(crate) struct LateEnd {
    /// C name of the routine that the others wait in.
    pub(crate) routine: &'static str,
    pub(crate) pe: u32,
    /// What the others lost by it together, in nanoseconds.
    pub(crate) lost_ns: u64,
    /// Share of the time of all PEs, what is lost included.
    pub(crate) share: f64,
}

/// Whether a PE came to its end: it has finalized, or left that to the exit of its program.
fn has_ended(pe: &PeRow) -> bool {
    pe.progress == Progress::Finalized || pe.finalize_ns > 0 && pe.end == End::Exited(0)
}

/// The end of the run at which more is lost by one PE, if it is worth a word.
pub(crate) fn late(profile: &Merged) -> Option<LateEnd> {
    let pes = &profile.pes;
    let has_ended = !pes.is_empty() && pes.iter().all(has_ended);
    let of = |routine, moment: fn(&PeRow) -> u64, in_line: fn(&PeRow) -> u64| {
        let last = pes.iter().max_by_key(|pe| (moment(pe), Reverse(pe.pe)))?;
        let others = || pes.iter().filter(|pe| pe.pe != last.pe).map(moment);
        let next = others().max()?;
        // With a core from the first, it would have come then.
        let came = moment(last).saturating_sub(in_line(last));
        let lost_ns = others().map(|ns| came.saturating_sub(ns)).fold(0, u64::saturating_add);
        // What is lost until the one before it comes is not its own.
        let own = came.saturating_sub(next).saturating_mul(pes.len() as u64 - 1);
        let share = lost_ns as f64 / (run_ns(profile) + lost_ns as f64);
        let is_one = own as f64 >= ONE_PE * lost_ns as f64 && lost_ns / (pes.len() as u64 - 1) >= LEAST_NS;
        (is_one && share >= LOST).then_some(LateEnd { routine, pe: last.pe, lost_ns, share })
    };
    // On other hosts, processes are started when they can be.
    let is_one_host = pes.windows(2).all(|two| two[0].host == two[1].host);
    let is_called = |name: &&&str| profile.routines.iter().any(|routine| routine.name == **name);
    let first = BEGINS.iter().find(is_called).unwrap_or(&BEGINS[0]);
    let begin =
        (has_ended && is_one_host).then(|| of(first, |pe| pe.start_ns, |pe| pe.system.queued_before_ns)).flatten();
    let end = has_ended.then(|| of(END, |pe| pe.finalize_ns, |_| 0)).flatten();
    begin.into_iter().chain(end).max_by_key(|late| late.lost_ns)
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let LateEnd { routine, pe, lost_ns, share } = late(profile)?;
    let each = lost_ns as f64 / (profile.pes.len() as f64 - 1.0);
    Some(Finding {
        what: format!("{routine} waits for PE {pe}: it comes {} after the others in the mean", shown_time(each)),
        evidence: format!("the others lost {} by it together", shown_time(lost_ns as f64)),
        try_this: if routine == END {
            "what that PE does at the end can be shared out, or done while the others still work"
        } else {
            "what that PE does before that call can be done after it, while the others go on, or by each for itself"
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
        // As one after another is started; where several are late; and alone.
        assert_eq!(found(&[(0, 700), (5, 700), (10, 700)]), None);
        assert_eq!(found(&[(0, 700), (0, 1190), (0, 1200)]), None);
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
