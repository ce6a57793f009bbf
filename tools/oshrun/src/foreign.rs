//! Options of other launchers (Open MPI's mpirun, Hydra's mpiexec, Slurm's srun), and what they are called here.

/// Spellings of others, and what to say of them.
const OTHERS: &[(&[&str], &str)] = &[
    (&["-H", "-host", "--host", "-hosts", "-w", "--nodelist"], "hosts are --hosts A:SLOTS,B,..."),
    (&["-f", "-hostfile", "-machinefile", "--machinefile", "--default-hostfile"], "a file of hosts is --hostfile FILE"),
    (&["-c", "--np", "--n", "--ntasks", "--num-procs"], "the number of PEs is -n N"),
    (&["-N", "-npernode", "--npernode", "-ppn", "--ntasks-per-node", "-perhost"], "PEs of each host are --ppn N"),
    (&["-l", "--tag-output", "-prepend-rank", "--prepend-rank", "--output-label"], "lines are labelled by --label"),
    (&["--bind-to", "-bind-to", "--cpu-bind", "--cpu_bind"], "PEs are bound by --bind core or --bind none"),
    (&["-e", "-env", "-genv", "--env", "--export"], "variables are set by -x VAR=VALUE"),
    (&["-envlist", "-genvlist"], "variables are passed on by -x VAR"),
    (&["-t", "--time", "-maxtime"], "the longest time is --timeout TIME"),
    (&["--launcher", "-launcher", "--rsh", "--plm_rsh_agent"], "other hosts are reached by --launch-agent CMD"),
    (
        &["-o", "--output", "--output-filename", "-outfile-pattern"],
        "output goes to a file by the shell: > FILE; --label says whose it is",
    ),
    (
        &["-v", "--verbose", "-d", "--debug-daemons", "--display-map", "--display"],
        "what would run where is said by --info",
    ),
    (&["-q", "--quiet", "-Q"], "oshrun says nothing where nothing is wrong"),
    (&["-wdir", "--wdir", "-wd", "-D", "--chdir"], "PEs run in the current directory: change to it before"),
    (&["--oversubscribe", "-oversubscribe", "--overcommit", "-O"], "more PEs than cores need no option"),
    (&["--allow-run-as-root"], "root needs no option"),
    (&["--mpi"], "oshrun starts PEs itself, without PMI"),
];

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
        for (names, answer) in OTHERS {
            assert!(names.iter().all(|name| !ours.contains(name)), "{names:?}");
            let words = answer.split([' ', ',', ';', ':']).filter(|word| word.starts_with('-'));
            assert!(words.clone().all(|word| ours.contains(&word)), "{answer}");
        }
        assert_eq!(answer("--zebra"), None);
    }
}
