//! Hosts for tests: network namespaces on one switch, each with an address in 10.x and a host name of its own. They go
//! when the value is dropped; those of a test that was killed go when the next test makes its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::run::Job;
use crate::wire::{Quality, Wire};
use crate::{tree, wheels};

/// What names of namespaces begin with; the process id of the test follows.
const PREFIX: &str = "pellucid-t";

/// Some hosts, named `a`, `b` and so on.
#[derive(Debug)]
pub struct Hosts {
    prefix: String,
    names: Vec<String>,
    agent: PathBuf,
    /// Links that this process carries.
    wires: Mutex<Vec<Wire>>,
}

impl Hosts {
    /// Makes hosts. `None`, and the reason printed: this machine has no way to.
    ///
    /// # Panics
    /// Panics where making them fails half-way.
    pub fn new(count: usize) -> Option<Hosts> {
        remove_stale();
        if let Some(reason) = missing() {
            eprintln!("skipped: no hosts can be made here: {reason}");
            return None;
        }
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{PREFIX}{}n{number}", std::process::id());
        let names: Vec<String> = ('a'..='z').take(count).map(String::from).collect();
        let agent = tree::scratch("hosts").join(format!("{prefix}.sh"));
        // Dropped, and so removed, when something below panics.
        let hosts = Hosts { prefix, names, agent, wires: Mutex::default() };
        let switch = hosts.switch();
        ip(&["netns", "add", &switch]);
        ip_in(&switch, &["link", "add", "br0", "type", "bridge", "forward_delay", "0"]);
        ip_in(&switch, &["link", "set", "br0", "up"]);
        for name in &hosts.names {
            let (space, port) = (hosts.space(name), hosts.port(name));
            ip(&["netns", "add", &space]);
            ip_in(&switch, &["link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns", &space]);
            ip_in(&space, &["link", "set", "lo", "up"]);
            hosts.connect(name);
        }
        let text = format!(
            "#!/bin/sh\n# Runs a command on a host: HOST COMMAND ARGUMENT...\nhost=$1\nshift\n\
             exec ip netns exec {}-\"$host\" unshare --uts sh -c 'hostname \"$0\" && exec \"$@\"' \"$host\" \"$@\"\n",
            hosts.prefix
        );
        write_script(&hosts.agent, &text);
        Some(hosts)
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What `--launch-agent` takes.
    pub fn agent(&self) -> &Path {
        &self.agent
    }

    /// The address of the host at a place.
    pub fn address(&self, place: usize) -> String {
        address(place)
    }

    /// What `--hosts` takes for so many PEs on each.
    pub fn list(&self, pes: usize) -> String {
        let parts: Vec<String> = self.names.iter().map(|name| format!("{name}:{pes}")).collect();
        parts.join(",")
    }

    /// A command on a host; its arguments follow.
    pub fn on(&self, name: &str, program: impl AsRef<Path>) -> Job {
        Job::new(&self.agent).arg(name).arg(program.as_ref())
    }

    /// `oshrun` on host `a`, for so many PEs on each host; the program and its arguments follow. Its process is that of
    /// the job.
    pub fn oshrun(&self, pes: usize) -> Job {
        self.oshrun_with(&["--hosts", &self.list(pes)])
    }

    /// `oshrun` on host `a` with these options; the program and its arguments follow.
    pub fn oshrun_with(&self, options: &[&str]) -> Job {
        let job = self.on("a", tree::tool("oshrun")).arg("--launch-agent").arg(&self.agent);
        wheels::quick_libfabric().into_iter().fold(job.args(options), |job, (name, value)| job.env(name, &value))
    }

    /// Nothing from or to this host gets through any more, and nobody is told.
    pub fn cut(&self, name: &str) {
        ip_in(&self.switch(), &["link", "set", &self.port(name), "down"]);
    }

    /// The opposite of [`Hosts::cut`].
    pub fn mend(&self, name: &str) {
        ip_in(&self.switch(), &["link", "set", &self.port(name), "up"]);
    }

    /// This host refuses to send anything to an address, and tells whoever tries.
    pub fn forbid(&self, name: &str, address: &str) {
        ip_in(&self.space(name), &["route", "add", "prohibit", &format!("{address}/32")]);
    }

    /// Processes on a host.
    pub fn processes(&self, name: &str) -> Vec<u32> {
        let output = Command::new("ip").args(["netns", "pids", &self.space(name)]).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// The process that looks after the PEs of a job on a host.
    ///
    /// # Panics
    /// Panics where there is none.
    pub fn part(&self, name: &str) -> u32 {
        let is_part = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let parent = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            line.split(|byte| *byte == 0).nth(1) == Some(b"--daemon") && parent.trim() == "oshrun"
        };
        self.processes(name).into_iter().find(is_part).unwrap_or_else(|| panic!("no part on host {name}"))
    }

    /// Gives this host another wire, on which frames are late or lost both ways. False, and said: the kernel has no TAP
    /// devices.
    pub fn disturb(&self, name: &str, quality: Quality) -> bool {
        let (space, switch, port) = (self.space(name), self.switch(), self.port(name));
        ip_in(&switch, &["link", "delete", &port]);
        match Wire::new([(&space, "eth0"), (&switch, &port)], quality) {
            Ok(wire) => self.wires.lock().unwrap_or_else(PoisonError::into_inner).push(wire),
            Err(error) => {
                eprintln!("skipped: no slow wire can be made here: {error}");
                return false;
            }
        }
        self.connect(name);
        true
    }

    /// Brings both ends of this host's wire up.
    fn connect(&self, name: &str) {
        let (space, switch, port) = (self.space(name), self.switch(), self.port(name));
        ip_in(&switch, &["link", "set", &port, "master", "br0", "up"]);
        ip_in(&space, &["address", "add", &format!("{}/24", address(self.place(name))), "dev", "eth0"]);
        ip_in(&space, &["link", "set", "eth0", "up"]);
    }

    fn space(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    fn switch(&self) -> String {
        self.space("switch")
    }

    fn port(&self, name: &str) -> String {
        format!("v{}", self.place(name))
    }

    fn place(&self, name: &str) -> usize {
        self.names.iter().position(|own| own == name).unwrap_or_else(|| panic!("no host {name}"))
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.wires.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        for name in self.names.iter().map(String::as_str).chain(["switch"]) {
            remove(&self.space(name));
        }
        for file in [self.agent.clone(), self.agent.with_extension("across.sh")] {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Writes a script that can be run.
///
/// # Panics
/// Panics where it cannot be written.
pub fn write_script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let written = std::fs::write(path, text)
        .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn address(place: usize) -> String {
    format!("10.77.0.{}", place + 1)
}

/// Why no hosts can be made; `None`: they can.
fn missing() -> Option<String> {
    for (program, argument) in
        [("ip", "-V"), ("unshare", "--version"), ("nsenter", "--version"), ("hostname", "--version")]
    {
        if Command::new(program).arg(argument).output().is_err() {
            return Some(format!("there is no {program} (Debian packages iproute2, util-linux, hostname)"));
        }
    }
    let name = format!("{PREFIX}{}probe{:?}", std::process::id(), std::thread::current().id());
    let name = name.replace(['(', ')'], "");
    let problem = |output: Output| String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let made = Command::new("ip").args(["netns", "add", &name]).output().ok()?;
    if !made.status.success() {
        return Some(format!("ip netns add: {}", problem(made)));
    }
    let run = Command::new("ip").args(["netns", "exec", &name, "unshare", "--uts", "hostname", "x"]).output().ok()?;
    let veth = Command::new("ip").args(["-n", &name, "link", "add", "v0", "type", "veth"]).output().ok()?;
    remove(&name);
    [run, veth].into_iter().find(|output| !output.status.success()).map(problem)
}

/// Removes what tests have left that were killed.
fn remove_stale() {
    let Ok(entries) = std::fs::read_dir("/run/netns") else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(PREFIX) else { continue };
        let pid: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if !pid.is_empty() && !Path::new("/proc").join(&pid).exists() {
            remove(&name);
        }
    }
}

fn remove(space: &str) {
    let _ = Command::new("ip").args(["netns", "delete", space]).output();
}

fn ip(arguments: &[&str]) {
    run(Command::new("ip"), arguments);
}

/// What `ip -n` does, without a mount of its own: to take that away, the kernel waits for all cores, which may take
/// 20 s beside threads that yield to each other.
fn ip_in(space: &str, arguments: &[&str]) {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{space}")).arg("ip");
    run(command, arguments);
}

fn run(mut command: Command, arguments: &[&str]) {
    let output = command.args(arguments).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spaces() -> Vec<String> {
        let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn hosts_go_with_their_test() {
        let Some(hosts) = Hosts::new(2) else { return };
        let prefix = hosts.prefix.clone();
        assert_eq!(spaces().iter().filter(|name| name.starts_with(&prefix)).count(), 3);
        assert_eq!(hosts.on("b", "hostname").run().expect_code(0).stdout, "b\n");
        let ping = hosts.on("a", "sh").args(["-c", "ip route get 10.77.0.2"]).run().expect_code(0);
        assert!(ping.stdout.contains("dev eth0"), "{}", ping.describe());
        // Those of a process that is no more: its number is beyond the largest.
        let stale = format!("{PREFIX}4194999n0-a");
        ip(&["netns", "add", &stale]);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _hosts = hosts;
            panic!("in the middle of a test");
        }));
        assert!(panicked.is_err());
        assert!(!spaces().iter().any(|name| name.starts_with(&prefix)));
        let _others = Hosts::new(1);
        assert!(!spaces().contains(&stale));
    }
}
