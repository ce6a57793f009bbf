//! What holds for all sources: lines and functions that a reader takes in at a glance.

use std::path::PathBuf;

use harness::tree;

const WIDTH: usize = 120;
const LINES_OF_A_FUNCTION: usize = 60;

/// What is not hand-written: generated, built, and the bindings that a program makes of libfabric's headers.
const MADE: &[&str] = &["target", "generated", "node_modules", "bindings.rs"];

fn all() -> Vec<(String, String)> {
    let root = tree::workspace();
    let folders = ["src", "pshmem", "tools", "tests", "examples"];
    let found: Vec<PathBuf> =
        folders.iter().flat_map(|folder| tree::files(&root.join(folder), MADE, &[".rs"])).collect();
    assert!(found.len() > 500, "{} files", found.len());
    let text = |path: &PathBuf| std::fs::read_to_string(path).expect("a text");
    let name = |path: &PathBuf| path.strip_prefix(root).expect("below the root").display().to_string();
    found.iter().map(|path| (name(path), text(path))).collect()
}

/// Whether a line may be longer: a row of a table in a comment cannot be broken.
fn is_row(line: &str) -> bool {
    line.trim_start().trim_start_matches(['/', '!']).trim_start().starts_with('|')
}

fn long_lines(text: &str) -> Vec<usize> {
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| line.chars().count() > WIDTH && !is_row(line)).map(|(at, _)| at + 1).collect()
}

/// Functions that are too long: line and name. Rustfmt puts the end of each under its beginning.
fn long_functions(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = lines[at..].iter().position(|line| {
            line.strip_prefix(indent)
                .is_some_and(|rest| rest.starts_with('}') || rest.starts_with(')') && rest.ends_with(';'))
        });
        if end.is_some_and(|end| end + 1 > LINES_OF_A_FUNCTION) && !line.ends_with(';') {
            found.push((at + 1, name.to_owned()));
        }
    }
    found
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    let words = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern", "\"C\"", "default"];
    let mut rest = line.trim_start();
    while let Some((word, after)) = rest.split_once(' ') {
        if word == "fn" {
            return after.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty());
        }
        if !words.contains(&word) && !word.starts_with("pub(in") {
            return None;
        }
        rest = after;
    }
    None
}

#[test]
fn no_line_is_longer_than_120_columns() {
    let found = all().into_iter().flat_map(|(name, text)| {
        long_lines(&text).into_iter().map(move |line| format!("{name}:{line}")).collect::<Vec<_>>()
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "longer than {WIDTH} columns:\n{}", found.join("\n"));
}

/// Where no function is longer; the profile and its tools still have some.
const SHORT: &[&str] = &["src/core/src/", "src/gasnet/", "src/rust/", "pshmem/", "tools/oshcc/", "tools/oshbench/"];

#[test]
fn no_function_is_longer_than_60_lines() {
    let all = all().into_iter().filter(|(name, _)| SHORT.iter().any(|folder| name.starts_with(folder)));
    let found = all.flat_map(|(name, text)| {
        long_functions(&text)
            .into_iter()
            .map(move |(line, function)| format!("{name}:{line} {function}"))
            .collect::<Vec<_>>()
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "longer than {LINES_OF_A_FUNCTION} lines:\n{}", found.join("\n"));
}

#[test]
fn what_is_too_long_is_found() {
    let line = "x".repeat(WIDTH + 1);
    assert_eq!(long_lines(&format!("fn a() {{}}\n{line}\n//! | {line} |\n")), [2]);
    let body = "    let x = 1;\n".repeat(LINES_OF_A_FUNCTION - 1);
    let long = format!("    pub(super) unsafe fn long<T>(\n        x: T,\n    ) {{\n{body}    }}\n");
    let short = format!("fn short() {{\n{}}}\n", "    let x = 1;\n".repeat(LINES_OF_A_FUNCTION - 2));
    assert_eq!(
        long_functions(&format!("{short}impl A {{\n{long}}}\n")),
        [(LINES_OF_A_FUNCTION + 2, "long".to_owned())]
    );
}
