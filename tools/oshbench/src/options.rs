//! The command line: one table of options drives parser and help.

use crate::suite;

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Names of groups; empty for all.
    pub groups: Vec<String>,
    /// Where the JSON goes.
    pub json: Option<String>,
    /// Where the plot of the group `scaling` goes.
    pub plot: Option<String>,
    /// Shorter measurements, fewer repetitions.
    pub quick: bool,
    /// Repetitions of every program.
    pub reps: Option<u32>,
    /// PEs for the groups that run at several counts.
    pub pes: Option<u32>,
    /// Measure this library only.
    pub no_peers: bool,
    /// Where the library to measure is installed.
    pub prefix: Option<String>,
    /// Only say what there is.
    pub list: bool,
    /// Only say how to call it.
    pub help: bool,
}

struct Flag {
    name: &'static str,
    value: &'static str,
    help: &'static str,
    set: fn(&mut Options, &str) -> Result<(), String>,
}

const FLAGS: &[Flag] = &[
    Flag {
        name: "--json",
        value: "FILE",
        help: "also write the results to FILE, an array of objects",
        set: |o, v| {
            o.json = Some(v.to_owned());
            Ok(())
        },
    },
    Flag {
        name: "--plot",
        value: "FILE",
        help: "also draw the group 'scaling' to FILE, a picture in SVG",
        set: |o, v| {
            o.plot = Some(v.to_owned());
            Ok(())
        },
    },
    Flag {
        name: "--quick",
        value: "",
        help: "shorter measurements and 3 repetitions: under a minute",
        set: |o, _| {
            o.quick = true;
            Ok(())
        },
    },
    Flag {
        name: "--reps",
        value: "N",
        help: "repetitions of every program, of which the median counts",
        set: |o, v| {
            o.reps = Some(positive("--reps", v, 1000)?);
            Ok(())
        },
    },
    Flag {
        name: "--pes",
        value: "N",
        help: "PEs of collectives and startup, in place of 2, 4 and 8",
        set: |o, v| {
            o.pes = Some(positive("--pes", v, 4096)?);
            Ok(())
        },
    },
    Flag {
        name: "--no-peers",
        value: "",
        help: "do not run other libraries",
        set: |o, _| {
            o.no_peers = true;
            Ok(())
        },
    },
    Flag {
        name: "--prefix",
        value: "DIR",
        help: "measure the library installed in DIR, in place of target/pellucid",
        set: |o, v| {
            o.prefix = Some(v.to_owned());
            Ok(())
        },
    },
    Flag {
        name: "--list",
        value: "",
        help: "list what can be measured",
        set: |o, _| {
            o.list = true;
            Ok(())
        },
    },
    Flag {
        name: "--help",
        value: "",
        help: "this text",
        set: |o, _| {
            o.help = true;
            Ok(())
        },
    },
];

fn positive(name: &str, text: &str, most: u32) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(n) if (1..=most).contains(&n) => Ok(n),
        _ => Err(format!("{name} takes a number from 1 to {most}, not '{text}'")),
    }
}

/// Reads the arguments after the program's name.
pub fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if !argument.starts_with('-') {
            if suite::group(argument).is_none() {
                return Err(format!("nothing named '{argument}' to measure; there is: {}", suite::names()));
            }
            options.groups.push(argument.clone());
            continue;
        }
        let (name, attached) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument.as_str(), None),
        };
        let name = if name == "-h" { "--help" } else { name };
        let flag = FLAGS.iter().find(|f| f.name == name).ok_or_else(|| format!("unknown option '{argument}'"))?;
        let value = match (flag.value.is_empty(), attached) {
            (true, None) => "",
            (true, Some(_)) => return Err(format!("{name} takes no value")),
            (false, Some(value)) => value,
            (false, None) => rest.next().ok_or_else(|| format!("{name} takes a {}", flag.value))?,
        };
        (flag.set)(&mut options, value)?;
    }
    Ok(options)
}

/// How to call the program.
pub fn help() -> String {
    let mut text = String::from(
        "usage: ./x bench [WHAT...] [OPTIONS]\n\n\
         Measures this library, the limits of the machine and, where it is installed, Open MPI's OSHMEM\n\
         with the same programs, run in turn.\n\nWHAT (default: everything but scaling):\n",
    );
    text += &suite::list();
    text += "\nOPTIONS:\n";
    for flag in FLAGS {
        let left = format!("{} {}", flag.name, flag.value);
        text += &format!("  {left:<14} {}\n", flag.help);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Options, String> {
        parse(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn nothing_means_everything_with_defaults() {
        assert_eq!(parsed(&[]), Ok(Options::default()));
    }

    #[test]
    fn groups_and_options_in_any_order() {
        let options = parsed(&["rma", "--json", "out.json", "amo", "--quick", "--reps=7", "--pes", "4"]).unwrap();
        assert_eq!(options.groups, ["rma", "amo"]);
        assert_eq!(options.json.as_deref(), Some("out.json"));
        assert!(options.quick);
        assert_eq!((options.reps, options.pes), (Some(7), Some(4)));
    }

    #[test]
    fn errors_name_option_and_value() {
        for (words, part) in [
            (&["warp"][..], "'warp'"),
            (&["--fast"][..], "'--fast'"),
            (&["--reps", "0"][..], "--reps takes a number from 1"),
            (&["--pes", "two"][..], "'two'"),
            (&["--json"][..], "--json takes a FILE"),
            (&["--quick=yes"][..], "--quick takes no value"),
        ] {
            let message = parsed(words).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn help_names_every_option_and_group() {
        let text = help();
        for flag in FLAGS {
            assert!(text.contains(flag.name), "{}", flag.name);
        }
        for group in suite::GROUPS {
            assert!(text.contains(group.name), "{}", group.name);
        }
    }
}
