//! What every format says of a call.

use pellucid_profile::op::{self, Class, Op};
use pellucid_profile::trace::read::{Call, Event, What};

/// The row of a call's routine.
pub(super) fn routine(call: &Call) -> &'static Op {
    op::get(call.op).expect("the reader checks routines")
}

/// What an event is called.
pub(super) fn name(event: &Event) -> &str {
    match &event.what {
        What::Call(call) => routine(call).name,
        What::RegionBegin(name) | What::RegionEnd(name) | What::Marker(name, _) => name,
    }
}

/// Its category.
pub(super) fn category(event: &Event) -> &'static str {
    match &event.what {
        What::Call(call) => routine(call).class.name(),
        What::RegionBegin(_) | What::RegionEnd(_) => "region",
        What::Marker(..) => "marker",
    }
}

/// The context of a call: which one is not in the trace, only whether the program named one.
pub(super) fn context(op: &Op) -> &'static str {
    if op.name.starts_with("shmem_ctx_") { "explicit" } else { "default" }
}

/// Whether a call of this routine may block for other PEs.
pub(super) fn is_wait_for_one(op: &Op) -> bool {
    op.class == Class::Wait && op.name.ends_with("wait_until")
}

/// Whether a call of this routine changes one word of its peer that others may wait for.
pub(super) fn is_update(op: &Op) -> bool {
    match op.class {
        Class::Signal => !op.name.ends_with("signal_fetch"),
        Class::Amo => !op.name.ends_with("_fetch") && !op.name.ends_with("_fetch_nbi"),
        Class::Put => op.name.ends_with("_p"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(!is_wait_for_one(of("shmem_long_wait_until_all")));
        assert_eq!(context(of("shmem_ctx_long_p")), "explicit");
    }
}
