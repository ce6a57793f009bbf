//! Collectives by an algorithm that another one beats here, as `oshrun --calibrate -n N` has measured.

use crate::calibration::{AlgorithmTimes, split_name};
use crate::merge::{AlgorithmKey, Merged};
use crate::model::Routine;
use crate::report::{shown_bytes, shown_count, shown_time};

use super::{Case, Finding, costliest, run_ns};

/// Share of the run from which on it is worth a word.
const DOMINATES: f64 = 0.05;
/// So much longer than the fastest, beside what either scatters.
const LONGER: f64 = 1.25;
/// Part of the choices of a routine that have to fall on one algorithm: else nobody knows which sizes took which.
const MOST: f64 = 0.9;

/// What a routine could gain.
struct Gain<'p> {
    routine: &'p Routine,
    algorithm: &'p str,
    faster: &'p str,
    /// A call, as measured: by its algorithm, by the faster one.
    ns: (f64, f64),
    /// Over all PEs.
    gained_ns: f64,
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let hosts: Vec<&str> = profile.pes.iter().map(|pe| &*pe.host).collect();
    let times = profile.calibrations.algorithms(&hosts, profile.pes.len() as u32)?;
    let mut gains: Vec<Gain<'_>> = profile.routines.iter().flat_map(|routine| gains(profile, times, routine)).collect();
    gains.sort_by(|a, b| b.gained_ns.total_cmp(&a.gained_ns));
    let share = gains.iter().map(|gain| gain.gained_ns).sum::<f64>() / run_ns(profile);
    let most = gains.first().filter(|_| share >= DOMINATES)?;
    let (name, calls) = (&most.routine.name, most.routine.all_calls());
    let bytes = most.routine.all_bytes().checked_div(calls).unwrap_or(0);
    Some(Finding {
        what: format!("{name} takes the algorithm {}, which {} beats here", most.algorithm, most.faster),
        evidence: format!(
            "{} calls of {} over all PEs, {} together{}; measured at this size by oshrun --calibrate -n {}: {} and {}",
            shown_count(calls),
            shown_bytes(bytes),
            shown_time(most.routine.spent_ns() as f64),
            costliest(profile, |other| other == name),
            profile.pes.len(),
            shown_time(most.ns.0),
            shown_time(most.ns.1),
        ),
        try_this: "set SHMEM_COLLECTIVES to the faster one (docs/environment.md), or where it forces the slower one, \
                   leave the choice to the library",
        share: share.min(1.0),
    })
}

/// By each collective that the routine is made of: the algorithm that nearly all of its calls take, where another is
/// faster at their mean size.
fn gains<'p>(profile: &'p Merged, times: &'p AlgorithmTimes, routine: &'p Routine) -> Vec<Gain<'p>> {
    let calls = routine.all_calls();
    let bytes = routine.all_bytes() as f64 / calls.max(1) as f64;
    let taken = || profile.algorithms.iter().filter(|((of, _), _)| *of == routine.name);
    let gain = |((_, name), count): &'p (AlgorithmKey, u64)| {
        let collective = split_name(name).0;
        let same: u64 = taken().filter(|((_, other), _)| split_name(other).0 == collective).map(|(_, n)| n).sum();
        // The meeting at the end of a collective is a barrier of its own size.
        let is_whole = *count >= calls && (collective != "barrier" || bytes == 0.0);
        if !is_whole || (*count as f64) < MOST * same as f64 {
            return None;
        }
        let ((ns, spread), (faster, best, other)) = (times.ns(name, bytes)?, times.fastest(name, bytes)?);
        let longer = LONGER + spread.max(other);
        let gained_ns = (calls as f64 * (ns - best)).min(routine.spent_ns() as f64);
        (ns > longer * best).then_some(Gain { routine, algorithm: name, faster, ns: (ns, best), gained_ns })
    };
    taken().filter_map(gain).collect()
}
