//! What is written for a user, so that no other user can lead it elsewhere: profiles, traces, snapshots, reports.
//!
//! A directory of a job is made (or, empty and safe, taken) at the start of the job, by one process alone: the claim, a
//! file that is created with `O_EXCL`, decides between jobs that want the same name at once. Its files are opened
//! relative to the directory's descriptor, never through a symbolic link (`O_NOFOLLOW`), and never over what is there
//! (`O_EXCL`); what replaces an older version of itself is renamed within the directory.
//!
//! | module | what it is |
//! |---|---|
//! | `dir` | a job's directory |
//! | `file` | a single file that the user has named |
//! | `tree` | a directory that somebody else's library fills |
//! | `error` | what is refused, and why |
//! | `own_fd` | a descriptor that a program may have closed |
//! | `sys` | system calls |

use std::path::Path;

mod dir;
mod error;
#[cfg(feature = "report")]
mod file;
mod own_fd;
mod sys;
#[cfg(feature = "report")]
mod tree;

#[cfg(all(test, feature = "report"))]
mod tests;

pub use dir::{Claim, OutputDir, numbered};
pub use error::{Error, no_room};
#[cfg(feature = "report")]
pub use file::OutputFile;
pub(crate) use own_fd::OwnFd;
#[cfg(feature = "report")]
pub use tree::OutputTree;

/// The descriptor of this process that a path names.
pub fn descriptor(path: &Path) -> Option<i32> {
    match path.to_str()? {
        "/dev/stdout" => Some(libc::STDOUT_FILENO),
        "/dev/stderr" => Some(libc::STDERR_FILENO),
        name => ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|folder| name.strip_prefix(folder)?.parse().ok()),
    }
}
