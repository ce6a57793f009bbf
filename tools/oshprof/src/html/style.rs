//! Colours, layout, and the little that moves.

/// Style sheet.
pub const CSS: &str = include_str!("style.css");

/// Sorting a table by a click on a column's title.
pub const SCRIPT: &str = include_str!("sort.js");
