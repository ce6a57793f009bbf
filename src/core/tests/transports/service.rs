//! What a transport does beside moving data: messages by tag, questions, counters, and the end of the process.

use super::pes::{Pe, amo, answer, everywhere, heap, put};
use super::ways;
use pellucid_core::base::{Cause, Fault};
use pellucid_core::transport::{AmoOp, Channel, Completion, MESSAGE, Tag, Transport};

/// Runs `part` for each way between hosts, with what reaches them of PE 0 and of PE 1, which are on hosts of their own.
fn between_hosts(part: impl Fn(&[Pe], [&dyn Transport; 2])) {
    for way in ways() {
        let pes = way.open(2);
        if let [Some(first), Some(second)] = [&pes[0].remote, &pes[1].remote] {
            println!("{}", way.name);
            part(&pes, [&**first, &**second]);
        }
    }
}

#[test]
fn messages_are_taken_by_tag() {
    between_hosts(|pes, [first, second]| {
        let tag = |step| Tag { group: 9, number: 4, step };
        assert_eq!(second.take(0, tag(0)).unwrap(), None);
        for step in 0..100u32 {
            let payload = vec![step as u8; (step as usize * 83) % (MESSAGE + 1)];
            first.send(1, tag(step), &payload).unwrap();
        }
        for step in (0..100u32).rev() {
            let message = loop {
                match second.take(0, tag(step)).unwrap() {
                    Some(message) => break message,
                    None => _ = pes[1].progress(),
                }
            };
            assert_eq!(message, vec![step as u8; (step as usize * 83) % (MESSAGE + 1)]);
        }
        assert_eq!(second.take(0, tag(5)).unwrap(), None);
        let long = first.send(1, tag(0), &vec![0; MESSAGE + 1]).unwrap_err();
        assert!(long.to_string().contains(&(MESSAGE + 1).to_string()), "{long}");
    });
}

/// What does not reach other hosts has no messages by tag, and says so.
#[test]
fn messages_that_a_transport_has_not_are_refused() {
    for way in ways() {
        let pes = way.open(1);
        let tag = Tag { group: 1, number: 1, step: 1 };
        for transport in pes[0].transports().filter(|transport| !transport.capabilities().reaches_other_hosts) {
            assert!(transport.send(0, tag, b"x").is_err() && transport.take(0, tag).is_err(), "{}", way.name);
            assert!(transport.ask(Channel::DEFAULT, 0, [1, 2, 3]).is_err(), "{}", way.name);
        }
    }
}

#[test]
fn questions_are_answered() {
    between_hosts(|_, [first, _]| {
        for i in 0..50 {
            let question = [i, 2 * i, 3 * i];
            assert_eq!(first.ask(Channel::DEFAULT, 1, question).unwrap(), answer(1, question));
        }
    });
}

/// The counters are those that the row names, in its order; and they count.
#[test]
fn counters_are_those_of_the_row() {
    for way in ways() {
        let pes = way.open(3);
        put(&pes[0], heap(2, 0), &[1; 5000], Completion::Local);
        pes[0].quiet();
        let Some(remote) = &pes[0].remote else { continue };
        let counters = remote.counters();
        assert_eq!(counters.iter().map(|row| row.0).collect::<Vec<_>>(), way.counters, "{}", way.name);
        assert!(counters.is_empty() || counters.iter().any(|row| row.2 > 0), "{}: {counters:?}", way.name);
    }
}

/// After its threads have been ended, all calls go on working.
#[test]
fn calls_go_on_at_the_end_of_the_process() {
    everywhere(ways(), |pes, to| {
        let before = amo(&pes[0], heap(to, 0), AmoOp::Fetch, 8, 0, 0);
        pes[0].transports().for_each(Transport::drain);
        for i in 0..100 {
            assert_eq!(amo(&pes[0], heap(to, 0), AmoOp::Add, 8, 1, 0), before + i);
        }
        pes[0].transports().for_each(Transport::all_arrived);
    });
}

/// Operations to a PE that is lost end with its fault, and those to others go on.
#[test]
fn what_goes_to_a_lost_pe_says_so() {
    for way in ways() {
        let pes = way.open(5);
        let Some(remote) = &pes[0].remote else { continue };
        amo(&pes[0], heap(4, 0), AmoOp::Add, 8, 1, 0);
        remote.survive();
        remote.lose(4, &Fault::from(Cause::Lost { pe: 4, how: "it is gone".into() }), false);
        // SAFETY: the source lives on.
        #[allow(unsafe_code)]
        let put_to = |pe| unsafe {
            let begun = remote.put(Channel::DEFAULT, heap(pe, 8), [7u8; 8].as_ptr(), 8, Completion::Local);
            begun.and_then(|()| remote.quiet_pes(Channel::DEFAULT, &mut std::iter::once(pe)))
        };
        let lost = put_to(4).unwrap_err();
        assert!(lost.is_loss() && lost.to_string().contains("PE 4"), "{}: {lost}", way.name);
        put_to(3).unwrap();
        assert_eq!(pes[3].word(8), u64::from_ne_bytes([7; 8]), "{}", way.name);
        assert!(remote.send(4, Tag { group: 1, number: 1, step: 1 }, b"x").unwrap_err().is_loss(), "{}", way.name);
        remote.forget_lost(4);
        remote.quiet(Channel::DEFAULT).unwrap();
    }
}
