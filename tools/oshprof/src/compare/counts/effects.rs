//! What changed counts are to the verdict.

use std::collections::BTreeMap;

use pellucid_profile::op::Class;

use super::{Change, Effect};
use crate::compare::run::class_of;

/// Kinds of routines whose calls stand for each other.
fn kind(op: &str) -> Option<u8> {
    match class_of(op) {
        Some(Class::Setup | Class::Query | Class::Control | Class::Test) => None,
        Some(Class::Signal) => Some(Class::Put as u8),
        Some(class) => Some(class as u8),
        // Pairs of PEs, and calls that found no room.
        None => Some(u8::MAX),
    }
}

/// By kind of routine: more calls or more bytes in all are worse, whichever routine of the kind they are of.
pub fn set_effects(changed: &mut [Change]) {
    let mut sums: BTreeMap<u8, (i64, i64)> = BTreeMap::new();
    let is_counted = |change: &&mut Change| change.detail.is_none() && change.accepted.is_none();
    for change in changed.iter_mut().filter(is_counted) {
        let (calls, bytes) = change.delta();
        if let Some(kind) = kind(&change.op) {
            let sum = sums.entry(kind).or_default();
            *sum = (sum.0 + calls, sum.1 + bytes);
        }
    }
    for change in changed.iter_mut() {
        change.effect = match kind(&change.op) {
            None => Effect::Local,
            Some(_) if change.detail.as_deref() == Some("calls that failed") => {
                if change.delta().0 > 0 {
                    Effect::Worse
                } else {
                    Effect::Better
                }
            }
            Some(_) if change.detail.is_some() => Effect::Same,
            Some(kind) => match sums.get(&kind).copied().unwrap_or_default() {
                (0, 0) => Effect::Same,
                (calls, bytes) if calls > 0 || bytes > 0 => Effect::Worse,
                _ => Effect::Better,
            },
        };
    }
}
