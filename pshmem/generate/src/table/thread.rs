//! 9.2 Thread support.

use super::Timing::{Sampled, Timed};
use super::Trait::{AnyTime, Initializes};
use super::{Group, ROW, Row};

pub const GROUP: Group = Group {
    name: "thread",
    title: "Thread support (9.2)",
    uses: &["crate::info", "crate::init"],
    rows: &[
        Row {
            name: "shmem_init_thread",
            ret: "int",
            params: "int requested, int *provided",
            section: "9.2.1",
            class: "Setup",
            traits: &[Initializes],
            timing: Timed,
            failed: "r != 0",
            call: "init::init_thread(requested, provided)",
            ..ROW
        },
        Row {
            name: "shmem_query_thread",
            params: "int *provided",
            section: "9.2.2",
            class: "Query",
            traits: &[AnyTime],
            timing: Sampled,
            call: "info::thread(provided)",
            ..ROW
        },
    ],
};
