//! What a PE sees of another host: puts, gets and atomics through the fabric, between two processes.
//!
//! ```text
//! transport_pingpong serve PORT [PROVIDER [ADDRESS [naps]]]
//! transport_pingpong HOST PORT [PROVIDER [ADDRESS [naps]]]
//! ```
//! Prints lines of JSON as `rma_pingpong` of libfabric-sys does, with which it is to be compared, in the same run: as
//! it is with `rma_pingpong ... fd`, and with `naps`, which does without a descriptor to sleep on, with `rma_pingpong`
//! without.
#![allow(unsafe_code)]

use pellucid_core::base::Fault;
use pellucid_core::transport::Directory;
use pellucid_core::transport::ofi::{Fabric, Settings, Sleep};
use pellucid_core::transport::{AmoOp, Atomic, Channel, Completion, RemoteAddress, SegmentId, Transport};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

const MEMORY: usize = 4 << 20;
const ROUNDS: usize = 30;
const PINGS: usize = 100;
const MANY: usize = 20;
const STREAM: usize = 10_000;

struct Pe {
    fabric: &'static Fabric,
    memory: &'static [u64],
    peer: i32,
    provider: String,
}

impl Pe {
    fn word(&self, offset: usize) -> u64 {
        // SAFETY: in the memory, which others write to.
        unsafe { self.memory.as_ptr().add(offset / 8).read_volatile() }
    }

    fn there(&self, offset: usize) -> RemoteAddress {
        RemoteAddress { pe: self.peer, segment: SegmentId::HEAP, offset }
    }

    fn put(&self, offset: usize, source: *const u8, bytes: usize, when: Completion) -> Result<(), Fault> {
        // SAFETY: sources are this PE's memory or live until the quiet.
        unsafe { self.fabric.put(Channel::DEFAULT, self.there(offset), source, bytes, when) }
    }

    fn get(&self, offset: usize, bytes: usize) -> Result<(), Fault> {
        let to = self.memory.as_ptr().cast::<u8>().wrapping_add(offset).cast_mut();
        // SAFETY: this PE's memory, which nobody looks at meanwhile.
        unsafe { self.fabric.get(Channel::DEFAULT, to, self.there(offset), bytes, Completion::Local) }
    }

    /// Adds one to a word of the other PE.
    fn add(&self, result: *mut u64) -> Result<(), Fault> {
        let atomic = Atomic { op: AmoOp::Add, width: 8, operand: 1, compare: 0, result: result.cast() };
        // SAFETY: the result is null, or lives until the return.
        unsafe { self.fabric.atomic(Channel::DEFAULT, self.there(128), atomic, Completion::Local) }
    }

    /// Writes so many bytes, until they are there.
    fn write(&self, offset: usize, source: &[u8]) -> Result<(), Fault> {
        self.put(offset, source.as_ptr(), source.len(), Completion::Local)?;
        self.quiet()
    }

    fn quiet(&self) -> Result<(), Fault> {
        self.fabric.quiet(Channel::DEFAULT)
    }

    fn await_word(&self, offset: usize, value: u64) {
        while self.word(offset) < value {
            self.fabric.progress();
        }
    }

    /// The median time of a round, in nanoseconds an operation.
    fn measure(
        &self,
        what: &str,
        bytes: usize,
        n: usize,
        mut round: impl FnMut(usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut times = [0.0f64; ROUNDS];
        for time in &mut times {
            let start = Instant::now();
            round(n)?;
            *time = start.elapsed().as_nanos() as f64 / n as f64;
        }
        times.sort_unstable_by(f64::total_cmp);
        let median = times[ROUNDS / 2];
        let rate =
            if bytes > 4096 { format!(", \"MB/s\": {:.0}", bytes as f64 * 1000.0 / median) } else { String::new() };
        let provider = &self.provider;
        println!(
            "{{\"who\": \"far\", \"provider\": \"{provider}\", \"what\": \"{what}\", \"bytes\": {bytes}, \"ns\": \
             {median:.0}{rate}}}"
        );
        Ok(())
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.len() < 2 {
        eprintln!("usage: transport_pingpong serve|HOST PORT [PROVIDER [ADDRESS]]");
        std::process::exit(2);
    }
    if let Err(error) = run(&args) {
        eprintln!("transport_pingpong: {error}");
        std::process::exit(1);
    }
}

fn run(args: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let (host, port) = (args[0].as_str(), args[1].as_str());
    let serve = host == "serve";
    let mut stream = if serve {
        TcpListener::bind(format!("0.0.0.0:{port}"))?.accept()?.0
    } else {
        let mut tries = (0..100).map(|_| {
            TcpStream::connect(format!("{host}:{port}"))
                .inspect_err(|_| std::thread::sleep(std::time::Duration::from_millis(100)))
        });
        tries.find_map(Result::ok).ok_or("nobody serves there")?
    };
    let provider = args.get(2).cloned().unwrap_or_else(|| "tcp;ofi_rxm".into());
    let settings = Settings {
        provider: Some(provider.clone()),
        interface: args.get(3).cloned(),
        loopback: true,
        sleep: match args.get(4).map(String::as_str) {
            Some("naps") => Sleep::Naps,
            _ => Sleep::Descriptor,
        },
        ..Settings::default()
    };
    // Of a lazily exchanged endpoint address: the first use comes after the exchange below.
    let address = std::sync::Arc::new(std::sync::OnceLock::<Vec<u8>>::new());
    let theirs = address.clone();
    let directory = Directory {
        answer: Box::new(|_| 0),
        note: Box::new(|_| ()),
        lost: Box::new(|_| ()),
        unreached: Box::new(|_, _| false),
        address: Box::new(move |_| Ok(theirs.get().cloned().unwrap_or_default())),
        host: Box::new(|_| String::new()),
    };
    let memory: &'static [u64] = vec![0u64; MEMORY / 8].leak();
    let regions = [(memory.as_ptr() as usize, MEMORY), (0, 0)];
    let me = u32::from(!serve);
    // SAFETY: the memory is never freed, and looked at through pointers.
    let fabric: &'static Fabric = Box::leak(Box::new(unsafe { Fabric::open(&settings, regions, me, 2, directory)? }));
    let mut mine = fabric.endpoint_address().to_vec();
    mine.resize(400, 0);
    stream.write_all(&(fabric.endpoint_address().len() as u64).to_ne_bytes())?;
    stream.write_all(&mine)?;
    let (mut len, mut other) = ([0; 8], vec![0; 400]);
    stream.read_exact(&mut len)?;
    stream.read_exact(&mut other)?;
    other.truncate(u64::from_ne_bytes(len) as usize);
    let _ = address.set(other);
    let pe = Pe { fabric, memory, peer: i32::from(serve), provider };
    if serve {
        answer(&pe, &mut stream)?
    } else {
        ask(&pe, &mut stream)?
    }
    fabric.drain();
    Ok(())
}

fn answer(pe: &Pe, stream: &mut TcpStream) -> Result<(), Fault> {
    for i in 1..=(PINGS * ROUNDS) as u64 {
        pe.await_word(0, i);
        pe.put(64, i.to_ne_bytes().as_ptr(), 8, Completion::Local)?;
    }
    pe.quiet()?;
    // All else is served by looking at the queue, as a PE does that waits, and at the end by one that computes.
    let _ = stream.set_nonblocking(true);
    let mut byte = [0u8];
    while stream.read(&mut byte).is_err() {
        for _ in 0..1000 {
            pe.fabric.progress();
        }
    }
    let _ = stream.set_nonblocking(false);
    let _ = stream.read(&mut byte);
    Ok(())
}

fn ask(pe: &Pe, stream: &mut TcpStream) -> Result<(), Fault> {
    let source: &[u8] = vec![7u8; 1 << 20].leak();
    let mut i = 0u64;
    pe.measure("write ping-pong (two ways)", 8, PINGS, |n| {
        for _ in 0..n {
            i += 1;
            pe.put(0, i.to_ne_bytes().as_ptr(), 8, Completion::Local)?;
            pe.await_word(64, i);
        }
        Ok(())
    })?;
    pe.quiet()?;
    one_by_one(pe, source)?;
    many(pe, source)?;
    let _ = stream.write_all(&[1]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    to_one_that_computes(pe, source)?;
    let _ = stream.write_all(&[1]);
    Ok(())
}

/// Each operation is complete before the next.
fn one_by_one(pe: &Pe, source: &[u8]) -> Result<(), Fault> {
    let mut result = 0u64;
    pe.measure("fetch-add", 8, PINGS, |n| (0..n).try_for_each(|_| pe.add(&raw mut result)))?;
    pe.measure("write", 8, PINGS, |n| (0..n).try_for_each(|_| pe.write(256, &source[..8])))?;
    pe.measure("read", 8, PINGS, |n| (0..n).try_for_each(|_| pe.get(256, 8)))?;
    pe.measure("write", 1 << 20, MANY, |n| (0..n).try_for_each(|_| pe.write(4096, source)))?;
    pe.measure("read", 1 << 20, MANY, |n| (0..n).try_for_each(|_| pe.get(4096, 1 << 20)))
}

/// Many are under way, and completed together.
fn many(pe: &Pe, source: &[u8]) -> Result<(), Fault> {
    pe.measure("writes in a window of 16", 1 << 20, MANY, |n| {
        (0..n).try_for_each(|_| pe.put(4096, source.as_ptr(), 1 << 20, Completion::Deferred))?;
        pe.quiet()
    })?;
    for (what, when) in
        [("blocking puts, one quiet", Completion::Local), ("nonblocking puts, one quiet", Completion::Deferred)]
    {
        pe.measure(what, 8, STREAM, |n| {
            (0..n).try_for_each(|k| pe.put(4096 + 8 * (k % 1000), source.as_ptr(), 8, when))?;
            pe.quiet()
        })?;
    }
    pe.measure("atomic adds, one quiet", 8, STREAM, |n| {
        (0..n).try_for_each(|_| pe.add(std::ptr::null_mut()))?;
        pe.quiet()
    })
}

/// The other PE makes no calls meanwhile.
fn to_one_that_computes(pe: &Pe, source: &[u8]) -> Result<(), Fault> {
    let mut result = 0u64;
    pe.measure("fetch-add of a PE that computes", 8, PINGS, |n| (0..n).try_for_each(|_| pe.add(&raw mut result)))?;
    pe.measure("write to a PE that computes", 8, PINGS, |n| (0..n).try_for_each(|_| pe.write(256, &source[..8])))
}
