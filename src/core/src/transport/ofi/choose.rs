//! Which provider, domain and address are used, and why.
#![allow(unsafe_code)]

use super::settings::Settings;
use crate::base::{Cause, Fault};
use crate::os::{interface, process, remains};
use crate::transport::Atomics;
use libfabric_sys::{self as fi, Library, fi_info};
use std::ffi::{CStr, c_char, c_int};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::{Duration, Instant};

/// Providers that are taken where nobody asks for one, best first. Those left out (`shm`, `sockets`, `udp`) reach no
/// other host or are there for developers of libfabric.
const BEST: &[&str] = &["cxi", "efa", "psm3", "psm2", "opx", "verbs;ofi_rxm", "tcp;ofi_rxm", "tcp", "net"];

/// How long a link that is down is awaited, and how soon is looked again.
const LINK_UP: Duration = Duration::from_secs(5);
const NAP: Duration = Duration::from_millis(100);

/// Registration modes that this transport works with.
const MR_MODE: u64 =
    fi::FI_MR_LOCAL | fi::FI_MR_VIRT_ADDR | fi::FI_MR_ALLOCATED | fi::FI_MR_PROV_KEY | fi::FI_MR_ENDPOINT;

/// `FI_MR_BASIC`, which stands for virtual addresses, memory that is there, and keys of the provider's: providers in
/// software do that where it is asked for.
pub(super) const BASIC: u64 = 1;

/// Orders that save waiting: messages after messages, messages after writes, writes after writes.
const ORDER: u64 = fi::FI_ORDER_SAS | fi::FI_ORDER_SAW | fi::FI_ORDER_WAW;

/// A list of `fi_info`, freed at its end.
pub(super) struct Infos<'a> {
    library: &'a Library,
    first: *mut fi_info,
}

impl Drop for Infos<'_> {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: from this library, and nobody keeps a reference beyond self.
            unsafe { self.library.freeinfo(self.first) };
        }
    }
}

/// What is asked of a provider beyond what is needed anyway.
#[derive(Clone, Copy, Default)]
struct Wish<'a> {
    like: Option<&'a fi_info>,
    order: u64,
    delivery: bool,
}

impl<'a> Infos<'a> {
    fn get(library: &'a Library, settings: &Settings, wish: Wish) -> Result<Self, i64> {
        let hints = Self { library, first: library.allocinfo() };
        if hints.first.is_null() {
            return Err(-i64::from(libc::ENOMEM));
        }
        // SAFETY: an empty info with all its parts; strings in it are freed with it by the C library's free.
        unsafe {
            let hint = &mut *hints.first;
            hint.caps = fi::FI_MSG | fi::FI_RMA;
            if settings.atomics == Atomics::Nic {
                hint.caps |= fi::FI_ATOMIC;
            }
            hint.mode = fi::FI_CONTEXT | fi::FI_CONTEXT2;
            (*hint.ep_attr).type_ = fi::FI_EP_RDM;
            (*hint.domain_attr).mr_mode = if settings.as_cards_do { BASIC } else { MR_MODE } as c_int;
            // All calls are made under one lock: a provider that is told so leaves its own out.
            (*hint.domain_attr).threading = fi::FI_THREAD_DOMAIN;
            (*hint.domain_attr).resource_mgmt = fi::FI_RM_ENABLED;
            (*hint.tx_attr).msg_order = wish.order;
            (*hint.rx_attr).msg_order = wish.order;
            if wish.delivery {
                (*hint.tx_attr).op_flags = fi::FI_DELIVERY_COMPLETE;
            }
            if let Some(like) = wish.like {
                (*hint.fabric_attr).prov_name = duplicate((*like.fabric_attr).prov_name);
                (*hint.fabric_attr).name = duplicate((*like.fabric_attr).name);
                (*hint.domain_attr).name = duplicate((*like.domain_attr).name);
            }
        }
        let mut infos = Self { library, first: std::ptr::null_mut() };
        // SAFETY: hints are from this library.
        match unsafe { library.getinfo(hints.first, &raw mut infos.first) } {
            0 => Ok(infos),
            error => Err(i64::from(error)),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &fi_info> {
        // SAFETY: a list of libfabric's, alive as long as self.
        std::iter::successors(unsafe { self.first.as_ref() }, |info| unsafe { info.next.as_ref() })
    }
}

/// # Safety
/// `text` is null or a C string.
unsafe fn duplicate(text: *const c_char) -> *mut c_char {
    // SAFETY: the caller's.
    if text.is_null() { std::ptr::null_mut() } else { unsafe { libc::strdup(text) } }
}

/// A C string of libfabric's, empty where there is none.
pub(super) fn text(of: *const c_char) -> String {
    if of.is_null() {
        return String::new();
    }
    // SAFETY: strings in an info are zero-terminated.
    unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned()
}

/// Name of an info's provider.
pub(super) fn provider(info: &fi_info) -> String {
    // SAFETY: an info of libfabric's has all its parts.
    text(unsafe { (*info.fabric_attr).prov_name })
}

/// Name of an info's domain, the interface or adapter.
pub(super) fn domain(info: &fi_info) -> String {
    // SAFETY: as above.
    text(unsafe { (*info.domain_attr).name })
}

/// The IP address of an info, where it has one.
pub(super) fn address(info: &fi_info) -> Option<IpAddr> {
    let from = info.src_addr.cast::<u8>();
    if from.is_null() || info.src_addrlen < 16 {
        return None;
    }
    // SAFETY: a socket address of the length that is given with it.
    let bytes = unsafe { std::slice::from_raw_parts(from, info.src_addrlen) };
    match i32::from(u16::from_ne_bytes([bytes[0], bytes[1]])) {
        libc::AF_INET => Some(Ipv4Addr::new(bytes[4], bytes[5], bytes[6], bytes[7]).into()),
        libc::AF_INET6 => bytes.get(8..24).and_then(|b| <[u8; 16]>::try_from(b).ok()).map(|b| Ipv6Addr::from(b).into()),
        _ => None,
    }
}

/// Whether an address is of use to nobody but this host (or, link-local, needs more than the address).
fn confined(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(a) => a.is_loopback() || a.is_link_local(),
        IpAddr::V6(a) => a.is_loopback() || a.is_unicast_link_local(),
    }
}

/// What was chosen.
pub(super) struct Choice<'a> {
    infos: Infos<'a>,
    index: usize,
    /// Why it was, by subject.
    pub reasons: Vec<(&'static str, String)>,
    /// Completions of writes say that the data are there.
    pub delivery: bool,
}

impl Choice<'_> {
    /// The info to open everything with.
    pub fn info(&self) -> *mut fi_info {
        self.infos.iter().nth(self.index).map_or(std::ptr::null_mut(), |info| std::ptr::from_ref(info).cast_mut())
    }
}

/// Why there is nothing to choose.
enum Problem {
    /// It stays so.
    Lasting(Fault),
    /// No interface fits, as long as those are left out that have no carrier just now.
    NoInterface(String),
}

/// Chooses. Error: what was asked for and what there is. A link that is down may come up again: it is awaited.
pub(super) fn choose<'a>(library: &'a Library, settings: &Settings) -> Result<Choice<'a>, Fault> {
    let until = Instant::now() + LINK_UP;
    let mut looked_again = false;
    loop {
        let text = match choose_now(library, settings) {
            Ok(choice) => return Ok(choice),
            Err(Problem::Lasting(fault)) => return Err(fault),
            Err(Problem::NoInterface(text)) => text,
        };
        let silent = interface::silent();
        // Somebody has set those down that are not up. One that came up in between shows in the next look.
        let is_asked_for = |name: &str| settings.interface.as_ref().is_none_or(|asked| asked == name);
        let may_come = silent.iter().any(|one| one.is_up && is_asked_for(&one.name));
        if (!may_come && std::mem::replace(&mut looked_again, true)) || Instant::now() >= until {
            let but = silent.iter().map(|one| format!("; {one}")).collect::<String>();
            return Err(Cause::Network(format!("host {}: {text}{but}", process::host_name())).into());
        }
        std::thread::sleep(NAP);
    }
}

fn choose_now<'a>(library: &'a Library, settings: &Settings) -> Result<Choice<'a>, Problem> {
    let fail = |text: String| Problem::Lasting(Cause::Network(text).into());
    let all = Infos::get(library, settings, Wish::default()).map_err(|error| {
        let filter = std::env::var("FI_PROVIDER").map(|v| format!(" (FI_PROVIDER={v})")).unwrap_or_default();
        fail(format!(
            "libfabric {} offers no provider with messages, RMA{} and reliable datagram endpoints{filter}: {}",
            library.path(),
            if settings.atomics == Atomics::Nic { ", atomics" } else { "" },
            library.strerror(error)
        ))
    })?;
    let mut reasons = Vec::new();
    let (index, why) = pick(&all, settings)?;
    reasons.extend(why);
    let Some(found) = all.iter().nth(index) else { return Err(fail("the provider has gone".into())) };
    // The same again with more and more left out of what would be good to have.
    let wishes = [(ORDER, true), (fi::FI_ORDER_SAS, true), (0, true), (ORDER, false), (0, false)];
    let wanted = (provider(found), domain(found), address(found));
    for (order, delivery) in wishes.into_iter().filter(|w| !w.1 || !settings.without_delivery) {
        let Ok(infos) = Infos::get(library, settings, Wish { like: Some(found), order, delivery }) else { continue };
        let index = infos.iter().position(|info| (provider(info), domain(info), address(info)) == wanted);
        if let Some(index) = index {
            return Ok(Choice { infos, index, reasons, delivery });
        }
    }
    Ok(Choice { infos: all, index, reasons, delivery: false })
}

/// Why a provider and an interface were taken, by subject.
type Reasons = Vec<(&'static str, String)>;

/// A provider, its interface and the address of that.
type Listed = (String, String, Option<IpAddr>);

/// Whether somebody means this interface by a name or an address.
fn is_meant((_, interface, address): &Listed, by: &str) -> bool {
    interface == by
        || by.parse().is_ok_and(|ip: IpAddr| *address == Some(ip))
        || address.is_some_and(|ip| ip.to_string() == by)
}

/// Why the provider `shm` is not there that libfabric has: it looks for room for its file first.
fn too_full(provider: &str) -> String {
    // As libfabric 1.17 has it, whose files take a part of that.
    const NEEDED: u64 = 32 << 20;
    let free = remains::free_bytes(Path::new("/dev/shm")).filter(|&free| free < NEEDED);
    match free.filter(|_| provider.eq_ignore_ascii_case("shm")) {
        Some(free) => format!(": it looks for {} MiB in /dev/shm, where {} are free", NEEDED >> 20, free >> 20),
        None => String::new(),
    }
}

fn pick(all: &Infos, settings: &Settings) -> Result<(usize, Reasons), Problem> {
    let listed: Vec<Listed> = all.iter().map(|info| (provider(info), domain(info), address(info))).collect();
    let filter = std::env::var("FI_PROVIDER").ok().filter(|v| !v.is_empty() && !v.starts_with('^'));
    // Rank of a provider; none: not to be used.
    let rank = |name: &str| match (&settings.provider, &filter) {
        (Some(asked), _) if name.eq_ignore_ascii_case(asked) => Some(0),
        (Some(asked), _) => name.split(';').next().filter(|core| core.eq_ignore_ascii_case(asked)).map(|_| 1),
        (None, Some(_)) => Some(BEST.iter().position(|b| *b == name).unwrap_or(BEST.len())),
        (None, None) => BEST.iter().position(|b| *b == name),
    };
    let ours = listed.iter().enumerate().filter_map(|(i, row)| Some((i, rank(&row.0)?, row)));
    let ours: Vec<_> = ours.collect();
    if ours.is_empty() {
        let named =
            |provider: &String| format!("provider {provider} (SHMEM_OFI_PROVIDER) is not there{}", too_full(provider));
        let asked = settings.provider.as_ref().map_or("no provider to use".into(), named);
        let offers = names(listed.iter().map(|row| row.0.clone()));
        return Err(Problem::Lasting(Cause::Network(format!("{asked}; libfabric offers {offers}")).into()));
    }
    let chosen = match &settings.interface {
        Some(interface) => {
            let fitting = ours.iter().filter(|(_, _, row)| is_meant(row, interface));
            fitting
                .min_by_key(|(i, rank, row)| (*rank, row.2.is_some_and(|a| a.is_ipv6() && confined(a)), *i))
                .ok_or_else(|| {
                    let there = ours.iter().map(|(_, _, row)| match row.2 {
                        Some(ip) => format!("{} {ip}", row.1),
                        None => row.1.clone(),
                    });
                    let (provider, there) = (&ours[0].2.0, names(there));
                    Problem::NoInterface(format!(
                        "interface {interface} (SHMEM_OFI_INTERFACE) is not there; provider {provider} has {there}"
                    ))
                })?
        }
        // Of the best provider the first address that other hosts can use; libfabric lists faster interfaces first.
        None => ours
            .iter()
            .filter(|(_, _, row)| settings.loopback || !row.2.is_some_and(|a| a.is_loopback()))
            .min_by_key(|(i, rank, row)| (row.2.is_some_and(confined), *rank, row.2.is_some_and(|a| a.is_ipv6()), *i))
            .ok_or_else(|| Problem::NoInterface("there is no network interface but the loopback".into()))?,
    };
    let (index, _, row) = *chosen;
    let why_provider = match (&settings.provider, &filter) {
        (Some(asked), _) => format!("SHMEM_OFI_PROVIDER={asked}"),
        (None, Some(filter)) => format!("FI_PROVIDER={filter}"),
        (None, None) => {
            format!("best of {}", names(ours.iter().map(|(_, _, row)| row.0.clone())))
        }
    };
    let why_interface = match &settings.interface {
        Some(asked) => format!("SHMEM_OFI_INTERFACE={asked}"),
        None if row.2.is_some_and(confined) => "there is no interface that leaves the host".to_owned(),
        None => "first that libfabric lists".to_owned(),
    };
    Ok((index, vec![("provider", why_provider), ("domain", why_interface)]))
}

/// A list without repetitions.
fn names(all: impl Iterator<Item = String>) -> String {
    let mut list: Vec<String> = Vec::new();
    for name in all {
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_do_not_leave_the_host() {
        for (address, is) in
            [("127.0.0.1", true), ("::1", true), ("fe80::1", true), ("10.0.0.1", false), ("fd00::2", false)]
        {
            assert_eq!(confined(address.parse().unwrap()), is, "{address}");
        }
    }

    #[test]
    fn lists_name_each_once() {
        assert_eq!(names(["b", "a", "b"].into_iter().map(String::from)), "b, a");
    }
}
