//! 9.8 Signaling operations.

use super::Forms::WithCtx;
use super::Generic::{ByCount, ByType};
use super::Timing::{Sampled, Sized};
use super::Trait::{Nonblocking, ReadsOnly};
use super::{Group, ROW, Row};
use crate::types::{MEM, RMA, SIZES};

const PUT_SIGNAL: Row = Row {
    params: "TYPE *dest, const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, \
             int sig_op, int pe",
    forms: WithCtx,
    section: "9.8.3",
    class: "Signal",
    timing: Sized,
    peer: "PEER",
    // The object that others wait for; a trace matches the wait to it.
    addr: "sig_addr.addr()",
    bytes: "nelems.wrapping_mul(ELEM)",
    call: "signaling::put_signal(m, CTX, dest.cast(), source.cast(), bytes(ELEM, nelems), sig_addr, signal, \
           sig_op, pe)",
    ..ROW
};
const PUT_SIGNAL_NBI: Row = Row {
    section: "9.8.4",
    traits: &[Nonblocking],
    call: "signaling::put_signal_nbi(m, CTX, dest.cast(), source.cast(), bytes(ELEM, nelems), sig_addr, \
           signal, sig_op, pe)",
    ..PUT_SIGNAL
};
const SIGNAL: Row = Row {
    params: "uint64_t *sig_addr, uint64_t signal, int pe",
    forms: WithCtx,
    class: "Signal",
    timing: Sampled,
    peer: "PEER",
    addr: "sig_addr.addr()",
    bytes: "8",
    ..ROW
};

pub const GROUP: Group = Group {
    name: "signal",
    title: "Signaling operations (9.8)",
    // `signal` is a parameter name of these routines.
    uses: &["pellucid_core::context::signal as signaling"],
    rows: &[
        Row { name: "shmem_TYPENAME_put_signal", types: RMA, generic: ByType, ..PUT_SIGNAL },
        Row { name: "shmem_putSIZE_signal", types: SIZES, ..PUT_SIGNAL },
        Row { name: "shmem_putmem_signal", types: MEM, ..PUT_SIGNAL },
        Row { name: "shmem_TYPENAME_put_signal_nbi", types: RMA, generic: ByType, ..PUT_SIGNAL_NBI },
        Row { name: "shmem_putSIZE_signal_nbi", types: SIZES, ..PUT_SIGNAL_NBI },
        Row { name: "shmem_putmem_signal_nbi", types: MEM, ..PUT_SIGNAL_NBI },
        Row {
            name: "shmem_signal_add",
            section: "9.8.5",
            generic: ByCount("shmem_signal_add"),
            call: "signaling::add(m, CTX, sig_addr, signal, pe)",
            ..SIGNAL
        },
        Row {
            name: "shmem_signal_set",
            section: "9.8.7",
            generic: ByCount("shmem_signal_set"),
            call: "signaling::set(m, CTX, sig_addr, signal, pe)",
            ..SIGNAL
        },
        Row {
            name: "shmem_signal_fetch",
            ret: "uint64_t",
            params: "const uint64_t *sig_addr",
            section: "9.8.6",
            class: "Signal",
            traits: &[ReadsOnly],
            timing: Sampled,
            addr: "sig_addr.addr()",
            call: "signaling::fetch(m, sig_addr)",
            ..ROW
        },
    ],
};
