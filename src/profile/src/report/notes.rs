//! What a reader must know before trusting the numbers.

use std::collections::HashMap;

use super::ends::ends;
use super::symbols::Symbols;
use super::{located, place, run_time_ns, units};
use crate::merge::{Merged, PeRow};
use crate::segment::layout::SLOTS;
use crate::segment::sites::SITES;

/// Remarks on the job: PEs that did not end well, and all others.
pub fn notes(profile: &Merged, symbols: &dyn Symbols) -> Vec<String> {
    let mut notes = ends(profile);
    notes.extend(other_notes(profile, symbols));
    notes
}

/// Remarks that are not on ends of PEs: limits that the recorder met, and on source lines. PEs with the same remark
/// share one.
pub fn other_notes(profile: &Merged, symbols: &dyn Symbols) -> Vec<String> {
    let mut notes: Vec<(Vec<u32>, String)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut add = |pe: u32, text: String| match places.get(&text) {
        Some(&at) => notes[at].0.push(pe),
        None => {
            places.insert(text.clone(), notes.len());
            notes.push((vec![pe], text));
        }
    };
    let silent = |number: &u32| profile.pes.binary_search_by_key(number, |pe| pe.pe).is_err();
    if profile.pes.is_empty() && profile.job.exit_status.is_some() {
        return vec!["the program never called shmem_init, or its numbers are gone: none are here".to_owned()];
    }
    for pe in (0..profile.job.npes).filter(silent) {
        add(pe, "no numbers are here".to_owned());
    }
    for pe in &profile.pes {
        limits(pe, symbols).into_iter().for_each(|text| add(pe.pe, text));
    }
    let unrecorded = unrecorded(profile).map(|share| format!("{share}: {}", of_the_rest(profile)));
    let unplaced: u64 =
        profile.sites.iter().filter(|row| row.routine.is_empty()).map(|row| row.sum.calls).fold(0, u64::saturating_add);
    let mut notes: Vec<String> = notes.into_iter().map(|(pes, text)| format!("{}: {text}", pe_list(&pes))).collect();
    notes.extend(unrecorded);
    if unplaced > 0 {
        let calls = units::count(unplaced);
        notes.push(format!(
            "{calls} calls came from more call sites than a thread has room for ({SITES}): their places are not known"
        ));
    }
    let sampled: Vec<&str> = profile.routines.iter().filter(|r| r.sampled_sites).map(|r| r.name.as_str()).collect();
    if !sampled.is_empty() {
        notes.push(format!(
            "by call site, region and peer, counts of {} are those of samples: to record each of so many short calls \
             would slow the program down (SHMEM_PROFILE_SITES=exact does)",
            sampled.join(", ")
        ));
    }
    if profile.unpaired > 0 {
        let teams = if profile.unpaired == 1 { "team" } else { "teams" };
        notes.push(format!(
            "the members of {} {teams} have recorded different numbers of barriers and collectives, as where the \
             profile was off on some PEs: which belong together, and who was late, is not known",
            profile.unpaired
        ));
    }
    let threads = profile.pes.iter().map(|pe| pe.threads).max().unwrap_or(0);
    if threads > 1 {
        notes.push(format!("up to {threads} threads a PE: their times add up and may exceed the run time"));
    }
    if !profile.errors.is_empty() {
        let of = |(code, calls): &(u32, u64)| format!("{} {}", units::count(*calls), error_name(*code));
        let list: Vec<String> = profile.errors.iter().map(of).collect();
        notes.push(format!("calls that came to an error: {}", list.join(", ")));
    }
    notes.extend(symbols.notes());
    notes
}

/// What is said of numbers where some of the run was not recorded.
fn of_the_rest(profile: &Merged) -> &'static str {
    match profile.is_recorded_evenly() {
        true => "all times, shares and factors are of the rest",
        false => {
            "all times and shares are of the rest. PEs were at level 0 for different times: nothing is said of how \
             even their work is"
        }
    }
}

/// `85 % of the run was not recorded`, where the level was 0 for some of it.
pub fn unrecorded(profile: &Merged) -> Option<String> {
    let share = unrecorded_share(profile);
    (share >= NAMED).then(|| format!("{:.0} % of the run was not recorded", 100.0 * share))
}

/// What was not recorded, as a share of the time between initialization and finalization.
pub fn unrecorded_share(profile: &Merged) -> f64 {
    let unrecorded: f64 = profile.pes.iter().map(|pe| pe.system.unrecorded_ns as f64).sum();
    unrecorded / (unrecorded + run_time_ns(&profile.pes)).max(1.0)
}

/// Share of the run that is worth a word where it was not recorded.
const NAMED: f64 = 0.005;

/// Names of errors in `shmemx.h`, by their codes without the sign.
const ERROR_NAMES: [&str; 17] = [
    "OK",
    "ARGUMENT",
    "EXISTS",
    "FULL",
    "NO_SUCH",
    "READ_ONLY",
    "BUSY",
    "PE",
    "ADDRESS",
    "MEMORY",
    "NETWORK",
    "PE_LOST",
    "ABORTED",
    "IO",
    "MISMATCH",
    "PENDING",
    "SHORT",
];

/// `SHMEMX_ERROR_PE_LOST`
pub fn error_name(code: u32) -> String {
    ERROR_NAMES.get(code as usize).map_or(format!("error {code}"), |name| format!("SHMEMX_ERROR_{name}"))
}

/// `1 team`, `3 teams`.
fn counted(count: u32, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// The same of more: `1 call`, `3 000 calls`.
fn counted_long(count: u64, one: &str, several: &str) -> String {
    format!("{} {}", units::count(count), if count == 1 { one } else { several })
}

/// Limits that the recorder met in a PE.
fn limits(pe: &PeRow, symbols: &dyn Symbols) -> Vec<String> {
    let mut notes = Vec::new();
    if pe.incomplete {
        notes.push(
            "damaged file: only part of what was recorded is here; efficiencies, balance and findings are without it"
                .to_owned(),
        );
    }
    if pe.level_changes > 0 {
        notes.push("the program changed the profiling level: only part of the run was recorded".to_owned());
    }
    if pe.overflowed > 0 {
        notes.push(format!(
            "no room for the latencies and sizes of {} (calls, bytes and totals are complete)",
            counted(pe.overflowed, "more routine", "more routines")
        ));
    }
    if pe.region_errors > 0 {
        let one = "begin or end of a region or marker";
        let count = counted(pe.region_errors, one, "begins and ends of regions or markers");
        let first = pe.region_error.as_deref().map(|(path, address)| place(Some((path, *address)), symbols));
        let first = first.map(|place| format!(", the first {}", located(&place))).unwrap_or_default();
        notes.push(format!("{count} could not be kept: wrong order, or no room{first}"));
    }
    if pe.left_out > 0 {
        notes.push(format!(
            "{} of pshmem_ routines came from the program itself and are not in the profile: a tool's own, or those of \
             a tool that is not a shmem_ function of its own there (-flto, -Wl,--wrap)",
            counted_long(pe.left_out, "call", "calls")
        ));
    }
    if pe.shared_calls > 0 {
        notes.push(format!(
            "{} calls came from threads beyond {SLOTS} at a time: recorded at a higher cost; regions and markers of \
             such threads are not kept",
            units::count(pe.shared_calls)
        ));
    }
    notes
}

pub(super) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGTERM => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    format!("{name} (signal {signal})")
}

/// `PE 3`, `PEs 0-2, 5`.
pub(super) fn pe_list(pes: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < pes.len() {
        let mut end = at;
        while end + 1 < pes.len() && pes[end + 1] == pes[end] + 1 {
            end += 1;
        }
        parts.push(if end > at { format!("{}-{}", pes[at], pes[end]) } else { pes[at].to_string() });
        at = end + 1;
    }
    format!("{} {}", if pes.len() > 1 { "PEs" } else { "PE" }, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{End, Job, Pe, Profile, Progress};

    fn notes(profile: &Profile) -> Vec<String> {
        super::notes(&Merged::from(profile), &crate::report::NoSymbols)
    }

    #[test]
    fn pes_with_the_same_remark_share_it() {
        assert_eq!(pe_list(&[3]), "PE 3");
        assert_eq!(pe_list(&[0, 1, 2, 5, 7, 8]), "PEs 0-2, 5, 7-8");
        let job = Job { npes: 4, exit_status: Some(1), ..Job::default() };
        let pe = |pe| Pe { pe, end: End::Exited(1), progress: Progress::Finalized, ..Pe::default() };
        let profile = Profile { job, pes: vec![pe(0), pe(2)] };
        assert_eq!(notes(&profile), ["PEs 0, 2: exited with status 1", "PEs 1, 3: no numbers are here"]);
    }

    #[test]
    fn what_was_not_recorded_is_said() {
        let mut pe = Pe { progress: Progress::Finalized, end: End::Exited(0), end_ns: 1000, ..Pe::default() };
        pe.tables.system.unrecorded_ns = 850;
        let job = Job { npes: 1, exit_status: Some(0), ..Job::default() };
        let mut profile = Profile { job, pes: vec![pe] };
        assert_eq!(Merged::from(&profile).pes[0].main_ns(), 150);
        let said = "85 % of the run was not recorded: all times, shares and factors are of the rest";
        assert_eq!(notes(&profile), [said]);
        // One PE of two.
        profile.job.npes = 2;
        profile.pes.push(Pe { pe: 1, ..profile.pes[0].clone() });
        profile.pes[1].tables.system.unrecorded_ns = 0;
        let said = notes(&profile);
        assert!(said[0].ends_with("nothing is said of how even their work is"), "{said:?}");
        profile.pes.truncate(1);
        profile.job.npes = 1;
        profile.pes[0].tables.system.unrecorded_ns = 4;
        assert!(notes(&profile).is_empty(), "{:?}", notes(&profile));
    }

    #[test]
    fn a_program_without_the_library_is_told_as_that() {
        let profile = Profile { job: Job { npes: 2, exit_status: Some(0), ..Job::default() }, pes: Vec::new() };
        assert_eq!(notes(&profile), ["the program never called shmem_init, or its numbers are gone: none are here"]);
    }

    #[test]
    fn a_running_job_is_not_blamed_for_running() {
        let profile = Profile { job: Job { npes: 1, ..Job::default() }, pes: vec![Pe::default()] };
        assert!(notes(&profile).is_empty());
        let ended = Profile { job: Job { exit_status: Some(0), ..profile.job.clone() }, ..profile };
        assert_eq!(notes(&ended), ["PE 0: did not finalize"]);
    }
}
