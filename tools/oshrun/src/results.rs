//! The end of a profiled job: its table on the screen, its numbers in a directory.
//!
//! Nothing here changes the result of the job: what cannot be written is said once.

use crate::options::Options;
use crate::plan::Plan;
use pellucid_profile::report::Finished;
use pellucid_profile::trace::keep;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Directories of one name that are tried before giving up.
const TRIES: u32 = 100_000;

/// Prints the table to standard error, so that what the program prints stays clean, and writes the directory.
pub fn show(kept: &Kept, finish: impl FnOnce(Option<&Path>) -> Finished) {
    let (wanted, directory) = (&kept.wanted, kept.directory());
    let finished = finish(directory.as_deref().ok());
    let kept = match (&directory, finished.write_error) {
        (Ok(directory), None) => format!("profile kept, to see it again: oshprof report {}", directory.display()),
        (Ok(_), Some((path, error))) => format!("the profile is not kept: cannot write {}: {error}", path.display()),
        (Err(error), _) => format!("the profile is not kept: cannot make {}: {error}", wanted.display()),
    };
    let text = format!("\n{}\n\noshrun: {kept}\n", finished.table.trim_end());
    // Whoever closed standard error does not want to know.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Says that there is no profile, and has the PEs not try on their own. The job runs without.
pub fn no_profile(error: &io::Error, plan: &mut Plan) {
    eprintln!("oshrun: no profile: {error}; the job runs without");
    plan.environment.push(("SHMEM_PROFILE".into(), "0".into()));
}

/// Makes the directory of the trace: gives where it is, and what messages call it. `None`, and said: it cannot be made; the
/// job runs without.
pub fn prepare_trace(options: &Options, wanted: &Path) -> Option<(PathBuf, PathBuf)> {
    let wanted = if wanted.as_os_str().is_empty() { default_name(options, ".trace") } else { wanted.to_owned() };
    let made = make(&wanted).and_then(|directory| {
        // What cannot be written to is known now, not from each PE.
        let probe = directory.join(".probe");
        fs::write(&probe, "")?;
        fs::remove_file(&probe)?;
        Ok((std::path::absolute(&directory)?, directory))
    });
    match made {
        Ok(found) => Some(found),
        Err(error) => {
            eprintln!("oshrun: no trace: cannot write to {}: {error}; the job runs without", wanted.display());
            None
        }
    }
}

/// Where the profile goes: a directory that is made when the first file is to be written.
pub struct Kept {
    wanted: PathBuf,
    made: Mutex<Option<PathBuf>>,
    complained: AtomicBool,
}

impl Kept {
    /// The directory that the options ask for.
    pub fn new(options: &Options) -> Self {
        let wanted = options.profile_dir.clone().unwrap_or_else(|| default_name(options, ".prof"));
        Self { wanted, made: Mutex::new(None), complained: AtomicBool::new(false) }
    }

    /// The directory, made at the first call.
    pub fn directory(&self) -> io::Result<PathBuf> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_none() {
            *made = Some(make(&self.wanted)?);
        }
        Ok(made.clone().unwrap_or_default())
    }

    /// Says once that a snapshot could not be written.
    pub fn complain(&self, path: &Path, error: &io::Error) {
        if !self.complained.swap(true, Ordering::Relaxed) {
            let _ =
                writeln!(io::stderr(), "oshrun: no snapshot of the profile: cannot write {}: {error}", path.display());
        }
    }
}

/// Says what is in the trace, and what is not.
pub fn show_trace(directory: &Path) {
    let (summary, problems) = keep::finish(directory);
    for problem in problems {
        eprintln!("oshrun: trace: {problem}");
    }
    let dropped = match summary.dropped {
        0 => String::new(),
        dropped => format!(", {dropped} older ones dropped (SHMEM_TRACE_SIZE)"),
    };
    eprintln!(
        "oshrun: trace of {} events{dropped}, to convert it: oshprof trace {} --to perfetto",
        summary.events,
        directory.display()
    );
}

/// `pellucid-PROGRAM.prof`
fn default_name(options: &Options, extension: &str) -> PathBuf {
    let mut name = OsString::from("pellucid-");
    name.push(Path::new(&options.program).file_name().unwrap_or_default());
    name.push(extension);
    name.into()
}

/// Makes the directory, or, where there is something of that name already, `NAME.2`, `NAME.3` and so on. An empty
/// directory is taken as it is.
fn make(wanted: &Path) -> io::Result<PathBuf> {
    if let Some(parent) = wanted.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    if fs::read_dir(wanted).is_ok_and(|mut entries| entries.next().is_none()) {
        return Ok(wanted.into());
    }
    for number in 1..TRIES {
        let mut name = wanted.as_os_str().to_os_string();
        if number > 1 {
            name.push(format!(".{number}"));
        }
        match fs::create_dir(&name) {
            Ok(()) => return Ok(name.into()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten() {
        let folder = std::env::temp_dir().join(format!("oshrun-results-{}", std::process::id()));
        let wanted = folder.join("a/b.prof");
        assert_eq!(make(&wanted).unwrap(), wanted);
        assert_eq!(make(&wanted).unwrap(), wanted, "an empty directory serves");
        fs::write(wanted.join("file"), "").unwrap();
        assert_eq!(make(&wanted).unwrap(), folder.join("a/b.prof.2"));
        assert_eq!(make(&wanted).unwrap(), folder.join("a/b.prof.3"));
        fs::write(folder.join("plain"), "").unwrap();
        assert_eq!(make(&folder.join("plain")).unwrap(), folder.join("plain.2"));
        assert!(make(&folder.join("plain/below")).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
