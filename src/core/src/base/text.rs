//! Names that come from anywhere: showing them, and finding what was meant.

/// A message for a terminal: control characters as escapes, but for the ends of its own lines, so that no name moves
/// the cursor or colours what follows.
pub fn visible_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// Edits (insert, delete, replace) between two names.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn edits_between_names() {
        for (a, b, edits) in
            [("", "", 0), ("", "ab", 2), ("heap", "heap", 0), ("heep", "heap", 1), ("help", "heaps", 2)]
        {
            assert_eq!((super::edit_distance(a, b), super::edit_distance(b, a)), (edits, edits), "{a} {b}");
        }
    }

    #[test]
    fn a_message_keeps_its_lines_and_shows_the_rest() {
        assert_eq!(super::visible_lines("a\nb\t\u{1b}[31m \u{9b}é\r\n"), "a\nb\\t\\u{1b}[31m \\u{9b}é\\r\n");
    }
}
