//! The ring of active messages (`transport/shm/ring.rs`) under a model checker, as `model.rs` does with the other
//! lock-free parts: the library's own code on the checker's words, with variants that are wrong in one place, which the
//! checker must find.
// Accesses of a loom::cell::UnsafeCell are what the checker watches: one that may race fails the test.
#![allow(clippy::undocumented_unsafe_blocks)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, Ordering};
use pellucid_core::base::word::Word;
use pellucid_core::transport::shm::ring::{Cells, Ring, Stamp};
use std::rc::Rc;

/// How a model differs from the real thing.
#[derive(Clone, Copy)]
struct Setup {
    /// All accesses are relaxed.
    weak: bool,
    /// Cells are given back as they are.
    unclean: bool,
}

const RIGHT: Setup = Setup { weak: false, unclean: false };

struct Shared {
    word: AtomicU64,
    setup: Setup,
}

impl Shared {
    fn new(setup: Setup) -> Self {
        Self { word: AtomicU64::new(0), setup }
    }

    fn order(&self, order: Ordering) -> Ordering {
        if self.setup.weak { Ordering::Relaxed } else { order }
    }
}

impl Word for Shared {
    fn load(&self, order: Ordering) -> u64 {
        self.word.load(self.order(order))
    }
    fn store(&self, value: u64, order: Ordering) {
        if !(value == 0 && self.setup.unclean) {
            self.word.store(value, self.order(order));
        }
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.word.fetch_add(value, self.order(order))
    }
    fn replace(&self, current: u64, new: u64, order: Ordering) -> bool {
        self.word.compare_exchange(current, new, self.order(order), self.order(Ordering::Acquire)).is_ok()
    }
}

/// Cells of the ring: an entry has up to half of them.
const CELLS: u64 = 4;

struct Model {
    tail: Shared,
    head: Shared,
    stamps: Vec<Shared>,
    /// What an entry holds, a word a cell.
    data: Vec<UnsafeCell<u64>>,
}

impl Cells for Model {
    type Word = Shared;

    fn cells(&self) -> u64 {
        CELLS
    }
    fn tail(&self) -> &Shared {
        &self.tail
    }
    fn head(&self) -> &Shared {
        &self.head
    }
    fn stamp(&self, cell: u64) -> &Shared {
        &self.stamps[cell as usize]
    }
}

impl Model {
    fn new(setup: Setup) -> Self {
        let word = || Shared::new(setup);
        Self {
            tail: word(),
            head: word(),
            stamps: (0..CELLS).map(|_| word()).collect(),
            data: (0..CELLS).map(|_| UnsafeCell::new(0)).collect(),
        }
    }

    /// Puts an entry of some cells in, each of which holds the value.
    fn send(&self, seen: &Shared, value: u16, cells: u64) {
        let ring = Ring(self);
        let position = wait(|| ring.claim(cells, seen));
        for i in 0..cells {
            let cell = ((position + i) % CELLS) as usize;
            // SAFETY: the cells from `position` on are this sender's until it stamps them; loom checks just that.
            self.data[cell].with_mut(|data| unsafe { *data = value.into() });
            if i > 0 {
                // Data that looks like the stamp of an entry in the next lap.
                let lap = (position + i) / CELLS + 2;
                self.stamps[cell].word.store(1 << 32 | lap, Ordering::Relaxed);
            }
        }
        ring.stamp(position, Stamp { cells: cells as u16, note: value });
    }

    /// Takes the next entry out; gives its value.
    fn take(&self, position: &mut u64) -> u16 {
        let ring = Ring(self);
        let stamp = wait(|| ring.next(position));
        for i in 0..u64::from(stamp.cells) {
            // SAFETY: stamped cells are the receiver's until it releases them; loom checks just that.
            let held = self.data[((*position + i) % CELLS) as usize].with(|data| unsafe { *data });
            assert_eq!(held, stamp.note.into(), "an entry is whole");
        }
        ring.release(*position, stamp.cells.into());
        *position += u64::from(stamp.cells);
        stamp.note
    }
}

/// Looks that a waiter takes. An interleaving in which it would take more is not followed.
const LOOKS: usize = 3;

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

/// Senders put entries of these lengths in, a thread each; one takes all of them out: each once, those of a sender in
/// their order.
fn check(setup: Setup, senders: &'static [&'static [u64]]) {
    let complete = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let ended = complete.clone();
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let ring = Rc::new(Model::new(setup));
        let send = |(sender, lengths): (usize, &'static &'static [u64])| {
            let ring = ring.clone();
            loom::thread::spawn(move || {
                run(|| {
                    let seen = Shared::new(setup);
                    for (i, cells) in lengths.iter().enumerate() {
                        ring.send(&seen, (10 * (sender + 1) + i) as u16, *cells);
                    }
                })
            })
        };
        let threads: Vec<_> = senders.iter().enumerate().map(send).collect();
        let taken = run(|| {
            let (mut position, mut next) = (0, vec![0; senders.len()]);
            for _ in 0..senders.iter().map(|lengths| lengths.len()).sum() {
                let value = usize::from(ring.take(&mut position));
                let (sender, i) = (value / 10 - 1, value % 10);
                assert_eq!(next[sender], i, "entries of a sender keep their order");
                next[sender] += 1;
            }
        });
        let all = threads.into_iter().fold(taken, |all, thread| all.and(thread.join().unwrap()));
        ended.fetch_add(all.map_or(0, |()| 1), std::sync::atomic::Ordering::Relaxed);
    });
    let complete = complete.load(std::sync::atomic::Ordering::Relaxed);
    println!("{complete} interleavings to the end");
    assert!(complete > 20, "the bounds leave too little");
}

/// Whether the checker finds something wrong.
fn fails(setup: Setup, senders: &'static [&'static [u64]]) -> bool {
    std::panic::catch_unwind(move || check(setup, senders)).is_err()
}

#[test]
fn entries_come_out_whole_and_once() {
    check(RIGHT, &[&[1, 1], &[1, 1]]);
    check(RIGHT, &[&[2], &[1, 1]]);
    assert!(fails(Setup { weak: true, ..RIGHT }, &[&[1, 1], &[1, 1]]));
}

#[test]
fn cells_serve_again_lap_after_lap() {
    check(RIGHT, &[&[1, 1, 1, 1, 1, 1]]);
    check(RIGHT, &[&[2, 2, 1, 1]]);
    assert!(fails(Setup { unclean: true, ..RIGHT }, &[&[2, 2, 1, 1]]));
}

/// One of two cells does not fit where one cell is left before the end.
#[test]
fn an_entry_that_would_run_past_the_end_begins_at_the_start() {
    check(RIGHT, &[&[1, 2, 2, 1]]);
    check(RIGHT, &[&[1, 2], &[2]]);
    assert!(fails(Setup { weak: true, ..RIGHT }, &[&[1, 2, 2, 1]]));
}
