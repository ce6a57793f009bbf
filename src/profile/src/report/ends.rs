//! How the PEs of a job ended that did not come to its end.

use super::notes::{pe_list, signal_name};
use super::units;
use crate::merge::{Merged, PeRow};
use crate::model::{End, LastOp, Progress};
use crate::op;

/// What several PEs did last: so many kinds of it are named.
const LISTED: usize = 3;

/// What is said of a job that did not come to its end; `None` of others.
pub fn broke_off(profile: &Merged) -> Option<&'static str> {
    profile.broke_off().then_some("the job did not come to its end: all numbers go up to there")
}

/// PEs that did not end well, those with the same end in one: first those that ended of themselves, in the order of
/// their ends, at last those that the launcher ended for it.
pub fn ends(profile: &Merged) -> Vec<String> {
    // A job without an exit status still runs: its PEs have every right not to have finalized.
    let ended = profile.job.exit_status.is_some();
    let mut groups: Vec<(String, Vec<&PeRow>)> = Vec::new();
    for pe in &profile.pes {
        let Some(what) = what(pe, ended) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, pes)) => pes.push(pe),
            None => groups.push((what, vec![pe])),
        }
    }
    let first = |pes: &[&PeRow]| pes.iter().map(|pe| pe.end_ns).min();
    groups.sort_by_key(|(_, pes)| (pes[0].end == End::Stopped, first(pes), pes[0].pe));
    let note = |(what, pes): (String, Vec<&PeRow>)| {
        let numbers: Vec<u32> = pes.iter().map(|pe| pe.pe).collect();
        format!("{}: {what}{}", pe_list(&numbers), last_text(&pes))
    };
    groups.into_iter().map(note).collect()
}

fn what(pe: &PeRow, ended: bool) -> Option<String> {
    match pe.end {
        End::Stopped => Some("ended by the launcher".to_owned()),
        End::Killed(signal) => Some(format!("killed by {}", signal_name(signal))),
        End::Exited(status) if pe.progress != Progress::Finalized => {
            Some(format!("exited with status {status} without finalizing"))
        }
        End::Exited(status) if status != 0 => Some(format!("exited with status {status}")),
        End::Unknown if ended && pe.progress != Progress::Finalized => Some("did not finalize".to_owned()),
        _ => None,
    }
}

/// Where PEs were, a kind of place each, that of most of them first.
fn last_text(pes: &[&PeRow]) -> String {
    let mut kinds: Vec<(String, Vec<&LastOp>)> = Vec::new();
    // Who has left without it is in no call of the program's.
    let is_call = |last: &&LastOp| !op::has(&last.routine, op::FINALIZES);
    for last in pes.iter().filter_map(|pe| pe.last.as_deref()).filter(is_call) {
        let kind = kind(last);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, like)) => like.push(last),
            None => kinds.push((kind, vec![last])),
        }
    }
    kinds.sort_by_key(|(_, like)| std::cmp::Reverse(like.len()));
    let others: usize = kinds.iter().skip(LISTED).map(|(_, like)| like.len()).sum();
    let mut text = String::new();
    for (kind, like) in kinds.iter().take(LISTED) {
        let count = if like.len() < pes.len() { format!("{} ", like.len()) } else { String::new() };
        text += &format!(", {count}{kind}{}", details(like));
    }
    if others > 0 {
        text += &format!(", {others} elsewhere");
    }
    text
}

fn kind(last: &LastOp) -> String {
    let what = match last.inside {
        Some(true) => "inside",
        Some(false) => "after",
        None => "in or after",
    };
    format!("{what} {}", last.routine)
}

/// The peer, where there is one only; for how long they were in there.
fn details(like: &[&LastOp]) -> String {
    let first = like[0].peer.filter(|_| like.iter().all(|last| last.peer == like[0].peer));
    let peer = first.map(|peer| format!(" to PE {peer}")).unwrap_or_default();
    let since = like.iter().filter(|last| last.inside == Some(true)).filter_map(|last| last.since_ns).max();
    let most = if like.len() > 1 { "up to " } else { "" };
    let since = since.map(|ns| format!(" for {most}{}", units::time(ns as f64))).unwrap_or_default();
    format!("{peer}{since}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, Pe, Profile};

    fn pe(pe: u32, end: End, routine: &str, inside: bool, ns: u64) -> Pe {
        let last =
            LastOp { routine: routine.into(), inside: Some(inside), peer: None, since_ns: Some(ns + u64::from(pe)) };
        let end_ns = if end == End::Stopped { 3_000_000 } else { 2_000_000 };
        Pe { pe, end, progress: Progress::Initialized, last: Some(last), end_ns, ..Pe::default() }
    }

    fn crashed() -> Merged {
        let barrier = "shmem_barrier_all";
        let mut pes: Vec<Pe> = (0..32).map(|n| pe(n, End::Stopped, barrier, true, 10_000_000)).collect();
        pes[27] = pe(27, End::Killed(libc::SIGSEGV), "shmem_long_put", false, 5);
        pes[30] = pe(30, End::Stopped, "shmem_long_p", false, 5);
        let job = Job { npes: 32, exit_status: Some(139), ..Job::default() };
        Merged::from(&Profile { job, pes })
    }

    #[test]
    fn who_ended_of_itself_comes_first_and_the_others_share_a_note() {
        let said = [
            "PE 27: killed by SIGSEGV (signal 11), after shmem_long_put",
            "PEs 0-26, 28-31: ended by the launcher, 30 inside shmem_barrier_all for up to 10.0 ms, 1 after \
             shmem_long_p",
        ];
        assert_eq!(ends(&crashed()), said);
        assert_eq!(super::super::notes(&crashed(), &super::super::NoSymbols)[..2], said);
    }

    #[test]
    fn the_head_of_a_job_that_broke_off_says_so_and_promises_nothing() {
        let text = super::super::text(&crashed(), &Default::default(), &super::super::NoSymbols);
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in\n{text}"));
        assert!(at("did not come to its end") < at("PE 27: killed by SIGSEGV"), "{text}");
        assert!(at("SIGSEGV") < at("ended by the launcher"), "{text}");
        for promise in ["parallel efficiency", "what if", "first finding"] {
            assert!(!text.contains(promise), "{promise} is in\n{text}");
        }
    }

    #[test]
    fn a_job_that_went_on_without_a_pe_or_was_ended_by_its_program_did_not_break_off() {
        for (status, is_broken) in [(Some(0), false), (Some(137), true), (None, false)] {
            let job = Job { npes: 2, exit_status: status, ..Job::default() };
            let whole = Pe { pe: 1, progress: Progress::Finalized, end: End::Exited(0), ..Pe::default() };
            let pes = vec![pe(0, End::Killed(9), "shmem_barrier_all", true, 1), whole];
            assert_eq!(broke_off(&Merged::from(&Profile { job, pes })).is_some(), is_broken, "{status:?}");
        }
    }
}
