//! 9.6.2 Nonblocking remote memory access.

use super::Forms::WithCtx;
use super::Generic::ByType;
use super::Timing::Sized;
use super::Trait::Nonblocking;
use super::{Group, ROW, Row};
use crate::types::{MEM, RMA, SIZES};

const PUT: Row = Row {
    params: "TYPE *dest, const TYPE *source, size_t nelems, int pe",
    forms: WithCtx,
    section: "9.6.2.1",
    class: "Put",
    traits: &[Nonblocking],
    timing: Sized,
    peer: "PEER",
    addr: "dest.addr()",
    bytes: "nelems.wrapping_mul(ELEM)",
    call: "rma::put_nbi(m, CTX, dest.cast(), source.cast(), bytes(ELEM, nelems), pe)",
    ..ROW
};
const GET: Row = Row {
    section: "9.6.2.2",
    class: "Get",
    addr: "source.addr()",
    call: "rma::get_nbi(m, CTX, dest.cast(), source.cast(), bytes(ELEM, nelems), pe)",
    ..PUT
};

pub const GROUP: Group = Group {
    name: "rma_nbi",
    title: "Nonblocking remote memory access (9.6.2)",
    uses: &["pellucid_core::context::rma"],
    rows: &[
        Row { name: "shmem_TYPENAME_put_nbi", types: RMA, generic: ByType, ..PUT },
        Row { name: "shmem_putSIZE_nbi", types: SIZES, ..PUT },
        Row { name: "shmem_putmem_nbi", types: MEM, ..PUT },
        Row { name: "shmem_TYPENAME_get_nbi", types: RMA, generic: ByType, ..GET },
        Row { name: "shmem_getSIZE_nbi", types: SIZES, ..GET },
        Row { name: "shmem_getmem_nbi", types: MEM, ..GET },
    ],
};
