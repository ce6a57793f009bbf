//! What changed counts are to the verdict.

use std::collections::BTreeMap;

use pellucid_profile::op::{Class, class_of};

use super::{Change, Effect};

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
            // What went the other way has been replaced by what did not.
            Some(kind) => {
                let (is_more, is_less) =
                    (|(calls, bytes)| calls > 0 || bytes > 0, |(calls, bytes)| calls < 0 || bytes < 0);
                let sum: (i64, i64) = sums.get(&kind).copied().unwrap_or_default();
                match change.delta() {
                    own if is_more(sum) && is_more(own) => Effect::Worse,
                    own if sum != (0, 0) && !is_more(sum) && is_less(own) => Effect::Better,
                    _ => Effect::Same,
                }
            }
        };
    }
}
