//! What is asked of a fabric when it is opened.

use crate::base::Fault;
use std::fmt;

/// Who carries out atomic operations on a word: one of them for all of a job, since the two do not exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Atomics {
    /// The CPU of the PE whose word it is.
    #[default]
    Cpu,
    /// The provider: for jobs in which nobody uses CPU atomics on the same words.
    Nic,
}

/// How the progress thread waits for something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sleep {
    /// On the sockets where the provider has some (`tcp`), which costs operations of the program nothing; otherwise on the descriptor
    /// of the completion queue.
    #[default]
    Best,
    /// On the descriptor of the completion queue. `tcp` is 2 to 3 microseconds slower an operation when the queue has one.
    Descriptor,
    /// It naps, ever longer, up to a millisecond: for providers that have neither, and for tests.
    Naps,
}

/// Settings of a fabric.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// A provider by name (`tcp` stands for `tcp;ofi_rxm` too); the best one otherwise.
    pub provider: Option<String>,
    /// Interface, adapter or address to use.
    pub interface: Option<String>,
    /// The libfabric to open; the one that the loader finds otherwise.
    pub library: Option<String>,
    /// Who carries out atomics.
    pub atomics: Atomics,
    /// Take the loopback interface where there is no other: the job is on one host.
    pub loopback: bool,
    /// More PEs than cores on this host: waits give the core away at once.
    pub crowded: bool,
    /// How the progress thread waits for something to do.
    pub sleep: Sleep,
    /// Do without completions that say that data have arrived, as with a provider that lacks them (for tests).
    pub without_delivery: bool,
    /// Register as network cards ask for it: keys of the provider's, virtual addresses, local memory as well (for tests).
    pub as_cards_do: bool,
}

/// Looks up what the fabric has to know of another PE.
pub struct Directory {
    /// The card that the PE published.
    pub card: Box<dyn Fn(u32) -> Result<Vec<u8>, Fault> + Send + Sync>,
    /// Name of its host, for messages.
    pub host: Box<dyn Fn(u32) -> String + Send + Sync>,
    /// Is told by the progress thread that a host is lost, and may end the process.
    pub lost: Box<dyn Fn(Fault) + Send + Sync>,
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Directory")
    }
}

/// What a fabric says about itself: subject, value, and why it is so.
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
