//! Extensions: request handles, and what gives them (docs/extensions.md).

use super::Forms::WithCtx;
use super::Timing::{Sampled, Sized, Timed};
use super::Trait::Swaps;
use super::{Group, ROW, Row};
use crate::types::{
    AMO, AMO_EXTENDED, MEM, REDUCE_ARITHMETIC, REDUCE_BITWISE, REDUCE_ORDERED, RMA, SIZES, SIZES_32_64,
    TO_ALL_ARITHMETIC, TO_ALL_BITWISE, TO_ALL_ORDERED,
};

const WAIT: Row = Row { section: "X.2", class: "Wait", timing: Timed, ..ROW };
const TEST: Row = Row { ret: "int", section: "X.2", class: "Test", timing: Sampled, ..ROW };

/// A nonblocking collective of a set.
const SET: Row = Row {
    params: "TYPE *target, const TYPE *source, size_t nelems, shmemx_aset *aset, long *pSync, \
             shmemx_request_handle_t *request",
    types: SIZES_32_64,
    section: "X.2.1",
    class: "Collective",
    timing: Timed,
    addr: "target.addr()",
    bytes: "nelems.wrapping_mul(ELEM)",
    ..ROW
};
const SET_SYNC: Row = Row {
    params: "shmemx_aset *aset, long *pSync, shmemx_request_handle_t *request",
    section: "X.2.1",
    class: "Barrier",
    timing: Timed,
    ..ROW
};
const TO_ALL: Row = Row {
    params: "TYPE *target, const TYPE *source, int nreduce, shmemx_aset *aset, TYPE *pWrk, long *pSync, \
             shmemx_request_handle_t *request",
    bytes: "(nreduce.max(0) as usize).wrapping_mul(ELEM)",
    ..SET
};
/// A nonblocking collective of a team.
const TEAM: Row = Row {
    ret: "int",
    params: "shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, shmemx_req_h *request",
    section: "X.2.1",
    class: "Collective",
    timing: Timed,
    addr: "dest.addr()",
    bytes: "nelems.wrapping_mul(ELEM)",
    failed: "r != 0",
    ..ROW
};
const REDUCE: Row = Row {
    params: "shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce, shmemx_req_h *request",
    bytes: "nreduce.wrapping_mul(ELEM)",
    ..TEAM
};
const AMO_NB: Row = Row {
    types: AMO,
    forms: WithCtx,
    section: "X.2.2",
    class: "Amo",
    timing: Sampled,
    peer: "PEER",
    addr: "target.addr()",
    bytes: "SIZE",
    ..ROW
};
const PUT: Row = Row {
    params: "TYPE *target, const TYPE *source, size_t len, int pe, shmemx_request_handle_t *request",
    forms: WithCtx,
    section: "X.2.3",
    class: "Put",
    timing: Sized,
    peer: "PEER",
    addr: "target.addr()",
    bytes: "len.wrapping_mul(ELEM)",
    call: "nb::put(m, CTX, target.cast(), source.cast(), bytes(ELEM, len), pe, request)",
    ..ROW
};
const GET: Row = Row {
    class: "Get",
    addr: "source.addr()",
    call: "nb::get(m, CTX, target.cast(), source.cast(), bytes(ELEM, len), pe, request)",
    ..PUT
};

/// A reduction of a set.
macro_rules! to_all {
    ($op:literal, $types:ident) => {
        Row {
            name: concat!("shmemx_TYPENAME_", $op, "_to_all_nb"),
            types: $types,
            call: concat!(
                "asets::reduce_nb(m, aset, pSync, target.cast(), source.cast(), nreduce, KERNEL(",
                $op,
                "), request)"
            ),
            ..TO_ALL
        }
    };
}

/// A reduction of a team.
macro_rules! reduce {
    ($op:literal, $types:ident) => {
        Row {
            name: concat!("shmemx_TYPENAME_", $op, "_reduce_nb"),
            types: $types,
            call: concat!(
                "nonblocking::team_reduce(m, team, dest.cast(), source.cast(), nreduce, KERNEL(",
                $op,
                "), request)"
            ),
            ..REDUCE
        }
    };
}

/// A collective of sets that moves blocks.
macro_rules! set {
    ($name:literal) => {
        Row {
            name: concat!("shmemx_", $name, "SIZE_nb"),
            call: concat!(
                "asets::",
                $name,
                "_nb(m, aset, pSync, target.cast(), source.cast(), bytes(ELEM, nelems), request)"
            ),
            ..SET
        }
    };
}

/// A collective of teams that moves blocks: by type, and of bytes.
macro_rules! team {
    ($name:literal, $form:expr, $types:ident) => {
        Row {
            name: $form,
            types: $types,
            call: concat!(
                "nonblocking::team_",
                $name,
                "(m, team, dest.cast(), source.cast(), bytes(ELEM, nelems), request)"
            ),
            ..TEAM
        }
    };
}

const BROADCAST: Row = Row {
    params: "shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root, shmemx_req_h *request",
    call: "nonblocking::team_broadcast(m, team, dest.cast(), source.cast(), bytes(ELEM, nelems), PE_root, request)",
    ..TEAM
};

pub const GROUP: Group = Group {
    name: "request",
    title: "Request handles (docs/extensions.md)",
    uses: &[
        "pellucid_core::collectives::asets",
        "pellucid_core::collectives::nonblocking",
        "pellucid_core::collectives::requests",
        "pellucid_core::context::nonblocking as nb",
    ],
    rows: &[
        Row {
            name: "shmemx_wait_req",
            params: "shmemx_request_handle_t request",
            call: "requests::wait_by_value(m, request)",
            ..WAIT
        },
        Row {
            name: "shmemx_test_req",
            params: "shmemx_request_handle_t request",
            call: "requests::test_by_value(m, request)",
            ..TEST
        },
        Row {
            name: "shmemx_req_wait",
            ret: "int",
            params: "shmemx_req_h *request",
            call: "requests::wait(m, request)",
            ..WAIT
        },
        Row { name: "shmemx_req_test", params: "shmemx_req_h *request", call: "requests::test(m, request)", ..TEST },
        Row {
            name: "shmemx_req_wait_all",
            ret: "int",
            params: "size_t n, shmemx_req_h *requests",
            call: "requests::wait_all(m, n, requests)",
            ..WAIT
        },
        Row {
            name: "shmemx_req_wait_any",
            ret: "size_t",
            params: "size_t n, shmemx_req_h *requests",
            call: "requests::wait_any(m, n, requests)",
            ..WAIT
        },
        Row {
            name: "shmemx_req_test_some",
            ret: "size_t",
            params: "size_t n, shmemx_req_h *requests, size_t *indices",
            call: "requests::test_some(m, n, requests, indices)",
            ..TEST
        },
        Row {
            name: "shmemx_req_wait_remote",
            ret: "int",
            params: "shmemx_req_h *request",
            call: "requests::wait(m, request)",
            ..WAIT
        },
        Row { name: "shmemx_barrier_aset_nb", call: "asets::barrier_nb(m, aset, pSync, request)", ..SET_SYNC },
        Row { name: "shmemx_sync_aset_nb", call: "asets::sync_nb(m, aset, pSync, request)", ..SET_SYNC },
        Row {
            name: "shmemx_broadcastSIZE_nb",
            params: "TYPE *target, const TYPE *source, size_t nelems, int PE_root, shmemx_aset *aset, long *pSync, \
                     shmemx_request_handle_t *request",
            call: "asets::broadcast_nb(m, aset, pSync, target.cast(), source.cast(), bytes(ELEM, nelems), PE_root, \
                request)",
            ..SET
        },
        set!("collect"),
        set!("fcollect"),
        set!("alltoall"),
        to_all!("and", TO_ALL_BITWISE),
        to_all!("or", TO_ALL_BITWISE),
        to_all!("xor", TO_ALL_BITWISE),
        to_all!("max", TO_ALL_ORDERED),
        to_all!("min", TO_ALL_ORDERED),
        to_all!("sum", TO_ALL_ARITHMETIC),
        to_all!("prod", TO_ALL_ARITHMETIC),
        Row {
            name: "shmemx_team_sync_nb",
            params: "shmem_team_t team, shmemx_req_h *request",
            class: "Barrier",
            addr: "0",
            bytes: "0",
            call: "nonblocking::team_sync(m, team, request)",
            ..TEAM
        },
        Row { name: "shmemx_TYPENAME_broadcast_nb", types: RMA, ..BROADCAST },
        Row { name: "shmemx_broadcastmem_nb", types: MEM, ..BROADCAST },
        team!("alltoall", "shmemx_TYPENAME_alltoall_nb", RMA),
        team!("alltoall", "shmemx_alltoallmem_nb", MEM),
        team!("collect", "shmemx_TYPENAME_collect_nb", RMA),
        team!("collect", "shmemx_collectmem_nb", MEM),
        team!("fcollect", "shmemx_TYPENAME_fcollect_nb", RMA),
        team!("fcollect", "shmemx_fcollectmem_nb", MEM),
        reduce!("and", REDUCE_BITWISE),
        reduce!("or", REDUCE_BITWISE),
        reduce!("xor", REDUCE_BITWISE),
        reduce!("max", REDUCE_ORDERED),
        reduce!("min", REDUCE_ORDERED),
        reduce!("sum", REDUCE_ARITHMETIC),
        reduce!("prod", REDUCE_ARITHMETIC),
        Row {
            name: "shmemx_TYPENAME_fadd_nb",
            params: "TYPE *target, TYPE value, int pe, TYPE *oldval, shmemx_request_handle_t *request",
            call: "nb::fetch_add::<U>(m, CTX, target.cast(), word(value), pe, oldval.cast(), request)",
            ..AMO_NB
        },
        Row {
            name: "shmemx_TYPENAME_swap_nb",
            params: "TYPE *target, TYPE value, int pe, TYPE *oldval, shmemx_request_handle_t *request",
            types: AMO_EXTENDED,
            traits: &[Swaps],
            call: "nb::swap::<U>(m, CTX, target.cast(), word(value), pe, oldval.cast(), request)",
            ..AMO_NB
        },
        Row {
            name: "shmemx_TYPENAME_cswap_nb",
            params: "TYPE *target, TYPE cond, TYPE value, int pe, TYPE *oldval, shmemx_request_handle_t *request",
            traits: &[Swaps],
            call: "nb::compare_swap::<U>(m, CTX, target.cast(), word(cond), word(value), pe, oldval.cast(), request)",
            ..AMO_NB
        },
        Row {
            name: "shmemx_TYPENAME_finc_nb",
            params: "TYPE *target, int pe, TYPE *oldval, shmemx_request_handle_t *request",
            call: "nb::fetch_inc::<U>(m, CTX, target.cast(), pe, oldval.cast(), request)",
            ..AMO_NB
        },
        Row {
            name: "shmemx_TYPENAME_add_nb",
            params: "TYPE *target, TYPE value, int pe, shmemx_request_handle_t *request",
            call: "nb::add::<U>(m, CTX, target.cast(), word(value), pe, request)",
            ..AMO_NB
        },
        Row {
            name: "shmemx_TYPENAME_inc_nb",
            params: "TYPE *target, int pe, shmemx_request_handle_t *request",
            call: "nb::inc::<U>(m, CTX, target.cast(), pe, request)",
            ..AMO_NB
        },
        Row { name: "shmemx_TYPENAME_put_nb", types: RMA, ..PUT },
        Row { name: "shmemx_putSIZE_nb", types: SIZES, ..PUT },
        Row { name: "shmemx_putmem_nb", types: MEM, ..PUT },
        Row { name: "shmemx_TYPENAME_get_nb", types: RMA, ..GET },
        Row { name: "shmemx_getSIZE_nb", types: SIZES, ..GET },
        Row { name: "shmemx_getmem_nb", types: MEM, ..GET },
    ],
};
