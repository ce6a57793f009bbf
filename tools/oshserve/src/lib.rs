//! Metrics of Pellucid's jobs: what `oshprof metrics` and `oshprof serve` are made of.
//!
//! | module | what it is |
//! |---|---|
//! | [`commands`] | the command line: `metrics`, `serve` |
//! | [`companion`] | the process beside one job that serves, writes and pushes its metrics |
//! | [`dashboards`] | Grafana dashboards, from a table of panels |
//! | [`from_profile`] | metrics of a kept profile |
//! | [`live`] | a job that runs on one page for a browser |
//! | [`metrics`] | the table of metrics, how their values follow from a profile, and the formats |
//! | [`push`] | metrics that are sent: OTLP, Pushgateway |
//! | [`say`] | what is said to the user |
//! | [`serve`] | the exporter of a host |
//! | [`sys`] | system calls |
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stderr))]

pub mod commands;
pub mod companion;
pub mod dashboards;
pub mod from_profile;
pub mod live;
pub mod metrics;
pub mod push;
pub mod say;
pub mod serve;
pub mod sys;
