//! Which update released which wait.
//!
//! A wait on one variable is matched to the puts with signal, signals, atomics and `p` of the same symmetric object on
//! the waiting PE whose time overlaps that of the wait. Where it is one, that one released it. Where they are several
//! and the last began after the others had ended, it was that one (or the wait would have ended before it began).
//! Otherwise they ran at the same time: nothing is claimed.

use std::collections::HashMap;

use pellucid_profile::file::ReadError;
use pellucid_profile::trace::read::{Trace, TraceFileHeader, What};

use super::rows;

/// An event: number of its file, number of the event in it.
pub(super) type At = (usize, u64);

/// Symmetric object on a PE.
type Object = (u32, u8, u64);

#[derive(Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
    at: At,
}

/// Arrows between events.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// Arrows (numbered from 1) that begin at an event: it released several waits where several threads waited.
    pub(super) from: HashMap<At, Vec<u64>>,
    /// The arrow that ends at an event, and where it comes from.
    pub(super) to: HashMap<At, (u64, At)>,
}

impl Flows {
    /// Finds them: reads the trace twice.
    pub(super) fn find(trace: &Trace, problems: &mut Vec<ReadError>) -> Flows {
        let mut waits: HashMap<Object, (Vec<Span>, Vec<Span>)> = HashMap::new();
        visit(trace, problems, |facts, call, span| {
            if rows::is_wait_for_one(rows::routine(call))
                && let Some((memory, offset)) = facts.symmetric(call.addr)
            {
                waits.entry((facts.pe, memory, offset)).or_default().0.push(span);
            }
        });
        if !waits.is_empty() {
            visit(trace, problems, |facts, call, span| {
                if rows::is_update(rows::routine(call))
                    && let (Some(peer), Some((memory, offset))) = (call.peer, facts.symmetric(call.addr))
                    && let Some((_, updates)) = waits.get_mut(&(peer, memory, offset))
                {
                    updates.push(span);
                }
            });
        }
        let mut flows = Flows::default();
        let mut objects: Vec<_> = waits.into_iter().collect();
        objects.sort_by_key(|(object, _)| *object);
        for (_, (waits, mut updates)) in objects {
            updates.sort_by_key(|span| (span.start, span.at));
            for wait in waits {
                if let Some(update) = release(&wait, &updates) {
                    let number = flows.to.len() as u64 + 1;
                    flows.from.entry(update.at).or_default().push(number);
                    flows.to.insert(wait.at, (number, update.at));
                }
            }
        }
        flows
    }
}

fn visit(
    trace: &Trace,
    problems: &mut Vec<ReadError>,
    mut each: impl FnMut(&TraceFileHeader, &pellucid_profile::trace::read::Call, Span),
) {
    for (number, file) in trace.files.iter().enumerate() {
        let mut event_number = 0;
        file.for_each(problems, |event| {
            let at = (number, event_number);
            event_number += 1;
            if let What::Call(call) = &event.what {
                each(&file.facts, call, Span { start: event.start_ns, end: event.end_ns, at });
            }
        });
    }
}

/// The update that released a wait; `updates` are sorted by begin.
fn release(wait: &Span, updates: &[Span]) -> Option<Span> {
    let begun = &updates[..updates.partition_point(|update| update.start < wait.end)];
    let last = begun.last().filter(|last| last.end > wait.start)?;
    // One that takes longest may have begun long before the others, so all are looked at, but hardly ever more than a
    // few.
    let others = begun[..begun.len() - 1].iter().rev().take(1024);
    let clear = others.clone().all(|other| other.end <= last.start);
    clear.then_some(*last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, end, at: (0, start) }
    }

    fn released(wait: (u64, u64), updates: &[(u64, u64)]) -> Option<u64> {
        let updates: Vec<Span> = updates.iter().map(|&(start, end)| span(start, end)).collect();
        release(&span(wait.0, wait.1), &updates).map(|update| update.start)
    }

    #[test]
    fn one_update_during_the_wait_released_it() {
        assert_eq!(released((10, 50), &[(40, 45)]), Some(40));
        assert_eq!(released((10, 50), &[(40, 60)]), Some(40), "the put returns after the wait");
        assert_eq!(released((10, 50), &[(2, 3), (20, 25), (40, 45), (70, 80)]), Some(40));
    }

    #[test]
    fn what_is_not_clear_is_not_claimed() {
        assert_eq!(released((10, 50), &[]), None);
        assert_eq!(released((10, 50), &[(2, 5)]), None, "the condition held before: nothing was waited for");
        assert_eq!(released((10, 50), &[(30, 45), (40, 44)]), None, "two at the same time");
        assert_eq!(released((10, 50), &[(60, 70)]), None);
    }
}
