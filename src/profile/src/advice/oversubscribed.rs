//! More PEs than cores, or cores that other programs take.

use crate::merge::{Merged, PeRow};
use crate::op::Class;
use crate::report::{shown_cores, shown_count, shown_time};

use super::{Case, Finding, run_ns};

/// Share of the run that has to be spent waiting.
const WAITING: f64 = 0.10;
/// Time between two waits in which whoever is waited for gets a core, in nanoseconds: where PEs work longer, lacking
/// one is not what they wait for.
const HANDED_OVER_NS: f64 = 500e3;
/// Mean length of waits from which on threads do nothing but wait, in nanoseconds.
const PARKED_NS: u64 = 100_000_000;
/// The work of all PEs together, over the length of the run, where they work one after another. With less of it most of
/// the time is lost otherwise.
const ONE_AT_A_TIME: std::ops::Range<f64> = 0.6..1.25;
/// Share of the run without a processor from which on others are to blame where there are cores for all; and share of
/// the time of the cores that others are known to have taken, where there are not.
const WITHOUT: f64 = 0.15;

/// What to try where the container or the job may take the time of fewer cores than there are.
const WITH_QUOTA: &str = "start as many PEs as the quota has cores, or give the container or the job more (docker run \
     --cpus, resources.limits.cpu): once it is used up, all PEs stand still until the next period";
/// What to try elsewhere.
const WITHOUT_QUOTA: &str =
    "start as many PEs as there are cores: with more of them, some stand still, and those that wait for them do, too";
/// What to try where there are cores for the PEs, and not for their threads.
const THREADS: &str = "start fewer threads in each PE, or fewer PEs on a host: oshrun --cores-per-pe N binds each to N \
     cores";
/// What to try where others take the cores.
const OTHERS: &str = "run where nothing else runs; oshrun --bind core keeps PEs from moving";
/// The same where there are fewer of them than PEs.
const OTHERS_IN_CROWD: &str = "run where nothing else runs, with as many PEs as there are cores: what other rules say \
     of waiting is worth a look there";
/// What to try where others take the cores, or a quota does.
const THROTTLED: &str = "look at nr_throttled in the control group's cpu.stat: where it grows, start fewer threads or \
     ask for a larger quota; else run where nothing else runs";

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let hosts = crate::report::hosts(profile);
    let known = || profile.pes.iter().filter(|pe| pe.system.cores > 0);
    let on = |host: &str| known_on(profile, host);
    let (host, (workers, cores)) =
        hosts.iter().map(|host| (*host, crowd(&on(host)))).max_by(|a, b| (a.1.0 * b.1.1).cmp(&(b.1.0 * a.1.1)))?;
    let waiting: f64 = known().map(|pe| pe.time_ns(Class::waits) as f64).sum();
    // Threads that wait together, or stand in line, do not lose more than their PE has.
    let lost = |of: fn(&PeRow) -> u64| known().map(|pe| of(pe).min(pe.main_ns()) as f64).sum::<f64>() / run_ns(profile);
    let switches: u64 = known().map(|pe| pe.system.usage.involuntary_switches).sum();
    let on_core: f64 = known().map(|pe| pe.on_core_ns() as f64).sum();
    let run = run_ns(profile);
    let pes = on(host).len();
    let is_quota = has_quota(&on(host));
    if let Some(finding) = others_in_crowd(profile, switches) {
        return Some(finding);
    }
    if workers > cores {
        // One works, and the others have nothing to do. On a single core it is always one, and of a quota those who
        // wait take a part.
        if cores > 1 && !is_quota && work_one_at_a_time(&on(host)) {
            return None;
        }
        // With a core for each, the run takes as long as the PE that has most to do.
        let longest = profile.longest_ns() as f64;
        let alone = on(host).into_iter().map(busy_ns).fold(0.0, f64::max) / longest;
        let share = lost(|pe| pe.time_ns(Class::waits))
            .min(taken(&on(host), cores, longest) * (1.0 - cores as f64 / workers as f64))
            .min(1.0 - alone)
            .min(in_line_for_work(&on(host)).map_or(1.0, |ns| ns / run));
        let who = if workers > pes as u64 { format!("{pes} PEs with {workers} threads") } else { format!("{pes} PEs") };
        return (share >= WAITING).then(|| Finding {
            what: format!("{who} share {}: waits include time without a core", shared(cores as u32, host, is_quota)),
            evidence: format!(
                "{} waiting over all PEs; {} on processors{}",
                shown_time(waiting),
                shown_time(on_core),
                times(switches).map_or_else(String::new, |times| format!("; {times} a PE had to leave its core"))
            ),
            try_this: try_fewer(pes as u64 > cores, is_quota),
            share,
        });
    }
    // Who waits long, or for something else than other PEs, is on no core either: the run queue tells.
    let queued: Option<f64> = known().map(|pe| pe.queued_ns().map(|ns| ns as f64)).sum();
    let often = switches > 100 * profile.pes.len() as u64;
    let without = match queued {
        Some(_) => lost(|pe| pe.queued_ns().unwrap_or(0)),
        None if often => (run - on_core).max(0.0).min(waiting) / run,
        None => 0.0,
    };
    let stood = queued.map_or_else(String::new, |queued| format!("{} in line for a core, ", shown_time(queued)));
    let quota = on(host).iter().map(|pe| pe.system.quota).max().filter(|quota| *quota > 0);
    (without >= WITHOUT).then(|| Finding {
        what: taken_by(host, quota) + &left(switches),
        evidence: format!("{stood}{} on processors in {} of run time", shown_time(on_core), shown_time(run)),
        try_this: if quota.is_some() { THROTTLED } else { OTHERS },
        share: without,
    })
}

/// That other programs take the cores of a host with too few of them, which PEs had to leave so often.
fn others_in_crowd(profile: &Merged, switches: u64) -> Option<Finding> {
    let (host, share) = taken_by_others(profile)?;
    Some(Finding {
        what: taken_by(host, None) + &left(switches),
        evidence: of_others(&known_on(profile, host), share),
        try_this: OTHERS_IN_CROWD,
        share,
    })
}

/// The host with more PEs, or threads, than cores of whose cores other programs are known to have taken most, and what
/// share of their time, where that is much.
fn taken_by_others(profile: &Merged) -> Option<(&str, f64)> {
    let longest = profile.longest_ns() as f64;
    let of = |host| (host, by_others(&known_on(profile, host), longest));
    let most = crate::report::hosts(profile).into_iter().map(of).max_by(|a, b| a.1.total_cmp(&b.1));
    most.filter(|(_, share)| *share >= WITHOUT)
}

/// Whether other programs are known to have taken much of the time of the cores of a host with too few of them.
pub(super) fn do_others_take(profile: &Merged) -> bool {
    taken_by_others(profile).is_some()
}

/// What share of the time of a host's cores other programs took at least, where more PEs or threads want them than
/// there are: while one stands in line, no core is free, and those on which no PE is others have. All of it is of the
/// `longest` run of a PE: one that ends early stands in line for a moment of it.
fn by_others(pes: &[&PeRow], longest: f64) -> f64 {
    let (workers, cores) = crowd(pes);
    // PEs that are bound may stand in line for one core while another one is free.
    let is_known =
        |pe: &&PeRow| pe.queued_ns().is_some() && pe.on_core_ns() > 0 && u64::from(pe.system.allowed) >= cores;
    if pes.is_empty() || workers <= cores || has_quota(pes) || !pes.iter().all(is_known) {
        return 0.0;
    }
    let in_line = || pes.iter().map(|pe| pe.queued_ns().unwrap_or(0).min(pe.main_ns()) as f64 / longest);
    let on_core = pes.iter().map(|pe| pe.on_core_ns() as f64).sum::<f64>() / longest;
    // By who stands in line for longest, and by how many do in the mean: the others may be on cores meanwhile.
    let some = in_line().fold(0.0, f64::max) * cores as f64 - on_core;
    let several = in_line().sum::<f64>() - (workers - cores) as f64;
    (some.max(several) / cores as f64).clamp(0.0, 1.0)
}

/// What shows that others took the cores of these PEs.
fn of_others(pes: &[&PeRow], share: f64) -> String {
    let sum = |of: fn(&PeRow) -> u64| shown_time(pes.iter().map(|pe| of(pe) as f64).sum());
    let (_, cores) = crowd(pes);
    format!(
        "{} PEs on processors for {} in all, in line for one for {}: others had {} for {:.0} % of their time or more",
        pes.len(),
        sum(PeRow::on_core_ns),
        sum(|pe| pe.queued_ns().unwrap_or(0)),
        shown_cores(cores as u32),
        100.0 * share
    )
}

/// How often, in words; `None` of what never happened.
fn times(number: u64) -> Option<String> {
    let plural = if number == 1 { "" } else { "s" };
    (number > 0).then(|| format!("{} time{plural}", shown_count(number)))
}

/// That PEs had to leave cores, where they had to.
fn left(switches: u64) -> String {
    times(switches).map_or_else(String::new, |times| format!(": PEs had to leave theirs {times}"))
}

/// Whether a host has fewer cores than want one, and not each PE that has something to do gets one. Where it is not
/// known who stands in line while he does not wait, one works at a time at most.
pub(super) fn is_short_of_cores(profile: &Merged) -> bool {
    crate::report::hosts(profile).iter().any(|host| {
        let pes = known_on(profile, host);
        let (workers, cores) = crowd(&pes);
        let is_known = pes.iter().all(|pe| pe.queued_ns().is_some());
        let get_cores = if is_known { work_for_long(&pes) } else { work_one_at_a_time(&pes) };
        workers > cores && (cores == 1 || has_quota(&pes) || !get_cores)
    })
}

/// PEs of a host whose cores are known.
fn known_on<'a>(profile: &'a Merged, host: &str) -> Vec<&'a PeRow> {
    profile.pes.iter().filter(|pe| pe.system.cores > 0 && &*pe.host == host).collect()
}

fn has_quota(pes: &[&PeRow]) -> bool {
    pes.iter().any(|pe| pe.system.has_quota_of_cores())
}

/// How many want a core of a host, and its cores: threads that run at the same time each want one.
fn crowd(pes: &[&PeRow]) -> (u64, u64) {
    let cores = pes.iter().map(|pe| pe.system.cores).max().unwrap_or(u32::MAX);
    (pes.iter().map(|pe| threads(pe)).sum(), u64::from(cores))
}

/// Of what to start fewer where too many want the cores, or a quota.
fn try_fewer(are_pes: bool, is_quota: bool) -> &'static str {
    match (are_pes, is_quota) {
        (false, _) => THREADS,
        (true, true) => WITH_QUOTA,
        (true, false) => WITHOUT_QUOTA,
    }
}

fn shared(cores: u32, host: &str, is_quota: bool) -> String {
    let cores = shown_cores(cores);
    if is_quota { format!("the time of {cores} on {host}, which is their quota") } else { format!("{cores} on {host}") }
}

fn taken_by(host: &str, quota: Option<u32>) -> String {
    match quota {
        Some(quota) => format!("a quota of {}, or other programs, take the cores of {host}", shown_cores(quota)),
        None => format!("other programs take the cores of {host}"),
    }
}

/// The part of the `longest` run of a PE in which cores were taken, as far as is known: while one is free nobody lacks
/// any, and while one stands in line none is, whoever has them.
fn taken(pes: &[&PeRow], cores: u64, longest: f64) -> f64 {
    let on_core: u64 = pes.iter().map(|pe| pe.on_core_ns()).sum();
    let in_line = pes.iter().map(|pe| pe.queued_ns().unwrap_or(0)).max().unwrap_or(0) as f64;
    if on_core == 0 { 1.0 } else { ((on_core as f64 / cores as f64).max(in_line) / longest).min(1.0) }
}

/// How many threads of a PE ran at a time, in the mean, but for those that do nothing but wait for a variable.
fn threads(pe: &PeRow) -> u64 {
    let main = pe.main_ns().max(1) as f64;
    let all = (pe.threads_ns() as f64 / main).round();
    let waits = pe.time_ns(|class| class == Class::Wait);
    // What lasts longer than others have the core for is no matter of cores.
    let is_long = waits >= PARKED_NS.saturating_mul(pe.calls_of(Class::Wait));
    let parked = if is_long { (waits as f64 / main + 0.1).floor() } else { 0.0 };
    (all - parked).max(1.0) as u64
}

/// What a PE has to do of its own: outside of waits.
fn own_ns(pe: &PeRow) -> u64 {
    pe.threads_ns().saturating_sub(pe.time_ns(Class::waits))
}

fn own_together_ns(pes: &[&PeRow]) -> f64 {
    pes.iter().map(|pe| own_ns(pe) as f64).sum()
}

/// How long a PE did not wait, and was on a core or on none without standing in line for one; of several threads in
/// the mean, since which of them works at a time is not known.
fn busy_ns(pe: &PeRow) -> f64 {
    let off_line = pe.queued_ns().map_or(0, |queued| own_ns(pe).saturating_sub(queued));
    let busy = own_ns(pe).min(pe.on_core_ns()).max(off_line);
    pe.main_ns() as f64 * (busy as f64 / pe.threads_ns().max(1) as f64).min(1.0)
}

/// Whether the PEs work about as long together as the run takes, and longer between two waits than it takes to get a
/// core: so it is where one works at a time, in turn, and the others wait for it.
fn work_one_at_a_time(pes: &[&PeRow]) -> bool {
    let elapsed = pes.iter().map(|pe| pe.main_ns()).max().unwrap_or(0).max(1);
    ONE_AT_A_TIME.contains(&(own_together_ns(pes) / elapsed as f64)) && work_for_long(pes)
}

/// For how long PEs stood in line for a core while they did not wait, where they work for longer between two waits than
/// it takes to get one: for no longer do others wait for cores. `None`: it is not known, they work for less, or stand
/// still for want of a quota, which is no line.
fn in_line_for_work(pes: &[&PeRow]) -> Option<f64> {
    let in_line: Option<u64> = pes.iter().map(|pe| pe.queued_outside_ns()).sum();
    in_line.filter(|_| work_for_long(pes) && !has_quota(pes)).map(|ns| ns as f64 * pes.len() as f64)
}

/// Whether the PEs work for longer between two waits than it takes to get a core.
fn work_for_long(pes: &[&PeRow]) -> bool {
    let waits =
        |pe: &PeRow| Class::ALL.iter().filter(|class| class.waits()).map(|class| pe.calls_of(*class)).sum::<u64>();
    let calls: u64 = pes.iter().map(|pe| waits(pe)).sum();
    own_together_ns(pes) / calls.max(1) as f64 >= HANDED_OVER_NS
}

#[cfg(test)]
mod tests {
    #[test]
    fn once_is_one_time() {
        let said = [0, 1, 2].map(|number| super::times(number).unwrap_or_default());
        assert_eq!(said, ["", "1 time", "2 times"]);
        assert_eq!([super::left(0), super::left(1)], ["", ": PEs had to leave theirs 1 time"]);
    }
}
