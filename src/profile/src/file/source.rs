//! A profile directory of which one file is read at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::directory::parse_job;
use super::write::{number_of, pe_files};
use super::{JOB_FILE, ReadError, decode};
use crate::merge::{Head, PeSource, within_cpu_time};
use crate::model::{Job, Pe};
use crate::output::OutputDir;

/// Bytes at the begin of a PE file that have its number and its host.
const BEGIN: usize = 4096;

/// A profile directory. Its files are read when they are asked for; what is wrong with them is kept.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    job: Option<Job>,
    files: Vec<PathBuf>,
    /// What could not be read, by the place of its file; that of the job is first.
    problems: Mutex<BTreeMap<Option<usize>, ReadError>>,
}

impl Directory {
    /// Finds the files of a profile.
    ///
    /// # Errors
    /// When there is nothing to report at all: no directory, no profile in it, or one of another version.
    pub fn open(dir: &Path) -> Result<Directory, ReadError> {
        match fs::metadata(dir) {
            Ok(facts) if !facts.is_dir() => return Err(ReadError::NotADirectory(dir.to_owned())),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ReadError::Missing(dir.to_owned())),
            Err(error) => return Err(ReadError::Io(dir.to_owned(), error)),
        }
        let mut files = pe_files(dir).map_err(|error| ReadError::Io(dir.to_owned(), error))?;
        let path = dir.join(JOB_FILE);
        let (job, problem) = match fs::read(&path) {
            Ok(bytes) => match parse_job(&path, &bytes) {
                Ok((job, listed)) => {
                    // Files that are listed but missing are problems; others in the directory are not part of this
                    // profile.
                    files = listed.into_iter().map(|name| dir.join(name)).collect();
                    (Some(job), None)
                }
                Err(error @ ReadError::Version { .. }) => return Err(error),
                Err(error) => (None, Some(error)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound && files.is_empty() => {
                // The launcher holds the directory from before the job begins until the profile is in it.
                let why = if OutputDir::is_claimed(dir) { ReadError::Unwritten } else { ReadError::NotAProfile };
                return Err(why(dir.to_owned()));
            }
            Err(error) => (None, Some(ReadError::Io(path, error))),
        };
        let problems = Mutex::new(problem.map(|problem| (None, problem)).into_iter().collect());
        Ok(Directory { path: dir.to_owned(), job, files, problems })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What could not be read of the files that were asked for so far.
    pub fn problems(&self) -> Vec<String> {
        self.lock().values().map(ToString::to_string).collect()
    }

    pub(super) fn into_problems(self) -> Vec<ReadError> {
        self.problems.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Option<usize>, ReadError>> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, at: usize, problem: ReadError) {
        self.lock().insert(Some(at), problem);
    }
}

impl PeSource for Directory {
    fn job(&self) -> Option<Job> {
        self.job.clone()
    }

    fn len(&self) -> usize {
        self.files.len()
    }

    fn head(&self, at: usize) -> Option<Head> {
        let path = self.files.get(at)?;
        let number = number_of(path).unwrap_or(0);
        let mut bytes = Vec::with_capacity(BEGIN);
        // What is wrong with the file is told when all of it is read.
        File::open(path).ok()?.take(BEGIN as u64).read_to_end(&mut bytes).ok()?;
        let (pe, _) = decode::pe_file(path, &bytes, number);
        pe.map(|pe| Head { pe: pe.pe, host: pe.host })
    }

    fn pe(&self, at: usize) -> Option<Cow<'_, Pe>> {
        let path = self.files.get(at)?;
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.note(at, ReadError::Io(path.clone(), error));
                return None;
            }
        };
        // Where files of two jobs were put into one directory.
        let own = self.job.as_ref().map_or("", |job| &job.identity.id);
        if let Some(id) = decode::job_of(path, &bytes).filter(|id| !own.is_empty() && *id != own) {
            let what = format!("it is a file of job {id}, and {JOB_FILE} is that of job {own}");
            self.note(at, ReadError::Corrupt { path: path.clone(), offset: 0, what });
            return None;
        }
        let number = number_of(path);
        let (pe, problem) = decode::pe_file(path, &bytes, number.unwrap_or(0));
        if let Some(problem) = problem {
            self.note(at, problem);
        }
        // A copy of another PE's would count twice.
        if let (Some(pe), Some(number)) = (&pe, number)
            && pe.pe != number
        {
            let what = format!("it is the file of PE {}", pe.pe);
            self.note(at, ReadError::Corrupt { path: path.clone(), offset: 0, what });
            return None;
        }
        pe.map(|pe| within_cpu_time(Cow::Owned(pe)))
    }
}
