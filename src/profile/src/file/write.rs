//! Writing the directory.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{FORMAT, JOB_FILE, MOST_PES, VERSION, encode};
use crate::model::{Job, Pe, Profile};

/// The file that could not be written, and why.
type Failed = (PathBuf, io::Error);

/// Writes a profile into a directory, which is created. The files of an earlier profile there are replaced; other files
/// are left alone.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write(profile: &Profile, dir: &Path) -> Result<(), Failed> {
    fs::create_dir_all(dir).map_err(named(dir))?;
    let is_kept = |path: &Path| number_of(path).is_some_and(|pe| profile.pes.iter().any(|kept| kept.pe == pe));
    for old in pe_files(dir).map_err(named(dir))?.into_iter().filter(|path| !is_kept(path)) {
        fs::remove_file(&old).map_err(named(&old))?;
    }
    write_pes(&profile.pes, dir)?;
    write_job(&profile.job, profile.pes.iter().map(|pe| pe.pe), dir)
}

/// Writes the files of some PEs into a directory, which is created: those of one host, where each host writes its own.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_pes(pes: &[Pe], dir: &Path) -> Result<(), Failed> {
    fs::create_dir_all(dir).map_err(named(dir))?;
    pes.iter().try_for_each(|pe| {
        let path = dir.join(pe_file_name(pe.pe));
        replace(&path, &encode::pe_file(pe)).map_err(named(&path))
    })
}

/// Writes the job's file, which names the files of these PEs.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_job(job: &Job, pes: impl Iterator<Item = u32>, dir: &Path) -> Result<(), Failed> {
    let path = dir.join(JOB_FILE);
    replace(&path, job_text(job, pes).as_bytes()).map_err(named(&path))
}

fn named(path: &Path) -> impl FnOnce(io::Error) -> Failed {
    let path = path.to_owned();
    move |error| (path, error)
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

fn job_text(job: &Job, pes: impl Iterator<Item = u32>) -> String {
    let mut out = format!("{{\n  \"format\": \"{FORMAT}\",\n  \"version\": {VERSION},\n");
    for (name, value) in
        [("program", &job.program), ("arguments", &job.arguments), ("directory", &job.directory), ("host", &job.host)]
    {
        let _ = writeln!(out, "  \"{name}\": {},", quoted(value));
    }
    let status = job.exit_status.map_or_else(|| "null".to_owned(), |status| status.to_string());
    let files: Vec<String> =
        pes.map(|pe| format!("    {{ \"pe\": {pe}, \"file\": \"{}\" }}", pe_file_name(pe))).collect();
    let _ = writeln!(out, "  \"pes\": {},\n  \"start_realtime_ns\": {},", job.npes, job.start_realtime_ns);
    let _ = writeln!(out, "  \"wall_ns\": {},\n  \"exit_status\": {status},", job.wall_ns);
    let _ = writeln!(out, "  \"files\": [\n{}\n  ]\n}}", files.join(",\n"));
    out
}

/// Text as JSON has it.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn pe_file_name(pe: u32) -> String {
    format!("pe-{pe:05}.prof")
}

/// The PE that a file name stands for.
pub(super) fn number_of(path: &Path) -> Option<u32> {
    path.file_name()?
        .to_str()?
        .strip_prefix("pe-")?
        .strip_suffix(".prof")?
        .parse()
        .ok()
        .filter(|&number| number < MOST_PES)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted() {
        assert_eq!(quoted("a\"b\\c\nd\u{1}ü"), "\"a\\\"b\\\\c\\u000ad\\u0001ü\"");
    }
}
