//! How a PE learns who it is and meets the others of its host.

pub mod job;
mod launch;

pub use launch::{Launch, find};
