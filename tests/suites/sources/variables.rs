//! Each environment variable that the table lists is read somewhere.

use super::rust;

const TABLE: &str = "src/core/src/base/env.rs";

/// Functions that look a variable up, by its name in the table or in full. Constants hold it in full.
const READERS: &[&str] = &[
    "lookup(\"",
    "is_set(\"",
    "word(\"",
    "switch(\"",
    "number(\"",
    "value(\"",
    "var_os(\"SHMEM_",
    "= \"SHMEM_",
    "= \"",
];

/// Names of the rows.
fn rows(table: &str) -> Vec<&str> {
    table.lines().filter_map(|line| line.trim().strip_prefix("name: \"")?.split('"').next()).collect()
}

/// The variables of `rows` that nothing in `code`, which has no tests, reads.
fn unread<'a>(rows: &[&'a str], code: &str) -> Vec<&'a str> {
    let is_read = |name: &str| READERS.iter().any(|reader| code.contains(&format!("{reader}{name}\"")));
    rows.iter().copied().filter(|name| !is_read(name)).collect()
}

#[test]
fn each_variable_of_the_table_is_read() {
    let sources = rust();
    let (_, table) = sources.iter().find(|(name, _)| name == TABLE).expect("the table");
    let rows = rows(table);
    assert!(rows.len() > 30, "{} variables", rows.len());
    let is_library = |name: &str| name.starts_with("src/") || name.starts_with("pshmem/src/");
    let shipped = sources.iter().filter(|(name, _)| is_library(name) && !name.contains("tests"));
    let code: String = shipped.map(|(_, text)| text.split("#[cfg(test)]\nmod ").next().unwrap_or_default()).collect();
    assert_eq!(unread(&rows, &code), [""; 0], "rows of {TABLE} that nothing reads");
}

#[test]
fn a_row_that_nothing_reads_is_found() {
    let rows = rows("Var {\n    name: \"A\",\n    name: \"B\",\n    name: \"C\",\n    name: \"D\",\n");
    let code = "lookup(\"A\"); say(\"SHMEM_B\"); const C: &str = \"SHMEM_C\"; const D: &str = \"D\";";
    assert_eq!(unread(&rows, code), ["B"]);
}
