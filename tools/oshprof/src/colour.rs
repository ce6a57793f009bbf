//! Colours for what matters in a report on a terminal: notes, findings, and the line that ends it.

use std::borrow::Cow;
use std::io::{self, IsTerminal};

const BOLD: &str = "\x1b[1m";
const WARNING: &str = "\x1b[33m";
const FAINT: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Whether the user has said no to colours.
pub fn is_unwanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The report as it is printed: with colours where the output is a terminal and the user has not said no (`NO_COLOR`).
pub fn painted(text: &str) -> Cow<'_, str> {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if is_unwanted() || is_dumb || !io::stdout().is_terminal() {
        return text.into();
    }
    paint(text).into()
}

/// Blocks stand between empty lines; a colour goes to the end of its block, since sentences go over several lines.
fn paint(text: &str) -> String {
    let blocks: Vec<&str> = text.trim_end_matches('\n').split("\n\n").collect();
    let mut out = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let is_closing = at > 0 && at + 1 == blocks.len() && block.contains(" of PE time");
        let mut colour = if is_closing || ["first finding: ", "what if: "].iter().any(|begin| block.starts_with(begin))
        {
            BOLD
        } else {
            ""
        };
        let mut lines = Vec::new();
        for (number, line) in block.lines().enumerate() {
            colour = match line {
                _ if at == 0 && number == 0 => BOLD,
                _ if at == 0 && number == 1 => "",
                _ if line.starts_with("note: ") => WARNING,
                _ => colour,
            };
            let own = match line {
                _ if line.starts_with("PE ") && line.contains(" waits least: ") => BOLD,
                _ if line.starts_with("... ") => FAINT,
                _ => colour,
            };
            lines.push(if own.is_empty() { line.to_owned() } else { format!("{own}{line}{PLAIN}") });
        }
        out.push(lines.join("\n"));
    }
    out.join("\n\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_has_a_colour_and_nothing_else_changes() {
        let text = "profile of a\n4 PEs\nnote: PE 3: killed\nby SIGKILL\n\nfirst finding: one\ntwo\n\nPE  time\n0   \
            1\n... 3 PEs between these\nPE 2 waits least: it is\n\n7 % of PE time\n";
        let painted = paint(text);
        for part in [
            "\x1b[1mprofile of a\x1b[0m\n4 PEs\n\x1b[33mnote: PE 3: killed\x1b[0m\n\x1b[33mby SIGKILL\x1b[0m\n\n",
            "\x1b[1mfirst finding: one\x1b[0m\n\x1b[1mtwo\x1b[0m\n\nPE  time\n0   1\n\x1b[2m... 3 PEs",
            "\x1b[1mPE 2 waits least: it is\x1b[0m\n\n\x1b[1m7 % of PE time\x1b[0m\n",
        ] {
            assert!(painted.contains(part), "{part:?} is not in {painted:?}");
        }
        let plain = [BOLD, WARNING, FAINT, PLAIN].iter().fold(painted, |text, code| text.replace(code, ""));
        assert_eq!(plain, text);
    }
}
