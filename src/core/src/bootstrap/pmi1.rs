//! PMI-1, as Hydra (`mpiexec` of MPICH and others) serves it: lines of `cmd=NAME key=value ...` over `PMI_FD` or
//! `PMI_PORT`.

use super::placement::Placement;
use super::pmi_socket::{self, Answer, Door, Socket, Texts};
use super::rendezvous::Member;
use super::wireup::Wireup;
use crate::base::Fault;
use std::ops::Range;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::OnceLock;
use std::time::Duration;

/// How long a launcher that was told of an abort may take to end this process.
const AFTER_ABORT: Duration = Duration::from_secs(1);
/// Bytes of a request at most: servers read lines into buffers of this size.
const LINE: usize = 1024;

/// What the environment says of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The connection.
    pub door: Door,
    /// `PMI_RANK` and `PMI_SIZE`; not with [`Door::Port`], where the launcher says them.
    pub rank: Option<(u32, u32)>,
}

/// A process of a PMI-1 job.
pub struct Pmi1 {
    socket: Socket,
    pe: u32,
    npes: u32,
    /// Name of the key-value space: of the job.
    space: String,
    room: usize,
    placement: OnceLock<Placement>,
}

impl Pmi1 {
    /// Introduces this process to its launcher.
    pub fn connect(given: &Given) -> Result<Self, Fault> {
        let socket = Socket::open("PMI-1", &given.door)?;
        match &given.door {
            Door::Descriptor(_) => Self::begin(socket, given.rank),
            Door::Port(_, id) => {
                let rank = introduce(&socket, id)?;
                Self::begin(socket, Some(rank))
            }
        }
    }

    fn begin(socket: Socket, rank: Option<(u32, u32)>) -> Result<Self, Fault> {
        let incomplete = || socket.fault("neither PMI_RANK and PMI_SIZE nor the launcher say which PE this is");
        let (pe, npes) = rank.filter(|(pe, npes)| pe < npes).ok_or_else(incomplete)?;
        let answer = {
            let mut connection = socket.lock();
            connection.ask("cmd=init pmi_version=1 pmi_subversion=1\n")?;
            connection.is_answered()?;
            Answer::of_words(&connection.line()?)
        };
        socket.check("init", "response_to_init", &answer)?;
        if answer.get("pmi_version") != Some("1") {
            let theirs = answer.get("pmi_version").unwrap_or("none");
            return Err(socket.fault(format_args!("the launcher speaks version {theirs} of PMI, not 1")));
        }
        let mut this = Self { socket, pe, npes, space: String::new(), room: 0, placement: OnceLock::new() };
        let limits = this.ask("get_maxes", "maxes", "")?;
        this.space = this.ask("get_my_kvsname", "my_kvsname", "")?.get("kvsname").unwrap_or_default().to_owned();
        let request = LINE.saturating_sub("cmd=put kvsname= key= value=\n".len() + this.space.len() + 64);
        this.room = limits.number("vallen_max").map_or(255, |room| room as usize).saturating_sub(1).min(request);
        let mapping = this.value("PMI_process_mapping").ok();
        if let Some(placement) = mapping.and_then(|text| Placement::from_mapping(&text, pe, npes)) {
            this.placement = placement.into();
        }
        Ok(this)
    }

    fn ask(&self, command: &str, expected: &str, arguments: &str) -> Result<Answer, Fault> {
        let mut connection = self.socket.lock();
        connection.ask(&format!("cmd={command}{arguments}\n"))?;
        let answer = Answer::of_words(&connection.line()?);
        self.socket.check(command, expected, &answer)?;
        Ok(answer)
    }

    fn value(&self, key: &str) -> Result<String, Fault> {
        let answer = self.ask("get", "get_result", &format!(" kvsname={} key={key}", self.space))?;
        let none = || self.socket.fault(format_args!("get of {key}: no value"));
        answer.get("value").map(str::to_owned).ok_or_else(none)
    }
}

/// Says which process of the launcher this is, and is told its rank and the size of the job.
fn introduce(socket: &Socket, id: &str) -> Result<(u32, u32), Fault> {
    let mut connection = socket.lock();
    connection.ask(&format!("cmd=initack pmiid={id}\n"))?;
    connection.is_answered()?;
    let answer = Answer::of_words(&connection.line()?);
    socket.check("initack", "initack", &answer)?;
    let (mut size, mut rank) = (None, None);
    // Three settings follow, the last one is of no interest.
    for _ in 0..3 {
        let answer = Answer::of_words(&connection.line()?);
        socket.check("initack", "set", &answer)?;
        size = answer.number("size").or(size);
        rank = answer.number("rank").or(rank);
    }
    rank.zip(size).ok_or_else(|| socket.fault("the launcher did not say which PE this is"))
}

impl Texts for Pmi1 {
    fn room(&self) -> usize {
        self.room
    }

    fn put(&self, key: &str, value: &str) -> Result<(), Fault> {
        self.ask("put", "put_result", &format!(" kvsname={} key={key} value={value}", self.space)).map(drop)
    }

    fn get(&self, _: u32, key: &str) -> Result<String, Fault> {
        self.value(key)
    }

    fn wrong(&self, text: &str) -> Fault {
        self.socket.fault(text)
    }
}

impl Member for Pmi1 {
    fn job(&self) -> String {
        self.space.clone()
    }

    fn placement(&self) -> &OnceLock<Placement> {
        &self.placement
    }

    fn shared_connection(&self) -> Option<RawFd> {
        Some(self.socket.fd())
    }
}

impl Wireup for Pmi1 {
    fn name(&self) -> &'static str {
        "pmi1"
    }

    fn pe(&self) -> u32 {
        self.pe
    }

    fn npes(&self) -> u32 {
        self.npes
    }

    fn local(&self) -> Range<u32> {
        self.placement.get().map_or(self.pe..self.pe + 1, |placement| placement.local.clone())
    }

    fn hosts(&self) -> Option<Vec<u32>> {
        self.placement.get()?.hosts.clone()
    }

    fn publish(&self, key: &str, value: &[u8]) -> Result<(), Fault> {
        pmi_socket::publish(self, self.pe, key, value)
    }

    fn fence(&self) -> Result<(), Fault> {
        self.ask("barrier_in", "barrier_out", "").map(drop)
    }

    fn lookup(&self, pe: u32, key: &str) -> Result<Vec<u8>, Fault> {
        pmi_socket::lookup(self, pe, key)
    }

    fn abort(&self, status: i32, _: &str) {
        if self.socket.is_ours() {
            let told = self.socket.tell(format!("cmd=abort exitcode={status}\n").as_bytes());
            // Where this PE ended first, Hydra's proxy would see that and be gone when `mpiexec` tells it to end the
            // others. Of that `mpiexec` dies (SIGPIPE), with all that it has not printed yet.
            if told.is_ok() {
                self.socket.outlive(AFTER_ABORT);
            }
        }
    }

    fn kills_at_once(&self) -> bool {
        true
    }

    fn server(&self) -> Option<OwnedFd> {
        self.socket.again()
    }

    fn finish(&self) {
        // The launcher may have ended already: then nobody is left to be told.
        if self.socket.is_ours() {
            let _ = self.ask("finalize", "finalize_ack", "");
        }
    }
}

#[cfg(test)]
#[path = "pmi1_tests.rs"]
mod tests;
