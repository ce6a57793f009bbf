//! Segments beside heap and static data, under numbers of their own.
#![allow(unsafe_code)]

use super::job::{Random, job, settings};
use super::{SIZES, amo, get, put};
use pellucid_core::transport::ofi::Settings;
use pellucid_core::transport::{AmoOp, Channel, Completion, RemoteAddress, SegmentId, Transport};

const BYTES: usize = 3 << 20;

fn segments(settings: &Settings) {
    let Some(pes) = job(2, settings) else { return };
    let memory = vec![0u64; BYTES / 8].leak();
    let start = memory.as_mut_ptr().cast::<u8>();
    let segment = SegmentId(9);
    // SAFETY: the memory stays.
    let key = unsafe { pes[1].fabric.register(segment, start, BYTES).unwrap() };
    let at = |offset| RemoteAddress { pe: 1, segment, offset };
    // SAFETY: nothing is written.
    let early = unsafe { pes[0].fabric.put(Channel::DEFAULT, at(0), start, 8, Completion::Local) };
    assert!(early.unwrap_err().to_string().contains("segment 9 of PE 1 is not known here"));
    assert!(pes[0].fabric.introduce(1, segment, &key[1..]).unwrap_err().to_string().contains("no key of segment 9"));
    pes[0].fabric.introduce(1, segment, &key).unwrap();
    let mut random = Random(5);
    for completion in [Completion::Local, Completion::Deferred] {
        for bytes in SIZES {
            let (data, mut back) = (random.bytes(bytes), vec![0; bytes]);
            put(&pes[0], at(40), &data, completion);
            pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
            get(&pes[0], at(40), &mut back, completion);
            pes[0].fabric.quiet(Channel::DEFAULT).unwrap();
            assert!(back == data, "{bytes} bytes");
        }
    }
    assert_eq!(amo(&pes[0], at(8), AmoOp::Add, 8, 7, 0), 0);
    assert_eq!(amo(&pes[0], at(8), AmoOp::Fetch, 8, 0, 0), 7);
    for taken in [SegmentId::HEAP, SegmentId::DATA, segment] {
        // SAFETY: as above.
        let fault = unsafe { pes[1].fabric.register(taken, start, BYTES).unwrap_err() };
        assert!(fault.to_string().contains("the number is taken"), "{fault}");
    }
    pes[1].fabric.deregister(segment);
    pes[1].fabric.deregister(SegmentId(500));
    // SAFETY: as above.
    unsafe { pes[1].fabric.register(segment, start, BYTES).unwrap() };
}

#[test]
fn further_segments_are_reached_by_their_numbers() {
    segments(&settings());
    segments(&Settings { as_cards_do: true, ..settings() });
}
