//! How data reaches another PE.

pub mod far;
pub mod ofi;
pub mod shm;
