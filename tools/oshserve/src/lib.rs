//! Metrics of Pellucid's jobs: what `oshprof metrics` and `oshprof serve` are made of.
//!
//! | module | what it is |
//! |---|---|
//! | [`commands`] | the command line: `metrics`, `serve` |
//! | [`dashboards`] | Grafana dashboards, from a table of panels |
//! | [`kept`] | metrics of a kept profile |
//! | [`metrics`] | the table of metrics, how their values follow from a profile, and the formats |
//! | [`serve`] | the exporter of a host |
//! | [`sys`] | system calls |
#![deny(unsafe_code)]

pub mod commands;
pub mod dashboards;
pub mod kept;
pub mod metrics;
pub mod serve;
pub mod sys;
