//! How a PE learns who it is and meets the others.

pub mod agreement;
pub mod by_option;
pub mod common;
pub mod detect;
pub mod identity;
pub mod job;
mod key_values;
pub mod last_words;
mod launch;
mod neighbours;
pub mod onhost;
pub mod oshrun;
mod placement;
mod pmi1;
mod pmi2;
mod pmi_socket;
mod pmix;
mod reminder;
mod rendezvous;
pub mod ring;
pub mod round;
mod spare;
pub mod talk;
mod value;
pub mod wireup;

pub use launch::{Launch, before_joining, find, is_of_oshrun};
pub use rendezvous::{MakeProfile, Profiles};
