//! PMIx: `mpirun` of Open MPI, `prterun`, `srun --mpi=pmix`. The protocol is libpmix's own, which is opened at run
//! time.
#![allow(unsafe_code)]

mod abi;
mod find;
mod server;

use super::placement::Placement;
use super::rendezvous::Member;
use super::wireup::Wireup;
use crate::base::{Cause, Fault};
use crate::os::{process, thread};
use abi::{Bytes, Data, Functions, Info, Process, Value, kind};
use std::ffi::CString;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Seconds that a server may take for what a process has published: all have before it is asked for.
const PATIENCE: u32 = 60;

/// How often a value that is not found is asked for again, and after how long.
const RETRIES: u32 = 50;
const RETRY: Duration = Duration::from_millis(20);

/// A process of a PMIx job.
pub struct Pmix {
    functions: Functions,
    me: Process,
    npes: u32,
    placement: OnceLock<Placement>,
    /// The library that speaks, for people.
    version: String,
    owner: i32,
}

impl Pmix {
    /// Introduces this process, number `rank` of a job, to the launcher's server.
    pub fn connect(rank: u32) -> Result<Self, Fault> {
        let (functions, path) = find::load()?;
        let mut me = Process::NONE;
        // SAFETY: a structure to be filled, and no further information.
        let result = thread::adopting(|| unsafe { (functions.init)(&raw mut me, null_mut(), 0) });
        let mut this =
            Self { functions, me, npes: 0, placement: OnceLock::new(), version: String::new(), owner: process::id() };
        this.check("PMIx_Init", result)?;
        // SAFETY: a constant of the library.
        this.version = format!("{} at {path}", unsafe { abi::text((functions.version)()) });
        if this.me.rank != rank {
            let told =
                format!("PMIX_RANK={rank}, but the launcher's server takes this process for PE {}", this.me.rank);
            return Err(wrong(told));
        }
        this.npes = this.number("pmix.job.size")?;
        if this.me.rank >= this.npes {
            return Err(wrong(format!("PE {} in a job of {} PEs", this.me.rank, this.npes)));
        }
        let (pe, npes) = (this.me.rank, this.npes);
        let mapping = this
            .text("pmix.anlmap", &Info::known_here())
            .ok()
            .and_then(|text| Placement::from_mapping(&text, pe, npes));
        // Every server knows this, but not every client has it at hand.
        let peers = this
            .text("pmix.lpeers", &Info::known_here())
            .or_else(|_| this.text("pmix.lpeers", &Info::within(PATIENCE)));
        let peers = || peers.ok().and_then(|text| Placement::from_peers(&text, pe, npes));
        if let Some(placement) = mapping.or_else(peers) {
            this.placement = placement.into();
        }
        Ok(this)
    }

    /// The library's own words about itself, and where it is.
    pub fn version(&self) -> &str {
        &self.version
    }

    fn is_ours(&self) -> bool {
        self.owner == process::id()
    }

    /// Whether servers keep saying of other hosts' processes that there is nothing, where they were asked before a
    /// value was published, or just after: those of Slurm 22.
    fn answers_late(&self) -> bool {
        self.me.namespace().starts_with("slurm.")
    }

    fn check(&self, call: &str, result: i32) -> Result<(), Fault> {
        if result == abi::SUCCESS {
            return Ok(());
        }
        // SAFETY: a constant of the library.
        let reason = unsafe { abi::text((self.functions.error)(result)) };
        Err(wrong(format!("{call}: {reason} ({result})")))
    }

    /// What is known of a process under a key, as `take` reads it; `None` of it: another kind of value.
    fn value<T>(&self, rank: u32, key: &str, how: &Info, take: impl Fn(u16, &Data) -> Option<T>) -> Result<T, Fault> {
        let name = CString::new(key).map_err(|_| wrong(format!("{key:?} is no key")))?;
        let from = Process { rank, ..self.me };
        let mut value: *mut Value = null_mut();
        // SAFETY: a process, a C string, one piece of information, and a place for the result.
        let result =
            unsafe { (self.functions.get)(&raw const from, name.as_ptr(), &raw const *how, 1, &raw mut value) };
        let of = if rank == abi::ANY_RANK { String::new() } else { format!(" of PE {rank}") };
        self.check(&format!("PMIx_Get of {key}{of}"), result)?;
        if value.is_null() {
            return Err(wrong(format!("PMIx_Get of {key} gives nothing")));
        }
        // SAFETY: the library made the value and leaves it to us. Only what its kind says is in it is read, and freed
        // as the library's own macros do. The union is never read beyond the two words that a byte object has.
        unsafe {
            let kind = (*value).kind;
            let data = Data { bytes: (&raw const (*value).data).cast::<Bytes>().read() };
            let taken = take(kind, &data);
            if kind == kind::STRING || kind == kind::BYTES {
                libc::free(data.string.cast());
            }
            libc::free(value.cast());
            taken.ok_or_else(|| wrong(format!("PMIx_Get of {key} gives a value of kind {kind}")))
        }
    }

    fn number(&self, key: &str) -> Result<u32, Fault> {
        self.value(abi::ANY_RANK, key, &Info::known_here(), |kind, data| match kind {
            // SAFETY: the kind says so.
            kind::UINT32 | kind::INT => Some(unsafe { data.number }),
            // SAFETY: the kind says so.
            kind::SIZE => u32::try_from(unsafe { data.size }).ok(),
            _ => None,
        })
    }

    fn text(&self, key: &str, how: &Info) -> Result<String, Fault> {
        self.value(abi::ANY_RANK, key, how, |kind, data| {
            // SAFETY: the kind says that it is a C string.
            (kind == kind::STRING).then(|| unsafe { abi::text(data.string) })
        })
    }
}

fn wrong(text: impl std::fmt::Display) -> Fault {
    Fault::from(Cause::Startup(format!("PMIx: {text}")))
}

impl Member for Pmix {
    fn job(&self) -> String {
        self.me.namespace()
    }

    fn placement(&self) -> &OnceLock<Placement> {
        &self.placement
    }
}

impl Wireup for Pmix {
    fn name(&self) -> &'static str {
        "pmix"
    }

    fn pe(&self) -> u32 {
        self.me.rank
    }

    fn npes(&self) -> u32 {
        self.npes
    }

    fn local(&self) -> Range<u32> {
        self.placement.get().map_or(self.me.rank..self.me.rank + 1, |placement| placement.local.clone())
    }

    fn hosts(&self) -> Option<Vec<u32>> {
        // Asking PMIx itself, node by node, does not come to an end with every server.
        self.placement.get()?.hosts.clone()
    }

    fn publish(&self, key: &str, value: &[u8]) -> Result<(), Fault> {
        let name = CString::new(format!("pellucid.{key}")).map_err(|_| wrong(format!("{key:?} is no key")))?;
        let bytes = Bytes { start: value.as_ptr().cast_mut().cast(), len: value.len() };
        let mut value = Value { kind: kind::BYTES, data: Data { room: [0; 8] } };
        value.data.bytes = bytes;
        // SAFETY: a C string and a value of the kind that it says, which the library copies.
        let result = unsafe { (self.functions.put)(abi::GLOBAL, name.as_ptr(), &raw mut value) };
        self.check(&format!("PMIx_Put of {key}"), result)
    }

    fn fence(&self) -> Result<(), Fault> {
        // SAFETY: no arguments.
        let result = unsafe { (self.functions.commit)() };
        self.check("PMIx_Commit", result)?;
        // Whoever needs some of the data asks for it then, unless that is of no use.
        let how = self.answers_late().then(Info::with_data);
        let (how, count) = how.as_ref().map_or((null(), 0), |how| (std::ptr::from_ref(how), 1));
        // SAFETY: null for all processes of the job, and at most one piece of information.
        let result = unsafe { (self.functions.fence)(null(), 0, how, count) };
        self.check("PMIx_Fence", result)
    }

    fn lookup(&self, pe: u32, key: &str) -> Result<Vec<u8>, Fault> {
        let ask = || {
            self.value(pe, &format!("pellucid.{key}"), &Info::within(PATIENCE), |kind, data| {
                (kind == kind::BYTES).then(|| {
                    // SAFETY: the kind says that it is so many bytes.
                    let Bytes { start, len } = unsafe { data.bytes };
                    if start.is_null() || len == 0 {
                        return Vec::new();
                    }
                    // SAFETY: as above.
                    unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }.to_vec()
                })
            })
        };
        // A server on another host may answer from what it had before the fence.
        let since = Instant::now();
        for _ in 0..RETRIES {
            match ask() {
                Ok(value) => return Ok(value),
                // One that does not answer does not do so later.
                Err(fault) if since.elapsed() >= Duration::from_secs(PATIENCE.into()) => return Err(fault),
                Err(_) => std::thread::sleep(RETRY),
            }
        }
        ask()
    }

    fn abort(&self, status: i32, message: &str) {
        if self.is_ours() {
            let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
            // Slurm takes 256, of which nothing is left in an exit status, for a success.
            // SAFETY: a C string, and null for all processes of the job.
            unsafe { (self.functions.abort)(status & 0xff, message.as_ptr(), null_mut(), 0) };
        }
    }

    fn server(&self) -> Option<OwnedFd> {
        server::connection()
    }

    fn finish(&self) {
        if self.is_ours() {
            // SAFETY: no further information.
            unsafe { (self.functions.finalize)(null(), 0) };
        }
    }
}
