//! A page of the manual for a command.

use crate::Topic;
use crate::help::Part;

/// The page, in the language of man(7), with references to the other pages.
pub fn text(topic: &Topic, pages: &[String]) -> String {
    let name = topic.words.join("-");
    let mut page = head(&name, 1);
    page += &format!(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", escaped(&name), escaped(&topic.summary));
    for (line, beside) in &topic.help.usage {
        // A line that says what it does is a command's, which has a page of its own.
        let line = if beside.is_empty() { line.clone() } else { format!("{line}   ({beside})") };
        page += &format!(".nf\n{}\n.fi\n", escaped(&line));
    }
    let mut section = "DESCRIPTION";
    page += ".SH DESCRIPTION\n";
    for part in &topic.help.parts {
        match part {
            Part::Choice(choice) => {
                if section != "OPTIONS" {
                    section = "OPTIONS";
                    page += ".SH OPTIONS\n";
                }
                page += &format!(".TP\n.B {}\n", escaped(&choice.spelling));
                page += &lines(&choice.text);
            }
            Part::Paragraph(text) => {
                let (title, text) = titled(text);
                if let Some(title) = title.or((section == "OPTIONS").then_some("NOTES"))
                    && title != section
                {
                    section = title;
                    page += &format!(".SH {title}\n");
                } else {
                    page += ".PP\n";
                }
                page += &text.iter().map(|line| format!("{}\n", escaped(line.trim_end()))).collect::<String>();
            }
        }
    }
    let others: Vec<String> =
        pages.iter().filter(|other| **other != name).map(|other| format!(".BR {} (1)", escaped(other))).collect();
    page + ".SH SEE ALSO\n" + &others.join(",\n") + ",\n.BR libsma (7)\n" + PAGES
}

/// Where the pages are that texts name.
pub const PAGES: &str = ".PP\nPages named docs/NAME.md lie in share/doc/pellucid of the installation.\n";

/// The first lines of a page.
pub fn head(name: &str, section: u8) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "'\\\" t\n.\\\" Made of what the tools say of themselves: do not edit.\n\
         .TH {} {section} \"\" \"Pellucid {version}\" \"OpenSHMEM\"\n.nh\n.ad l\n",
        escaped(&name.to_uppercase())
    )
}

/// Paragraphs that begin with their title are sections; a line that only announces the options is none.
fn titled(text: &[String]) -> (Option<&'static str>, Vec<String>) {
    const TITLES: [(&str, &str); 3] =
        [("Options:", "OPTIONS"), ("Exit status: ", "EXIT STATUS"), ("Environment: ", "ENVIRONMENT")];
    for (start, title) in TITLES {
        if let Some(rest) = text[0].strip_prefix(start) {
            let first = (!rest.is_empty()).then(|| rest.to_owned());
            return (Some(title), first.into_iter().chain(text[1..].iter().cloned()).collect());
        }
    }
    (None, text.to_vec())
}

/// Lines that stay lines.
fn lines(text: &[String]) -> String {
    text.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\n.br\n") + "\n"
}

/// Text that the formatter leaves as it is.
pub fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('`', "\\(ga").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::Help;

    #[test]
    fn a_page_has_its_sections() {
        let help = Help::parse("Usage: a [-b]\n\nDoes it.\n\nOptions:\n  -b  .b\\\n\nMore.\n\nExit status: 0\n");
        let topic = Topic { words: vec!["a".into()], summary: "does it".into(), help };
        let page = text(&topic, &["a".into(), "c".into()]);
        let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        assert_eq!(
            sections,
            ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "NOTES", "EXIT STATUS", "SEE ALSO"],
            "{page}"
        );
        assert!(page.contains(".TP\n.B \\-b\n\\&.b\\e\n") && page.contains(".BR c (1)"), "{page}");
    }
}
