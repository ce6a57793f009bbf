//! What an event of the trace is among OTF2's records of one-sided communication.

use pellucid_profile::op::{self, Class, Op};
use pellucid_profile::trace::read::Call;

// Values of OTF2_Events.h.
const ACCUMULATE: u8 = 0;
const INCREMENT: u8 = 1;
const COMPARE_AND_SWAP: u8 = 3;
const SWAP: u8 = 4;
const FETCH_AND_ADD: u8 = 5;
const FETCH_AND_INCREMENT: u8 = 6;
const FETCH_AND_ACCUMULATE: u8 = 7;
/// `OTF2_COLLECTIVE_ROOT_NONE`.
pub(super) const NO_ROOT: u32 = u32::MAX;

/// A transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// To the peer.
    Put,
    /// From the peer.
    Get,
    /// Of one element of the peer: what is done to it, whether a value goes there, whether one comes back.
    Atomic { kind: u8, sends: bool, receives: bool },
}

/// The transfer that a call is, if it is one.
pub(super) fn transfer(op: &Op) -> Option<Transfer> {
    match op.class {
        Class::Put => Some(Transfer::Put),
        Class::Get => Some(Transfer::Get),
        Class::Signal if op::has(op.name(), op::PUTS) => Some(Transfer::Put),
        Class::Signal if !op::has(op.name(), op::STORES) => None,
        Class::Signal | Class::Amo => Some(atomic(op.name())),
        _ => None,
    }
}

/// By the name: `shmem_long_atomic_fetch_add_nbi`, `shmem_int_cswap`, `shmem_signal_set`.
fn atomic(name: &str) -> Transfer {
    let name = name.strip_suffix("_nbi").unwrap_or(name);
    let has = |end: &str| name.ends_with(end);
    let (kind, sends, receives) = if has("_compare_swap") || has("_cswap") {
        (COMPARE_AND_SWAP, true, true)
    } else if has("_swap") {
        (SWAP, true, true)
    } else if has("_fetch_add") || has("_fadd") {
        (FETCH_AND_ADD, true, true)
    } else if has("_fetch_inc") || has("_finc") {
        (FETCH_AND_INCREMENT, false, true)
    } else if has("_fetch") {
        (FETCH_AND_ACCUMULATE, false, true)
    } else if name.contains("_fetch_") {
        (FETCH_AND_ACCUMULATE, true, true)
    } else if has("_inc") {
        (INCREMENT, false, false)
    } else {
        (ACCUMULATE, true, false)
    };
    Transfer::Atomic { kind, sends, receives }
}

/// Whether a call has its operation going on when it returns.
pub(super) fn is_nonblocking(op: u16) -> bool {
    op::traits(op) & op::NONBLOCKING != 0
}

/// The context whose nonblocking operations the end of a call completes. Routines that name none complete those of the
/// default one.
pub(super) fn completes(call: &Call) -> Option<u64> {
    (op::traits(call.op) & op::COMPLETES != 0).then(|| context(call))
}

/// The context of a call; 1 is the default one.
pub(super) fn context(call: &Call) -> u64 {
    call.context.as_ref().map_or(1, |context| context.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transfer_has_its_record() {
        let of = |name: &str| transfer(op::get(op::find(name).unwrap_or_else(|| panic!("{name}"))).unwrap());
        let atomic = |kind, sends, receives| Some(Transfer::Atomic { kind, sends, receives });
        assert_eq!(of("shmem_ctx_long_iput"), Some(Transfer::Put));
        assert_eq!(of("shmem_putmem_signal_nbi"), Some(Transfer::Put));
        assert_eq!(of("shmem_long_g"), Some(Transfer::Get));
        assert_eq!(of("shmem_long_atomic_compare_swap"), atomic(COMPARE_AND_SWAP, true, true));
        assert_eq!(of("shmem_int_swap"), atomic(SWAP, true, true));
        assert_eq!(of("shmem_long_atomic_fetch_add_nbi"), atomic(FETCH_AND_ADD, true, true));
        assert_eq!(of("shmem_long_atomic_fetch_inc"), atomic(FETCH_AND_INCREMENT, false, true));
        assert_eq!(of("shmem_long_atomic_fetch"), atomic(FETCH_AND_ACCUMULATE, false, true));
        assert_eq!(of("shmem_uint64_atomic_fetch_xor"), atomic(FETCH_AND_ACCUMULATE, true, true));
        assert_eq!(of("shmem_long_atomic_inc"), atomic(INCREMENT, false, false));
        assert_eq!(of("shmem_signal_add"), atomic(ACCUMULATE, true, false));
        for name in ["shmem_signal_fetch", "shmem_barrier_all", "shmem_quiet", "shmem_long_wait_until"] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
