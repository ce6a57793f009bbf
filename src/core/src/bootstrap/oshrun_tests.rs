use super::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

/// A PE 2 of 4 whose host has PEs 2 and 3, and the launcher's end.
fn connected() -> (Arc<Oshrun>, OwnedFd) {
    let (ours, theirs) = packet::pair().unwrap();
    let job = Job::create(2..4, 4).unwrap();
    (Arc::new(Oshrun::new(ours, &job, 2)), theirs)
}

fn next(launcher: &OwnedFd) -> PeRequest {
    PeRequest::decode(&packet::receive(launcher, true).unwrap()).unwrap()
}

fn answer(launcher: &OwnedFd, reply: &Reply) {
    packet::send(launcher, &reply.encode(), true).unwrap();
}

#[test]
fn a_pe_knows_its_place() {
    let (pe, launcher) = connected();
    assert_eq!((pe.name(), pe.pe(), pe.npes(), pe.local()), ("oshrun", 2, 4, 2..4));
    answer(&launcher, &Reply::Hosts(vec![(2, 2)]));
    assert_eq!(pe.hosts(), Some(vec![0, 2]));
    assert_eq!(next(&launcher), PeRequest::Hosts);
}

#[test]
fn cards_are_published_and_asked_for() {
    let (pe, launcher) = connected();
    pe.publish("host", b"here").unwrap();
    assert_eq!(next(&launcher), PeRequest::Publish { key: "host".into(), value: b"here".into() });
    let asked = thread::spawn({
        let pe = pe.clone();
        move || (pe.lookup(0, "host").unwrap(), pe.lookup(1, "host").unwrap_err().to_string())
    });
    for value in [Some(b"there".to_vec()), None] {
        let PeRequest::Lookup { id, .. } = next(&launcher) else { panic!("no request for a value") };
        answer(&launcher, &Reply::Value { id, value });
    }
    let (value, missing) = asked.join().unwrap();
    assert_eq!((value.as_slice(), missing.as_str()), (&b"there"[..], "PE 1 has published no value \"host\""));
    assert!(pe.publish("host", &[0; talk::VALUE_BYTES + 1]).is_err());
}

#[test]
fn a_thread_gets_its_value_while_another_waits_in_a_fence() {
    let (pe, launcher) = connected();
    let fence = thread::spawn({
        let pe = pe.clone();
        move || pe.fence()
    });
    assert_eq!(next(&launcher), PeRequest::Fence);
    let key_values: Vec<_> = (0..4)
        .map(|other| {
            let pe = pe.clone();
            thread::spawn(move || pe.lookup(other, "fabric").unwrap())
        })
        .collect();
    // Answered in another order than asked.
    let mut asked = VecDeque::new();
    for _ in 0..4 {
        let PeRequest::Lookup { id, pe, .. } = next(&launcher) else { panic!("no request for a value") };
        asked.push_front((id, pe));
    }
    for (id, pe) in asked {
        answer(&launcher, &Reply::Value { id, value: Some(vec![pe as u8; 3]) });
    }
    for (other, value) in key_values.into_iter().enumerate() {
        assert_eq!(value.join().unwrap(), [other as u8; 3]);
    }
    assert!(!fence.is_finished());
    answer(&launcher, &Reply::Fenced);
    fence.join().unwrap().unwrap();
}

#[test]
fn a_launcher_that_ends_wakes_all_that_wait() {
    let (pe, launcher) = connected();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let pe = pe.clone();
            thread::spawn(move || pe.fence().unwrap_err().to_string())
        })
        .collect();
    for _ in 0..3 {
        assert_eq!(next(&launcher), PeRequest::Fence);
    }
    drop(launcher);
    for text in waiting {
        assert!(text.join().unwrap().contains("connection to the oshrun of this host is lost"));
    }
    assert!(pe.fence().is_err());
    assert_eq!(pe.hosts(), None);
}
