//! How the PEs of one host come to share memory under another's launcher: the first of them makes the job file, and
//! hands it to the others over a local socket.

use super::job::Job;
use super::placement::Placement;
use super::wireup::Wireup;
use crate::base::{Cause, Fault};
use crate::os::crash::Crashed;
use crate::os::{machine, mmap, socket};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Under this key the first PE of a host publishes which machine it is on.
const MACHINE: &str = "machine";
/// All PEs have met through the launcher when this begins, so nobody is far.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a PE says when it comes: this, the job's size and its own number, in the machine's byte order.
const HELLO: u32 = 0x5045_0002;

/// What the PEs of a host share.
pub struct Shared {
    /// The job file.
    pub job: Job,
    /// The profile segment, where the first PE could make one.
    pub profile: Option<OwnedFd>,
}

/// Makes the profile segment of a host: for these PEs, of so many in the job.
pub type MakeProfile = fn(Range<u32>, u32) -> Option<OwnedFd>;

/// What the runtime asks of the profile, which it knows nothing of.
#[derive(Clone, Copy)]
pub struct Profiles {
    /// Makes a host's segment.
    pub make: MakeProfile,
    /// The begin of a segment's job.
    pub origin: fn(RawFd) -> Vec<u8>,
    /// Has a segment count from the begin of the segment with PE 0.
    pub follow: fn(RawFd, &[u8]),
    /// Words for where a PE is, or has crashed as it has noted, from the segment of its host: `in shmem_quiet`; empty
    /// where it has recorded nothing.
    pub place: fn(RawFd, u32, Option<&Crashed>, Duration) -> String,
}

/// A process of a job under another's launcher.
pub trait Member: Wireup {
    /// The launcher's name of the job, which no other job on this machine has.
    fn job(&self) -> String;

    /// Where PEs run: set where the launcher has said it.
    fn placement(&self) -> &OnceLock<Placement>;

    /// The connection to the launcher, where another PE of the host is to hold it open as well; `None`: nobody need.
    ///
    /// A launcher that takes its close for the end of the PE may end the job with the status that it has at that
    /// moment, which is 0 where the PE has left with 0. The PE next to it gives a better one, if it is let.
    fn shared_connection(&self) -> Option<RawFd> {
        None
    }
}

/// Finds out which PEs are on this host where the launcher has not said it. Collective over the job, since a launcher
/// may tell the PEs of one machine and not those of another; only a map of all hosts is one that all PEs have.
pub fn locate(wireup: &dyn Member) -> Result<(), Fault> {
    let known = wireup.placement().get();
    if wireup.npes() == 1 || known.is_some_and(|placement| placement.hosts.is_some()) {
        return Ok(());
    }
    let mine = Place { told: known.map(|placement| placement.local.clone()), machine: machine::identity() };
    wireup.publish(ASKED, &mine.encode())?;
    wireup.fence()?;
    if known.is_none() {
        let local = around(wireup)?;
        let _ = wireup.placement().set(Placement { local, hosts: None });
    }
    Ok(())
}

/// The PEs around this one, which its launcher told nothing, that are on this machine and were told nothing either. If
/// one of them was, it knows better.
fn around(wireup: &dyn Member) -> Result<Range<u32>, Fault> {
    let me = wireup.pe();
    let place = |pe| wireup.lookup(pe, ASKED).map(|value| Place::decode(&value));
    let machine = place(me)?.map(|mine| mine.machine);
    let mut local = me..me + 1;
    for step in [-1, 1] {
        let mut next = me.checked_add_signed(step);
        while let Some(pe) = next.filter(|pe| *pe < wireup.npes()) {
            let theirs = place(pe)?.filter(|theirs| Some(&theirs.machine) == machine.as_ref());
            let Some(theirs) = theirs else { break };
            match theirs.told {
                Some(told) if told.contains(&me) => return Ok(told),
                Some(_) => break,
                None => local = local.start.min(pe)..local.end.max(pe + 1),
            }
            next = pe.checked_add_signed(step);
        }
    }
    Ok(local)
}

/// Under this key each PE publishes its [`Place`].
const ASKED: &str = "place";

/// Where a PE is.
struct Place {
    /// PEs of its host, where its launcher told it.
    told: Option<Range<u32>>,
    /// [`machine::identity`].
    machine: Vec<u8>,
}

impl Place {
    fn encode(&self) -> Vec<u8> {
        let Range { start, end } = self.told.clone().unwrap_or(0..0);
        [&start.to_le_bytes(), &end.to_le_bytes(), self.machine.as_slice()].concat()
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let (start, rest) = value.split_first_chunk()?;
        let (end, machine) = rest.split_first_chunk()?;
        let told = u32::from_le_bytes(*start)..u32::from_le_bytes(*end);
        Some(Self { told: Some(told).filter(|told| !told.is_empty()), machine: machine.to_vec() })
    }
}

/// Meets the other PEs of this host. Collective over the job.
pub fn share_job(wireup: &dyn Member, profile: MakeProfile) -> Result<Shared, Fault> {
    let (pe, npes, local) = (wireup.pe(), wireup.npes(), wireup.local());
    let alone = local.len() == 1;
    let name = name(&wireup.job(), local.start);
    let mut listener = None;
    if !alone && pe == local.start {
        listener = Some(socket::listen(&name).map_err(|error| refused(&name, "cannot listen at", &error))?);
    }
    if listener.is_some() {
        wireup.publish(MACHINE, &machine::identity())?;
    }
    if npes > 1 {
        // Whoever has listened before this fence can be reached after it.
        wireup.fence()?;
    }
    if pe == local.start {
        let shared = Shared { job: Job::on_host(local.clone(), npes)?, profile: profile(local, npes) };
        mmap::close_on_exec(&shared.job.fd());
        if let Some(listener) = listener {
            hand_out(wireup, &listener, &shared)?;
        }
        return Ok(shared);
    }
    check_machine(wireup, local.start)?;
    let (job, profile) = receive(wireup, &name)?;
    Ok(Shared { job: Job::open(job)?, profile })
}

/// Names of sockets are short, those of jobs are not.
fn name(job: &str, first: u32) -> String {
    let mut hash = DefaultHasher::new();
    job.hash(&mut hash);
    format!("pellucid-{}-{:016x}-{first}", socket::user(), hash.finish())
}

/// The launcher says that a PE is on this host: so it must be on this machine.
fn check_machine(wireup: &dyn Wireup, other: u32) -> Result<(), Fault> {
    let (mine, theirs) = (machine::identity(), wireup.lookup(other, MACHINE)?);
    if mine == theirs {
        return Ok(());
    }
    Err(startup(format!(
        "the launcher says that PE {other} and PE {} are on one host, but they are on {} and {}, or do not share a \
         network namespace there",
        wireup.pe(),
        machine::name(&theirs),
        machine::name(&mine)
    )))
}

fn hand_out(wireup: &dyn Member, listener: &UnixListener, shared: &Shared) -> Result<(), Fault> {
    let until = Instant::now() + PATIENCE;
    let mut awaited: Vec<u32> = wireup.local().skip(1).collect();
    let descriptors: Vec<_> =
        [shared.job.fd()].into_iter().chain(shared.profile.iter().map(AsRawFd::as_raw_fd)).collect();
    while !awaited.is_empty() {
        let came =
            socket::accept(listener, until).map_err(|error| startup(format!("the PEs of this host: {error}")))?;
        let Some(stream) = came else {
            return Err(startup(format!("of the PEs of this host, {awaited:?} did not come within {PATIENCE:?}")));
        };
        // Anyone on this machine may knock.
        if socket::peer_user(&stream).ok() != Some(socket::user()) {
            continue;
        }
        let mut hello = [0; 12];
        let left = until.saturating_duration_since(Instant::now());
        let Ok((bytes, connection)) = socket::receive(&stream, &mut hello, left) else { continue };
        if bytes != hello.len() {
            continue;
        }
        let [magic, npes, pe] = words(hello);
        let place = awaited.iter().position(|awaited| *awaited == pe);
        if let Some(place) = place.filter(|_| magic == HELLO && npes == wireup.npes()) {
            awaited.remove(place);
            // Held for the life of this process: the descriptors alone, or detectors of leaks report the list.
            connection.into_iter().for_each(|fd| _ = fd.into_raw_fd());
            let mut given = descriptors.clone();
            if pe == wireup.local().start + 1 {
                given.extend(wireup.shared_connection());
            }
            let sent = socket::send(&stream, &words_bytes([HELLO, npes, pe]), &given);
            sent.map_err(|error| startup(format!("PE {pe} of this host left while it got the job's memory: {error}")))?;
        }
    }
    Ok(())
}

fn receive(wireup: &dyn Member, name: &str) -> Result<(OwnedFd, Option<OwnedFd>), Fault> {
    let first = wireup.local().start;
    let stream = socket::connect(name).map_err(|error| refused(name, &format!("PE {first} is not at"), &error))?;
    if socket::peer_user(&stream).ok() != Some(socket::user()) {
        return Err(startup(format!("another user listens at the local socket @{name}, in place of PE {first}")));
    }
    let hello = words_bytes([HELLO, wireup.npes(), wireup.pe()]);
    let lost = |error: &dyn std::fmt::Display| {
        startup(format!("PE {first}, the first of this host, does not hand out the job's memory: {error}"))
    };
    let connection: Vec<RawFd> = wireup.shared_connection().into_iter().collect();
    socket::send(&stream, &hello, &connection).map_err(|error| lost(&error))?;
    let mut answer = [0; 12];
    let (bytes, mut descriptors) = socket::receive(&stream, &mut answer, PATIENCE).map_err(|error| lost(&error))?;
    if !connection.is_empty() && wireup.pe() == first + 1 {
        // That of the first PE, for the life of this process.
        std::mem::forget(descriptors.pop());
    }
    let mut descriptors = descriptors.into_iter();
    match descriptors.next() {
        Some(job) if bytes == answer.len() && answer == hello => Ok((job, descriptors.next())),
        _ => Err(lost(&"it took this PE for another: are the PEs of one version of the library?")),
    }
}

fn words(bytes: [u8; 12]) -> [u32; 3] {
    std::array::from_fn(|word| u32::from_ne_bytes(std::array::from_fn(|byte| bytes[4 * word + byte])))
}

fn words_bytes(words: [u32; 3]) -> [u8; 12] {
    std::array::from_fn(|byte| words[byte / 4].to_ne_bytes()[byte % 4])
}

fn startup(text: String) -> Fault {
    Fault::from(Cause::Startup(text))
}

fn refused(name: &str, what: &str, error: &std::io::Error) -> Fault {
    startup(format!("{what} the local socket @{name} where the PEs of this host meet: {error}"))
}

#[cfg(test)]
#[path = "rendezvous_tests.rs"]
mod tests;
