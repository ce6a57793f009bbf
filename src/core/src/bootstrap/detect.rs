//! Which launcher started this process, read from its environment.
//!
//! Variables leak: from a launcher into what its processes start, and oshrun itself sets some of the ranks that tools
//! look for. So only complete sets count, and the innermost launcher is obeyed as far as it can be told.

use super::launch::JOB;
use super::pmi_socket::Door;
use super::pmi1::Given;
use crate::base::{Cause, Fault, env};
use crate::os::{mmap, socket};
use std::os::fd::RawFd;

/// A launcher, with what it gave to this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launcher {
    /// Ours.
    Oshrun,
    /// A server that libpmix talks to.
    Pmix {
        /// `PMIX_RANK`
        rank: u32,
    },
    /// PMI-2.
    Pmi2 {
        /// The connection.
        door: Door,
        /// `PMI_RANK`
        rank: u32,
    },
    /// PMI-1.
    Pmi1(Given),
    /// None: a job of one PE.
    None,
}

impl Launcher {
    /// The launcher in charge: the one that `SHMEM_BOOTSTRAP` names, else the one whose variables are there.
    pub fn find() -> Result<Self, Fault> {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        let around = Around { variable: &variable, is_socket: &socket::is_socket, is_file: &mmap::is_file };
        let (name, value) = env::lookup("BOOTSTRAP").unwrap_or_default();
        match value.to_ascii_lowercase().as_str() {
            "" | "auto" => around.innermost(),
            "oshrun" => need(around.number(JOB)?.map(|_| Self::Oshrun), &value, JOB),
            "pmix" => need(around.pmix()?, &value, "PMIX_NAMESPACE with PMIX_RANK"),
            "pmi2" => need(around.pmi2()?, &value, "PMI_FD with PMI_RANK"),
            "pmi1" => need(around.pmi1()?, &value, "PMI_FD with PMI_RANK and PMI_SIZE, or PMI_PORT with PMI_ID"),
            "none" => Ok(Self::None),
            _ => {
                let reason = "expected auto, oshrun, pmix, pmi2, pmi1 or none";
                Err(Fault::from(Cause::Environment { name, value, reason: reason.into() }))
            }
        }
    }

    /// How it was recognized, for people.
    pub fn evidence(&self) -> String {
        match self {
            Self::Oshrun => JOB.into(),
            Self::Pmix { .. } => "PMIX_NAMESPACE, PMIX_RANK".into(),
            Self::Pmi2 { door, .. } => door.to_string(),
            Self::Pmi1(given) => given.door.to_string(),
            Self::None => "no launcher's variables".into(),
        }
    }
}

fn need(found: Option<Launcher>, wanted: &str, variables: &'static str) -> Result<Launcher, Fault> {
    found.ok_or_else(|| {
        Fault::from(Cause::Startup(format!("SHMEM_BOOTSTRAP={wanted}: the launcher has not set {variables}")))
    })
}

/// Launchers that may offer no PMI: variables with the number of processes and that of this one, the launcher, what to
/// do.
const SILENT: [(&str, &str, &str, &str); 2] = [
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun", "start it with srun --mpi=pmi2 or srun --mpi=pmix"),
    ("FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux", "start it with flux run -o pmi=simple"),
];

/// The variables with which a process below one of these is no process of it any more.
pub(super) fn is_counted() -> bool {
    SILENT.iter().any(|(count, rank, ..)| std::env::var_os(count).is_some() && std::env::var_os(rank).is_some())
}

/// What a process finds around it.
struct Around<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    is_socket: &'a dyn Fn(RawFd) -> bool,
    is_file: &'a dyn Fn(RawFd) -> bool,
}

impl Around<'_> {
    /// PMIx variables stay in the environment of a shell that a launcher started, and get to what another launcher
    /// starts from there; so do all others. Descriptors mostly do not: where one is open, it is the innermost
    /// launcher's. Hydra leaves that of `oshrun` open to its processes; `oshrun` takes the names of others' from its
    /// own.
    fn innermost(&self) -> Result<Launcher, Fault> {
        let ours = self.number(JOB)?;
        let is_open = ours.is_some_and(|fd| (self.is_file)(fd as RawFd));
        let pmi = self.pmi()?;
        let is_innermost = |found: &&Launcher| match found {
            Launcher::Pmi2 { door, .. } | Launcher::Pmi1(Given { door, .. }) => match door {
                Door::Descriptor(fd) => (self.is_socket)(*fd),
                // Beside ours, it was named since.
                Door::Port(..) => is_open,
            },
            _ => false,
        };
        if let Some(innermost) = pmi.as_ref().filter(is_innermost) {
            return Ok(innermost.clone());
        }
        if is_open {
            return Ok(Launcher::Oshrun);
        }
        // What is left says at least what is wrong with it.
        let closed = ours.map(|_| Launcher::Oshrun);
        match self.pmix()?.or(closed).or(pmi) {
            Some(found) => Ok(found),
            None => self.alone(),
        }
    }

    /// A job of one PE, unless a launcher has started more processes than this one: each would be a job of its own, and
    /// do all of the work.
    fn alone(&self) -> Result<Launcher, Fault> {
        if self.text("SHMEM_SINGLETON").is_some_and(|value| !matches!(value.as_str(), "0" | "no" | "off" | "false")) {
            return Ok(Launcher::None);
        }
        for (count, rank, name, advice) in SILENT {
            let tasks = self.text(count).and_then(|value| value.trim().parse::<u32>().ok()).unwrap_or(1);
            if tasks > 1 && self.text(rank).is_some() {
                return Err(Fault::from(Cause::Startup(format!(
                    "{name} has started {tasks} processes ({count}={tasks}) and offers no PMI to them, so that each \
                     would be a job of one PE: {advice}, or set SHMEM_SINGLETON=1 if that is what you want"
                ))));
            }
        }
        Ok(Launcher::None)
    }

    fn text(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    fn number(&self, name: &'static str) -> Result<Option<u32>, Fault> {
        let Some(value) = self.text(name) else { return Ok(None) };
        match value.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => {
                let reason = "expected a number, set by the launcher";
                Err(Fault::from(Cause::Environment { name: name.into(), value, reason: reason.into() }))
            }
        }
    }

    fn pmix(&self) -> Result<Option<Launcher>, Fault> {
        if self.text("PMIX_NAMESPACE").is_none() {
            return Ok(None);
        }
        Ok(self.number("PMIX_RANK")?.map(|rank| Launcher::Pmix { rank }))
    }

    /// Hydra and Slurm set the same three variables, and both answer to both versions, Hydra to version 2 in part. A
    /// process that Slurm itself has started is the one that Slurm counts, among as many; one that Hydra started may
    /// have inherited Slurm's other variables from the task in which Hydra runs.
    fn pmi(&self) -> Result<Option<Launcher>, Fault> {
        let is_like = |slurms: &str, own: &str| self.text(slurms) == self.text(own);
        let is_counted = self.text("SLURM_PROCID").is_some()
            && is_like("SLURM_PROCID", "PMI_RANK")
            && (self.text("SLURM_STEP_NUM_TASKS").is_none() || is_like("SLURM_STEP_NUM_TASKS", "PMI_SIZE"));
        let is_slurms = is_counted
            && self.text("PMI_JOBID").is_some()
            && self.text("SLURM_MPI_TYPE").is_none_or(|kind| kind == "pmi2");
        if is_slurms && let Some(found) = self.pmi2()? {
            return Ok(Some(found));
        }
        self.pmi1()
    }

    fn pmi2(&self) -> Result<Option<Launcher>, Fault> {
        let Some(fd) = self.number("PMI_FD")? else { return Ok(None) };
        Ok(self.number("PMI_RANK")?.map(|rank| Launcher::Pmi2 { door: Door::Descriptor(fd as RawFd), rank }))
    }

    fn pmi1(&self) -> Result<Option<Launcher>, Fault> {
        if let (Some(fd), Some(rank), Some(size)) =
            (self.number("PMI_FD")?, self.number("PMI_RANK")?, self.number("PMI_SIZE")?)
        {
            let door = Door::Descriptor(fd as RawFd);
            return Ok(Some(Launcher::Pmi1(Given { door, rank: Some((rank, size)) })));
        }
        let port = self.text("PMI_PORT").zip(self.text("PMI_ID"));
        Ok(port.map(|(port, id)| Launcher::Pmi1(Given { door: Door::Port(port, id), rank: None })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Descriptor 5 is a socket, 6 a file, all others are closed.
    fn innermost(variables: &[&str]) -> Result<Launcher, Fault> {
        let variable = |name: &str| {
            let pairs = variables.iter().filter_map(|pair| pair.split_once('='));
            pairs.filter(|(n, _)| *n == name).map(|(_, value)| value.to_owned()).next()
        };
        Around { variable: &variable, is_socket: &|fd| fd == 5, is_file: &|fd| fd == 6 }.innermost()
    }

    fn pmi1(fd: RawFd, rank: u32, size: u32) -> Launcher {
        Launcher::Pmi1(Given { door: Door::Descriptor(fd), rank: Some((rank, size)) })
    }

    #[test]
    fn complete_sets_count() {
        let port = Launcher::Pmi1(Given { door: Door::Port("a:1".into(), "2".into()), rank: None });
        let pmi2 = |rank| Launcher::Pmi2 { door: Door::Descriptor(5), rank };
        const HYDRA: [&str; 3] = ["PMI_FD=5", "PMI_RANK=1", "PMI_SIZE=3"];
        for (variables, expected) in [
            (&[][..], Launcher::None),
            // What oshrun sets for tools.
            (&["PMI_RANK=0", "PMIX_RANK=0", "PMI_SIZE=2"], Launcher::None),
            (&["PMIX_NAMESPACE=a"], Launcher::None),
            (&["PMIX_NAMESPACE=a", "PMIX_RANK="], Launcher::None),
            (&["PMI_FD=5", "PMI_RANK=1"], Launcher::None),
            (&["PMI_PORT=a:1"], Launcher::None),
            (&["PMIX_NAMESPACE=a", "PMIX_RANK=3"], Launcher::Pmix { rank: 3 }),
            (&HYDRA, pmi1(5, 1, 3)),
            (&["PMI_PORT=a:1", "PMI_ID=2"], port),
            (&["PELLUCID_JOB_FD=6"], Launcher::Oshrun),
            (&[&HYDRA[..], &["PMI_JOBID=1.0", "SLURM_MPI_TYPE=pmi2", "SLURM_PROCID=1"]].concat(), pmi2(1)),
            (&[&HYDRA[..], &["PMI_JOBID=1.0", "SLURM_STEP_NUM_TASKS=3", "SLURM_PROCID=1"]].concat(), pmi2(1)),
            // Of a Slurm that does not say which protocol.
            (&[&HYDRA[..], &["PMI_JOBID=1.0", "SLURM_PROCID=1"]].concat(), pmi2(1)),
        ] {
            assert_eq!(innermost(variables).unwrap(), expected, "{variables:?}");
        }
    }

    #[test]
    fn the_innermost_is_obeyed() {
        const PMIX: [&str; 2] = ["PMIX_NAMESPACE=a", "PMIX_RANK=0"];
        const OPEN: [&str; 3] = ["PMI_FD=5", "PMI_RANK=1", "PMI_SIZE=3"];
        const CLOSED: [&str; 3] = ["PMI_FD=9", "PMI_RANK=1", "PMI_SIZE=3"];
        let port = Launcher::Pmi1(Given { door: Door::Port("a:1".into(), "2".into()), rank: None });
        const FIRST: [&str; 3] = ["PMI_FD=5", "PMI_RANK=0", "PMI_SIZE=3"];
        const SLURM: [&str; 3] = ["PMI_JOBID=1.0", "SLURM_MPI_TYPE=pmi2", "SLURM_PROCID=0"];
        for (variables, expected) in [
            // oshrun below others, and others below oshrun: Hydra leaves its descriptor open.
            ([&["PELLUCID_JOB_FD=6"], &PMIX[..]].concat(), Launcher::Oshrun),
            ([&["PELLUCID_JOB_FD=6"], &PMIX[..], &CLOSED].concat(), Launcher::Oshrun),
            ([&["PELLUCID_JOB_FD=6"], &OPEN[..]].concat(), pmi1(5, 1, 3)),
            (vec!["PELLUCID_JOB_FD=6", "PMI_PORT=a:1", "PMI_ID=2"], port),
            ([&["PELLUCID_JOB_FD=9"], &PMIX[..]].concat(), Launcher::Pmix { rank: 0 }),
            ([&["PELLUCID_JOB_FD=9"], &OPEN[..]].concat(), pmi1(5, 1, 3)),
            (vec!["PELLUCID_JOB_FD=9"], Launcher::Oshrun),
            // Hydra in a shell that PMIx started, and the other way round.
            ([&PMIX[..], &OPEN].concat(), pmi1(5, 1, 3)),
            ([&PMIX[..], &CLOSED].concat(), Launcher::Pmix { rank: 0 }),
            // Hydra's process in a shell that Slurm started is not the one that Slurm counts.
            ([&OPEN[..], &SLURM].concat(), pmi1(5, 1, 3)),
            // The first of Hydra's, in a step of one task.
            ([&FIRST[..], &SLURM, &["SLURM_STEP_NUM_TASKS=1"]].concat(), pmi1(5, 0, 3)),
            (CLOSED.to_vec(), pmi1(9, 1, 3)),
        ] {
            assert_eq!(innermost(&variables).unwrap(), expected, "{variables:?}");
        }
    }

    #[test]
    fn several_processes_without_pmi_are_no_jobs_of_one() {
        const TASKS: [&str; 2] = ["SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2"];
        let text = innermost(&TASKS).unwrap_err().to_string();
        for part in ["4 processes", "--mpi=pmi2", "--mpi=pmix", "SHMEM_SINGLETON=1"] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(innermost(&[&TASKS[..], &["SHMEM_SINGLETON=1"]].concat()).unwrap(), Launcher::None);
        // A batch script, and a step of one task.
        assert_eq!(innermost(&["SLURM_NTASKS=4", "SLURM_PROCID=0"]).unwrap(), Launcher::None);
        assert_eq!(innermost(&["SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0"]).unwrap(), Launcher::None);
        assert_eq!(
            innermost(&[&TASKS[..], &["PMIX_NAMESPACE=a", "PMIX_RANK=2"]].concat()).unwrap(),
            Launcher::Pmix { rank: 2 }
        );
    }

    #[test]
    fn what_is_no_number_is_named() {
        for variables in [&["PMIX_NAMESPACE=a", "PMIX_RANK=x"][..], &["PMI_FD=x"], &["PELLUCID_JOB_FD=-1"]] {
            let text = innermost(variables).unwrap_err().to_string();
            let (name, _) = variables.last().unwrap().split_once('=').unwrap();
            assert!(text.starts_with(name) && text.contains("expected a number"), "{text}");
        }
    }
}
