//! 9.7.1 Blocking atomic memory operations.

use super::Forms::{One, WithCtx};
use super::Generic::ByType;
use super::Timing::Sampled;
use super::Trait::{ReadsOnly, Swaps};
use super::{Group, ROW, Row};
use crate::types::{AMO, AMO_BITWISE, AMO_EXTENDED, AMO_EXTENDED_OLD, AMO_OLD};

const UPDATE: Row = Row {
    params: "TYPE *dest, TYPE value, int pe",
    types: AMO,
    forms: WithCtx,
    generic: ByType,
    class: "Amo",
    timing: Sampled,
    peer: "PEER",
    addr: "dest.addr()",
    bytes: "SIZE",
    ..ROW
};
const FETCHING: Row = Row { ret: "TYPE", ..UPDATE };
const BITWISE: Row = Row { types: AMO_BITWISE, ..UPDATE };
const FETCHING_BITWISE: Row = Row { types: AMO_BITWISE, ..FETCHING };

const FETCH: Row = Row {
    params: "const TYPE *source, int pe",
    types: AMO_EXTENDED,
    section: "9.7.1.1",
    traits: &[ReadsOnly],
    addr: "source.addr()",
    call: "amo::fetch::<U>(m, CTX, source.cast(), pe).map(word)",
    ..FETCHING
};
const SET: Row = Row {
    types: AMO_EXTENDED,
    section: "9.7.1.2",
    call: "amo::set::<U>(m, CTX, dest.cast(), word(value), pe)",
    ..UPDATE
};
const COMPARE_SWAP: Row = Row {
    params: "TYPE *dest, TYPE cond, TYPE value, int pe",
    section: "9.7.1.3",
    traits: &[Swaps],
    call: "amo::compare_swap::<U>(m, CTX, dest.cast(), word(cond), word(value), pe).map(word)",
    ..FETCHING
};
const SWAP: Row = Row {
    types: AMO_EXTENDED,
    section: "9.7.1.4",
    traits: &[Swaps],
    call: "amo::swap::<U>(m, CTX, dest.cast(), word(value), pe).map(word)",
    ..FETCHING
};
const FETCH_INC: Row = Row {
    params: "TYPE *dest, int pe",
    section: "9.7.1.5",
    call: "amo::fetch_inc::<U>(m, CTX, dest.cast(), pe).map(word)",
    ..FETCHING
};
const INC: Row =
    Row { params: "TYPE *dest, int pe", section: "9.7.1.6", call: "amo::inc::<U>(m, CTX, dest.cast(), pe)", ..UPDATE };
const FETCH_ADD: Row =
    Row { section: "9.7.1.7", call: "amo::fetch_add::<U>(m, CTX, dest.cast(), word(value), pe).map(word)", ..FETCHING };
const ADD: Row = Row { section: "9.7.1.8", call: "amo::add::<U>(m, CTX, dest.cast(), word(value), pe)", ..UPDATE };
const FETCH_AND: Row = Row {
    section: "9.7.1.9",
    call: "amo::fetch_and::<U>(m, CTX, dest.cast(), word(value), pe).map(word)",
    ..FETCHING_BITWISE
};
const AND: Row = Row { section: "9.7.1.10", call: "amo::and::<U>(m, CTX, dest.cast(), word(value), pe)", ..BITWISE };
const FETCH_OR: Row = Row {
    section: "9.7.1.11",
    call: "amo::fetch_or::<U>(m, CTX, dest.cast(), word(value), pe).map(word)",
    ..FETCHING_BITWISE
};
const OR: Row = Row { section: "9.7.1.12", call: "amo::or::<U>(m, CTX, dest.cast(), word(value), pe)", ..BITWISE };
const FETCH_XOR: Row = Row {
    section: "9.7.1.13",
    call: "amo::fetch_xor::<U>(m, CTX, dest.cast(), word(value), pe).map(word)",
    ..FETCHING_BITWISE
};
const XOR: Row = Row { section: "9.7.1.14", call: "amo::xor::<U>(m, CTX, dest.cast(), word(value), pe)", ..BITWISE };

pub const GROUP: Group = Group {
    name: "amo",
    title: "Atomic memory operations (9.7.1)",
    uses: &["pellucid_core::context::amo"],
    rows: &[
        Row { name: "shmem_TYPENAME_atomic_fetch", ..FETCH },
        Row { name: "shmem_TYPENAME_fetch", types: AMO_EXTENDED_OLD, forms: One, deprecated: true, ..FETCH },
        Row { name: "shmem_TYPENAME_atomic_set", ..SET },
        Row { name: "shmem_TYPENAME_set", types: AMO_EXTENDED_OLD, forms: One, deprecated: true, ..SET },
        Row { name: "shmem_TYPENAME_atomic_compare_swap", ..COMPARE_SWAP },
        Row { name: "shmem_TYPENAME_cswap", types: AMO_OLD, forms: One, deprecated: true, ..COMPARE_SWAP },
        Row { name: "shmem_TYPENAME_atomic_swap", ..SWAP },
        Row { name: "shmem_TYPENAME_swap", types: AMO_EXTENDED_OLD, forms: One, deprecated: true, ..SWAP },
        Row { name: "shmem_TYPENAME_atomic_fetch_inc", ..FETCH_INC },
        Row { name: "shmem_TYPENAME_finc", types: AMO_OLD, forms: One, deprecated: true, ..FETCH_INC },
        Row { name: "shmem_TYPENAME_atomic_inc", ..INC },
        Row { name: "shmem_TYPENAME_inc", types: AMO_OLD, forms: One, deprecated: true, ..INC },
        Row { name: "shmem_TYPENAME_atomic_fetch_add", ..FETCH_ADD },
        Row { name: "shmem_TYPENAME_fadd", types: AMO_OLD, forms: One, deprecated: true, ..FETCH_ADD },
        Row { name: "shmem_TYPENAME_atomic_add", ..ADD },
        Row { name: "shmem_TYPENAME_add", types: AMO_OLD, forms: One, deprecated: true, ..ADD },
        Row { name: "shmem_TYPENAME_atomic_fetch_and", ..FETCH_AND },
        Row { name: "shmem_TYPENAME_atomic_and", ..AND },
        Row { name: "shmem_TYPENAME_atomic_fetch_or", ..FETCH_OR },
        Row { name: "shmem_TYPENAME_atomic_or", ..OR },
        Row { name: "shmem_TYPENAME_atomic_fetch_xor", ..FETCH_XOR },
        Row { name: "shmem_TYPENAME_atomic_xor", ..XOR },
    ],
};
