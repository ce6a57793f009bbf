//! Symmetric memory: the segments of every PE of the host, address translation, and the allocator of the heap.

pub mod allocator;
pub mod directory;
pub mod fork_copy;
pub mod heap;
pub mod losses;
pub mod map;
pub mod segments;
pub mod spaces;
pub mod strided;

pub use map::Map;
