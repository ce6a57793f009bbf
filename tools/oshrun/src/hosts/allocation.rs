//! The hosts that a batch system has given to this job, where one has: Slurm, PBS, LSF.

use super::list::{self, Host};
use crate::program;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What a batch system has given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// Its name and that of its job, for people.
    pub name: String,
    /// Hosts with their slots.
    pub hosts: Vec<Host>,
    agent: Agent,
}

/// What starts a command on such a host.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Agent {
    /// `srun`, with the CPUs that the job has on each host, since a step has those of its tasks only; and whether it
    /// binds tasks.
    Srun(BTreeMap<String, u32>, bool),
    /// A program that takes a host and a command, as ssh does.
    Program(&'static str),
    /// ssh.
    Usual,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// No batch system.
    Nothing,
    /// A task of a step: what it starts runs where it is. Says which.
    Step(String),
    /// Hosts.
    Hosts(Allocation),
}

/// What is asked of the system.
struct Around<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    /// Slurm's lists of hosts are taken apart by Slurm.
    expand: &'a dyn Fn(&str) -> Result<Vec<String>, String>,
    read: &'a dyn Fn(&str) -> Result<String, String>,
    is_program: &'a dyn Fn(&str) -> bool,
    /// Slurm's configuration; empty where it cannot be had.
    configuration: &'a dyn Fn() -> String,
}

/// Looks for an allocation in the environment. Error: there is one, and it cannot be read.
pub fn find() -> Result<Found, String> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let read = |path: &str| list::text_of(Path::new(path)).map_err(|error| format!("{path}: {error}"));
    let path = env::var_os("PATH").unwrap_or_default();
    let is_program = |name: &str| program::locate_in(OsStr::new(name), &path).is_ok();
    let (expand, configuration) = (&host_names, &configuration);
    Around { variable: &variable, expand, read: &read, is_program: &is_program, configuration }.find()
}

/// A line a setting: `TaskPlugin              = task/none`.
fn configuration() -> String {
    let output = Command::new("scontrol").args(["show", "config"]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Whether this Slurm binds tasks; without a plugin for it, `srun` has something to say of each option that asks for
/// none.
fn binds(configuration: &str) -> bool {
    let value = configuration.lines().find_map(|line| line.strip_prefix("TaskPlugin ")?.split_once('='));
    value.is_none_or(|(_, value)| !["task/none", "(null)", ""].contains(&value.trim()))
}

/// `node[1-2]` as names.
fn host_names(list: &str) -> Result<Vec<String>, String> {
    let command = format!("scontrol show hostnames {list}");
    let output = Command::new("scontrol").args(["show", "hostnames", list]).output();
    let output = output.map_err(|error| format!("{command}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).split_whitespace().map(String::from).collect())
}

impl Allocation {
    /// The words before the command that starts something on a host, and whether a shell takes the command apart.
    pub fn agent(&self, host: &str) -> Option<(Vec<String>, bool)> {
        match &self.agent {
            Agent::Srun(cpus, binds) => {
                let bind = if *binds { " --cpu-bind=none" } else { "" };
                let cpus = cpus.get(host).copied().unwrap_or(1);
                // Beside whatever else runs in the job, with all that it has there; nothing of it is a PE to Slurm.
                let words = format!(
                    "srun --overlap --quiet --mpi=none{bind} --nodes=1 --ntasks=1 --ntasks-per-node=1 \
                     --cpus-per-task={cpus} --nodelist={host}"
                );
                Some((words.split(' ').map(String::from).collect(), false))
            }
            Agent::Program(program) => Some((vec![(*program).into(), host.into()], true)),
            Agent::Usual => None,
        }
    }

    /// `Slurm job 7: node1:2, node2:1`
    pub fn text(&self) -> String {
        let slots = |host: &Host| host.slots.map_or(String::new(), |slots| format!(":{slots}"));
        let hosts: Vec<String> = self.hosts.iter().map(|host| host.name.clone() + &slots(host)).collect();
        format!("{}: {}", self.name, hosts.join(", "))
    }
}

impl Around<'_> {
    fn find(&self) -> Result<Found, String> {
        match self.slurm()? {
            Found::Nothing => {}
            found => return Ok(found),
        }
        if let Some((file, job)) = self.pair("PBS_NODEFILE", "PBS_JOBID") {
            // pbs_tmrsh gives what it starts no input.
            return self.of_file(format!("PBS job {job}"), "PBS_NODEFILE", &file, None);
        }
        if let Some((file, job)) = self.pair("LSB_DJOB_HOSTFILE", "LSB_JOBID") {
            return self.of_file(format!("LSF job {job}"), "LSB_DJOB_HOSTFILE", &file, Some("blaunch"));
        }
        Ok(Found::Nothing)
    }

    fn pair(&self, a: &str, b: &str) -> Option<(String, String)> {
        (self.variable)(a).zip((self.variable)(b))
    }

    fn slurm(&self) -> Result<Found, String> {
        let Some((list, job)) = self.pair("SLURM_JOB_NODELIST", "SLURM_JOB_ID") else { return Ok(Found::Nothing) };
        let name = format!("Slurm job {job}");
        if let Some(step) = (self.variable)("SLURM_STEP_ID").filter(|step| is_step(step)) {
            return Ok(Found::Step(format!("{name}, step {step}")));
        }
        let wrong = |what: String| format!("{name}: {what} (--hosts names the hosts instead)");
        let names = (self.expand)(&list).map_err(wrong)?;
        let numbers = |name: &str| match (self.variable)(name) {
            Some(text) => repeated(&text, names.len())
                .ok_or_else(|| wrong(format!("{name}={text} does not fit {} hosts", names.len()))),
            None => Ok(vec![1; names.len()]),
        };
        let (slots, cpus) = (numbers("SLURM_TASKS_PER_NODE")?, numbers("SLURM_JOB_CPUS_PER_NODE")?);
        let cpus = names.iter().cloned().zip(cpus).collect();
        let hosts = names.into_iter().zip(slots).map(|(name, slots)| Host { name, slots: Some(slots) }).collect();
        Ok(Found::Hosts(Allocation { name, hosts, agent: Agent::Srun(cpus, binds(&(self.configuration)())) }))
    }

    /// A file with a host a line, once for each slot.
    fn of_file(&self, name: String, variable: &str, file: &str, agent: Option<&'static str>) -> Result<Found, String> {
        let text = (self.read)(file).map_err(|error| format!("{name}: {variable}: {error}"))?;
        let mut hosts: Vec<Host> = Vec::new();
        for host in text.split_whitespace() {
            match hosts.iter_mut().find(|known| known.name == host) {
                Some(known) => known.slots = known.slots.map(|slots| slots.saturating_add(1)),
                None => hosts.push(Host { name: host.into(), slots: Some(1) }),
            }
        }
        if hosts.is_empty() {
            return Err(format!("{name}: {variable}: {file} names no host"));
        }
        let agent = agent.filter(|agent| (self.is_program)(agent)).map_or(Agent::Usual, Agent::Program);
        Ok(Found::Hosts(Allocation { name, hosts, agent }))
    }
}

/// Whether this is a step that a user has started; the highest numbers are those of batch scripts and interactive
/// shells.
fn is_step(step: &str) -> bool {
    step.parse::<u32>().is_ok_and(|step| step < 0xffff_ff00)
}

/// `2(x3),1` as numbers; `None`: it does not make so many.
fn repeated(text: &str, count: usize) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (number, times) = match part.split_once("(x") {
            Some((number, times)) => (number, times.strip_suffix(')')?.parse().ok()?),
            None => (part, 1),
        };
        let number = number.parse::<u32>().ok().filter(|number| *number > 0)?;
        if numbers.len() + times > count {
            return None;
        }
        numbers.extend(std::iter::repeat_n(number, times));
    }
    (numbers.len() == count).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], file: &str) -> Result<Found, String> {
        let variable = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        let expand = |list: &str| Ok(list.split('+').map(String::from).collect());
        let read = |_: &str| Ok(file.to_owned());
        let configuration = || "TaskPlugin              = task/affinity,task/cgroup\n".to_owned();
        let is_program = |name: &str| name == "blaunch";
        let (expand, configuration) = (&expand, &configuration);
        Around { variable: &variable, expand, read: &read, is_program: &is_program, configuration }.find()
    }

    #[test]
    fn a_slurm_that_binds_nothing_is_not_asked_to() {
        assert!(binds("") && binds("Other = 1\nTaskPlugin              = task/cgroup\n"));
        for none in ["task/none", "(null)", ""] {
            assert!(
                !binds(&format!("TaskPlugin              = {none}\nTaskPluginParam         = task/cgroup\n")),
                "{none}"
            );
        }
        let agent = |binds| {
            let allocation =
                Allocation { name: String::new(), hosts: Vec::new(), agent: Agent::Srun(BTreeMap::new(), binds) };
            allocation.agent("b").unwrap().0.contains(&"--cpu-bind=none".to_owned())
        };
        assert_eq!([true, false].map(agent), [true, false]);
    }

    #[test]
    fn slurm_says_hosts_and_counts() {
        const JOB: [(&str, &str); 4] = [
            ("SLURM_JOB_ID", "7"),
            ("SLURM_JOB_NODELIST", "a+b+c"),
            ("SLURM_TASKS_PER_NODE", "2(x2),1"),
            ("SLURM_JOB_CPUS_PER_NODE", "8(x3)"),
        ];
        let Ok(Found::Hosts(allocation)) = found(&JOB, "") else { panic!("hosts") };
        assert_eq!(allocation.text(), "Slurm job 7: a:2, b:2, c:1");
        let (words, shell) = allocation.agent("b").unwrap();
        assert!(!shell && words.contains(&"--overlap".into()) && words.contains(&"--nodelist=b".into()), "{words:?}");
        assert!(words.contains(&"--cpus-per-task=8".into()), "{words:?}");
        let batch = found(&[&JOB[..], &[("SLURM_STEP_ID", "4294967291")]].concat(), "");
        assert!(matches!(batch, Ok(Found::Hosts(_))), "{batch:?}");
        let step = found(&[&JOB[..], &[("SLURM_STEP_ID", "0")]].concat(), "");
        assert_eq!(step, Ok(Found::Step("Slurm job 7, step 0".into())));
        let mut wrong = JOB;
        wrong[2].1 = "2(x2)";
        assert!(found(&wrong, "").unwrap_err().contains("SLURM_TASKS_PER_NODE=2(x2) does not fit 3 hosts"));
    }

    #[test]
    fn node_files_are_counted() {
        let pbs = [("PBS_NODEFILE", "/n"), ("PBS_JOBID", "3.server")];
        let Ok(Found::Hosts(allocation)) = found(&pbs, "a\na\nb\na\n") else { panic!("hosts") };
        assert_eq!(allocation.text(), "PBS job 3.server: a:3, b:1");
        assert_eq!(allocation.agent("a"), None);
        let lsf = [("LSB_DJOB_HOSTFILE", "/n"), ("LSB_JOBID", "9")];
        let Ok(Found::Hosts(allocation)) = found(&lsf, "x\ny\n") else { panic!("hosts") };
        assert_eq!(allocation.agent("y"), Some((vec!["blaunch".into(), "y".into()], true)));
        assert!(found(&pbs, " \n").unwrap_err().contains("names no host"));
    }

    #[test]
    fn nothing_is_found_outside() {
        assert_eq!(found(&[], ""), Ok(Found::Nothing));
        assert_eq!(found(&[("SLURM_JOB_ID", "7")], ""), Ok(Found::Nothing));
    }

    #[test]
    fn counts_are_repeated() {
        assert_eq!(repeated("64(x2)", 2), Some(vec![64, 64]));
        assert_eq!(repeated("1,2(x2)", 3), Some(vec![1, 2, 2]));
        for wrong in ["", "0", "2(x3)", "2(x1", "x", "1,1,1"] {
            assert_eq!(repeated(wrong, 2), None, "{wrong}");
        }
    }
}
