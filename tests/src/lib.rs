//! Harness of the end-to-end tests: finds the staged library, compiles C programs with `oshcc`, runs them under
//! `oshrun` with a time limit, and expands the type templates of the conformance suite from the API table.
//!
//! The suites live in `tests/suites`, the C programs of the specification's chapters in `tests/conformance`, and the
//! other C programs in `tests/programs`. `tests/README.md` says how to add one.
#![deny(unsafe_code)]

pub mod browser;
pub mod cgroup;
pub mod collector;
pub mod compile;
pub mod declared;
pub mod exporter;
pub mod forge;
pub mod gasnet;
pub mod hosts;
pub mod launchers;
pub mod patience;
pub mod plots;
pub mod ports;
pub mod program;
pub mod report;
pub mod run;
pub mod slurm;
pub mod system;
pub mod table;
pub mod template;
pub mod tree;
pub mod wheels;
pub mod wire;
pub mod wrappers;
