//! How many functions of the specification are there.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use crate::csv::Table;
use crate::expand::Expanded;

/// One line a group, then the sum, against the table of all functions of the specification.
pub fn report(routines: &[Expanded], api: &str) -> Result<String, String> {
    let have: HashSet<_> =
        routines.iter().flat_map(|group| &group.routines).map(|routine| routine.name.as_str()).collect();
    let table = Table::parse(api)?;
    let mut groups: BTreeMap<usize, (String, usize, usize)> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for row in table.rows() {
        let group = row.get("group");
        let at = order.iter().position(|name| name == group).unwrap_or_else(|| {
            order.push(group.to_owned());
            order.len() - 1
        });
        let entry = groups.entry(at).or_insert_with(|| (group.to_owned(), 0, 0));
        entry.1 += usize::from(have.contains(row.get("name")));
        entry.2 += 1;
    }
    let mut text = String::new();
    for (name, there, all) in groups.values() {
        writeln!(text, "{name:12}{there:5} of {all:4}").expect("writing to a string");
    }
    let there: usize = groups.values().map(|group| group.1).sum();
    let all: usize = groups.values().map(|group| group.2).sum();
    writeln!(text, "{there} of {all} functions of OpenSHMEM 1.6").expect("writing to a string");
    Ok(text)
}
