//! 9.11 Point-to-point synchronization.

use super::Generic::{ByType, None};
use super::Timing::{Sampled, Timed};
use super::{Group, ROW, Row};
use crate::types::{ONCE, SYNC, SYNC_OLD, WAIT_OLD};

const VAR: &str = "TYPE *ivar, int cmp, TYPE cmp_value";
const VARS: &str = "TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value";
const VARS_SOME: &str = "TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, TYPE cmp_value";
const VECTOR: &str = "TYPE *ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values";
const VECTOR_SOME: &str =
    "TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const TYPE *cmp_values";

const WAIT: Row = Row {
    params: VAR,
    types: SYNC,
    section: "9.11.1",
    generic: ByType,
    class: "Wait",
    timing: Timed,
    addr: "ivar.addr()",
    call: "wait::wait_until::<N>(m, ivar.cast(), cmp, word(cmp_value))",
    ..ROW
};
const WAIT_NOT_EQUAL: Row = Row {
    generic: None,
    deprecated: true,
    call: "wait::wait_until::<N>(m, ivar.cast(), SHMEM_CMP_NE, word(cmp_value))",
    ..WAIT
};
const WAIT_MANY: Row = Row { params: VARS, addr: "ivars.addr()", ..WAIT };
const TEST: Row = Row {
    ret: "int",
    section: "9.11.8",
    class: "Test",
    timing: Sampled,
    call: "wait::test::<N>(m, ivar.cast(), cmp, word(cmp_value))",
    ..WAIT
};
const TEST_MANY: Row = Row { params: VARS, addr: "ivars.addr()", ..TEST };

pub const GROUP: Group = Group {
    name: "p2p",
    title: "Point-to-point synchronization (9.11)",
    uses: &[
        "pellucid_core::context::signal",
        "pellucid_core::context::wait",
        "crate::generated::constants::SHMEM_CMP_NE",
    ],
    rows: &[
        Row { name: "shmem_TYPENAME_wait_until", ..WAIT },
        Row { name: "shmem_TYPENAME_wait_until", types: SYNC_OLD, deprecated: true, ..WAIT },
        Row {
            name: "shmem_wait_until",
            params: "long *ivar, int cmp, long cmp_value",
            types: ONCE,
            generic: None,
            deprecated: true,
            call: "wait::wait_until::<i64>(m, ivar.cast(), cmp, word(cmp_value))",
            ..WAIT
        },
        Row {
            name: "shmem_wait",
            params: "long *ivar, long cmp_value",
            types: ONCE,
            call: "wait::wait_until::<i64>(m, ivar.cast(), SHMEM_CMP_NE, word(cmp_value))",
            ..WAIT_NOT_EQUAL
        },
        Row { name: "shmem_TYPENAME_wait", params: "TYPE *ivar, TYPE cmp_value", types: WAIT_OLD, ..WAIT_NOT_EQUAL },
        Row {
            name: "shmem_TYPENAME_wait_until_all",
            section: "9.11.2",
            call: "wait::wait_until_all::<N>(m, ivars.cast(), nelems, status, cmp, word(cmp_value))",
            ..WAIT_MANY
        },
        Row {
            name: "shmem_TYPENAME_wait_until_any",
            ret: "size_t",
            section: "9.11.3",
            call: "wait::wait_until_any::<N>(m, ivars.cast(), nelems, status, cmp, word(cmp_value))",
            ..WAIT_MANY
        },
        Row {
            name: "shmem_TYPENAME_wait_until_some",
            ret: "size_t",
            params: VARS_SOME,
            section: "9.11.4",
            call: "wait::wait_until_some::<N>(m, ivars.cast(), nelems, indices, status, cmp, word(cmp_value))",
            ..WAIT_MANY
        },
        Row {
            name: "shmem_TYPENAME_wait_until_all_vector",
            params: VECTOR,
            section: "9.11.5",
            call: "wait::wait_until_all_vector::<N>(m, ivars.cast(), nelems, status, cmp, cmp_values.cast())",
            ..WAIT_MANY
        },
        Row {
            name: "shmem_TYPENAME_wait_until_any_vector",
            ret: "size_t",
            params: VECTOR,
            section: "9.11.6",
            call: "wait::wait_until_any_vector::<N>(m, ivars.cast(), nelems, status, cmp, cmp_values.cast())",
            ..WAIT_MANY
        },
        Row {
            name: "shmem_TYPENAME_wait_until_some_vector",
            ret: "size_t",
            params: VECTOR_SOME,
            section: "9.11.7",
            call: "wait::wait_until_some_vector::<N>(m, ivars.cast(), nelems, indices, status, cmp, \
                   cmp_values.cast())",
            ..WAIT_MANY
        },
        Row { name: "shmem_TYPENAME_test", ..TEST },
        Row { name: "shmem_TYPENAME_test", types: SYNC_OLD, deprecated: true, ..TEST },
        Row {
            name: "shmem_TYPENAME_test_all",
            section: "9.11.9",
            call: "wait::test_all::<N>(m, ivars.cast(), nelems, status, cmp, word(cmp_value))",
            ..TEST_MANY
        },
        Row {
            name: "shmem_TYPENAME_test_any",
            ret: "size_t",
            section: "9.11.10",
            call: "wait::test_any::<N>(m, ivars.cast(), nelems, status, cmp, word(cmp_value))",
            ..TEST_MANY
        },
        Row {
            name: "shmem_TYPENAME_test_some",
            ret: "size_t",
            params: VARS_SOME,
            section: "9.11.11",
            call: "wait::test_some::<N>(m, ivars.cast(), nelems, indices, status, cmp, word(cmp_value))",
            ..TEST_MANY
        },
        Row {
            name: "shmem_TYPENAME_test_all_vector",
            params: VECTOR,
            section: "9.11.12",
            call: "wait::test_all_vector::<N>(m, ivars.cast(), nelems, status, cmp, cmp_values.cast())",
            ..TEST_MANY
        },
        Row {
            name: "shmem_TYPENAME_test_any_vector",
            ret: "size_t",
            params: VECTOR,
            section: "9.11.13",
            call: "wait::test_any_vector::<N>(m, ivars.cast(), nelems, status, cmp, cmp_values.cast())",
            ..TEST_MANY
        },
        Row {
            name: "shmem_TYPENAME_test_some_vector",
            ret: "size_t",
            params: VECTOR_SOME,
            section: "9.11.14",
            call: "wait::test_some_vector::<N>(m, ivars.cast(), nelems, indices, status, cmp, \
                   cmp_values.cast())",
            ..TEST_MANY
        },
        Row {
            name: "shmem_signal_wait_until",
            ret: "uint64_t",
            params: "uint64_t *sig_addr, int cmp, uint64_t cmp_value",
            section: "9.11.15",
            class: "Wait",
            timing: Timed,
            addr: "sig_addr.addr()",
            call: "signal::wait_until(m, sig_addr, cmp, cmp_value)",
            ..ROW
        },
    ],
};
