//! Which algorithm a collective uses: sizes at which one gives way to another.

/// Reductions of this many bytes and more are cut into slices, one a member.
pub const SLICED_REDUCE: usize = 4096;
/// Bytes of a slice that are combined at a time: source, partial result and copies stay in the first-level cache.
pub const BLOCK: usize = 8192;
