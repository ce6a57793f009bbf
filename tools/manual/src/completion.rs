//! Completion for shells: what `clap_complete` makes, and what it does not know: a program behind options, which is
//! completed as it is elsewhere, and that files are meant where no option is begun.

use clap::{Arg, Command, ValueHint};
use clap_complete::{Shell, generate};

use crate::oshcc;

/// What is around the function of `clap_complete` for bash.
const BASH: &str = r#"
# Options are for words that begin as one; elsewhere files are meant, where it knows no words.
_@TOOL@() {
@PROGRAM@    local word words=()
    _@TOOL@_words "$@"
    [[ $2 != -* ]] || return 0
    for word in ${COMPREPLY+"${COMPREPLY[@]}"}; do
        [[ $word == -* ]] || words+=("$word")
    done
    COMPREPLY=(${words+"${words[@]}"})
}
"#;

/// In front of it, where a program follows. `@FOLLOWED@` are options whose value is the next word.
const BASH_PROGRAM: &str = r#"    local at
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
        @FOLLOWED@) ((++at)) ;;
        -*) ;;
        *) break ;;
        esac
    done
    if ((at < COMP_CWORD)); then
        COMPREPLY=()
        ! declare -F _command_offset >/dev/null || _command_offset $at
        return 0
    elif ((at == COMP_CWORD)) && [[ $2 != -* ]]; then
        COMPREPLY=($(compgen -c -- "$2"))
        return 0
    fi
"#;

/// A function for fish that says whether the program is there already.
const FISH_PROGRAM: &str = "\
function __pellucid_@TOOL@_program
    set -l words (commandline -opc)[2..]
    while set -q words[1]
        switch $words[1]
            case @FOLLOWED@
                set -e words[1]
            case '-*'
            case '*'
                return 0
        end
        set -e words[1]
    end
    return 1
end

";

/// For bash.
pub fn bash(tool: &Command, name: &str) -> String {
    let function = name.replace('-', "__");
    let program = if has_program(tool) { BASH_PROGRAM } else { "" };
    let around = BASH.replace("@PROGRAM@", program).replace("@FOLLOWED@", &followed(tool).join(" | "));
    let text =
        generated(Shell::Bash, tool, name).replace(&format!("_{function}() {{"), &format!("_{function}_words() {{"));
    oshcc::spelled(&text) + &around.replace("@TOOL@", &function)
}

/// For fish.
pub fn fish(tool: &Command, name: &str) -> String {
    // Behind `help` there are commands until one is there, which `help` itself is for clap_complete.
    let text = oshcc::spelled(&generated(Shell::Fish, tool, name)).replace(" help\" -f -a", "\" -f -a");
    let begin = format!("complete -c {name} ");
    // Nor does it know words that are no options.
    let words = tool.get_subcommands().flat_map(|command| {
        let words = command.get_positionals().flat_map(Arg::get_possible_values);
        let when = format!("{begin}-n \"__fish_{name}_using_subcommand {}\"", command.get_name());
        words.map(move |word| format!("{when} -a {}\n", word.get_name()))
    });
    let text = text + &words.collect::<String>();
    if !has_program(tool) {
        return text;
    }
    let function = format!("__pellucid_{name}_program");
    let text = text.replace(&begin, &format!("{begin}-n 'not {function}' "));
    let is_given = FISH_PROGRAM.replace("@TOOL@", name).replace("@FOLLOWED@", &followed(tool).join(" "));
    format!("{is_given}{text}{begin}-n 'not {function}' -x -a '(__fish_complete_command)'\n{begin}-n {function} -F\n")
}

/// For zsh; one file for all names.
pub fn zsh(tool: &Command, names: &[&str]) -> String {
    let text = generated(Shell::Zsh, tool, names[0]).replace("--showme:", "--showme\\:");
    let text =
        oshcc::spelled(&text).replacen(&format!("#compdef {}", names[0]), &format!("#compdef {}", names.join(" ")), 1);
    // What follows the program are no options of the launcher.
    let lines = text.lines().map(|line| {
        let is_program = has_program(tool) && line.starts_with("'*::words");
        if is_program { "'(-):program: _command_names -e' \\\n'*::arguments: _normal' \\" } else { line }
    });
    lines.map(|line| format!("{line}\n")).collect()
}

fn generated(shell: Shell, tool: &Command, name: &str) -> String {
    let mut text = Vec::new();
    generate(shell, &mut completed(tool.clone()), name, &mut text);
    String::from_utf8(text).expect("made of text")
}

/// Whether a program and its arguments follow the options.
fn has_program(tool: &Command) -> bool {
    tool.get_positionals().any(|word| word.get_value_hint() == ValueHint::CommandWithArguments)
}

/// The options whose value is the next word, in each spelling.
fn followed(tool: &Command) -> Vec<String> {
    let follows = |option: &&Arg| {
        !option.is_positional() && option.get_action().takes_values() && !option.is_require_equals_set()
    };
    let names = tool.get_arguments().filter(follows).flat_map(|option| {
        let aliases = option.get_all_short_aliases().unwrap_or_default();
        let short = option.get_short().into_iter().chain(aliases).map(|name| format!("-{name}"));
        let long = option.get_long().into_iter().chain(option.get_all_aliases().unwrap_or_default());
        short.chain(long.flat_map(|name| [format!("--{name}"), format!("-{name}")])).collect::<Vec<_>>()
    });
    names.collect()
}

/// A command as it is completed: with what its values are, and with short texts.
fn completed(command: Command) -> Command {
    command.mut_args(completed_option).mut_subcommands(completed)
}

fn completed_option(option: Arg) -> Arg {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let value = option.get_value_names().and_then(|names| names.last()).map(ToString::to_string);
    let hint = match value.as_deref() {
        _ if option.get_value_hint() == ValueHint::CommandWithArguments => ValueHint::CommandWithArguments,
        Some("DIR" | "STORE") => ValueHint::DirPath,
        Some("FILE" | "PATH" | "F") => ValueHint::FilePath,
        _ if option.is_positional() => ValueHint::AnyPath,
        _ => ValueHint::Other,
    };
    option.help(summary(&help).to_owned()).value_hint(hint)
}

/// What an option does, in a few words: the beginning of its text.
fn summary(text: &str) -> &str {
    let ends = ["{n}", " (", ": ", ", ", "; "].iter().filter_map(|end| text.find(end));
    text[..ends.min().unwrap_or(text.len())].trim_end_matches([',', ';', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zsh_and_fish_have_options_with_what_follows() {
        let [oshrun, oshprof, oshcc] = crate::tools();
        let zsh = |tool: &Command, names: &[&str]| super::zsh(tool, names);
        for (text, parts) in [
            (
                zsh(&oshrun, &["oshrun"]),
                &[
                    "#compdef oshrun\n",
                    "-n+[number of PEs]:N:",
                    "--bind=[where PEs may run]:WHERE:((core\\:\"each PE",
                    "--profile-dir=[directory for the profile]:DIR:_files -/'",
                    "--label[begin every line of output with the number of its PE]'",
                    "'*::arguments: _normal'",
                ][..],
            ),
            (zsh(&oshprof, &["oshprof"]), &["history:find the commit", "(total calls bytes", "otf2\\:\"archive"]),
            (
                fish(&oshprof, "oshprof"),
                &["using_subcommand history\" -a add\n", "history export line\" -f -a \"line\" -d 'print the source"],
            ),
            (zsh(&oshcc, &["oshcc", "oshc++"]), &["#compdef oshcc oshc++\n", "-showme\\:compile[print the options"]),
            (
                fish(&oshrun, "oshrun"),
                &[
                    "complete -c oshrun -n 'not __pellucid_oshrun_program' -s n -l np -d 'number of PEs' -r -f",
                    "-l profile-dir -d 'directory for the profile' -r -f -a \"(__fish_complete_directories)\"",
                    "-l metrics-file -d 'write the metrics to FILE every 15 s' -r -F",
                    "            case -n --np -np --n -n --ntasks",
                    "complete -c oshrun -n __pellucid_oshrun_program -F\n",
                ],
            ),
            (fish(&oshcc, "oshc++"), &["complete -c oshc++ -o showme:compile -d 'print the options"]),
        ] {
            for part in parts {
                assert!(text.contains(part), "no {part} in\n{text}");
            }
            assert!(!text.contains("--showme"), "{text}");
        }
    }

    #[test]
    fn texts_are_short() {
        for (text, short) in [
            ("number of PEs (default 1)", "number of PEs"),
            ("core: each", "core"),
            ("print it{n} off: no", "print it"),
            ("a, b", "a"),
        ] {
            assert_eq!(summary(text), short);
        }
    }
}
