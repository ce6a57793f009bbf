//! A directory that the user has named and that somebody else's library fills.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::error::Error;
use super::sys;

/// The tree, in the directory where it is made.
const TREE: &str = "tree";

/// A directory that is written as a whole: it gets its name in [`Self::finish`]. Until then it is made in a directory
/// that only this user can enter, beside the place where it is to be. Where its end is not reached nothing is left.
#[derive(Debug)]
pub struct OutputTree {
    path: PathBuf,
    parent: OwnedFd,
    name: OsString,
    /// The directory where it is made: where that is, and the directory itself.
    made_in: PathBuf,
    fd: OwnedFd,
}

impl OutputTree {
    /// Prepares making a directory of this name.
    ///
    /// # Errors
    /// `AlreadyExists` for whatever has the name; what the system refuses.
    pub fn create(path: &Path) -> Result<OutputTree, Error> {
        let failed = || Error::io("make", path);
        let name = path.file_name().ok_or(io::ErrorKind::AlreadyExists.into()).map_err(failed())?;
        let parent_path = path.parent().unwrap_or(Path::new(""));
        let parent = sys::open_dir(parent_path, 0).map_err(Error::io("open", parent_path))?;
        refuse_existing(&parent, name).map_err(failed())?;
        let mut new = OsString::from(".");
        new.push(name);
        new.push(format!(".new-{:016x}", sys::random()));
        let made_in = parent_path.join(new);
        sys::make_dir(&made_in, 0o700).map_err(failed())?;
        let fd = sys::open_dir(&made_in, libc::O_NOFOLLOW).map_err(failed())?;
        // Somebody who can write to the parent may have put another one there.
        let facts = sys::facts(fd.as_fd()).map_err(failed())?;
        if facts.uid != sys::user() {
            return Err(Error::Owner { path: made_in, uid: facts.uid });
        }
        Ok(OutputTree { path: path.to_owned(), parent, name: name.to_owned(), made_in, fd })
    }

    /// Where to make it: a path that leads through the descriptor of the directory, wherever that is moved.
    pub fn place(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{TREE}", self.fd.as_raw_fd()))
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// `AlreadyExists` for whatever has the name by now; what the system refuses.
    pub fn finish(self) -> Result<(), Error> {
        let renamed = refuse_existing(&self.parent, &self.name)
            .and_then(|()| sys::move_at(self.fd.as_fd(), OsStr::new(TREE), self.parent.as_fd(), &self.name));
        renamed.map_err(Error::io("make", &self.path))
    }
}

impl Drop for OutputTree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.place());
        let _ = fs::remove_dir(&self.made_in);
    }
}

fn refuse_existing(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match sys::facts_at(parent.as_fd(), name) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
