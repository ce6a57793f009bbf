//! Extensions: symmetric memory of some PEs alone, and where PEs are (docs/extensions.md).

use super::Timing::{Sampled, Timed};
use super::{Group, ROW, Row};

/// Of all members of a space.
const SPACE: Row = Row { ret: "int", section: "X.4.1", class: "Memory", timing: Timed, failed: "r != 0", ..ROW };
/// What gives memory.
const MEMORY: Row =
    Row { ret: "void *", failed: "r.is_null() && size > 0", peer: "of_space(space, size > 0)", bytes: "size", ..SPACE };

pub const GROUP: Group = Group {
    name: "space",
    title: "Spaces (docs/extensions.md)",
    uses: &["pellucid_core::runtime::spaces"],
    rows: &[
        Row {
            name: "shmemx_space_create",
            params: "shmem_team_t team, const shmemx_space_config_t *config, long mask, shmemx_space_t *space",
            call: "spaces::create(m, team, config, mask, space)",
            ..SPACE
        },
        Row {
            name: "shmemx_space_create_aset",
            params: "shmemx_aset *aset, const shmemx_space_config_t *config, long mask, shmemx_space_t *space",
            call: "spaces::create_aset(m, aset, config, mask, space)",
            ..SPACE
        },
        Row {
            name: "shmemx_space_malloc",
            params: "shmemx_space_t space, size_t size",
            call: "spaces::malloc(space, size)",
            ..MEMORY
        },
        Row {
            name: "shmemx_space_calloc",
            params: "shmemx_space_t space, size_t count, size_t size",
            peer: "of_space(space, count > 0 && size > 0)",
            bytes: "count.saturating_mul(size)",
            failed: "r.is_null() && count > 0 && size > 0",
            call: "spaces::calloc(space, count, size)",
            ..MEMORY
        },
        Row {
            name: "shmemx_space_align",
            params: "shmemx_space_t space, size_t alignment, size_t size",
            call: "spaces::align(space, alignment, size)",
            ..MEMORY
        },
        Row {
            name: "shmemx_space_realloc",
            params: "shmemx_space_t space, void *ptr, size_t size",
            peer: "of_space(space, size > 0 || !ptr.is_null())",
            addr: "ptr.addr()",
            call: "spaces::realloc(space, ptr, size)",
            ..MEMORY
        },
        Row {
            name: "shmemx_space_free",
            ret: "void",
            params: "shmemx_space_t space, void *ptr",
            peer: "of_space(space, !ptr.is_null())",
            addr: "ptr.addr()",
            failed: "",
            call: "spaces::free(space, ptr)",
            ..SPACE
        },
        Row {
            name: "shmemx_space_destroy",
            params: "shmemx_space_t space",
            peer: "of_space(space, true)",
            call: "spaces::destroy(space)",
            ..SPACE
        },
        Row {
            name: "shmemx_space_of",
            params: "const void *addr, shmemx_space_t *space",
            class: "Query",
            timing: Sampled,
            failed: "",
            call: "spaces::of(addr, space)",
            ..SPACE
        },
        Row {
            name: "shmemx_locality",
            params: "int pe",
            class: "Query",
            timing: Sampled,
            failed: "",
            call: "spaces::locality(m, pe)",
            ..SPACE
        },
    ],
};
