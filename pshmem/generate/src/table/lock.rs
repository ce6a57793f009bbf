//! 9.13 Distributed locks.

use super::Timing::{Sampled, Timed};
use super::Trait::{Asks, Waits};
use super::{Group, ROW, Row};

// `lock` is the parameter of all three.
const LOCK: Row =
    Row { params: "long *lock", section: "9.13.1", class: "Lock", timing: Timed, addr: "lock.addr()", ..ROW };

pub const GROUP: Group = Group {
    name: "lock",
    title: "Distributed locking (9.13)",
    uses: &["crate::locking"],
    rows: &[
        Row { name: "shmem_clear_lock", call: "locking::clear(m, lock.cast::<u64>())", ..LOCK },
        Row { name: "shmem_set_lock", traits: &[Waits], call: "locking::set(m, lock.cast::<u64>())", ..LOCK },
        Row {
            name: "shmem_test_lock",
            traits: &[Asks],
            ret: "int",
            timing: Sampled,
            call: "locking::test(m, lock.cast::<u64>())",
            ..LOCK
        },
    ],
};
