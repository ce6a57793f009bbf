//! PMI-2, as Slurm's `pmi2` plugin serves it: `cmd=NAME;key=value;...` behind its length in six characters, over
//! `PMI_FD`.

use super::placement::Placement;
use super::pmi_socket::{self, Answer, Door, Socket, Texts};
use super::rendezvous::Member;
use super::wireup::Wireup;
use crate::base::Fault;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

/// Bytes of a value at most (`PMI2_MAX_VALLEN`, with room for an end).
const VALUE: usize = 1023;

/// A process of a PMI-2 job.
pub struct Pmi2 {
    socket: Socket,
    pe: u32,
    npes: u32,
    job: String,
    placement: OnceLock<Placement>,
}

impl Pmi2 {
    /// Introduces this process, number `rank` of its job, to its launcher.
    pub fn connect(door: &Door, rank: u32) -> Result<Self, Fault> {
        let job = std::env::var("PMI_JOBID").unwrap_or_default();
        Self::begin(Socket::open("PMI-2", door)?, rank, &job)
    }

    /// `job`: the launcher's id of the job, where it has given one.
    fn begin(socket: Socket, rank: u32, job: &str) -> Result<Self, Fault> {
        {
            let mut connection = socket.lock();
            // The version is agreed on in the words of PMI-1.
            connection.ask("cmd=init pmi_version=2 pmi_subversion=0\n")?;
            connection.is_answered()?;
            let answer = Answer::of_words(&connection.line()?);
            socket.check("init", "response_to_init", &answer)?;
            if answer.get("pmi_version") != Some("2") {
                let theirs = answer.get("pmi_version").unwrap_or("none");
                return Err(socket.fault(format_args!(
                    "the launcher speaks version {theirs} of PMI, not 2 (SHMEM_BOOTSTRAP=pmi1 uses version 1)"
                )));
            }
        }
        let mut this = Self { socket, pe: rank, npes: 0, job: String::new(), placement: OnceLock::new() };
        let own = rank.to_string();
        // Slurm wants its id back; MPICH 5 gives none, and does not understand an empty one.
        let job = Some(("pmijobid", job)).filter(|(_, job)| !job.is_empty());
        let arguments: Vec<_> = job.into_iter().chain([("pmirank", own.as_str()), ("threaded", "TRUE")]).collect();
        let answer = this.ask("fullinit", &arguments)?;
        let numbers = answer.number("rank").zip(answer.number("size")).filter(|(pe, npes)| pe < npes);
        let incomplete = || this.socket.fault("the launcher did not say which PE this is");
        (this.pe, this.npes) = numbers.ok_or_else(incomplete)?;
        this.job = this.ask("job-getid", &[])?.get("jobid").unwrap_or_default().to_owned();
        let mapping = this.ask("info-getjobattr", &[("key", "PMI_process_mapping")]).ok();
        let mapping = mapping.filter(found);
        if let Some(text) = mapping.as_ref().and_then(|answer| answer.get("value"))
            && let Some(placement) = Placement::from_mapping(text, this.pe, this.npes)
        {
            this.placement = placement.into();
        }
        Ok(this)
    }

    fn ask(&self, command: &str, arguments: &[(&str, &str)]) -> Result<Answer, Fault> {
        let mut connection = self.socket.lock();
        connection.ask(&request(command, arguments))?;
        let length = connection.exactly(6)?;
        let bytes = length.trim().parse::<usize>();
        let bytes =
            bytes.map_err(|_| self.socket.fault(format_args!("the answer to {command} has the length {length:?}")))?;
        let answer = Answer::of_fields(&connection.exactly(bytes)?);
        drop(connection);
        self.socket.check(command, &format!("{command}-response"), &answer)?;
        Ok(answer)
    }
}

fn request(command: &str, arguments: &[(&str, &str)]) -> String {
    let mut text = format!("cmd={command};");
    for (name, value) in arguments {
        text += &format!("{name}={};", value.replace(';', ";;"));
    }
    format!("{:6}{text}", text.len())
}

/// Whether a look-up found something: the flag has two names.
fn found(answer: &Answer) -> bool {
    answer.get("found").or(answer.get("flag")).is_none_or(|flag| flag == "TRUE")
}

impl Texts for Pmi2 {
    fn room(&self) -> usize {
        VALUE
    }

    fn put(&self, key: &str, value: &str) -> Result<(), Fault> {
        self.ask("kvs-put", &[("key", key), ("value", value)]).map(drop)
    }

    fn get(&self, pe: u32, key: &str) -> Result<String, Fault> {
        let answer = self.ask("kvs-get", &[("jobid", &self.job), ("srcid", &pe.to_string()), ("key", key)])?;
        let none = || self.socket.fault(format_args!("PE {pe} has published no {key}"));
        Some(&answer)
            .filter(|answer| found(answer))
            .and_then(|answer| answer.get("value"))
            .map(str::to_owned)
            .ok_or_else(none)
    }

    fn wrong(&self, text: &str) -> Fault {
        self.socket.fault(text)
    }
}

impl Member for Pmi2 {
    fn job(&self) -> String {
        self.job.clone()
    }

    fn placement(&self) -> &OnceLock<Placement> {
        &self.placement
    }
}

impl Wireup for Pmi2 {
    fn name(&self) -> &'static str {
        "pmi2"
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
        self.ask("kvs-fence", &[]).map(drop)
    }

    fn lookup(&self, pe: u32, key: &str) -> Result<Vec<u8>, Fault> {
        pmi_socket::lookup(self, pe, key)
    }

    fn abort(&self, _: i32, message: &str) {
        if self.socket.is_ours() {
            // Slurm takes what follows a semicolon for a further key, doubled or not.
            let plain = |c| {
                if c == ';' {
                    ','
                } else if char::is_control(c) {
                    ' '
                } else {
                    c
                }
            };
            let message: String = message.chars().map(plain).take(400).collect();
            let _ = self.socket.tell(request("abort", &[("isworld", "TRUE"), ("msg", &message)]).as_bytes());
        }
    }

    fn server(&self) -> Option<OwnedFd> {
        self.socket.again()
    }

    fn finish(&self) {
        if self.socket.is_ours() {
            let _ = self.ask("finalize", &[]);
        }
    }
}

#[cfg(test)]
#[path = "pmi2_tests.rs"]
mod tests;
