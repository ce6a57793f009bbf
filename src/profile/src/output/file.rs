//! A single file that the user has named.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::sys::{self, FileStatus};

/// A file that is written as a whole: it gets its name in [`Self::finish`]. Until then, what had the name stays, and
/// where that is not reached nothing is left. Pipes and devices are written to directly.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    path: PathBuf,
    /// Its directory, its present name, the one that it gets.
    renamed: Option<(OwnedFd, OsString, OsString)>,
}

impl OutputFile {
    /// Prepares writing to a file.
    ///
    /// # Errors
    /// A symbolic link of another user; what the system refuses.
    pub fn create(path: &Path) -> Result<OutputFile, Error> {
        Self::prepare(path, 0)
    }

    /// As [`Self::create`], for those who cannot wait: a pipe that nobody reads is an error.
    ///
    /// # Errors
    /// As there, and that nobody reads the pipe.
    pub fn create_at_once(path: &Path) -> Result<OutputFile, Error> {
        Self::prepare(path, libc::O_NONBLOCK)
    }

    /// `flags` are further ones for what is written to directly.
    fn prepare(path: &Path, flags: libc::c_int) -> Result<OutputFile, Error> {
        if let Some(number) = super::descriptor(path) {
            // To open it anew would be to write over what is there; and a socket cannot be opened.
            let file = sys::duplicate(number).map_err(Error::io("write", path))?.into();
            return Ok(OutputFile { file, path: path.to_owned(), renamed: None });
        }
        let name = path.file_name().ok_or(io::ErrorKind::IsADirectory.into()).map_err(Error::io("write", path))?;
        let parent = path.parent().unwrap_or(Path::new(""));
        let dir = sys::open_dir(parent, 0).map_err(Error::io("write", path))?;
        match sys::facts_at(dir.as_fd(), name) {
            Ok(facts) if facts.is(libc::S_IFLNK) => Self::follow(path, &facts, flags),
            Ok(facts) if facts.is(libc::S_IFDIR) => Err(Error::io("write", path)(io::ErrorKind::IsADirectory.into())),
            Ok(facts) if !facts.is(libc::S_IFREG) => Self::open(path, flags | libc::O_NOFOLLOW),
            Ok(_) => Self::beside(path, dir, name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::beside(path, dir, name),
            Err(error) => Err(Error::io("write", path)(error)),
        }
    }

    /// What the user's own links, and those of the system, lead to.
    fn follow(path: &Path, link: &FileStatus, flags: libc::c_int) -> Result<OutputFile, Error> {
        if link.uid != sys::user() && link.uid != 0 {
            return Err(Error::ForeignLink { path: path.to_owned(), uid: link.uid });
        }
        let target = fs::canonicalize(path).map_err(Error::io("write", path))?;
        let mut file = Self::prepare(&target, flags)?;
        file.path = path.to_owned();
        Ok(file)
    }

    fn open(path: &Path, flags: libc::c_int) -> Result<OutputFile, Error> {
        let opened = OpenOptions::new().write(true).custom_flags(flags | libc::O_NOCTTY).open(path);
        let file = opened.map_err(Error::io("write", path))?;
        if flags & libc::O_NONBLOCK != 0 {
            // What is written later may wait for the reader.
            sys::set_blocking(file.as_fd()).map_err(Error::io("write", path))?;
        }
        Ok(OutputFile { file, path: path.to_owned(), renamed: None })
    }

    fn beside(path: &Path, dir: OwnedFd, name: &OsStr) -> Result<OutputFile, Error> {
        let mut new = OsString::from(".");
        new.push(name);
        new.push(format!(".new-{:016x}", sys::random()));
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
        let fd = sys::open_at(dir.as_fd(), &new, flags).map_err(Error::io("write", path))?;
        Ok(OutputFile { file: fd.into(), path: path.to_owned(), renamed: Some((dir, new, name.to_owned())) })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// What the system refuses; what had the name before stays.
    pub fn finish(mut self) -> Result<(), Error> {
        let Some((dir, from, to)) = self.renamed.take() else { return Ok(()) };
        sys::rename_at(dir.as_fd(), &from, &to).map_err(|error| {
            let _ = sys::unlink_at(dir.as_fd(), &from);
            Error::io("write", &self.path)(error)
        })
    }

    /// An error of writing, with the file's name.
    pub fn failed(path: &Path, error: io::Error) -> Error {
        Error::io("write", path)(error)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((dir, name, _)) = &self.renamed {
            let _ = sys::unlink_at(dir.as_fd(), name);
        }
    }
}
