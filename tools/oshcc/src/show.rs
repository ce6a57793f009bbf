//! Commands as text that a shell reads back.

use std::ffi::OsString;

/// The words in one line, quoted where a shell would take them apart.
pub fn line(words: &[OsString]) -> String {
    words.iter().map(|word| quote(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let words = ["cc", "-Wl,-rpath,/a b/lib", "", "it's", "-DX=\"y\"", "$HOME", "a;b", "-I/p"].map(OsString::from);
        let script = format!("printf '%s\\n' {}", line(&words));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let lines: Vec<String> = words.iter().map(|w| w.to_str().unwrap().into()).collect();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), lines.join("\n") + "\n");
    }
}
