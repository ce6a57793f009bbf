//! What `oshcc` takes, for its page and its completion. It reads its arguments itself: all but these are the
//! compiler's, and these have names that clap cannot parse.

use clap::{Arg, ArgAction, Command, ValueHint};

/// Options and what they do. `--showme` stands for `-showme`, see [`spelled`].
const OPTIONS: [(&str, &str); 8] = [
    ("showme", "print the command instead of running it (also: -show, --show)"),
    ("showme:compile", "print the options added for compiling"),
    ("showme:link", "print the options added for linking"),
    ("showme:incdirs", "print the directories of headers"),
    ("showme:libdirs", "print the directories of libraries"),
    ("showme:libs", "print the names of libraries"),
    ("showme:command", "print the compiler"),
    ("showme:version", "print this version"),
];

const LONG: &str = "\
The compiler, with what OpenSHMEM programs need added: the directory of shmem.h before your arguments, and the library \
    after them when linking. Every option but those below goes to the compiler unchanged.

oshc++ (also: oshcxx, oshCC) is the same for C++, oshfort for Fortran.";

const NOTES: &str = "\
A PSHMEM profiler needs no more than its own -l option: oshcc prog.c -lmyprof

Environment: CC is the compiler, with arguments if need be (CC=\"ccache gcc\"); of oshc++ it is CXX, of oshfort \
    SHMEM_FC or FC.";

/// As if clap parsed it.
pub fn command() -> Command {
    let option = |(name, help)| Arg::new(name).long(name).help(help).action(ArgAction::SetTrue);
    Command::new("oshcc")
        .about("compile and link OpenSHMEM programs")
        .long_about(format!("compile and link OpenSHMEM programs\n\n{LONG}"))
        .after_help(NOTES)
        .override_usage("oshcc [OPTION...] FILE...")
        .disable_help_flag(true)
        .args(OPTIONS.map(option))
        .arg(Arg::new("FILE").hide(true).num_args(0..).value_hint(ValueHint::AnyPath))
}

/// What is made of it, with the names that the options have: one dash, which pages and completion for fish and zsh
/// write in their own ways.
pub fn spelled(text: &str) -> String {
    text.replace(r"\-\-showme", r"\-showme").replace("--showme", "-showme").replace("-l showme", "-o showme")
}
