//! What `--bind` and `--cores-per-pe` ask for.

use crate::options::PLACEMENT;
use clap::Args;
use clap::builder::PossibleValue;
use pellucid_cli::{Words, text};
use std::ffi::OsStr;
use std::fmt;

/// Where PEs may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bind {
    /// Each on cores of its own.
    Core,
    /// Each on a NUMA node, in blocks.
    Numa,
    /// Each on a socket, in blocks.
    Socket,
    /// Each on these CPUs, in turn.
    List(Vec<Vec<usize>>),
    /// Anywhere.
    None,
}

/// What the user asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Wanted {
    /// where PEs may run (default: core where 2 or more PEs find a free core each and OMP_NUM_THREADS is not above 1,
    /// none otherwise): one of these, or list:CPUS,CPUS,...: PE 0 on the first, PE 1 on the second; CPUS is 3, 0-3 or
    /// 0+4
    #[arg(
        long, aliases = ["bind-to", "cpu-bind", "cpu_bind"], value_name = "WHERE", value_parser = places(),
        help_heading = PLACEMENT
    )]
    pub bind: Option<Bind>,
    /// bind each PE to N cores, for programs with threads
    #[arg(long = "cores-per-pe", value_name = "N", value_parser = text(cores), help_heading = PLACEMENT)]
    pub cores: Option<u32>,
}

fn cores(number: &str) -> Result<u32, String> {
    crate::values::count(OsStr::new(number), "cores")
}

fn places() -> Words<Bind> {
    let row = |name, value, help| (PossibleValue::new(name).help(help), value);
    Words::new(vec![
        row("core", Bind::Core, "each PE on a core of its own, cores in use by other jobs last"),
        row("numa", Bind::Numa, "each on all CPUs of a NUMA node, neighbours together"),
        row("socket", Bind::Socket, "each on all CPUs of a socket"),
        row("none", Bind::None, "wherever the system puts it"),
    ])
    .or(|value| Bind::parse(crate::values::text(value)?))
}

impl Bind {
    /// Understands the words of other launchers, too; what follows a colon there (`core:overload-allowed`) changes
    /// nothing here.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(list) = text.strip_prefix("list:") {
            return list.split(',').map(set).collect::<Result<_, _>>().map(Self::List);
        }
        match text.split(':').next().unwrap_or_default() {
            "core" | "cores" | "hwthread" | "thread" | "threads" => Ok(Self::Core),
            "numa" | "ldom" | "ldoms" => Ok(Self::Numa),
            "socket" | "sockets" | "package" => Ok(Self::Socket),
            "none" | "no" => Ok(Self::None),
            _ => Err("expected core, numa, socket, none or list:CPUS,CPUS,...".into()),
        }
    }
}

/// The CPUs of a PE: `3`, `0-3`, `0+4`, `0-1+4-5`.
fn set(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("{text:?} is no set of CPUs, as 3, 0-3 or 0+4");
    let mut cpus = Vec::new();
    for part in text.split('+') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<usize>().ok().filter(|cpu| *cpu < 8192).ok_or_else(wrong);
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(wrong());
        }
        cpus.extend(first..=last);
    }
    Ok(cpus)
}

/// CPUs as [`Bind::parse`] reads them: `0-3`, `0+4`.
pub fn shown(cpus: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => runs.push((*cpu, *cpu)),
        }
    }
    let run = |(first, last): (usize, usize)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    runs.into_iter().map(run).collect::<Vec<_>>().join("+")
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core => f.write_str("core"),
            Self::Numa => f.write_str("numa"),
            Self::Socket => f.write_str("socket"),
            Self::None => f.write_str("none"),
            Self::List(sets) => {
                let sets: Vec<String> = sets.iter().map(|set| shown(set)).collect();
                write!(f, "list:{}", sets.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_shown_alike() {
        for text in ["core", "numa", "socket", "none", "list:0,1-3,0+4-5"] {
            assert_eq!(Bind::parse(text).map(|bind| bind.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(Bind::parse("core:overload-allowed"), Ok(Bind::Core));
        assert_eq!(Bind::parse("ldoms"), Ok(Bind::Numa));
        for text in ["", "l3cache", "list:", "list:0,", "list:3-1", "list:x", "list:9000"] {
            assert!(Bind::parse(text).is_err(), "{text}");
        }
    }
}
