//! The operating system: all raw system calls of the runtime are here.

pub mod ancestors;
pub mod cpu;
pub mod elf;
pub mod fork;
pub mod futex;
pub mod host;
pub mod library;
pub mod machine;
pub mod mmap;
pub mod packet;
pub mod pagemap;
pub mod process;
pub mod socket;
pub mod tcp;
pub mod wait;
