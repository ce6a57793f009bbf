//! Collective routines (Section 9.10) over any team, and over active sets.
//!
//! On shared memory a collective is a [`post`], by which members show each other that they are there together with small
//! contributions; copies directly between the members' symmetric objects; and, where others read this PE's objects, a wait
//! until all are done.

pub mod active;
pub mod alltoall;
mod barrier;
pub mod broadcast;
pub mod gather;
pub mod kernel;
pub mod post;
pub mod reduce;
mod scan;

pub use alltoall::{alltoall, alltoalls};
pub use barrier::{agree, barrier_all, sync_all, team_sync};
pub use broadcast::broadcast;
pub use gather::{collect, fcollect};
pub use kernel::Kernel;
pub use reduce::reduce;
pub use scan::{exscan, inscan};
