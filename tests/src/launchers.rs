//! Other launchers than `oshrun`, as far as this machine has them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::run::Job;
use crate::slurm::Cluster;
use crate::{system, tree};

/// A way to start a job.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// For people: `mpirun`, `mpiexec.hydra`, `srun --mpi=pmix`.
    pub name: String,
    /// The protocol that the library is to find: `PMIx`, `PMI-1`, `PMI-2`.
    pub protocol: &'static str,
    program: PathBuf,
    options: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Launcher {
    /// The job that runs what follows at so many PEs.
    pub fn job(&self, pes: usize) -> Job {
        let mut job = Job::new(&self.program).args(&self.options).args(["-n", &pes.to_string()]);
        for (name, value) in &self.environment {
            job = job.env(name, value);
        }
        job
    }

    /// The same with two hosts of `per_host` PEs each, both on this machine. Error: why that is not possible.
    pub fn on_two_hosts(&self, per_host: usize) -> Result<Launcher, String> {
        if system::library("libfabric.so.1").is_none() {
            return Err("libfabric (libfabric1) is not installed".into());
        }
        let each = per_host.to_string();
        let launcher = self.clone();
        Ok(match self.name.as_str() {
            // Names that need no meaning: "fork" starts both here.
            "mpiexec.hydra" => launcher.with(&["-launcher", "fork", "-hosts", "one,two", "-ppn", &each]),
            "mpirun" => {
                let agent = agent().map_err(|error| format!("the agent: {error}"))?;
                let hosts = format!("10.255.0.1:{each},10.255.0.2:{each}");
                // Its two daemons would write one topology file, and crash over it.
                let own = ["--mca", "rtc", "^hwloc"];
                launcher.with(&own).with(&["--mca", "plm_rsh_agent", &agent.display().to_string(), "-host", &hosts])
            }
            _ => launcher.with(&["-N", "2", &format!("--ntasks-per-node={each}")]),
        })
    }

    /// The same with more options.
    pub fn with(mut self, options: &[&str]) -> Launcher {
        self.options.extend(options.iter().map(ToString::to_string));
        self
    }
}

/// Open MPI's `mpirun`. Error: why there is none.
pub fn open_mpi() -> Result<Launcher, String> {
    let program = system::find(&["mpirun.openmpi", "mpirun", "prterun"])
        .filter(|program| said(program).contains("(Open") || program.ends_with("prterun"))
        .ok_or("Open MPI (openmpi-bin) is not installed")?;
    let mut options = vec!["--oversubscribe".to_string()];
    if system::is_root() {
        options.push("--allow-run-as-root".into());
    }
    Ok(Launcher { name: "mpirun".into(), protocol: "PMIx", program, options, environment: Vec::new() })
}

/// What a program says of its version.
fn said(program: &Path) -> String {
    Job::new(program).arg("--version").run().stdout
}

/// Hydra, MPICH's `mpiexec`. Error: why there is none.
pub fn hydra() -> Result<Launcher, String> {
    let program = system::find(&["mpiexec.hydra"]).ok_or("Hydra (mpich) is not installed")?;
    Ok(Launcher {
        name: "mpiexec.hydra".into(),
        protocol: "PMI-1",
        program,
        options: Vec::new(),
        environment: Vec::new(),
    })
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
    Ok(Launcher {
        name: format!("srun --mpi={plugin}"),
        protocol,
        program: cluster.tool("srun"),
        options: vec![format!("--mpi={plugin}"), "--quiet".into()],
        environment: vec![cluster.environment()],
    })
}

/// Runs a command "on another host", in place of ssh: `AGENT [OPTION...] HOST COMMAND...`.
fn agent() -> std::io::Result<PathBuf> {
    let path = tree::scratch("launchers").join(format!("agent-{}", std::process::id()));
    if !path.exists() {
        let text = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nshift\nexec sh -c \"$*\"\n";
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(path)
}
