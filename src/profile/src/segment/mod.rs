//! The profile segment: shared memory that the PEs write and anyone who has its descriptor reads.

pub mod algorithms;
pub mod callers;
pub mod counters;
mod crashed;
mod create;
mod current;
pub mod flows;
mod follow;
pub mod futex;
pub mod handover;
pub mod identity;
pub mod layout;
pub mod lines;
pub mod locks;
mod map;
mod mapping;
pub mod meetings;
pub mod names;
pub mod peers;
mod phrase;
pub mod rates;
pub mod release;
mod serve;
pub mod sites;
pub mod tables;
pub mod timeline;
mod waiting;

pub use create::{JobInfo, Origin, create, create_with};
pub use current::{CurrentOp, Phase};
pub use follow::{claims, follow, origin, set_claims};
pub use map::Segment;
pub use serve::SnapshotRequests;
pub use waiting::Condition;

pub(crate) use create::host_name;
pub(crate) use current::in_file;
pub(crate) use map::SegmentShape;
pub(crate) use mapping::Mapping;
#[cfg(feature = "report")]
pub(crate) use phrase::object as offset_in_memory;
