//! What holds for all sources: lines and functions that a reader takes in at a glance.

use std::collections::{BTreeMap, BTreeSet};
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

/// Pages that may have longer lines, and why.
const WIDE: &[(&str, &str)] = &[
    ("docs/environment.md", "written by a test, with a line a paragraph"),
    ("docs/advice.md", "not wrapped yet"),
    ("docs/extensions.md", "not wrapped yet"),
    ("docs/profile-json.md", "not wrapped yet"),
];

/// Long lines of a page but for rows of tables, which cannot be broken, and what is quoted as it is.
fn long_prose(text: &str) -> Vec<usize> {
    let mut quoted = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        quoted ^= line.trim_start().starts_with("```");
        if !quoted && line.chars().count() > WIDTH && !is_row(line) {
            found.push(at + 1);
        }
    }
    found
}

#[test]
fn no_line_of_a_page_is_longer_than_120_columns() {
    let root = tree::workspace();
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].iter().map(|page| root.join(page)).collect();
    for folder in ["docs", "tests", "tools", "examples", "dashboards"] {
        pages.extend(tree::files(&root.join(folder), MADE, &[".md"]));
    }
    assert!(pages.len() > 30, "{} pages", pages.len());
    let mut found = BTreeSet::new();
    for page in &pages {
        let name = page.strip_prefix(root).expect("below the root").display().to_string();
        let text = std::fs::read_to_string(page).expect("a text");
        // The map's drawings are as wide as text: a terminal shows them.
        let long = if name == "ARCHITECTURE.md" { long_lines(&text) } else { long_prose(&text) };
        found.extend(long.first().map(|line| (name, *line)));
    }
    let is_known = |name: &str| WIDE.iter().any(|(page, _)| *page == name);
    let wide: Vec<_> = found.iter().filter(|(name, _)| !is_known(name)).collect();
    assert!(wide.is_empty(), "longer than {WIDTH} columns: {wide:?}");
    let wrapped: Vec<_> =
        WIDE.iter().filter(|(page, _)| !found.iter().any(|(name, _)| name == page)).map(|(page, _)| page).collect();
    assert!(wrapped.is_empty(), "these have no long lines any more: {wrapped:?}");
}

/// Functions that may be longer: file, name, and why. A row of one that has become shorter has to go.
const LONG: &[(&str, &str, &str)] = &[
    ("src/core/tests/hierarchical/sequence.rs", "one", "a match with an arm a collective"),
    ("src/libfabric-sys/examples/rma_pingpong.rs", "open", "what an application of libfabric has to call, in order"),
    ("src/core/examples/transport_pingpong.rs", "ask", "one side of a protocol, in order"),
    ("src/profile/src/advice/tests.rs", "each_rule_fires_on_what_it_is_for", "a table with a row a rule"),
    ("src/profile/src/file/tests.rs", "tables", "one value of a type with many fields"),
    ("src/profile/src/merge/tests.rs", "pe", "one value of a type with many fields"),
    ("tools/oshprof/tests/cases/mod.rs", "tables", "one value of a type with many fields"),
    ("src/profile/tests/trace/main.rs", "a_process_of_its_own", "the scene that the other tests read, in order"),
    ("src/profile/tests/trace/damage.rs", "damaged", "each way to damage a trace, after the other"),
    ("tests/suites/profile.rs", "counts_and_bytes_are_exact", "the calls of one program and what is known of each"),
    ("tests/suites/tool_ready.rs", "as_score_p_configures", "the checks of Score-P's configure, in its order"),
    ("tools/oshprof/tests/golden.rs", "every_table_is_a_file_of_its_own", "a list of files with their first lines"),
    ("tools/oshprof/tests/trace/main.rs", "otf2", "the records of one archive, in order"),
    ("tests/src/plots.rs", "plot", "one picture: axes, grid, lines, legend"),
];

#[test]
fn no_function_is_longer_than_60_lines() {
    let found = all().into_iter().flat_map(|(name, text)| {
        long_functions(&text).into_iter().map(move |(_, function)| (name.clone(), function)).collect::<Vec<_>>()
    });
    let found: BTreeSet<(String, String)> = found.collect();
    let known = LONG.iter().map(|(file, function, _)| ((*file).to_owned(), (*function).to_owned())).collect();
    let longer: Vec<_> = found.difference(&known).collect();
    assert!(longer.is_empty(), "longer than {LINES_OF_A_FUNCTION} lines: {longer:?}");
    let shorter: Vec<_> = known.difference(&found).collect();
    assert!(shorter.is_empty(), "no longer than {LINES_OF_A_FUNCTION} lines, so no exceptions: {shorter:?}");
}

/// Words that stand for nothing in this field, and what is said instead. No function, type, module, constant or file
/// has one in its name.
const PRIVATE: &[(&str, &str)] = &[
    ("far", "remote"),
    ("beyond", "remote_address"),
    ("spread", "hierarchical; of numbers: scatter, variance"),
    ("card", "endpoint address"),
    ("meet", "barrier, synchronize"),
    ("agree", "check_matching"),
    ("alike", "check_matching"),
    ("apart", "check_overlap; of code: out of line"),
    ("turn", "collective call; of a lock: locked"),
    ("guest", "intercepted call"),
    ("crowded", "oversubscribed"),
    ("leg", "complete_part"),
    ("fly", "post_write"),
    ("chase", "progress"),
    ("attend", "serve, progress"),
    ("heed", "handle"),
    ("hear", "read, receive"),
    ("judge", "decide"),
    ("farewell", "drain, hand over"),
    ("bell", "wakeup"),
    ("wire", "network"),
    ("watch", "observer, monitor"),
    ("brief", "counts only"),
    ("extra", "what is in it: tables, ..."),
    ("detail", "what is in it: tables, ..."),
];

/// Names of so many words and more are sentences, as those of tests: words mean there what they mean in any text.
const SENTENCE: usize = 4;

/// What a line of code names: functions, types, modules, constants.
fn names(line: &str) -> impl Iterator<Item = &str> {
    const KINDS: &[&str] = &["fn", "struct", "enum", "trait", "type", "mod", "const", "static", "union"];
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_comment = line.trim_start().starts_with("//");
    let pairs: Vec<(&str, &str)> = words.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter().filter(move |(kind, _)| !is_comment && KINDS.contains(kind)).filter_map(|(_, name)| {
        name.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
    })
}

/// The words of a name, in lower case: `TwoWords` and `TWO_WORDS` alike.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let is_camel = name.contains(char::is_lowercase) && name.starts_with(char::is_uppercase);
    for c in name.chars() {
        if c == '_' || c == '-' || (is_camel && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("one at least").extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn private(name: &str) -> Option<String> {
    let words = words(name);
    let row = PRIVATE.iter().find(|(word, _)| words.iter().any(|own| own == word))?;
    (words.len() < SENTENCE).then(|| format!("{name}: {}", row.1))
}

#[test]
fn names_are_those_of_the_field() {
    let found: Vec<String> = all()
        .iter()
        .filter(|(file, _)| !file.starts_with("tests/") && !file.contains("/tests"))
        .flat_map(|(file, text)| {
            let stem = file.trim_end_matches(".rs").split('/').skip(2).filter_map(private);
            let names = text.lines().flat_map(names).filter_map(private);
            stem.chain(names).map(move |name| format!("{file}: {name}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn private_words_are_found_in_names() {
    assert_eq!(words("RemoteMeet"), ["remote", "meet"]);
    assert_eq!(words("MAX_FAR"), ["max", "far"]);
    assert_eq!(names("    pub(super) fn far<T>(x: T) -> Far {").collect::<Vec<_>>(), ["far"]);
    assert_eq!(names("/// the fn far").count(), 0);
    assert!(private("is_far").is_some() && private("Judge").is_some() && private("farm").is_none());
    assert!(private("hosts_alike_are_told_once").is_none() && private("hosts_alike_told").is_some());
}

/// Why a type may have the name of another.
const IN_SEGMENT: &str = "as words in the segment, and as plain data read out of it";
const A_COMMAND: &str = "what a command line asks for, in the module of each command, which is named with it";
const FORTRAN: &str = "the table of the Fortran interface is built as that of C, in a module of its own";

/// Types of one package with the same name: package, name, and why.
const SAME: &[(&str, &str, &str)] = &[
    ("src/profile", "Peer", IN_SEGMENT),
    ("src/profile", "Site", IN_SEGMENT),
    ("src/profile", "Traffic", IN_SEGMENT),
    ("src/profile", "Module", IN_SEGMENT),
    ("src/profile", "Region", IN_SEGMENT),
    ("src/profile", "Marker", IN_SEGMENT),
    ("src/profile", "Sync", IN_SEGMENT),
    ("src/profile", "Nbi", IN_SEGMENT),
    ("src/profile", "Timeline", IN_SEGMENT),
    ("src/profile", "Cause", "in the segment, of a PE, and of the job"),
    ("src/profile", "Phase", "of a PE's life, and of the program"),
    ("src/profile", "Cell", "of the segment's table of operations, and of a view's table"),
    ("pshmem/generate", "Row", FORTRAN),
    ("pshmem/generate", "Group", FORTRAN),
    ("pshmem/generate", "Routine", FORTRAN),
    ("pshmem", "Frame", "what is kept of a call's registers on either architecture; and of a call on the stack"),
    ("tools/oshprof", "Request", A_COMMAND),
    ("tools/oshserve", "Request", A_COMMAND),
];

/// The package that a file belongs to.
fn package(file: &str) -> String {
    let mut parts = file.split('/');
    let (first, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if first == "pshmem" && second != "generate" { first.into() } else { format!("{first}/{second}") }
}

/// The public type that a line begins.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (kind, rest) = rest.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type", "union"].contains(&kind);
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| is_type && !name.is_empty())
}

/// Between packages a name may come again: a reader sees from the path whose it is.
#[test]
fn no_two_public_types_of_a_package_share_a_name_without_a_reason() {
    let mut types: BTreeMap<(String, String), usize> = BTreeMap::new();
    let own = |file: &str| !file.contains("/tests") && !file.contains("/examples/") && !file.contains("_tests.rs");
    for (file, text) in all().iter().filter(|(file, _)| own(file) && !file.starts_with("tests/")) {
        for name in text.lines().filter_map(public_type) {
            *types.entry((package(file), name.to_owned())).or_default() += 1;
        }
    }
    let found: BTreeSet<_> = types.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
    let known = SAME.iter().map(|(package, name, _)| ((*package).to_owned(), (*name).to_owned())).collect();
    let more: Vec<_> = found.difference(&known).collect();
    assert!(more.is_empty(), "public types with one name: {more:?}");
    let fewer: Vec<_> = known.difference(&found).collect();
    assert!(fewer.is_empty(), "these no longer share a name: {fewer:?}");
}

#[test]
fn a_public_type_is_found() {
    assert_eq!(public_type("    pub struct Row<T> {"), Some("Row"));
    assert_eq!(public_type("pub unsafe trait Plain: Copy {"), Some("Plain"));
    assert_eq!((public_type("pub(super) enum Row {"), public_type("pub fn row() {")), (None, None));
    assert_eq!((package("pshmem/src/line.rs"), package("src/core/src/lib.rs")), ("pshmem".into(), "src/core".into()));
}

#[test]
fn what_is_too_long_is_found() {
    let line = "x".repeat(WIDTH + 1);
    assert_eq!(long_prose(&format!("```\n{line}\n```\n{line}\n| {line} |\n")), [4]);
    assert_eq!(long_lines(&format!("fn a() {{}}\n{line}\n//! | {line} |\n")), [2]);
    let body = "    let x = 1;\n".repeat(LINES_OF_A_FUNCTION - 1);
    let long = format!("    pub(super) unsafe fn long<T>(\n        x: T,\n    ) {{\n{body}    }}\n");
    let short = format!("fn short() {{\n{}}}\n", "    let x = 1;\n".repeat(LINES_OF_A_FUNCTION - 2));
    assert_eq!(
        long_functions(&format!("{short}impl A {{\n{long}}}\n")),
        [(LINES_OF_A_FUNCTION + 2, "long".to_owned())]
    );
}
