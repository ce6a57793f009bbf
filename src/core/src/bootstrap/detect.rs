//! Which launcher started this process, read from its environment.
//!
//! Variables leak: from a launcher into what its processes start, and oshrun itself sets some of the ranks that tools look
//! for. So only complete sets count, and the innermost launcher that we can tell is obeyed.

use super::pmi_socket::Door;
use super::pmi1::{Given, number};
use crate::base::{Cause, Fault, env};
use crate::os::socket;
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
        let (name, value) = env::lookup("BOOTSTRAP").unwrap_or_default();
        match value.to_ascii_lowercase().as_str() {
            "" | "auto" => Self::by_environment(),
            "oshrun" => need(is_set(super::launch::JOB).then_some(Self::Oshrun), &value, super::launch::JOB),
            "pmix" => need(pmix()?, &value, "PMIX_NAMESPACE with PMIX_RANK"),
            "pmi2" => need(pmi2()?, &value, "PMI_FD with PMI_RANK"),
            "pmi1" => need(pmi1()?, &value, "PMI_FD with PMI_RANK and PMI_SIZE, or PMI_PORT with PMI_ID"),
            "none" => Ok(Self::None),
            _ => {
                let reason = "expected auto, oshrun, pmix, pmi2, pmi1 or none";
                Err(Fault::from(Cause::Environment { name, value, reason }))
            }
        }
    }

    fn by_environment() -> Result<Self, Fault> {
        if is_set(super::launch::JOB) {
            return Ok(Self::Oshrun);
        }
        // PMIx variables stay in the environment of a shell that a launcher started, and get to what another launcher starts
        // from there. The descriptor of PMI does not: where it is open, it is the innermost launcher's.
        if let Some(pmi) = pmi()? {
            if pmi.is_open() {
                return Ok(pmi);
            }
            return Ok(pmix()?.unwrap_or(pmi));
        }
        Ok(pmix()?.unwrap_or(Self::None))
    }

    fn is_open(&self) -> bool {
        match self {
            Self::Pmi2 { door: Door::Descriptor(fd), .. } => socket::is_socket(*fd),
            Self::Pmi1(Given { door: Door::Descriptor(fd), .. }) => socket::is_socket(*fd),
            _ => false,
        }
    }

    /// How it was recognized, for people.
    pub fn evidence(&self) -> String {
        match self {
            Self::Oshrun => super::launch::JOB.into(),
            Self::Pmix { .. } => "PMIX_NAMESPACE, PMIX_RANK".into(),
            Self::Pmi2 { door, .. } => door.to_string(),
            Self::Pmi1(given) => given.door.to_string(),
            Self::None => "no launcher's variables".into(),
        }
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn need(found: Option<Launcher>, wanted: &str, variables: &'static str) -> Result<Launcher, Fault> {
    found.ok_or_else(|| {
        Fault::from(Cause::Startup(format!("SHMEM_BOOTSTRAP={wanted}: the launcher has not set {variables}")))
    })
}

fn pmix() -> Result<Option<Launcher>, Fault> {
    if !is_set("PMIX_NAMESPACE") {
        return Ok(None);
    }
    Ok(number("PMIX_RANK")?.map(|rank| Launcher::Pmix { rank }))
}

/// Hydra and Slurm set the same three variables, and both answer to both versions, Hydra to version 2 in part. A process that
/// Slurm itself has started is the one that Slurm counts; one that Hydra started may have inherited Slurm's other variables.
fn pmi() -> Result<Option<Launcher>, Fault> {
    let is_slurms = is_set("PMI_JOBID")
        && number("PMI_RANK")?.is_some_and(|rank| number("SLURM_PROCID").is_ok_and(|task| task == Some(rank)))
        && std::env::var("SLURM_MPI_TYPE").map_or(true, |kind| kind == "pmi2");
    if is_slurms && let Some(found) = pmi2()? {
        return Ok(Some(found));
    }
    pmi1()
}

fn pmi2() -> Result<Option<Launcher>, Fault> {
    let Some(fd) = number("PMI_FD")? else { return Ok(None) };
    Ok(number("PMI_RANK")?.map(|rank| Launcher::Pmi2 { door: Door::Descriptor(fd as RawFd), rank }))
}

fn pmi1() -> Result<Option<Launcher>, Fault> {
    if let (Some(fd), Some(rank), Some(size)) = (number("PMI_FD")?, number("PMI_RANK")?, number("PMI_SIZE")?) {
        return Ok(Some(Launcher::Pmi1(Given { door: Door::Descriptor(fd as RawFd), rank: Some((rank, size)) })));
    }
    let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let port = text("PMI_PORT").zip(text("PMI_ID"));
    Ok(port.map(|(port, id)| Launcher::Pmi1(Given { door: Door::Port(port, id), rank: None })))
}
