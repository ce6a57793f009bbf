//! The values of options: what is accepted, and what is said of the rest.

use crate::options::ProfileChoice;
use crate::settings::{self, Variable};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// More PEs than this are a typing error.
const MOST_PES: u32 = 1 << 20;
/// The highest profile level that can be asked for at start.
const HIGHEST_LEVEL: i32 = 1;

/// `-n`: how many PEs.
pub fn pes(value: &OsStr) -> Result<u32, String> {
    let number: i64 = text(value)?.parse().map_err(|_| "expected a whole number of PEs".to_string())?;
    match u32::try_from(number) {
        Ok(0) | Err(_) if number < 1 => Err("a job needs at least 1 PE".into()),
        Ok(pes) if pes <= MOST_PES => Ok(pes),
        _ => Err(format!("at most {MOST_PES} PEs")),
    }
}

/// `-x`: a variable, and its value where one is given.
pub fn export(value: &OsStr) -> Result<(OsString, Option<OsString>), String> {
    let bytes = value.as_bytes();
    let (name, rest) = match bytes.iter().position(|b| *b == b'=') {
        Some(at) => (&bytes[..at], Some(OsString::from_vec(bytes[at + 1..].to_vec()))),
        None => (bytes, None),
    };
    if name.is_empty() {
        return Err("expected VAR or VAR=VALUE".into());
    }
    Ok((OsString::from_vec(name.to_vec()), rest))
}

/// A number above 0 of something.
pub fn count(value: &OsStr, what: &str) -> Result<u32, String> {
    let number = text(value)?.parse::<u32>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("expected a number of {what} above 0"))
}

/// `--timeout`: a time above 0.
pub fn seconds(value: &OsStr) -> Result<Duration, String> {
    let given = pellucid_cli::duration(text(value)?).filter(|time| !time.is_zero());
    given.ok_or_else(|| format!("expected a time above 0: {}", pellucid_cli::TIMES))
}

/// `--heap`: the text and the bytes it stands for.
pub fn size(value: &OsStr) -> Result<(String, u64), String> {
    let text = text(value)?;
    let bytes = pellucid_core::base::size::parse(text).map_err(str::to_string)?;
    Ok((text.to_string(), bytes))
}

/// Whether an argument after a bare `--profile` is meant as its value.
pub fn looks_like_level(value: &OsStr) -> bool {
    let first = value.to_str().and_then(|text| text.split(',').next());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    first.is_some_and(|first| first == "off" || is_number(first.strip_prefix(['-', '+']).unwrap_or(first)))
}

/// Whether an argument after a bare `--metrics` is meant as its value: `HOST:PORT`, `:PORT`, `unix:PATH`.
pub fn looks_like_address(value: &OsStr) -> bool {
    let Some(text) = value.to_str() else { return false };
    text.starts_with("unix:") || text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

/// `--profile`: the level, variables that further settings stand for, and the directory. What is neither a level nor a
/// list of settings is a directory, as for `--trace`.
pub fn profile(value: &OsStr) -> Result<(ProfileChoice, Vec<Variable>, Option<PathBuf>), String> {
    let is_level = value.is_empty() || looks_like_level(value) || value.as_bytes().iter().any(|b| b",=".contains(b));
    if !is_level {
        return Ok((ProfileChoice::Level(1), Vec::new(), Some(PathBuf::from(value))));
    }
    let (profile, variables) = settings::profile(if value.is_empty() { "1" } else { text(value)? })?;
    Ok((profile, variables, None))
}

/// `--counters`.
pub fn counters(value: &OsStr) -> Result<Variable, String> {
    settings::counters(text(value)?)
}

/// A profile level.
pub fn level(text: &str) -> Result<ProfileChoice, String> {
    match text.parse::<i32>() {
        _ if text == "off" => Ok(ProfileChoice::Off),
        Ok(0) => Ok(ProfileChoice::Off),
        Ok(level) if (1..=HIGHEST_LEVEL).contains(&level) => Ok(ProfileChoice::Level(level)),
        _ => Err(format!("expected off or a level from 0 to {HIGHEST_LEVEL}")),
    }
}

/// `--profile-dir`.
pub fn path(value: &OsStr) -> Result<PathBuf, String> {
    if value.is_empty() { Err("expected the name of a directory".into()) } else { Ok(PathBuf::from(value)) }
}

/// `--hostfile`.
pub fn file(value: &OsStr) -> Result<PathBuf, String> {
    if value.is_empty() { Err("expected the name of a file".into()) } else { Ok(PathBuf::from(value)) }
}

/// `--metrics-file`, which becomes part of a variable.
pub fn file_name(value: &OsStr) -> Result<String, String> {
    file(value).and_then(|_| text(value).map(str::to_owned))
}

/// `--tool`.
pub fn tool(value: &OsStr) -> Result<PathBuf, String> {
    match value.as_bytes() {
        [] => Err("expected the name of a shared object".into()),
        name if name.contains(&b':') => Err("a name with a colon cannot be passed on in SHMEM_TOOLS".into()),
        _ => Ok(PathBuf::from(value)),
    }
}

/// `--launch-agent`: words separated by spaces.
pub fn words(value: &OsStr) -> Result<Vec<String>, String> {
    let words: Vec<String> = text(value)?.split_whitespace().map(String::from).collect();
    if words.is_empty() { Err("expected a command".into()) } else { Ok(words) }
}

/// A value that is to be valid text.
pub fn text(value: &OsStr) -> Result<&str, String> {
    value.to_str().ok_or_else(|| "not valid text".to_string())
}
