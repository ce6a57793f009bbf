//! Where a result goes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pellucid_profile::output::{Error, OutputFile};

use crate::{FAILED, print};

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output, as this process has it: what is there stays, whatever it is.
    Standard,
    /// A file.
    File(PathBuf),
}

impl Destination {
    /// As a user names it: `-` is standard output, as with other tools.
    pub fn new(value: impl Into<PathBuf>) -> Destination {
        let path = value.into();
        let is_standard = ["-", "/dev/stdout"].iter().any(|name| path.as_os_str() == *name);
        if is_standard { Destination::Standard } else { Destination::File(path) }
    }

    /// Writes a text there: to a file as a whole, or not at all. Says what is wrong.
    pub fn write(&self, text: &str) -> ExitCode {
        let written = match self {
            Destination::Standard => return print(text),
            Destination::File(path) => write(path, text),
        };
        match written {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                pellucid_profile::say!("oshprof: {error}");
                ExitCode::from(FAILED)
            }
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| OutputFile::failed(path, error))?;
    file.finish()
}
