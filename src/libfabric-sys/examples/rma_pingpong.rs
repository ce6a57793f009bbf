//! What the provider itself can do: RMA between two processes, with nothing of Pellucid's between.
//!
//! ```text
//! rma_pingpong serve PORT [PROVIDER [ADDRESS [fd]]]
//! rma_pingpong HOST PORT [PROVIDER [ADDRESS [fd]]]
//! ```
//! The second process prints a line of JSON for each measurement; times are of one operation (`ping-pong`: of one way),
//! the median of several rounds. Writes ask for delivery completions where the provider has them, as an OpenSHMEM
//! library must. ADDRESS chooses among the interfaces of PROVIDER. With `fd` the completion queue has a descriptor to
//! sleep on, as whoever serves others while the program computes needs; nobody sleeps on it here, but some providers
//! are slower with it. The names are exchanged over a TCP connection.
#![allow(unsafe_code)]

use libfabric_sys::{self as fi, Library};
use std::ffi::{CString, c_void};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ptr;
use std::time::Instant;

const MEMORY: usize = 4 << 20;
const ROUNDS: usize = 30;

/// An endpoint, its memory and its peer.
struct End {
    ep: *mut fi::fid_ep,
    cq: *mut fi::fid_cq,
    memory: Box<[u64]>,
    descriptor: *mut c_void,
    peer: u64,
    there: u64,
    key: u64,
    inject: usize,
    flags: u64,
    context: Box<fi::fi_context2>,
    receive: Box<fi::fi_context2>,
    received: u64,
    sent: u64,
    provider: String,
}

fn check(what: &str, error: i64, library: &Library) {
    if error != 0 {
        eprintln!("rma_pingpong: {what}: {}", library.strerror(error));
        std::process::exit(1);
    }
}

/// What the provider offers that fits, and how its operations are asked to complete.
///
/// # Safety
/// The library stays open.
unsafe fn find(library: &Library, provider: &str, address: Option<&str>) -> (*mut fi::fi_info, u64) {
    // SAFETY: what the library allocates has all of its attributes.
    unsafe {
        let hints = library.allocinfo();
        (*hints).caps = fi::FI_MSG | fi::FI_RMA;
        (*hints).mode = fi::FI_CONTEXT | fi::FI_CONTEXT2;
        (*(*hints).ep_attr).type_ = fi::FI_EP_RDM;
        (*(*hints).domain_attr).mr_mode =
            (fi::FI_MR_LOCAL | fi::FI_MR_VIRT_ADDR | fi::FI_MR_ALLOCATED | fi::FI_MR_PROV_KEY) as i32;
        (*(*hints).domain_attr).threading = fi::FI_THREAD_DOMAIN;
        (*(*hints).fabric_attr).prov_name = CString::new(provider).unwrap_or_default().into_raw();
        let mut info = ptr::null_mut();
        let mut flags = fi::FI_DELIVERY_COMPLETE;
        (*(*hints).tx_attr).op_flags = flags;
        let mut error = library.getinfo(hints, &raw mut info);
        if error != 0 {
            flags = fi::FI_TRANSMIT_COMPLETE;
            (*(*hints).tx_attr).op_flags = 0;
            error = library.getinfo(hints, &raw mut info);
        }
        check("fi_getinfo", error.into(), library);
        while let Some(address) = address.and_then(|a| a.parse::<std::net::Ipv4Addr>().ok()) {
            let name = (*info).src_addr.cast::<u8>();
            if (*info).src_addrlen == 16 && std::slice::from_raw_parts(name.add(4), 4) == address.octets() {
                break;
            }
            info = (*info).next;
            if info.is_null() {
                eprintln!("rma_pingpong: no address {address}");
                std::process::exit(1);
            }
        }
        (*(*info).tx_attr).op_flags = 0;
        (info, flags)
    }
}

/// A domain, and an endpoint in it with its queue and its table of addresses.
type Opened = (*mut fi::fid_domain, *mut fi::fid_ep, *mut fi::fid_cq, *mut fi::fid_av);

/// # Safety
/// `info` is of [`find`].
unsafe fn open_endpoint(library: &Library, info: *mut fi::fi_info) -> Opened {
    // SAFETY: each object is opened from those before it; attributes live through their calls.
    unsafe {
        let mut fabric = ptr::null_mut();
        check("fi_fabric", library.fabric((*info).fabric_attr, &raw mut fabric).into(), library);
        let mut domain = ptr::null_mut();
        check("fi_domain", fi::fi_domain(fabric, info, &raw mut domain).into(), library);
        let mut attr: fi::fi_cq_attr = std::mem::zeroed();
        attr.format = fi::FI_CQ_FORMAT_MSG;
        attr.size = 1024;
        attr.wait_obj =
            if std::env::args().nth(5).is_some_and(|a| a == "fd") { fi::FI_WAIT_FD } else { fi::FI_WAIT_NONE };
        let mut cq = ptr::null_mut();
        check("fi_cq_open", fi::fi_cq_open(domain, &raw mut attr, &raw mut cq).into(), library);
        let mut attr: fi::fi_av_attr = std::mem::zeroed();
        attr.type_ = fi::FI_AV_TABLE;
        let mut av = ptr::null_mut();
        check("fi_av_open", fi::fi_av_open(domain, &raw mut attr, &raw mut av).into(), library);
        let mut ep = ptr::null_mut();
        check("fi_endpoint", fi::fi_endpoint(domain, info, &raw mut ep).into(), library);
        check("fi_ep_bind", fi::fi_bind(ep.cast(), av.cast(), 0).into(), library);
        let both = fi::FI_TRANSMIT | fi::FI_SELECTIVE_COMPLETION;
        check("fi_ep_bind", fi::fi_bind(ep.cast(), cq.cast(), both).into(), library);
        check("fi_ep_bind", fi::fi_bind(ep.cast(), cq.cast(), fi::FI_RECV).into(), library);
        check("fi_enable", fi::fi_enable(ep).into(), library);
        (domain, ep, cq, av)
    }
}

/// Tells the other side this one's name, base address and key, and gives its address, base and key.
///
/// # Safety
/// The endpoint and its table of addresses are open.
unsafe fn exchange(
    library: &Library,
    stream: &mut TcpStream,
    (ep, av): (*mut fi::fid_ep, *mut fi::fid_av),
    base: u64,
    key: u64,
) -> (fi::fi_addr_t, u64, u64) {
    let mut mine = [0u8; 256];
    let mut len = 240;
    // SAFETY: there is room for a name of 240 bytes.
    let error = unsafe { fi::fi_getname(ep, mine.as_mut_ptr().add(16).cast(), &raw mut len) };
    check("fi_getname", error.into(), library);
    mine[..8].copy_from_slice(&base.to_ne_bytes());
    mine[8..16].copy_from_slice(&key.to_ne_bytes());
    let mut theirs = [0u8; 256];
    if stream.write_all(&mine).and_then(|()| stream.read_exact(&mut theirs)).is_err() {
        eprintln!("rma_pingpong: the other side has gone");
        std::process::exit(1);
    }
    let word = |at: usize| u64::from_ne_bytes(theirs[at..at + 8].try_into().unwrap_or_default());
    let mut peer = 0;
    // SAFETY: the other side's name, which is as long as this one's.
    if unsafe { fi::fi_av_insert(av, theirs.as_ptr().add(16).cast(), 1, &raw mut peer) } != 1 {
        check("fi_av_insert", -22, library);
    }
    (peer, word(0), word(8))
}

impl End {
    fn open(provider: &str, address: Option<&str>, stream: &mut TcpStream) -> Self {
        let library = Library::open(None).unwrap_or_else(|error| {
            eprintln!("rma_pingpong: {error}");
            std::process::exit(1)
        });
        let mut memory = vec![0u64; MEMORY / 8].into_boxed_slice();
        // SAFETY: each object is opened from those before it; attributes live through their calls.
        unsafe {
            let (info, flags) = find(&library, provider, address);
            let (domain, ep, cq, av) = open_endpoint(&library, info);
            let mut mr = ptr::null_mut();
            let access =
                fi::FI_SEND | fi::FI_RECV | fi::FI_READ | fi::FI_WRITE | fi::FI_REMOTE_READ | fi::FI_REMOTE_WRITE;
            let start = memory.as_mut_ptr();
            let error = fi::fi_mr_reg(domain, start.cast(), MEMORY, access, 1, &raw mut mr);
            check("fi_mr_reg", error.into(), &library);
            let mode = (*(*info).domain_attr).mr_mode as u64;
            let base = if mode & fi::FI_MR_VIRT_ADDR != 0 { start as u64 } else { 0 };
            let key = if mode & fi::FI_MR_PROV_KEY != 0 { (*mr).key } else { 1 };
            let (peer, there, key) = exchange(&library, stream, (ep, av), base, key);
            let context = || Box::new(fi::fi_context2 { internal: [ptr::null_mut(); 8] });
            let mut end = Self {
                ep,
                cq,
                memory,
                descriptor: (*mr).mem_desc,
                peer,
                there,
                key,
                inject: (*(*info).tx_attr).inject_size,
                flags,
                context: context(),
                receive: context(),
                received: 0,
                sent: 0,
                provider: provider.to_owned(),
            };
            end.post_receive();
            end
        }
    }

    fn at(&mut self, offset: usize) -> *mut u8 {
        self.memory.as_mut_ptr().cast::<u8>().wrapping_add(offset)
    }

    fn word(&self, offset: usize) -> u64 {
        // SAFETY: in the memory, which others write to.
        unsafe { self.memory.as_ptr().add(offset / 8).read_volatile() }
    }

    fn post_receive(&mut self) {
        let (to, descriptor) = (self.at(MEMORY - 64), self.descriptor);
        let context = (&raw mut *self.receive).cast();
        // SAFETY: the last line of the memory is for messages.
        while unsafe { fi::fi_recv(self.ep, to.cast(), 64, descriptor, context) } == fi::EAGAIN {
            self.progress();
        }
    }

    /// Reads completions: counts what was sent and what has come.
    fn progress(&mut self) {
        let mut entry = fi::fi_cq_msg_entry { op_context: ptr::null_mut(), flags: 0, len: 0 };
        // SAFETY: one entry of the queue's format.
        let n = unsafe { fi::fi_cq_read(self.cq, (&raw mut entry).cast(), 1) };
        if n == 1 {
            if entry.flags & fi::FI_RECV != 0 {
                self.received += 1;
                self.post_receive();
            } else {
                self.sent += 1;
            }
        } else if n != fi::EAGAIN {
            eprintln!("rma_pingpong: reading the completion queue: {n}");
            std::process::exit(1);
        }
    }

    /// Posts an RMA operation of `bytes` bytes at an offset, the same here and there.
    fn post(&mut self, read: bool, offset: usize, bytes: usize) {
        let iov = fi::iovec { iov_base: self.at(offset).cast(), iov_len: bytes };
        let rma = fi::fi_rma_iov { addr: self.there + offset as u64, len: bytes, key: self.key };
        let mut descriptor = self.descriptor;
        let message = fi::fi_msg_rma {
            msg_iov: &raw const iov,
            desc: &raw mut descriptor,
            iov_count: 1,
            addr: self.peer,
            rma_iov: &raw const rma,
            rma_iov_count: 1,
            context: (&raw mut *self.context).cast(),
            data: 0,
        };
        let inject = if bytes <= self.inject { fi::FI_INJECT } else { 0 };
        loop {
            // SAFETY: registered memory that lives as long as the endpoint.
            let error = unsafe {
                if read {
                    fi::fi_readmsg(self.ep, &raw const message, fi::FI_COMPLETION)
                } else {
                    fi::fi_writemsg(self.ep, &raw const message, fi::FI_COMPLETION | self.flags | inject)
                }
            };
            match error {
                0 => return,
                fi::EAGAIN => self.progress(),
                error => {
                    eprintln!("rma_pingpong: posting: {error}");
                    std::process::exit(1);
                }
            }
        }
    }

    fn send(&mut self) {
        let word = [0u64; 4];
        // SAFETY: 32 bytes, which are copied.
        while unsafe { fi::fi_inject(self.ep, word.as_ptr().cast(), 32, self.peer) } == fi::EAGAIN {
            self.progress();
        }
    }

    /// Waits for all operations.
    fn complete(&mut self, n: u64) {
        while self.sent < n {
            self.progress();
        }
    }

    /// The median time of a round, in nanoseconds an operation.
    fn measure(&mut self, what: &str, bytes: usize, n: usize, mut round: impl FnMut(&mut Self, usize)) {
        let mut times = [0.0f64; ROUNDS];
        for time in &mut times {
            let start = Instant::now();
            round(self, n);
            *time = start.elapsed().as_nanos() as f64 / n as f64;
        }
        times.sort_unstable_by(f64::total_cmp);
        let median = times[ROUNDS / 2];
        let rate =
            if bytes > 4096 { format!(", \"MB/s\": {:.0}", bytes as f64 * 1000.0 / median) } else { String::new() };
        let provider = &self.provider;
        let who = if std::env::args().nth(5).is_some_and(|a| a == "fd") { "raw fd" } else { "raw" };
        println!(
            "{{\"who\": \"{who}\", \"provider\": \"{provider}\", \"what\": \"{what}\", \"bytes\": {bytes}, \"ns\": \
             {median:.0}{rate}}}"
        );
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, ..] = args.as_slice() else {
        eprintln!("usage: rma_pingpong serve|HOST PORT [PROVIDER [ADDRESS]]");
        std::process::exit(2);
    };
    let provider = args.get(2).map_or("tcp;ofi_rxm", String::as_str);
    let address = args.get(3).map(String::as_str);
    let serve = host == "serve";
    let stream = if serve {
        TcpListener::bind(format!("0.0.0.0:{port}")).and_then(|listener| listener.accept()).map(|pair| pair.0)
    } else {
        // The other side may have started a moment later.
        let tries = (0..100).find_map(|_| {
            TcpStream::connect(format!("{host}:{port}"))
                .inspect_err(|_| std::thread::sleep(std::time::Duration::from_millis(100)))
                .ok()
        });
        tries.ok_or_else(|| std::io::Error::other("nobody serves there"))
    };
    let mut stream = stream.unwrap_or_else(|error| {
        eprintln!("rma_pingpong: {host}:{port}: {error}");
        std::process::exit(1)
    });
    let mut end = End::open(provider, address, &mut stream);
    if serve { answer(&mut end, &mut stream) } else { ask(&mut end, &mut stream) }
}

const PINGS: usize = 100;
const MANY: usize = 20;

/// Serves, for as long as the other side measures.
fn answer(end: &mut End, stream: &mut TcpStream) {
    for i in 1..=(PINGS * ROUNDS) as u64 {
        while end.word(0) < i {
            end.progress();
        }
        end.memory[8] = i;
        // The answer goes where the other side looks: offset 64.
        end.post(false, 64, 8);
        end.complete(i.saturating_sub(16));
    }
    for i in 1..=(PINGS * ROUNDS) as u64 {
        while end.received < i {
            end.progress();
        }
        end.send();
    }
    // All else is served by looking at the queue until the other side has gone.
    let _ = stream.set_nonblocking(true);
    let mut byte = [0u8];
    while stream.read(&mut byte).is_err() {
        for _ in 0..1000 {
            end.progress();
        }
    }
}

fn ask(end: &mut End, stream: &mut TcpStream) {
    let mut i = 0;
    end.measure("write ping-pong (two ways)", 8, PINGS, |end, n| {
        for _ in 0..n {
            i += 1;
            end.memory[0] = i;
            end.post(false, 0, 8);
            while end.word(64) < i {
                end.progress();
            }
        }
    });
    end.complete(i);
    end.measure("message round trip (a fetch-add by hand)", 32, PINGS, |end, n| {
        for _ in 0..n {
            let received = end.received;
            end.send();
            while end.received == received {
                end.progress();
            }
        }
    });
    let one = |read: bool, bytes: usize| {
        move |end: &mut End, n: usize| {
            for _ in 0..n {
                let sent = end.sent;
                end.post(read, 128, bytes);
                end.complete(sent + 1);
            }
        }
    };
    end.measure("write", 8, PINGS, one(false, 8));
    end.measure("read", 8, PINGS, one(true, 8));
    end.measure("write", 1 << 20, MANY, one(false, 1 << 20));
    end.measure("read", 1 << 20, MANY, one(true, 1 << 20));
    end.measure("writes in a window of 16", 1 << 20, MANY, |end, n| {
        let sent = end.sent;
        for i in 0..n as u64 {
            end.post(false, 128, 1 << 20);
            end.complete((sent + i + 1).saturating_sub(15));
        }
        end.complete(sent + n as u64);
    });
    let _ = stream.write_all(&[1]);
}
