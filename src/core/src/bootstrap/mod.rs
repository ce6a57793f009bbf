//! How a PE learns who it is and meets the others.

mod cards;
pub mod identity;
pub mod job;
mod launch;
pub mod onhost;
pub mod oshrun;
pub mod talk;
pub mod wireup;

pub use launch::{Launch, find};
