//! What is only known while a job runs: who waits for whom.

use std::collections::BTreeMap;

use pellucid_profile::live::{For, PeNow, State, Waits};
use pellucid_profile::op::{self, Class};
use pellucid_profile::segment::{CurrentOp, Phase};

/// Kinds of waiting: their label, and the class of routine.
pub const KINDS: [(&str, Class); 4] =
    [("barrier", Class::Barrier), ("wait", Class::Wait), ("collective", Class::Collective), ("lock", Class::Lock)];
/// From when on PEs that wait for each other are a deadlock: shorter, and it may be two looks at different moments.
const STUCK_NS: u64 = 1_000_000_000;

/// Waiting of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocked {
    /// PEs.
    pub pes: u64,
    /// How long the longest has been waiting, in nanoseconds.
    pub longest_ns: u64,
    /// The PE that most of them wait for.
    pub on: Option<u32>,
}

/// A job at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// By kind of waiting, in the order of [`KINDS`].
    pub blocked: [Blocked; 4],
    /// Rings of PEs that wait for each other.
    pub cycles: u64,
    /// PEs that ended before they had finalized.
    pub lost: u64,
    /// PEs that wait: the number of the kind, how long in nanoseconds, who.
    pub waiting: Vec<(usize, u64, u32)>,
}

impl Now {
    /// Of PEs that were looked at, and the numbers of those that ended before they had finalized.
    pub fn of(pes: &[PeNow], lost: u64) -> Now {
        let mut now = Now { lost, ..Now::default() };
        let inside = |thread: &&CurrentOp| thread.phase == Phase::Inside;
        for pe in pes.iter().filter(|pe| matches!(pe.state, State::Starting | State::Running)) {
            for (kind, blocked) in now.blocked.iter_mut().enumerate() {
                let is_one = |thread: &&CurrentOp| class_of(thread) == Some(KINDS[kind].1) && !asks(thread);
                let waits = pe.threads.iter().filter(inside).filter(is_one).filter_map(|thread| thread.elapsed_ns);
                if let Some(longest) = waits.max() {
                    blocked.pes += 1;
                    blocked.longest_ns = blocked.longest_ns.max(longest);
                    now.waiting.push((kind, longest, pe.pe));
                }
            }
        }
        // A look at many PEs is not one moment: only what has been standing for a while is believed.
        let stuck: Vec<PeNow> = pes.iter().cloned().map(only_stuck).collect();
        let waits = Waits::find(&stuck);
        now.cycles = waits.cycles.len() as u64;
        for (kind, blocked) in now.blocked.iter_mut().enumerate() {
            blocked.on = most_waited_for(&waits, KINDS[kind].1);
        }
        now
    }
}

fn class_of(thread: &CurrentOp) -> Option<Class> {
    op::get(thread.op).map(|row| row.class)
}

/// Whether a routine of a waiting class does not wait.
fn asks(thread: &CurrentOp) -> bool {
    thread.routine.contains("test_lock") || thread.routine.contains("clear_lock")
}

fn only_stuck(mut pe: PeNow) -> PeNow {
    pe.threads.retain(|thread| thread.elapsed_ns.is_some_and(|ns| ns >= STUCK_NS));
    pe
}

fn most_waited_for(waits: &Waits, class: Class) -> Option<u32> {
    let mut by_pe: BTreeMap<u32, u64> = BTreeMap::new();
    for wait in &waits.waits {
        if op::class_of(wait.routine) != Some(class) {
            continue;
        }
        match &wait.what {
            For::Members { missing, .. } => missing.iter().for_each(|pe| *by_pe.entry(*pe).or_default() += 1),
            For::Lock(Some(holder)) => *by_pe.entry(*holder).or_default() += 1,
            For::Reply { peer, is_pending: true, .. }
            | For::Request { peer: Some(peer), .. }
            | For::Handler { peer, .. }
            | For::Part { peer, perhaps: false } => *by_pe.entry(*peer).or_default() += 1,
            For::Lock(None) | For::Store | For::Answer(_) | For::Reply { .. } | For::Part { .. } => {}
            For::Request { peer: None, .. } | For::Message { .. } => {}
        }
    }
    by_pe.into_iter().max_by_key(|(pe, count)| (*count, std::cmp::Reverse(*pe))).map(|(pe, _)| pe)
}
