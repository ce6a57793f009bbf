//! Extensions: going on without PEs that are lost (docs/extensions.md).

use super::Timing::{Sized, Timed};
use super::Trait::{Creates, Together};
use super::{Group, ROW, Row};

/// In spite of those that are lost.
const LOST: Row = Row { ret: "int", section: "X.4.2", failed: "r != 0", ..ROW };

pub const GROUP: Group = Group {
    name: "loss",
    title: "Going on without PEs that are lost (docs/extensions.md)",
    uses: &["pellucid_core::context::lost", "pellucid_core::team"],
    rows: &[
        Row {
            name: "shmemx_lost_get",
            params: "void *dest, const void *source, size_t nbytes, int pe",
            class: "Get",
            timing: Sized,
            peer: "pe",
            addr: "source as usize",
            bytes: "nbytes",
            call: "lost::get(m, dest.cast(), source.cast(), nbytes, pe)",
            ..LOST
        },
        Row {
            name: "shmemx_team_shrink",
            params: "shmem_team_t team, shmem_team_t *survivors",
            class: "Team",
            traits: &[Together, Creates],
            timing: Timed,
            call: "team::shrink(m, team, survivors)",
            ..LOST
        },
        Row {
            name: "shmemx_agree",
            params: "shmem_team_t team, int *flag",
            class: "Barrier",
            timing: Timed,
            call: "team::agreement(m, team, flag)",
            ..LOST
        },
    ],
};
