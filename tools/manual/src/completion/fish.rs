//! Completion for fish.

use std::fmt::Write;

use super::{Value, summary};
use crate::Topic;
use crate::help::Choice;

/// The completion of a tool and its commands, under each of these names. `topics` begins with the tool itself.
pub fn fish(topics: &[&Topic], names: &[&str]) -> String {
    let (tool, commands) = topics.split_first().expect("the tool itself");
    let mut text =
        format!("# fish completion for {}: made of what it says of itself, do not edit.\n\n", names.join(", "));
    if !commands.is_empty() {
        for topic in commands {
            let (name, about) = (&topic.words[1], quoted(&topic.summary));
            let when = "-n __fish_use_subcommand -f";
            line(&mut text, names, &format!("{when} -a {name} -d {about}"));
        }
        for topic in commands {
            let when = quoted(&format!("__fish_seen_subcommand_from {}", topic.words[1]));
            topic.help.choices().for_each(|choice| line(&mut text, names, &format!("-n {when} {}", option(choice))));
            let actions = topic.actions();
            if !actions.is_empty() {
                line(&mut text, names, &format!("-n {when} -a '{actions}'"));
            }
        }
        for (option, about) in [("help", "the help text"), ("version", "the version")] {
            line(&mut text, names, &format!("-n __fish_use_subcommand -f -l {option} -d '{about}'"));
        }
        let names_of: Vec<&str> = commands.iter().map(|topic| topic.words[1].as_str()).collect();
        let which = names_of.join(" ");
        line(&mut text, names, &format!("-n '__fish_seen_subcommand_from help' -f -a '{which}'"));
        return text;
    }
    if tool.words[0] == "oshcc" {
        tool.help.choices().for_each(|choice| line(&mut text, names, &option(choice)));
        return text;
    }
    let function = format!("__pellucid_{}_program", tool.words[0]);
    text.push_str(&is_given(&function, tool));
    // A program and what follows it are completed as they are elsewhere.
    let before = format!("-n 'not {function}'");
    tool.help.choices().for_each(|choice| line(&mut text, names, &format!("{before} {}", option(choice))));
    line(&mut text, names, &format!("{before} -x -a '(__fish_complete_command)'"));
    line(&mut text, names, &format!("-n {function} -F"));
    text
}

fn line(text: &mut String, names: &[&str], rest: &str) {
    for name in names {
        writeln!(text, "complete -c {name} {rest}").expect("writing to a string");
    }
}

/// A function that says whether the program is there already.
fn is_given(function: &str, tool: &Topic) -> String {
    let with_value = tool.help.choices().filter(|choice| choice.value_follows()).flat_map(Choice::names);
    let with_value: Vec<&str> = with_value.collect();
    format!(
        "function {function}\n    set -l words (commandline -opc)[2..]\n    while set -q words[1]\n        switch \
         $words[1]\n            \
         case {}\n                set -e words[1]\n            case '-*'\n            case '*'\n                return \
         0\n        end\n        set -e words[1]\n    end\n    return 1\nend\n\n",
        with_value.join(" ")
    )
}

/// An option, as `complete` takes it.
fn option(choice: &Choice) -> String {
    let mut text = String::new();
    for name in choice.names() {
        let (kind, name) = match name.strip_prefix("--") {
            Some(long) => ("-l", long),
            None if name.len() == 2 => ("-s", &name[1..]),
            None => ("-o", &name[1..]),
        };
        write!(text, "{kind} {name} ").expect("writing to a string");
    }
    text += &match Value::of(choice) {
        None => String::new(),
        Some(Value::Words(words)) if words.is_empty() => "-x ".to_owned(),
        Some(Value::Words(words)) => format!("-x -a '{}' ", words.join(" ")),
        Some(Value::Directory) => "-x -a '(__fish_complete_directories)' ".to_owned(),
        Some(Value::File) => "-r -F ".to_owned(),
    };
    text + &format!("-d {}", quoted(summary(choice)))
}

/// A word for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}
