//! The layer rule of the crate: a module uses only those below it. Read from the `use` lines and paths of the sources.

use pellucid_core::transport::registry::ROWS;
use std::path::{Path, PathBuf};

/// Top first. Modules of one row do not use each other's internals upwards, but may use each other.
const LAYERS: &[&[&str]] = &[
    &["runtime"],
    &["collectives"],
    &["team"],
    &["context", "am"],
    &["request"],
    &["memory", "transport", "inter_host"],
    &["bootstrap"],
    &["os"],
    &["base"],
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Modules of this crate that a line of code names.
fn mentioned(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or("");
    code.match_indices("crate::")
        .filter_map(|(at, _)| code[at + 7..].split(|c: char| !c.is_alphanumeric() && c != '_').next())
}

fn violations(module: &str, text: &str) -> Vec<String> {
    let own = layer(module).unwrap_or_else(|| panic!("module {module} is in no layer"));
    text.lines()
        .flat_map(mentioned)
        .filter(|used| layer(used).is_some_and(|l| l < own))
        .map(|used| format!("{module} uses {used}"))
        .collect()
}

#[test]
fn modules_use_only_those_below() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30);
    let mut wrong = Vec::new();
    for file in files {
        let module = file.strip_prefix(&root).unwrap().iter().next().unwrap().to_str().unwrap().to_owned();
        if module != "lib.rs" {
            wrong.extend(violations(&module, &std::fs::read_to_string(file).unwrap()));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Words of a line of code that name a transport.
fn transports_in(line: &str) -> Vec<&'static str> {
    let code = line.split("//").next().unwrap_or("").to_lowercase();
    let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric()).collect();
    let names = ROWS.iter().map(|row| row.name).chain(["libfabric"]);
    names.filter(|name| words.contains(name)).collect()
}

/// A transport is a folder and a row: start-up takes what the registry has, and so does the suite that all have to
/// pass.
#[test]
fn the_runtime_and_the_suite_of_transports_name_none() {
    let mut files = Vec::new();
    for folder in ["src/runtime", "tests/transports"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    assert!(files.len() > 20);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // The CPU's atomics, which the transport that delays is made of.
        for line in text.lines().filter(|line| *line != "use pellucid_core::transport::shm::amo;") {
            assert_eq!(transports_in(line), [""; 0], "{}: {line}", file.display());
        }
    }
}

#[test]
fn the_checks_can_fail() {
    assert_eq!(violations("os", "use crate::team::Team; // crate::runtime"), ["os uses team"]);
    assert_eq!(transports_in("use crate::transport::ofi::Fabric; // shm"), ["ofi"]);
    assert_eq!(transports_in(r#"let provider = value("OFI_PROVIDER");"#), ["ofi"]);
}

/// The map draws a line a layer.
#[test]
fn the_map_draws_the_layers() {
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let map = std::fs::read_to_string(map).unwrap();
    let drawing = map.split("## Layers of `src/core`").nth(1).unwrap().split("```").nth(1).unwrap();
    let mut drawn: Vec<Vec<&str>> = Vec::new();
    for line in drawing.lines() {
        let named = line.split_whitespace().filter_map(|word| word.strip_suffix("/mod.rs"));
        drawn.push(named.filter(|module| layer(module).is_some()).collect());
    }
    drawn.retain(|row| !row.is_empty());
    assert_eq!(drawn, LAYERS);
}
