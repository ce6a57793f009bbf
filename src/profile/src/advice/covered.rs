//! Which time in the library a finding speaks of.

use crate::op::Class;

use super::room::is_transfer;
use super::serial_pe::may_wait;

/// Whether a finding of this rule says something of the time in calls of this class: where it says nothing, there may
/// be something else to look at.
pub(super) fn is_by(rule: &str, class: Class) -> bool {
    match rule {
        "contexts-and-teams" => matches!(class, Class::Context | Class::Team),
        "heap" => class == Class::Memory,
        "queries" => class == Class::Query,
        "locks" => class == Class::Lock,
        "algorithm" => class == Class::Collective,
        "small-puts" | "quiet-often" | "small-gets" | "own-memory" | "strided" | "contended-atomics"
        | "compare-and-swap" | "first-touch" => is_transfer(class),
        "barrier-late" | "barriers-per-byte" | "larger-team" | "oversubscribed" => may_wait(class),
        _ => true,
    }
}
