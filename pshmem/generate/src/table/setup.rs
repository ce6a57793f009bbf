//! 9.1 Library setup, exit and query.

use super::Timing::{Sampled, Timed};
use super::Trait::{AnyTime, Finalizes, Initializes};
use super::{Group, ROW, Row};

const SETUP: Row = Row { class: "Setup", timing: Timed, ..ROW };
const QUERY: Row = Row { class: "Query", timing: Sampled, ..ROW };
const MY_PE: Row = Row { ret: "int", section: "9.1.2", traits: &[AnyTime], call: "runtime::my_pe()", ..QUERY };
const N_PES: Row = Row { ret: "int", section: "9.1.3", traits: &[AnyTime], call: "runtime::n_pes()", ..QUERY };

pub const GROUP: Group = Group {
    name: "setup",
    title: "Library setup, exit and query (9.1)",
    uses: &["pellucid_core::runtime", "pellucid_core::team", "crate::info", "crate::init"],
    rows: &[
        Row { name: "shmem_init", section: "9.1.1", traits: &[Initializes], call: "init::init()", ..SETUP },
        Row { name: "shmem_my_pe", ..MY_PE },
        Row { name: "shmem_n_pes", ..N_PES },
        Row { name: "shmem_finalize", section: "9.1.4", traits: &[Finalizes], call: "init::finalize()", ..SETUP },
        Row {
            name: "shmem_query_initialized",
            params: "int *initialized",
            section: "9.1.5",
            traits: &[AnyTime],
            call: "info::initialized(initialized)",
            ..QUERY
        },
        Row {
            name: "shmem_global_exit",
            ret: "noreturn",
            params: "int status",
            section: "9.1.6",
            call: "runtime::global_exit(status)",
            ..SETUP
        },
        Row {
            name: "shmem_pe_accessible",
            ret: "int",
            params: "int pe",
            section: "9.1.7",
            peer: "pe",
            call: "runtime::memory::pe_accessible(m, pe)",
            ..QUERY
        },
        Row {
            name: "shmem_addr_accessible",
            ret: "int",
            params: "const void *addr, int pe",
            section: "9.1.8",
            peer: "pe",
            addr: "addr.addr()",
            call: "runtime::memory::addr_accessible(m, addr, pe)",
            ..QUERY
        },
        Row {
            name: "shmem_ptr",
            ret: "void *",
            params: "const void *dest, int pe",
            section: "9.1.9",
            peer: "pe",
            addr: "dest.addr()",
            call: "runtime::memory::ptr(m, dest, pe)",
            ..QUERY
        },
        Row {
            name: "shmem_team_ptr",
            ret: "void *",
            params: "shmem_team_t team, const void *dest, int pe",
            section: "9.1.10",
            addr: "dest.addr()",
            call: "team::team_ptr(m, team, dest, pe)",
            ..QUERY
        },
        Row {
            name: "shmem_info_get_version",
            params: "int *major, int *minor",
            section: "9.1.11",
            traits: &[AnyTime],
            call: "info::version(major, minor)",
            ..QUERY
        },
        Row {
            name: "shmem_info_get_name",
            params: "char *name",
            section: "9.1.12",
            traits: &[AnyTime],
            call: "info::name(name)",
            ..QUERY
        },
        Row {
            name: "start_pes",
            params: "int npes",
            section: "9.1.13",
            deprecated: true,
            traits: &[Initializes],
            call: "init::start_pes(npes)",
            ..SETUP
        },
        Row { name: "_my_pe", deprecated: true, ..MY_PE },
        Row { name: "_num_pes", deprecated: true, ..N_PES },
    ],
};
