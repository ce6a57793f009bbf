//! The transports: a row each. To add one, write a folder beside `shm` and `ofi` and put its row here; start-up, the
//! environment page and the suite that every transport has to pass (`tests/transports`) take it from the row.
#![allow(unsafe_code)]

use super::{OpenRequest, Transport, ofi, shm};
use crate::base::{Cause, Fault};

/// A transport.
#[derive(Debug)]
pub struct Row {
    /// Its name, as messages have it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// It reaches PEs of other hosts; otherwise those of this host only.
    pub between_hosts: bool,
    /// Whether this machine has what it needs; an error says what is missing.
    pub probe: fn() -> Result<(), String>,
    /// Opens it.
    ///
    /// # Safety
    /// The segments of the request are mapped as long as the transport lives, and so is what its mapping names; whoever
    /// else uses them expects others to write there at any time.
    pub open: unsafe fn(OpenRequest) -> Result<Box<dyn Transport>, Fault>,
    /// What it does at the end of the process, after all exit handlers.
    pub leave: fn(),
    /// Its counters: name and meaning.
    pub counters: fn() -> Vec<(&'static str, &'static str)>,
}

/// All of them. Of those between hosts, a job takes the first one that the machine has what it needs for.
pub const ROWS: &[Row] = &[shm::ROW, ofi::ROW];

/// Bytes that active messages take of the memory that the PEs of a host share, a PE.
pub const LANES: usize = shm::LANES;

/// Opens what reaches the PEs of this host.
///
/// # Safety
/// As [`Row::open`].
pub unsafe fn within_host(request: OpenRequest) -> shm::SharedMemory {
    // SAFETY: the caller's.
    unsafe { shm::SharedMemory::new(request) }
}

/// Opens what reaches the PEs of other hosts.
///
/// Fault: no transport finds what it needs here, or opening the one that does fails.
///
/// # Safety
/// As [`Row::open`].
pub unsafe fn open_between_hosts(request: OpenRequest) -> Result<Box<dyn Transport>, Fault> {
    let mut missing = Vec::new();
    for row in ROWS.iter().filter(|row| row.between_hosts) {
        match (row.probe)() {
            // SAFETY: the caller's.
            Ok(()) => return unsafe { (row.open)(request) },
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
        assert!(ROWS.iter().any(|row| row.between_hosts) && ROWS.iter().any(|row| !row.between_hosts));
    }
}
