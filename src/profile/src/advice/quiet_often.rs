//! A quiet after every put or nonblocking get, or a fence after every put.

use crate::model::Routine;
use crate::op::{self, Class};
use crate::report::shown_count;

use super::{Case, Finding, WORTH, core_ns, costliest, is_quiet, shown_sum, sum};

const MANY: u64 = 1000;
/// Bytes of a put in the mean from which on sending them takes longer than what a quiet for several would save.
const LARGE: u64 = 4096;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    quiets(profile).or_else(|| fences(profile))
}

/// About as many as there are of the others.
fn is_often(calls: u64, puts: u64) -> bool {
    calls >= MANY && puts >= MANY && (0.5..=2.0).contains(&(calls as f64 / puts as f64))
}

/// Calls whose data a quiet waits for, and that several can be made of before it.
fn is_completed(r: &Routine) -> bool {
    let is_one = r.class == Class::Put || is_nbi_get(r);
    is_one && r.traffic_bytes() < LARGE.saturating_mul(r.all_calls())
}

fn is_nbi_get(r: &Routine) -> bool {
    r.class == Class::Get && op::has(&r.name, op::NONBLOCKING)
}

fn quiets(profile: &Case<'_>) -> Option<Finding> {
    let (quiets, ns) = sum(profile, is_quiet);
    let (calls, call_ns) = sum(profile, is_completed);
    let (gets, _) = sum(profile, |r| is_completed(r) && is_nbi_get(r));
    // Where somebody waits for each, there is no batch to be made.
    let (meetings, _) = sum(profile, |r| matches!(r.class, Class::Wait | Class::Barrier | Class::Collective));
    // Over a network what a quiet costs is in the puts too, which cannot be under way together. On one host a put has
    // copied all when it returns.
    let held_up = if profile.network.is_empty() { 0.0 } else { call_ns };
    let share = ((ns + held_up) / core_ns(profile)).min(1.0);
    if !is_often(quiets, calls) || share < WORTH || 2 * meetings >= quiets {
        return None;
    }
    let of = if 2 * gets > calls { "get" } else { "put" };
    Some(Finding {
        what: format!(
            "a quiet after nearly every {of}: {} quiets for {} {of}s",
            shown_count(quiets),
            shown_count(calls)
        ),
        evidence: format!(
            "{} in quiet, {} in {of}s{}",
            shown_sum(profile, is_quiet),
            shown_sum(profile, is_completed),
            costliest(profile, |name| name.contains("quiet"))
        ),
        try_this: if of == "get" {
            "one quiet after a batch of gets, or one get of a block: what is fetched can be read after the quiet"
        } else {
            "one quiet after a batch of puts; shmem_fence where only their order matters; shmem_put_signal to tell the \
             target"
        },
        share,
    })
}

/// Fences that order what nobody looks at in between: where somebody waits for each, another rule speaks.
fn fences(profile: &Case<'_>) -> Option<Finding> {
    let is_fence = |r: &Routine| r.class == Class::Order && r.name.contains("fence");
    let (fences, ns) = sum(profile, is_fence);
    let (puts, _) = sum(profile, |r| r.class == Class::Put);
    let (waits, _) = sum(profile, |r| matches!(r.class, Class::Wait | Class::Test));
    let share = (ns / core_ns(profile)).min(1.0);
    if !is_often(fences, puts) || share < WORTH || waits >= fences / 2 {
        return None;
    }
    Some(Finding {
        what: format!("a fence after nearly every put: {} fences for {} puts", shown_count(fences), shown_count(puts)),
        evidence: format!(
            "{} in fence{}",
            shown_sum(profile, is_fence),
            costliest(profile, |name| name.contains("fence"))
        ),
        try_this: "one fence between what has to be seen first and what tells of it; none before a quiet or a \
                   barrier, which complete all puts anyway",
        share,
    })
}
