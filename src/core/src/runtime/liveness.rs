//! Under launchers other than ours: whether those are there that this PE cannot do without.
//!
//! A launcher may let the others wait for ever where one PE dies, and PEs may outlive it. So a thread sleeps on what
//! tells of an end: the processes next to this one on its host (each PE is watched by two), the connection to the
//! launcher's server, a ring of connections between the hosts, and a note that this process itself crashes. Whoever
//! sees the end of a PE before its finalize says it, once a host, hands it to the launcher, and ends what the launcher
//! leaves.
//!
//! Launchers that notice by themselves are given the time to: they know the exit status.

use super::death::{self, Describe, Words};
use super::{Process, WIREUP, exit, kills};
use crate::bootstrap::job::{ExitKind, ExitRequest, PeState};
use crate::bootstrap::ring::{Host, HostRing, Stage};
use crate::os::crash::{self, Note};
use crate::os::oom::Kills;
use crate::os::other::{self, Ended, Other};
use crate::os::own_fd::OwnFd;
use crate::os::poll::{self, Interest};
use crate::os::wakeup::Wakeup;
use crate::os::{interrupt, mmap, process, socket, thread};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Where something has to be asked for: how often.
const ASK: Duration = Duration::from_millis(250);
/// How long a launcher that notices by itself may take.
const LAUNCHERS: Duration = Duration::from_millis(500);
/// How long it may take to end the job once it was told.
const ENDING: Duration = Duration::from_secs(1);
/// How long the PEs of another host may take to say what they have seen of one of theirs.
const THEIRS: Duration = Duration::from_secs(1);
/// After Ctrl-C, PEs that stay inside the library for so long wait for each other.
const DEAF: Duration = Duration::from_millis(500);
/// How long after Ctrl-C that is looked for.
const LEAVING: Duration = Duration::from_secs(5);
/// How long a message waits for its source line, where others wait for the message.
const LINE: Duration = Duration::from_millis(600);
/// The same in a process that crashes, which waits by itself.
const OWN_LINE: Duration = Duration::from_secs(4);
/// A launcher that ends the job in good order may be gone for so long before this PE ends.
const ORDERLY_END: Duration = Duration::from_millis(200);

/// What other threads have for the one that watches.
struct Door {
    wakeup: Wakeup,
    words: Words,
    /// To be taken over.
    ring: Mutex<Option<HostRing>>,
    /// The ring's connections, over which the others hear how far this PE is.
    streams: Mutex<Vec<OwnFd>>,
}

impl Door {
    /// How far this PE is goes over the connections that a ring has now.
    fn tell_over(&self, ring: &HostRing) {
        let streams = ring.streams().filter_map(mmap::duplicate_raw).map(OwnFd::new).collect();
        *self.streams.lock().unwrap_or_else(PoisonError::into_inner) = streams;
    }
}

static DOOR: OnceLock<Door> = OnceLock::new();

/// A PE next to this one.
struct Mate {
    pe: u32,
    sight: Sight,
}

/// What tells of the end of a PE.
enum Sight {
    /// Nothing: it has not joined the job.
    Coming,
    Process(Other, Option<Kills>),
    /// Its lock, since it is in a container of its own, where this PE does not see processes. Set by the thread that
    /// waits.
    Lock(Arc<AtomicBool>),
}

impl Sight {
    fn process(&self) -> Option<&Other> {
        if let Sight::Process(other, _) = self { Some(other) } else { None }
    }

    fn process_mut(&mut self) -> Option<&mut Other> {
        if let Sight::Process(other, _) = self { Some(other) } else { None }
    }

    /// Whether it has to be asked.
    fn is_blind(&self) -> bool {
        match self {
            Sight::Coming => true,
            Sight::Process(other, _) => other.fd().is_none(),
            Sight::Lock(_) => false,
        }
    }

    /// How the PE has ended, and what is known of kills for want of memory; `None`: it runs, or is not there yet.
    fn ended(&self) -> Option<(Ended, Option<String>)> {
        match self {
            Sight::Coming => None,
            Sight::Process(other, kills) => Some((other.ended()?, kills.as_ref().and_then(Kills::since))),
            Sight::Lock(is_gone) => is_gone.load(Ordering::Acquire).then_some((Ended::Unknown, None)),
        }
    }
}

/// What is gone with the launcher.
enum Server {
    Connection(OwnFd),
    /// The process that has started this one, where no connection is known.
    Parent(Other),
}

struct Monitor {
    process: &'static Process,
    door: &'static Door,
    crash: Option<&'static Note>,
    mates: Vec<Mate>,
    server: Option<Server>,
    ring: Option<HostRing>,
    /// A host that is gone, and since when.
    gone: Option<(Host, Instant)>,
    /// Ctrl-C came, and the program has only taken a note of it.
    interrupted: Option<Instant>,
    /// Somebody else ends the job: since when, and whether the launcher was told once more.
    ending: Option<(Instant, bool)>,
    /// The program has closed what this thread slept on: it looks from time to time.
    is_blind: bool,
}

impl Server {
    /// The process that has started this one.
    fn parent() -> Self {
        Self::Parent(Other::new(other::parent()))
    }
}

/// Starts the monitor. A PE runs on without where that is not possible.
pub(super) fn start(process: &'static Process, launched: bool, segment: Option<&OwnedFd>, describe: Describe) {
    let Some(wireup) = WIREUP.get() else {
        // Where a launcher of ours looks on, it tells of the crash.
        if launched {
            install_crash_handler(process, None);
        }
        return;
    };
    let Ok(wakeup) = Wakeup::new() else { return };
    let segment = segment.and_then(|fd| mmap::duplicate(fd).ok()).map(OwnFd::new);
    let words = Words { process, segment, describe };
    let door = DOOR.get_or_init(|| Door { wakeup, words, ring: Mutex::default(), streams: Mutex::default() });
    let monitor = Monitor {
        process,
        door,
        crash: Some(install_crash_handler(process, Some(&door.wakeup))),
        mates: mates(process),
        server: Some(wireup.server().map_or_else(Server::parent, |fd| Server::Connection(OwnFd::new(fd)))),
        ring: None,
        gone: None,
        interrupted: None,
        ending: None,
        is_blind: false,
    };
    let _ = thread::spawn(c"pellucid-ends", move || {
        // Also for those who do not see this process.
        process.job.pe(process.pe).alive().hold();
        monitor.run()
    });
    interrupt::install(&door.wakeup);
    if wireup.kills_at_once() {
        kills::install(&door.words);
    }
}

/// Crashes of this process are noted in its slot.
fn install_crash_handler(process: &'static Process, wake: Option<&'static Wakeup>) -> &'static Note {
    let slot = process.job.pe(process.pe);
    crash::install(slot.crash(), slot.crash_record(), wake)
}

/// This host's neighbours are watched from now on.
pub(super) fn join(ring: HostRing) {
    let Some(door) = DOOR.get() else { return };
    door.tell_over(&ring);
    *door.ring.lock().unwrap_or_else(PoisonError::into_inner) = Some(ring);
    door.wakeup.signal();
}

/// Tells the neighbours of this host how far this PE is.
pub(super) fn tell(stage: Stage) {
    let Some(door) = DOOR.get() else { return };
    for stream in door.streams.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = socket::send_all(stream, &[stage as u8]);
    }
}

/// What is said of this PE, which ends by `exit` with this status; `None`: nobody watches.
pub(super) fn words(status: i32) -> Option<String> {
    let words = &DOOR.get()?.words;
    Some(words.of(words.process.pe, Ended::Exited(status), None, LINE))
}

/// The PEs on both sides of this one.
fn mates(process: &Process) -> Vec<Mate> {
    let pes = process.job.pes();
    let (first, count) = (pes.start, pes.end - pes.start);
    let place = process.pe - first;
    let mut sides = vec![(place + 1) % count, (place + count - 1) % count];
    sides.dedup();
    let others = sides.into_iter().filter(|side| *side != place);
    others.map(|side| Mate { pe: first + side, sight: Sight::Coming }).collect()
}

/// Has a thread wait for the end of a PE whose process this one does not see.
fn outlive(process: &'static Process, pe: u32, door: &'static Door) -> Sight {
    let is_gone = Arc::new(AtomicBool::new(false));
    let told = is_gone.clone();
    let _ = thread::spawn(c"pellucid-outlive", move || {
        let alive = process.job.pe(pe).alive();
        while !alive.is_held(ASK) {}
        if alive.outlive() {
            told.store(true, Ordering::Release);
            door.wakeup.signal();
        }
    });
    Sight::Lock(is_gone)
}

impl Monitor {
    fn run(mut self) {
        loop {
            self.find_mates();
            let fds = self.fds();
            poll::wait(&fds, self.patience());
            self.door.wakeup.clear();
            self.look_at_descriptors();
            self.look_at_self();
            self.look_at_interrupt();
            self.look_at_mates();
            self.look_at_server();
            self.look_at_ring();
            self.keep_time();
        }
    }

    fn fds(&self) -> Vec<(RawFd, Interest)> {
        let mut fds = vec![(self.door.wakeup.fd(), Interest::Input)];
        let processes = self.mates.iter().filter_map(|mate| mate.sight.process()?.fd());
        fds.extend(processes.map(|fd| (fd, Interest::Input)));
        match &self.server {
            Some(Server::Connection(fd)) => fds.push((fd.as_raw_fd(), Interest::Hangup)),
            Some(Server::Parent(other)) => fds.extend(other.fd().map(|fd| (fd, Interest::Input))),
            None => {}
        }
        fds.extend(self.ring.iter().flat_map(HostRing::fds).map(|fd| (fd, Interest::Input)));
        fds
    }

    /// What the program has closed is none of this library's any more: it stands for nothing, or for something of the
    /// program's, which may be readable all the time.
    fn look_at_descriptors(&mut self) {
        if self.is_blind || !self.door.wakeup.is_closed() {
            return;
        }
        self.is_blind = true;
        let processes = self.mates.iter_mut().filter_map(|mate| mate.sight.process_mut());
        processes.for_each(Other::forget_descriptor);
        match &mut self.server {
            Some(Server::Parent(parent)) => parent.forget_descriptor(),
            Some(Server::Connection(fd)) if !fd.is_there() => self.server = Some(Server::parent()),
            _ => {}
        }
        std::mem::forget(self.ring.take());
    }

    /// How long to sleep; `None`: until something happens.
    fn patience(&self) -> Option<Duration> {
        let parent = matches!(&self.server, Some(Server::Parent(other)) if other.fd().is_none());
        let asks = parent
            || self.is_blind
            || self.mates.iter().any(|mate| mate.sight.is_blind())
            || self.ring.as_ref().is_some_and(HostRing::is_waiting)
            || self.gone.is_some()
            || self.interrupted.is_some()
            || self.ending.is_some();
        asks.then_some(ASK)
    }

    /// Processes are known once they have joined the job.
    fn find_mates(&mut self) {
        let (process, door) = (self.process, self.door);
        let next = kills::next(process);
        self.mates.retain_mut(|mate| {
            let slot = process.job.pe(mate.pe);
            if !matches!(mate.sight, Sight::Coming) || !slot.is_placed() {
                return true;
            }
            if slot.is_visible() {
                mate.sight = Sight::Process(Other::new(slot.pid()), Kills::of(slot.pid()));
                return true;
            }
            // Its lock is for one who waits: the PE before it.
            let is_next = Some(mate.pe) == next;
            if is_next {
                mate.sight = outlive(process, mate.pe, door);
            }
            is_next
        });
    }

    /// Whether this PE needs nobody any more.
    fn is_finalized(&self) -> bool {
        self.process.job.pe(self.process.pe).state() == PeState::Finalized
    }

    fn look_at_self(&mut self) {
        let job = &self.process.job;
        let slot = job.pe(self.process.pe);
        let Some(ended) = self.crash.and_then(|_| slot.ended()) else { return };
        let Some(note) = self.crash.take() else { return };
        let status = death::status(ended);
        let request = ExitRequest { pe: self.process.pe as i32, status, kind: ExitKind::Failed };
        let is_final = slot.state() == PeState::Finalized;
        if is_final || job.request_exit(request) {
            let words = |line| self.door.words.of(self.process.pe, ended, None, line);
            if !is_final {
                job.set_unsaid(self.process.pe);
            }
            // A lock that the crash left closed would keep this thread here.
            drop(words(Duration::ZERO));
            note.begun();
            let text = words(OWN_LINE);
            exit::announce(&text);
            job.take_unsaid(self.process.pe);
            if !is_final {
                exit::before_failure();
                // Nobody of this host is left to do it.
                if self.mates.is_empty() {
                    exit::tell_launcher(status, text);
                    std::thread::sleep(ORDERLY_END);
                }
            }
        }
        note.done();
    }

    /// A handler that only takes a note of Ctrl-C, as Python's does, comes to nothing where all PEs wait for each other
    /// inside the library. Those of one host know that of each other.
    fn look_at_interrupt(&mut self) {
        let (job, words) = (&self.process.job, &self.door.words);
        if interrupt::came() {
            // What comes of PEs that leave is expected then.
            job.set_interrupted(libc::SIGINT);
            self.interrupted.get_or_insert_with(Instant::now);
        }
        let is_alone = job.pes().len() == job.npes() as usize;
        let waits = |pe| job.pe(pe).state() == PeState::Initialized && words.is_inside(pe);
        let Some(since) = self.interrupted.filter(|since| is_alone && since.elapsed() >= DEAF) else { return };
        if !job.pes().all(waits) {
            // Some are about to leave: within a while, or not at all.
            self.interrupted = Some(since).filter(|since| since.elapsed() < LEAVING);
            return;
        }
        self.interrupted = None;
        let status = 128 + libc::SIGINT;
        let request = ExitRequest { pe: self.process.pe as i32, status, kind: ExitKind::Failed };
        if !job.request_exit(request) {
            self.ending.get_or_insert((Instant::now(), false));
            return;
        }
        exit::before_failure();
        exit::tell_launcher(status, String::new());
        std::thread::sleep(ENDING);
        exit::end_host(status)
    }

    fn look_at_mates(&mut self) {
        let mut dead = Vec::new();
        self.mates.retain(|mate| {
            let Some((ended, memory)) = mate.sight.ended() else { return true };
            dead.push((mate.pe, ended, memory));
            false
        });
        for (pe, seen, memory) in dead {
            let slot = self.process.job.pe(pe);
            if slot.state() == PeState::Finalized || self.is_finalized() {
                continue;
            }
            let ended = slot.ended().unwrap_or(seen);
            let text = self.door.words.of(pe, ended, memory, LINE);
            self.conclude(pe, &text, death::status(ended), LAUNCHERS);
        }
    }

    fn look_at_server(&mut self) {
        let is_gone = match &self.server {
            Some(Server::Connection(fd)) => poll::wait(&[(fd.as_raw_fd(), Interest::Hangup)], Some(Duration::ZERO))[0],
            Some(Server::Parent(parent)) => parent.ended().is_some(),
            None => false,
        };
        if !is_gone {
            return;
        }
        self.server = None;
        std::thread::sleep(ORDERLY_END);
        if exit::is_leaving() {
            return;
        }
        let pes = self.process.job.pes();
        let text = format!(
            "PE {} of {} on host {}: the launcher is gone: ending PEs {} to {}",
            self.process.pe,
            self.process.job.npes(),
            process::host_name(),
            pes.start,
            pes.end - 1
        );
        let request = ExitRequest { pe: self.process.pe as i32, status: 1, kind: ExitKind::Failed };
        if self.process.job.request_exit(request) {
            exit::announce(&text);
            exit::before_failure();
        }
        // Nobody is left who would do it better.
        std::thread::sleep(exit::LAST_WORDS);
        exit::end_host(1)
    }

    fn look_at_ring(&mut self) {
        if let Some(ring) = self.door.ring.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.ring = Some(ring);
        }
        let Some(ring) = &mut self.ring else { return };
        let gone = ring.look();
        self.door.tell_over(ring);
        if let Some(host) = gone.into_iter().next() {
            self.gone.get_or_insert((host, Instant::now()));
        }
    }

    /// Does what is due.
    fn keep_time(&mut self) {
        if let Some((since, told)) = &mut self.ending {
            let status = self.process.job.exit_request().map_or(1, |request| request.status);
            if since.elapsed() >= LAUNCHERS + ENDING {
                exit::end_host(status);
            }
            if since.elapsed() >= LAUNCHERS && !std::mem::replace(told, true) {
                exit::tell_launcher(status, String::new());
            }
        }
        let Some((host, _)) = self.gone.take_if(|(_, since)| since.elapsed() >= THEIRS) else { return };
        if !self.is_finalized() {
            let npes = self.process.job.npes();
            let which = match host.pes {
                0 | 1 => format!("PE {} of {npes}", host.pe),
                pes => format!("PEs {} to {} of {npes}", host.pe, host.pe.saturating_add(pes - 1)),
            };
            let text = format!("{which} on host {} ended without shmem_finalize: the connection was closed", host.name);
            self.conclude(host.pe, &text, 1, Duration::ZERO);
        }
    }

    /// Ends the job because of this PE, unless somebody does already.
    fn conclude(&mut self, pe: u32, text: &str, status: i32, wait: Duration) {
        let request = ExitRequest { pe: pe as i32, status, kind: ExitKind::Failed };
        if !self.process.job.request_exit(request) {
            // A crash waits for its words for some seconds only, which a machine may stand still for.
            if self.process.job.take_unsaid(pe) {
                exit::announce(text);
            }
            self.ending.get_or_insert((Instant::now(), false));
            return;
        }
        exit::announce(text);
        exit::before_failure();
        std::thread::sleep(wait.max(exit::LAST_WORDS));
        exit::tell_launcher(status, text.to_owned());
        std::thread::sleep(ENDING);
        exit::end_host(status)
    }
}
