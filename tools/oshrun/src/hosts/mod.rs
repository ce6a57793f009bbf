//! A job on several hosts.
//!
//! The `oshrun` that the user starts is the head. On each host it starts, through an agent such as ssh, a daemon:
//! `oshrun --daemon`, which looks after the PEs of its host as the head does on one host. Daemons connect back to the
//! head; what they do is told by messages. What PEs write comes through the agent.
//!
//! | module | what it is |
//! |---|---|
//! | [`list`] | hosts as the user names them, and which PEs they get |
//! | [`allocation`] | hosts that a batch system has given |
//! | [`info`] | `--info` |
//! | [`pack`], [`message`], [`link`] | messages and the connection that carries them |
//! | [`agent`] | starting a daemon |
//! | [`addresses`], [`listeners`] | where daemons connect |
//! | [`strangers`] | who has connected and has not said who it is |
//! | [`head`] | the head's loop |
//! | [`daemon`] | a daemon up to where its PEs run, and after they have ended |
//! | [`key_values`] | the key-value space of the PEs' wire-up, in a daemon and in the head |
//! | [`agreements`] | what PEs agree on that go on without others, in the head |
//! | [`clock`] | how far the hosts' clocks are apart |
//! | [`gather`], [`snapshots`] | bringing profiles and traces to the head |

pub mod addresses;
pub mod agent;
pub mod agreements;
pub mod allocation;
pub mod clock;
pub mod daemon;
pub mod gather;
pub mod head;
pub mod info;
pub mod key_values;
pub mod link;
pub mod list;
pub mod listeners;
pub mod message;
pub mod pack;
pub mod snapshots;
pub mod strangers;
