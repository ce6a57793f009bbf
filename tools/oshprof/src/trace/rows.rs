//! What every format says of a call.

use pellucid_profile::op::{self, Class, Op};
use pellucid_profile::tables::{Lock, TeamKey};
use pellucid_profile::trace::read::{Call, Event, TraceFileHeader, What};

/// Above this, numbers of teams are those of active sets.
const ACTIVE_SET: u32 = 1 << 30;

/// The row of a call's routine.
pub(super) fn routine(call: &Call) -> &'static Op {
    known(call.op)
}

/// The row of an operation.
pub(super) fn known(op: u16) -> &'static Op {
    op::get(op).expect("the reader checks routines")
}

/// What an event is called.
pub(super) fn name(event: &Event) -> &str {
    match &event.what {
        What::Call(call) | What::Unreturned(call) => routine(call).name(),
        What::Calls(calls) => known(calls.op).name(),
        What::RegionBegin(name) | What::RegionEnd(name) | What::Marker(name, _) => name,
    }
}

/// Its category.
pub(super) fn category(event: &Event) -> &'static str {
    match &event.what {
        What::Call(call) | What::Unreturned(call) => routine(call).class.name(),
        What::Calls(calls) => known(calls.op).class.name(),
        What::RegionBegin(_) | What::RegionEnd(_) => "region",
        What::Marker(..) => "marker",
    }
}

/// The context of a call: its handle, as the profile has it; `explicit` where the routine takes one that is not known.
pub(super) fn context(call: &Call) -> String {
    match &call.context {
        Some(context) if context.number == 1 => "default".to_owned(),
        Some(context) => format!("{:#x}", context.number),
        None if op::traits(call.op) & op::ON_CONTEXT != 0 => "explicit".to_owned(),
        None => "default".to_owned(),
    }
}

/// The team of a collective, or of the context that a call names.
pub(super) fn team(call: &Call, facts: &TraceFileHeader) -> Option<String> {
    let of_context = || call.context.as_ref().map(|context| context.team.clone()).filter(|team| !team.is_empty());
    call.team.map(|team| team_words(team, facts.npes)).or_else(of_context)
}

/// A team, for people: as contexts name theirs.
pub(super) fn team_words((id, start, stride, size): TeamKey, npes: u32) -> String {
    let name = match id {
        0 if size as u32 == npes => return format!("world: {npes} PEs"),
        1 => "shared".to_owned(),
        ACTIVE_SET.. => "active set".to_owned(),
        _ => format!("team {id}"),
    };
    let every = if stride == 1 { String::new() } else { format!(", every {stride}") };
    format!("{name}: {size} PEs from PE {start} on{every}")
}

/// Whether a call of this routine waits for one variable.
pub(super) fn is_wait_for_one(op: &Op) -> bool {
    op.class == Class::Wait && (op.name().ends_with("_wait_until") || op.name().ends_with("_wait"))
}

/// Whether a call of this routine waits for something that other PEs do: a variable, or a lock.
pub(super) fn is_wait(op: &Op) -> bool {
    op.class == Class::Wait || Lock::is_waited_for_in(op.name())
}

/// Whether a call of this routine changes one word of its peer that others may wait for.
pub(super) fn is_update(op: &Op) -> bool {
    match op.class {
        Class::Signal | Class::Amo => op::has(op.name(), op::STORES),
        Class::Put => op::has(op.name(), op::ONE_ELEMENT),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pellucid_profile::trace::read::EventContext;

    #[test]
    fn updates_and_waits() {
        let of = |name: &str| op::get(op::find(name).unwrap_or_else(|| panic!("{name}"))).unwrap();
        for name in [
            "shmem_putmem_signal",
            "shmem_ctx_long_put_signal_nbi",
            "shmem_signal_set",
            "shmem_long_atomic_add",
            "shmem_long_atomic_fetch_inc",
            "shmem_int_p",
        ] {
            assert!(is_update(of(name)), "{name}");
        }
        for name in ["shmem_signal_fetch", "shmem_long_atomic_fetch", "shmem_long_put", "shmem_long_atomic_fetch_nbi"] {
            assert!(!is_update(of(name)), "{name}");
        }
        assert!(is_wait_for_one(of("shmem_signal_wait_until")) && is_wait_for_one(of("shmem_long_wait_until")));
        assert!(is_wait_for_one(of("shmem_int_wait")) && !is_wait_for_one(of("shmem_long_wait_until_all")));
        assert!(is_wait(of("shmem_long_wait_until_all")) && is_wait(of("shmem_set_lock")));
        assert!(!is_wait(of("shmem_clear_lock")) && !is_wait(of("shmem_test_lock")));
        let call = |name: &str, context| Call { op: op::find(name).unwrap(), context, ..Call::default() };
        let known = |number, team: &str| Some(std::sync::Arc::new(EventContext { number, team: team.into() }));
        assert_eq!(context(&call("shmem_ctx_long_p", None)), "explicit");
        assert_eq!(context(&call("shmem_long_p", None)), "default");
        assert_eq!(context(&call("shmem_ctx_long_p", known(1, ""))), "default");
        let call = call("shmem_ctx_long_p", known(0x20, "team 3"));
        assert_eq!(context(&call), "0x20");
        assert_eq!(team_words((0, 0, 1, 4), 4), "world: 4 PEs");
        assert_eq!(team_words((3, 1, 2, 2), 4), "team 3: 2 PEs from PE 1 on, every 2");
        assert_eq!(team_words((1 << 30, 1, 1, 3), 4), "active set: 3 PEs from PE 1 on");
    }
}
