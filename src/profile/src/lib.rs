//! The profile of Pellucid.
//!
//! A PE records what it does into a fixed-size shared-memory segment that the launcher holds, with plain stores by the
//! thread that owns the memory. Whoever maps the segment can read it at any time: while the job runs, when it hangs,
//! and after a PE was killed.
//!
//! | module | what it is |
//! |---|---|
//! | [`op`] | one row per C routine: name, class, section, how it is timed |
//! | [`arm`] | the flag bytes that each entry point tests: the only cost of a profile that is off |
//! | [`clock`] | time stamps and their scale |
//! | [`histogram`], [`size`] | latency buckets, message size classes, peer distances |
//! | [`segment`] | the memory layout; creating and mapping it; the current operation of each thread |
//! | [`recorder`] | the writing side, inlined into the entry points |
//! | [`spawn`] | starting a tool beside a program |
//! | [`companion`] | the process beside a job that serves, writes and pushes its metrics |
//! | [`counters`] | the hardware and software counters that can be asked for |
//! | [`trace`] | events of single calls, in files of their threads |
//! | [`output`], [`text`], [`mod@say`] | directories and files that nobody else leads elsewhere; names that a terminal takes for text; lines on standard error |
//! | [`timeline`] | time slices |
//! | [`model`], [`tables`], [`snapshot`] | plain numbers, and how they are read out of a segment |
//! | `file` | the profile directory (feature `write`, to read it: `report`) |
//! | `merge` | sums over PEs that are read one at a time (feature `report`) |
//! | `report` | text and JSON reports (feature `report`) |
//! | `calibration` | what calls take where nothing holds them up, as it was measured on a machine (feature `report`) |
//! | `advice` | what slows a program down, and what to try (feature `report`) |
//! | `live` | what PEs do now, and who waits for whom (feature `report`) |
//!
//! This crate knows nothing of the runtime. Without features it depends on libc and on checksums (of traces) only; the
//! features that the library has add system calls (`counters`) and the profile's files (`write`).
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stderr))]

#[cfg(feature = "report")]
pub mod advice;
pub mod arm;
#[cfg(feature = "report")]
pub mod calibration;
pub mod clock;
pub mod companion;
pub mod counters;
mod elf;
#[cfg(feature = "write")]
pub mod file;
pub mod hash;
pub mod histogram;
#[cfg(feature = "report")]
pub mod live;
#[cfg(feature = "report")]
pub mod merge;
pub mod model;
pub mod op;
pub mod order;
pub mod output;
mod pages;
pub mod recorder;
#[cfg(feature = "report")]
pub mod report;
mod sample;
pub mod say;
pub mod segment;
pub mod size;
pub mod snapshot;
pub mod spawn;
pub mod tables;
pub mod text;
pub mod timeline;
pub mod trace;
