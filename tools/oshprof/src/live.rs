//! Jobs of this host that run: found by the profile segments that their launchers hold.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use pellucid_profile::live::PeNow;
use pellucid_profile::segment::Segment;
use pellucid_profile::text::visible;

/// A job that runs.
pub struct Job {
    /// Process id of its launcher.
    pub pid: u32,
    /// Its profile.
    pub segment: Segment,
}

impl Job {
    /// `PROGRAM on N PEs`
    pub fn title(&self) -> String {
        let header = self.segment.header();
        let mut command = header.program.get();
        let arguments = header.arguments.get();
        if !arguments.is_empty() {
            command = format!("{command} {arguments}");
        }
        let command = visible(&command);
        format!("job {}: {command}, {} PEs on {}", self.pid, self.segment.npes(), visible(&header.host.get()))
    }

    /// Its PEs now.
    pub fn look(&self) -> Vec<PeNow> {
        self.segment
            .pes()
            .map(|number| {
                let mut pe = PeNow::look(&self.segment, number, true);
                match state(pe.pid) {
                    _ if pe.pid == 0 => pe,
                    None | Some('Z' | 'X') => PeNow::look(&self.segment, number, false),
                    Some('T' | 't') => {
                        pe.stop();
                        pe
                    }
                    Some(_) => pe,
                }
            })
            .collect()
    }

    /// Whether the launcher still runs.
    pub fn runs(&self) -> bool {
        runs(self.pid)
    }
}

/// The kernel's letter for the state of a process; `None`: there is none.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
}

/// Whether a process runs: one that only waits to be collected does not.
fn runs(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// The job that the user names by its launcher's process id, or the only one that runs.
///
/// # Errors
/// What to tell the user.
pub fn find(wanted: Option<u32>) -> Result<Job, String> {
    if let Some(pid) = wanted {
        return open(pid)
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => format!("no process {pid} runs on this host: a job is named by its oshrun"),
                ErrorKind::PermissionDenied => format!("process {pid} is not yours: {error}"),
                _ => format!("process {pid}: {error}"),
            })?
            .ok_or_else(|| format!("process {pid} is no oshrun that runs a job"));
    }
    let mut jobs: Vec<Job> = processes().filter_map(|pid| open(pid).ok().flatten()).collect();
    match jobs.len() {
        0 => Err("no job of yours runs on this host".to_owned()),
        1 => Ok(jobs.remove(0)),
        _ => {
            let titles: Vec<String> = jobs.iter().map(|job| format!("\n  {}", job.title())).collect();
            Err(format!("several jobs run, name one by its number:{}", titles.concat()))
        }
    }
}

/// The launchers of this user. What processes of others offer is not even opened, unless the user names one.
fn processes() -> impl Iterator<Item = u32> {
    let own = fs::metadata("/proc/self").map(|facts| facts.uid()).ok();
    let is_own =
        move |pid: &u32| own.is_some() && fs::metadata(format!("/proc/{pid}")).map(|facts| facts.uid()).ok() == own;
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_own).filter(|pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == "oshrun")
    })
}

/// Whether a process was started by an `oshrun` on another host.
fn is_deputy(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.split(|byte| *byte == 0).nth(1) == Some(b"--daemon"))
}

/// The job whose launcher a process is. `None`: it is no launcher, or its job has no profile.
fn open(pid: u32) -> std::io::Result<Option<Job>> {
    for entry in fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd"))?.flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        if target.to_string_lossy().starts_with("/memfd:pellucid-profile") {
            // Whatever it is, opening it does not wait; what is no sealed segment is refused.
            let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(entry.path())?;
            let segment = Segment::map(file.as_fd())?;
            // PEs have the descriptor too: the launcher is who made it. On another host than the job's, that is its
            // deputy.
            let launcher = segment.header().launcher_pid.load(std::sync::atomic::Ordering::Relaxed);
            return Ok((launcher == pid || is_deputy(pid)).then_some(Job { pid, segment }));
        }
    }
    Ok(None)
}
