//! What can be wrong with a profile directory.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::text::{visible, visible_path};

/// Why a profile, or a part of it, could not be read. Every message names the file.
#[derive(Debug)]
pub enum ReadError {
    /// The directory does not exist.
    Missing(PathBuf),
    /// The path is not a directory.
    NotADirectory(PathBuf),
    /// The directory has no profile in it.
    NotAProfile(PathBuf),
    /// The directory has no profile in it, and its job has not let go of it.
    Unwritten(PathBuf),
    /// The directory has no trace in it.
    NotATrace(PathBuf),
    /// The system refused.
    Io(PathBuf, io::Error),
    /// Written by another version.
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version this build reads.
        expected: u32,
    },
    /// The file ends too early.
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where it ends, in bytes.
        offset: u64,
        /// What should be there.
        wanted: &'static str,
    },
    /// Bytes that are not what was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first of them, and the first behind them.
        range: std::ops::Range<u64>,
        /// How that is known, and what it means.
        what: &'static str,
    },
    /// The contents make no sense.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where, in bytes.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Missing(path) => write!(f, "{}: no such directory", visible_path(path)),
            ReadError::NotADirectory(path) => {
                write!(
                    f,
                    "{}: not a directory; a profile is the directory that `oshrun --profile` writes",
                    visible_path(path)
                )
            }
            ReadError::NotAProfile(path) => write!(
                f,
                "{}: not a profile: it has neither job.json nor pe-*.prof; `oshrun --profile` writes such a directory",
                visible_path(path)
            ),
            ReadError::Unwritten(path) => write!(
                f,
                "{}: there is no profile in it: its job still runs (`oshprof top` shows it), or oshrun was killed \
                 before it wrote one",
                visible_path(path)
            ),
            ReadError::NotATrace(path) => write!(
                f,
                "{}: not a trace: it has no pe-*.trace; `oshrun --trace` writes such a directory",
                visible_path(path)
            ),
            ReadError::Io(path, error) => write!(f, "{}: {error}", visible_path(path)),
            ReadError::Version { path, found, expected } => {
                write!(
                    f,
                    "{}: written by version {found} of the format, this oshprof reads version {expected}",
                    visible_path(path)
                )
            }
            ReadError::Truncated { path, offset, wanted } => {
                write!(f, "{}: truncated at offset {offset}, where {wanted} should be", visible_path(path))
            }
            ReadError::Damaged { path, range, what } => {
                let (begin, end) = (range.start, range.end);
                write!(f, "{}: damaged between offset {begin} and {end}: {what}", visible_path(path))
            }
            ReadError::Corrupt { path, offset, what } => {
                write!(f, "{}: corrupt at offset {offset}: {}", visible_path(path), visible(what))
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
