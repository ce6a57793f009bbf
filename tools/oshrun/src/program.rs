//! Finding the program, as a shell would.

use crate::format;
use crate::linked;
use pellucid_core::os::processes;
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why a program cannot be run.
#[derive(Debug, PartialEq, Eq)]
pub enum CannotRun {
    /// No such file.
    NotFound { program: String, in_path: bool, here: bool },
    /// A file, but not one to run.
    NotExecutable { program: String, reason: &'static str },
    /// It is linked to another OpenSHMEM library.
    OtherLibrary { program: String, library: String, whose: &'static str },
    /// The system refused when it was started.
    Refused { program: String, reason: String },
}

impl CannotRun {
    /// The exit status that shells use for it.
    pub fn status(&self) -> i32 {
        match self {
            Self::NotFound { .. } => 127,
            Self::NotExecutable { .. } | Self::OtherLibrary { .. } | Self::Refused { .. } => 126,
        }
    }

    /// From the error of starting a file that was there.
    pub fn refused(program: &OsStr, error: &io::Error) -> Self {
        let reason = match error.raw_os_error() {
            Some(libc::ENOENT) if !Path::new("/dev/null").exists() => {
                "there is no /dev/null for its standard input".to_string()
            }
            Some(libc::ENOENT) => "its interpreter (first line of a script, or ELF loader) was not found".to_string(),
            _ => processes::refused(error),
        };
        Self::Refused { program: program.to_string_lossy().into_owned(), reason }
    }
}

impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { program, in_path: true, here: true } => {
                write!(f, "program {program:?} not found in PATH; there is one in the current directory: ./{program}")
            }
            Self::NotFound { program, .. } if program.parse::<u32>().is_ok() => {
                write!(f, "program {program:?} not found: for {program} PEs it is -n {program}")
            }
            Self::NotFound { program, in_path: true, .. } => write!(f, "program {program:?} not found in PATH"),
            Self::NotFound { program, .. } => write!(f, "program {program:?} not found"),
            Self::NotExecutable { program, reason } => write!(f, "program {program:?} cannot be run: {reason}"),
            Self::OtherLibrary { program, library, whose } => {
                let oshcc = env::current_exe().unwrap_or_default().with_file_name("oshcc");
                write!(
                    f,
                    "{program} is linked to {library} ({whose}), not to libsma.so.1: compile it with {}",
                    oshcc.display()
                )
            }
            Self::Refused { program, reason } => write!(f, "program {program:?} cannot be started: {reason}"),
        }
    }
}

/// The file to run for a program as given. Names with a slash are paths, others are looked up in `PATH`.
pub fn locate(program: &OsStr) -> Result<PathBuf, CannotRun> {
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    locate_in(program, &path)
}

/// Refuses a program that is linked to another OpenSHMEM library.
pub fn check_library(program: &OsStr, file: &Path) -> Result<(), CannotRun> {
    linked::other_library(file).map_or(Ok(()), |(library, whose)| {
        Err(CannotRun::OtherLibrary { program: program.to_string_lossy().into_owned(), library, whose })
    })
}

/// As [`locate`], for PEs that run in a directory: a relative path is meant from there.
pub fn locate_from(directory: Option<&Path>, program: &OsStr) -> Result<PathBuf, CannotRun> {
    match directory {
        Some(directory) if program.as_bytes().contains(&b'/') => {
            let path = std::path::absolute(directory.join(program)).unwrap_or_else(|_| directory.join(program));
            locate(path.as_os_str())
        }
        _ => locate(program),
    }
}

/// As [`locate`], with this `PATH`.
pub fn locate_in(program: &OsStr, path: &OsStr) -> Result<PathBuf, CannotRun> {
    let name = || program.to_string_lossy().into_owned();
    let not_executable = |reason| CannotRun::NotExecutable { program: name(), reason };
    if program.as_bytes().contains(&b'/') {
        return match usable(Path::new(program)) {
            Usable::Yes => Ok(PathBuf::from(program)),
            Usable::No(reason) => Err(not_executable(reason)),
            Usable::Missing => Err(CannotRun::NotFound { program: name(), in_path: false, here: false }),
        };
    }
    let mut refused = None;
    for folder in env::split_paths(path) {
        // An empty entry means the current directory.
        let file = if folder.as_os_str().is_empty() { Path::new(".").join(program) } else { folder.join(program) };
        match usable(&file) {
            Usable::Yes => return Ok(file),
            Usable::No(reason) => refused = refused.or(Some(reason)),
            Usable::Missing => {}
        }
    }
    if let Some(reason) = refused {
        return Err(not_executable(reason));
    }
    let here = matches!(usable(&Path::new(".").join(program)), Usable::Yes);
    Err(CannotRun::NotFound { program: name(), in_path: true, here })
}

enum Usable {
    Yes,
    No(&'static str),
    Missing,
}

fn usable(file: &Path) -> Usable {
    match file.metadata() {
        Ok(meta) if meta.is_dir() => Usable::No("it is a directory"),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => Usable::No("it is not executable"),
        Ok(_) => format::why_not(file).map_or(Usable::Yes, Usable::No),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Usable::No("permission denied"),
        Err(_) => Usable::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names() {
        let sh = locate_in(OsStr::new("sh"), OsStr::new("/nonexistent:/bin:/usr/bin")).unwrap();
        assert_eq!(sh, Path::new("/bin/sh"));
        assert_eq!(locate(OsStr::new("/bin/sh")).unwrap(), Path::new("/bin/sh"));
        let missing = locate(OsStr::new("no-such-program-anywhere")).unwrap_err();
        assert_eq!((missing.status(), missing.to_string().contains("not found in PATH")), (127, true));
        assert_eq!(locate(OsStr::new("./no/such")).unwrap_err().status(), 127);
        let number = locate(OsStr::new("2")).unwrap_err().to_string();
        assert_eq!(number, "program \"2\" not found: for 2 PEs it is -n 2");
        assert_eq!(
            locate(OsStr::new("/etc")).unwrap_err().to_string(),
            "program \"/etc\" cannot be run: it is a directory"
        );
        assert_eq!(locate(OsStr::new("/etc/passwd")).unwrap_err().status(), 126);
    }
}
