//! 9.10 Collectives.

use super::Generic::{ByCount, ByType};
use super::Timing::Timed;
use super::Trait::{Completes, OfAll};
use super::{Group, ROW, Row};
use crate::types::{
    MEM, REDUCE_ARITHMETIC, REDUCE_BITWISE, REDUCE_ORDERED, RMA, SIZES_32_64, TO_ALL_ARITHMETIC, TO_ALL_BITWISE,
    TO_ALL_ORDERED,
};

const BARRIER: Row = Row { class: "Barrier", timing: Timed, ..ROW };
const ACTIVE_SYNC: &str = "int PE_start, int logPE_stride, int PE_size, long *pSync";

/// A collective of a team.
const TEAM: Row = Row {
    ret: "int",
    params: "shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems",
    class: "Collective",
    timing: Timed,
    addr: "dest.addr()",
    bytes: "nelems.wrapping_mul(ELEM)",
    failed: "r != 0",
    ..ROW
};
/// A deprecated collective of an active set, given by its first PE, stride and size.
const ACTIVE: Row = Row {
    params: "TYPE *dest, const TYPE *source, size_t nelems, int PE_start, int logPE_stride, \
             int PE_size, long *pSync",
    types: SIZES_32_64,
    deprecated: true,
    class: "Collective",
    timing: Timed,
    addr: "dest.addr()",
    bytes: "nelems.wrapping_mul(ELEM)",
    ..ROW
};

const ALLTOALL: Row = Row {
    section: "9.10.5",
    call: "collectives::alltoall(m, team, dest.cast(), source.cast(), bytes(ELEM, nelems))",
    ..TEAM
};
const ALLTOALLS: Row = Row {
    params: "shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
             size_t nelems",
    section: "9.10.6",
    call: "collectives::alltoalls(m, team, dest.cast(), source.cast(), dst, sst, nelems, ELEM)",
    ..TEAM
};
const BROADCAST: Row = Row {
    params: "shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root",
    section: "9.10.7",
    call: "collectives::broadcast(m, team, dest.cast(), source.cast(), bytes(ELEM, nelems), PE_root)",
    ..TEAM
};
const COLLECT: Row = Row {
    section: "9.10.8",
    call: "collectives::collect(m, team, dest.cast(), source.cast(), bytes(ELEM, nelems))",
    ..TEAM
};
const FCOLLECT: Row = Row {
    section: "9.10.8",
    call: "collectives::fcollect(m, team, dest.cast(), source.cast(), bytes(ELEM, nelems))",
    ..TEAM
};
const REDUCE: Row = Row {
    params: "shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce",
    generic: ByType,
    bytes: "nreduce.wrapping_mul(ELEM)",
    ..TEAM
};
const TO_ALL: Row = Row {
    params: "TYPE *dest, const TYPE *source, int nreduce, int PE_start, int logPE_stride, \
             int PE_size, TYPE *pWrk, long *pSync",
    bytes: "(nreduce.max(0) as usize).wrapping_mul(ELEM)",
    ..ACTIVE
};

pub const GROUP: Group = Group {
    name: "collective",
    title: "Collectives (9.10)",
    uses: &["pellucid_core::collectives", "pellucid_core::collectives::active"],
    rows: &[
        Row {
            name: "shmem_barrier_all",
            section: "9.10.1",
            traits: &[Completes, OfAll],
            call: "collectives::barrier_all(m)",
            ..BARRIER
        },
        Row {
            name: "shmem_barrier",
            params: ACTIVE_SYNC,
            section: "9.10.2",
            deprecated: true,
            traits: &[Completes],
            call: "active::barrier(m, active::set(PE_start, logPE_stride, PE_size, pSync))",
            ..BARRIER
        },
        Row {
            name: "shmem_team_sync",
            ret: "int",
            params: "shmem_team_t team",
            section: "9.10.3",
            generic: ByCount("shmem_sync"),
            failed: "r != 0",
            call: "collectives::team_sync(m, team)",
            ..BARRIER
        },
        Row {
            name: "shmem_sync",
            params: ACTIVE_SYNC,
            section: "9.10.3",
            deprecated: true,
            generic: ByCount("shmem_sync"),
            call: "active::sync(m, active::set(PE_start, logPE_stride, PE_size, pSync))",
            ..BARRIER
        },
        Row {
            name: "shmem_sync_all",
            section: "9.10.4",
            traits: &[OfAll],
            call: "collectives::sync_all(m)",
            ..BARRIER
        },
        Row { name: "shmem_TYPENAME_alltoall", types: RMA, generic: ByType, ..ALLTOALL },
        Row { name: "shmem_alltoallmem", types: MEM, ..ALLTOALL },
        Row {
            name: "shmem_alltoallSIZE",
            section: "9.10.5",
            call: "active::alltoall(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), \
                source.cast(), bytes(ELEM, nelems))",
            ..ACTIVE
        },
        Row { name: "shmem_TYPENAME_alltoalls", types: RMA, generic: ByType, ..ALLTOALLS },
        Row { name: "shmem_alltoallsmem", types: MEM, ..ALLTOALLS },
        Row {
            name: "shmem_alltoallsSIZE",
            params: "TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                     int PE_start, int logPE_stride, int PE_size, long *pSync",
            section: "9.10.6",
            call: "active::alltoalls(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), \
                source.cast(), dst, sst, nelems, ELEM)",
            ..ACTIVE
        },
        Row { name: "shmem_TYPENAME_broadcast", types: RMA, generic: ByType, ..BROADCAST },
        Row { name: "shmem_broadcastmem", types: MEM, ..BROADCAST },
        Row {
            name: "shmem_broadcastSIZE",
            params: "TYPE *dest, const TYPE *source, size_t nelems, int PE_root, int PE_start, \
                     int logPE_stride, int PE_size, long *pSync",
            section: "9.10.7",
            call: "active::broadcast(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), \
                source.cast(), bytes(ELEM, nelems), PE_root)",
            ..ACTIVE
        },
        Row { name: "shmem_TYPENAME_collect", types: RMA, generic: ByType, ..COLLECT },
        Row { name: "shmem_collectmem", types: MEM, ..COLLECT },
        Row {
            name: "shmem_collectSIZE",
            section: "9.10.8",
            call: "active::collect(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), \
                bytes(ELEM, nelems))",
            ..ACTIVE
        },
        Row { name: "shmem_TYPENAME_fcollect", types: RMA, generic: ByType, ..FCOLLECT },
        Row { name: "shmem_fcollectmem", types: MEM, ..FCOLLECT },
        Row {
            name: "shmem_fcollectSIZE",
            section: "9.10.8",
            call: "active::fcollect(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), \
                source.cast(), bytes(ELEM, nelems))",
            ..ACTIVE
        },
        Row {
            name: "shmem_TYPENAME_and_reduce",
            types: REDUCE_BITWISE,
            section: "9.10.9.1",
            call: "collectives::reduce(m, team, dest.cast(), source.cast(), nreduce, KERNEL(and))",
            ..REDUCE
        },
        Row {
            name: "shmem_TYPENAME_and_to_all",
            types: TO_ALL_BITWISE,
            section: "9.10.9.1",
            call: "active::reduce(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), \
                nreduce, KERNEL(and))",
            ..TO_ALL
        },
        Row {
            name: "shmem_TYPENAME_or_reduce",
            types: REDUCE_BITWISE,
            section: "9.10.9.2",
            call: "collectives::reduce(m, team, dest.cast(), source.cast(), nreduce, KERNEL(or))",
            ..REDUCE
        },
        Row {
            name: "shmem_TYPENAME_or_to_all",
            types: TO_ALL_BITWISE,
            section: "9.10.9.2",
            call: "active::reduce(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), \
                nreduce, KERNEL(or))",
            ..TO_ALL
        },
        Row {
            name: "shmem_TYPENAME_xor_reduce",
            types: REDUCE_BITWISE,
            section: "9.10.9.3",
            call: "collectives::reduce(m, team, dest.cast(), source.cast(), nreduce, KERNEL(xor))",
            ..REDUCE
        },
        Row {
            name: "shmem_TYPENAME_xor_to_all",
            types: TO_ALL_BITWISE,
            section: "9.10.9.3",
            call: "active::reduce(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), \
                nreduce, KERNEL(xor))",
            ..TO_ALL
        },
        Row {
            name: "shmem_TYPENAME_max_reduce",
            types: REDUCE_ORDERED,
            section: "9.10.9.4",
            call: "collectives::reduce(m, team, dest.cast(), source.cast(), nreduce, KERNEL(max))",
            ..REDUCE
        },
        Row {
            name: "shmem_TYPENAME_max_to_all",
            types: TO_ALL_ORDERED,
            section: "9.10.9.4",
            call: "active::reduce(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), \
                nreduce, KERNEL(max))",
            ..TO_ALL
        },
        Row {
            name: "shmem_TYPENAME_min_reduce",
            types: REDUCE_ORDERED,
            section: "9.10.9.5",
            call: "collectives::reduce(m, team, dest.cast(), source.cast(), nreduce, KERNEL(min))",
            ..REDUCE
        },
        Row {
            name: "shmem_TYPENAME_min_to_all",
            types: TO_ALL_ORDERED,
            section: "9.10.9.5",
            call: "active::reduce(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), \
                nreduce, KERNEL(min))",
            ..TO_ALL
        },
        Row {
            name: "shmem_TYPENAME_sum_reduce",
            types: REDUCE_ARITHMETIC,
            section: "9.10.9.6",
            call: "collectives::reduce(m, team, dest.cast(), source.cast(), nreduce, KERNEL(sum))",
            ..REDUCE
        },
        Row {
            name: "shmem_TYPENAME_sum_to_all",
            types: TO_ALL_ARITHMETIC,
            section: "9.10.9.6",
            call: "active::reduce(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), \
                nreduce, KERNEL(sum))",
            ..TO_ALL
        },
        Row {
            name: "shmem_TYPENAME_prod_reduce",
            types: REDUCE_ARITHMETIC,
            section: "9.10.9.7",
            call: "collectives::reduce(m, team, dest.cast(), source.cast(), nreduce, KERNEL(prod))",
            ..REDUCE
        },
        Row {
            name: "shmem_TYPENAME_prod_to_all",
            types: TO_ALL_ARITHMETIC,
            section: "9.10.9.7",
            call: "active::reduce(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), \
                nreduce, KERNEL(prod))",
            ..TO_ALL
        },
        Row {
            name: "shmem_TYPENAME_sum_inscan",
            types: REDUCE_ARITHMETIC,
            section: "9.10.10",
            generic: ByType,
            call: "collectives::inscan(m, team, dest.cast(), source.cast(), nelems, KERNEL(sum))",
            ..TEAM
        },
        Row {
            name: "shmem_TYPENAME_sum_exscan",
            types: REDUCE_ARITHMETIC,
            section: "9.10.10",
            generic: ByType,
            call: "collectives::exscan(m, team, dest.cast(), source.cast(), nelems, KERNEL(sum))",
            ..TEAM
        },
    ],
};
