//! Other launchers than `oshrun`, as far as this machine has them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::hosts::{Hosts, write_script};
use crate::run::{Job, Outcome};
use crate::slurm::Cluster;
use crate::{system, tree, wheels};

/// What a case of a launcher ends with. Error: what is wrong, with what the job has said.
pub type Verdict = Result<(), String>;

/// Fails a case, with what the job has said, unless the condition holds.
pub fn ensure(condition: bool, outcome: &Outcome, what: &str) -> Verdict {
    if condition { Ok(()) } else { Err(format!("{what}\n{}", outcome.describe())) }
}

/// Says why a case cannot be run here.
pub fn skip(reason: &str) -> Verdict {
    println!("skipped: {reason}");
    Ok(())
}

/// Launchers that take the same options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `mpirun` of Open MPI 4, and `orted` on other hosts.
    Orte,
    /// `mpirun` of Open MPI 5, and `prted` on other hosts.
    Prrte,
    /// `mpiexec` of MPICH.
    Hydra,
    /// `srun`.
    Slurm,
}

/// Gives what an agent starts a folder of its own, by the name of its host.
const OWN_FOLDER: &str = "[ -z \"$TMPDIR\" ] || { TMPDIR=$TMPDIR/$host; mkdir -p \"$TMPDIR\"; export TMPDIR; }\n";

/// A way to start a job.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// Whose options it takes.
    pub family: Family,
    /// The protocol that the library is to find: `PMIx`, `PMI-1`, `PMI-2`.
    pub protocol: &'static str,
    /// What the program is an argument of: something that runs it on another host.
    before: Vec<String>,
    program: PathBuf,
    options: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Launcher {
    /// A name for the installation, which tells launchers of one family and protocol apart.
    pub fn version(&self) -> String {
        let place = self.program.parent().unwrap_or(&self.program).display().to_string();
        place.chars().filter(char::is_ascii_alphanumeric).rev().take(12).collect()
    }

    /// The job that runs what follows at so many PEs.
    pub fn job(&self, pes: usize) -> Job {
        let mut line = self.before.iter().map(PathBuf::from).chain([self.program.clone()]);
        let first = line.next().unwrap_or_default();
        let mut job = Job::new(first).args(line).args(&self.options).args(["-n", &pes.to_string()]);
        for (name, value) in &self.environment {
            job = job.env(name, value);
        }
        // Slurm's daemons have theirs in the folder of the cluster, which ends with it.
        if self.family == Family::Slurm {
            return job;
        }
        // What is killed leaves its folder, which is in the way of a later launcher that has its process id. And what
        // ends may remove the folder that all jobs of the host share, under those that begin; so do the daemons of one
        // job, which have folders of their own by [`OWN_FOLDER`].
        job.own_temporary()
    }

    /// The same, started by a program that takes a command as its last arguments.
    pub fn behind(&self, line: &[&str]) -> Launcher {
        Launcher { before: line.iter().map(ToString::to_string).collect(), ..self.clone() }
    }

    /// The same with two hosts of `per_host` PEs each, both on this machine. Error: why that is not possible.
    pub fn on_two_hosts(&self, per_host: usize) -> Result<Launcher, String> {
        if system::library("libfabric.so.1").is_none() {
            return Err("libfabric (libfabric1) is not installed".into());
        }
        let each = per_host.to_string();
        let launcher = self.clone();
        Ok(match self.family {
            // Names that need no meaning: "fork" starts both here.
            Family::Hydra => launcher.with(&["-launcher", "fork", "-hosts", "one,two", "-ppn", &each]),
            Family::Orte | Family::Prrte => {
                launcher.with_hosts(&format!("10.255.0.1:{each},10.255.0.2:{each}"), per_host, &agent()?)
            }
            Family::Slurm => launcher.with(&["-N", "2", &format!("--ntasks-per-node={each}")]),
        })
    }

    /// `mpirun` with this machine, of `per_host` PEs, and another host, which is here as well: it knows the one by
    /// itself. Error: why that is not possible.
    pub fn with_this_host(&self, per_host: usize, this_first: bool) -> Result<Launcher, String> {
        let (here, there) = (format!("{}:{per_host}", system::host_name()), format!("10.255.0.2:{per_host}"));
        let hosts = if this_first { format!("{here},{there}") } else { format!("{there},{here}") };
        Ok(self.clone().with_hosts(&hosts, per_host, &agent()?))
    }

    /// The same, run on the first of these hosts, with `per_host` PEs on each. Error: why that is not possible.
    pub fn across(&self, net: &Hosts, per_host: usize) -> Result<Launcher, String> {
        let addresses: Vec<String> = (0..net.names().len()).map(|place| net.address(place)).collect();
        // From an address to the name of the host, as ssh would: options first, then one command for the shell.
        let cases: String =
            net.names().iter().zip(&addresses).map(|(name, address)| format!("{address}) host={name};; ")).collect();
        let agent = net.agent().with_extension("across.sh");
        let text = format!(
            "#!/bin/sh\nwhile [ \"${{1#-}}\" != \"$1\" ]; do shift; done\ncase $1 in {cases}esac\nshift\n\
             {OWN_FOLDER}exec {} \"$host\" sh -c \"$*\"\n",
            net.agent().display()
        );
        write_script(&agent, &text);
        let mut launcher = self.clone();
        launcher.before = vec![net.agent().display().to_string(), net.names()[0].clone()];
        let slots = |address: &String| format!("{address}:{per_host}");
        match self.family {
            Family::Orte | Family::Prrte => {
                let list: Vec<String> = addresses.iter().map(slots).collect();
                Ok(launcher.with_hosts(&list.join(","), per_host, &agent))
            }
            Family::Hydra => {
                let agent = agent.display().to_string();
                let (list, each) = (addresses.join(","), per_host.to_string());
                let way = ["-launcher", "ssh", "-launcher-exec", &agent, "-localhost", &addresses[0]];
                Ok(launcher.with(&way).with(&["-hosts", &list, "-ppn", &each]))
            }
            Family::Slurm => Err("Slurm's daemons run on one host here".into()),
        }
    }

    /// `mpirun` with a list of hosts, reached through an agent.
    fn with_hosts(mut self, hosts: &str, per_host: usize, agent: &Path) -> Launcher {
        let agent = agent.display().to_string();
        if self.family == Family::Orte {
            // Its two daemons would write one topology file, and crash over it.
            return self.with(&["--mca", "rtc", "^hwloc", "--mca", "plm_rsh_agent", &agent, "-host", hosts]);
        }
        // It would fill the first host beyond its slots.
        self.options.retain(|option| option != "--oversubscribe");
        let each = format!("ppr:{per_host}:node:OVERSUBSCRIBE");
        self.with(&["--prtemca", "plm_ssh_agent", &agent, "--host", hosts, "--map-by", &each])
    }

    /// Where it is installed.
    pub fn prefix(&self) -> PathBuf {
        let program = self.program.canonicalize().unwrap_or_else(|_| self.program.clone());
        program.ancestors().nth(2).unwrap_or(Path::new("/")).to_owned()
    }

    /// The same with more options.
    pub fn with(mut self, options: &[&str]) -> Launcher {
        self.options.extend(options.iter().map(ToString::to_string));
        self
    }
}

/// Every launcher by the name of its tests, or why it is not to be had; `cluster` is what Slurm's start has given.
pub fn all(cluster: &Result<Cluster, String>) -> [(&'static str, Result<Launcher, String>); 6] {
    let srun = |protocol| cluster.as_ref().map_err(String::clone).and_then(|cluster| srun(cluster, protocol));
    [
        ("mpirun", open_mpi()),
        ("mpirun 5", open_mpi_5()),
        ("mpiexec.hydra", hydra()),
        ("mpiexec 5", mpich_5()),
        ("srun --mpi=pmi2", srun("PMI-2")),
        ("srun --mpi=pmix", srun("PMIx")),
    ]
}

/// Open MPI's `mpirun`. Error: why there is none.
pub fn open_mpi() -> Result<Launcher, String> {
    let program = system::find(&["mpirun.openmpi", "mpirun", "prterun"])
        .filter(|program| said(program).contains("(Open") || program.ends_with("prterun"))
        .ok_or("Open MPI (openmpi-bin) is not installed")?;
    let family = if said(&program).contains(" 4.") { Family::Orte } else { Family::Prrte };
    Ok(mpirun(program, family))
}

/// `mpirun` of Open MPI 5. Error: why there is none.
pub fn open_mpi_5() -> Result<Launcher, String> {
    Ok(mpirun(wheels::open_mpi()?.join("bin/mpirun"), Family::Prrte))
}

fn mpirun(program: PathBuf, family: Family) -> Launcher {
    let mut options = vec!["--oversubscribe".to_string()];
    if system::is_root() {
        options.push("--allow-run-as-root".into());
    }
    Launcher { family, protocol: "PMIx", before: Vec::new(), program, options, environment: Vec::new() }
}

/// What a program says of its version.
fn said(program: &Path) -> String {
    Job::new(program).arg("--version").run().stdout
}

/// Hydra, MPICH's `mpiexec`. Error: why there is none.
pub fn hydra() -> Result<Launcher, String> {
    Ok(mpiexec(system::find(&["mpiexec.hydra"]).ok_or("Hydra (mpich) is not installed")?))
}

/// `mpiexec` of MPICH 5. Error: why there is none.
pub fn mpich_5() -> Result<Launcher, String> {
    Ok(mpiexec(wheels::mpich()?.join("bin/mpiexec.hydra")))
}

fn mpiexec(program: PathBuf) -> Launcher {
    Launcher {
        family: Family::Hydra,
        protocol: "PMI-1",
        before: Vec::new(),
        program,
        options: Vec::new(),
        environment: Vec::new(),
    }
}

/// Slurm's `srun` in a cluster of the tests' own. Error: why this is none of its protocols.
pub fn srun(cluster: &Cluster, protocol: &'static str) -> Result<Launcher, String> {
    let plugin = match protocol {
        "PMIx" => "pmix",
        _ => "pmi2",
    };
    if !cluster.plugins().iter().any(|name| name == plugin) {
        return Err(format!("this Slurm has no {plugin}"));
    }
    let launcher = Launcher {
        family: Family::Slurm,
        protocol,
        before: Vec::new(),
        program: cluster.tool("srun"),
        options: vec![format!("--mpi={plugin}"), "--quiet".into()],
        environment: vec![cluster.environment()],
    };
    // A plugin that is there may lack its library.
    let outcome = launcher.job(1).arg("true").limit(20).run();
    if outcome.stderr.contains("can not load PMIx library") {
        return Err("Slurm's pmix plugin finds no libpmix.so (libpmix-dev)".into());
    }
    Ok(launcher)
}

/// The `main` of a suite with cases for each launcher: so many at a time, unless the command line says otherwise.
/// `launchers` has them, as far as they are there; `add` adds the cases of one, and `add_slurm` those of Slurm alone.
pub fn run_suite<L: IntoIterator<Item = (&'static str, Result<Launcher, String>)>>(
    threads: usize,
    launchers: impl FnOnce(&Result<Cluster, String>) -> L,
    add: impl Fn(&mut Vec<Trial>, &'static str, &Arc<Launcher>),
    add_slurm: impl FnOnce(&mut Vec<Trial>, &Cluster),
) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(threads);
    if arguments.list {
        return ExitCode::SUCCESS;
    }
    let mut trials = Vec::new();
    let cluster = Cluster::start().unwrap_or_else(|error| {
        // Installed, and yet not to be had: that is no reason to skip.
        let reason = error.clone();
        trials.push(Trial::test("Slurm starts", move || Err(Failed::from(error))));
        Err(reason)
    });
    for (name, launcher) in launchers(&cluster) {
        match launcher {
            Ok(launcher) => add(&mut trials, name, &Arc::new(launcher)),
            Err(reason) => println!("not tested: {name}: {reason}"),
        }
    }
    if let Ok(cluster) = &cluster {
        add_slurm(&mut trials, cluster);
    }
    let code = libtest_mimic::run(&arguments, trials).exit_code();
    drop(cluster);
    code
}

/// Runs a command "on another host", in place of ssh: `AGENT [OPTION...] HOST COMMAND...`.
fn agent() -> Result<PathBuf, String> {
    let path = tree::scratch("launchers").join(format!("agent-{}", std::process::id()));
    if !path.exists() {
        let text = format!(
            "#!/bin/sh\nwhile [ \"${{1#-}}\" != \"$1\" ]; do shift; done\nhost=$1\nshift\n{OWN_FOLDER}\
             exec sh -c \"$*\"\n"
        );
        let made = std::fs::write(&path, text)
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)));
        made.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(path)
}
