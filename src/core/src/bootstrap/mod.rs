//! How a PE learns who it is and meets the others.

pub mod identity;
pub mod job;
mod launch;
pub mod wireup;

pub use launch::{Launch, find};
