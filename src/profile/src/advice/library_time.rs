//! Where the time goes that no other rule explains.

use std::collections::BTreeMap;

use crate::merge::{Cause, Merged, PeRow};
use crate::model::Routine;
use crate::op::{Class, class_of};
use crate::report::{shown_count, shown_time};

use super::room::room;
use super::{Case, END, Finding, costliest_of, lost_at_end, run_ns, shown_sum, sum};

/// Share of the run from which on the library is worth a look.
const MUCH: f64 = 0.20;
/// Lines that are named.
const LINES: usize = 3;

/// What routines are called, which they are, and what to look at next.
type Kind = (&'static str, fn(Class) -> bool, &'static str);

/// Kinds of routines.
const KINDS: [Kind; 10] = [
    (
        "barriers",
        |c| c == Class::Barrier,
        "--view phases says what the PEs do before them, --view imbalance who comes late",
    ),
    ("collectives", |c| c == Class::Collective, "--view imbalance says who comes late; the rest of it is their data"),
    (
        "waits and locks",
        Class::is_for_others,
        "--view causes says who ends them, and what that PE did meanwhile; --view locks, how long each is held",
    ),
    (
        "puts, gets and signals",
        |c| matches!(c, Class::Put | Class::Get | Class::Signal | Class::Order),
        "--view sizes: few bytes in many calls cost latency; --view nbi: what is under way at a time",
    ),
    (
        "atomics",
        |c| c == Class::Amo,
        "what goes to one PE can travel together: collect it, and send it with one put; --view matrix says whose \
         variables they are: many on one word wait for each other",
    ),
    (
        "active messages",
        |c| c == Class::Message,
        "--view routines says what they bring; gex_AM_Request_waits_for_room is time in which a peer's queue was full",
    ),
    (
        "files",
        |c| c == Class::Io,
        "larger calls, calls of all members (_at_all) in the place of those of one, and handles (_nb) while the \
         program computes",
    ),
    ("tests", |c| c == Class::Test, "shmem_wait_until and its _some and _any forms wait without being asked again"),
    (
        "allocations of symmetric memory",
        |c| c == Class::Memory,
        "all PEs meet in each of them: allocate once, before the loop; --view imbalance says who comes late",
    ),
    (
        "other routines",
        |c| matches!(c, Class::Team | Class::Context | Class::Query | Class::Control),
        "--view callsites says where they are called",
    ),
];

/// Mean bytes of a call from which on its time is what moves, and no latency.
const LARGE: u64 = 1 << 15;
const LARGE_NEXT: &str = "--view rates: how far they are from what is best here, and what holds them up; --view nbi: \
                          what is under way at a time";

/// Mean bytes of a collective up to which its time is latency.
const FEW: u64 = 1 << 10;
const FEW_NEXT: &str = "few bytes in many calls: it is their latency. Put what several of them combine or send into \
                        one call (an array in place of single values); meet less often";

/// Whether collectives move little, and lose less than half of their time to PEs that come late.
fn are_of_few_bytes(profile: &Merged) -> bool {
    let is = |r: &Routine| r.class == Class::Collective;
    let (calls, ns) = sum(profile, is);
    let bytes = profile.routines.iter().filter(|r| is(r)).map(|r| r.all_bytes()).fold(0, u64::saturating_add);
    let late = profile.lost_to_late_ns(|routine| class_of(routine) == Some(Class::Collective));
    bytes / calls.max(1) < FEW && 2.0 * late as f64 <= ns
}

/// Whether most of the time in transfers is in routines whose calls move much.
fn are_large(profile: &Merged, is_left: impl Fn(Class) -> bool) -> bool {
    let moves = |r: &Routine| matches!(r.class, Class::Put | Class::Get | Class::Signal) && is_left(r.class);
    let is_large = |r: &Routine| moves(r) && r.all_bytes() / r.all_calls().max(1) >= LARGE;
    let (_, all) = sum(profile, |r| moves(r) || r.class == Class::Order && is_left(r.class));
    2.0 * sum(profile, is_large).1 >= all
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    of_classes(profile, Class::is_library_time, lost_at_end(profile).0 as f64)
}

/// Where the time goes that findings say nothing of, as far as there is something to be saved: `is_covered` are those
/// classes that they do.
pub(super) fn beside(profile: &Case<'_>, is_covered: impl Fn(Class) -> bool) -> Option<Finding> {
    let is_left = |class: Class| class.is_library_time() && !is_covered(class);
    let found = of_classes(profile, is_left, 0.0)?;
    let share = found.share.min(room(profile, is_left));
    (share >= MUCH).then_some(Finding { share, ..found })
}

/// `at_end`: what is lost in finalization, in nanoseconds, beyond the run.
fn of_classes(profile: &Case<'_>, is_left: impl Fn(Class) -> bool, at_end: f64) -> Option<Finding> {
    let run = run_ns(profile);
    let (_, all) = sum(profile, |r| is_left(r.class));
    // While other threads of the PE work, nothing is lost.
    let all = all.min(run - profile.efficiencies.run.useful_sum as f64).min(idle_ns(profile));
    let part = (all + at_end) / (run + at_end);
    if part < MUCH {
        return None;
    }
    let of = |is: fn(Class) -> bool| sum(profile, |r| is(r.class) && is_left(r.class));
    let (name, is, next) = KINDS.into_iter().max_by(|a, b| of(a.1).1.total_cmp(&of(b.1).1))?;
    let (calls, ns) = of(is);
    if at_end > ns {
        return Some(of_end(part, at_end, at_end / (run + at_end)));
    }
    let next = if is(Class::Put) && are_large(profile, &is_left) {
        LARGE_NEXT
    } else if is(Class::Collective) && are_of_few_bytes(profile) {
        FEW_NEXT
    } else {
        next
    };
    Some(Finding {
        what: format!("{:.0} % of the time is in the library, most in {name}", (100.0 * part).min(100.0)),
        evidence: format!(
            "{} in {} calls over all PEs{}",
            shown_sum(profile, |r| is(r.class) && is_left(r.class)),
            shown_count(calls),
            costliest_of(profile, LINES, |r| is(r.class) && is_left(r.class))
        ),
        try_this: next,
        share: (ns.min(all) / (run + at_end)).min(1.0),
    })
}

/// That most is lost in finalization, to PEs of which no few are known to be late alone.
fn of_end(part: f64, at_end: f64, share: f64) -> Finding {
    Finding {
        what: format!("{:.0} % of the time is in the library, most in {END}", 100.0 * part),
        evidence: format!("{} over all PEs, which come to it one after another", shown_time(at_end)),
        try_this: "--view pe says for how long each PE is outside of the library before it: share that out, so that \
                   all come to their end at the same time",
        share,
    }
}

/// Time in which no thread of a PE is known to work: those whose waits it ended know for how long one of them worked
/// before.
fn idle_ns(profile: &Merged) -> f64 {
    let mut worked: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let is_wait = |row: &&Cause| class_of(row.site.routine) == Some(Class::Wait);
    for (waits, by) in profile.causes.rows.iter().filter(is_wait).filter_map(|row| Some((row.pe, row.by.as_ref()?))) {
        *worked.entry((by.pe, waits)).or_default() += by.work_ns;
    }
    let idle = |pe: &PeRow| {
        // Several may have waited for the same work.
        let of = worked.range((pe.pe, 0)..=(pe.pe, u32::MAX)).map(|(_, ns)| *ns).max().unwrap_or(0);
        pe.main_ns().saturating_sub(if pe.threads > 1 { of } else { 0 }) as f64
    };
    profile.pes.iter().map(idle).sum()
}
