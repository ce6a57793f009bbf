//! A job on several hosts.
//!
//! The `oshrun` that the user starts is the root. On each host it starts, through an agent such as ssh, a part: `oshrun
//! --part`, which looks after the PEs of its host as the root does on one host. Parts connect back to the root; what they
//! do is told by messages. What PEs write comes through the agent.
//!
//! | module | what it is |
//! |---|---|
//! | [`list`] | hosts as the user names them, and which PEs they get |
//! | [`allocation`] | hosts that a batch system has given |
//! | [`info`] | `--info` |
//! | [`pack`], [`message`], [`link`] | messages and the connection that carries them |
//! | [`agent`] | starting a part |
//! | [`listeners`] | where parts connect |
//! | [`root`] | the root's loop |
//! | [`part`] | a part up to where its PEs run, and after they have ended |
//! | [`cards`] | the key-value space of the PEs' wire-up, in a part and in the root |
//! | [`clock`] | how far the hosts' clocks are apart |
//! | [`gather`], [`snapshots`] | bringing profiles and traces to the root |

pub mod agent;
pub mod allocation;
pub mod cards;
pub mod clock;
pub mod gather;
pub mod info;
pub mod link;
pub mod list;
pub mod listeners;
pub mod message;
pub mod pack;
pub mod part;
pub mod root;
pub mod snapshots;
