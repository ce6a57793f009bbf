//! 9.5 Communication contexts.

use super::Timing::{Sampled, Timed};
use super::Trait::{Creates, Destroys};
use super::{Group, ROW, Row};

const CONTEXT: Row = Row { class: "Context", ..ROW };

pub const GROUP: Group = Group {
    name: "ctx",
    title: "Communication contexts (9.5)",
    uses: &["pellucid_core::context", "pellucid_core::team"],
    rows: &[
        Row {
            name: "shmem_ctx_create",
            ret: "int",
            params: "long options, shmem_ctx_t *ctx",
            section: "9.5.1",
            traits: &[Creates],
            timing: Timed,
            failed: "r != 0",
            call: "team::ctx_create(m, options, ctx)",
            ..CONTEXT
        },
        Row {
            name: "shmem_team_create_ctx",
            ret: "int",
            params: "shmem_team_t team, long options, shmem_ctx_t *ctx",
            section: "9.5.2",
            traits: &[Creates],
            timing: Timed,
            failed: "r != 0",
            call: "team::create_ctx(m, team, options, ctx)",
            ..CONTEXT
        },
        Row {
            name: "shmem_ctx_destroy",
            params: "shmem_ctx_t ctx",
            section: "9.5.3",
            traits: &[Destroys],
            timing: Timed,
            call: "team::ctx_destroy(m, ctx)",
            ..CONTEXT
        },
        Row {
            name: "shmem_ctx_get_team",
            ret: "int",
            params: "shmem_ctx_t ctx, shmem_team_t *team",
            section: "9.5.4",
            timing: Sampled,
            failed: "r != 0",
            call: "team::ctx_get_team(m, ctx, team)",
            ..CONTEXT
        },
    ],
};
