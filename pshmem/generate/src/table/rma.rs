//! 9.6.1 Blocking remote memory access.

use super::Forms::WithCtx;
use super::Generic::ByType;
use super::Timing::{Sampled, Sized};
use super::Trait::Sets;
use super::{Group, ROW, Row};
use crate::types::{MEM, RMA, SIZES};

const BLOCK: &str = "TYPE *dest, const TYPE *source, size_t nelems, int pe";
const STRIDED: &str = "TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                       size_t nelems, int pe";
const STRIDED_BLOCKS: &str = "TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                              size_t bsize, size_t nblocks, int pe";

const PUT: Row = Row {
    params: BLOCK,
    forms: WithCtx,
    section: "9.6.1.1",
    class: "Put",
    timing: Sized,
    peer: "PEER",
    addr: "dest.addr()",
    bytes: "nelems.wrapping_mul(ELEM)",
    call: "rma::put(m, CTX, dest.cast(), source.cast(), bytes(ELEM, nelems), pe)",
    ..ROW
};
const P: Row = Row {
    params: "TYPE *dest, TYPE value, int pe",
    section: "9.6.1.2",
    traits: &[Sets],
    timing: Sampled,
    bytes: "SIZE",
    call: "rma::p::<W>(m, CTX, dest.cast(), word(value), pe)",
    ..PUT
};
const IPUT: Row = Row {
    params: STRIDED,
    section: "9.6.1.3",
    call: "strided::iput(m, CTX, ELEM, dest.cast(), source.cast(), dst, sst, nelems, pe)",
    ..PUT
};
const IBPUT: Row = Row {
    params: STRIDED_BLOCKS,
    section: "9.6.1.4",
    bytes: "bsize.wrapping_mul(nblocks).wrapping_mul(ELEM)",
    call: "strided::ibput(m, CTX, ELEM, dest.cast(), source.cast(), dst, sst, bsize, nblocks, pe)",
    ..PUT
};
const GET: Row = Row {
    section: "9.6.1.5",
    class: "Get",
    addr: "source.addr()",
    call: "rma::get(m, CTX, dest.cast(), source.cast(), bytes(ELEM, nelems), pe)",
    ..PUT
};
const G: Row = Row {
    ret: "TYPE",
    params: "const TYPE *source, int pe",
    section: "9.6.1.6",
    timing: Sampled,
    bytes: "SIZE",
    call: "rma::g::<W>(m, CTX, source.cast(), pe).map(word)",
    ..GET
};
const IGET: Row = Row {
    params: STRIDED,
    section: "9.6.1.7",
    call: "strided::iget(m, CTX, ELEM, dest.cast(), source.cast(), dst, sst, nelems, pe)",
    ..GET
};
const IBGET: Row = Row {
    params: STRIDED_BLOCKS,
    section: "9.6.1.8",
    bytes: "bsize.wrapping_mul(nblocks).wrapping_mul(ELEM)",
    call: "strided::ibget(m, CTX, ELEM, dest.cast(), source.cast(), dst, sst, bsize, nblocks, pe)",
    ..GET
};

pub const GROUP: Group = Group {
    name: "rma",
    title: "Remote memory access (9.6.1)",
    uses: &["pellucid_core::context::rma", "pellucid_core::context::strided"],
    rows: &[
        Row { name: "shmem_TYPENAME_put", types: RMA, generic: ByType, ..PUT },
        Row { name: "shmem_putSIZE", types: SIZES, ..PUT },
        Row { name: "shmem_putmem", types: MEM, ..PUT },
        Row { name: "shmem_TYPENAME_get", types: RMA, generic: ByType, ..GET },
        Row { name: "shmem_getSIZE", types: SIZES, ..GET },
        Row { name: "shmem_getmem", types: MEM, ..GET },
        Row { name: "shmem_TYPENAME_p", types: RMA, generic: ByType, ..P },
        Row { name: "shmem_TYPENAME_g", types: RMA, generic: ByType, ..G },
        Row { name: "shmem_TYPENAME_iput", types: RMA, generic: ByType, ..IPUT },
        Row { name: "shmem_iputSIZE", types: SIZES, ..IPUT },
        Row { name: "shmem_TYPENAME_iget", types: RMA, generic: ByType, ..IGET },
        Row { name: "shmem_igetSIZE", types: SIZES, ..IGET },
        Row { name: "shmem_TYPENAME_ibput", types: RMA, generic: ByType, ..IBPUT },
        Row { name: "shmem_ibputSIZE", types: SIZES, ..IBPUT },
        Row { name: "shmem_TYPENAME_ibget", types: RMA, generic: ByType, ..IBGET },
        Row { name: "shmem_ibgetSIZE", types: SIZES, ..IBGET },
    ],
};
