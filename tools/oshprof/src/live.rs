//! Jobs of this host that run: found by the profile segments that their launchers and their PEs hold.

use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use pellucid_profile::live::{PeNow, State, find as processes};
use pellucid_profile::segment::Segment;
use pellucid_profile::text::visible;

/// What a command line names a job by.
pub fn pid(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "expected the process id of a launcher or of a PE".to_owned())
}

/// A job that runs.
pub struct Job {
    /// The process that names it: its `oshrun`, or under another launcher the first PE of this host.
    pub pid: u32,
    /// Its profile.
    pub segment: Segment,
}

impl Job {
    /// `job 71: PROGRAM, N PEs on HOST`
    pub fn title(&self) -> String {
        let header = self.segment.header();
        let mut command = header.program.get();
        let arguments = header.arguments.get();
        if !arguments.is_empty() {
            command = format!("{command} {arguments}");
        }
        let pes = self.segment.npes();
        let pes = if pes == 1 { "1 PE".to_owned() } else { format!("{pes} PEs") };
        let here = match self.segment.pes() {
            here if here.len() as u32 == self.segment.npes() => String::new(),
            here if here.len() == 1 => format!(", PE {}", here.start),
            here => format!(", PEs {} to {}", here.start, here.end - 1),
        };
        format!("job {}: {}, {pes}{here} on {}", self.pid, visible(&command), visible(&header.host.get()))
    }

    /// Its PEs now.
    pub fn look(&self) -> Vec<PeNow> {
        self.segment
            .pes()
            .map(|number| {
                let mut pe = PeNow::look(&self.segment, number, true);
                match processes::state(pe.pid) {
                    _ if pe.pid == 0 => pe,
                    None | Some(('Z' | 'X', _)) => PeNow::look(&self.segment, number, false),
                    Some(('T' | 't', _)) => {
                        pe.stop();
                        pe
                    }
                    Some(_) => {
                        pe.asleep = processes::sleeps(pe.pid);
                        pe
                    }
                }
            })
            .collect()
    }

    /// Whether it still runs.
    pub fn runs(&self) -> bool {
        if processes::is_launcher(self.pid) {
            return processes::runs(self.pid);
        }
        self.look().iter().any(|pe| pe.pid != 0 && pe.state != State::Ended)
    }

    /// Who has made its segment, start and first PE: what tells segments apart.
    fn key(&self) -> (u32, u64, u32) {
        let header = self.segment.header();
        (self.maker(), header.start_realtime.load(Relaxed), self.segment.pes().start)
    }

    /// The process of this host that has made its segment: its `oshrun`, or a PE.
    fn maker(&self) -> u32 {
        self.segment.header().maker_pid.load(Relaxed)
    }
}

/// Does something with the job that the user names, as [`find`] finds it, or says why there is none.
pub fn with_job(wanted: Option<u32>, run: impl FnOnce(Job) -> ExitCode) -> ExitCode {
    match find(wanted) {
        Ok(job) => run(job),
        Err(error) => {
            pellucid_profile::say!("oshprof: {error}");
            ExitCode::from(crate::FAILED)
        }
    }
}

/// The job that the user names by the process id of its launcher or of a PE, or the only one that runs.
///
/// # Errors
/// What to tell the user.
pub fn find(wanted: Option<u32>) -> Result<Job, String> {
    let Some(pid) = wanted else {
        let mut jobs = jobs();
        return match jobs.len() {
            0 => Err("no job of yours runs on this host".to_owned()),
            1 => Ok(jobs.remove(0)),
            _ => Err(format!("several jobs run, name one by its number:{}", titles(&jobs))),
        };
    };
    let held = open(pid).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            format!("no process {pid} runs on this host: a job is named by its launcher, or by one of its PEs")
        }
        ErrorKind::PermissionDenied => format!("process {pid} is not yours: {error}"),
        _ => format!("process {pid}: {error}"),
    })?;
    if let Some(job) = held {
        return Ok(job);
    }
    // Another's launcher holds nothing: its PEs do. Nor does the oshrun of a job of several hosts: its parts do.
    let mut below = jobs();
    below.retain(|job| job.pid == pid || processes::is_below(job.pid, pid));
    match below.len() {
        0 => Err(format!("process {pid} is neither a launcher nor a PE of a job that runs")),
        1 => Ok(below.remove(0)),
        _ => Err(format!("process {pid} has several jobs, name one by its number:{}", titles(&below))),
    }
}

fn titles(jobs: &[Job]) -> String {
    jobs.iter().map(|job| format!("\n  {}", job.title())).collect()
}

/// The jobs of this user, each once: by its launcher, where that is ours, else by the first PE that is found. What
/// processes of others offer is not even opened, unless the user names one.
fn jobs() -> Vec<Job> {
    let own = processes::owner(std::process::id());
    let is_own = |pid: &u32| own.is_some() && processes::owner(*pid) == own;
    let mut jobs: Vec<Job> = Vec::new();
    for job in processes::processes().filter(is_own).filter_map(|pid| open(pid).ok().flatten()) {
        match jobs.iter_mut().find(|known| known.key() == job.key()) {
            Some(known) if rank(&job) < rank(known) => *known = job,
            Some(_) => {}
            None => jobs.push(job),
        }
    }
    // Programs that were left behind by a job hold its segment, too.
    jobs.retain(Job::runs);
    jobs
}

/// Which of several processes a job is called by: its maker first.
fn rank(job: &Job) -> (bool, u32) {
    (job.pid != job.maker(), job.pid)
}

/// The job whose segment a process holds. `None`: it holds none.
fn open(pid: u32) -> std::io::Result<Option<Job>> {
    let Some(file) = processes::open_segment(pid)? else { return Ok(None) };
    // What is no sealed segment is refused.
    let job = Job { pid, segment: Segment::map(file.as_fd())? };
    // A PE stands for its launcher, where that is there to be named.
    let launcher = job.maker();
    let has_launcher = launcher != pid && processes::is_launcher(launcher) && processes::is_below(pid, launcher);
    Ok(Some(if has_launcher { Job { pid: launcher, ..job } } else { job }))
}
