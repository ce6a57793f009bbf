//! The directory as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{FORMAT, JOB_FILE, ReadError, VERSION, encode};
use crate::merge::Source;
use crate::model::{Job, Pe, Profile};

/// A profile as far as it could be read.
#[derive(Debug)]
pub struct Loaded {
    /// What could be read.
    pub profile: Profile,
    /// What could not.
    pub problems: Vec<ReadError>,
}

/// Writes a profile into a directory, which is created. The files of an earlier profile there are replaced; other files
/// are left alone.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write(profile: &Profile, dir: &Path) -> Result<(), (PathBuf, io::Error)> {
    let named = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    fs::create_dir_all(dir).map_err(named(dir))?;
    let is_kept = |path: &Path| number_of(path).is_some_and(|pe| profile.pes.iter().any(|kept| kept.pe == pe));
    for old in pe_files(dir).map_err(named(dir))?.into_iter().filter(|path| !is_kept(path)) {
        fs::remove_file(&old).map_err(named(&old))?;
    }
    for pe in &profile.pes {
        let path = dir.join(pe_file_name(pe.pe));
        replace(&path, &encode::pe_file(pe)).map_err(named(&path))?;
    }
    let path = dir.join(JOB_FILE);
    let mut text = serde_json::to_string_pretty(&job_json(profile)).map_err(|error| (path.clone(), error.into()))?;
    text.push('\n');
    replace(&path, text.as_bytes()).map_err(named(&path))
}

/// Writes a file so that whoever opens it finds the old contents or the new, and never a part.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let result = fs::write(&new, bytes).and_then(|()| fs::rename(&new, path));
    if result.is_err() {
        let _ = fs::remove_file(&new);
    }
    result
}

/// Reads a profile directory, all of it. Damaged parts become [`Loaded::problems`]. For reports there is [`super::Directory`],
/// which takes far less memory.
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

fn job_json(profile: &Profile) -> Value {
    let job = &profile.job;
    let files: Vec<Value> = profile.pes.iter().map(|pe| json!({ "pe": pe.pe, "file": pe_file_name(pe.pe) })).collect();
    json!({
        "format": FORMAT,
        "version": VERSION,
        "program": job.program,
        "arguments": job.arguments,
        "directory": job.directory,
        "host": job.host,
        "pes": job.npes,
        "start_realtime_ns": job.start_realtime_ns,
        "wall_ns": job.wall_ns,
        "exit_status": job.exit_status,
        "files": files,
    })
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
        npes: number("pes")?.try_into().map_err(|_| wrong("pes"))?,
        start_realtime_ns: number("start_realtime_ns")?,
        wall_ns: number("wall_ns")?,
        exit_status,
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

fn pe_file_name(pe: u32) -> String {
    format!("pe-{pe:05}.prof")
}

/// The PE that a file name stands for.
pub(super) fn number_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.strip_prefix("pe-")?.strip_suffix(".prof")?.parse().ok()
}

pub(super) fn pe_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if number_of(&path).is_some() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
