//! Grafana dashboards: one table of panels, from which the files in `dashboards/grafana` are made.

pub mod json;
pub mod panels;

pub use json::{dashboard, text};
pub use panels::{DASHBOARDS, Dashboard, Panel, Query, Shape};
