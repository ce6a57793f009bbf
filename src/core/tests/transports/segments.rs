//! Segments beside heap and static data, under numbers of their own.
#![allow(unsafe_code)]

use super::pes::{Pe, amo, everywhere, get, put};
use super::random::Random;
use super::rma::SIZES;
use super::ways;
use pellucid_core::transport::{AmoOp, Channel, Completion, RemoteAddress, SegmentId};

const BYTES: usize = 3 << 20;

#[test]
fn further_segments_are_reached_by_their_numbers() {
    everywhere(ways(), segments);
}

fn segments(pes: &[Pe], to: i32) {
    let memory = vec![0u64; BYTES / 8].leak();
    let start = memory.as_mut_ptr().cast::<u8>();
    let segment = SegmentId(9);
    // The same transport at the other end.
    let (way, target) = (pes[0].way(to), pes[to as usize].way(0));
    // SAFETY: the memory stays.
    let key = unsafe { target.register(segment, start, BYTES).unwrap() };
    let at = |offset| RemoteAddress { pe: to, segment, offset };
    // SAFETY: nothing is written.
    let early = unsafe { way.put(Channel::DEFAULT, at(0), start, 8, Completion::Local) };
    assert!(early.unwrap_err().to_string().contains(&format!("segment 9 of PE {to}")));
    let wrong = [key.clone(), vec![1]].concat();
    assert!(way.introduce(to, segment, &wrong).unwrap_err().to_string().contains("no key of segment 9"));
    way.introduce(to, segment, &key).unwrap();
    pes[to as usize].map(segment, start, BYTES);
    let mut random = Random(5);
    for completion in [Completion::Local, Completion::Deferred] {
        for bytes in SIZES {
            let (data, mut back) = (random.bytes(bytes), vec![0; bytes]);
            put(&pes[0], at(40), &data, completion);
            pes[0].quiet();
            get(&pes[0], at(40), &mut back, completion);
            pes[0].quiet();
            assert!(back == data, "{bytes} bytes");
        }
    }
    assert_eq!(amo(&pes[0], at(8), AmoOp::Add, 8, 7, 0), 0);
    assert_eq!(amo(&pes[0], at(8), AmoOp::Fetch, 8, 0, 0), 7);
    for taken in [SegmentId::HEAP, SegmentId::DATA, segment] {
        // SAFETY: as above.
        let fault = unsafe { target.register(taken, start, BYTES).unwrap_err() };
        assert!(fault.to_string().contains("the number is taken"), "{fault}");
    }
    target.deregister(segment);
    target.deregister(SegmentId(500));
    // SAFETY: as above.
    unsafe { target.register(segment, start, BYTES).unwrap() };
}
