//! A Slurm cluster of one machine, with a folder, a key and ports of its own.
#![allow(unsafe_code)]

use std::fmt::Write;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::run::Job;
use crate::system;

/// Nodes of the cluster, all on this machine.
const NODES: usize = 2;
/// How long its parts may take to find each other.
const PATIENCE: Duration = Duration::from_secs(60);

/// Daemons that run until this is dropped.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts one whose nodes have as many CPUs as tests need and bind nothing, or says that Slurm is not installed.
    /// Error: what went wrong.
    pub fn start() -> Result<Result<Cluster, String>, String> {
        Self::of_nodes("task/none", 64)
    }

    /// As [`Self::start`], with nodes that have the CPUs of this machine and bind tasks to them.
    pub fn that_binds() -> Result<Result<Cluster, String>, String> {
        Self::of_nodes("task/affinity", std::thread::available_parallelism().map_or(1, usize::from))
    }

    fn of_nodes(task_plugin: &str, cpus: usize) -> Result<Result<Cluster, String>, String> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        for (tool, package) in
            [("munged", "munge"), ("slurmctld", "slurm-wlm"), ("slurmd", "slurm-wlm"), ("srun", "slurm-wlm")]
        {
            if system::find(&[tool]).is_none() {
                return Ok(Err(format!("{tool} ({package}) is not installed")));
            }
        }
        let folder = std::env::temp_dir().join(format!(
            "pellucid-slurm-{}-{}",
            std::process::id(),
            STARTED.fetch_add(1, Ordering::Relaxed)
        ));
        let mut cluster = Cluster { folder, daemons: Vec::new() };
        cluster.begin(task_plugin, cpus).map_err(|error| format!("Slurm does not start: {error}"))?;
        Ok(Ok(cluster))
    }

    fn begin(&mut self, task_plugin: &str, cpus: usize) -> Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        for part in ["state", "spool", "tmp/node1", "tmp/node2"] {
            std::fs::create_dir_all(self.folder.join(part)).map_err(text)?;
        }
        std::fs::set_permissions(&self.folder, std::fs::Permissions::from_mode(0o755)).map_err(text)?;
        let key = self.folder.join("munge.key");
        let mut random = [0; 128];
        std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random)).map_err(text)?;
        std::fs::write(&key, random).map_err(text)?;
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).map_err(text)?;
        let path = |name: &str| self.folder.join(name).display().to_string();
        let munge = [
            "--foreground".to_string(),
            format!("--key-file={}", path("munge.key")),
            format!("--socket={}", path("munge.sock")),
            format!("--pid-file={}", path("munged.pid")),
            format!("--log-file={}", path("munged.log")),
            format!("--seed-file={}", path("munge.seed")),
        ];
        std::fs::write(self.folder.join("slurm.conf"), configuration(&self.folder, task_plugin, cpus)?)
            .map_err(text)?;
        let socket = self.folder.join("munge.sock");
        self.daemon("munged", &munge)?;
        if !system::wait_until(PATIENCE, || socket.exists()) {
            return Err(self.logs());
        }
        self.daemon("slurmctld", &["-D".into(), "-i".into()])?;
        for node in 1..=NODES {
            self.daemon("slurmd", &["-D".into(), "-N".into(), format!("node{node}")])?;
        }
        let idle = || {
            let nodes = self.command("sinfo").args(["-h", "-N", "-o", "%N %t"]).limit(10).run().stdout;
            nodes.lines().filter(|line| line.ends_with(" idle")).count() == NODES
        };
        if !system::wait_until(PATIENCE, idle) {
            return Err(self.logs());
        }
        Ok(())
    }

    /// Starts a daemon that ends with this process, whatever happens to it.
    fn daemon(&mut self, tool: &str, options: &[String]) -> Result<(), String> {
        let log = std::fs::File::create(self.folder.join(format!("{tool}-{}.out", self.daemons.len())));
        let log = log.map_err(|error| error.to_string())?;
        let again = log.try_clone().map_err(|error| error.to_string())?;
        let (name, value) = self.environment();
        let mut command = Command::new(self.tool(tool));
        command.args(options).env(name, value).stdin(Stdio::null()).stdout(log).stderr(again).process_group(0);
        // SAFETY: prctl is async-signal-safe and takes no pointer here.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        self.daemons.push(command.spawn().map_err(|error| format!("{tool}: {error}"))?);
        Ok(())
    }

    /// A tool of Slurm.
    pub fn tool(&self, name: &str) -> PathBuf {
        system::find(&[name]).unwrap_or_else(|| name.into())
    }

    /// The variable by which its tools find it.
    pub fn environment(&self) -> (String, String) {
        ("SLURM_CONF".into(), self.folder.join("slurm.conf").display().to_string())
    }

    fn command(&self, tool: &str) -> Job {
        let (name, value) = self.environment();
        Job::new(self.tool(tool)).env(&name, &value)
    }

    /// Protocols that its `srun` has.
    pub fn plugins(&self) -> Vec<String> {
        let outcome = self.command("srun").arg("--mpi=list").limit(20).run();
        format!("{}{}", outcome.stdout, outcome.stderr).split_whitespace().map(String::from).collect()
    }

    /// The last of what the daemons say.
    fn logs(&self) -> String {
        let mut text = String::new();
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return text };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == "log" || extension == "out") {
                let said = std::fs::read_to_string(&path).unwrap_or_default();
                let lines: Vec<&str> = said.lines().collect();
                let tail = lines[lines.len().saturating_sub(5)..].join("\n");
                writeln!(text, "{}:\n{tail}", path.display()).expect("writing to a string");
            }
        }
        text
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The last started first: a node takes its leave from the controller, which asks munged.
        for daemon in self.daemons.iter_mut().rev() {
            system::signal(daemon.id(), libc::SIGTERM);
            if !system::wait_until(Duration::from_secs(5), || daemon.try_wait().is_ok_and(|status| status.is_some())) {
                let _ = daemon.kill();
            }
            let _ = daemon.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn configuration(folder: &Path, task_plugin: &str, cpus: usize) -> Result<String, String> {
    let said = |program: &str, options: &[&str]| Job::new(program).args(options).run().stdout.trim().to_string();
    let (host, user) = (said("hostname", &["-s"]), said("id", &["-un"]));
    // Held until all are known, so that no two are the same.
    let listeners: Vec<TcpListener> = (0..=NODES)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect::<Result<_, _>>()
        .map_err(|error| format!("no free port: {error}"))?;
    let port = |index: usize| listeners[index].local_addr().map_or(0, |address| address.port());
    let mut text = String::new();
    let at = |name: &str| folder.join(name).display().to_string();
    for (name, value) in [
        ("ClusterName", "pellucid".to_string()),
        ("SlurmctldHost", format!("{host}(127.0.0.1)")),
        ("SlurmctldPort", port(0).to_string()),
        ("SlurmUser", user.clone()),
        ("SlurmdUser", user),
        ("AuthType", "auth/munge".into()),
        ("AuthInfo", format!("socket={}", at("munge.sock"))),
        ("CredType", "cred/munge".into()),
        ("StateSaveLocation", at("state")),
        ("SlurmdSpoolDir", at("spool/%n")),
        // Of the jobs: Slurm's PMIx makes a folder there, for each node.
        ("TmpFS", at("tmp/%n")),
        ("SlurmctldPidFile", at("slurmctld.pid")),
        ("SlurmdPidFile", at("slurmd-%n.pid")),
        ("SlurmctldLogFile", at("slurmctld.log")),
        ("SlurmdLogFile", at("slurmd-%n.log")),
        ("ProctrackType", "proctrack/linuxproc".into()),
        ("TaskPlugin", task_plugin.into()),
        ("SelectType", "select/cons_tres".into()),
        ("SelectTypeParameters", "CR_CPU".into()),
        ("SchedulerType", "sched/builtin".into()),
        ("JobAcctGatherType", "jobacct_gather/none".into()),
        ("AccountingStorageType", "accounting_storage/none".into()),
        ("SwitchType", "switch/none".into()),
        ("MpiDefault", "none".into()),
        ("ReturnToService", "2".into()),
        ("SlurmdTimeout", "0".into()),
        // As many CPUs as said, whatever there are.
        ("SlurmdParameters", "config_overrides".into()),
    ] {
        writeln!(text, "{name}={value}").expect("writing to a string");
    }
    for node in 1..=NODES {
        writeln!(
            text,
            "NodeName=node{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs={cpus} RealMemory=65536 \
             State=UNKNOWN",
            port(node)
        )
        .expect("writing to a string");
    }
    text.push_str("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8\n");
    Ok(text)
}
