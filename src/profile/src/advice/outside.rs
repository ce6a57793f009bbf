//! What a PE that others wait for does outside of the library: it computes, stands in line for a core, or is on none.

use crate::merge::{Does, Merged, OutsideParts, PeRow, outside_parts};
use crate::report::shown_time;

/// What most of all its time there is.
pub(super) fn most_of(profile: &Merged, pe: u32) -> Does {
    profile.pes.iter().find(|row| row.pe == pe).map_or(Does::Computes, |row| outside_parts(profile)(row).most())
}

/// What most of so much time is that it is there longer than the others.
pub(super) fn of_excess(profile: &Merged, pe: u32, excess_ns: f64) -> Does {
    let Some(one) = profile.pes.iter().find(|row| row.pe == pe) else { return Does::Computes };
    let others = profile.pes.iter().filter(|row| row.pe != pe);
    let parts = outside_parts(profile);
    parts(one).most_of_excess(&OutsideParts::mean(others.map(&parts)), excess_ns)
}

/// How long it is on a core, where it does something else than to compute, and how long the others are; words after
/// others.
pub(super) fn on_core(profile: &Merged, pe: &PeRow, does: Does) -> String {
    let on_core = format!(", on a core for {} in all", shown_time(pe.on_core_ns() as f64));
    match does {
        Does::Computes => String::new(),
        Does::Beside => format!("{on_core}, with threads that never call the library"),
        Does::InLine | Does::ComputesInLine => {
            let in_line = |pe: &PeRow| pe.queued_outside_ns().unwrap_or(0) as f64;
            let mean = |of: &dyn Fn(&PeRow) -> f64| {
                let others = profile.pes.iter().filter(|other| other.pe != pe.pe);
                shown_time(others.map(of).sum::<f64>() / (profile.pes.len() as f64 - 1.0).max(1.0))
            };
            format!(
                "{on_core} and in line for one for {}, the others for {} and {} in the mean",
                shown_time(in_line(pe)),
                mean(&|other| other.on_core_ns() as f64),
                mean(&in_line)
            )
        }
        Does::OffCore | Does::Mixed => on_core,
    }
}
