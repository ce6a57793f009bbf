//! The end of a profiled job: its table on the screen, its numbers in a directory.
//!
//! The directories are taken before the job begins: what cannot be written is refused then. Nothing that happens later
//! changes the result of the job: it is said once.

use crate::job::Failure;
use crate::options::{Options, ProfileChoice};
use crate::plan::Plan;
use crate::source;
use pellucid_core::bootstrap::by_option;
use pellucid_profile::output::{Error, OutputDir};
use pellucid_profile::report::Finished;
use pellucid_profile::text::{shell_word, visible, visible_path};
use pellucid_profile::trace::{Unreturned, keep};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints the table to standard error, so that what the program prints stays clean, and writes the directory.
pub fn show(kept: &ProfileOutput, finish: impl FnOnce(Option<&OutputDir>) -> Finished) {
    let finished = finish(Some(&kept.directory));
    let is_kept = finished.write_error.is_none();
    let told = match finished.write_error {
        None => {
            let path = shell_word(kept.directory.path());
            format!("profile kept, to see it again: {} report {path}", source::oshprof())
        }
        Some(error) => format!("the profile is not kept: {error}"),
    };
    pellucid_profile::say!("\n{}\n\noshrun: {told}", finished.table.trim_end());
    if is_kept {
        source::store(kept.directory.path());
    }
}

/// Says that there is no profile, and has the PEs not try on their own. The job runs without.
pub fn no_profile(error: &io::Error, plan: &mut Plan) {
    pellucid_profile::say!("oshrun: no profile: {}; the job runs without", visible(&error.to_string()));
    plan.environment.push(("SHMEM_PROFILE".into(), "0".into()));
}

/// The directory of the trace.
///
/// # Errors
/// It cannot be written to.
pub fn take_trace(options: &Options) -> Result<Option<OutputDir>, Failure> {
    let Some(wanted) = &options.trace else { return Ok(None) };
    let wanted = if wanted.as_os_str().is_empty() { default_name(options, ".trace") } else { wanted.clone() };
    take(&wanted, "trace", "--trace=DIR").map(Some)
}

/// The variables by which PEs find the directory of their trace.
///
/// # Errors
/// Its path is longer than the system takes: the PEs would not find it.
pub fn trace_variables(directory: &OutputDir) -> Result<[(OsString, OsString); 3], Failure> {
    let path = std::path::absolute(directory.path()).map_err(|error| Failure::needs("find the trace", error))?;
    let (bytes, most) = (path.as_os_str().len(), libc::PATH_MAX as usize - 1);
    if bytes > most {
        let name = visible_path(directory.path());
        let what = format!("write the trace {name}, nothing was run (--trace=DIR names another place)");
        return Err(Failure::needs(&what, format!("its whole path has {bytes} bytes, and the system takes {most}")));
    }
    let claim = format!("{:016x}", directory.claim().token);
    let mark = by_option::marked("SHMEM_TRACE".as_ref(), path.as_os_str());
    Ok([("SHMEM_TRACE".into(), path.into()), mark, ("PELLUCID_TRACE_CLAIM".into(), claim.into())])
}

/// Where the profile goes.
pub struct ProfileOutput {
    directory: OutputDir,
    complained: AtomicBool,
}

impl ProfileOutput {
    /// The directory that the options ask for; `None` where they ask for none.
    ///
    /// # Errors
    /// It cannot be written to.
    pub fn take(options: &Options) -> Result<Option<Arc<Self>>, Failure> {
        if !matches!(options.profile, ProfileChoice::Level(_)) {
            return Ok(None);
        }
        let wanted = options.profile_dir.clone().unwrap_or_else(|| default_name(options, ".prof"));
        let directory = take(&wanted, "profile", "--profile-dir DIR")?;
        Ok(Some(Arc::new(Self { directory, complained: AtomicBool::new(false) })))
    }

    /// The directory.
    pub fn directory(&self) -> &OutputDir {
        &self.directory
    }

    /// Says once that a snapshot could not be written.
    pub fn complain(&self, error: &Error) {
        if !self.complained.swap(true, Ordering::Relaxed) {
            pellucid_profile::say!("oshrun: no snapshot of the profile: {error}");
        }
    }
}

fn take(wanted: &Path, what: &str, option: &str) -> Result<OutputDir, Failure> {
    OutputDir::take(wanted).map_err(|error| {
        let message = format!("no place for the {what}, nothing was run: {error} ({option} names a place)");
        Failure { status: 1, message }
    })
}

/// Says what is in the trace, and what is not. `explained`: that something is missing was said with its cause.
/// `unreturned`: see [`keep::finish`].
pub fn show_trace(directory: &OutputDir, explained: bool, unreturned: impl Fn(u32, u32) -> Option<Unreturned>) {
    let (summary, problems) = keep::finish(directory, None, unreturned);
    let explained = explained || !problems.is_empty();
    for problem in problems {
        pellucid_profile::say!("oshrun: trace: {problem}");
    }
    let lost: String = summary.losses.phrases().iter().map(|phrase| format!(", {phrase}")).collect();
    let path = shell_word(directory.path());
    if summary.calls == 0 {
        // A PE that could not record its calls has said so itself.
        let why = if lost.is_empty() && !explained { ": no PE has recorded a call" } else { "" };
        pellucid_profile::say!("oshrun: the trace is empty{lost}{why}");
        return;
    }
    // Of short calls an event may stand for many: how many events there are is known once they are read.
    let calls = summary.calls;
    let oshprof = source::oshprof();
    pellucid_profile::say!(
        "oshrun: trace of {calls} calls, regions and markers{lost}, to see what is in it: {oshprof} trace {path}\n\
         oshrun: to convert it: {oshprof} trace {path} --to perfetto -o {path}.pftrace"
    );
}

/// `pellucid-PROGRAM.prof`
fn default_name(options: &Options, extension: &str) -> PathBuf {
    let mut name = OsString::from("pellucid-");
    name.push(job_name(&options.program, &options.args));
    name.push(extension);
    name.into()
}

/// What a job is called: its program, or the script that an interpreter runs.
fn job_name(program: &OsStr, args: &[OsString]) -> OsString {
    let file = |path: &OsStr| Path::new(path).file_name().map(OsStr::to_os_string);
    let own = file(program).unwrap_or_default();
    if !own.as_encoded_bytes().starts_with(b"python") {
        return own;
    }
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_encoded_bytes() {
            b"-m" => return args.next().cloned().unwrap_or(own),
            b"-c" | b"-" => return own,
            b"-W" | b"-X" | b"--check-hash-based-pycs" => _ = args.next(),
            [b'-', ..] => {}
            _ => return file(arg).unwrap_or(own),
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_its_job() {
        for (line, name) in [
            ("bin/halo -n 3", "halo"),
            ("python3 src/halo.py 7", "halo.py"),
            ("/opt/bin/python3.11 -u -X dev -W ignore halo.py", "halo.py"),
            ("python -m pkg.halo x", "pkg.halo"),
            ("python3 -c pass", "python3"),
            ("python3", "python3"),
        ] {
            let mut words = line.split(' ').map(OsString::from);
            let program = words.next().unwrap();
            assert_eq!(job_name(&program, &words.collect::<Vec<_>>()), name, "{line}");
        }
    }
}
