//! Metrics: one table, values that follow from a profile, and a file a format.
//!
//! | module | what it is |
//! |---|---|
//! | [`table`] | every metric: name, type, unit, labels, help |
//! | [`family`] | values with their labels, before any format |
//! | [`collect`], [`live`], [`series`] | from a job to its families; what is only known while it runs; how many there may be |
//! | [`pes`] | single PEs, where somebody wants them |
//! | [`histogram`] | buckets |
//! | [`text`], [`openmetrics`], [`protobuf`], [`otlp`] | formats |
//! | [`reference`](mod@reference) | `docs/metrics.md` |

pub mod collect;
pub mod family;
pub mod histogram;
pub mod live;
pub mod op;
pub mod openmetrics;
pub mod otlp;
pub mod pes;
pub mod protobuf;
pub mod reference;
pub mod series;
pub mod table;
pub mod text;
