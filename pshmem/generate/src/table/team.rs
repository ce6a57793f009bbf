//! 9.4 Teams.

use super::Timing::{Sampled, Timed};
use super::Trait::{Creates, Destroys, Together};
use super::{Group, ROW, Row};

const QUERY: Row = Row { ret: "int", class: "Query", timing: Sampled, ..ROW };
const SPLIT: Row =
    Row { ret: "int", class: "Team", traits: &[Together, Creates], timing: Timed, failed: "r != 0", ..ROW };

pub const GROUP: Group = Group {
    name: "team",
    title: "Team management (9.4)",
    uses: &["crate::errors", "pellucid_core::team"],
    rows: &[
        Row {
            name: "shmem_team_my_pe",
            params: "shmem_team_t team",
            section: "9.4.1",
            call: "team::my_pe(m, team)",
            ..QUERY
        },
        Row {
            name: "shmem_team_n_pes",
            params: "shmem_team_t team",
            section: "9.4.2",
            call: "team::n_pes(m, team)",
            ..QUERY
        },
        Row {
            name: "shmem_team_get_config",
            params: "shmem_team_t team, long config_mask, shmem_team_config_t *config",
            section: "9.4.4",
            failed: "r != 0",
            call: "team::get_config(m, team, config_mask, config)",
            ..QUERY
        },
        Row {
            name: "shmem_team_translate_pe",
            params: "shmem_team_t src_team, int src_pe, shmem_team_t dest_team",
            section: "9.4.5",
            call: "team::translate_pe(m, src_team, src_pe, dest_team)",
            ..QUERY
        },
        Row {
            name: "shmem_team_split_strided",
            params: "shmem_team_t parent_team, int start, int stride, int size, \
                     const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team",
            section: "9.4.6",
            call: "team::split_strided(m, parent_team, start, stride, size, config, config_mask, new_team)",
            ..SPLIT
        },
        Row {
            name: "shmem_team_split_2d",
            params: "shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, \
                     long xaxis_mask, shmem_team_t *xaxis_team, \
                     const shmem_team_config_t *yaxis_config, long yaxis_mask, \
                     shmem_team_t *yaxis_team",
            section: "9.4.7",
            call: "team::split_2d(m, parent_team, xrange, xaxis_config, xaxis_mask, xaxis_team, \
                   yaxis_config, yaxis_mask, yaxis_team)",
            ..SPLIT
        },
        Row {
            name: "shmem_team_destroy",
            params: "shmem_team_t team",
            section: "9.4.8",
            class: "Team",
            traits: &[Together, Destroys],
            timing: Timed,
            call: "errors::destroy_team(m, team)",
            ..ROW
        },
    ],
};
