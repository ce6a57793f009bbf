//! Jobs over a network, and libfabric alone over the same.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::hosts::Hosts;
use crate::job;
use crate::library::Library;
use crate::line::{self, Key, Line, Measurement};

const LIMIT: Duration = Duration::from_secs(60);
/// The program that talks to libfabric alone, beside this one.
const ALONE: &str = "rma_pingpong";
/// Of both.
const PROVIDER: &str = "tcp;ofi_rxm";

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
        command
            .args(["-n", "2", "--bind", "none"])
            .arg(program)
            .env("SHMEM_TRANSPORT", "ofi")
            .env("SHMEM_OFI_PROVIDER", PROVIDER);
        command
    }

    /// What libfabric alone takes for the same.
    pub fn libfabric(&self) -> Result<Vec<Measurement>, String> {
        let on = |host: usize| match &self.hosts {
            Some(hosts) => hosts.on(host, &self.alone),
            None => Command::new(&self.alone),
        };
        let addresses = if self.hosts.is_some() { Hosts::ADDRESSES } else { ["127.0.0.1"; 2] };
        let port = (20_000 + std::process::id() % 10_000).to_string();
        let mut server = on(0)
            .args(["serve", &port, PROVIDER, addresses[0]])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| format!("{}: {e}", self.alone.display()))?;
        let finished = job::run(on(1).args([addresses[0], &port, PROVIDER, addresses[1]]), LIMIT);
        if finished.is_err() {
            let _ = server.kill();
        }
        let _ = server.wait();
        let found: Vec<Measurement> = finished?.stdout.lines().filter_map(alone).collect();
        if found.is_empty() { Err(format!("{ALONE} printed no measurement")) } else { Ok(found) }
    }
}

/// A line of the other program, as the measurement that it is to be compared with.
fn alone(text: &str) -> Option<Measurement> {
    let line: serde_json::Value = serde_json::from_str(text).ok()?;
    let (what, bytes, ns) = (line["what"].as_str()?, line["bytes"].as_u64()?, line["ns"].as_f64()?);
    // A ping-pong goes two ways; a fetch-add that the target's CPU does is a message there and one back.
    let (bench, ns) = match (what, bytes) {
        ("write ping-pong (two ways)", 8) => ("net-put", ns / 2.0),
        ("read", 8) => ("net-get", ns),
        ("message round trip (a fetch-add by hand)", _) => ("net-fetch_add", ns),
        ("writes in a window of 16", _) => ("net-put-bw", ns),
        _ => return None,
    };
    let bytes = if bench == "net-put-bw" { bytes } else { 8 };
    let key = Key { bench: bench.to_owned(), memory: "heap".to_owned(), bytes, pes: 2 };
    Some(Measurement { key, ns, limit: None })
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
