//! The statics of the core are those that the page at the head of its runtime lists.

use std::collections::BTreeSet;

use super::rust;

const CORE: &str = "src/core/src/";
const PAGE: &str = "src/core/src/runtime/mod.rs";

/// The names of statics in a source, but for tests and for what others define.
fn statics(text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut names = BTreeSet::new();
    for line in text.lines().filter(|line| line.contains('=')) {
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub")).peekable();
        if words.next() == Some("static")
            && let Some((name, _)) = words.find(|word| *word != "mut").and_then(|word| word.split_once(':'))
        {
            names.insert(name.to_owned());
        }
    }
    names
}

/// The rows of the page: file and names.
fn rows(page: &str) -> Vec<(String, String)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("//! | `"));
    let named = |row: &str| {
        let mut quoted = row.split('`').step_by(2).map(str::to_owned);
        let file = quoted.next().expect("a file");
        quoted.filter(|name| !name.is_empty()).map(|name| (file.clone(), name)).collect::<Vec<_>>()
    };
    rows.flat_map(named).collect()
}

#[test]
fn the_page_of_statics_lists_all_of_them() {
    let sources = rust();
    let of_core = sources.iter().filter_map(|(name, text)| Some((name.strip_prefix(CORE)?, text)));
    let shipped = of_core.filter(|(name, _)| !name.ends_with("tests.rs") && !name.contains("tests/"));
    let found: BTreeSet<(String, String)> =
        shipped.flat_map(|(file, text)| statics(text).into_iter().map(move |name| (file.to_owned(), name))).collect();
    let (_, page) = sources.iter().find(|(name, _)| name == PAGE).expect("the page");
    let listed = rows(page);
    let rows: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(rows.len(), listed.len(), "a static is listed twice");
    let missing: Vec<_> = found.difference(&rows).collect();
    let gone: Vec<_> = rows.difference(&found).collect();
    assert!(missing.is_empty() && gone.is_empty(), "{PAGE}: no row for {missing:?}; there is no {gone:?}");
    assert!(found.len() > 50, "{} statics", found.len());
}

#[test]
fn a_static_and_a_row_are_found() {
    let text = "static A: u8 = 1;\n    pub(super) static B: C = C {\nstatic D: u8;\n// static E: u8 = 1;\n\
                let f = \"static G: u8 = 1;\";\n#[cfg(test)]\nmod tests {\n    static H: u8 = 1;\n}\n";
    assert_eq!(statics(text).into_iter().collect::<Vec<_>>(), ["A", "B"]);
    let page = "//! | file | statics |\n//! | `a/b.rs` | `C`, `D` |\n//! `E`\n";
    assert_eq!(rows(page), [("a/b.rs", "C"), ("a/b.rs", "D")].map(|(file, name)| (file.to_owned(), name.to_owned())));
}
