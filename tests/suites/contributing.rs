//! The pages of docs/contributing name the places that an addition touches. Each lists the places that name its worked
//! example: the sources are searched for the name, and must agree. tests/README.md has a row for each suite.

use std::collections::BTreeSet;
use std::path::Path;

use harness::tree;

/// Where hand-written code of the library and the tools is.
const ROOTS: &[&str] = &["src", "pshmem", "tools", "include"];
/// What is written by programs, built, or a test.
const MADE: &[&str] = &["generated", "bindings.rs", "target", "golden", "tests", "tests.rs", "examples"];

/// A page's example and the places that it lists.
struct Page {
    name: String,
    example: String,
    places: BTreeSet<String>,
    /// Folders whose files do not count: the example's own.
    own: Option<String>,
}

fn page(path: &Path) -> Option<Page> {
    let text = std::fs::read_to_string(path).expect("a page");
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Places "));
    let head = lines.next()?;
    let example = head.split('`').nth(1).expect("an example in backquotes").to_owned();
    let list = lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let places = list.filter_map(|line| line.strip_prefix("- `")?.split('`').next().map(str::to_owned)).collect();
    let own = head.contains("outside of its folder").then(|| format!("/{example}/"));
    Some(Page { name: path.file_name()?.to_string_lossy().into_owned(), example, places, own })
}

/// Code without comments, and without strings that `keeps` does not want.
fn code(text: &str, keeps: fn(&str) -> bool) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(first) = rest.chars().next() {
        let (kept, after) = if rest.starts_with("//") {
            ("", rest.find('\n').map_or("", |end| &rest[end..]))
        } else if let Some(comment) = rest.strip_prefix("/*") {
            ("", comment.split_once("*/").map_or("", |(_, after)| after))
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            ("", raw.split_once("\"#").map_or("", |(_, after)| after))
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (string, after) = quoted.split_at(end_of_string(quoted));
            (if keeps(string) { &rest[..string.len() + 1] } else { "" }, after.strip_prefix('"').unwrap_or(after))
        } else {
            let length = if rest.starts_with("'\"'") { 3 } else { first.len_utf8() };
            rest.split_at(length)
        };
        out.push_str(kept);
        rest = after;
    }
    out
}

/// Code in which a name is searched. A word may be part of a text for people, so of strings those of one word count, as
/// names and paths are; a name of several words is none, and prototypes are strings.
fn code_for(name: &str) -> fn(&str) -> String {
    if name.contains('_') {
        |text| code(text, |_| true)
    } else {
        |text| code(text, |string| !string.contains(char::is_whitespace))
    }
}

/// Where the string ends that begins here.
fn end_of_string(quoted: &str) -> usize {
    let mut is_escaped = false;
    let end = quoted.char_indices().find(|(_, c)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(quoted.len(), |(at, _)| at)
}

/// Whether code has a name: `locks`, `Locks` and `LOCKS` alike. A short one counts where it is a path or a module, or a
/// string of its own.
fn has(code: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (lower, name) = (code.to_lowercase(), name.to_lowercase());
    lower.match_indices(&name).any(|(at, _)| {
        let (before, after) = (&lower[..at], &lower[at + name.len()..]);
        let whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        let is_alone = before.ends_with('"') && after.starts_with(|c: char| !is_part(c));
        whole && (name.len() > 4 || before.ends_with("mod ") || after.starts_with("::") || is_alone)
    })
}

#[test]
fn what_an_addition_touches_is_what_its_page_says() {
    let root = tree::workspace();
    let files = |folder: &&str| tree::files(&root.join(folder), MADE, &[".rs", ".c", ".py", ".sh"]);
    let sources: Vec<(String, String)> = ROOTS
        .iter()
        .flat_map(files)
        .filter(|path| !path.to_string_lossy().ends_with("_tests.rs"))
        .map(|path| {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap_or_default())
        })
        .collect();
    let (mut names, mut wrong) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(root.join("docs/contributing")).expect("the pages") {
        let path = entry.expect("an entry").path();
        let Some(page) = page(&path) else {
            assert!(path.ends_with("README.md"), "{} lists no places", path.display());
            continue;
        };
        let searched = code_for(&page.example);
        let quick = page.example.to_lowercase();
        let found: BTreeSet<String> = sources
            .iter()
            .filter(|(_, text)| text.to_lowercase().contains(&quick))
            .filter(|(_, text)| has(&searched(text), &page.example))
            .map(|(path, _)| path.clone())
            .filter(|path| page.own.as_ref().is_none_or(|own| !path.contains(own.as_str())))
            .collect();
        let missing: Vec<_> = found.difference(&page.places).collect();
        let gone: Vec<_> = page.places.difference(&found).collect();
        if !missing.is_empty() || !gone.is_empty() {
            wrong.push(format!("{}: {} is also in {missing:?}, not in {gone:?}", page.name, page.example));
        }
        names.push(page.name);
    }
    assert!(wrong.is_empty(), "places that name an example:\n{}", wrong.join("\n"));
    let index = std::fs::read_to_string(root.join("docs/contributing/README.md")).expect("the index");
    for name in &names {
        assert!(index.contains(&format!("({name})")), "{name} is not in the index");
    }
    assert!(!names.is_empty(), "no page was checked");
}

#[test]
fn a_name_is_found_as_a_whole_word_of_code() {
    let found = |text: &str, name: &str| has(&code_for(name)(text), name);
    assert!(found("\"int shmem_x(int pe) pe_quiet\"", "pe_quiet"));
    assert!(found("let x = lookup(\"OFI_INTERFACE\");", "OFI_INTERFACE"));
    assert!(!found("// OFI_INTERFACE", "OFI_INTERFACE") && !found("\"SHMEM_OFI_INTERFACE\"", "OFI_INTERFACE"));
    assert!(found("pub mod ofi;", "ofi") && found("ofi::ROW", "ofi") && !found("let x = ofi;", "ofi"));
    assert!(found("name: \"ofi\",", "ofi") && !found("\"a profile of ofi\"", "ofi"));
    // As a type, a module, a variable or a string.
    for text in ["merge::Locks;", "mod locks;", "LOCKS", "let locks = 1;", "\"locks\"", "'\"' locks", "\"\\\"\" locks"]
    {
        assert!(found(text, "locks"), "{text}");
    }
    for text in
        ["/* locks */", "\"who takes\\\n locks\"", "unlocks", "locks_ns", "let x = 1; // locks", "r#\"a \" locks\"#"]
    {
        assert!(!found(text, "locks"), "{text}");
    }
}

/// Files that a page names: paths that end as those of code do, in text and in drawings.
fn named_files(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['.', '/']));
    let endings = [".rs", ".c", ".s", ".py", ".csv", ".list"];
    words.filter(|word| endings.iter().any(|ending| word.ends_with(ending))).map(str::to_owned).collect()
}

#[test]
fn files_that_pages_name_are_there() {
    let root = tree::workspace();
    let folders = ["src", "pshmem", "tools", "tests", "examples", "include"];
    let kinds = [".rs", ".c", ".s", ".py", ".csv", ".list"];
    let all: Vec<String> = folders
        .iter()
        .flat_map(|folder| tree::files(&root.join(folder), &["target", "node_modules"], &kinds))
        .map(|path| format!("/{}", path.strip_prefix(root).expect("below the root").display()))
        .collect();
    let mut pages = vec![root.join("ARCHITECTURE.md"), root.join("README.md"), root.join("tests/README.md")];
    pages.extend(tree::files(&root.join("docs/contributing"), &[], &[".md"]));
    let mut missing = Vec::new();
    for page in &pages {
        let named = named_files(&std::fs::read_to_string(page).expect("a page"));
        let is_there = |name: &String| all.iter().any(|path| path.ends_with(&format!("/{name}")));
        let lost = named.iter().filter(|name| !is_there(name));
        missing.extend(lost.map(|name| format!("{}: {name}", page.display())));
    }
    assert!(missing.is_empty(), "files that are not there:\n{}", missing.join("\n"));
    let drawn = named_files(&std::fs::read_to_string(&pages[0]).expect("the map"));
    assert!(drawn.len() > 30, "ARCHITECTURE.md names {} files", drawn.len());
}

#[test]
fn a_file_that_a_page_names_is_found() {
    let named = named_files("(`team/barrier.rs`), memory/map.rs; see libsma.so, 1.6.csv's entries.s.");
    assert_eq!(named.into_iter().collect::<Vec<_>>(), ["1.6.csv", "entries.s", "memory/map.rs", "team/barrier.rs"]);
}

#[test]
fn each_suite_has_a_row_in_the_page_of_tests() {
    let read = |file: &str| std::fs::read_to_string(tree::workspace().join("tests").join(file)).expect("a text");
    let manifest = read("Cargo.toml");
    let suites = manifest.split("[[test]]").skip(1);
    let suites: BTreeSet<&str> = suites.filter_map(|suite| suite.split('"').nth(1)).collect();
    assert!(suites.len() > 60, "{} suites", suites.len());
    let page = read("README.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| suite |")).skip(2);
    let named: Vec<&str> = rows
        .take_while(|line| line.starts_with('|'))
        .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
        .collect();
    let in_page: BTreeSet<&str> = named.iter().copied().collect();
    assert_eq!(named.len(), in_page.len(), "a suite has two rows");
    let missing: Vec<_> = suites.difference(&in_page).collect();
    let gone: Vec<_> = in_page.difference(&suites).collect();
    assert!(missing.is_empty() && gone.is_empty(), "tests/README.md: no row for {missing:?}; no suite {gone:?}");
}
