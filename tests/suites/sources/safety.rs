//! What comments on `unsafe` name is there.

use std::collections::BTreeSet;

use super::{others, rust};

/// Words that introduce a name.
const DEFINES: &[&str] = &["fn", "struct", "enum", "union", "trait", "type", "static", "const", "mod", "macro_rules!"];

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !is_part(c)).filter(|word| !word.is_empty())
}

/// The lines of a source without comments, and the comments that argue for `unsafe`, each with its first line.
fn parted(text: &str) -> (String, Vec<(usize, String)>) {
    let (mut code, mut comments, mut is_open) = (String::new(), Vec::<(usize, String)>::new(), false);
    for (at, line) in text.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!', ' ']));
        let Some(comment) = comment else {
            code.push_str(line.split(" // ").next().unwrap_or_default());
            code.push('\n');
            is_open = false;
            continue;
        };
        if comment.starts_with("SAFETY") {
            is_open = true;
            comments.push((at + 1, String::new()));
        }
        if let Some((_, last)) = comments.last_mut().filter(|_| is_open) {
            last.push_str(comment);
            last.push(' ');
        }
    }
    (code, comments)
}

/// The names in a comment: `name`, `Type::name`, `name()`.
fn named(comment: &str) -> Vec<&str> {
    let quoted = comment.split('`').skip(1).step_by(2);
    let names = quoted.map(|name| name.strip_suffix("()").unwrap_or(name));
    names.filter(|name| !name.is_empty() && name.chars().all(|c| is_part(c) || c == ':')).collect()
}

/// What the words of some code define. Parameters and fields are found in the file that names them only.
fn defined(code: &str) -> impl Iterator<Item = &str> {
    let mut last = "";
    code.split(|c: char| !is_part(c) && c != '!')
        .filter(move |word| !word.is_empty() && DEFINES.contains(&std::mem::replace(&mut last, word)))
}

#[test]
fn what_comments_on_unsafe_name_is_there() {
    let sources: Vec<_> = rust().into_iter().map(|(name, text)| (name, parted(&text))).collect();
    let others = others();
    let mut known: BTreeSet<&str> = sources.iter().flat_map(|(_, (code, _))| defined(code)).collect();
    known.extend(others.iter().filter(|(name, _)| !name.ends_with(".sh")).flat_map(|(_, text)| words(text)));
    let mut wrong = Vec::new();
    for (file, (code, comments)) in &sources {
        let here: BTreeSet<&str> = words(code).collect();
        for (line, comment) in comments {
            let lost = named(comment).into_iter().filter(|name| {
                !name
                    .split("::")
                    .filter(|part| !part.is_empty())
                    .all(|part| here.contains(part) || known.contains(part))
            });
            wrong.extend(lost.map(|name| format!("{file}:{line}: {name}")));
        }
    }
    assert!(wrong.is_empty(), "SAFETY comments name what is not there:\n{}", wrong.join("\n"));
    let count = sources.iter().map(|(_, (_, comments))| comments.len()).sum::<usize>();
    assert!(count > 500, "{count} comments");
}

#[test]
fn a_comment_on_unsafe_is_taken_apart() {
    let text =
        "fn f() {\n    // SAFETY: `Facts::read` has looked,\n    // and `g()` too.\n    g(); // `h`\n    // `k`\n}\n";
    let (code, comments) = parted(text);
    assert_eq!(
        comments.iter().map(|(line, text)| (*line, named(text))).collect::<Vec<_>>(),
        [(2, vec!["Facts::read", "g"])]
    );
    assert_eq!(
        (words(&code).collect::<Vec<_>>(), defined(&code).collect::<Vec<_>>()),
        (vec!["fn", "f", "g"], vec!["f"])
    );
}
