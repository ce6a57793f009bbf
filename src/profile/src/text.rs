//! Text that came from elsewhere.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::hash::fnv1a;

/// Whether a character has what follows stand from right to left, or ends that: of a name that has one, nobody sees
/// what it is, nor what stands behind it.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The character of byte 0, in an area of private use: bytes of a path that are no UTF-8 are that many characters on.
const BYTES: u32 = 0x10_ff00;

/// A path as text from which [`path_of`] makes it again, whatever bytes it has.
pub fn path_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(BYTES + u32::from(*byte))));
    }
    text
}

/// The byte that a character stands for in a path's text.
fn byte_of(c: char) -> Option<u8> {
    u32::from(c).checked_sub(BYTES).and_then(|byte| u8::try_from(byte).ok())
}

/// The path that a text of [`path_text`] is of.
pub fn path_of(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    OsString::from_vec(bytes).into()
}

/// Text for a terminal: control characters as escapes, so that no name moves the cursor, begins a line or turns one
/// around; bytes of [`path_text`] as escapes, too.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => shown.push_str(&format!("\\x{byte:02x}")),
            None if c.is_control() || turns_text(c) => shown.extend(c.escape_default()),
            None => shown.push(c),
        }
    }
    shown
}

/// As [`visible`], of a file's name.
pub fn visible_path(path: &std::path::Path) -> String {
    visible(&path.to_string_lossy())
}

/// Runs of PEs that are named.
const PES: usize = 16;

/// `PE 3`, `PEs 0 to 5, 7`
pub fn pe_list(pes: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &pe in pes {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == pe => *end = pe,
            Some((_, end)) if *end == pe => {}
            _ => runs.push((pe, pe)),
        }
    }
    let mut parts: Vec<String> = runs
        .iter()
        .take(PES)
        .map(|&(begin, end)| match end - begin {
            0 => begin.to_string(),
            1 => format!("{begin}, {end}"),
            _ => format!("{begin} to {end}"),
        })
        .collect();
    if runs.len() > PES {
        parts.push("...".to_owned());
    }
    format!("{} {}", if pes.len() == 1 { "PE" } else { "PEs" }, parts.join(", "))
}

/// What to do where a text about the program's code names no line.
pub const ADVICE: &str = "compile with -g to see lines";

/// Whether a text names a line of a source file: `halo.c:17`.
pub fn has_line(text: &str) -> bool {
    let digits = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    text.match_indices(':').any(|(at, _)| digits(&text[at + 1..]) && text[..at].ends_with(char::is_alphanumeric))
}

/// The text, with advice where it names no line.
pub fn with_line(text: &str) -> String {
    if has_line(text) { text.to_owned() } else { format!("{text} ({ADVICE})") }
}

/// A path as a word of a command that a shell understands, without a slash at its end.
pub fn shell_word(path: &std::path::Path) -> String {
    let path: std::path::PathBuf = path.components().collect();
    let text = visible_path(&path);
    shell_quoted(&if text.starts_with('-') { format!("./{text}") } else { text })
}

/// A word of a command that a shell reads back; one that needs no quotes has none.
pub fn shell_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Bytes of [`arguments`] at most.
pub const ARGUMENTS: usize = 1000;

/// The arguments of a program as a shell reads them back. Those that are too long end with how long they are and a
/// number that others have not: what is compared by this text is not taken for the same.
pub fn arguments(words: &[String]) -> String {
    let text = words.iter().map(|word| shell_quoted(word)).collect::<Vec<_>>().join(" ");
    if text.len() <= ARGUMENTS {
        return text;
    }
    let rest = format!(" ... ({} bytes, {:016x})", text.len(), fnv1a(text.as_bytes()));
    let kept = text.floor_char_boundary(ARGUMENTS - rest.len());
    format!("{}{rest}", &text[..kept])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_bytes() {
        use std::os::unix::ffi::OsStrExt;
        for path in [&b"/a/x\xffy"[..], b"/a/\xc3\xbc", b"\xf0\x9f/\x80", b"/plain", b""] {
            let text = path_text(path);
            assert_eq!(path_of(&text).as_os_str().as_bytes(), path);
        }
        assert_eq!(
            (path_text(b"/a/\xc3\xbc").as_str(), visible(&path_text(b"/a/x\xffy")).as_str()),
            ("/a/\u{fc}", "/a/x\\xffy")
        );
    }

    #[test]
    fn no_name_turns_a_line_around() {
        assert_eq!(visible("a\u{202e}b\u{2066}c"), "a\\u{202e}b\\u{2066}c");
        assert_eq!(visible("\u{8a08}\u{7b97} \u{e9}\t"), "\u{8a08}\u{7b97} \u{e9}\\t");
    }

    #[test]
    fn other_arguments_have_another_text() {
        let of = |words: &[&str]| arguments(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["-n", "a b", "c"]), "-n 'a b' c");
        assert_ne!(of(&["a", "b c"]), of(&["a b", "c"]));
        let long = "\u{fc}".repeat(50_000);
        let (one, other) = (of(&[&long, "a"]), of(&[&long, "b"]));
        assert!(one.len() <= ARGUMENTS && one.contains("... (100004 bytes, "), "{one}");
        assert_ne!(one, other);
    }

    #[test]
    fn texts_without_lines_get_advice() {
        assert!(has_line("in inner at crash.c:6, address 0x0"));
        for text in ["in main+0x10", "in a.out+0x12: or", "at :7"] {
            assert!(!has_line(text) && with_line(text).ends_with("-g to see lines)"), "{text}");
        }
    }

    #[test]
    fn a_shell_reads_one_word() {
        for (path, word) in [
            ("a/b-c.trace", "a/b-c.trace"),
            ("./traces/", "./traces"),
            ("my run", "'my run'"),
            ("it's", "'it'\\''s'"),
            ("-x", "./-x"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell_word(std::path::Path::new(path)), word);
        }
    }

    #[test]
    fn words_for_a_shell() {
        assert_eq!(shell_quoted("/usr/bin/oshrun"), "/usr/bin/oshrun");
        assert_eq!(shell_quoted("/a b/it's"), r"'/a b/it'\''s'");
        assert_eq!((shell_quoted("$x").as_str(), shell_quoted("").as_str()), ("'$x'", "''"));
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\nb\t\u{1b}[31m \u{9b}\"é\\"), "a\\nb\\t\\u{1b}[31m \\u{9b}\"é\\");
    }
}
