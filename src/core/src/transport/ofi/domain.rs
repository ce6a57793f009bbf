//! The objects of libfabric that a fabric opens, and posting to them.
#![allow(unsafe_code)]

use super::address::EndpointAddress;
use super::choose::{self, Choice};
use super::settings::{Settings, Sleep};
use crate::base::{Cause, Fault};
use crate::os::random;
use crate::transport::Atomics;
use crate::transport::SegmentId;
use libfabric_sys::{self as fi, Library};
use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::ptr;

/// Entries that the completion queue is asked to hold.
const QUEUE: usize = 8192;
/// What this PE does with memory that it sends and writes from: that may be such as nobody can store to.
pub const SOURCE: u64 = fi::FI_SEND | fi::FI_WRITE;
/// What this PE does with registered memory.
pub const ACCESS: u64 = fi::FI_SEND | fi::FI_RECV | fi::FI_READ | fi::FI_WRITE;
/// What peers do with the segments, and with nothing else.
const REMOTE: u64 = fi::FI_REMOTE_READ | fi::FI_REMOTE_WRITE;
/// Keys that are tried where one is taken.
const KEYS: u32 = 8;
/// What a provider says of a key that is taken.
const NO_KEY: c_int = -(fi::FI_ENOKEY as c_int);

/// Everything that is open.
pub(super) struct Domain {
    pub library: Library,
    pub provider: String,
    pub fabric: *mut fi::fid_fabric,
    pub domain: *mut fi::fid_domain,
    pub cq: *mut fi::fid_cq,
    av: *mut fi::fid_av,
    pub ep: *mut fi::fid_ep,
    /// By number of the segment; a number without one has no bytes.
    regions: Vec<Region>,
    /// What can be slept on until the queue has something (`FI_WAIT_FD`), where the provider has that.
    pub descriptor: Option<RawFd>,
    /// Bytes that are copied at once.
    pub inject: usize,
    /// Bytes of one transfer at most.
    pub largest: usize,
    /// Local memory of transfers has to be registered.
    pub local: bool,
    virt: bool,
    prov_key: bool,
    bind: bool,
    /// Completions of writes say that the data are there.
    pub delivery: bool,
    /// The CPU of the target has a part in writes and reads, too.
    pub by_cpu: bool,
    /// Messages are processed after writes that were posted before.
    pub send_after_write: bool,
    /// Writes are processed in the order in which they were posted.
    pub write_after_write: bool,
    /// The bits that a key of memory can have.
    key_bits: u64,
}

/// A segment that peers write to.
#[derive(Clone, Copy)]
struct Region {
    base: usize,
    len: usize,
    mr: *mut fi::fid_mr,
    /// What was asked for.
    key: u64,
}

/// A fault of a call at start-up.
fn failed(library: &Library, what: &str, provider: &str, error: i64) -> Fault {
    Fault::from(Cause::Network(format!("{what} of provider {provider}: {}", library.strerror(error))))
}

/// What a completion queue may offer to sleep on, the best first.
fn waits(sleep: Sleep) -> &'static [fi::fi_wait_obj] {
    match sleep {
        Sleep::Descriptor => &[fi::FI_WAIT_FD, fi::FI_WAIT_NONE],
        Sleep::Naps => &[fi::FI_WAIT_NONE],
    }
}

impl Domain {
    /// Opens an endpoint and registers the segments.
    pub fn open(
        library: Library,
        choice: &Choice,
        regions: [(usize, usize); 2],
        settings: &Settings,
    ) -> Result<Self, Fault> {
        let (info, atomics) = (choice.info(), settings.atomics);
        // SAFETY: the info is alive as long as the choice, and has all its parts.
        let (tx, domain_attr, ep_attr) = unsafe { (&mut *(*info).tx_attr, &*(*info).domain_attr, &*(*info).ep_attr) };
        // The operations say for themselves which completion they want.
        tx.op_flags = 0;
        let mode = domain_attr.mr_mode as u64;
        let mut domain = Self {
            library,
            // SAFETY: as above.
            provider: choose::provider(unsafe { &*info }),
            fabric: ptr::null_mut(),
            domain: ptr::null_mut(),
            cq: ptr::null_mut(),
            av: ptr::null_mut(),
            ep: ptr::null_mut(),
            regions: regions.map(|(base, len)| Region { base, len, mr: ptr::null_mut(), key: 0 }).to_vec(),
            descriptor: None,
            inject: tx.inject_size,
            largest: ep_attr.max_msg_size.clamp(1, 1 << 30),
            local: mode & fi::FI_MR_LOCAL != 0 || settings.as_cards_do,
            virt: mode & (fi::FI_MR_VIRT_ADDR | choose::BASIC) != 0,
            prov_key: mode & (fi::FI_MR_PROV_KEY | choose::BASIC) != 0,
            bind: mode & fi::FI_MR_ENDPOINT != 0,
            delivery: choice.delivery,
            by_cpu: domain_attr.data_progress != fi::FI_PROGRESS_AUTO,
            send_after_write: tx.msg_order & fi::FI_ORDER_SAW != 0
                && atomics == Atomics::Cpu
                && !settings.without_send_after_write,
            write_after_write: tx.msg_order & fi::FI_ORDER_WAW != 0
                && atomics == Atomics::Cpu
                && ep_attr.max_order_waw_size >= ep_attr.max_msg_size.min(1 << 30),
            // Some providers that choose keys themselves say nothing of their width.
            key_bits: match domain_attr.mr_key_size {
                0 => u64::from(u32::MAX),
                bytes => u64::MAX >> (64 - 8 * bytes.min(8)),
            },
        };
        domain.objects(info, waits(settings.sleep))?;
        if atomics == Atomics::Nic {
            super::nic::check(&domain)?;
        }
        for i in 0..2 {
            let Region { base, len, .. } = domain.regions[i];
            if len > 0 {
                let keyed = domain.register_as(base as *const u8, len, ACCESS | REMOTE)?;
                (domain.regions[i].mr, domain.regions[i].key) = keyed;
            }
        }
        Ok(domain)
    }

    /// Opens everything; `waits`: what the completion queue may offer to sleep on, the best first.
    fn objects(&mut self, info: *mut fi::fi_info, waits: &[fi::fi_wait_obj]) -> Result<(), Fault> {
        let check = |domain: &Self, what: &str, error: c_int| {
            if error == 0 { Ok(()) } else { Err(failed(&domain.library, what, &domain.provider, i64::from(error))) }
        };
        // SAFETY: each object is opened from those before it and the info that was chosen, with attributes that live
        // through the call.
        unsafe {
            let error = self.library.fabric((*info).fabric_attr, &raw mut self.fabric);
            check(self, "opening the fabric", error)?;
            let error = fi::fi_domain(self.fabric, info, &raw mut self.domain);
            check(self, "opening the domain", error)?;
            let error = self.open_queue(waits);
            check(self, "opening a completion queue", error)?;
            let mut attr: fi::fi_av_attr = std::mem::zeroed();
            attr.type_ = (*(*info).domain_attr).av_type;
            if attr.type_ == fi::FI_AV_UNSPEC {
                attr.type_ = fi::FI_AV_TABLE;
            }
            let error = fi::fi_av_open(self.domain, &raw mut attr, &raw mut self.av);
            check(self, "opening an address vector", error)?;
            let error = fi::fi_endpoint(self.domain, info, &raw mut self.ep);
            check(self, "opening an endpoint", error)?;
            let ep = &raw mut (*self.ep).fid;
            let error = fi::fi_bind(ep, &raw mut (*self.av).fid, 0);
            check(self, "binding the address vector", error)?;
            // Every receive completes; what is sent does where it says so.
            for flags in [fi::FI_TRANSMIT | fi::FI_SELECTIVE_COMPLETION, fi::FI_RECV] {
                let error = fi::fi_bind(ep, &raw mut (*self.cq).fid, flags);
                check(self, "binding the completion queue", error)?;
            }
            check(self, "enabling the endpoint", fi::fi_enable(self.ep))
        }
    }

    /// Opens the completion queue with the first of these objects to sleep on that the provider has.
    ///
    /// # Safety
    /// The domain is open.
    unsafe fn open_queue(&mut self, waits: &[fi::fi_wait_obj]) -> c_int {
        let mut error = 0;
        for wait_obj in waits {
            // SAFETY: a zeroed record is valid; it lives through the call.
            unsafe {
                let mut attr: fi::fi_cq_attr = std::mem::zeroed();
                attr.format = fi::FI_CQ_FORMAT_MSG;
                attr.size = QUEUE;
                attr.wait_obj = *wait_obj;
                error = fi::fi_cq_open(self.domain, &raw mut attr, &raw mut self.cq);
            }
            if error != 0 {
                continue;
            }
            self.descriptor = if *wait_obj == fi::FI_WAIT_FD { self.queue_descriptor() } else { None };
            break;
        }
        error
    }

    fn queue_descriptor(&self) -> Option<RawFd> {
        let mut fd: c_int = -1;
        // SAFETY: the queue is open and was asked to have a descriptor.
        let error = unsafe { fi::fi_control(&raw mut (*self.cq).fid, fi::FI_GETWAIT, (&raw mut fd).cast()) };
        (error == 0 && fd >= 0).then_some(fd)
    }

    /// Registers memory of this PE's own transfers: [`SOURCE`] or [`ACCESS`].
    pub fn register(&mut self, start: *const u8, len: usize, access: u64) -> Result<*mut fi::fid_mr, Fault> {
        self.register_as(start, len, access).map(|(mr, _)| mr)
    }

    /// A key for memory. Whoever knows it reads and writes there, where the provider compares nothing else: it cannot
    /// be guessed, as far as it has the bits.
    fn key(&self) -> Result<u64, Fault> {
        let [word] = random::words()?;
        // Not the one that stands for none.
        Ok(word & self.key_bits & (u64::MAX >> 1))
    }

    /// Registers memory; gives the key that it was asked for with, too.
    fn register_as(&self, start: *const u8, len: usize, access: u64) -> Result<(*mut fi::fid_mr, u64), Fault> {
        let mut mr = ptr::null_mut();
        let mut key = 0;
        // SAFETY: the domain is open; the caller keeps the memory until it closes the region.
        unsafe {
            let mut error = NO_KEY;
            for _ in 0..KEYS {
                if error == NO_KEY {
                    key = self.key()?;
                    error = fi::fi_mr_reg(self.domain, start.cast(), len, access, key, &raw mut mr);
                }
            }
            let fail = |error: c_int| {
                let what = format!("registering {len} bytes of memory");
                Err(failed(&self.library, &what, &self.provider, i64::from(error)))
            };
            if error != 0 {
                return fail(error);
            }
            if self.bind {
                let error = match fi::fi_bind(&raw mut (*mr).fid, &raw mut (*self.ep).fid, 0) {
                    0 => fi::fi_mr_enable(mr),
                    error => error,
                };
                if error != 0 {
                    fi::fi_close(&raw mut (*mr).fid);
                    return fail(error);
                }
            }
        }
        Ok((mr, key))
    }

    /// Registers a segment under a free number; gives what peers need to know: key, and what is added to an offset.
    pub fn add_segment(&mut self, segment: SegmentId, start: *mut u8, len: usize) -> Result<[u64; 2], Fault> {
        let number = usize::from(segment.0);
        let refuse =
            |why: &str| Err(Fault::from(Cause::Network(format!("segment {number} cannot be registered: {why}"))));
        if segment < SegmentId::FREE || self.regions.get(number).is_some_and(|region| region.len > 0) {
            return refuse("the number is taken");
        }
        if len == 0 {
            return refuse("it has no bytes");
        }
        let (mr, asked) = self.register_as(start, len, ACCESS | REMOTE)?;
        // SAFETY: just registered.
        let key = if self.prov_key { unsafe { (*mr).key } } else { asked };
        if key == fi::FI_KEY_NOTAVAIL {
            // SAFETY: as above, and not used.
            unsafe { self.release(mr) };
            return refuse("its memory key has more than 64 bits");
        }
        let none = Region { base: 0, len: 0, mr: ptr::null_mut(), key: 0 };
        self.regions.resize(self.regions.len().max(number + 1), none);
        self.regions[number] = Region { base: start as usize, len, mr, key };
        Ok([key, if self.virt { start as u64 } else { 0 }])
    }

    /// Ends the registration of a segment, where there is one.
    pub fn remove_segment(&mut self, segment: SegmentId) {
        let Some(region) = self.regions.get_mut(usize::from(segment.0)).filter(|_| segment >= SegmentId::FREE) else {
            return;
        };
        let mr = std::mem::replace(&mut region.mr, ptr::null_mut());
        region.len = 0;
        if !mr.is_null() {
            // SAFETY: registered, and nobody uses it any more, says the caller.
            unsafe { self.release(mr) };
        }
    }

    /// Ends a registration.
    ///
    /// # Safety
    /// `mr` is of [`Self::register`], and no transfer uses it any more.
    pub unsafe fn release(&self, mr: *mut fi::fid_mr) {
        // SAFETY: the caller's.
        unsafe { fi::fi_close(&raw mut (*mr).fid) };
    }

    /// Descriptor of local memory in a segment: null where none is needed, `None` where the memory is not registered.
    pub fn descriptor(&self, start: *const u8, len: usize) -> Option<*mut c_void> {
        if !self.local {
            return Some(ptr::null_mut());
        }
        self.regions.iter().find_map(|region| {
            let offset = (start as usize).wrapping_sub(region.base);
            // SAFETY: a region of some length is registered as long as the port is open.
            (offset < region.len && len <= region.len - offset).then(|| unsafe { (*region.mr).mem_desc })
        })
    }

    /// Descriptor of memory that was registered.
    ///
    /// # Safety
    /// `mr` is null or of [`Self::register`].
    pub unsafe fn descriptor_of(&self, mr: *mut fi::fid_mr) -> *mut c_void {
        // SAFETY: the caller's.
        if mr.is_null() { ptr::null_mut() } else { unsafe { (*mr).mem_desc } }
    }

    /// Address here of bytes of a segment; `None` where they are not all in it.
    pub fn local_address(&self, segment: SegmentId, offset: u64, len: usize) -> Option<*mut u8> {
        let region = self.regions.get(usize::from(segment.0))?;
        let offset = usize::try_from(offset).ok()?;
        (offset <= region.len && len <= region.len - offset).then(|| (region.base + offset) as *mut u8)
    }

    /// What peers need to know; `token` is for their messages.
    pub fn endpoint_address(&self, token: u64) -> Result<EndpointAddress, Fault> {
        let mut name = vec![0u8; 256];
        let mut len = name.len();
        // SAFETY: the endpoint is enabled; the buffer has the length that is said.
        let error = unsafe { fi::fi_getname(self.ep, name.as_mut_ptr().cast(), &raw mut len) };
        if error != 0 || len > name.len() {
            return Err(failed(&self.library, "reading the endpoint's name", &self.provider, i64::from(error)));
        }
        name.truncate(len);
        let key = |region: &Region| match region.mr.is_null() {
            true => 0,
            // SAFETY: registered.
            false if self.prov_key => unsafe { (*region.mr).key },
            false => region.key,
        };
        let base = |region: &Region| if self.virt { region.base as u64 } else { 0 };
        let (heap, data) = (&self.regions[0], &self.regions[1]);
        let keys = [key(heap), key(data)];
        if keys.contains(&fi::FI_KEY_NOTAVAIL) {
            let text = format!("provider {} has memory keys of more than 64 bits", self.provider);
            return Err(Fault::from(Cause::Network(text)));
        }
        let host = crate::os::process::host_name();
        Ok(EndpointAddress {
            provider: self.provider.clone(),
            name,
            host,
            keys,
            bases: [base(heap), base(data)],
            token,
        })
    }

    /// Puts a peer into the provider's address table.
    pub fn insert(&self, endpoint_address: &EndpointAddress) -> Result<u64, String> {
        if endpoint_address.provider != self.provider {
            return Err(format!("its provider is {}, here it is {}", endpoint_address.provider, self.provider));
        }
        let mut address = fi::FI_ADDR_UNSPEC;
        // SAFETY: the name is one of this provider's, and complete.
        match unsafe { fi::fi_av_insert(self.av, endpoint_address.name.as_ptr().cast(), 1, &raw mut address) } {
            1 => Ok(address),
            error => Err(format!("its address is refused: {}", self.library.strerror(i64::from(error)))),
        }
    }

    /// The name of an endpoint that has an address here.
    pub fn name_of(&self, address: fi::fi_addr_t) -> Option<Vec<u8>> {
        let mut name = vec![0u8; 256];
        let mut len = name.len();
        // SAFETY: the vector of addresses is open; the buffer has the length that is said.
        let error = unsafe { fi::fi_av_lookup(self.av, address, name.as_mut_ptr().cast(), &raw mut len) };
        name.truncate(len);
        (error == 0).then_some(name)
    }

    /// Whether peers are reached by the kernel's TCP connections of this process.
    pub fn over_tcp(&self) -> bool {
        matches!(self.provider.split(';').next(), Some("tcp" | "net" | "sockets"))
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let close = |object: *mut fi::fid| {
            if !object.is_null() {
                // SAFETY: open, and closed once, before what it was opened from.
                unsafe { fi::fi_close(object) };
            }
        };
        // Every one of these begins with its fid. Regions that are bound to the endpoint go first, as do those of
        // buffers, which the owner of the port has released.
        for region in &self.regions {
            close(region.mr.cast());
        }
        close(self.ep.cast());
        close(self.av.cast());
        close(self.cq.cast());
        close(self.domain.cast());
        close(self.fabric.cast());
    }
}
