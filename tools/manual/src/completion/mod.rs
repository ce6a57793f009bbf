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
            "FORMAT" | "VIEW" => Self::Words(first_words(choice)),
            "KEY" => Self::Words(listed(choice)),
            _ => {
                let words = value.split('|').filter(|word| word.chars().all(|c| c.is_ascii_lowercase()));
                Self::Words(words.map(str::to_owned).collect())
            }
        })
    }
}

/// What an option does, in a few words: the beginning of its first line.
fn summary(choice: &Choice) -> &str {
    let line = choice.text.first().map_or("", String::as_str);
    let ends = [" (", ": ", ", ", "; "].iter().filter_map(|end| line.find(end));
    line[..ends.min().unwrap_or(line.len())].trim_end_matches([',', ';', ':'])
}

/// The words that lines of a text begin with: `chrome: JSON for ...`.
fn first_words(choice: &Choice) -> Vec<String> {
    let word = |line: &String| {
        let word = line.split([':', ' ']).next()?;
        let is_name = line[word.len()..].starts_with([':', ' ']) && line.contains(':');
        (is_name && word.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit()))
            .then(|| word.to_owned())
    };
    choice.text.iter().filter_map(word).filter(|word| !word.starts_with('-')).collect()
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
        let help = "usage: run [options] PROGRAM\n\n  -n, -np N        how many\n  --bind core|none  where PEs' threads [run]: cores\n  \
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
        assert!(text.contains("'go:does it'") && text.contains("    go)\n"), "{text}");
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
    }
}
