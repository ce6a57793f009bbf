//! The help text, from the table of options.

use crate::flags::{FLAGS, Flag, Value};

const USAGE: &str = "\
Usage: oshrun [OPTION...] [--] PROGRAM [ARGUMENT...]

Runs PROGRAM as the PEs of one OpenSHMEM job, on this host or on several.

Options:
";

const NOTES: &str = "
PROGRAM is looked up in PATH unless it contains a slash. PE 0 reads the standard
input. Output is forwarded in whole lines (of up to 16 MiB). Signals sent to
oshrun go to every PE. SIGQUIT (Ctrl-\\) first says what each PE does and who
waits for whom; SIGUSR1 says so where no PE handles or ignores it, and then
ends nothing.
Options of mpirun, mpiexec and srun are understood where they mean something
here (docs/launchers.md).

Exit status: that of the first PE that ends with a nonzero one, or of
shmem_global_exit; 128 + N where a signal N ended that PE; 124 after --timeout;
126 and 127 where PROGRAM cannot be run or found; 2 for a wrong option; 1 where
the job cannot be set up (memory, files, metrics; nothing was run then), or a
host is lost or cannot be reached.
";

/// A terminal's columns.
const WIDTH: usize = 80;
/// Where the explanations begin.
const COLUMN: usize = 25;

/// The whole text.
pub fn text() -> String {
    let mut text = String::from(USAGE);
    for flag in FLAGS {
        let mut left = format!("  {}", spelling(flag));
        if left.len() >= COLUMN {
            text += &left;
            text.push('\n');
            left.clear();
        }
        for line in flag.help.lines().flat_map(|line| wrapped(line, WIDTH - COLUMN)) {
            text += &format!("{left:COLUMN$}{line}\n");
            left.clear();
        }
    }
    text + NOTES
}

/// A line as lines of at most this many columns, broken between words.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.len() + 1 + word.len() <= width => *last += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `-n, -np N`
fn spelling(flag: &Flag) -> String {
    let names = flag.names.join(", ");
    match flag.value {
        Value::None => names,
        Value::Required(value) => format!("{names} {value}"),
        Value::Optional(value) => format!("{names} [{value}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_in_the_text_and_no_line_is_too_long() {
        let text = text();
        for name in FLAGS.iter().flat_map(|f| f.names) {
            assert!(text.contains(name), "{name}");
        }
        for line in text.lines() {
            assert!(line.len() <= WIDTH, "{line}");
        }
    }
}
