//! Values with their labels, before any format.

use pellucid_profile::text::visible;

use super::histogram::Histogram;
use super::table::{Id, Row, row};

/// Labels that not every series of a metric has.
const OPTIONAL: [&str; 2] = ["job_id", PE];
/// The label of a single PE.
pub const PE: &str = "pe";

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// Anything else that is a number.
    Number(f64),
    /// A histogram.
    Histogram(Box<Histogram>),
}

impl Value {
    /// As a floating-point number; of a histogram the sum.
    pub fn number(&self) -> f64 {
        match self {
            Value::Count(count) => *count as f64,
            Value::Number(number) => *number,
            Value::Histogram(histogram) => histogram.sum,
        }
    }
}

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Values of the row's labels, in their order.
    pub labels: Vec<String>,
    /// Its value.
    pub value: Value,
}

/// A metric with its series.
#[derive(Clone, Debug)]
pub struct Family {
    /// What it is.
    pub row: &'static Row,
    /// Its series.
    pub series: Vec<Series>,
}

impl Family {
    /// Without series.
    pub fn new(id: Id) -> Family {
        Family { row: row(id), series: Vec::new() }
    }

    /// Adds a series.
    pub fn add(&mut self, labels: &[&str], value: Value) {
        debug_assert_eq!(labels.len(), self.row.labels.len(), "{}", self.row.name);
        // Formats escape quotes and ends of lines; what else moves a cursor is for nobody to see.
        self.series.push(Series { labels: labels.iter().map(|&label| visible(label)).collect(), value });
    }

    /// How many series Prometheus makes of it.
    pub fn len(&self) -> usize {
        self.series.iter().map(Series::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }
}

impl Series {
    /// How many series Prometheus makes of it.
    pub fn len(&self) -> usize {
        match &self.value {
            // Each bound, +Inf, sum and count.
            Value::Histogram(histogram) => histogram.buckets.len() + 3,
            _ => 1,
        }
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Names and values of its labels, without those that it may have and has not.
    pub fn pairs<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = (&'static str, &'a str)> {
        let all = row.labels.iter().copied().zip(self.labels.iter().map(String::as_str));
        all.filter(|(label, value)| !(value.is_empty() && OPTIONAL.contains(label)))
    }
}

/// Leaves the job to the metric that says who it is: for hosts that run one job at a time.
pub fn without_job(families: &mut [Family]) {
    for family in families.iter_mut().filter(|family| family.row.id != Id::JobInfo) {
        let at = family.row.labels.iter().position(|&label| label == "job_id");
        for series in &mut family.series {
            at.into_iter().for_each(|at| series.labels[at].clear());
        }
    }
}

/// Joins the families of several jobs: each metric once, in the order of the table.
pub fn join(lists: impl IntoIterator<Item = Vec<Family>>) -> Vec<Family> {
    let mut all: Vec<Family> = super::table::TABLE.iter().map(|row| Family { row, series: Vec::new() }).collect();
    for family in lists.into_iter().flatten() {
        all[family.row.id as usize].series.extend(family.series);
    }
    all.retain(|family| !family.is_empty());
    all
}
