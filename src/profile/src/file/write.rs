//! Writing the directory.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use super::{FORMAT, JOB_FILE, VERSION, encode};
use crate::model::{Job, MOST_PES, Pe, Profile};
use crate::output::{Error, OutputDir};

/// Writes a profile into a directory. The files of an earlier version of it are replaced; other files are left alone.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write(profile: &Profile, dir: &OutputDir) -> Result<(), Error> {
    let is_kept = |pe: u32| profile.pes.iter().any(|kept| kept.pe == pe);
    let names = dir.names().map_err(failed(dir, ""))?;
    for old in names.iter().filter(|name| number_of(Path::new(name)).is_some_and(|pe| !is_kept(pe))) {
        dir.remove(old).map_err(failed(dir, old))?;
    }
    write_pes(&profile.pes, &profile.job.identity.id, dir)?;
    write_job(&profile.job, profile.pes.iter().map(|pe| pe.pe), dir)
}

/// Writes the files of some PEs of a job with this id into a directory: those of one host, where each host writes its
/// own.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_pes(pes: &[Pe], job_id: &str, dir: &OutputDir) -> Result<(), Error> {
    pes.iter().try_for_each(|pe| {
        let name = pe_file_name(pe.pe);
        dir.replace(&name, &encode::pe_file(pe, job_id)).map_err(failed(dir, &name))
    })
}

/// Writes the job's file, which names the files of these PEs.
///
/// # Errors
/// The file that could not be written, and why.
pub fn write_job(job: &Job, pes: impl Iterator<Item = u32>, dir: &OutputDir) -> Result<(), Error> {
    dir.replace(JOB_FILE, job_text(job, pes).as_bytes()).map_err(failed(dir, JOB_FILE))
}

fn failed(dir: &OutputDir, name: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
    let path = dir.path().join(name);
    move |error| Error::Io { what: "write", path, error }
}

fn job_text(job: &Job, pes: impl Iterator<Item = u32>) -> String {
    let mut out = format!("{{\n  \"format\": \"{FORMAT}\",\n  \"version\": {VERSION},\n");
    for (name, value) in
        [("program", &job.program), ("arguments", &job.arguments), ("directory", &job.directory), ("host", &job.host)]
    {
        let _ = writeln!(out, "  \"{name}\": {},", quoted(value));
    }
    let identity = &job.identity;
    for (name, value) in [
        ("library", &job.library),
        ("job_id", &identity.id),
        ("step", &identity.step),
        ("launcher", &identity.launcher),
        ("transport", &job.transport),
    ] {
        if !value.is_empty() {
            let _ = writeln!(out, "  \"{name}\": {},", quoted(value));
        }
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

#[cfg(feature = "report")]
pub(super) fn pe_files(dir: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
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
