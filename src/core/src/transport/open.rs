//! What a transport is told when it is opened, and what it tells of itself.

use super::SegmentId;
use super::shm::LaneMemory;
use crate::base::Fault;
use std::fmt;

/// Who carries out atomic operations on a word: one of them for all of a job, since the two do not exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Atomics {
    /// The CPU of the PE whose word it is.
    #[default]
    Cpu,
    /// The network card: for jobs in which nobody uses CPU atomics on the same words.
    Nic,
}

/// Takes a PE that was not reached, and why.
pub type Unreached = dyn Fn(u32, &str) -> bool + Send + Sync;

/// Looks up what a transport has to know of another PE.
pub struct Directory {
    /// The endpoint address that the PE published.
    pub address: Box<dyn Fn(u32) -> Result<Vec<u8>, Fault> + Send + Sync>,
    /// Name of its host, for messages.
    pub host: Box<dyn Fn(u32) -> String + Send + Sync>,
    /// Answers a question of another PE ([`super::Transport::ask`]), in whatever thread serves; calls nothing of the
    /// transport's.
    pub answer: Box<dyn Fn([u64; 3]) -> u64 + Send + Sync>,
    /// Tells the user something that is no fault, in a line.
    pub note: Box<dyn Fn(&str) + Send + Sync>,
    /// Is told by a thread of the transport that a host is lost, and may end the process.
    pub lost: Box<dyn Fn(Fault) + Send + Sync>,
    /// Is told, in a job that goes on without PEs that are lost, that a PE was not reached for long, and why. False: no
    /// launcher can be told.
    pub unreached: Box<Unreached>,
}

impl Directory {
    /// Of a transport that looks nobody up.
    pub fn nobody() -> Self {
        Self {
            address: Box::new(|_| Ok(Vec::new())),
            host: Box::new(|_| String::new()),
            answer: Box::new(|_| 0),
            note: Box::new(|_| ()),
            lost: Box::new(|_| ()),
            unreached: Box::new(|_, _| false),
        }
    }
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Directory")
    }
}

/// Where the segments of the PEs of this host are mapped in this process: gives the first address of a PE's segment and
/// its length in bytes; `None` where there is none.
pub type Mapping = Box<dyn Fn(i32, SegmentId) -> Option<(usize, usize)> + Send + Sync>;

/// What a transport is opened with. The segments stay mapped as long as it lives, and whoever else uses them expects
/// others to write there at any time.
pub struct OpenRequest {
    /// World number of this PE.
    pub pe: u32,
    /// PEs of the job.
    pub npes: u32,
    /// This PE's segments: number, first address, bytes (which may be 0).
    pub segments: Vec<(SegmentId, usize, usize)>,
    /// Who carries out atomics.
    pub atomics: Atomics,
    /// The job is on one host: its loopback interface reaches everybody.
    pub one_host: bool,
    /// More PEs than cores on this host: waits give the core away at once.
    pub oversubscribed: bool,
    /// Its thread has a core to hand transfers to the network while the program computes.
    pub posts_beside: bool,
    /// How it looks others up.
    pub directory: Directory,
    /// What it may reach by plain stores.
    pub mapping: Mapping,
    /// The rings of active messages of the PEs that it may reach so.
    pub lanes: Option<LaneMemory>,
}

impl OpenRequest {
    /// First address and bytes of a segment of this PE; nothing where it was not given.
    pub fn segment(&self, id: SegmentId) -> (usize, usize) {
        self.segments.iter().find(|segment| segment.0 == id).map_or((0, 0), |(_, base, len)| (*base, *len))
    }
}

impl fmt::Debug for OpenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenRequest").field("pe", &self.pe).field("npes", &self.npes).finish_non_exhaustive()
    }
}

/// What a transport says about itself: subject, value, and why it is so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// In the order in which they are shown.
    pub rows: Vec<(&'static str, String, String)>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (subject, value, why) in &self.rows {
            writeln!(f, "  {subject}: {value}{}", if why.is_empty() { String::new() } else { format!(" ({why})") })?;
        }
        Ok(())
    }
}
