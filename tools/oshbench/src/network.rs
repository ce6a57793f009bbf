//! Jobs over a network, and libfabric alone over the same.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::hosts::Hosts;
use crate::job;
use crate::library::Library;
use crate::line::{self, Line, Measurement};

const LIMIT: Duration = Duration::from_secs(60);
/// The program that talks to libfabric alone, beside this one.
const ALONE: &str = "rma_pingpong";

/// The network that is measured.
pub struct Network {
    hosts: Option<Hosts>,
    /// Why it is loopback, where it is.
    pub loopback: Option<String>,
    alone: PathBuf,
}

impl Network {
    /// Two namespaces where they can be made, else loopback.
    pub fn new(folder: &Path) -> Result<Network, String> {
        let here = env::current_exe().map_err(|e| format!("the path of this program: {e}"))?;
        let alone = here.with_file_name("examples").join(ALONE);
        if !alone.is_file() {
            return Err(format!("{} is missing: run ./x bench, which builds it", alone.display()));
        }
        match Hosts::new(folder) {
            Ok(hosts) => Ok(Network { hosts: Some(hosts), loopback: None, alone }),
            Err(why) => Ok(Network { hosts: None, loopback: Some(why), alone }),
        }
    }

    /// A job of two PEs that share no memory.
    pub fn job(&self, library: &Library, program: &Path) -> Command {
        let mut command = match &self.hosts {
            Some(hosts) => {
                let mut command = hosts.on(0, library.launcher());
                command.args(hosts.options());
                command
            }
            None => Command::new(library.launcher()),
        };
        command.args(["-n", "2", "--bind", "none"]).arg(program).env("SHMEM_TRANSPORT", "ofi");
        command
    }

    /// What libfabric alone takes for the same.
    pub fn libfabric(&self, quick: bool) -> Result<Vec<Measurement>, String> {
        let on = |host: usize| match &self.hosts {
            Some(hosts) => hosts.on(host, &self.alone),
            None => Command::new(&self.alone),
        };
        let address = if self.hosts.is_some() { Hosts::ADDRESSES[0] } else { "127.0.0.1" };
        let port = (20_000 + std::process::id() % 10_000).to_string();
        let mut server = on(0);
        let mut server = server
            .args(["server", address, &port])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| format!("{}: {e}", self.alone.display()))?;
        let mut client = on(1);
        client.args(["client", address, &port]);
        if quick {
            client.arg("--quick");
        }
        let finished = job::run(&mut client, LIMIT);
        if finished.is_err() {
            let _ = server.kill();
        }
        let _ = server.wait();
        measurements(&finished?.stdout)
    }
}

/// The measurements in a program's output.
pub fn measurements(output: &str) -> Result<Vec<Measurement>, String> {
    let mut found = Vec::new();
    for text in output.lines() {
        match line::parse(text) {
            Line::Measurement(measurement) => found.push(measurement),
            Line::Bad(why) => return Err(format!("its output is not understood: {why}")),
            _ => {}
        }
    }
    if found.is_empty() { Err("it printed no measurement".into()) } else { Ok(found) }
}
