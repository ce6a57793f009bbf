//! 9.9 Session hints.

use super::Timing::Sampled;
use super::{Group, ROW, Row};

const SESSION: Row = Row { class: "Context", timing: Sampled, ..ROW };

pub const GROUP: Group = Group {
    name: "session",
    title: "Communication sessions (9.9)",
    uses: &["pellucid_core::context"],
    rows: &[
        Row {
            name: "shmem_ctx_session_start",
            params: "shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, \
                     long config_mask",
            section: "9.9.2",
            call: "context::session_start(m, ctx, options, config, config_mask)",
            ..SESSION
        },
        Row {
            name: "shmem_ctx_session_stop",
            params: "shmem_ctx_t ctx",
            section: "9.9.3",
            call: "context::session_stop(m, ctx)",
            ..SESSION
        },
    ],
};
