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
//! | 16 | time denied to samples: see `encode::denied` |
//! | 64 | the job that it is of: text, its `job_id`; left out where that is not known |
//! | others | see `sections`: a row each |
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
mod meetings;
mod part;
mod phases;
mod process;
mod program;
mod rates;
mod sections;
#[cfg(feature = "report")]
mod source;
mod traffic;
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
/// `format` in `job.json`.
const FORMAT: &str = "pellucid-profile";
/// Name of the job's file.
const JOB_FILE: &str = "job.json";

const TAG_PE: u32 = 1;
const TAG_ROUTINE: u32 = 2;
const TAG_END: u32 = 3;
/// The job that a file is of.
const TAG_JOB: u32 = 64;
/// Time denied to samples, where there is any.
const TAG_DENIED: u32 = 16;
