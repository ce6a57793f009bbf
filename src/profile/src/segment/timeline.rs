//! What a thread did over time.

use std::sync::atomic::AtomicU64;

use crate::timeline::KINDS;

/// Slices of a thread's time.
pub const SLICES: usize = 256;

/// What a thread did over time, in slices of equal width.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Timeline {
    /// Begin of the first slice, in ticks; 0: there is none yet.
    pub origin: AtomicU64,
    /// Width of a slice in ticks, as a power of two.
    pub shift: AtomicU64,
    /// Up to when what was recorded is in slices, in ticks.
    pub settled: AtomicU64,
    /// When the present slice ends, in ticks.
    pub slice_end: AtomicU64,
    /// Time by kind that is in slices, in nanoseconds.
    pub before: [AtomicU64; KINDS],
    /// Time by kind, in nanoseconds.
    pub slices: [[AtomicU64; KINDS]; SLICES],
}
