//! Extensions: errors, and the end of a job because of one (docs/extensions.md).

use super::Timing::{Sampled, Timed};
use super::{Group, ROW, Row};

/// From anywhere, signal handlers too.
const ABORT: Row = Row { section: "X.3.4", class: "Setup", timing: Timed, ..ROW };
/// What a PE knows of itself and of the job.
const STATE: Row = Row { ret: "int", section: "X.4.2", class: "Query", timing: Sampled, ..ROW };
/// Of the calling thread, and at any time.
const LAST: Row = Row { class: "Control", ..STATE };

pub const GROUP: Group = Group {
    name: "error",
    title: "Errors and abort (docs/extensions.md)",
    uses: &["crate::errors", "crate::abort", "pellucid_core::runtime"],
    rows: &[
        Row { name: "shmemx_abort", call: "abort::abort()", ..ABORT },
        Row {
            name: "shmemx_abort_because",
            params: "int status, const char *why",
            call: "abort::because(status, why)",
            ..ABORT
        },
        Row {
            name: "shmemx_errhandler_set",
            params: "shmem_team_t team, shmemx_errhandler_t handler, void *data",
            failed: "r != 0",
            call: "errors::set_handler(m, team, handler, data)",
            ..LAST
        },
        Row { name: "shmemx_error_last", params: "shmemx_error_t *error", call: "errors::last(error)", ..LAST },
        Row { name: "shmemx_error_clear", ret: "void", call: "errors::clear()", ..LAST },
        Row {
            name: "shmemx_error_string",
            ret: "const char *",
            params: "int code",
            call: "errors::string(code)",
            ..LAST
        },
        Row { name: "shmemx_job_state", call: "runtime::job_state()", ..STATE },
        Row { name: "shmemx_pe_state", params: "int pe", call: "runtime::pe_state(pe)", ..STATE },
        Row {
            name: "shmemx_failed_pes",
            params: "int *list, int max",
            call: "runtime::failed_pes(list, max)",
            ..STATE
        },
    ],
};
