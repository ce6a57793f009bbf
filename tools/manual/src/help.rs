//! Reads the help text of a tool: usage, paragraphs, and lists of options.

/// Where a wrapper's own help ends and that of the compiler behind it begins.
const OTHERS: &str = "The compiler's own help:";

/// A help text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Help {
    /// Command lines, each with what stands beside it.
    pub usage: Vec<(String, String)>,
    /// The rest, in order.
    pub parts: Vec<Part>,
}

/// A part of a help text.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// Lines that belong together.
    Paragraph(Vec<String>),
    /// An option.
    Choice(Choice),
}

/// An option.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// As the text has it: `-n, -np N`.
    pub spelling: String,
    /// What it does.
    pub text: Vec<String>,
}

impl Choice {
    /// Its names: `-n`, `-np`.
    pub fn names(&self) -> Vec<&str> {
        let name = |part: &str| part.trim().find([' ', '[', '=']).unwrap_or(part.trim().len());
        self.spelling
            .split(", ")
            .filter(|part| part.trim().starts_with('-'))
            .map(|part| &part.trim()[..name(part)])
            .collect()
    }

    /// What stands for its value, if it takes one: `N`.
    pub fn value(&self) -> Option<&str> {
        let last = self.spelling.split(", -").last()?;
        let value = last[last.find([' ', '[', '='])?..].trim();
        // `[LEVEL|off]` and `[=DIR]` may be left out as a whole; of `VAR[=VALUE]` only the end may.
        let whole = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).unwrap_or(value);
        Some(whole.trim_start_matches('='))
    }

    /// Whether the value is the next word.
    pub fn value_follows(&self) -> bool {
        self.value().is_some_and(|value| self.spelling.ends_with(&format!(" {value}")))
    }
}

impl Help {
    /// Reads a text.
    pub fn parse(text: &str) -> Help {
        let mut help = Help::default();
        let mut is_usage = false;
        let mut paragraph = Vec::new();
        // The indentation of the text of the option that is being read.
        let mut column = None;
        for line in text.lines().take_while(|line| line.trim() != OTHERS) {
            let content = line.trim_start();
            let indent = line.len() - content.len();
            let usage = content.strip_prefix("Usage: ").or_else(|| content.strip_prefix("usage: "));
            if let Some(first) = usage {
                help.usage.push(beside(first));
                is_usage = true;
                continue;
            }
            if content.is_empty() {
                (is_usage, column) = (false, None);
                help.end(&mut paragraph);
            } else if is_usage {
                help.usage.push(beside(content));
            } else if indent > 0 && content.starts_with('-') && column.is_none_or(|column| indent < column) {
                help.end(&mut paragraph);
                let (spelling, text) = beside(content);
                column = Some(indent + 1);
                let text = if text.is_empty() { Vec::new() } else { vec![text] };
                help.parts.push(Part::Choice(Choice { spelling, text }));
            } else if let (Some(_), Some(Part::Choice(choice))) =
                (column.filter(|column| indent >= *column), help.parts.last_mut())
            {
                choice.text.push(content.to_owned());
            } else {
                paragraph.push(line.to_owned());
            }
        }
        help.end(&mut paragraph);
        help
    }

    fn end(&mut self, paragraph: &mut Vec<String>) {
        if !paragraph.is_empty() {
            self.parts.push(Part::Paragraph(std::mem::take(paragraph)));
        }
    }

    /// Options, in order.
    pub fn choices(&self) -> impl Iterator<Item = &Choice> {
        self.parts.iter().filter_map(|part| match part {
            Part::Choice(choice) => Some(choice),
            Part::Paragraph(_) => None,
        })
    }

    /// The commands of a tool that its usage names, each with what stands beside it.
    pub fn commands(&self, tool: &str) -> Vec<(String, String)> {
        let explained = self.words_behind(tool).filter(|(_, text)| !text.is_empty());
        explained.map(|(word, text)| (word.to_owned(), text.to_owned())).collect()
    }

    /// What a command does, where its usage has a word for each: `add list`.
    pub fn actions(&self, command: &str) -> String {
        self.words_behind(&format!("{command} ")).map(|(word, _)| word).collect::<Vec<_>>().join(" ")
    }

    /// The words that come next in the command lines which begin so, each with what stands beside its line.
    fn words_behind(&self, begin: &str) -> impl Iterator<Item = (&str, &str)> {
        self.usage.iter().filter_map(move |(line, text)| {
            let word = line.strip_prefix(begin)?.split_whitespace().next()?;
            word.chars().all(|letter| letter.is_ascii_lowercase()).then_some((word, text.as_str()))
        })
    }
}

/// What two blanks or more part: left and right.
fn beside(line: &str) -> (String, String) {
    let (left, right) = line.split_once("  ").unwrap_or((line, ""));
    (left.trim().to_owned(), right.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Usage: tool [OPTION...] PROGRAM

Runs it.

Options:
  -n, -np N        number
                   - not an option
  --trace[=DIR]    trace
  -showme:a, -showme:b
                   parts
  --profile [LEVEL|off]  profile
  -x VAR[=VALUE]   variable

The end.

The compiler's own help:
  --other  no part of it
";

    #[test]
    fn options_have_names_values_and_texts() {
        let help = Help::parse(TEXT);
        let choices: Vec<&Choice> = help.choices().collect();
        assert_eq!(choices.len(), 5);
        assert_eq!((choices[0].names(), choices[0].value()), (vec!["-n", "-np"], Some("N")));
        assert_eq!(choices[0].text, ["number", "- not an option"]);
        assert_eq!((choices[1].names(), choices[1].value()), (vec!["--trace"], Some("DIR")));
        assert!(choices[0].value_follows() && !choices[1].value_follows());
        assert_eq!((choices[2].names(), choices[2].value()), (vec!["-showme:a", "-showme:b"], None));
        assert_eq!((choices[3].names(), choices[3].value()), (vec!["--profile"], Some("LEVEL|off")));
        assert!(!choices[3].value_follows());
        assert_eq!((choices[4].names(), choices[4].value()), (vec!["-x"], Some("VAR[=VALUE]")));
        assert!(choices[4].value_follows());
        let paragraphs = help.parts.iter().filter(|part| matches!(part, Part::Paragraph(_))).count();
        assert_eq!((help.usage.len(), paragraphs), (1, 3));
    }

    #[test]
    fn commands_come_from_the_usage() {
        let help =
            Help::parse("tool: what it is\n\nusage: tool report DIR [options]    a report\n       tool --version\n");
        assert_eq!(help.commands("tool"), [("report".to_owned(), "a report".to_owned())]);
    }

    #[test]
    fn actions_come_from_the_usage() {
        let help = Help::parse("usage: tool keep add DIR...\n       tool keep list [--json]\n       tool keep FILE\n");
        assert_eq!(help.actions("tool keep"), "add list");
        assert_eq!(help.actions("tool"), "keep keep keep");
    }
}
