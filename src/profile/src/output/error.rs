//! What is refused, and why.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::text::visible;

/// Why a directory or a file is not written to. Every message names it.
#[derive(Debug)]
pub enum Error {
    /// The directory belongs to another user.
    Owner {
        /// The directory.
        path: PathBuf,
        /// Whose it is.
        uid: u32,
    },
    /// Others than its owner can write to the directory.
    OpenToOthers {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// Its group, where that is who can write.
        group: Option<u32>,
    },
    /// The file is a symbolic link that another user has made.
    ForeignLink {
        /// The link.
        path: PathBuf,
        /// Whose it is.
        uid: u32,
    },
    /// The directory is not the one that the job has taken.
    NotClaimed {
        /// The directory.
        path: PathBuf,
    },
    /// The system refused.
    Io {
        /// What could not be done: `make`, `open`, `write`.
        what: &'static str,
        /// The directory or file.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
}

impl Error {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |error| Error::Io { what, path: path.to_owned(), error }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &Path| visible(&path.to_string_lossy());
        match self {
            Error::Owner { path, uid } => {
                write!(f, "{} belongs to user {uid}, who could change what is written there: ", shown(path))?;
                f.write_str("name another directory")
            }
            Error::OpenToOthers { path, mode, group } => {
                let (who, bit) = match group {
                    Some(gid) => (format!("group {gid}"), 'g'),
                    None => ("every user".to_owned(), 'o'),
                };
                let (shown, mode) = (shown(path), mode & 0o7777);
                write!(f, "{shown} can be written to by {who} (mode {mode:04o}), who could put files there: ")?;
                write!(f, "chmod {bit}-w it, or name another directory")
            }
            Error::ForeignLink { path, uid } => {
                write!(f, "{} is a symbolic link of user {uid}: it is not followed", shown(path))
            }
            Error::NotClaimed { path } => {
                write!(f, "{} is not the directory that this job has made", shown(path))
            }
            Error::Io { what, path, error } => write!(f, "cannot {what} {}: {}", shown(path), no_room(error)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// What the system answered, with a plain word for what has no room.
pub fn no_room(error: &io::Error) -> String {
    match error.raw_os_error() {
        // Of a pipe that was opened so as not to wait for a reader, and of sockets.
        Some(libc::ENXIO) => format!("nobody reads it: {error}"),
        Some(libc::ENOSPC) => format!("the disk is full: {error}"),
        Some(libc::EDQUOT) => format!("the disk quota is used up: {error}"),
        Some(libc::EFBIG) => format!("the limit on file size is reached (ulimit -f): {error}"),
        _ => error.to_string(),
    }
}
