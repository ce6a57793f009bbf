//! A page of the manual for a command: what `clap_mangen` makes of it, with what follows its options as sections.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::oshcc;

/// Where the pages are that texts name.
pub const PAGES: &str = ".PP\nPages named docs/NAME.md lie in share/doc/pellucid of the installation.\n";

/// What stands for the end of a line in texts on their way through `clap_mangen`, which fills them.
const END_OF_LINE: &str = "\u{2028}";

/// What clap says of `--help` where a command has a long description; here, `-h` is the same.
const SUMMARY: &str = r" (see a summary with \*(Aq\-h\*(Aq)";

/// The name of a command's page: `oshprof-report`.
pub fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The commands of a tool that have pages.
pub fn commands(tool: &Command) -> impl Iterator<Item = &Command> {
    tool.get_subcommands().filter(|command| command.get_name() != "help")
}

/// The page, in the language of man(7), with references to the other pages.
pub fn text(command: &Command, pages: &[&Command]) -> String {
    let name = name(command);
    let page = oshcc::spelled(&rendered(command).expect("writing to memory"));
    let page = page.replace(END_OF_LINE, "\n.br\n").replace(SUMMARY, "");
    let others: Vec<String> =
        pages.iter().map(|other| self::name(other)).filter(|other| *other != name).map(see).collect();
    page + &notes(command) + ".SH SEE ALSO\n" + &others.join(",\n") + ",\n.BR libsma (7)\n" + PAGES
}

fn rendered(command: &Command) -> std::io::Result<String> {
    let shown = command.clone().long_about(pellucid_cli::description(command)).mut_args(|option| {
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        option.help(help.replace("{n} ", END_OF_LINE))
    });
    let usage = command.clone().render_usage().to_string();
    let shown = shown.override_usage(usage.replacen("Usage: ", "", 1)).subcommand_help_heading("COMMANDS");
    let shown =
        shown.mut_subcommands(|command| if command.get_name() == "help" { command.hide(true) } else { command });
    let has_commands = commands(command).next().is_some();
    let version = concat!("Pellucid ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(shown).title(name(command).to_uppercase()).source(version).manual("OpenSHMEM");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    page.extend(b".nh\n.ad l\n");
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    Ok(String::from_utf8(page).expect("made of text"))
}

fn see(page: &str) -> String {
    format!(".BR {} (1)", escaped(page))
}

/// What follows the options: paragraphs that begin with their title are sections.
fn notes(command: &Command) -> String {
    const TITLES: [(&str, &str); 2] = [("Exit status: ", "EXIT STATUS"), ("Environment: ", "ENVIRONMENT")];
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (mut page, mut section) = (String::new(), "");
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let titled = TITLES.iter().find_map(|(begin, title)| Some((*title, paragraph.strip_prefix(begin)?)));
        let (title, paragraph) = titled.unwrap_or(("NOTES", paragraph));
        page += &if title == section { ".PP\n".to_owned() } else { format!(".SH {title}\n") };
        page += &Roff::new().text([roman(paragraph)]).to_roff();
        section = title;
    }
    page
}

/// The first lines of a page.
pub fn head(name: &str, section: u8) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let name = escaped(&name.to_uppercase());
    format!(".TH {name} {section} \"\" \"Pellucid {version}\" \"OpenSHMEM\"\n.nh\n.ad l\n")
}

/// Text that the formatter leaves as it is.
pub fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('`', "\\(ga").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(page: &str) -> Vec<&str> {
        page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect()
    }

    #[test]
    fn pages_have_their_sections() {
        let [oshrun, oshprof, oshcc] = crate::tools();
        let page = text(&oshrun, &[&oshrun, &oshcc]);
        for title in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "HOSTS", "NOTES", "\"EXIT STATUS\"", "SEE ALSO"] {
            assert!(
                sections(&page).iter().any(|found| found.trim_matches('"') == title.trim_matches('"')),
                "{title}: {page}"
            );
        }
        assert!(page.contains(".BR oshcc (1)") && !page.contains(".BR oshrun (1)"), "{page}");
        assert!(page.contains("\n.br\n\\- off: record nothing\n.br\n") && !page.contains(END_OF_LINE), "{page}");
        let trace = oshprof.find_subcommand("trace").expect("a command");
        let page = text(trace, &[]);
        assert!(
            page.starts_with(".ie") || page.contains(".TH OSHPROF\\-TRACE 1") || page.contains(".TH OSHPROF-TRACE 1")
        );
        assert!(page.contains("oshprof\\-trace \\- sum up a trace, convert it"), "{page}");
        assert!(page.contains("chrome: JSON for") && page.contains("[OPTIONS] <DIR>"), "{page}");
        let page = text(&oshcc, &[]);
        assert!(page.contains("\\-showme:compile") && !page.contains("\\-\\-showme"), "{page}");
        assert!(sections(&page).contains(&"ENVIRONMENT"), "{page}");
        assert!(!text(&oshprof, &[]).contains("summary"));
    }
}
