//! Completion for shells: a file a shell, a script a tool.

mod bash;
mod fish;
mod zsh;

pub use bash::bash;
pub use fish::fish;
pub use zsh::zsh;

use crate::help::Choice;

/// What may follow an option.
#[derive(Debug, PartialEq, Eq)]
enum Value {
    /// One of these words; nothing that could be guessed where there are none.
    Words(Vec<String>),
    /// A directory.
    Directory,
    /// A file.
    File,
}

impl Value {
    /// `None`: the option takes no value, or none that is a word of its own.
    fn of(choice: &Choice) -> Option<Self> {
        let value = choice.value().filter(|_| choice.value_follows())?;
        Some(match value {
            "FILE" => Self::File,
            "DIR" => Self::Directory,
            "FORMAT" | "VIEW" | "WHERE" => Self::Words(first_words(choice)),
            "KEY" => Self::Words(listed(choice)),
            _ => {
                let words = value.split('|').filter(|word| word.chars().all(|c| c.is_ascii_lowercase()));
                Self::Words(words.map(str::to_owned).collect())
            }
        })
    }
}

/// What an option does, in a few words: the beginning of its first line, or what it takes where the text begins with a
/// value.
fn summary(choice: &Choice) -> &str {
    let line = choice.text.first().map_or("", String::as_str);
    if let Some(Value::Words(words)) = Value::of(choice)
        && words.iter().any(|word| line.strip_prefix(word.as_str()).is_some_and(|rest| rest.starts_with([':', ' '])))
    {
        return choice.value().unwrap_or_default();
    }
    let ends = [" (", ": ", ", ", "; "].iter().filter_map(|end| line.find(end));
    line[..ends.min().unwrap_or(line.len())].trim_end_matches([',', ';', ':'])
}

/// The words that a text explains, at the beginning of a line or behind a semicolon:
/// `chrome: JSON for ...; waits: ...`, or `bmf    Bencher's`.
fn first_words(choice: &Choice) -> Vec<String> {
    let word = |part: &str| {
        let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit()))?;
        let (word, rest) = part.split_at(end);
        let is_explained =
            rest.starts_with(": ") || rest.starts_with("  ") || (rest.starts_with(" (") && rest.contains("): "));
        (is_explained && word.starts_with(|c: char| c.is_ascii_lowercase())).then(|| word.to_owned())
    };
    choice.text.iter().flat_map(|line| line.split("; ")).filter_map(word).collect()
}

/// The words that a text lists behind a colon: `order: total (default), calls`.
fn listed(choice: &Choice) -> Vec<String> {
    let text = choice.text.join(" ");
    let list = text.split_once(": ").map_or("", |(_, list)| list);
    list.split(", ").filter_map(|word| word.split(' ').next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topic;
    use crate::help::Help;

    /// A tool with a program behind its options, and one with a command.
    fn topics() -> [Topic; 2] {
        let help = "usage: run [options] PROGRAM\n       run go there\n       run go back\n\n  \
            -n, -np N        how many\n  --bind core|none  where PEs' threads [run]: cores\n  \
            --to DIR  where\n  --file FILE  what\n  --hosts A:SLOTS  where\n  --quiet  no\n";
        let topic = |words: &[&str]| Topic {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            summary: "does it".to_owned(),
            help: Help::parse(help),
        };
        [topic(&["run"]), topic(&["run", "go"])]
    }

    #[test]
    fn values_are_told_apart() {
        let [topic, _] = topics();
        let values: Vec<Option<Value>> = topic.help.choices().map(Value::of).collect();
        let words = |words: &[&str]| Some(Value::Words(words.iter().map(|word| (*word).to_owned()).collect()));
        assert_eq!(summary(topic.help.choices().nth(1).unwrap()), "where PEs' threads [run]");
        assert_eq!(
            values,
            [words(&[]), words(&["core", "none"]), Some(Value::Directory), Some(Value::File), words(&[]), None]
        );
    }

    #[test]
    fn words_are_those_that_are_explained() {
        let text = "  --view VIEW  routines (default): calls of each, and\n               late: who came late to \
            which, collective or wait,\n\
                    \u{20}              and what that cost; waits: its table\n               bmf    Bencher's\n";
        let help = Help::parse(text);
        let choice = help.choices().next().unwrap();
        let words = ["routines", "late", "waits", "bmf"].map(str::to_owned).to_vec();
        assert_eq!((Value::of(choice), summary(choice)), (Some(Value::Words(words)), "VIEW"));
    }

    #[test]
    fn zsh_has_options_with_what_follows() {
        let [tool, command] = topics();
        let text = zsh(&[&tool], &["run", "also"]);
        assert!(text.starts_with("#compdef run also\n"), "{text}");
        for part in [
            "'-np[how many]:N: '",
            r"'--hosts[where]:A\:SLOTS: '",
            r"'--bind[where PEs'\'' threads \[run\]]:core|none:(core none)'",
            "'--to[where]:DIR:_files -/'",
            "'--quiet[no]'",
            "'*::arguments: _normal'",
        ] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        let text = zsh(&[&tool, &command], &["run"]);
        assert!(text.contains("'1:action:(there back)'"), "{text}");
        assert!(text.contains("'go:does it'") && text.contains("    go)\n") && text.contains("    help)\n"), "{text}");
    }

    #[test]
    fn fish_has_options_with_what_follows() {
        let [tool, command] = topics();
        let text = fish(&[&tool], &["run"]);
        for part in [
            "complete -c run -n 'not __pellucid_run_program' -s n -o np -x -d 'how many'\n",
            r"-l bind -x -a 'core none' -d 'where PEs\' threads [run]'",
            "-l to -x -a '(__fish_complete_directories)' -d 'where'\n",
            "-l file -r -F -d 'what'\n",
            "-l quiet -d 'no'\n",
        ] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        let text = fish(&[&tool, &command], &["run"]);
        assert!(text.contains("-n __fish_use_subcommand -f -a go -d 'does it'"), "{text}");
        assert!(text.contains("-n '__fish_seen_subcommand_from go' -l quiet"), "{text}");
        assert!(text.contains("-n '__fish_seen_subcommand_from go' -a 'there back'"), "{text}");
        assert!(text.contains("-n '__fish_seen_subcommand_from help' -f -a 'go'"), "{text}");
    }
}
