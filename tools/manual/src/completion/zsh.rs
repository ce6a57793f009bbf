//! Completion for zsh.

use std::fmt::Write;

use super::{Value, summary};
use crate::Topic;

/// The completion of a tool and its commands, under each of these names. `topics` begins with the tool itself.
pub fn zsh(topics: &[&Topic], names: &[&str]) -> String {
    let (tool, commands) = topics.split_first().expect("the tool itself");
    let mut text =
        format!("#compdef {}\n# Made of what {} says of itself, do not edit.\n\n", names.join(" "), tool.words[0]);
    if commands.is_empty() {
        let rest: &[&str] = match tool.words[0].as_str() {
            // A program and what follows it are completed as they are elsewhere.
            "oshcc" => &["'*: :_files'"],
            _ => &["'(-):program: _command_names -e'", "'*::arguments: _normal'"],
        };
        text.push_str(&arguments("", tool, rest));
        return text;
    }
    text.push_str("local -a commands\ncommands=(\n");
    for topic in commands {
        let row = format!("{}:{}", topic.words[1], topic.summary);
        writeln!(text, "    {}", quoted(&row)).expect("writing to a string");
    }
    text.push_str(
        ")\nif ((CURRENT == 2)); then\n    _describe -t commands command commands\n    \
         _arguments -S : --help --version\n    return\nfi\nlocal command=$words[2]\nshift words\n((CURRENT--))\ncase \
         $command in\n",
    );
    for topic in commands {
        let (files, actions) = ("'*: :_files'", topic.actions());
        let action = format!("'1:action:({actions})'");
        let rest: &[&str] = if actions.is_empty() { &[files] } else { &[&action, files] };
        writeln!(text, "    {})\n{}        ;;", topic.words[1], arguments("        ", topic, rest))
            .expect("writing to a string");
    }
    text.push_str("    help)\n        _describe -t commands command commands\n        ;;\nesac\n");
    text
}

/// A call of `_arguments` for the options of a topic, and what else there may be.
fn arguments(indent: &str, topic: &Topic, rest: &[&str]) -> String {
    let mut text = format!("{indent}_arguments -S :");
    for choice in topic.help.choices() {
        let value = match Value::of(choice) {
            None => String::new(),
            Some(Value::Words(words)) if words.is_empty() => format!(":{}: ", escaped(choice.value())),
            Some(Value::Words(words)) => format!(":{}:({})", escaped(choice.value()), words.join(" ")),
            Some(Value::Directory) => ":DIR:_files -/".to_owned(),
            Some(Value::File) => ":FILE:_files".to_owned(),
        };
        let about = summary(choice).replace('[', "\\[").replace(']', "\\]");
        for name in choice.names() {
            let row = format!("{}[{about}]{value}", name.replace(':', "\\:"));
            write!(text, " \\\n{indent}    {}", quoted(&row)).expect("writing to a string");
        }
    }
    for row in rest {
        write!(text, " \\\n{indent}    {row}").expect("writing to a string");
    }
    text.push('\n');
    text
}

/// A part of a row, whose parts colons divide.
fn escaped(text: Option<&str>) -> String {
    text.unwrap_or_default().replace(':', "\\:")
}

/// A word for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
