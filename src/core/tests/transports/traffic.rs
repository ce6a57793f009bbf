//! What is sent comes, once and whole, whatever the sizes, the numbers and the threads.

use super::messages::{self, Pe, counts};
use super::pes::HEAP;
use super::random::Random;
use super::{on_all_pes, run, ways};
use pellucid_core::am::{MAX_ARGS, Message, MessageKind};
use pellucid_core::transport::{RemoteAddress, SegmentId};
use std::sync::atomic::Ordering;

const ASK: u16 = 1;
const ANSWER: u16 = 2;
const TAKE: u16 = 3;

/// Counts: answers, sum of them, requests taken, wrong ones.
fn register(pe: &Pe) {
    pe.register(ASK, "ask", |message, context| {
        assert!(message.is_request());
        counts(context)[2].fetch_add(1, Ordering::AcqRel);
        let sum = message.args().iter().sum::<i32>() + message.payload().iter().map(|b| i32::from(*b)).sum::<i32>();
        message.reply_short(ANSWER, &[sum]).unwrap();
    });
    pe.register(ANSWER, "answer", |message, context| {
        assert!(!message.is_request());
        counts(context)[1].fetch_add(message.args()[0] as usize, Ordering::AcqRel);
        counts(context)[0].fetch_add(1, Ordering::AcqRel);
    });
    pe.register(TAKE, "take", take);
    pe.barrier();
}

/// The payload of a message is made from its first argument, and as long as its second says.
fn take(message: &mut Message<'_>, context: usize) {
    let args = message.args();
    let right = message.payload() == Random(args[0] as u64 + 1).bytes(args[1] as usize) && args.len() >= 2;
    counts(context)[3].fetch_add(usize::from(!right), Ordering::AcqRel);
    counts(context)[2].fetch_add(1, Ordering::AcqRel);
}

fn end(pe: &Pe) {
    pe.messages.drain().unwrap();
    pe.barrier();
    pe.messages.close().unwrap();
    assert!(pe.messages.request_short(pe.me, ASK, &[]).unwrap_err().to_string().contains("finalize"));
}

#[test]
fn short_requests_with_any_number_of_arguments_are_answered() {
    on_all_pes(&[1, 2, 5], |pe| {
        register(pe);
        let (mut asked, mut expected) = (0, 0);
        for to in 0..pe.npes {
            for n in 0..=MAX_ARGS as i32 {
                let args: Vec<i32> = (0..n).map(|i| i * 3 + to).collect();
                pe.messages.request_short(to, ASK, &args).unwrap();
                asked += 1;
                expected += args.iter().sum::<i32>() as usize;
            }
        }
        pe.until(|| pe.count(0) == asked);
        assert_eq!(pe.count(1), expected);
        end(pe);
    });
}

#[test]
fn payloads_of_all_sizes_come_whole() {
    on_all_pes(&[1, 2], |pe| {
        register(pe);
        let to = (pe.me + 1) % pe.npes;
        let most = pe.messages.limits(to).unwrap().medium;
        assert!(most >= 512);
        let mut sent = 0;
        for bytes in [0, 1, 7, 8, 9, 47, 48, 49, 63, 64, 65, 500, 2999, most - 1, most] {
            for n in [2, 3, 15, 16] {
                let mut args = vec![sent, bytes as i32];
                args.resize(n, -1);
                let payload = Random(sent as u64 + 1).bytes(bytes);
                pe.messages.request_medium(to, TAKE, &args, &payload).unwrap();
                sent += 1;
            }
        }
        let refused = pe.messages.request_medium(to, TAKE, &[0, 0], &vec![0; most + 1]).unwrap_err().to_string();
        assert!(refused.contains(&format!("{} bytes", most + 1)) && refused.contains(&most.to_string()), "{refused}");
        let refused = pe.messages.request_short(to, TAKE, &[0; 17]).unwrap_err().to_string();
        assert!(refused.contains("args = 17"), "{refused}");
        pe.barrier();
        pe.until(|| pe.count(2) == sent as usize);
        assert_eq!(pe.count(3), 0);
        end(pe);
    });
}

#[test]
fn long_messages_find_their_data_in_the_segment() {
    on_all_pes(&[1, 2, 4], |pe| {
        register(pe);
        // Tells the address at which it finds the data, and answers with the same data 1 MiB further on.
        pe.register(10, "long", |message, context| {
            assert_eq!(message.kind(), MessageKind::Long);
            take(message, context);
            let data = message.payload().to_vec();
            let to = RemoteAddress { pe: 0, segment: SegmentId::HEAP, offset: message.args()[2] as usize };
            let args = [message.args()[0], message.args()[1]];
            message.reply_long(11, &args, &data, to).unwrap();
        });
        pe.register(11, "long answer", take);
        pe.barrier();
        let to = (pe.me + 1) % pe.npes;
        let (mut at, mut sent) = (8, 0);
        for bytes in [0, 1, 63, 64, 4096, 8192, 8193, 70_000, 500_001] {
            let data = Random(sent + 1).bytes(bytes);
            let there = RemoteAddress { pe: to, segment: SegmentId::HEAP, offset: at };
            let back = HEAP / 2 + at;
            pe.messages.request_long(10, &[sent as i32, bytes as i32, back as i32], &data, there).unwrap();
            pe.until(|| pe.count(2) as u64 >= 2 * (sent + 1));
            assert_eq!(pe.bytes(back, bytes), data, "{bytes} bytes");
            at += bytes + 9;
            sent += 1;
            pe.barrier();
        }
        assert_eq!(pe.count(3), 0);
        end(pe);
    });
}

/// PE 0 looks at nothing until all others wait for room; then everything comes.
#[test]
fn a_flood_waits_and_comes() {
    const EACH: usize = 20_000;
    for way in ways() {
        let pes = messages::job(&way, 3);
        let each = if pes.iter().all(|pe| pe.is_of_one_host) { EACH } else { EACH / 10 };
        run(&pes, &|pe: &Pe| {
            register(pe);
            if pe.me == 0 {
                std::thread::sleep(std::time::Duration::from_millis(50));
                pe.until(|| pe.count(2) == 2 * each);
            } else {
                for i in 0..each {
                    pe.messages.request_short(0, ASK, &[i as i32]).unwrap();
                }
                pe.until(|| pe.count(0) == each);
                assert_eq!(pe.count(1), each * (each - 1) / 2);
            }
            pe.barrier();
            end(pe);
        });
    }
}

/// Everyone floods everyone with payloads, and every handler answers with one: no circle of full lanes.
#[test]
fn everyone_floods_everyone_and_answers() {
    on_all_pes(&[2, 4], |pe| {
        register(pe);
        pe.register(20, "back", |message, _| {
            let (args, payload) = (message.args().to_vec(), message.payload().to_vec());
            message.reply_medium(TAKE, &args, &payload).unwrap();
        });
        pe.barrier();
        let mut random = Random(pe.me as u64 + 99);
        let mut sent = 0;
        for i in 0..400 {
            let to = random.below(pe.npes as usize) as i32;
            let bytes = random.below(pe.messages.limits(to).unwrap().medium + 1);
            let payload = Random(i + 1).bytes(bytes);
            pe.messages.request_medium(to, 20, &[i as i32, bytes as i32], &payload).unwrap();
            sent += 1;
        }
        pe.until(|| pe.count(2) == sent);
        assert_eq!(pe.count(3), 0);
        pe.barrier();
        end(pe);
    });
}

#[test]
fn threads_of_all_pes_send_and_poll() {
    const THREADS: usize = 3;
    const EACH: usize = 500;
    on_all_pes(&[2, 3], |pe| {
        register(pe);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for i in 0..EACH {
                        let to = (i % pe.npes as usize) as i32;
                        pe.messages.request_medium(to, ASK, &[1], &[1, 1]).unwrap();
                    }
                    pe.until(|| pe.count(0) == THREADS * EACH);
                });
            }
        });
        assert_eq!(pe.count(1), 3 * THREADS * EACH);
        pe.barrier();
        end(pe);
    });
}

/// After the first part of the end, what was sent has been handled, and its replies are there after the second.
#[test]
fn nothing_is_lost_at_the_end() {
    on_all_pes(&[1, 2, 5], |pe| {
        register(pe);
        for i in 0..300 {
            let payload = Random(i + 1).bytes(20);
            pe.messages.request_medium((pe.me + 1) % pe.npes, TAKE, &[i as i32, 20], &payload).unwrap();
            pe.messages.request_short((i % pe.npes as u64) as i32, ASK, &[1]).unwrap();
        }
        end(pe);
        assert_eq!((pe.count(0), pe.count(3)), (300, 0));
    });
}
