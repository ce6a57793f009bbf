//! What changed counts are to the verdict.

use std::collections::BTreeMap;

use pellucid_profile::op::{Class, class_of};

use super::{Change, Effect};

/// Kinds of routines whose calls stand for each other.
pub(super) fn kind(op: &str) -> Option<u8> {
    match class_of(op) {
        Some(Class::Setup | Class::Query | Class::Control | Class::Test) => None,
        Some(Class::Signal) => Some(Class::Put as u8),
        Some(class) => Some(class as u8),
        // Pairs of PEs, and calls that found no room.
        None => Some(u8::MAX),
    }
}

/// Calls and bytes that were added, at least and at most: of what varies from run to run nobody knows them.
#[derive(Clone, Copy, Default)]
struct Added {
    least: (i64, i64),
    most: (i64, i64),
}

impl Added {
    fn add(&mut self, change: &Change) {
        let (least, most) = change.bounds();
        self.least = (self.least.0 + least.0, self.least.1 + least.1);
        self.most = (self.most.0 + most.0, self.most.1 + most.1);
    }

    /// More calls or more bytes for sure.
    fn is_more(&self) -> bool {
        self.least.0 > 0 || self.least.1 > 0
    }

    /// Fewer calls or fewer bytes for sure.
    fn is_less(&self) -> bool {
        self.most.0 < 0 || self.most.1 < 0
    }
}

/// By kind of routine: more calls or more bytes in all are worse, whichever routine of the kind they are of, and so are
/// more of them to other hosts.
pub fn set_effects(changed: &mut [Change]) {
    let mut sums: BTreeMap<(u8, bool), Added> = BTreeMap::new();
    let is_counted = |change: &&mut Change| (change.detail.is_none() || change.is_remote) && change.accepted.is_none();
    for change in changed.iter_mut().filter(is_counted) {
        if let Some(kind) = kind(&change.op) {
            sums.entry((kind, change.is_remote)).or_default().add(change);
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
            Some(_) if change.detail.is_some() && !change.is_remote => Effect::Same,
            // What went the other way has been replaced by what did not.
            Some(kind) => {
                let sum = sums.get(&(kind, change.is_remote)).copied().unwrap_or_default();
                let mut own = Added::default();
                own.add(change);
                match own {
                    own if sum.is_more() && own.is_more() => Effect::Worse,
                    own if sum.is_less() && !sum.is_more() && own.is_less() => Effect::Better,
                    _ => Effect::Same,
                }
            }
        };
    }
}
