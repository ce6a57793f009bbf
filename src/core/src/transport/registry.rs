//! The transports: a row each. To add one, write a folder beside `shm` and `ofi` and put its row here; start-up, the
//! values of `SHMEM_TRANSPORT`, the environment page and the suite that every transport has to pass
//! (`src/core/tests/transports`) take it from the row.
#![allow(unsafe_code)]

use super::{OpenRequest, Transport, ofi, shm};
use crate::base::{Cause, Fault, env};

/// A transport.
#[derive(Debug)]
pub struct Row {
    /// Its name, as messages and `SHMEM_TRANSPORT` have it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// Whether this machine has what it needs; an error says what is missing.
    pub probe: fn() -> Result<(), String>,
    /// Whom it reaches, and how it is opened.
    pub open: Open,
    /// What it does at the end of the process, after all exit handlers.
    pub leave: fn(),
    /// Its counters: name and meaning.
    pub counters: fn() -> Vec<(&'static str, &'static str)>,
}

/// Whom a transport reaches, and how it is opened.
///
/// # Safety
/// Of both functions: the segments of the request are mapped as long as the transport lives, and so is what its mapping
/// names; whoever else uses them expects others to write there at any time.
#[derive(Debug, Clone, Copy)]
pub enum Open {
    /// The PEs of this host. Routines inline its loads and stores, and messages its rings, since a call through
    /// `dyn Transport` costs more than a small put: so callers hold it by its type, which is [`WithinHost`], and there
    /// is one such row. What is no part of that goes through the trait.
    WithinHost(unsafe fn(OpenRequest) -> WithinHost),
    /// The PEs of all hosts, through the trait only.
    BetweenHosts(unsafe fn(OpenRequest) -> Result<Box<dyn Transport>, Fault>),
}

/// The type of the transport within a host.
pub type WithinHost = shm::SharedMemory;

/// All of them. Of those between hosts, a job takes the first one that the machine has what it needs for, or the one
/// that `SHMEM_TRANSPORT` names.
pub const ROWS: &[Row] = &[shm::ROW, ofi::ROW];

/// Bytes that active messages take of the memory that the PEs of a host share, a PE.
pub const LANES: usize = shm::LANES;

/// The row within a host.
const fn row_within_host() -> (&'static Row, unsafe fn(OpenRequest) -> WithinHost) {
    let mut at = 0;
    while at < ROWS.len() {
        if let Open::WithinHost(open) = ROWS[at].open {
            return (&ROWS[at], open);
        }
        at += 1;
    }
    panic!("no row reaches the PEs of a host")
}

const fn rows_between_hosts() -> usize {
    let (mut at, mut found) = (0, 0);
    while at < ROWS.len() {
        found += matches!(ROWS[at].open, Open::BetweenHosts(_)) as usize;
        at += 1;
    }
    found
}

/// Names of the transports between hosts, in their order: names alone, so that tools can have them without the
/// transports.
pub const NAMES_BETWEEN_HOSTS: [&str; rows_between_hosts()] = {
    let (mut names, mut at, mut found) = ([""; rows_between_hosts()], 0, 0);
    while at < ROWS.len() {
        if let Open::BetweenHosts(_) = ROWS[at].open {
            names[found] = ROWS[at].name;
            found += 1;
        }
        at += 1;
    }
    names
};

const WITHIN_HOST: (&Row, unsafe fn(OpenRequest) -> WithinHost) = row_within_host();

/// Opens what reaches the PEs of this host.
///
/// # Safety
/// As [`Open`].
pub unsafe fn within_host(request: OpenRequest) -> WithinHost {
    // SAFETY: the caller's.
    unsafe { (WITHIN_HOST.1)(request) }
}

/// Name of the transport within a host.
pub fn name_within_host() -> &'static str {
    WITHIN_HOST.0.name
}

/// Between which PEs a job uses what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Memory within a host, and between hosts the first transport that the machine has what it needs for.
    Auto,
    /// The transport of this name between all PEs, those of a host as well.
    Everywhere(&'static str),
}

/// The transports that `SHMEM_TRANSPORT` can name, for people: a line each.
pub fn about() -> String {
    let rows = ROWS.iter().filter(|row| matches!(row.open, Open::BetweenHosts(_)));
    let lines: String = rows.map(|row| format!("  {}: {}\n", row.name, row.doc)).collect();
    format!("Transports between hosts, for SHMEM_TRANSPORT:\n{lines}")
}

impl Wanted {
    /// Whether even PEs of one host reach each other through the network.
    pub fn is_network_only(self) -> bool {
        matches!(self, Self::Everywhere(_))
    }
}

/// What a value of `SHMEM_TRANSPORT` asks for; `None` where it is none.
pub fn parse(value: &str) -> Option<Wanted> {
    if value.eq_ignore_ascii_case("auto") {
        return Some(Wanted::Auto);
    }
    NAMES_BETWEEN_HOSTS.into_iter().find(|name| value.eq_ignore_ascii_case(name)).map(Wanted::Everywhere)
}

/// What `SHMEM_TRANSPORT` asks for.
pub fn wanted() -> Result<Wanted, Fault> {
    let Some((name, value)) = env::lookup("TRANSPORT") else { return Ok(Wanted::Auto) };
    parse(&value).ok_or_else(|| {
        let names = NAMES_BETWEEN_HOSTS.join(" or ");
        Fault::from(Cause::Environment { name, value, reason: format!("expected auto or {names}").into() })
    })
}

/// Opens what reaches the PEs of other hosts, and gives its name.
///
/// Fault: no transport finds what it needs here, or opening the one that does fails.
///
/// # Safety
/// As [`Open`].
pub unsafe fn open_between_hosts(
    wanted: Wanted,
    request: OpenRequest,
) -> Result<(&'static str, Box<dyn Transport>), Fault> {
    let mut missing = Vec::new();
    for row in ROWS.iter().filter(|row| matches!(wanted, Wanted::Auto) || wanted == Wanted::Everywhere(row.name)) {
        let Open::BetweenHosts(open) = row.open else { continue };
        match (row.probe)() {
            // SAFETY: the caller's.
            Ok(()) => return Ok((row.name, unsafe { open(request)? })),
            Err(why) => missing.push(format!("{}: {why}", row.name)),
        }
    }
    Err(Fault::from(Cause::Network(format!("PEs of other hosts cannot be reached: {}", missing.join("; ")))))
}

/// At the end of the process, after all exit handlers.
pub fn leave() {
    ROWS.iter().for_each(|row| (row.leave)());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart_and_say_what_they_are() {
        for (i, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..i].iter().all(|other| other.name != row.name), "{} twice", row.name);
            assert!(row.doc.ends_with('.') && row.doc.len() > 20, "{}", row.name);
            assert!(
                (row.counters)().iter().all(|(name, doc)| !name.contains(' ') && doc.ends_with('.')),
                "{}",
                row.name
            );
        }
        assert_eq!(ROWS.iter().filter(|row| matches!(row.open, Open::WithinHost(_))).count(), 1);
        assert!(!NAMES_BETWEEN_HOSTS.is_empty());
    }

    #[test]
    fn a_value_names_a_row_between_hosts() {
        assert_eq!(parse("Auto"), Some(Wanted::Auto));
        for name in NAMES_BETWEEN_HOSTS {
            assert_eq!(parse(&name.to_uppercase()), Some(Wanted::Everywhere(name)));
        }
        assert_eq!((parse(name_within_host()), parse("tcp"), parse("")), (None, None, None));
    }
}
