//! Why something was not done.

use std::fmt;

/// Why something was not done. What is wrong in the program itself (an index, a PE of another team) panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no room in the symmetric heap for so many bytes.
    NoRoom {
        /// Bytes that were asked for.
        bytes: usize,
    },
    /// The library did not give the thread level that was asked for.
    Threads,
    /// No context could be made with these options.
    NoContext,
    /// The team could not be split in this way.
    NoTeam,
    /// The library is initialized already.
    Initialized,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoRoom { bytes } => {
                write!(f, "no room for {bytes} bytes in the symmetric heap (SHMEM_SYMMETRIC_SIZE, oshrun --heap)")
            }
            Error::Threads => f.write_str("the library does not support several threads here"),
            Error::NoContext => f.write_str("no communication context could be made"),
            Error::NoTeam => f.write_str("the team cannot be split in this way"),
            Error::Initialized => f.write_str("the library is initialized already"),
        }
    }
}

impl std::error::Error for Error {}
