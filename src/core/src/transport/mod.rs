//! How data reaches another PE.

pub mod far;
pub mod shm;
