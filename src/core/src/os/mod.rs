//! The operating system: all raw system calls of the runtime are here.

pub mod ancestors;
pub mod bell;
pub mod cpu;
pub mod crash;
pub mod depth;
pub mod elf;
pub mod fork;
pub mod futex;
pub mod host;
pub mod library;
pub mod machine;
pub mod mmap;
pub mod oom;
pub mod other;
pub mod packet;
pub mod pagemap;
pub mod poll;
pub mod process;
pub mod reentry;
pub mod signal;
pub mod socket;
pub mod stack;
pub mod stall;
pub mod tcp;
pub mod thread;
pub mod wait;
