//! 9.3 Memory management.

use super::Timing::Timed;
use super::Trait::OfAll;
use super::{Group, ROW, Row};

const MEMORY: Row = Row { class: "Memory", traits: &[OfAll], timing: Timed, ..ROW };

const MALLOC: Row = Row {
    ret: "void *",
    params: "size_t size",
    section: "9.3.1",
    peer: "of_world(size > 0)",
    bytes: "size",
    failed: "r.is_null() && size > 0",
    call: "memory::malloc(size)",
    ..MEMORY
};
const FREE: Row = Row {
    params: "void *ptr",
    section: "9.3.2",
    peer: "of_world(!ptr.is_null())",
    addr: "ptr.addr()",
    call: "memory::free(ptr)",
    ..MEMORY
};
const REALLOC: Row = Row {
    ret: "void *",
    params: "void *ptr, size_t size",
    section: "9.3.3",
    peer: "of_world(size > 0 || !ptr.is_null())",
    addr: "ptr.addr()",
    bytes: "size",
    failed: "r.is_null() && size > 0",
    call: "memory::realloc(ptr, size)",
    ..MEMORY
};
const ALIGN: Row = Row {
    ret: "void *",
    params: "size_t alignment, size_t size",
    section: "9.3.4",
    peer: "of_world(size > 0)",
    bytes: "size",
    failed: "r.is_null() && size > 0",
    call: "memory::align(alignment, size)",
    ..MEMORY
};

pub const GROUP: Group = Group {
    name: "memory",
    title: "Memory management (9.3)",
    uses: &["pellucid_core::runtime::memory"],
    rows: &[
        Row { name: "shmem_malloc", ..MALLOC },
        Row { name: "shmem_free", ..FREE },
        Row { name: "shmem_realloc", ..REALLOC },
        Row { name: "shmem_align", ..ALIGN },
        Row {
            name: "shmem_malloc_with_hints",
            ret: "void *",
            params: "size_t size, long hints",
            section: "9.3.5",
            peer: "of_world(size > 0)",
            bytes: "size",
            failed: "r.is_null() && size > 0",
            call: "memory::malloc_with_hints(size, hints)",
            ..MEMORY
        },
        Row {
            name: "shmem_calloc",
            ret: "void *",
            params: "size_t count, size_t size",
            section: "9.3.6",
            peer: "of_world(count > 0 && size > 0)",
            bytes: "count.saturating_mul(size)",
            failed: "r.is_null() && count > 0 && size > 0",
            call: "memory::calloc(count, size)",
            ..MEMORY
        },
        Row { name: "shmalloc", section: "9.3", deprecated: true, ..MALLOC },
        Row { name: "shfree", section: "9.3", deprecated: true, ..FREE },
        Row { name: "shrealloc", section: "9.3", deprecated: true, ..REALLOC },
        Row { name: "shmemalign", section: "9.3", deprecated: true, ..ALIGN },
    ],
};
