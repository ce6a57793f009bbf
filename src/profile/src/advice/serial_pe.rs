//! One PE that works while the others wait for it.

use crate::merge::{Merged, PeRow};
use crate::op::Class;
use crate::report::{Symbols, line, shown_time};

use super::{Finding, run_ns};

/// How much more than the mean of the others the one has to work.
const MORE: f64 = 1.5;
/// Share of the run that has to be lost.
const LOST: f64 = 0.15;
/// What it has to work more than the others, in nanoseconds: below, it is as likely the machine's noise.
const LEAST_NS: f64 = 20e6;

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    if profile.pes.len() < 2 {
        return None;
    }
    let work = |pe: &PeRow| pe.main_ns().saturating_sub(pe.library_ns());
    let one = profile.pes.iter().max_by_key(|pe| (work(pe), std::cmp::Reverse(pe.pe)))?;
    let others = || profile.pes.iter().filter(|pe| pe.pe != one.pe);
    let mean = others().map(|pe| work(pe) as f64).sum::<f64>() / (profile.pes.len() - 1) as f64;
    let excess = work(one) as f64 - mean;
    let waiting: f64 = others().map(|pe| pe.time_ns(Class::waits) as f64).sum();
    // Spread evenly, all PEs would end earlier by what is left of the excess.
    let saved = excess * (profile.pes.len() - 1) as f64;
    let share = saved.min(waiting) / run_ns(profile);
    if (work(one) as f64) < MORE * mean || excess < LEAST_NS || share < LOST || was_without_core(one, excess) {
        return None;
    }
    let most = profile.phases.iter().filter(|(_, sum)| sum.most.1 == one.pe && sum.pes > 0);
    let most = most.max_by_key(|(_, sum)| sum.most.0.saturating_sub(sum.work_ns / sum.pes));
    let place = |of: Option<&crate::merge::Place>, otherwise: &str| {
        of.map_or_else(|| otherwise.to_owned(), |place| line(place.file(), symbols))
    };
    let between = most.map_or_else(String::new, |((from, to), _)| {
        format!(", most of it between {} and {}", place(from.as_ref(), "the start"), place(to.as_ref(), "the end"))
    });
    Some(Finding {
        what: format!("PE {} works alone for {} while others wait", one.pe, shown_time(excess)),
        evidence: format!(
            "{} outside of the library, {} in the mean of the others, who wait {} together{between}",
            shown_time(work(one) as f64),
            shown_time(mean),
            shown_time(waiting)
        ),
        try_this: "give each PE a part of that work; or let the others go on with what does not need it",
        share,
    })
}

/// Whether the PE was without a processor for a good part of what it seems to have worked more.
fn was_without_core(pe: &PeRow, excess_ns: f64) -> bool {
    let on_core = pe.system.usage.user_ns + pe.system.usage.system_ns;
    on_core > 0 && pe.main_ns().saturating_sub(on_core) as f64 > excess_ns / 2.0
}
