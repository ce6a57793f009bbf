//! What things are called: in words of the field, and no two public types of a package alike.

use std::collections::{BTreeMap, BTreeSet};

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
    ("area", "sync block, segment"),
    ("land", "complete"),
    ("links", "liveness, connections"),
];

/// Words that say too little where they are the whole name, and what is said instead. Within a longer name they mean
/// what they mean in any text, and so do verbs (`keep`, `post`); `group` is a term of the field, `gate` a command.
const ALONE: &[(&str, &str)] = &[
    ("here", "intra_host; or what is there: current_frame, current_node"),
    ("between", "inter_host; of numbers: range"),
    ("mapped", "local_mapping"),
    ("kept", "counts only, with call sites; or what is kept: ProfileOutput, cached"),
    ("held", "what is held, or by whom"),
];

/// Words of a folder: a root and a part are a tree's in collectives, and nothing in the launcher.
const OF_A_FOLDER: &[(&str, &str, &str)] = &[("tools/oshrun/", "root", "head"), ("tools/oshrun/", "part", "daemon")];

/// Names of so many words and more are sentences, as those of tests: words mean there what they mean in any text.
const SENTENCE: usize = 4;

/// What a line of code names: functions, types, modules, constants.
fn names(line: &str) -> impl Iterator<Item = &str> {
    const KINDS: &[&str] = &["fn", "struct", "enum", "trait", "type", "mod", "const", "static", "union"];
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_comment = line.trim_start().starts_with("//");
    let pairs: Vec<(&str, &str)> = words.windows(2).map(|pair| (pair[0], pair[1])).collect();
    // `&raw const value` names nothing.
    let names_it = |kind: &str, name: &str| kind != "const" || !name.starts_with(char::is_lowercase);
    let is_name = move |(kind, name): &(&str, &str)| !is_comment && KINDS.contains(kind) && names_it(kind, name);
    pairs.into_iter().filter(is_name).filter_map(|(_, name)| {
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

/// What a name says instead of what it should: its words, then the whole of it.
fn private(file: &str, name: &str) -> Option<String> {
    let words = words(name);
    if words.len() >= SENTENCE {
        return None;
    }
    let has = |word: &str| words.iter().any(|own| own == word);
    let by_word = PRIVATE.iter().find(|(word, _)| has(word)).map(|(_, instead)| *instead);
    let is_constant = !name.contains(char::is_lowercase);
    let whole = |word: &str| !is_constant && words.as_slice() == [word];
    let by_name = || ALONE.iter().find(|(word, _)| whole(word)).map(|(_, instead)| *instead);
    let of_folder = |row: &&(&str, &str, &str)| file.starts_with(row.0) && has(row.1);
    let by_folder = || OF_A_FOLDER.iter().find(of_folder).map(|(_, _, instead)| *instead);
    by_word.or_else(by_name).or_else(by_folder).map(|instead| format!("{name}: {instead}"))
}

#[test]
fn names_are_those_of_the_field() {
    let found: Vec<String> = super::rust()
        .iter()
        .filter(|(file, _)| !file.starts_with("tests/") && !file.contains("/tests"))
        .flat_map(|(file, text)| {
            let path = file.trim_end_matches(".rs").split('/').skip(2).filter_map(|stem| private(file, stem));
            let names = text.lines().flat_map(names).filter_map(|name| private(file, name));
            path.chain(names).map(|name| format!("{file}: {name}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn private_words_are_found_in_names() {
    assert_eq!(words("RemoteMeet"), ["remote", "meet"]);
    assert_eq!(words("MAX_FAR"), ["max", "far"]);
    assert_eq!(names("    pub(super) fn far<T>(x: T) -> Far {").collect::<Vec<_>>(), ["far"]);
    assert_eq!(names("/// the fn far").count() + names("x(&raw const far)").count(), 0);
    let is_private = |name| private("src/core/src/lib.rs", name).is_some();
    assert!(is_private("is_far") && is_private("Judge") && !is_private("farm"));
    assert!(!is_private("hosts_alike_are_told_once") && is_private("hosts_alike_told"));
    assert!(is_private("here") && is_private("Kept") && is_private("Area") && is_private("is_area"));
    assert!(!is_private("stop_here") && !is_private("BETWEEN") && !is_private("check_root"));
    assert!(private("tools/oshrun/src/hosts/head.rs", "root_lost").is_some());
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
    for (file, text) in super::rust().iter().filter(|(file, _)| own(file) && !file.starts_with("tests/")) {
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
