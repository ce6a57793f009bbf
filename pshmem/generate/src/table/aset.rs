//! Extensions: explicit active sets, and the blocking collectives on them (docs/extensions.md).

use super::Timing::{Sampled, Timed};
use super::Trait::{Completes, Creates, Destroys, Together};
use super::{Group, ROW, Row};
use crate::types::{SIZES_32_64, TO_ALL_ARITHMETIC, TO_ALL_BITWISE, TO_ALL_ORDERED};

const SECTION: &str = "X.1";

const CREATE: Row =
    Row { ret: "shmemx_aset *", section: SECTION, class: "Team", traits: &[Creates], timing: Timed, ..ROW };
const QUERY: Row =
    Row { ret: "int", params: "shmemx_aset *aset", section: SECTION, class: "Query", timing: Sampled, ..ROW };
const SYNC: Row =
    Row { params: "shmemx_aset *aset, long *pSync", section: SECTION, class: "Barrier", timing: Timed, ..ROW };
/// A collective of a set.
const MOVE: Row = Row {
    params: "TYPE *target, const TYPE *source, size_t nelems, shmemx_aset *aset, long *pSync",
    types: SIZES_32_64,
    section: SECTION,
    class: "Collective",
    timing: Timed,
    addr: "target.addr()",
    bytes: "nelems.wrapping_mul(ELEM)",
    ..ROW
};
const TO_ALL: Row = Row {
    params: "TYPE *target, const TYPE *source, int nreduce, shmemx_aset *aset, TYPE *pWrk, long *pSync",
    bytes: "(nreduce.max(0) as usize).wrapping_mul(ELEM)",
    ..MOVE
};

/// A reduction: name, types, expression.
macro_rules! to_all {
    ($op:literal, $types:ident) => {
        Row {
            name: concat!("shmemx_TYPENAME_", $op, "_to_all_aset"),
            types: $types,
            call: concat!("asets::reduce(m, aset, pSync, target.cast(), source.cast(), nreduce, KERNEL(", $op, "))"),
            ..TO_ALL
        }
    };
}

pub const GROUP: Group = Group {
    name: "aset",
    title: "Explicit active sets (docs/extensions.md)",
    uses: &["pellucid_core::team", "pellucid_core::team::aset as sets", "pellucid_core::collectives::asets"],
    rows: &[
        Row {
            name: "shmemx_create_strided_aset",
            params: "int PE_start, int PE_stride, int PE_size",
            call: "sets::create_strided(m, PE_start, PE_stride, PE_size)",
            ..CREATE
        },
        Row {
            name: "shmemx_create_log_strided_aset",
            params: "int PE_start, int PE_log_stride, int PE_size, int stride_base",
            call: "sets::create_log_strided(m, PE_start, PE_log_stride, PE_size, stride_base)",
            ..CREATE
        },
        Row {
            name: "shmemx_create_custom_aset",
            params: "int PE_start, shmemx_offset_fn offset, int PE_size, void *const_params",
            call: "sets::create_custom(m, PE_start, offset, PE_size, const_params)",
            ..CREATE
        },
        Row {
            name: "shmemx_create_generic_aset",
            params: "int *PE_list, int PE_size",
            call: "sets::create_generic(m, PE_list, PE_size)",
            ..CREATE
        },
        Row { name: "shmemx_in_aset", call: "sets::contains_me(aset)", ..QUERY },
        Row { name: "shmemx_aset_size", call: "sets::count(aset)", ..QUERY },
        Row { name: "shmemx_aset_pe", params: "shmemx_aset *aset, int index", call: "sets::pe(aset, index)", ..QUERY },
        Row { name: "shmemx_aset_index", params: "shmemx_aset *aset, int pe", call: "sets::index(aset, pe)", ..QUERY },
        Row {
            name: "shmemx_delete_aset",
            ret: "void",
            traits: &[Destroys],
            params: "shmemx_aset *aset",
            timing: Timed,
            call: "sets::delete(aset)",
            ..CREATE
        },
        Row {
            name: "shmemx_team_split_aset",
            ret: "int",
            params: "shmem_team_t parent, shmemx_aset *aset, const shmem_team_config_t *config, long config_mask, \
                     shmem_team_t *new_team",
            section: SECTION,
            class: "Team",
            traits: &[Together, Creates],
            timing: Timed,
            failed: "r != 0",
            call: "team::split_aset(m, parent, aset, config, config_mask, new_team)",
            ..ROW
        },
        Row { name: "shmemx_barrier_aset", traits: &[Completes], call: "asets::barrier(m, aset, pSync)", ..SYNC },
        Row { name: "shmemx_sync_aset", call: "asets::sync(m, aset, pSync)", ..SYNC },
        Row {
            name: "shmemx_broadcastSIZE_aset",
            params: "TYPE *target, const TYPE *source, size_t nelems, int PE_root, shmemx_aset *aset, long *pSync",
            call: "asets::broadcast(m, aset, pSync, target.cast(), source.cast(), bytes(ELEM, nelems), PE_root)",
            ..MOVE
        },
        Row {
            name: "shmemx_collectSIZE_aset",
            call: "asets::collect(m, aset, pSync, target.cast(), source.cast(), bytes(ELEM, nelems))",
            ..MOVE
        },
        Row {
            name: "shmemx_fcollectSIZE_aset",
            call: "asets::fcollect(m, aset, pSync, target.cast(), source.cast(), bytes(ELEM, nelems))",
            ..MOVE
        },
        Row {
            name: "shmemx_alltoallSIZE_aset",
            call: "asets::alltoall(m, aset, pSync, target.cast(), source.cast(), bytes(ELEM, nelems))",
            ..MOVE
        },
        to_all!("and", TO_ALL_BITWISE),
        to_all!("or", TO_ALL_BITWISE),
        to_all!("xor", TO_ALL_BITWISE),
        to_all!("max", TO_ALL_ORDERED),
        to_all!("min", TO_ALL_ORDERED),
        to_all!("sum", TO_ALL_ARITHMETIC),
        to_all!("prod", TO_ALL_ARITHMETIC),
    ],
};
