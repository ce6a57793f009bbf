//! Traces: every recorded call as an event in a file of its thread.
//!
//! The file is mapped, so that an event is some stores into memory: nothing is buffered in the process, and what was
//! recorded outlives its death. Room is reserved on the disk before it is written to (a store into a mapped file on a
//! full disk would be a bus error). A file is bounded: when it is full its oldest chunk is written anew, and the events
//! that were in it are counted as dropped.
//!
//! | module | what it is |
//! |---|---|
//! | `format` | the file: header, chunks, records |
//! | `switch` | on and off; where the files are |
//! | `room`, `guard` | a file and its mapped, reserved part; what happens when that is cut |
//! | `check` | checksums |
//! | `writer` | encoding an event |
//! | `note` | records that are no calls |
//! | `fold` | short calls in a row as one record |
//! | `unreturned` | the call that a thread was in when its PE ended (feature `report`) |
//! | `read`, `keep` | the reading side; what is done with a trace at the end of its job (feature `report`) |

mod check;
mod fold;
pub mod format;
mod guard;
#[cfg(feature = "report")]
pub mod keep;
#[cfg(feature = "report")]
pub mod losses;
mod note;
#[cfg(feature = "report")]
pub mod read;
mod room;
mod site;
mod switch;
#[cfg(feature = "report")]
mod unreturned;
mod writer;

#[cfg(feature = "report")]
pub use unreturned::Unreturned;

pub use switch::{Config, Memory, attach, close, is_attached, is_on, marker, region_begin, region_end, set};

pub(crate) use fold::{Short, enter, rearm, settle, thread_ends, timed};
pub(crate) use switch::{lost, mask, takes_all};
pub(crate) use writer::event;
