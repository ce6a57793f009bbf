//! Collective routines (Section 9.10) over any team, and over active sets.
//!
//! On shared memory a collective is an exchange of contributions ([`crate::team::contribution`]), by which members show
//! each other that they are there together with small contributions; copies directly between the members' symmetric
//! objects; and, where others read this PE's objects, a wait until all are done.
//!
//! Where members are on several hosts, [`inter_host`] does that within each host and [`crate::inter_host`] what goes
//! between them.

pub mod active;
pub mod alltoall;
pub mod asets;
mod barrier;
pub mod broadcast;
pub mod files;
pub mod gather;
mod inter_host;
pub mod nonblocking;
pub mod reduce;
pub mod requests;
mod scan;
mod set_check;
pub mod spaces;
pub mod table;

use crate::team::{check, contribution};

/// Members that a member of a tree passes results to.
const FAN: i32 = 4;

pub use alltoall::{alltoall, alltoalls};
pub use barrier::{barrier_all, barrier_in, finalize, finalize_nested, sync_all, sync_unchecked, team_sync};
pub use broadcast::broadcast;
pub use gather::{collect, fcollect};
pub use pellucid_kernels::reduction as kernel;
pub use pellucid_kernels::reduction::{Kernel, Op, Scalar};
pub use reduce::reduce;
pub use scan::{exscan, inscan};
