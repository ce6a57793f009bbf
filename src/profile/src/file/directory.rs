//! Reading the directory as a whole.

use std::path::Path;

use serde_json::Value;

use super::{FORMAT, ReadError, VERSION};
use crate::merge::PeSource;
use crate::model::{Job, JobIdentity, MOST_PES, Pe, Profile};

/// A profile as far as it could be read.
#[derive(Debug)]
pub struct Loaded {
    /// What could be read.
    pub profile: Profile,
    /// What could not.
    pub problems: Vec<ReadError>,
}

/// Reads a profile directory, all of it. Damaged parts become [`Loaded::problems`]. For reports there is
/// [`super::Directory`], which takes far less memory.
///
/// # Errors
/// When there is nothing to report at all: no directory, no profile in it, or one of another version.
pub fn read(dir: &Path) -> Result<Loaded, ReadError> {
    let directory = super::Directory::open(dir)?;
    let pes = (0..directory.len()).filter_map(|at| directory.pe(at));
    let mut pes: Vec<Pe> = pes.map(std::borrow::Cow::into_owned).collect();
    pes.sort_by_key(|pe| pe.pe);
    let job = directory.job().unwrap_or_else(|| Job {
        npes: pes.iter().map(|pe| pe.pe + 1).max().unwrap_or(0),
        wall_ns: pes.iter().map(|pe| pe.end_ns).max().unwrap_or(0),
        ..Job::default()
    });
    Ok(Loaded { profile: Profile { job, pes }, problems: directory.into_problems() })
}

pub(super) fn parse_job(path: &Path, bytes: &[u8]) -> Result<(Job, Vec<String>), ReadError> {
    let corrupt =
        |offset: usize, what: String| ReadError::Corrupt { path: path.to_owned(), offset: offset as u64, what };
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        if error.is_eof() {
            ReadError::Truncated {
                path: path.to_owned(),
                offset: bytes.len() as u64,
                wanted: "the rest of the JSON object",
            }
        } else {
            corrupt(offset_of(bytes, error.line(), error.column()), error.to_string())
        }
    })?;
    if value["format"] != FORMAT {
        return Err(corrupt(0, format!("\"format\" is {}, not \"{FORMAT}\"", value["format"])));
    }
    match value["version"].as_u64() {
        Some(found) if found == u64::from(VERSION) => {}
        found => {
            return Err(ReadError::Version { path: path.to_owned(), found: found.unwrap_or(0), expected: VERSION });
        }
    }
    let wrong = |name: &str| corrupt(0, format!("\"{name}\" is {}", value[name]));
    let text = |name: &str| value[name].as_str().map(str::to_owned).ok_or_else(|| wrong(name));
    // Not in profiles of before.
    let known = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| value[name].as_u64().ok_or_else(|| wrong(name));
    let exit_status = match &value["exit_status"] {
        Value::Null => None,
        status => Some(status.as_i64().and_then(|s| i32::try_from(s).ok()).ok_or_else(|| wrong("exit_status"))?),
    };
    let job = Job {
        program: text("program")?,
        arguments: text("arguments")?,
        directory: text("directory")?,
        host: text("host")?,
        npes: number("pes")?.try_into().ok().filter(|&pes| pes <= MOST_PES).ok_or_else(|| wrong("pes"))?,
        start_realtime_ns: number("start_realtime_ns")?,
        wall_ns: number("wall_ns")?,
        exit_status,
        library: known("library"),
        identity: JobIdentity { id: known("job_id"), step: known("step"), launcher: known("launcher") },
        transport: known("transport"),
    };
    let files = value["files"].as_array().ok_or_else(|| wrong("files"))?;
    // A name with a path in it could lead out of the directory.
    let names = files.iter().map(|entry| entry["file"].as_str().filter(|name| !name.contains('/')).map(str::to_owned));
    let names: Option<Vec<String>> = names.collect();
    Ok((job, names.ok_or_else(|| wrong("files"))?))
}

/// Byte offset of a line and column, both from 1 as serde_json counts them.
fn offset_of(bytes: &[u8], line: usize, column: usize) -> usize {
    let before: usize = bytes.split_inclusive(|&b| b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (before + column.saturating_sub(1)).min(bytes.len())
}
