//! What is in use, for people.
#![allow(unsafe_code)]

use super::choose::{self, Choice};
use super::domain::Domain;
use super::settings::Settings;
use crate::transport::{Atomics, Description};
use libfabric_sys::{self as fi, Library};

/// What is in use, and why.
pub(super) fn describe(library: &Library, choice: &Choice, domain: &Domain, settings: &Settings) -> Description {
    let why =
        |subject: &str| choice.reasons.iter().find(|row| row.0 == subject).map_or(String::new(), |row| row.1.clone());
    // SAFETY: the info is alive as long as the choice, with all its parts.
    let (info, attributes, fabric, tx) = unsafe {
        let info = &*choice.info();
        (info, &*info.domain_attr, &*info.fabric_attr, &*info.tx_attr)
    };
    let (major, minor) = library.version();
    let flags = |value: u64, names: &[(u64, &str)]| {
        let set: Vec<&str> = names.iter().filter(|(bit, _)| value & bit != 0).map(|(_, name)| *name).collect();
        if set.is_empty() { "none".to_owned() } else { set.join(", ") }
    };
    let mr = [
        (choose::BASIC, "basic"),
        (fi::FI_MR_LOCAL, "local"),
        (fi::FI_MR_VIRT_ADDR, "virtual addresses"),
        (fi::FI_MR_ALLOCATED, "allocated"),
        (fi::FI_MR_PROV_KEY, "keys by the provider"),
        (fi::FI_MR_ENDPOINT, "bound to the endpoint"),
    ];
    let order = [(fi::FI_ORDER_SAS, "SAS"), (fi::FI_ORDER_SAW, "SAW"), (fi::FI_ORDER_WAW, "WAW")];
    let progress = match attributes.data_progress {
        fi::FI_PROGRESS_AUTO => "automatic",
        _ => "manual",
    };
    let sleep = match domain.descriptor {
        Some(_) => "a thread that sleeps on the queue",
        None => "a thread that naps",
    };
    let (atomics, by) = match settings.atomics {
        Atomics::Cpu => ("CPU of the target", "default: excludes those of the target's own host"),
        Atomics::Nic => ("provider", "SHMEM_ATOMICS=nic"),
    };
    let address = choose::address(info).map_or_else(|| "of the provider's own format".to_owned(), |ip| ip.to_string());
    let (complete, how) = quiet(domain);
    let library_why = if settings.library.is_some() { "SHMEM_OFI_LIBRARY" } else { "found by the loader" };
    let rows = vec![
        ("library", format!("{} {major}.{minor}", library.path()), library_why.to_owned()),
        ("provider", domain.provider.clone(), why("provider")),
        ("fabric", choose::text(fabric.name), String::new()),
        ("domain", choose::domain(info), why("domain")),
        ("address", address, String::new()),
        ("endpoint", "reliable datagram (FI_EP_RDM)".to_owned(), "one endpoint reaches all PEs".to_owned()),
        ("memory registration", flags(attributes.mr_mode as u64, &mr), "as the provider asks".to_owned()),
        ("progress", progress.to_owned(), format!("served by {sleep}")),
        ("message order", flags(tx.msg_order, &order), "what is missing is waited for".to_owned()),
        ("quiet", complete.to_owned(), how.to_owned()),
        ("atomics", atomics.to_owned(), by.to_owned()),
        ("inject", format!("{} bytes", domain.inject), "smaller operations are copied by the provider".to_owned()),
        ("threads", "FI_THREAD_DOMAIN".to_owned(), "all calls are made under one lock".to_owned()),
    ];
    Description { rows }
}

/// How a quiet knows that writes have arrived, and why so.
fn quiet(domain: &Domain) -> (&'static str, &'static str) {
    if domain.delivery {
        ("delivery", "FI_DELIVERY_COMPLETE")
    } else if domain.send_after_write {
        ("message behind the writes", "the provider has no FI_DELIVERY_COMPLETE, but FI_ORDER_SAW")
    } else {
        ("message after the writes", "the provider has neither FI_DELIVERY_COMPLETE nor FI_ORDER_SAW")
    }
}
