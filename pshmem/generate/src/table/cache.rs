//! Cache management, removed from OpenSHMEM 1.5 (Annex F.2.7) and without effect before, where caches are coherent:
//! older programs call it, and tools wrap it.

use super::Timing::Sampled;
use super::{Group, ROW, Row};

const CACHE: Row = Row { section: "F.2.7", deprecated: true, class: "Query", timing: Sampled, call: "Ok(())", ..ROW };

const LINE: Row = Row { params: "void *dest", addr: "dest.addr()", ..CACHE };

pub const GROUP: Group = Group {
    name: "cache",
    title: "Cache management (removed, F.2.7), without effect",
    uses: &[],
    rows: &[
        Row { name: "shmem_clear_cache_inv", ..CACHE },
        Row { name: "shmem_set_cache_inv", ..CACHE },
        Row { name: "shmem_clear_cache_line_inv", ..LINE },
        Row { name: "shmem_set_cache_line_inv", ..LINE },
        Row { name: "shmem_udcflush", ..CACHE },
        Row { name: "shmem_udcflush_line", ..LINE },
    ],
};
