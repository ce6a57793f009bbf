//! A part: from its first line of input to where its PEs run.

use super::agent::Invitation;
use super::cards::PartCards;
use super::clock;
use super::link::{Link, SILENCE};
use super::message::{Order, PROTOCOL, ToPart, ToRoot, VERSION};
use super::pack::Field;
use super::snapshots::Snapshots;
use crate::cpus;
use crate::job::{Failure, raise_limit, start_all};
use crate::options::Bind;
use crate::output::Output;
use crate::pes::Pes;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::program::{self, CannotRun};
use crate::signals::{self, Meaning};
use crate::spawn::Launch;
use crate::supervise::remote::Remote;
use crate::supervise::{LINK, STREAMS, Supervisor, Verdict};
use crate::sys::epoll::{Epoll, Interest};
use crate::sys::signal::{Reader, Set};
use crate::sys::{file, net, process};
use crate::watchdog::Watchdog;
use pellucid_core::bootstrap::job::Job;
use pellucid_profile::segment::Origin;
use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The option that makes an `oshrun` a part. Not for users.
pub const OPTION: &str = "--part";
/// The longest line that can be an invitation.
const LINE: usize = 16 << 10;
/// How long the root may take to accept a connection, at each of its addresses.
const CONNECT: Duration = Duration::from_secs(3);
/// How long it may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Runs a part; returns its exit status. What goes wrong before there is a connection is told on standard error, which the
/// agent shows to the root.
pub fn run() -> i32 {
    match try_run() {
        Ok(status) => status,
        Err(failure) => {
            eprintln!("oshrun: {}", failure.message);
            failure.status
        }
    }
}

fn try_run() -> Result<i32, Failure> {
    let failed = |message: String| Failure { status: 1, message };
    let line = first_line();
    let invitation = Invitation::parse(&line).ok_or_else(|| {
        failed(format!(
            "{OPTION} is for oshrun's own use on other hosts: the first line of input is not what it expects"
        ))
    })?;
    let mask = Set::of(&[]).block();
    let signals = signals::take().map_err(|error| Failure::needs("read signals", error))?;
    process::adopt_orphans();
    let watchdog = Watchdog::start().map_err(|error| Failure::needs("start the watchdog process", error))?;
    let epoll = Epoll::new().map_err(|error| Failure::needs("wait for events", error))?;
    let stream = connect(&invitation).map_err(failed)?;
    let mut link = Link::new(stream, LINK, &epoll).map_err(|error| Failure::needs("use the connection", error))?;
    link.trust();
    epoll.add(&signals, 0, Interest::Read).map_err(|error| Failure::needs("wait for events", error))?;
    let mut waiting = Waiting { link, epoll, signals };
    let Some(order) = waiting.order()? else {
        watchdog.stop();
        return Ok(0);
    };
    let prepared = prepare(&order).and_then(|ready| raise_limit(order.pes).map(|limit| (ready, limit)));
    let (ready, limit) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => {
            watchdog.stop();
            return waiting.refuse(&failure);
        }
    };
    let Waiting { link, epoll, signals } = waiting;
    epoll.remove(&signals);
    let pes = order.first..order.first + order.pes;
    let snapshots = ready.profile.as_ref().filter(|_| order.profile == Some(true));
    // Without the thread, a PE that asks for a snapshot goes on without.
    let snapshots = snapshots.and_then(|profile| Snapshots::serve(profile.as_fd()).ok());
    let remote = Remote {
        link,
        host: order.host.clone(),
        cards: PartCards::new(pes.clone(), order.hosts.clone()),
        wireups: Vec::new(),
        prompt: order.prompt,
        trace: ready.trace,
        told: false,
        lost: false,
        collect: None,
        over: false,
        snapshots,
    };
    let mut supervisor = Supervisor {
        epoll,
        signals,
        output: Output::new(STREAMS).map_err(|error| Failure::needs("wait for events", error))?,
        pes: Pes::new(order.first),
        job: ready.job,
        profile: ready.profile,
        relay: None,
        timeout: None,
        verdict: Verdict::default(),
        remote: Some(remote),
    };
    let launch = Launch { plan: &ready.plan, watchdog: watchdog.fd(), limit, mask };
    let started = start_all(&launch, pes, order.label, &mut supervisor);
    let refused = started.and_then(|()| supervisor.watch_wireups()).err().map(|error| {
        let error = CannotRun::refused(&order.program, &error);
        (error.status(), format!("host {}: {error}", order.host))
    });
    supervisor.run(watchdog, refused).map_err(|error| Failure::needs("wait for the PEs", error))
}

/// Reads one line and nothing behind it: that is for PE 0.
fn first_line() -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < LINE && matches!(file::read(0, &mut byte), Ok(1)) && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8_lossy(&line).into_owned()
}

/// Connects to the root: to the first of its addresses where somebody knows the second secret.
fn connect(invitation: &Invitation) -> Result<TcpStream, String> {
    let mut problems = Vec::new();
    for address in &invitation.addresses {
        let address = SocketAddr::new(*address, invitation.port);
        match greet(address, invitation) {
            Ok(stream) => return Ok(stream),
            Err(error) => problems.push(format!("{address}: {error}")),
        }
    }
    Err(format!("cannot connect back to the oshrun that runs the job: {}", problems.join("; ")))
}

fn greet(address: SocketAddr, invitation: &Invitation) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&address, CONNECT)?;
    stream.set_read_timeout(Some(ANSWER))?;
    let hello = ToRoot::Hello {
        protocol: PROTOCOL,
        version: VERSION.into(),
        secret: invitation.secret.clone(),
        host: invitation.host,
        name: net::host_name(),
    };
    let mut body = Vec::new();
    hello.put(&mut body);
    stream.write_all(&(body.len() as u32).to_le_bytes())?;
    stream.write_all(&body)?;
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let mut answer = vec![0; (u32::from_le_bytes(head) as usize).min(1 << 10)];
    stream.read_exact(&mut answer)?;
    match ToPart::take(&mut answer.as_slice()) {
        Some(ToPart::Welcome { secret }) if secret == invitation.answer => Ok(stream),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "who listens there is not the oshrun that runs the job")),
    }
}

/// A part that has no PEs yet.
struct Waiting {
    link: Link,
    epoll: Epoll,
    signals: Reader,
}

impl Waiting {
    /// Waits for what to do. `None`: nothing, the job is over.
    fn order(&mut self) -> Result<Option<Order>, Failure> {
        loop {
            for message in self.messages()? {
                match message {
                    ToPart::Start { order } => return Ok(Some(order)),
                    ToPart::End {} | ToPart::Bye {} => return Ok(None),
                    _ => {}
                }
            }
        }
    }

    /// Tells the root that this host's PEs cannot be started, and waits for the end.
    fn refuse(&mut self, failure: &Failure) -> Result<i32, Failure> {
        let text = Some(failure.message.clone());
        self.link.send(&ToRoot::Verdict { status: failure.status, text }, &self.epoll);
        self.link.send(&ToRoot::Ended {}, &self.epoll);
        loop {
            for message in self.messages()? {
                match message {
                    ToPart::Collect { .. } => self.link.send(&ToRoot::Done {}, &self.epoll),
                    ToPart::Bye {} => return Ok(failure.status),
                    _ => {}
                }
            }
        }
    }

    /// The next messages, but for those that need no PEs.
    fn messages(&mut self) -> Result<Vec<ToPart>, Failure> {
        let lost = |why: &str| {
            let message = format!("the oshrun that runs the job is lost: {why}");
            Failure { status: 1, message }
        };
        let mut rest = Vec::new();
        for token in self.epoll.wait(Some(Duration::from_millis(250))).map_err(|e| Failure::needs("wait", e))? {
            if token != LINK {
                while let Some(number) = self.signals.next() {
                    if signals::meaning(number) == Meaning::End {
                        return Err(Failure { status: 128 + number, message: signals::describe(number) });
                    }
                }
                continue;
            }
            let (messages, end) = self.link.ready(&self.epoll);
            for message in messages {
                match message {
                    ToPart::Ping { number } => {
                        let counter_ns = clock::counter_ns();
                        self.link.send(&ToRoot::Pong { number, counter_ns }, &self.epoll);
                    }
                    ToPart::Pause {} => self.link.paused = true,
                    other => rest.push(other),
                }
            }
            if let Some(error) = end.filter(|_| rest.is_empty()) {
                return Err(lost(&error.to_string()));
            }
        }
        let now = Instant::now();
        if self.link.beat_due(now) {
            self.link.send(&ToRoot::Beat {}, &self.epoll);
        }
        if self.link.is_silent(now) {
            return Err(lost(&format!("nothing was heard of it for {} s", SILENCE.as_secs())));
        }
        Ok(rest)
    }
}

/// What PEs are started with.
struct Ready {
    plan: Plan,
    job: Job,
    profile: Option<Profile>,
    trace: Option<PathBuf>,
}

fn prepare(order: &Order) -> Result<Ready, Failure> {
    let at = |text: String| format!("host {}: {text}", order.host);
    let needs = |what: &str, error: &dyn std::fmt::Display| {
        let message = at(format!("cannot {what}: {error}"));
        Failure { status: 1, message }
    };
    env::set_current_dir(&order.directory).map_err(|error| {
        needs(&format!("change to the job's working directory {}", order.directory.to_string_lossy()), &error)
    })?;
    let path = order.environment.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = path.or_else(|| env::var_os("PATH")).unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let file = program::locate_in(&order.program, &path)
        .map_err(|error| Failure { status: error.status(), message: at(error.to_string()) })?;
    let pes = order.first..order.first + order.pes;
    let job = Job::create(pes.clone(), order.npes).map_err(|error| needs("make the job's shared memory", &error))?;
    let origin =
        Origin { counter_ns: order.start_counter_ns, realtime_ns: order.start_realtime, launcher_pid: order.root_pid };
    let profile = match order.profile {
        None => None,
        Some(detailed) => {
            let made =
                Profile::with_origin(pes.clone(), order.npes, &order.program, &order.args, !detailed, Some(origin));
            Some(made.map_err(|error| needs("make the profile segment", &error))?)
        }
    };
    let trace = match order.trace {
        true => Some(trace_directory().map_err(|error| needs("make a directory for the trace", &error))?),
        false => None,
    };
    let bind = [None, Some(Bind::Core), Some(Bind::None)].get(order.bind as usize).copied().flatten();
    let mut environment = order.environment.clone();
    environment.extend(trace.iter().map(|trace| (OsString::from("SHMEM_TRACE"), trace.into())));
    let mut plan = Plan {
        file,
        program: order.program.clone(),
        args: order.args.clone(),
        binding: cpus::bind(pes.len(), bind),
        environment,
    };
    plan.hand_over(job.fd(), profile.as_ref().map(Profile::fd));
    Ok(Ready { plan, job, profile, trace })
}

/// A directory of this host: the files go to the root at the end.
fn trace_directory() -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let name = format!("pellucid-trace-{}-{}", process::id(), net::secret()?);
    let path = env::temp_dir().join(name);
    std::fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}
