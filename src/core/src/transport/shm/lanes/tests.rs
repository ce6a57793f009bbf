//! Rings whose memory something else has written to: what comes out is a message in the ring, or a fault.

use super::*;
use std::ptr;

const PES: usize = 2;

/// A generator that needs no state but a word.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Rings of two PEs, in memory of their own.
pub(super) struct Rings {
    memory: Vec<u128>,
    pub(super) lanes: Vec<Lanes>,
}

impl Rings {
    pub(super) fn new() -> Self {
        let mut memory = vec![0_u128; PES * LANES / 16 + CELL / 16];
        let base = memory.as_mut_ptr().cast::<u8>();
        let base = base.wrapping_add(base.align_offset(CELL));
        let memory_of = LaneMemory { base, stride: LANES, first: 0, count: PES as u32 };
        // SAFETY: as many zeroes, aligned, used by these alone, and kept beside them.
        let lanes: Vec<Lanes> = (0..PES as i32).map(|me| unsafe { Lanes::new(memory_of, me) }).collect();
        lanes.iter().for_each(Lanes::open);
        Self { memory, lanes }
    }

    fn holds(&self, at: usize, bytes: usize) -> bool {
        let (first, len) = (self.memory.as_ptr().addr(), self.memory.len() * 16);
        at >= first && at + bytes <= first + len
    }

    /// Writes to a word of the messages that come next, to the words in front of the rings, or to any.
    fn damage(&self, random: &mut Random) {
        let next = self.lanes[1].receivers[0].position.load(Ordering::Relaxed) as usize;
        let word = |words: usize, random: &mut Random| random.next(words as u64) as usize * 8;
        let offset = match random.next(8) {
            0 => word(LANES / 8, random),
            1 => word(2 * CELL / 8, random),
            _ => 2 * CELL + (next + random.next(8) as usize) % CELLS * CELL + word(CELL / 8, random),
        };
        let word = self.lanes[0].memory.base.wrapping_add(LANES + offset).cast::<u64>();
        let all = [random.next(u64::MAX), 0, u64::MAX, random.next(1 << 16), random.next(1 << 16) << 32];
        let new = all[random.next(all.len() as u64) as usize];
        // SAFETY: a word of the rings, which these threads alone use.
        unsafe {
            let old = word.read();
            word.write(if random.next(2) == 0 { new } else { old ^ 1 << random.next(64) });
        }
    }

    fn send(&self, random: &mut Random, payload: &[u8]) {
        let args: Vec<i32> = (0..random.next(MAX_ARGS as u64 + 1)).map(|i| i as i32).collect();
        let kind = [MessageKind::Short, MessageKind::Medium, MessageKind::Long][random.next(3) as usize];
        let carries = if kind == MessageKind::Short { 0 } else { random.next(payload.len() as u64) as usize };
        let target = LongTarget { segment: SegmentId(1), offset: 8, bytes: 16 };
        let payload = if kind == MessageKind::Medium { &payload[..carries] } else { &[] };
        let message = Outgoing { kind, handler: random.next(256) as u16, args: &args, payload, target };
        self.lanes[0].try_send(Lane::Request, 1, &message);
    }

    /// Takes out what there is; false where it is damaged.
    fn take(&self) -> bool {
        let check = |message: &mut Incoming<'_>| {
            assert!(message.args.len() <= MAX_ARGS && (0..PES as i32).contains(&message.source));
            assert!(message.payload.len() <= MEDIUM);
            assert!(self.holds(ptr::from_ref(message.args).addr(), size_of_val(message.args)));
            assert!(self.holds(message.payload.as_ptr().addr(), message.payload.len()));
            let sum: i64 = message.args.iter().map(|arg| i64::from(*arg)).sum();
            std::hint::black_box((sum, message.payload.iter().map(|byte| u64::from(*byte)).sum::<u64>()));
            Ok(())
        };
        self.lanes[1].deliver(Lane::Request, 1 << 20, &mut { check }).is_ok()
    }
}

#[test]
fn damaged_rings_give_messages_of_the_ring_or_faults() {
    let payload = vec![7_u8; 2000];
    let (mut faults, mut rounds) = (0, 0);
    for seed in 0..300 {
        let (rings, mut random) = (Rings::new(), Random(seed));
        for _ in 0..200 {
            rounds += 1;
            for _ in 0..random.next(6) {
                rings.send(&mut random, &payload);
            }
            for _ in 0..random.next(3) {
                rings.damage(&mut random);
            }
            if !rings.take() {
                faults += 1;
                break;
            }
        }
    }
    assert!(faults > 100 && rounds > 1000, "{faults} faults in {rounds} rounds: the damage has to be met");
}

#[test]
fn a_stamp_that_skips_nothing_is_a_fault() {
    let rings = Rings::new();
    let view = rings.lanes[1].view(1, Lane::Request);
    Ring(&view).stamp(0, Stamp { cells: 0, note: 1 << 15 });
    assert!(!rings.take());
}

/// Those behind a message to another handler stay until whoever takes all of them has taken that.
#[test]
fn messages_to_one_handler_are_taken_up_to_the_first_to_another() {
    const OWN: u16 = 7;
    let rings = Rings::new();
    let [sender, receiver] = &rings.lanes[..] else { unreachable!() };
    for handler in [OWN, OWN, 8, OWN] {
        let message = Outgoing { kind: MessageKind::Short, handler, args: &[], payload: &[], target: LongTarget::NONE };
        assert!(sender.try_send(Lane::Request, 1, &message));
    }
    let mut taken = Vec::new();
    let mut note = |message: &mut Incoming<'_>| {
        taken.push(message.handler);
        Ok(())
    };
    assert!(receiver.is_next_of(OWN));
    assert_eq!(receiver.deliver_of(Lane::Request, Some(OWN), 9, &mut note).unwrap(), 2);
    assert!(!receiver.is_next_of(OWN));
    assert_eq!(receiver.deliver_of(Lane::Request, Some(OWN), 9, &mut note).unwrap(), 0);
    assert_eq!(receiver.deliver(Lane::Request, 1, &mut note).unwrap(), 1);
    assert!(receiver.is_next_of(OWN));
    assert_eq!(receiver.deliver_of(Lane::Request, Some(OWN), 9, &mut note).unwrap(), 1);
    assert!(!receiver.is_next_of(OWN));
    assert_eq!(taken, [OWN, OWN, 8, OWN]);
}
