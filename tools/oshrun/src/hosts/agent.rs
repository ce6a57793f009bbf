//! Starting a daemon on a host: `CMD HOST COMMAND ARGUMENT...`, as ssh takes it.

use super::list::Placement;
use crate::options::Options;
use crate::spawn::{Start, Started};
use crate::sys::net;
use pellucid_core::os::process::host_name;
use pellucid_profile::text::shell_quoted;
use std::io::{self, PipeWriter, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::Command;

/// What reaches a host unless the user names something else. Nobody can type a password: the job would wait for ever.
const SSH: [&str; 4] = ["ssh", "-x", "-o", "BatchMode=yes"];
/// First word of what a daemon is told over its standard input, before the input of PE 0.
pub const GREETING: &str = "pellucid-daemon";

/// What a daemon needs to find the head and to be known to it. It goes through a pipe, so that no list of processes
/// shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Number of the host.
    pub host: u32,
    /// Shown by the daemon.
    pub secret: String,
    /// Shown by the head.
    pub answer: String,
    /// Where the head listens, the likeliest first.
    pub addresses: Vec<SocketAddr>,
    /// The host, as the user calls it; empty where the head does not say.
    pub name: String,
}

impl Invitation {
    /// As a line.
    pub fn line(&self) -> String {
        let addresses: Vec<String> = self.addresses.iter().map(SocketAddr::to_string).collect();
        let Self { host, secret, answer, name, .. } = self;
        format!("{GREETING} {host} {secret} {answer} {} {name}\n", addresses.join(","))
    }

    /// From a line.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(GREETING)?.split_ascii_whitespace();
        let mut next = || words.next();
        Some(Self {
            host: next()?.parse().ok()?,
            secret: next()?.into(),
            answer: next()?.into(),
            addresses: next()?.split(',').map(|address| address.parse().ok()).collect::<Option<_>>()?,
            name: next().unwrap_or_default().into(),
        })
    }
}

/// Whether a name or an address means this host.
pub fn is_here(host: &str) -> bool {
    if let Ok(address) = host.parse::<IpAddr>() {
        return address.is_loopback() || net::addresses().contains(&address);
    }
    let own = host_name();
    if host.eq_ignore_ascii_case("localhost") || host.eq_ignore_ascii_case(&own) {
        return true;
    }
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    if short(host) != short(&own) || host.contains('.') && own.contains('.') {
        return false;
    }
    // A name with a domain may be one of another domain than this host's.
    let addresses = net::addresses();
    !host.contains('.') || net::resolve(host).iter().any(|address| addresses.contains(address))
}

/// The command that starts a daemon.
pub fn command(options: &Options, placement: &Placement, oshrun: &Path) -> Vec<String> {
    let oshrun = oshrun.to_string_lossy().into_owned();
    let host = placement.host.clone();
    if options.launch_agent.is_none() && is_here(&host) {
        // Here, nothing has to be reached.
        return vec![oshrun, "--daemon".into()];
    }
    let given = options.allocation.as_ref().and_then(|allocation| allocation.agent(&host));
    let (agent, shell) = match (&options.launch_agent, given) {
        (None, Some(given)) => given,
        (Some(words), _) => (words.iter().cloned().chain([host]).collect(), true),
        (None, None) => (SSH.map(String::from).into_iter().chain([host]).collect(), true),
    };
    agent.into_iter().chain([if shell { shell_quoted(&oshrun) } else { oshrun }, "--daemon".into()]).collect()
}

/// Starts a daemon. Gives its standard input, after the invitation, for the input of PE 0.
pub fn start(command: &[String], start: Start, invitation: &Invitation) -> io::Result<(Started, PipeWriter)> {
    let (reader, mut writer) = io::pipe()?;
    let mut program = Command::new(&command[0]);
    program.args(&command[1..]);
    let started = start.start(program, reader.into(), None)?;
    // An agent that has ended already is found out when it is waited for.
    let _ = writer.write_all(invitation.line().as_bytes());
    Ok((started, writer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invitations_survive_the_way() {
        let invitation = Invitation {
            host: 3,
            secret: "ab".into(),
            answer: "cd".into(),
            addresses: vec!["10.0.0.1:4711".parse().unwrap(), "[fd00::1]:4712".parse().unwrap()],
            name: "node-b".into(),
        };
        assert_eq!(Invitation::parse(&invitation.line()), Some(invitation));
        for wrong in [
            "",
            "ls -l",
            "pellucid-daemon 1 a b",
            "pellucid-daemon 1 a b 10.0.0.1:99999",
            "pellucid-daemon 1 a b 10.0.0.1",
        ] {
            assert_eq!(Invitation::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn names_of_this_host_are_known() {
        assert!(is_here("localhost") && is_here(&host_name()) && !is_here("no-such-host.invalid"));
        assert!(is_here("127.0.0.1") && is_here("::1") && is_here("LOCALHOST") && !is_here("192.0.2.77"));
        assert!(is_here(&host_name().to_uppercase()) && !is_here(&format!("{}.no-such-domain.invalid", host_name())));
    }
}
