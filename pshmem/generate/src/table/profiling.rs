//! 10.1 Control of profiling.

use super::Timing::Sampled;
use super::{Group, ROW, Row};

pub const GROUP: Group = Group {
    name: "profiling",
    title: "Control of profiling (10.1)",
    uses: &["crate::control"],
    rows: &[Row {
        name: "shmem_pcontrol",
        params: "int level, ...",
        section: "10.1.1",
        class: "Control",
        timing: Sampled,
        call: "control::pcontrol(level)",
        ..ROW
    }],
};
