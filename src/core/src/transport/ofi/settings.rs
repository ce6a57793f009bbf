//! What is asked of a fabric when it is opened.

use crate::transport::Atomics;

/// How the progress thread waits for something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sleep {
    /// On the descriptor of the completion queue.
    #[default]
    Descriptor,
    /// It naps, ever longer, up to a millisecond: for providers that have none, and for tests.
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
    pub oversubscribed: bool,
    /// What has an event is handed to the provider by the progress thread, so that the program does not spend its time
    /// there.
    pub posts_beside: bool,
    /// How the progress thread waits for something to do.
    pub sleep: Sleep,
    /// Do without completions that say that data have arrived, as with a provider that lacks them (for tests).
    pub without_delivery: bool,
    /// Do without the order of messages behind writes, as with a provider that lacks it (for tests).
    pub without_send_after_write: bool,
    /// Register as network cards ask for it: keys of the provider's, virtual addresses, local memory as well (for
    /// tests).
    pub as_cards_do: bool,
}
