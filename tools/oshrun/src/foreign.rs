//! Spellings that clap does not have, most of them of other launchers (Open MPI's mpirun, Hydra's mpiexec, Slurm's
//! srun): a pass before the parser that puts arguments into its words, and what is said of options that have no meaning
//! here.
//!
//! | given | is |
//! |---|---|
//! | `-np 4`, `-hostfile F`: a word behind one dash | the option with two dashes; `-n4`, `-N4`, `-xVAR`, `-f=F` are short ones with their values |
//! | `-np4` | `--np=4` |
//! | `-env A B`, `-genv A B` | `-x A=B` (`--env A=B` is `-x A=B` by an alias) |
//! | `-envlist A,B`, `-genvlist A,B` | `-x A -x B` |
//! | `--profile 1`, `--metrics :9745`, `--trace DIR` | `--profile=1` and so on, where the word reads as the value and not as the program |

use crate::values;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Spellings of others, and what to say of them.
const OTHERS: &[(&[&str], &str)] = &[
    (&["-c"], "the number of PEs is -n N, and that of cores for each --cores-per-pe N"),
    (&["--cpus-per-task", "--cpus-per-rank", "--cpus-per-proc"], "cores for each PE are --cores-per-pe N"),
    (&["--export"], "variables are set by -x VAR=VALUE; all are passed on"),
    (&["-t", "--time", "--maxtime"], "the longest time is --timeout TIME"),
    (&["--launcher", "--rsh", "--plm_rsh_agent"], "other hosts are reached by --launch-agent CMD"),
    (
        &[
            "-v",
            "--verbose",
            "-d",
            "--debug-daemons",
            "--display-map",
            "--display",
            "--display-allocation",
            "--report-bindings",
        ],
        "what would run where is said by --info",
    ),
    (&["--mca", "--gmca"], "what can be set of the library are variables of the environment (docs/environment.md)"),
    (&["--nodes"], "hosts are those of --hosts or of the allocation, and PEs on each --ppn N"),
    (&["--pernode"], "one PE on each host is --ppn 1"),
    (
        &["--rankfile", "--rf", "--rank-by", "--distribution", "-m"],
        "hosts have consecutive PEs, in the order of --hosts; cores of each PE are said by --bind list:CPUS,...",
    ),
    (&["--bind-to-core"], "each PE on a core of its own is --bind core"),
    (&["--iface"], "the interface is named by SHMEM_OFI_INTERFACE (docs/network.md)"),
    (&["--multi-prog"], "different programs are a script that looks at PELLUCID_PE (docs/launchers.md)"),
    (
        &["-u", "--unbuffered", "-K", "--kill-on-bad-exit", "--exclusive", "--print-all-exitcodes"],
        "leave it out: lines come as they are written, and a PE that fails ends the job and is named",
    ),
];

// Not as documentation: it would take the place of what the launcher says of itself.
// Options of others that have no place among ours; help and completion do not show them.
#[derive(Debug, Args)]
pub struct Foreign {
    /// Placement, in words of Open MPI.
    #[arg(long, hide = true, value_name = "ppr:N:node", value_parser = pellucid_cli::text(map_by))]
    pub map_by: Option<MapBy>,
    /// Variable and value in two words, as Hydra has it. Here, the value is missing: else they are `-x VAR=VALUE`.
    #[arg(long, hide = true, num_args = 2, value_names = ["VAR", "VALUE"])]
    genv: Vec<OsString>,
    /// Several variables to pass on. Here, they are missing.
    #[arg(long, hide = true, alias = "envlist", value_name = "VAR,VAR,...")]
    genvlist: Vec<OsString>,
    /// Hosts get more PEs than slots where `-n` says so.
    #[arg(long, hide = true, short_alias = 'O', alias = "overcommit")]
    pub oversubscribe: bool,
    /// What another launcher needs to be told, and this one does not.
    #[arg(
        long = "quiet", hide = true, short_aliases = ['q', 'Q'], aliases = ["allow-run-as-root", "genvall"]
    )]
    nothing: bool,
    /// The same, with a value.
    #[arg(long, hide = true, value_name = "TYPE")]
    mpi: Option<OsString>,
}

/// What `--map-by` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapBy {
    /// PEs of a host.
    pub ppn: Option<u32>,
    /// Cores of a PE.
    pub cores: Option<u32>,
    /// Hosts may have more PEs than slots.
    pub oversubscribe: bool,
}

/// `--map-by` of Open MPI: PEs of a host, cores of a PE. Hosts are filled one after the other, whatever it says.
pub fn map_by(text: &str) -> Result<MapBy, String> {
    let mut found = MapBy::default();
    let mut words = text.split(':');
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    let known = ["slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "socket", "package"];
    if first == "ppr" {
        let count = values::count(OsStr::new(words.next().unwrap_or_default()), "PEs")?;
        match words.next() {
            Some("node") => found.ppn = Some(count),
            _ => return Err("expected ppr:N:node".into()),
        }
    } else if first == "node" {
        return Err("a host has consecutive PEs here: ppr:N:node or --ppn N says how many".into());
    } else if !known.contains(&first.as_str()) {
        return Err("expected slot, core, numa, socket or ppr:N:node".into());
    }
    for word in words {
        match word.to_ascii_lowercase().split_once('=') {
            Some(("pe", cores)) => found.cores = Some(values::count(OsStr::new(cores), "cores")?),
            None if word.eq_ignore_ascii_case("oversubscribe") => found.oversubscribe = true,
            None if ["nooversubscribe", "span", "inherit"].contains(&&*word.to_ascii_lowercase()) => {}
            _ => return Err(format!("{word:?} has no meaning here")),
        }
    }
    Ok(found)
}

/// The arguments in the words of clap. Those of the program stay as they are, behind `--`.
pub fn translated(args: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let mut args = args.into_iter().peekable();
    let mut words = Vec::new();
    while let Some(arg) = args.next() {
        if arg == "-" || !arg.as_bytes().starts_with(b"-") || arg == "--" {
            words.push("--".into());
            words.extend((arg != "--").then_some(arg));
            words.extend(args);
            break;
        }
        let arg = with_dashes(arg);
        let option = if arg.as_bytes().contains(&b'=') { None } else { named(command, &arg) };
        let Some(option) = option.filter(|option| option.get_action().takes_values()) else {
            words.push(arg);
            continue;
        };
        if option.is_require_equals_set() {
            let value = optional_value(option.get_id().as_str(), &mut args);
            words.push(value.map_or(arg.clone(), |value| joined(&[&arg, OsStr::new("="), &value])));
            continue;
        }
        match (option.get_id().as_str(), args.next()) {
            ("genv", Some(name)) if args.peek().is_some() => {
                let value = args.next().unwrap_or_default();
                words.extend(["-x".into(), joined(&[&name, OsStr::new("="), &value])]);
            }
            ("genvlist", Some(names)) => {
                let names = names.as_bytes().split(|byte| *byte == b',');
                words.extend(names.flat_map(|name| ["-x".into(), OsStr::from_bytes(name).to_owned()]));
            }
            (_, value) => words.extend([Some(arg), value].into_iter().flatten()),
        }
    }
    words
}

/// An option with the dashes that clap wants.
fn with_dashes(arg: OsString) -> OsString {
    let all = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    match arg.as_bytes() {
        [b'-', b'-' | b'x', ..] | [_, _] | [_, _, b'=', ..] => arg,
        [_, b'n' | b'N', number @ ..] if all(number) => arg,
        [_, b'n', b'p', number @ ..] if all(number) => joined(&[OsStr::new("--np="), OsStr::from_bytes(number)]),
        b"-env" => "--genv".into(),
        _ => joined(&[OsStr::new("-"), &arg]),
    }
}

/// The option of that name.
fn named<'a>(command: &'a Command, name: &OsStr) -> Option<&'a Arg> {
    let name = name.to_str()?;
    command.get_arguments().find(|option| match name.strip_prefix("--") {
        Some(long) => {
            option.get_long() == Some(long) || option.get_all_aliases().is_some_and(|all| all.contains(&long))
        }
        None => {
            let short = name.chars().nth(1).filter(|_| name.len() == 2);
            short.is_some_and(|short| {
                option.get_short() == Some(short)
                    || option.get_all_short_aliases().is_some_and(|all| all.contains(&short))
            })
        }
    })
}

/// The value of an option that may have none, where the next word reads as one.
fn optional_value(id: &str, args: &mut (impl Iterator<Item = OsString> + Clone)) -> Option<OsString> {
    let next = args.clone().next();
    let reads_as = |test: fn(&OsStr) -> bool| next.as_deref().is_some_and(test);
    match id {
        "gdb" => None,
        "metrics_serve" if reads_as(values::looks_like_address) => args.next(),
        "metrics_serve" => None,
        "profile_values" if reads_as(values::looks_like_level) => args.next(),
        _ => next_directory(args),
    }
}

/// The next argument, where it is the directory of `--profile DIR` or `--trace DIR` and not the program: it is nothing
/// to run, and what comes behind it is the program or one more option.
fn next_directory(args: &mut (impl Iterator<Item = OsString> + Clone)) -> Option<OsString> {
    let runs = |name: &OsStr| crate::program::locate(name).is_ok();
    let mut ahead = args.clone();
    let first = ahead.next().filter(|first| !first.as_bytes().starts_with(b"-") && !first.is_empty())?;
    let second = ahead.next()?;
    let is_directory = !runs(&first) && (second.as_bytes().starts_with(b"-") || runs(&second));
    if is_directory { args.next() } else { None }
}

fn joined(parts: &[&OsStr]) -> OsString {
    OsString::from_vec(parts.iter().flat_map(|part| part.as_bytes()).copied().collect())
}

/// What is said of an option that is unknown: what one of another launcher is called here. That it could be the name of
/// a program is not said.
pub fn answered(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    error.remove(ContextKind::Suggested);
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(answer) = answer(option)
    {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(answer)]));
    }
    error
}

/// What an option of another launcher is called here; `None` for one that nobody has.
fn answer(option: &str) -> Option<&'static str> {
    OTHERS.iter().find(|(names, _)| names.contains(&option)).map(|(_, answer)| *answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_there_and_nothing_of_ours_is_called_foreign() {
        let command = crate::cli::with_foreign();
        for (names, answer) in OTHERS {
            assert!(names.iter().all(|name| named(&command, OsStr::new(name)).is_none()), "{names:?}");
            let words = answer.split([' ', ',', ';', ':']).filter(|word| word.starts_with('-'));
            let ours = |word: &str| named(&command, OsStr::new(word)).is_some_and(|option| !option.is_hide_set());
            assert!(words.clone().all(ours), "{answer}");
        }
        assert_eq!(answer("--zebra"), None);
    }

    #[test]
    fn arguments_are_put_into_the_words_of_clap() {
        let command = crate::cli::with_foreign();
        for (given, words) in [
            ("-np 4 prog -np 4", "--np 4 -- prog -np 4"),
            ("-n4 -np4 -N2 -xA=-np -f=h", "-n4 --np=4 -N2 -xA=-np -f=h"),
            ("-genv A b=c -env D -x p", "-x A=b=c -x D=-x -- p"),
            ("-genvlist X,Y -e F=g --env=H=i p", "-x X -x Y -e F=g --env=H=i -- p"),
            ("-genv A", "--genv A"),
            ("--profile 1 --metrics :9 --trace --label sh", "--profile=1 --metrics=:9 --trace --label -- sh"),
            ("--hostfile -np -- -np 4", "--hostfile -np -- -np 4"),
        ] {
            let of = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(translated(of(given), &command), of(words), "{given}");
        }
    }
}
