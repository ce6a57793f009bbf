//! Completion for bash.

use std::fmt::Write;

use super::Value;
use crate::Topic;
use crate::help::Choice;

/// The launcher's program, and what follows it.
const PROGRAM: &str = "    if [[ -n $command ]]; then\n        \
    declare -F _command_offset >/dev/null && ((at <= COMP_CWORD)) && _command_offset $at && return\n        \
    words=\n    elif [[ $cur != -* && $files == -f ]]; then\n        \
    COMPREPLY=($(compgen -c -- \"$cur\"))\n    fi\n";

/// The completion of a tool and its commands, under each of these names. `topics` begins with the tool itself.
pub fn bash(topics: &[&Topic], names: &[&str]) -> String {
    let (tool, commands) = topics.split_first().expect("the tool itself");
    let function = format!("_{}", tool.words[0]);
    let mut text =
        format!("# bash completion for {}: made of what it says of itself, do not edit.\n\n", names.join(", "));
    write!(
        text,
        "{function}() {{\n    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} \
         words actions= files=-f command= at\n    COMPREPLY=()\n"
    )
    .expect("writing to a string");
    // A program and what follows it are completed as they are elsewhere.
    let follows: Vec<&str> =
        tool.help.choices().filter(|choice| choice.value_follows()).flat_map(Choice::names).collect();
    let skip = if follows.is_empty() { "--no-such-option".to_owned() } else { follows.join(" | ") };
    write!(
        text,
        "    for ((at = 1; at < COMP_CWORD; at++)); do\n        case ${{COMP_WORDS[at]}} in\n        \
         {skip}) ((++at)) ;;\n        -*) ;;\n        *) command=${{COMP_WORDS[at]}} && break ;;\n        esac\n    \
         done\n"
    )
    .expect("writing to a string");
    if commands.is_empty() {
        text.push_str("    words='");
        text.push_str(&options(tool));
        text.push_str("'\n");
        text.push_str(&values(tool));
        if tool.words[0] == "oshrun" {
            text.push_str(PROGRAM);
        }
    } else {
        text.push_str("    case $command in\n");
        for topic in commands {
            let actions = topic.actions();
            let actions = if actions.is_empty() { actions } else { format!(" actions='{actions}'") };
            writeln!(text, "    {}) words='{}'{actions} ;;", topic.words[1], options(topic))
                .expect("writing to a string");
        }
        let names: Vec<&str> = commands.iter().map(|topic| topic.words[1].as_str()).collect();
        let names = names.join(" ");
        writeln!(
            text,
            "    help) words='{names}' files= ;;\n    *) words='{names} --help --version' files= ;;\n    esac"
        )
        .expect("writing to a string");
        for topic in commands {
            let values = values(topic);
            if !values.is_empty() {
                writeln!(text, "    if [[ $command == {} ]]; then\n{values}    fi", topic.words[1])
                    .expect("writing to a string");
            }
        }
    }
    text.push_str(
        "    if [[ $cur == -* || -z $files ]]; then\n        COMPREPLY+=($(compgen -W \"$words\" -- \"$cur\"))\n    \
         else\n        COMPREPLY+=($(compgen $files -- \"$cur\") $(compgen -W \"$actions\" -- \"$cur\"))\n    fi\n}\n",
    );
    text + &format!("complete -o filenames -F {function} {}\n", names.join(" "))
}

fn options(topic: &Topic) -> String {
    topic.help.choices().flat_map(Choice::names).collect::<Vec<_>>().join(" ")
}

/// What may follow an option: words of a choice, a directory, a file, or nothing that could be guessed.
fn values(topic: &Topic) -> String {
    let mut cases = String::new();
    for choice in topic.help.choices() {
        let what = match Value::of(choice) {
            None | Some(Value::File) => continue,
            Some(Value::Directory) => "files=-d".to_owned(),
            Some(Value::Words(words)) => format!("files= words='{}'", words.join(" ")),
        };
        writeln!(cases, "    {}) {what} ;;", choice.names().join(" | ")).expect("writing to a string");
    }
    if cases.is_empty() { cases } else { format!("    case $prev in\n{cases}    esac\n") }
}
