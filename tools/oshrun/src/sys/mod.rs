//! The system calls that the standard library does not offer, each behind a safe function.

pub mod claim;
pub mod cpu;
pub mod epoll;
pub mod file;
pub mod library;
pub mod limit;
pub mod net;
pub mod process;
pub mod signal;
