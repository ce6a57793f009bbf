//! 9.12 Memory ordering.

use super::Forms::WithCtx;
use super::Timing::Sampled;
use super::Trait::Completes;
use super::{Group, ROW, Row};

const ORDER: Row = Row { forms: WithCtx, class: "Order", timing: Sampled, ..ROW };

pub const GROUP: Group = Group {
    name: "ordering",
    title: "Memory ordering (9.12)",
    uses: &["pellucid_core::context::order"],
    rows: &[
        Row { name: "shmem_fence", section: "9.12.1", call: "order::fence(m, CTX)", ..ORDER },
        Row { name: "shmem_quiet", section: "9.12.2", traits: &[Completes], call: "order::quiet(m, CTX)", ..ORDER },
        Row {
            name: "shmem_pe_quiet",
            params: "const int *target_pes, size_t npes",
            section: "9.12.3",
            traits: &[Completes],
            call: "order::pe_quiet(m, CTX, target_pes, npes)",
            ..ORDER
        },
    ],
};
