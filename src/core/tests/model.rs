//! The lock-free parts under a model checker: every order in which the steps of a few PEs can interleave, within
//! bounds, and every value that the memory model lets a load give. The code is the library's own, on words of the
//! checker's.
//!
//! Each property comes with a variant that is wrong in one place: the checker must find that.
// Accesses of a loom::cell::UnsafeCell are what the checker watches: one that may race fails the test.
#![allow(clippy::undocumented_unsafe_blocks)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, Ordering};
use pellucid_core::base::Fault;
use pellucid_core::base::word::Word;
use pellucid_core::bootstrap::round::Round;
use pellucid_core::context::lock::{Ticket, TicketWord};
use pellucid_core::team::contribution::CollectiveCall;
use pellucid_core::team::sync_block::{MailboxSlot, WORDS};
use pellucid_core::team::{Members, Progress, central_counter, dissemination, flat};
use std::rc::Rc;

/// A word of the checker's.
struct Shared {
    word: AtomicU64,
    /// Whether all accesses are relaxed: what the code would be without its ordering.
    weak: bool,
}

impl Shared {
    fn new(value: u64, weak: bool) -> Self {
        Self { word: AtomicU64::new(value), weak }
    }

    fn order(&self, order: Ordering) -> Ordering {
        if self.weak { Ordering::Relaxed } else { order }
    }
}

impl TicketWord for Shared {
    const HALF: u32 = 32;
}

impl Word for Shared {
    fn load(&self, order: Ordering) -> u64 {
        self.word.load(self.order(order))
    }
    fn store(&self, value: u64, order: Ordering) {
        self.word.store(value, self.order(order));
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.word.fetch_add(value, self.order(order))
    }
    fn replace(&self, current: u64, new: u64, order: Ordering) -> bool {
        self.word.compare_exchange(current, new, self.order(order), self.order(Ordering::Acquire)).is_ok()
    }
}

/// How a model differs from the real thing.
#[derive(Clone, Copy)]
struct Setup {
    members: i32,
    weak: bool,
    /// Posts that the ring really has; the code believes in [`Seat::RING`].
    ring: u64,
    barrier: Barrier,
}

/// How members meet.
#[derive(Clone, Copy)]
enum Barrier {
    Counter,
    Flat,
    Dissemination,
}

impl Setup {
    const RIGHT: Self = Self { members: 2, weak: false, ring: 2, barrier: Barrier::Dissemination };
}

/// The areas of a team, and an object of each member that others read with plain loads.
struct World {
    setup: Setup,
    told: Vec<[Shared; 3]>,
    arrivals: Vec<[Shared; 2]>,
    hub: [Shared; 2],
    contributions: Vec<Vec<MailboxSlot<Shared>>>,
    done: Vec<Shared>,
    objects: Vec<UnsafeCell<u64>>,
}

impl World {
    fn new(setup: Setup) -> Self {
        let word = || Shared::new(0, setup.weak);
        let members = || 0..setup.members;
        let slot =
            || MailboxSlot { tag: word(), signature: word(), words: std::array::from_fn::<_, WORDS, _>(|_| word()) };
        Self {
            setup,
            told: members().map(|_| [word(), word(), word()]).collect(),
            arrivals: members().map(|_| [word(), word()]).collect(),
            hub: [word(), word()],
            contributions: members().map(|_| (0..setup.ring).map(|_| slot()).collect()).collect(),
            done: members().map(|_| word()).collect(),
            objects: members().map(|_| UnsafeCell::new(0)).collect(),
        }
    }

    fn read(&self, pe: i32) -> u64 {
        // SAFETY: the object lives; the checker fails where a write may happen at the same time.
        self.objects[pe as usize].with(|value| unsafe { *value })
    }
}

/// One member.
struct Seat {
    world: Rc<World>,
    me: i32,
    progress: Progress,
}

impl Seat {
    fn write(&self, value: u64) {
        // SAFETY: the object lives; the checker fails where another access may happen at the same time.
        self.world.objects[self.me as usize].with_mut(|object| unsafe { *object = value });
    }

    fn others(&self) -> impl Iterator<Item = i32> + '_ {
        (0..self.size()).filter(|pe| *pe != self.me)
    }
}

impl Members for &Seat {
    type Word = Shared;
    const RING: u64 = 2;

    fn me(&self) -> i32 {
        self.me
    }
    fn size(&self) -> i32 {
        self.world.setup.members
    }
    fn progress(&self) -> &Progress {
        &self.progress
    }
    fn told(&self, pe: i32, word: usize) -> &Shared {
        &self.world.told[pe as usize][word]
    }
    fn arrival(&self, pe: i32, number: u64) -> &Shared {
        &self.world.arrivals[pe as usize][(number % 2) as usize]
    }
    fn hub(&self) -> (&Shared, &Shared) {
        (&self.world.hub[0], &self.world.hub[1])
    }
    fn slot(&self, pe: i32, number: u64) -> &MailboxSlot<Shared> {
        &self.world.contributions[pe as usize][(number % self.world.setup.ring) as usize]
    }
    fn done(&self, pe: i32) -> &Shared {
        &self.world.done[pe as usize]
    }
    fn until<R>(&self, mut ready: impl FnMut() -> Option<R>) -> Result<R, Fault> {
        Ok(wait(&mut ready))
    }
    fn until_told(&self, _: i32, word: &Shared, mut is_there: impl FnMut(u64) -> bool) -> Result<(), Fault> {
        self.until(|| is_there(word.load(Ordering::Acquire)).then_some(()))
    }
    fn tell(&self, _: i32, _: &Shared) {}
    fn sync(&self) -> Result<(), Fault> {
        match self.world.setup.barrier {
            Barrier::Counter => central_counter(self, || {}),
            Barrier::Flat => flat(self, || {}),
            Barrier::Dissemination => dissemination(self, || {}),
        }
    }
}

/// Looks that a waiter takes at a word. An interleaving in which it would take more is not followed.
const LOOKS: usize = 3;

/// Nobody ends here while others wait for it.
const COMES: &str = "every member comes";

/// What a waiter throws when it has waited long enough.
struct Pruned;

fn wait<R>(mut ready: impl FnMut() -> Option<R>) -> R {
    for _ in 0..LOOKS {
        if let Some(value) = ready() {
            return value;
        }
        loom::thread::yield_now();
    }
    std::panic::resume_unwind(Box::new(Pruned))
}

/// Runs a thread's part. `None`: not to its end.
fn run<R>(part: impl FnOnce() -> R) -> Option<R> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(part))
        .map_err(|thrown| {
            if !thrown.is::<Pruned>() {
                std::panic::resume_unwind(thrown);
            }
        })
        .ok()
}

/// Runs every member's part in all interleavings.
fn check(setup: Setup, part: fn(&Seat)) {
    let complete = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let ended = complete.clone();
    let mut model = loom::model::Builder::new();
    // Switches that are forced by waiting do not count.
    model.preemption_bound = Some(if setup.members > 2 { 1 } else { 3 });
    model.check(move || {
        let world = Rc::new(World::new(setup));
        let seat = |me| Seat { world: world.clone(), me, progress: Progress::new() };
        let threads: Vec<_> =
            (1..setup.members).map(seat).map(|seat| loom::thread::spawn(move || run(|| part(&seat)))).collect();
        let first = seat(0);
        let mine = run(|| part(&first));
        let all = threads.into_iter().fold(mine, |all, thread| all.and(thread.join().unwrap()));
        ended.fetch_add(all.map_or(0, |()| 1), std::sync::atomic::Ordering::Relaxed);
    });
    let complete = complete.load(std::sync::atomic::Ordering::Relaxed);
    println!("{complete} interleavings to the end");
    assert!(complete > 20, "the bounds leave too little");
}

/// Whether the checker finds something wrong.
fn fails(setup: Setup, part: fn(&Seat)) -> bool {
    std::panic::catch_unwind(move || check(setup, part)).is_err()
}

/// After a meeting everyone reads what everyone wrote before it; after the next, everyone may write again.
fn meetings(seat: &Seat) {
    seat.write(1);
    (&seat).sync().expect(COMES);
    (0..seat.size()).for_each(|pe| assert_eq!(seat.world.read(pe), 1));
    (&seat).sync().expect(COMES);
    seat.write(2);
}

/// The first of [`meetings`]: two meetings of three members have too many interleavings.
fn meeting(seat: &Seat) {
    seat.write(1);
    (&seat).sync().expect(COMES);
    (0..seat.size()).for_each(|pe| assert_eq!(seat.world.read(pe), 1));
}

#[test]
fn members_meet() {
    for barrier in [Barrier::Counter, Barrier::Flat, Barrier::Dissemination] {
        check(Setup { barrier, ..Setup::RIGHT }, meetings);
        check(Setup { barrier, members: 3, ..Setup::RIGHT }, meeting);
        assert!(fails(Setup { barrier, weak: true, ..Setup::RIGHT }, meetings));
    }
}

/// As [`meetings`], by the words of a job's start-up.
fn first_meetings(seat: &Seat) {
    let sync = || {
        let round = Round { arrived: &seat.world.hub[0], rounds: &seat.world.hub[1] };
        if let Some(number) = round.arrive(seat.size() as u64) {
            wait(|| round.is_over(number).then_some(()));
        }
    };
    seat.write(1);
    sync();
    (0..seat.size()).for_each(|pe| assert_eq!(seat.world.read(pe), 1));
    sync();
    seat.write(2);
}

#[test]
fn processes_meet() {
    check(Setup::RIGHT, first_meetings);
    check(Setup { members: 3, ..Setup::RIGHT }, first_meetings);
    assert!(fails(Setup { weak: true, ..Setup::RIGHT }, first_meetings));
}

/// Everyone shows a value to everyone, more often than the ring has contributions.
fn exchanges(seat: &Seat) {
    for round in 1..=4 {
        let turn = CollectiveCall::start(seat, 7).expect(COMES);
        turn.contribute(&[10 * round + seat.me as u64]);
        for pe in 0..seat.size() {
            let slot = turn.slot_of(pe).expect(COMES).expect("the same signature");
            assert_eq!(CollectiveCall::<&Seat>::words(slot).0[0], 10 * round + pe as u64);
        }
        turn.all_synchronized();
        turn.done();
    }
}

/// Member 0 shows a value and goes on, so that the others may be left behind by as much as the ring allows.
fn broadcasts(seat: &Seat) {
    for round in 1..=4 {
        let turn = CollectiveCall::start(seat, 7).expect(COMES);
        if seat.me == 0 {
            turn.contribute(&[round]);
        } else {
            assert_eq!(
                CollectiveCall::<&Seat>::words(turn.slot_of(0).expect(COMES).expect("the same signature")).0[0],
                round
            );
        }
        turn.done();
    }
}

/// Others read an object of member 0's, which it writes again after having waited for them.
fn large_broadcasts(seat: &Seat) {
    for round in 1..=2 {
        let turn = CollectiveCall::start(seat, 7).expect(COMES);
        if seat.me == 0 {
            seat.write(round);
            turn.contribute(&[]);
            turn.done();
            turn.wait_for_others().expect(COMES);
        } else {
            turn.slot_of(0).expect(COMES).expect("the same signature");
            assert_eq!(seat.world.read(0), round);
            turn.done();
        }
    }
}

/// Everyone reads everyone's object; all leave together and write again.
fn large_exchanges(seat: &Seat) {
    for round in 1..=2 {
        let turn = CollectiveCall::start(seat, 7).expect(COMES);
        seat.write(round);
        turn.contribute(&[]);
        for pe in seat.others() {
            turn.slot_of(pe).expect(COMES).expect("the same signature");
            assert_eq!(seat.world.read(pe), round);
        }
        turn.all_synchronized();
        turn.done();
        turn.leave_together().expect(COMES);
    }
}

#[test]
fn posts_are_used_again_when_all_have_read_them() {
    check(Setup::RIGHT, exchanges);
    check(Setup::RIGHT, broadcasts);
    // With fewer contributions than the code believes, a member writes over what another has not read.
    assert!(fails(Setup { ring: 1, ..Setup::RIGHT }, broadcasts));
}

#[test]
fn objects_are_written_again_when_all_have_read_them() {
    for part in [large_broadcasts as fn(&Seat), large_exchanges] {
        check(Setup::RIGHT, part);
        assert!(fails(Setup { weak: true, ..Setup::RIGHT }, part));
    }
    check(Setup { members: 3, ..Setup::RIGHT }, large_broadcasts);
}

/// Threads that take a lock around an object; the last one only tries.
fn locks(start: u64, weak: bool, contenders: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Rc::new((Shared::new(start, weak), UnsafeCell::new(0u64)));
        let threads: Vec<_> = (0..contenders)
            .map(|me| {
                let shared = shared.clone();
                let part = move || {
                    let lock = Ticket(&shared.0);
                    if me + 1 == contenders {
                        if !lock.take() {
                            return 0;
                        }
                    } else {
                        wait(lock.draw());
                    }
                    // SAFETY: as in `Seat::write`: that the lock excludes the others is what is checked.
                    shared.1.with_mut(|value| unsafe { *value += 1 });
                    lock.release().expect("this thread has the lock");
                    1
                };
                loom::thread::spawn(move || run(part))
            })
            .collect();
        let taken: Option<Vec<u64>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let Some(taken) = taken else { return };
        let taken: u64 = taken.iter().sum();
        assert!(taken + 1 >= contenders as u64);
        // SAFETY: all threads have been joined.
        assert_eq!(shared.1.with(|value| unsafe { *value }), taken);
        assert!(Ticket(&shared.0).take(), "the lock is free in the end");
    });
}

#[test]
fn a_lock_excludes() {
    // From the beginning, and where both halves of the word wrap around.
    for start in [0, u64::MAX] {
        locks(start, false, 3);
    }
    assert!(std::panic::catch_unwind(|| locks(0, true, 2)).is_err());
}
