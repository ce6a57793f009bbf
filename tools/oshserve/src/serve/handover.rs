//! Jobs that are handed over: whoever made a segment sends it, and holds the connection until the job ends.

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pellucid_profile::segment::{Segment, handover};

use super::jobs::Jobs;
use super::places::Places;
use super::sockets;
use super::tracked::{Key, Tracked, key};
use crate::metrics::collect::{Identity, STATES};
use crate::metrics::otlp;
use crate::push::PushedJob;
use crate::say::Sparing;
use crate::sys;

/// Longest message.
const LONGEST: usize = 16 << 10;
/// How long the message may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// PEs of a host.
const MOST_PES_OF_HOST: usize = 1 << 16;

/// Where jobs are handed over, unless the user says otherwise.
pub fn default_socket() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name);
    match variable(handover::VARIABLE).filter(|named| !named.is_empty()) {
        Some(named) => named.into(),
        None if handover::user() == 0 => PathBuf::from("/run/pellucid/serve.sock"),
        None => handover::user_socket(variable),
    }
}

/// Takes jobs in a thread of its own.
///
/// # Errors
/// There is no thread.
pub fn take_jobs(listener: UnixListener, jobs: Arc<Jobs>) -> io::Result<()> {
    let intake = Intake { jobs, places: Places::new(handover::user()), full: Sparing::default(), bad: Arc::default() };
    std::thread::Builder::new().name("handover".into()).spawn(move || {
        for stream in listener.incoming() {
            match stream {
                Ok(stream) => intake.take(stream),
                // Too many open files, as a rule: they become fewer.
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    })?;
    Ok(())
}

/// Where jobs are taken.
struct Intake {
    jobs: Arc<Jobs>,
    places: Arc<Places>,
    /// What is said of users that have no more places, and of jobs that are none.
    full: Sparing,
    bad: Arc<Sparing>,
}

impl Intake {
    /// Somebody connects, and may hand a job over.
    fn take(&self, stream: UnixStream) {
        let (jobs, bad) = (Arc::clone(&self.jobs), Arc::clone(&self.bad));
        let refuse = move |error: io::Error| {
            jobs.count_error();
            bad.complain(format_args!("serve: a job that was handed over: {error}"));
        };
        // Before anything is kept for it.
        let user = match user_of(&stream) {
            Ok(user) => user,
            Err(error) => return refuse(error),
        };
        let place = match self.places.take(user) {
            Ok(place) => place,
            Err(what) => {
                self.jobs.count_error();
                return what.iter().for_each(|what| self.full.complain(format_args!("serve: {what}")));
            }
        };
        let jobs = Arc::clone(&self.jobs);
        let serve_job = move || {
            let _place = place;
            follow(stream, user, &jobs).unwrap_or_else(refuse);
        };
        // Without a thread, connection and place are given back.
        let _ = std::thread::Builder::new().name("job".into()).stack_size(256 << 10).spawn(serve_job);
    }
}

/// Whose connection it is, which somebody has who may hand over jobs here.
fn user_of(stream: &UnixStream) -> io::Result<u32> {
    let user = handover::peer(stream.as_fd())?;
    if handover::user() != 0 && user != handover::user() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("it is user {user}'s")));
    }
    Ok(user)
}

/// From now on jobs can be handed over: they wait for [`take_jobs`].
///
/// # Errors
/// What the system answered, or that there is another exporter, or something that is no socket.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mode = if handover::user() == 0 { 0o755 } else { 0o700 };
        fs::DirBuilder::new().recursive(true).mode(mode).create(folder)?;
        let owner = fs::metadata(folder)?.uid();
        if owner != handover::user() && owner != 0 {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "its folder belongs to somebody else"));
        }
    }
    sockets::clear(path)?;
    // Root's is for all users, whose identity the kernel tells; everybody else's is for themselves.
    let _mask = sys::Private::new(if handover::user() == 0 { 0o111 } else { 0o177 });
    UnixListener::bind(path)
}

/// One job, from its message to its end.
fn follow(mut stream: UnixStream, user: u32, jobs: &Jobs) -> io::Result<()> {
    let first = first_message(&stream, Some(Instant::now() + PATIENCE)).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::other(format!("its message did not come within {PATIENCE:?}")),
        _ => error,
    });
    let Some(message) = first? else { return Ok(()) };
    let (key, _) = accept(message, user, jobs)?;
    stream.set_read_timeout(None)?;
    let mut text = String::new();
    let _ = stream.by_ref().take(LONGEST as u64).read_to_string(&mut text);
    let said = text.lines().find_map(|line| line.strip_prefix("state="));
    let state = said.and_then(|state| STATES.into_iter().find(|known| *known == state));
    jobs.end(key, state);
    Ok(())
}

/// What comes first over a connection: words, and the descriptor of the job's memory with them.
#[derive(Debug)]
pub struct JobMessage {
    text: Vec<u8>,
    fd: Option<OwnedFd>,
}

/// All of it is there by `until`. `None`: nothing came, as where somebody only looks whether we are there.
///
/// # Errors
/// What the system answered, or what is wrong with the message.
pub fn first_message(stream: &UnixStream, until: Option<Instant>) -> io::Result<Option<JobMessage>> {
    let (mut text, mut fd) = (Vec::new(), None);
    let mut part = [0_u8; 4096];
    loop {
        if let Some(until) = until {
            // One that sends a byte now and then has no more time than others.
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
            stream.set_read_timeout(Some(left.ok_or(io::ErrorKind::WouldBlock)?))?;
        }
        let (bytes, received) = sys::receive(stream.as_fd(), &mut part)?;
        fd = fd.or(received);
        text.extend(&part[..bytes]);
        if bytes == 0 && text.is_empty() {
            return Ok(None);
        }
        if bytes == 0 || text.len() > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its message is cut off or too long"));
        }
        if text.ends_with(b"\n\n") {
            return Ok(Some(JobMessage { text, fd }));
        }
    }
}

/// Takes over the job of a message that a user sent, whose name the kernel tells and not the message.
///
/// # Errors
/// What is wrong with it.
pub fn accept(JobMessage { text, fd }: JobMessage, user: u32, jobs: &Jobs) -> io::Result<(Key, PushedJob)> {
    let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    let fd = fd.ok_or_else(|| invalid("no descriptor came with it"))?;
    if text != handover::JOB_MESSAGE {
        return Err(invalid("its message is not that of a job"));
    }
    if !sys::is_sealed(fd.as_fd()) {
        return Err(invalid("its memory can be shrunk"));
    }
    let segment = Segment::map(fd.as_fd())?;
    if segment.pes().len() > MOST_PES_OF_HOST {
        return Err(invalid("it has more PEs than a host"));
    }
    let user_name = if jobs.limits().show_user { sys::user_name(user) } else { String::new() };
    let identity = Identity::of(&segment, user_name);
    if identity.job_id.is_empty() {
        return Err(invalid("it has no job_id"));
    }
    let all_here = segment.pes().len() == segment.npes() as usize;
    let this = key(&segment);
    let about = PushedJob {
        job_id: identity.job_id.clone(),
        host: (!all_here).then(|| segment.header().host.get()),
        source: otlp::Source::of(&segment, &identity),
    };
    if !jobs.add(Tracked::new(segment, identity, None, user)) {
        return Err(invalid("it says that it is the job of another user"));
    }
    Ok((this, about))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use pellucid_profile::model::JobIdentity;
    use pellucid_profile::segment::{self, JobInfo, Origin};

    use super::*;
    use crate::serve::jobs::Limits;

    #[test]
    fn a_message_that_trickles_has_no_more_time_than_others() {
        let (mine, mut theirs) = UnixStream::pair().unwrap();
        let trickle = std::thread::spawn(move || {
            while theirs.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let error = first_message(&mine, Some(Instant::now() + Duration::from_millis(100))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}");
        drop(mine);
        trickle.join().unwrap();
    }

    /// A connection of this user's, over which this job was handed over.
    fn hand_over_as(user: u32, path: &Path, segment: &OwnedFd) -> UnixStream {
        let stream = sys::as_user(user, || UnixStream::connect(path)).unwrap();
        // It may be refused before.
        let _ = handover::Handover::over(stream.as_fd(), segment.as_fd());
        stream
    }

    #[test]
    fn one_user_does_not_take_the_places_of_others() {
        if handover::user() != 0 {
            eprintln!("only root can be other users: not tested");
            return;
        }
        sys::raise_limit_of_files();
        let folder = std::env::temp_dir().join(format!("pellucid-handover-{}", std::process::id()));
        let path = folder.join("s");
        let limits = Limits { linger: Duration::ZERO, max_series: 1, show_user: false, top: 0, by_node: false };
        let jobs = Arc::new(Jobs::new(limits));
        jobs.only_these();
        take_jobs(bind(&path).unwrap(), Arc::clone(&jobs)).unwrap();
        let job = |name: &str, start: u64| {
            let identity = JobIdentity { id: name.into(), ..JobIdentity::default() };
            let origin = Some(Origin { counter_ns: 1, realtime_ns: start, launcher_pid: 1 });
            segment::create(1, &JobInfo { identity, origin, ..JobInfo::default() }).unwrap()
        };
        let greedy = job("greedy", 1);
        let _all: Vec<UnixStream> = (0..1034).map(|_| hand_over_as(65_534, &path, &greedy)).collect();
        let _other = hand_over_as(65_533, &path, &job("other's", 2));
        let _own = hand_over_as(0, &path, &job("root's", 3));
        let begun = Instant::now();
        let names = loop {
            let mut names: Vec<String> = jobs.lines().into_iter().map(|line| line.job_id).collect();
            names.sort_unstable();
            if names.len() == 3 || begun.elapsed() > Duration::from_secs(20) {
                break names;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let _ = fs::remove_dir_all(&folder);
        assert_eq!(names, ["greedy", "other's", "root's"]);
    }

    #[test]
    fn messages_in_parts() {
        let (mine, mut theirs) = UnixStream::pair().unwrap();
        for part in ["segm", "ent\n", "\n"] {
            theirs.write_all(part.as_bytes()).unwrap();
        }
        let message = first_message(&mine, None).unwrap().unwrap();
        assert_eq!((message.text.as_slice(), message.fd.is_none()), (handover::JOB_MESSAGE, true));
        drop(theirs);
        assert!(first_message(&mine, None).unwrap().is_none());
    }
}
