//! The directory of a job's profile or trace.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::error::Error;
use super::own_fd::OwnFd;
use super::sys::{self, FileStatus};

/// Directories of one name that are tried before giving up.
const TRIES: u32 = 100_000;
/// The file that says whose job has the directory, as long as that runs.
const CLAIM: &str = ".pellucid-job";
/// Mode of what is made, less the umask: that every user can write is never wanted.
const MODE: libc::mode_t = 0o775;

/// By what the processes of a job know its directory: which of `DIR`, `DIR.2`, ... it is, and the contents of its
/// claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// 1: `DIR` itself.
    pub number: u32,
    /// Never 0.
    pub token: u64,
}

/// A directory that files are written to.
#[derive(Debug)]
pub struct OutputDir {
    path: PathBuf,
    fd: OwnFd,
    claim: Claim,
    /// This process has taken it, and lets it go.
    holds: bool,
    made: bool,
}

/// `DIR`, `DIR.2`, `DIR.3` ...
pub fn numbered(wanted: &Path, number: u32) -> PathBuf {
    if number <= 1 {
        return wanted.to_owned();
    }
    let mut name = wanted.as_os_str().to_os_string();
    name.push(format!(".{number}"));
    name.into()
}

impl OutputDir {
    /// Makes a directory of this name, or, where there is something of that name already, `NAME.2`, `NAME.3` and so on.
    /// An empty directory is taken as it is, if nobody else can write to it. No other job gets the same one.
    ///
    /// # Errors
    /// What cannot be made or written to, and an empty directory that is another user's or open to others.
    pub fn take(wanted: &Path) -> Result<OutputDir, Error> {
        Self::take_with(wanted, MODE)
    }

    /// As [`Self::take`], for this user's eyes only.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_private(wanted: &Path) -> Result<OutputDir, Error> {
        Self::take_with(wanted, 0o700)
    }

    fn take_with(wanted: &Path, mode: libc::mode_t) -> Result<OutputDir, Error> {
        if let Some(parent) = wanted.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(Error::io("make", parent))?;
        }
        for number in 1..TRIES {
            let path = numbered(wanted, number);
            let taken = match sys::make_dir(&path, mode) {
                Ok(()) => Self::take_made(path, number)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match number {
                    1 => Self::take_empty(path)?,
                    _ => None,
                },
                Err(error) => return Err(Error::io("make", &path)(error)),
            };
            if let Some(taken) = taken {
                return Ok(taken);
            }
        }
        Err(Error::io("make", wanted)(io::ErrorKind::AlreadyExists.into()))
    }

    /// A directory that was just made. `None`: another job was quicker.
    fn take_made(path: PathBuf, number: u32) -> Result<Option<OutputDir>, Error> {
        let fd = sys::open_dir(&path, libc::O_NOFOLLOW).map_err(Error::io("open", &path))?;
        Self::hold(path, fd, number, true)
    }

    /// What is there already. `None`: it is no empty directory, or another job was quicker.
    fn take_empty(path: PathBuf) -> Result<Option<OutputDir>, Error> {
        let Ok(fd) = sys::open_dir(&path, 0) else { return Ok(None) };
        if sys::names(fd.as_fd()).map_err(Error::io("read", &path))?.is_empty() {
            return Self::hold(path, fd, 1, false);
        }
        Ok(None)
    }

    fn hold(path: PathBuf, fd: OwnedFd, number: u32, made: bool) -> Result<Option<OutputDir>, Error> {
        let fd = OwnFd::new(fd).map_err(Error::io("open", &path))?;
        let claim = Claim { number, token: sys::random() };
        let mut dir = OutputDir { path, fd, claim, holds: false, made };
        let mut file = match dir.create(CLAIM) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => {
                let foreign = dir.facts().uid != sys::user();
                let refused = if foreign && !made {
                    Error::Owner { path: dir.path.clone(), uid: dir.facts().uid }
                } else {
                    Error::io("write to", &dir.path)(error)
                };
                return Err(refused);
            }
        };
        dir.holds = true;
        // Where the file system shows other users than those of this system, a new file shows whom it takes us for.
        let own = sys::facts(file.as_fd()).map_err(Error::io("open", &dir.path))?.uid;
        if dir.facts().uid != own && dir.facts().uid != sys::user() {
            return Err(Error::Owner { path: dir.path.clone(), uid: dir.facts().uid });
        }
        if !made {
            check_others(&dir.path, dir.facts())?;
        }
        writeln!(file, "{:016x}", claim.token).map_err(Error::io("write to", &dir.path))?;
        // Between the look and the claim another job may have come and gone.
        let names = dir.names().map_err(Error::io("read", &dir.path))?;
        Ok((names == [CLAIM]).then_some(dir))
    }

    /// The directory that another process of this job has taken, by its name.
    ///
    /// # Errors
    /// A directory that cannot be opened, or that is not the one.
    pub fn join(path: &Path, claim: Claim) -> Result<OutputDir, Error> {
        let fd = sys::open_dir(path, 0).map_err(Error::io("open", path))?;
        let fd = OwnFd::new(fd).map_err(Error::io("open", path))?;
        let dir = OutputDir { path: path.to_owned(), fd, claim, holds: false, made: false };
        let not_ours = || Error::NotClaimed { path: path.to_owned() };
        let mut found = String::new();
        let file = dir.open(CLAIM, false).map_err(|_| not_ours())?;
        file.take(64).read_to_string(&mut found).map_err(|_| not_ours())?;
        let is_it = u64::from_str_radix(found.trim(), 16).is_ok_and(|token| token == claim.token && token != 0);
        if is_it { Ok(dir) } else { Err(not_ours()) }
    }

    /// Whether a job that runs has this directory.
    pub fn is_claimed(path: &Path) -> bool {
        fs::symlink_metadata(path.join(CLAIM)).is_ok()
    }

    /// A directory of the user's own, made where it is missing, whatever is in it already. It is nobody's by a claim.
    ///
    /// # Errors
    /// What cannot be made or opened; a directory that is another user's or open to others.
    pub fn own(path: &Path) -> Result<OutputDir, Error> {
        let dir = Self::shared(path)?;
        if dir.facts().uid != sys::user() {
            return Err(Error::Owner { path: path.to_owned(), uid: dir.facts().uid });
        }
        check_others(path, dir.facts())?;
        Ok(dir)
    }

    /// As [`Self::own`], but users may share it: no file of it is followed to another place.
    ///
    /// # Errors
    /// What cannot be made or opened.
    pub fn shared(path: &Path) -> Result<OutputDir, Error> {
        fs::create_dir_all(path).map_err(Error::io("make", path))?;
        let fd = sys::open_dir(path, 0).map_err(Error::io("open", path))?;
        let fd = OwnFd::new(fd).map_err(Error::io("open", path))?;
        Ok(OutputDir { path: path.to_owned(), fd, claim: Claim::default(), holds: false, made: false })
    }

    /// As messages call it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn facts(&self) -> &FileStatus {
        self.fd.facts()
    }

    /// By what other processes of the job find it.
    pub fn claim(&self) -> Claim {
        self.claim
    }

    /// The job is over: the directory is what it is. One that was made and has nothing in it goes, also where it cannot
    /// be listed: the system removes empty ones only.
    pub fn release(&self) {
        if !self.holds {
            return;
        }
        let _ = self.remove(CLAIM);
        if self.made && self.at(|_| Ok(())).is_ok() {
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// A new file, for reading and writing.
    ///
    /// # Errors
    /// `AlreadyExists` for whatever has the name, else what the system answers.
    pub fn create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.at(|dir| sys::open_at(dir, name.as_ref(), libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)).map(File::from)
    }

    /// An existing file, for reading, or for both. Only plain files are files.
    ///
    /// # Errors
    /// `ELOOP` for a symbolic link, else what the system answers.
    pub fn open(&self, name: impl AsRef<OsStr>, write: bool) -> io::Result<File> {
        let flags = if write { libc::O_RDWR } else { libc::O_RDONLY };
        // Whatever the name stands for, opening it does not wait.
        let fd = self.at(|dir| sys::open_at(dir, name.as_ref(), flags | libc::O_NONBLOCK))?;
        if !sys::facts(fd.as_fd())?.is(libc::S_IFREG) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a plain file"));
        }
        Ok(File::from(fd))
    }

    /// A file to read and to add to, made where it is missing. Only plain files are files.
    ///
    /// # Errors
    /// `ELOOP` for a symbolic link, else what the system answers.
    pub fn append(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = libc::O_RDWR | libc::O_APPEND | libc::O_CREAT | libc::O_NONBLOCK;
        let fd = self.at(|dir| sys::open_at(dir, name.as_ref(), flags))?;
        if !sys::facts(fd.as_fd())?.is(libc::S_IFREG) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a plain file"));
        }
        Ok(File::from(fd))
    }

    /// Writes a file so that whoever opens it finds the old contents or the new, and never a part.
    ///
    /// # Errors
    /// What the system answers; the old contents stay.
    pub fn replace(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> io::Result<()> {
        self.replace_with(name.as_ref(), |file| file.write_all(bytes))
    }

    /// As [`Self::replace`], and it is on the disk when it has its name.
    ///
    /// # Errors
    /// As [`Self::replace`].
    pub fn replace_for_good(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> io::Result<()> {
        self.replace_with(name.as_ref(), |file| file.write_all(bytes).and_then(|()| file.sync_all()))
    }

    fn replace_with(&self, name: &OsStr, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mut new = OsString::from(name);
        new.push(format!(".new-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed)));
        let mut file = self.create(&new)?;
        let written = write(&mut file).and_then(|()| self.at(|dir| sys::rename_at(dir, &new, name)));
        if written.is_err() {
            let _ = self.remove(&new);
        }
        written
    }

    /// Removes a file.
    ///
    /// # Errors
    /// What the system answers.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.at(|dir| sys::unlink_at(dir, name.as_ref()))
    }

    /// The names of what is in it, sorted.
    ///
    /// # Errors
    /// What the system answers.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        self.at(sys::names)
    }

    /// Does something in the directory. A program may have closed the descriptor, and its number may stand for
    /// something else since: then the directory is opened anew, if it still is the same.
    fn at<T>(&self, act: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>) -> io::Result<T> {
        if let Some(fd) = self.fd.get() {
            return act(fd);
        }
        let fd = sys::open_dir(&self.path, 0)?;
        if !sys::facts(fd.as_fd())?.is_same_file(self.facts()) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the directory was replaced"));
        }
        act(fd.as_fd())
    }
}

impl Drop for OutputDir {
    fn drop(&mut self) {
        self.release();
    }
}

/// Refuses a directory that others than its owner can write to. A group whose number is that of the user is the user's
/// own, as systems make one for each.
fn check_others(path: &Path, facts: &FileStatus) -> Result<(), Error> {
    let refused = |group| Err(Error::OpenToOthers { path: path.to_owned(), mode: facts.mode, group });
    if facts.mode & libc::S_IWOTH != 0 {
        return refused(None);
    }
    if facts.mode & libc::S_IWGRP != 0 && facts.gid != facts.uid {
        return refused(Some(facts.gid));
    }
    Ok(())
}
