//! Two network namespaces that stand for two hosts, joined by a virtual cable. Gone when dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::job;

const LIMIT: Duration = Duration::from_secs(20);

/// Two hosts.
pub struct Hosts {
    names: [String; 2],
    agent: PathBuf,
}

impl Hosts {
    /// Makes them. Error: what the kernel or the tools refuse; mostly it takes root.
    pub fn new(folder: &Path) -> Result<Hosts, String> {
        let id = std::process::id();
        let names = ["a", "b"].map(|host| format!("pellucid-bench-{id}-{host}"));
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let hosts = Hosts { names, agent: folder.join("agent") };
        let script = "#!/bin/sh\n# Runs a command on one of the hosts, as ssh would.\nhost=$1\nshift\n\
                      exec ip netns exec \"$host\" unshare --uts sh -c 'hostname \"$0\"; exec \"$@\"' \"$host\" \
                      \"$@\"\n";
        fs::write(&hosts.agent, script).map_err(|e| format!("{}: {e}", hosts.agent.display()))?;
        done(Command::new("chmod").arg("+x").arg(&hosts.agent))?;
        let (cable, other) = (format!("plb{id}a"), format!("plb{id}b"));
        let [a, b] = &hosts.names;
        for line in [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("link add {cable} netns {a} type veth peer name {other} netns {b}"),
        ] {
            ip(&line)?;
        }
        for (host, link, address) in [(a, &cable, Hosts::ADDRESSES[0]), (b, &other, Hosts::ADDRESSES[1])] {
            ip(&format!("-n {host} address add {address}/24 dev {link}"))?;
            ip(&format!("-n {host} link set {link} up"))?;
            ip(&format!("-n {host} link set lo up"))?;
        }
        for (host, link) in [(a, &cable), (b, &other)] {
            wait_for(host, link)?;
        }
        Ok(hosts)
    }

    /// Where they are in their own network.
    pub const ADDRESSES: [&str; 2] = ["10.99.0.1", "10.99.0.2"];

    /// A command on one of them.
    pub fn on(&self, host: usize, program: &Path) -> Command {
        let mut command = Command::new(&self.agent);
        command.arg(&self.names[host]).arg(program);
        command
    }

    /// Options of `oshrun` for a job on both, started on the first.
    pub fn options(&self) -> [String; 4] {
        let agent = self.agent.to_string_lossy().into_owned();
        ["--hosts".into(), self.names.join(","), "--launch-agent".into(), agent]
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            // With a namespace goes its end of the cable, and with that the other.
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

/// A new link takes a moment until the kernel calls it usable.
fn wait_for(host: &str, link: &str) -> Result<(), String> {
    for _ in 0..100 {
        let shown = job::run(Command::new("ip").args(["-n", host, "link", "show", link]), LIMIT)?;
        if shown.stdout.contains("state UP") {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{link} of {host} does not come up"))
}

fn ip(line: &str) -> Result<(), String> {
    done(Command::new("ip").args(line.split(' ')))
}

fn done(command: &mut Command) -> Result<(), String> {
    job::run(command, LIMIT).map(drop).map_err(|why| format!("{command:?}: {why}"))
}
