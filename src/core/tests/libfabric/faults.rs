//! What cannot work says why, and of whom it speaks.

use super::job::{job, open, settings};
use super::pes::heap;
use super::{amo, put};
use pellucid_core::base::{Cause, Fault};
use pellucid_core::transport::ofi::Settings;
use pellucid_core::transport::{AmoOp, Channel, Completion, SegmentId, Transport};
use pellucid_core::transport::{Atomics, Directory};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

fn directory(address: Vec<u8>) -> Directory {
    Directory {
        address: Box::new(move |_| Ok(address.clone())),
        host: Box::new(|pe| format!("host{pe}")),
        answer: Box::new(|_| 0),
        note: Box::new(|_| ()),
        lost: Box::new(|_| ()),
        unreached: Box::new(|_, _| false),
    }
}

fn refused(settings: &Settings) -> Option<String> {
    // Where there is no libfabric, there is nothing to refuse.
    job(1, &super::settings())?;
    Some(open(0, 1, settings, directory(Vec::new())).err()?.to_string())
}

#[test]
fn a_missing_library_is_named() {
    let settings = Settings { library: Some("/nowhere/libfabric.so.1".into()), ..settings() };
    let fault = open(0, 1, &settings, directory(Vec::new())).err().unwrap();
    assert!(fault.to_string().contains("/nowhere/libfabric.so.1 (cannot open"), "{fault}");
}

#[test]
fn an_unknown_provider_is_told_what_there_is() {
    let Some(text) = refused(&Settings { provider: Some("warp".into()), ..settings() }) else { return };
    assert!(
        text.contains("provider warp (SHMEM_OFI_PROVIDER) is not there; libfabric offers ") && text.contains("tcp"),
        "{text}"
    );
}

#[test]
fn an_unknown_interface_is_told_what_there_is() {
    let Some(text) = refused(&Settings { interface: Some("ib7".into()), ..settings() }) else { return };
    assert!(text.contains("interface ib7 (SHMEM_OFI_INTERFACE) is not there") && text.contains("127.0.0.1"), "{text}");
}

#[test]
fn atomics_that_a_provider_lacks_are_named_at_the_start() {
    // TCP without the layer that adds them: `net` to libfabric 1.17, `tcp` to later ones.
    for provider in ["net", "tcp"] {
        let settings = Settings { provider: Some(provider.into()), atomics: Atomics::Nic, ..settings() };
        let Some(text) = refused(&settings) else { continue };
        let lacks = text.contains("SHMEM_ATOMICS=nic: provider") && text.contains("has no atomic");
        assert!(lacks || text.contains(&format!("provider {provider} is not there")), "{text}");
    }
}

#[test]
fn addresses_that_do_not_fit_are_refused() {
    let Some(pes) = job(1, &settings()) else { return };
    let mut other = pes[0].fabric.endpoint_address().to_vec();
    // The first letter of the provider's name, behind lengths and keys.
    let real = String::from_utf8(other[44..47].to_vec()).unwrap();
    other[44] = b'x';
    for (address, why) in
        [(Vec::new(), "its endpoint address is not understood"), (other, &format!("its provider is x{}", &real[1..]))]
    {
        let pe = open(0, 2, &settings(), directory(address)).unwrap();
        // SAFETY: nothing is sent.
        let fault = unsafe { pe.fabric.put(Channel::DEFAULT, heap(1, 0), [0u8; 8].as_ptr(), 8, Completion::Local) };
        let text = fault.unwrap_err().to_string();
        assert!(text.contains("PE 1 on host1") && text.contains(why), "{text}");
    }
}

/// Uses a PE until that fails.
fn until_it_fails(pe: &super::job::Pe) -> Fault {
    loop {
        // SAFETY: a source that is copied at once.
        let fault = unsafe {
            let put = pe.fabric.put(Channel::DEFAULT, heap(1, 0), [1u8; 8].as_ptr(), 8, Completion::Local);
            put.and_then(|()| pe.fabric.quiet(Channel::DEFAULT))
        };
        if let Err(fault) = fault {
            return fault;
        }
    }
}

#[test]
fn a_refused_connection_names_pe_and_host() {
    let Some(mut pes) = job(2, &settings()) else { return };
    drop(pes.pop());
    let text = until_it_fails(&pes[0]).to_string();
    assert!(text.contains("PE 1 on host1"), "{text}");
    // What has failed once stays failed.
    assert!(pes[0].fabric.quiet(Channel::DEFAULT).is_err());
}

/// A PE that does nothing for some time, as one that is stopped, is waited for, though it was never connected to: its
/// kernel answers.
#[test]
fn a_peer_that_is_stopped_is_waited_for() {
    let Some(pes) = job(2, &settings()) else { return };
    pes[1].fabric.drain();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(10));
            while !over.load(Ordering::Relaxed) {
                pes[1].fabric.progress();
            }
        });
        // SAFETY: a source that is copied at once.
        let put = unsafe { pes[0].fabric.put(Channel::DEFAULT, heap(1, 0), [7u8; 8].as_ptr(), 8, Completion::Local) };
        let put = put.and_then(|()| pes[0].fabric.quiet(Channel::DEFAULT));
        over.store(true, Ordering::Relaxed);
        put.unwrap();
    });
    assert_eq!(pes[1].bytes(SegmentId::HEAP, 0, 8), [7; 8]);
}

/// In a job that goes on, the launcher is asked once for the host of a PE that may be lost, not with every attempt.
#[test]
fn who_is_a_suspect_is_looked_up_once() {
    let Some(pes) = job(2, &settings()) else { return };
    let address = pes[1].fabric.endpoint_address().to_vec();
    drop(pes);
    let asked = Arc::new(AtomicUsize::new(0));
    let asking = asked.clone();
    let host = Box::new(move |pe| {
        asking.fetch_add(1, Ordering::Relaxed);
        format!("host{pe}")
    });
    let pe = open(0, 2, &settings(), Directory { host, ..directory(address) }).unwrap();
    pe.fabric.survive();
    let polls = || pe.fabric.network_counters().polls();
    let until = |is: &dyn Fn() -> bool| {
        while !is() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    std::thread::scope(|scope| {
        let putting = scope.spawn(|| {
            // SAFETY: a source that is copied at once.
            unsafe { pe.fabric.put(Channel::DEFAULT, heap(1, 0), [7u8; 8].as_ptr(), 8, Completion::Local) }
        });
        until(&|| asked.load(Ordering::Relaxed) > 0);
        let before = polls();
        until(&|| polls() > before + 20);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        pe.fabric.lose(1, &Fault::from(Cause::Lost { pe: 1, how: "it is gone".into() }), false);
        assert!(putting.join().unwrap().unwrap_err().is_loss());
    });
}

#[test]
fn a_peer_that_dies_is_named() {
    let Some(mut pes) = job(2, &settings()) else { return };
    put(&pes[0], heap(1, 0), &[1; 8], Completion::Local);
    amo(&pes[0], heap(1, 0), AmoOp::Add, 8, 1, 0);
    drop(pes.pop());
    let text = until_it_fails(&pes[0]).to_string();
    assert!(text.contains("PE 1 on host1"), "{text}");
}

/// What is under way to a PE when it dies is not waited for without end.
#[test]
fn operations_under_way_to_a_peer_that_dies_end() {
    let Some(mut pes) = job(2, &settings()) else { return };
    amo(&pes[0], heap(1, 0), AmoOp::Add, 8, 1, 0);
    // PE 1 neither answers nor reads any more, then goes.
    pes[1].fabric.drain();
    put(&pes[0], heap(1, 0), &[1; 8], Completion::Local);
    put(&pes[0], heap(1, 8), &[1; 8], Completion::Deferred);
    drop(pes.pop());
    let text = pes[0].fabric.quiet(Channel::DEFAULT).unwrap_err().to_string();
    assert!(text.contains("PE 1 on host1"), "{text}");
}
