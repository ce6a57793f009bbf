//! Options of other launchers (Open MPI's mpirun, Hydra's mpiexec, Slurm's srun): those that mean something here are
//! understood, the rest is answered with what it is called here.

use crate::flags::{Flag, Id, Value};
use crate::options::Options;
use crate::values;
use std::ffi::OsStr;

/// A row: what an option of others does here.
const fn alias(id: Id, names: &'static [&'static str], value: Value) -> Flag {
    Flag { id, names, value, help: "" }
}

/// Options of others that are understood.
pub const ALIASES: &[Flag] = &[
    alias(Id::Pes, &["--np", "--n", "--ntasks", "--num-procs"], Value::Required("N")),
    alias(Id::Hosts, &["-H", "-host", "--host", "-hosts", "-w", "--nodelist"], Value::Required("A:SLOTS,B,...")),
    alias(
        Id::Hostfile,
        &["-f", "-hostfile", "-machinefile", "--machinefile", "--default-hostfile"],
        Value::Required("FILE"),
    ),
    alias(Id::Ppn, &["-N", "-npernode", "--npernode", "-ppn", "--ntasks-per-node", "-perhost"], Value::Required("N")),
    alias(Id::Label, &["-l", "--tag-output", "-prepend-rank", "--prepend-rank", "--output-label"], Value::None),
    alias(Id::Bind, &["--bind-to", "-bind-to", "--cpu-bind", "--cpu_bind"], Value::Required("WHERE")),
    alias(Id::MapBy, &["--map-by", "-map-by"], Value::Required("ppr:N:node")),
    alias(Id::Export, &["-e", "--env"], Value::Required("VAR=VALUE")),
    alias(Id::Env, &["-env", "-genv"], Value::Required("VAR VALUE")),
    alias(Id::EnvList, &["-envlist", "-genvlist"], Value::Required("VAR,VAR,...")),
    alias(Id::Wdir, &["-wdir", "-wd", "-D", "--chdir"], Value::Required("DIR")),
    alias(Id::Output, &["-o", "--output-filename", "-outfile-pattern"], Value::Required("FILE")),
    alias(
        Id::Nothing,
        &[
            "--oversubscribe",
            "-oversubscribe",
            "--overcommit",
            "-O",
            "--allow-run-as-root",
            "-q",
            "--quiet",
            "-Q",
            "-genvall",
        ],
        Value::None,
    ),
    alias(Id::Nothing, &["--mpi"], Value::Required("TYPE")),
];

/// Spellings of others, and what to say of them.
const OTHERS: &[(&[&str], &str)] = &[
    (&["-c"], "the number of PEs is -n N, and that of cores for each --cores-per-pe N"),
    (&["--cpus-per-task", "--cpus-per-rank", "-cpus-per-proc"], "cores for each PE are --cores-per-pe N"),
    (&["--export"], "variables are set by -x VAR=VALUE; all are passed on"),
    (&["-t", "--time", "-maxtime"], "the longest time is --timeout TIME"),
    (&["--launcher", "-launcher", "--rsh", "--plm_rsh_agent"], "other hosts are reached by --launch-agent CMD"),
    (
        &["-v", "--verbose", "-d", "--debug-daemons", "--display-map", "--display", "--report-bindings"],
        "what would run where is said by --info",
    ),
];

/// `--map-by` of Open MPI: PEs of a host, cores of a PE. Hosts are filled one after the other, whatever it says.
pub fn map_by(options: &mut Options, text: &str) -> Result<(), String> {
    let mut words = text.split(':');
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    let known = ["slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "socket", "package"];
    if first == "ppr" {
        let count = values::count(OsStr::new(words.next().unwrap_or_default()), "PEs")?;
        match words.next() {
            Some("node") => options.ppn = Some(count),
            _ => return Err("expected ppr:N:node".into()),
        }
    } else if first == "node" {
        return Err("a host has consecutive PEs here: ppr:N:node or --ppn N says how many".into());
    } else if !known.contains(&first.as_str()) {
        return Err("expected slot, core, numa, socket or ppr:N:node".into());
    }
    for word in words {
        match word.to_ascii_lowercase().split_once('=') {
            Some(("pe", cores)) => options.bind.cores = Some(values::count(OsStr::new(cores), "cores")?),
            None if ["oversubscribe", "nooversubscribe", "span", "inherit"].contains(&&*word.to_ascii_lowercase()) => {}
            _ => return Err(format!("{word:?} has no meaning here")),
        }
    }
    Ok(())
}

/// What an option of another launcher is called here; `None` for one that nobody has.
pub fn answer(option: &str) -> Option<&'static str> {
    OTHERS.iter().find(|(names, _)| names.contains(&option)).map(|(_, answer)| *answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::FLAGS;

    #[test]
    fn what_is_said_is_there_and_nothing_of_ours_is_called_foreign() {
        let ours: Vec<&str> = FLAGS.iter().flat_map(|flag| flag.names).copied().collect();
        let mut all: Vec<&str> = FLAGS.iter().chain(ALIASES).flat_map(|flag| flag.names).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "a name stands twice");
        for (names, answer) in OTHERS {
            assert!(names.iter().all(|name| !all.contains(name)), "{names:?}");
            let words = answer.split([' ', ',', ';', ':']).filter(|word| word.starts_with('-'));
            assert!(words.clone().all(|word| ours.contains(&word)), "{answer}");
        }
        assert_eq!(answer("--zebra"), None);
    }
}
