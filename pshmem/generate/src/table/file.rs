//! Extensions: files that a team reads and writes together (docs/extensions.md).

use super::Timing::Timed;
use super::Trait::Together;
use super::{Group, ROW, Row};

/// A call of all members on a file as a whole.
const WHOLE: Row = Row {
    ret: "int",
    params: "shmemx_file_t file",
    section: "X.4.3",
    class: "Io",
    traits: &[Together],
    timing: Timed,
    failed: "r != 0",
    ..ROW
};
/// One PE on its own.
const AT: Row = Row {
    ret: "ssize_t",
    params: "shmemx_file_t file, void *sym, size_t bytes, off_t offset",
    addr: "sym.addr()",
    bytes: "bytes",
    failed: "r < 0",
    traits: &[],
    ..WHOLE
};
const AT_NB: Row = Row {
    ret: "int",
    params: "shmemx_file_t file, void *sym, size_t bytes, off_t offset, shmemx_req_h *request",
    failed: "r != 0",
    ..AT
};
/// All members, each at an offset of its own.
const AT_ALL: Row = Row { ret: "int", failed: "r != 0", traits: &[Together], ..AT };
/// One member behind the other.
const ORDERED: Row = Row { params: "shmemx_file_t file, void *sym, size_t bytes", ..AT_ALL };
const STRIDED: Row = Row {
    params: "shmemx_file_t file, void *sym, size_t block, size_t nblocks, off_t stride, off_t offset",
    bytes: "block.wrapping_mul(nblocks)",
    ..AT_ALL
};

pub const GROUP: Group = Group {
    name: "file",
    title: "Files (docs/extensions.md)",
    uses: &["pellucid_core::collectives::files"],
    rows: &[
        Row {
            name: "shmemx_file_open",
            params: "shmem_team_t team, const char *path, int flags, int mode, shmemx_file_t *file",
            call: "files::open(m, team, path, flags, mode, file)",
            ..WHOLE
        },
        Row { name: "shmemx_file_close", call: "files::close(m, file)", ..WHOLE },
        Row { name: "shmemx_file_sync", call: "files::sync(m, file)", ..WHOLE },
        Row {
            name: "shmemx_file_size",
            params: "shmemx_file_t file, off_t *size",
            call: "files::size(m, file, size)",
            ..WHOLE
        },
        Row {
            name: "shmemx_file_truncate",
            params: "shmemx_file_t file, off_t size",
            call: "files::truncate(m, file, size)",
            ..WHOLE
        },
        Row { name: "shmemx_file_read_at", call: "files::read_at(m, file, sym.cast(), bytes, offset)", ..AT },
        Row { name: "shmemx_file_write_at", call: "files::write_at(m, file, sym.cast(), bytes, offset)", ..AT },
        Row {
            name: "shmemx_file_read_at_nb",
            call: "files::read_at_nb(m, file, sym.cast(), bytes, offset, request)",
            ..AT_NB
        },
        Row {
            name: "shmemx_file_write_at_nb",
            call: "files::write_at_nb(m, file, sym.cast(), bytes, offset, request)",
            ..AT_NB
        },
        Row {
            name: "shmemx_file_read_at_all",
            call: "files::read_at_all(m, file, sym.cast(), bytes, offset)",
            ..AT_ALL
        },
        Row {
            name: "shmemx_file_write_at_all",
            call: "files::write_at_all(m, file, sym.cast(), bytes, offset)",
            ..AT_ALL
        },
        Row {
            name: "shmemx_file_read_at_all_nb",
            call: "files::read_at_all_nb(m, file, sym.cast(), bytes, offset, request)",
            ..AT_NB
        },
        Row {
            name: "shmemx_file_write_at_all_nb",
            call: "files::write_at_all_nb(m, file, sym.cast(), bytes, offset, request)",
            ..AT_NB
        },
        Row { name: "shmemx_file_read_ordered", call: "files::read_ordered(m, file, sym.cast(), bytes)", ..ORDERED },
        Row { name: "shmemx_file_write_ordered", call: "files::write_ordered(m, file, sym.cast(), bytes)", ..ORDERED },
        Row {
            name: "shmemx_file_read_strided_all",
            call: "files::read_strided_all(m, file, sym.cast(), block, nblocks, stride, offset)",
            ..STRIDED
        },
        Row {
            name: "shmemx_file_write_strided_all",
            call: "files::write_strided_all(m, file, sym.cast(), block, nblocks, stride, offset)",
            ..STRIDED
        },
    ],
};
