//! 9.7.2 Nonblocking atomic memory operations: only the fetching ones exist.

use super::Forms::WithCtx;
use super::Generic::ByType;
use super::Timing::Sampled;
use super::Trait::{Nonblocking, ReadsOnly, Swaps};
use super::{Group, ROW, Row};
use crate::types::{AMO, AMO_BITWISE, AMO_EXTENDED};

const FETCHING: Row = Row {
    params: "TYPE *fetch, TYPE *dest, TYPE value, int pe",
    types: AMO,
    forms: WithCtx,
    generic: ByType,
    class: "Amo",
    traits: &[Nonblocking],
    timing: Sampled,
    peer: "PEER",
    addr: "dest.addr()",
    bytes: "SIZE",
    ..ROW
};
const BITWISE: Row = Row { types: AMO_BITWISE, ..FETCHING };

pub const GROUP: Group = Group {
    name: "amo_nbi",
    title: "Nonblocking atomic memory operations (9.7.2)",
    uses: &["pellucid_core::context::amo"],
    rows: &[
        Row {
            name: "shmem_TYPENAME_atomic_fetch_nbi",
            params: "TYPE *fetch, const TYPE *source, int pe",
            types: AMO_EXTENDED,
            section: "9.7.2.1",
            traits: &[Nonblocking, ReadsOnly],
            addr: "source.addr()",
            call: "amo::fetch_nbi::<U>(m, CTX, fetch.cast(), source.cast(), pe)",
            ..FETCHING
        },
        Row {
            name: "shmem_TYPENAME_atomic_compare_swap_nbi",
            params: "TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe",
            section: "9.7.2.2",
            traits: &[Nonblocking, Swaps],
            call: "amo::compare_swap_nbi::<U>(m, CTX, fetch.cast(), dest.cast(), word(cond), word(value), pe)",
            ..FETCHING
        },
        Row {
            name: "shmem_TYPENAME_atomic_swap_nbi",
            types: AMO_EXTENDED,
            section: "9.7.2.3",
            traits: &[Nonblocking, Swaps],
            call: "amo::swap_nbi::<U>(m, CTX, fetch.cast(), dest.cast(), word(value), pe)",
            ..FETCHING
        },
        Row {
            name: "shmem_TYPENAME_atomic_fetch_inc_nbi",
            params: "TYPE *fetch, TYPE *dest, int pe",
            section: "9.7.2.4",
            call: "amo::fetch_inc_nbi::<U>(m, CTX, fetch.cast(), dest.cast(), pe)",
            ..FETCHING
        },
        Row {
            name: "shmem_TYPENAME_atomic_fetch_add_nbi",
            section: "9.7.2.5",
            call: "amo::fetch_add_nbi::<U>(m, CTX, fetch.cast(), dest.cast(), word(value), pe)",
            ..FETCHING
        },
        Row {
            name: "shmem_TYPENAME_atomic_fetch_and_nbi",
            section: "9.7.2.6",
            call: "amo::fetch_and_nbi::<U>(m, CTX, fetch.cast(), dest.cast(), word(value), pe)",
            ..BITWISE
        },
        Row {
            name: "shmem_TYPENAME_atomic_fetch_or_nbi",
            section: "9.7.2.7",
            call: "amo::fetch_or_nbi::<U>(m, CTX, fetch.cast(), dest.cast(), word(value), pe)",
            ..BITWISE
        },
        Row {
            name: "shmem_TYPENAME_atomic_fetch_xor_nbi",
            section: "9.7.2.8",
            call: "amo::fetch_xor_nbi::<U>(m, CTX, fetch.cast(), dest.cast(), word(value), pe)",
            ..BITWISE
        },
    ],
};
