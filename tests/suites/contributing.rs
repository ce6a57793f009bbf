//! The pages of docs/contributing name the places that an addition touches. Each ends with the places that name its
//! worked example: the sources are searched for the name, and must agree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use harness::tree;

/// Where hand-written code of the library and the tools is.
const ROOTS: &[&str] = &["src", "pshmem", "tools", "include"];
/// What is written by programs, or built.
const MADE: &[&str] = &["generated", "bindings.rs", "target", "golden", "tests", "examples"];

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
    let places = lines.filter_map(|line| line.strip_prefix("- `")?.split('`').next().map(str::to_owned)).collect();
    let own = head.contains("outside of its folder").then(|| format!("/{example}/"));
    Some(Page { name: path.file_name()?.to_string_lossy().into_owned(), example, places, own })
}

/// Whether code, not a comment, has the word: as a name, a path, or in a text.
fn has(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.match_indices(word).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + word.len()..]);
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
    })
}

#[test]
fn what_an_addition_touches_is_what_its_page_says() {
    let root = tree::workspace();
    let files = |folder: &&str| tree::files(&root.join(folder), MADE, &[".rs", ".c", ".py", ".sh"]);
    let mut sources: Vec<PathBuf> = ROOTS.iter().flat_map(files).collect();
    sources.retain(|path| !path.to_string_lossy().ends_with("_tests.rs"));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join("docs/contributing")).expect("the pages") {
        let path = entry.expect("an entry").path();
        let Some(page) = page(&path) else {
            assert!(path.ends_with("README.md"), "{} lists no places", path.display());
            continue;
        };
        let found: BTreeSet<String> = sources
            .iter()
            .filter(|path| has(&std::fs::read_to_string(path).unwrap_or_default(), &page.example))
            .map(|path| path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned())
            .filter(|path| page.own.as_ref().is_none_or(|own| !path.contains(own.as_str())))
            .collect();
        assert_eq!(found, page.places, "{}: places that name {}", page.name, page.example);
        names.push(page.name);
    }
    let index = std::fs::read_to_string(root.join("docs/contributing/README.md")).expect("the index");
    for name in &names {
        assert!(index.contains(&format!("({name})")), "{name} is not in the index");
    }
    assert!(!names.is_empty(), "no page was checked");
}

#[test]
fn a_name_is_found_as_a_whole_word_of_code() {
    assert!(has("let x = lookup(\"OFI_INTERFACE\");", "OFI_INTERFACE"));
    assert!(!has("// OFI_INTERFACE", "OFI_INTERFACE") && !has("\"SHMEM_OFI_INTERFACE\"", "OFI_INTERFACE"));
    assert!(has("pub mod ofi;", "ofi") && has("ofi::ROW", "ofi") && !has("a profile of it", "ofi"));
    assert!(has("value == \"ofi\"", "ofi") && has("\"not with SHMEM_TRANSPORT=ofi\"", "ofi"));
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
