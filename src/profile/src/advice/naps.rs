//! PEs that sleep between one test and the next: they wait by asking, outside of the library.

use crate::merge::{Does, Merged, OutsideParts, PeRow, is_ask, outside_parts};
use crate::model::Routine;
use crate::op::Class;

use super::serial_pe::may_wait;

/// Asks of a PE from which on it waits so.
const MANY: u64 = 30;
/// Share of a PE's calls that ask, beside those in which it meets others.
const MOST: f64 = 0.9;
/// Asks for each call that can have changed what is asked for, from which on PEs ask in vain: every other time where
/// each sleeps once for what it waits for.
const IN_VAIN: f64 = 1.5;
/// Share of the time outside of the library in which such a PE is on no core.
const ASLEEP: f64 = 0.5;

fn asks(pe: &PeRow) -> u64 {
    pe.asks.saturating_add(pe.one_word_calls)
}

fn is_asleep(pe: &PeRow, parts: &OutsideParts) -> bool {
    let meets = |class: &Class| may_wait(*class) && !class.is_for_others();
    let meetings = Class::ALL.into_iter().filter(meets).map(|class| pe.calls_of(class)).fold(0, u64::saturating_add);
    let is_asking = asks(pe) >= MANY && asks(pe) as f64 >= MOST * pe.all_calls().saturating_sub(meetings) as f64;
    is_asking && parts.most() == Does::OffCore && parts.off_core_ns > ASLEEP * pe.outside_ns() as f64
}

/// Whether a call changes what others may ask for.
fn changes(r: &Routine) -> bool {
    matches!(r.class, Class::Put | Class::Signal | Class::Amo) && !is_ask(r)
}

/// How long each PE sleeps between asks, in nanoseconds.
pub(crate) fn naps_ns(profile: &Merged) -> impl Fn(&PeRow) -> u64 + use<> {
    let parts = outside_parts(profile);
    let asleep = move |pe: &PeRow| Some(parts(pe)).filter(|parts| is_asleep(pe, parts));
    let asked = profile.pes.iter().filter(|pe| asleep(pe).is_some()).map(asks).fold(0, u64::saturating_add);
    let changed = profile.routines.iter().filter(|r| changes(r)).map(Routine::all_calls).fold(0, u64::saturating_add);
    let in_vain = asked as f64 >= IN_VAIN * changed as f64;
    move |pe| asleep(pe).filter(|_| in_vain).map_or(0, |parts| parts.off_core_ns as u64)
}
