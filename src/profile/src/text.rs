//! Text that came from elsewhere.

/// Text for a terminal: control characters as escapes, so that no name moves the cursor or begins a line.
pub fn visible(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escape = c.is_control().then(|| c.escape_default());
            let plain = escape.is_none().then_some(c);
            escape.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// As [`visible`], of a file's name.
pub fn visible_path(path: &std::path::Path) -> String {
    visible(&path.to_string_lossy())
}

/// A path as a word of a command that a shell understands, without a slash at its end.
pub fn shell_word(path: &std::path::Path) -> String {
    let path: std::path::PathBuf = path.components().collect();
    let text = visible_path(&path);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./-+=:@%,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('-') {
        return text;
    }
    let before = if text.starts_with('-') { "./" } else { "" };
    format!("'{before}{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_one_word() {
        for (path, word) in [
            ("a/b-c.trace", "a/b-c.trace"),
            ("./traces/", "./traces"),
            ("my run", "'my run'"),
            ("it's", "'it'\\''s'"),
            ("-x", "'./-x'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell_word(std::path::Path::new(path)), word);
        }
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\nb\t\u{1b}[31m \u{9b}\"é\\"), "a\\nb\\t\\u{1b}[31m \\u{9b}\"é\\");
    }
}
