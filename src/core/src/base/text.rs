//! Text with names in it that come from anywhere.

/// A message for a terminal: control characters as escapes, but for the ends of its own lines, so that no name moves
/// the cursor or colours what follows.
pub fn visible_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_message_keeps_its_lines_and_shows_the_rest() {
        assert_eq!(super::visible_lines("a\nb\t\u{1b}[31m \u{9b}é\r\n"), "a\nb\\t\\u{1b}[31m \\u{9b}é\\r\n");
    }
}
