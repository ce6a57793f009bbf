//! What somebody does who finds the port of an endpoint: uses libfabric as the job does, and tries.
#![allow(unsafe_code)]

use libfabric_sys::{self as fi, Library};
use std::ffi::{CString, c_void};
use std::net::SocketAddrV4;
use std::ptr;
use std::time::{Duration, Instant};

const MEMORY: usize = 1 << 16;
/// How long an attempt may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// An endpoint of the stranger's own, and the address that it was given. Nothing of it is closed: its process is short.
pub struct Endpoint {
    ep: *mut fi::fid_ep,
    cq: *mut fi::fid_cq,
    memory: &'static mut [u8],
    descriptor: *mut c_void,
    peer: u64,
    context: &'static mut fi::fi_context2,
}

/// What is tried on memory of the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

fn check(what: &str, error: i32) {
    assert!(error == 0, "{what}: error {error}");
}

/// What the stranger has for an endpoint: the first interface in the network of the peer.
///
/// # Safety
/// The result is never freed.
unsafe fn interface(library: &Library, provider: &str, peer: SocketAddrV4) -> *mut fi::fi_info {
    // SAFETY: an info of the library's with all its parts; addresses have the length that is given with them.
    unsafe {
        let hints = library.allocinfo();
        (*hints).caps = fi::FI_MSG | fi::FI_RMA;
        (*hints).mode = fi::FI_CONTEXT | fi::FI_CONTEXT2;
        (*(*hints).ep_attr).type_ = fi::FI_EP_RDM;
        let mode = fi::FI_MR_LOCAL | fi::FI_MR_VIRT_ADDR | fi::FI_MR_ALLOCATED | fi::FI_MR_PROV_KEY;
        (*(*hints).domain_attr).mr_mode = mode as i32;
        (*(*hints).fabric_attr).prov_name = CString::new(provider).unwrap().into_raw();
        let mut info = ptr::null_mut();
        check("fi_getinfo", library.getinfo(hints, &raw mut info));
        while (*info).src_addrlen != 16 || *(*info).src_addr.cast::<u8>().add(4) != peer.ip().octets()[0] {
            info = (*info).next;
            assert!(!info.is_null(), "no interface to the network of {peer}");
        }
        info
    }
}

impl Endpoint {
    /// One for each thing that is tried: where it is refused, the connection is gone.
    pub fn new(library: &Library, provider: &str, peer: SocketAddrV4) -> Self {
        let memory = vec![0xee_u8; MEMORY].leak();
        let context = Box::leak(Box::new(fi::fi_context2 { internal: [ptr::null_mut(); 8] }));
        let (mut fabric, mut domain, mut cq, mut av) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut ep, mut mr, mut address) = (ptr::null_mut(), ptr::null_mut(), 0);
        let mut name = [0u8; 16];
        name[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        name[2..4].copy_from_slice(&peer.port().to_be_bytes());
        name[4..8].copy_from_slice(&peer.ip().octets());
        // SAFETY: each object is opened from those before it, with attributes that live through the call.
        unsafe {
            let info = interface(library, provider, peer);
            check("fi_fabric", library.fabric((*info).fabric_attr, &raw mut fabric));
            check("fi_domain", fi::fi_domain(fabric, info, &raw mut domain));
            let mut attr: fi::fi_cq_attr = std::mem::zeroed();
            attr.format = fi::FI_CQ_FORMAT_MSG;
            check("fi_cq_open", fi::fi_cq_open(domain, &raw mut attr, &raw mut cq));
            let mut attr: fi::fi_av_attr = std::mem::zeroed();
            attr.type_ = fi::FI_AV_TABLE;
            check("fi_av_open", fi::fi_av_open(domain, &raw mut attr, &raw mut av));
            check("fi_endpoint", fi::fi_endpoint(domain, info, &raw mut ep));
            check("fi_ep_bind", fi::fi_bind(ep.cast(), av.cast(), 0));
            check("fi_ep_bind", fi::fi_bind(ep.cast(), cq.cast(), fi::FI_TRANSMIT | fi::FI_RECV));
            check("fi_enable", fi::fi_enable(ep));
            let own = fi::FI_SEND | fi::FI_RECV | fi::FI_READ | fi::FI_WRITE;
            check("fi_mr_reg", fi::fi_mr_reg(domain, memory.as_mut_ptr().cast(), MEMORY, own, 9, &raw mut mr));
            check("fi_av_insert", fi::fi_av_insert(av, name.as_ptr().cast(), 1, &raw mut address) - 1);
            Self { ep, cq, memory, descriptor: (*mr).mem_desc, peer: address, context }
        }
    }

    /// Waits until what was posted is complete; false where it fails, or nothing comes of it.
    fn is_done(&mut self, since: Instant) -> bool {
        let mut entry = fi::fi_cq_msg_entry { op_context: ptr::null_mut(), flags: 0, len: 0 };
        while since.elapsed() < PATIENCE {
            // SAFETY: one entry of the queue's format.
            match unsafe { fi::fi_cq_read(self.cq, (&raw mut entry).cast(), 1) } {
                1 => return true,
                fi::EAGAIN => std::thread::yield_now(),
                _ => return false,
            }
        }
        false
    }

    /// Posts until the provider takes it; false where it does not.
    fn posted(&mut self, since: Instant, mut post: impl FnMut(&mut Self) -> isize) -> bool {
        while since.elapsed() < PATIENCE {
            match post(self) {
                0 => return true,
                fi::EAGAIN => {
                    // SAFETY: reading nothing; the provider connects meanwhile.
                    unsafe { fi::fi_cq_read(self.cq, ptr::null_mut(), 0) };
                    std::thread::yield_now();
                }
                _ => return false,
            }
        }
        false
    }

    /// Whether memory of the other side is read or written with a key, at an address (or offset).
    pub fn reaches(&mut self, access: Access, at: u64, key: u64) -> bool {
        let since = Instant::now();
        let posted = self.posted(since, |own| {
            let iov = fi::iovec { iov_base: own.memory.as_mut_ptr().cast(), iov_len: 64 };
            let rma = fi::fi_rma_iov { addr: at, len: 64, key };
            let message = fi::fi_msg_rma {
                msg_iov: &raw const iov,
                desc: &raw mut own.descriptor,
                iov_count: 1,
                addr: own.peer,
                rma_iov: &raw const rma,
                rma_iov_count: 1,
                context: (&raw mut *own.context).cast(),
                data: 0,
            };
            // SAFETY: the memory is registered and never freed.
            unsafe {
                match access {
                    Access::Read => fi::fi_readmsg(own.ep, &raw const message, fi::FI_COMPLETION),
                    Access::Write => {
                        fi::fi_writemsg(own.ep, &raw const message, fi::FI_COMPLETION | fi::FI_DELIVERY_COMPLETE)
                    }
                }
            }
        });
        posted && self.is_done(since)
    }

    /// Whether a message is taken, which says nothing about what becomes of it.
    pub fn sends(&mut self, message: &[u8]) -> bool {
        let since = Instant::now();
        self.memory[..message.len()].copy_from_slice(message);
        let posted = self.posted(since, |own| {
            let iov = fi::iovec { iov_base: own.memory.as_mut_ptr().cast(), iov_len: message.len() };
            let message = fi::fi_msg {
                msg_iov: &raw const iov,
                desc: &raw mut own.descriptor,
                iov_count: 1,
                addr: own.peer,
                context: (&raw mut *own.context).cast(),
                data: 0,
            };
            // SAFETY: as above.
            unsafe { fi::fi_sendmsg(own.ep, &raw const message, fi::FI_COMPLETION) }
        });
        posted && self.is_done(since)
    }
}
