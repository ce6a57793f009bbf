//! Words for what a PE did outside of the library, where it comes late by that.

use super::units::time;
use crate::merge::Does;

/// What it did for so long. `does`: what most of all its time there was.
pub(crate) fn did_for(does: Does, ns: f64) -> String {
    let how = match does {
        Does::Computes | Does::ComputesInLine => return format!("worked for {}", time(ns)),
        Does::InLine => ", in line for a core for most of its time there",
        Does::OffCore => ", on no core for most of its time there",
        Does::Beside | Does::Mixed => "",
    };
    format!("was outside of the library for {}{how}", time(ns))
}

/// What to try where a PE comes late by something else than computing; `None` where it computes.
pub(crate) fn try_otherwise(does: Does) -> Option<&'static str> {
    match does {
        Does::Computes | Does::ComputesInLine | Does::Mixed => None,
        Does::InLine => Some(
            "it stands in line for a core there: look at what else runs on it; as many PEs and threads as there are \
             cores; oshrun --bind core keeps PEs apart",
        ),
        Does::OffCore => Some(
            "it is on no core there: what it reads or waits for can be read by each PE, or while the others have \
             something to do",
        ),
        Does::Beside => Some(
            "its threads that call the library are on no core there: they read something, or wait, as for a thread of \
             the PE that computes or stands in line for a core: share out what that one does, or see to it that it has \
             a core",
        ),
    }
}
