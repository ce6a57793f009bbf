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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\nb\t\u{1b}[31m \u{9b}\"é\\"), "a\\nb\\t\\u{1b}[31m \\u{9b}\"é\\");
    }
}
