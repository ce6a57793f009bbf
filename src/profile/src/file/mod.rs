//! The profile directory: what a job leaves behind.
//!
//! ```text
//! DIR/job.json        the job: one JSON object
//! DIR/pe-00000.prof   one binary file per PE
//! ```
//!
//! `job.json` has the members `format` (`"pellucid-profile"`), `version` (1), `program`, `arguments`, `directory`,
//! `host`, `library`, `job_id`, `step`, `launcher` (these may be missing), `pes`, `start_realtime_ns`, `wall_ns`,
//! `exit_status` (number or null) and `files`, an array of `{pe, file}`. PEs that never attached have no file. It is
//! written last: a directory without it was not finished.
//!
//! A PE file is little-endian and begins with the eight bytes `PELLPEPF` and a `u32` version (1). Sections follow, each
//! `u32` tag, `u32` length, payload, `u32` CRC-32 of tag, length and payload:
//!
//! | tag | payload |
//! |---|---|
//! | 1 | the PE: see `encode::pe` |
//! | 2 | one routine: see `encode::routine` |
//! | 3 | end: `u32` number of routine sections before it |
//! | 4 to 13 | costs, peers, objects, regions, call sites, markers, teams, synchronisations, nonblocking operations, contexts: see `tables` |
//! | 14 | hardware and software counters: see `counters` |
//! | 15 | numbers of the network: see `tables` |
//! | 16 | time denied to samples: see `encode::denied` |
//! | 17 | what the system gave: see `tables` |
//! | 18 | what lies between synchronisations: see `phases` |
//! | 19 | what the PE did over time: see `tables` |
//! | 20 | who ended waits: see `causes` |
//! | 21 | distributed locks: see `locks` |
//! | 22 | words that short calls go to: see `lines` |
//! | 23 | algorithms of collectives: see `tables` |
//! | 24 | `u64` events that its trace does not have |
//! | 25 | build ids of the loaded objects: see `tables` |
//! | 26 | `u64` where the first region or marker that could not be kept was called from |
//! | 27 | how fast puts, gets and atomics were: see `rates` |
//! | 28 | who called the functions that call the library: see `callers` |
//! | 29 to 33 | requests, errors, run queues, costs of counting, quotas: see `tables` |
//! | 34 | calls that had not returned: see `unfinished` |
//! | 35 | `u64` nanoseconds from which on all synchronisations are kept |
//! | 36 | a list of `u64` addresses that the callers of synchronisations return to, in their order |
//! | 37 | `u64` nanoseconds in which threads were on no core while they waited |
//! | 38 | what of phases was in waits and locks: see `phases` |
//!
//! A reader skips sections with other tags. Text is a `u32` length and UTF-8. A damaged or incomplete file is reported
//! with its name and the offset; what was read before is kept, as are the other files. Each file is written under
//! another name and then renamed: a snapshot of a running job can be read while the next one is written.

mod callers;
mod causes;
mod counters;
pub(crate) mod cursor;
mod decode;
#[cfg(feature = "report")]
mod directory;
mod encode;
mod error;
mod lines;
mod locks;
mod part;
mod phases;
mod rates;
#[cfg(feature = "report")]
mod source;
mod tables;
mod unfinished;
mod write;

#[cfg(all(test, feature = "report"))]
mod tests;

#[cfg(feature = "report")]
pub use directory::{Loaded, read};
pub use error::ReadError;
pub use part::{decode_pe, encode_pe};
#[cfg(feature = "report")]
pub use source::Directory;
pub use write::{write, write_job, write_pes};

/// First eight bytes of a PE file.
const MAGIC: [u8; 8] = *b"PELLPEPF";
/// Version of the directory and its files.
pub const VERSION: u32 = 1;
/// Most PEs that a profile is believed to be of: reports keep some bytes for each, and a damaged number could be any.
const MOST_PES: u32 = 1 << 24;
/// `format` in `job.json`.
const FORMAT: &str = "pellucid-profile";
/// Name of the job's file.
const JOB_FILE: &str = "job.json";

const TAG_PE: u32 = 1;
const TAG_ROUTINE: u32 = 2;
const TAG_END: u32 = 3;
/// Time denied to samples, where there is any.
const TAG_DENIED: u32 = 16;
