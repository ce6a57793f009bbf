//! The rows of the Fortran interface, group by group.

use super::Answer::{Both, Element, Integer, Logical, Nothing, Pointer};
use super::Twin::{Sized, Typed};
use super::{Group, Kind, Row};

const fn any(word: &'static str, bits: &'static str) -> Kind {
    Kind { word, twin: Sized(bits), fortran: "", value: "" }
}
const fn typed(word: &'static str, c: &'static str) -> Kind {
    Kind { word, twin: Typed(c), fortran: "", value: "" }
}
const fn number(word: &'static str, c: &'static str, fortran: &'static str, value: &'static str) -> Kind {
    Kind { word, twin: Typed(c), fortran, value }
}

const CHARACTER: Kind = typed("character", "char");
const COMPLEX: Kind = any("complex", "64");
const DOUBLE: Kind = typed("double", "double");
const INTEGER: Kind = typed("integer", "int");
const LOGICAL: Kind = any("logical", "32");
const REAL: Kind = typed("real", "float");
const BYTES_4: Kind = any("4", "32");
const BYTES_8: Kind = any("8", "64");
const BITS_32: Kind = any("32", "32");
const BITS_64: Kind = any("64", "64");
const BITS_128: Kind = any("128", "128");
const MEM: Kind = any("mem", "mem");

/// Contiguous transfers.
const RMA: &[Kind] =
    &[CHARACTER, COMPLEX, DOUBLE, INTEGER, LOGICAL, REAL, BYTES_4, BYTES_8, BITS_32, BITS_64, BITS_128, MEM];
/// Strided transfers.
const STRIDED: &[Kind] = &[COMPLEX, DOUBLE, INTEGER, LOGICAL, REAL, BYTES_4, BYTES_8, BITS_32, BITS_64, BITS_128];
/// Kinds in whose names programs put what they transfer, though the specification has them for atomics and reductions
/// only.
const BY_KIND: &[Kind] = &[
    typed("int4", "int"),
    typed("int8", "long"),
    typed("real4", "float"),
    typed("real8", "double"),
    any("real16", "128"),
    any("comp4", "64"),
    any("comp8", "128"),
];
const ANY_SIZE: &[Kind] = &[BYTES_4, BYTES_8, BITS_32, BITS_64];
const BITS: &[Kind] = &[BITS_32, BITS_64];

const INT4: Kind = number("int4", "int", "integer*4", "i4");
const INT8: Kind = number("int8", "long", "integer*8", "i8");
const REAL4: Kind = number("real4", "float", "real*4", "r4");
const REAL8: Kind = number("real8", "double", "real*8", "r8");
/// Atomics that compute.
const ATOMIC: &[Kind] = &[INT4, INT8];
/// Atomics that move a value.
const ATOMIC_MOVES: &[Kind] = &[INT4, INT8, REAL4, REAL8];

const INT2_SET: Kind = typed("int2", "short");
const INT4_SET: Kind = typed("int4", "int");
const INT8_SET: Kind = typed("int8", "long");
const REAL4_SET: Kind = typed("real4", "float");
const REAL8_SET: Kind = typed("real8", "double");
const COMP4_SET: Kind = typed("comp4", "complexf");
const COMP8_SET: Kind = typed("comp8", "complexd");
/// Reductions of bits, of numbers in order, of all numbers.
const SET_BITS: &[Kind] = &[INT4_SET, INT8_SET];
const SET_ORDERED: &[Kind] = &[INT4_SET, INT8_SET, REAL4_SET, REAL8_SET];
const SET_NUMBERS: &[Kind] = &[INT4_SET, INT8_SET, REAL4_SET, REAL8_SET, COMP4_SET, COMP8_SET];
const SET_SHORT: &[Kind] = &[INT2_SET];

const ROW: Row = Row { name: "", c: "", args: "", answer: Nothing, kinds: &[], extension: false };
const TRANSFER: Row = Row { args: "dest source nelems pe", kinds: RMA, ..ROW };
const STRIDED_TRANSFER: Row = Row { args: "dest source dst sst nelems pe", kinds: STRIDED, ..ROW };
/// Names of Cray's, and the other operations of kinds that are not the specification's.
const OTHER: Row = Row { extension: true, ..TRANSFER };
const OTHER_STRIDED: Row = Row { extension: true, kinds: BY_KIND, ..STRIDED_TRANSFER };

const SETUP: Group = Group {
    name: "setup",
    title: "Setup, exit and query",
    rows: &[
        Row { name: "shmem_init", c: "shmem_init", ..ROW },
        Row { name: "shmem_finalize", c: "shmem_finalize", ..ROW },
        Row { name: "start_pes", c: "start_pes", args: "npes", ..ROW },
        Row { name: "shmem_global_exit", c: "pellucid_global_exit", args: "code", ..ROW },
        Row { name: "shmem_my_pe", c: "pellucid_fortran_my_pe", answer: Both, ..ROW },
        Row { name: "my_pe", c: "pellucid_fortran_my_pe", answer: Both, ..ROW },
        Row { name: "shmem_n_pes", c: "pellucid_fortran_n_pes", answer: Both, ..ROW },
        Row { name: "num_pes", c: "pellucid_fortran_n_pes", answer: Both, ..ROW },
        Row { name: "shmem_pe_accessible", c: "shmem_pe_accessible", args: "pe", answer: Logical, ..ROW },
        Row { name: "shmem_addr_accessible", c: "shmem_addr_accessible", args: "object pe", answer: Logical, ..ROW },
        Row { name: "shmem_ptr", c: "shmem_ptr", args: "dest pe", answer: Pointer, ..ROW },
        Row { name: "shmem_info_get_version", c: "shmem_info_get_version", args: "MAJOR MINOR", ..ROW },
        Row { name: "shmem_info_get_name", c: "pellucid_fortran_info_get_name", args: "NAME", ..ROW },
        Row { name: "shmem_pcontrol", c: "shmem_pcontrol", args: "level", extension: true, ..ROW },
    ],
};

const MEMORY: Group = Group {
    name: "memory",
    title: "Symmetric heap",
    rows: &[
        Row { name: "shpalloc", c: "pellucid_fortran_shpalloc", args: "addr length errcode abort", ..ROW },
        Row { name: "shpdeallc", c: "pellucid_fortran_shpdeallc", args: "addr errcode abort", ..ROW },
        Row { name: "shpclmove", c: "pellucid_fortran_shpclmove", args: "addr length status abort", ..ROW },
    ],
};

const TRANSFERS: Group = Group {
    name: "rma",
    title: "Remote memory access",
    rows: &[
        Row { name: "shmem_{put}", c: "shmem_{put}", ..TRANSFER },
        Row { name: "shmem_{get}", c: "shmem_{get}", ..TRANSFER },
        Row { name: "shmem_{put_nbi}", c: "shmem_{put_nbi}", ..TRANSFER },
        Row { name: "shmem_{get_nbi}", c: "shmem_{get_nbi}", ..TRANSFER },
        Row { name: "shmem_put", c: "shmem_put64", kinds: &[], ..TRANSFER },
        Row { name: "shmem_{iput}", c: "shmem_{iput}", ..STRIDED_TRANSFER },
        Row { name: "shmem_{iget}", c: "shmem_{iget}", ..STRIDED_TRANSFER },
    ],
};

const MORE_TRANSFERS: Group = Group {
    name: "rma_more",
    title: "Remote memory access under names that OpenSHMEM does not have",
    rows: &[
        Row { name: "shmem_get", c: "shmem_get64", kinds: &[], ..OTHER },
        Row { name: "shmem_{put_nb}", c: "shmem_{put_nbi}", ..OTHER },
        Row { name: "shmem_{get_nb}", c: "shmem_{get_nbi}", ..OTHER },
        Row { name: "shmem_put_nb", c: "shmem_put64_nbi", kinds: &[], ..OTHER },
        Row { name: "shmem_get_nb", c: "shmem_get64_nbi", kinds: &[], ..OTHER },
        Row { name: "shmem_put_nbi", c: "shmem_put64_nbi", kinds: &[], ..OTHER },
        Row { name: "shmem_get_nbi", c: "shmem_get64_nbi", kinds: &[], ..OTHER },
        Row { name: "shmem_{put}", c: "shmem_{put}", kinds: BY_KIND, ..OTHER },
        Row { name: "shmem_{get}", c: "shmem_{get}", kinds: BY_KIND, ..OTHER },
        Row { name: "shmem_{put_nb}", c: "shmem_{put_nbi}", kinds: BY_KIND, ..OTHER },
        Row { name: "shmem_{get_nb}", c: "shmem_{get_nbi}", kinds: BY_KIND, ..OTHER },
        Row { name: "shmem_{put_nbi}", c: "shmem_{put_nbi}", kinds: BY_KIND, ..OTHER },
        Row { name: "shmem_{get_nbi}", c: "shmem_{get_nbi}", kinds: BY_KIND, ..OTHER },
        Row { name: "shmem_iput", c: "shmem_iput64", kinds: &[], ..OTHER_STRIDED },
        Row { name: "shmem_iget", c: "shmem_iget64", kinds: &[], ..OTHER_STRIDED },
        Row { name: "shmem_{iput}", c: "shmem_{iput}", ..OTHER_STRIDED },
        Row { name: "shmem_{iget}", c: "shmem_{iget}", ..OTHER_STRIDED },
    ],
};

const FETCH: Row = Row { answer: Element, kinds: ATOMIC, ..ROW };

const ATOMICS: Group = Group {
    name: "amo",
    title: "Atomic memory operations",
    rows: &[
        Row { name: "shmem_KIND_add", c: "shmem_KIND_atomic_add", args: "dest VALUE pe", kinds: ATOMIC, ..ROW },
        Row { name: "shmem_KIND_cswap", c: "shmem_KIND_atomic_compare_swap", args: "dest COND VALUE pe", ..FETCH },
        Row { name: "shmem_KIND_fadd", c: "shmem_KIND_atomic_fetch_add", args: "dest VALUE pe", ..FETCH },
        Row { name: "shmem_KIND_finc", c: "shmem_KIND_atomic_fetch_inc", args: "dest pe", ..FETCH },
        Row { name: "shmem_KIND_inc", c: "shmem_KIND_atomic_inc", args: "dest pe", kinds: ATOMIC, ..ROW },
        Row { name: "shmem_KIND_fetch", c: "shmem_KIND_atomic_fetch", args: "source pe", kinds: ATOMIC_MOVES, ..FETCH },
        Row { name: "shmem_KIND_set", c: "shmem_KIND_atomic_set", args: "dest VALUE pe", kinds: ATOMIC_MOVES, ..ROW },
        Row {
            name: "shmem_KIND_swap",
            c: "shmem_KIND_atomic_swap",
            args: "dest VALUE pe",
            kinds: ATOMIC_MOVES,
            ..FETCH
        },
        Row { name: "shmem_swap", c: "shmem_int_atomic_swap", args: "dest value pe", answer: Integer, ..ROW },
    ],
};

const WAITS: Group = Group {
    name: "p2p",
    title: "Waits",
    rows: &[
        Row { name: "shmem_KIND_wait", c: "shmem_KIND_wait", args: "ivar cmp_value", kinds: ATOMIC, ..ROW },
        Row {
            name: "shmem_KIND_wait_until",
            c: "shmem_KIND_wait_until",
            args: "ivar cmp cmp_value",
            kinds: ATOMIC,
            ..ROW
        },
        Row { name: "shmem_wait", c: "shmem_int_wait", args: "ivar cmp_value", ..ROW },
        Row { name: "shmem_wait_until", c: "shmem_int_wait_until", args: "ivar cmp cmp_value", ..ROW },
    ],
};

const SET: Row = Row { args: "dest source nelems PE_start logPE_stride PE_size pSync", kinds: ANY_SIZE, ..ROW };
const REDUCTION: Row =
    Row { args: "dest source nreduce PE_start logPE_stride PE_size pWrk pSync", kinds: SET_BITS, ..ROW };
/// `REAL*16` is no type of C's.
const QUAD: Row = Row { kinds: &[], ..REDUCTION };
const SHORT: Row = Row { kinds: SET_SHORT, extension: true, ..REDUCTION };

const COLLECTIVES: Group = Group {
    name: "collective",
    title: "Collectives",
    rows: &[
        Row { name: "shmem_barrier_all", c: "shmem_barrier_all", ..ROW },
        Row { name: "shmem_barrier", c: "shmem_barrier", args: "PE_start logPE_stride PE_size pSync", ..ROW },
        Row { name: "shmem_sync_all", c: "shmem_sync_all", extension: true, ..ROW },
        Row {
            name: "shmem_sync",
            c: "shmem_sync",
            args: "PE_start logPE_stride PE_size pSync",
            extension: true,
            ..ROW
        },
        Row {
            name: "shmem_broadcastKIND",
            c: "shmem_broadcastKIND",
            args: "dest source nelems PE_root PE_start logPE_stride PE_size pSync",
            ..SET
        },
        Row { name: "shmem_collectKIND", c: "shmem_collectKIND", ..SET },
        Row { name: "shmem_fcollectKIND", c: "shmem_fcollectKIND", ..SET },
        Row { name: "shmem_alltoallKIND", c: "shmem_alltoallKIND", kinds: BITS, ..SET },
        Row {
            name: "shmem_alltoallsKIND",
            c: "shmem_alltoallsKIND",
            args: "dest source dst sst nelems PE_start logPE_stride PE_size pSync",
            kinds: BITS,
            ..SET
        },
        Row { name: "shmem_KIND_and_to_all", c: "shmem_KIND_and_to_all", ..REDUCTION },
        Row { name: "shmem_KIND_or_to_all", c: "shmem_KIND_or_to_all", ..REDUCTION },
        Row { name: "shmem_KIND_xor_to_all", c: "shmem_KIND_xor_to_all", ..REDUCTION },
        Row { name: "shmem_KIND_max_to_all", c: "shmem_KIND_max_to_all", kinds: SET_ORDERED, ..REDUCTION },
        Row { name: "shmem_KIND_min_to_all", c: "shmem_KIND_min_to_all", kinds: SET_ORDERED, ..REDUCTION },
        Row { name: "shmem_KIND_sum_to_all", c: "shmem_KIND_sum_to_all", kinds: SET_NUMBERS, ..REDUCTION },
        Row { name: "shmem_KIND_prod_to_all", c: "shmem_KIND_prod_to_all", kinds: SET_NUMBERS, ..REDUCTION },
        Row { name: "shmem_real16_max_to_all", c: "pellucid_fortran_real16_max_to_all", ..QUAD },
        Row { name: "shmem_real16_min_to_all", c: "pellucid_fortran_real16_min_to_all", ..QUAD },
        Row { name: "shmem_real16_sum_to_all", c: "pellucid_fortran_real16_sum_to_all", ..QUAD },
        Row { name: "shmem_real16_prod_to_all", c: "pellucid_fortran_real16_prod_to_all", ..QUAD },
        Row { name: "shmem_KIND_and_to_all", c: "shmem_KIND_and_to_all", ..SHORT },
        Row { name: "shmem_KIND_or_to_all", c: "shmem_KIND_or_to_all", ..SHORT },
        Row { name: "shmem_KIND_xor_to_all", c: "shmem_KIND_xor_to_all", ..SHORT },
        Row { name: "shmem_KIND_max_to_all", c: "shmem_KIND_max_to_all", ..SHORT },
        Row { name: "shmem_KIND_min_to_all", c: "shmem_KIND_min_to_all", ..SHORT },
        Row { name: "shmem_KIND_sum_to_all", c: "shmem_KIND_sum_to_all", ..SHORT },
        Row { name: "shmem_KIND_prod_to_all", c: "shmem_KIND_prod_to_all", ..SHORT },
    ],
};

const LOCK: Row = Row { args: "lock", ..ROW };
const LINE: Row = Row { args: "dest", ..ROW };

const ORDER: Group = Group {
    name: "order",
    title: "Ordering, locks and caches",
    rows: &[
        Row { name: "shmem_fence", c: "shmem_fence", ..ROW },
        Row { name: "shmem_quiet", c: "shmem_quiet", ..ROW },
        Row { name: "shmem_set_lock", c: "pellucid_fortran_set_lock", ..LOCK },
        Row { name: "shmem_clear_lock", c: "pellucid_fortran_clear_lock", ..LOCK },
        Row { name: "shmem_test_lock", c: "pellucid_fortran_test_lock", answer: Integer, ..LOCK },
        Row { name: "shmem_set_cache_inv", c: "shmem_set_cache_inv", ..ROW },
        Row { name: "shmem_set_cache_line_inv", c: "shmem_set_cache_line_inv", ..LINE },
        Row { name: "shmem_clear_cache_inv", c: "shmem_clear_cache_inv", ..ROW },
        Row { name: "shmem_clear_cache_line_inv", c: "shmem_clear_cache_line_inv", extension: true, ..LINE },
        Row { name: "shmem_udcflush", c: "shmem_udcflush", ..ROW },
        Row { name: "shmem_udcflush_line", c: "shmem_udcflush_line", ..LINE },
    ],
};

/// The whole interface.
pub const GROUPS: &[Group] = &[SETUP, MEMORY, TRANSFERS, MORE_TRANSFERS, ATOMICS, WAITS, COLLECTIVES, ORDER];
