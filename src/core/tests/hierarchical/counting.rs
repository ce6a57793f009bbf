//! The messages of collectives between up to a million members: each member's part is the library's own code, run
//! alone, with a network that only counts.

use pellucid_core::base::Fault;
use pellucid_core::inter_host::{self, Buffer, By, Fold, Net, Object, PART, Turned};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// What one member did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Send {
        to: usize,
        step: u32,
    },
    Receive {
        from: usize,
        step: u32,
    },
    /// Waits for puts to be complete, or for a get.
    Trip,
}

/// One member of many, alone. What it receives are zeros.
#[derive(Debug)]
pub struct Alone {
    pub me: usize,
    pub size: usize,
    pub events: RefCell<Vec<Event>>,
    /// Bytes of messages, puts and gets.
    pub bytes: RefCell<usize>,
    pub puts: RefCell<usize>,
}

impl Alone {
    pub fn new(me: usize, size: usize) -> Self {
        Self { me, size, events: RefCell::default(), bytes: RefCell::default(), puts: RefCell::default() }
    }

    fn event(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }
}

impl Net for Alone {
    fn me(&self) -> usize {
        self.me
    }
    fn size(&self) -> usize {
        self.size
    }
    fn send(&self, to: usize, step: u32, payload: &[u8]) -> Result<(), Fault> {
        assert!(to < self.size && to != self.me && payload.len() <= PART);
        *self.bytes.borrow_mut() += payload.len();
        self.event(Event::Send { to, step });
        Ok(())
    }
    fn try_receive(&self, from: usize, step: u32, _: &mut [u8]) -> Result<bool, Fault> {
        assert!(from < self.size && from != self.me);
        self.event(Event::Receive { from, step });
        Ok(true)
    }
    fn put(&self, _: usize, _: &Object, _: usize, _: &Object, _: usize, bytes: usize) -> Result<(), Fault> {
        *self.bytes.borrow_mut() += bytes;
        *self.puts.borrow_mut() += 1;
        Ok(())
    }
    fn start_get(&self, _: usize, _: &Object, _: usize, into: &mut [u8]) -> Result<bool, Fault> {
        *self.bytes.borrow_mut() += into.len();
        *self.puts.borrow_mut() += 1;
        self.event(Event::Trip);
        Ok(true)
    }
    fn is_settled(&self) -> Result<bool, Fault> {
        self.event(Event::Trip);
        Ok(true)
    }
}

/// A collective that is counted.
pub struct Row {
    pub name: &'static str,
    pub run: fn(&dyn Net) -> Result<(), Fault>,
    /// Messages that a member sends for each doubling of the members, at most, beside one for each full part of its
    /// data.
    pub messages: usize,
    /// Whether a member goes through as many blocks as there are members: fewer members are run then.
    pub long: bool,
    /// Messages and round trips one after the other, from the first to the last member, for each doubling.
    pub steps: usize,
}

const ELEMENTS: usize = 16 << 10;

unsafe fn nothing(_: *mut u8, _: *const u8, _: usize) {}

/// Runs a schedule that finds everything there.
fn now<T>(schedule: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    inter_host::finish(schedule, || unreachable!("nothing is missing"))
}

const FOLD: Fold = Fold { elem: 8, combine: nothing };

fn with(bytes: usize, run: impl FnOnce(&Object) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut buffer = Buffer::new(bytes);
    run(&buffer.object())
}

pub const ROWS: &[Row] = &[
    Row {
        name: "list of hosts at start-up",
        run: |n| now(inter_host::hosts(n, n.me())).map(drop),
        messages: 2,
        steps: 3,
        long: false,
    },
    Row { name: "barrier", run: |n| now(inter_host::dissemination(n)), messages: 1, steps: 1, long: false },
    Row {
        name: "broadcast, 8 bytes",
        run: |n| with(8, |d| now(inter_host::broadcast_small(n, d))),
        messages: 1,
        steps: 1,
        long: false,
    },
    Row {
        name: "broadcast of member 5, 8 bytes",
        run: |net| with(8, |d| now(inter_host::broadcast_small(&Turned { net, first: 5 % net.size() }, d))),
        messages: 1,
        steps: 1,
        long: false,
    },
    Row {
        name: "broadcast, 128 KiB, parts",
        run: |n| with(8 * ELEMENTS, |d| now(inter_host::broadcast_scatter(n, d, d))),
        messages: 4,
        steps: 6,
        long: false,
    },
    Row {
        name: "sum, 8 bytes",
        run: |n| with(8, |d| now(inter_host::fold_doubling(n, d, FOLD))),
        messages: 2,
        steps: 3,
        long: false,
    },
    Row {
        name: "sum, 128 KiB, shares",
        run: |n| with(8 * ELEMENTS, |d| now(inter_host::fold_halving(n, d, FOLD))),
        messages: 3,
        steps: 7,
        long: false,
    },
    Row {
        name: "fcollect, 1 byte",
        run: |n| with(n.size(), |d| now(inter_host::gather(n, d, d, &|member| member, By::Puts, false))),
        messages: 2,
        steps: 3,
        long: false,
    },
    Row {
        name: "alltoall, 1 byte",
        run: |n| {
            with(2 * n.size(), |d| {
                let (to, from) = (d.part(0, n.size()), d.part(n.size(), n.size()));
                now(inter_host::exchange_passing(n, &to, &from, 1))
            })
        },
        messages: 1,
        steps: 1,
        long: true,
    },
    Row {
        name: "scan, 8 bytes",
        run: |n| with(16, |d| now(inter_host::exscan(n, &d.part(0, 8), &d.part(8, 8), FOLD))),
        messages: 1,
        steps: 1,
        long: false,
    },
];

/// Of one collective: the most that any of the members did that were run.
#[derive(Debug, Default, Clone, Copy)]
pub struct Most {
    pub sent: usize,
    pub received: usize,
    pub operations: usize,
    pub bytes: usize,
}

fn part(row: &Row, me: usize, size: usize) -> Alone {
    let alone = Alone::new(me, size);
    (row.run)(&alone).unwrap();
    alone
}

/// Members of a group that are run for a collective.
pub fn runners(row: &Row, size: usize, all_up_to: usize) -> Vec<usize> {
    if row.long && size > 1024 { vec![0, size / 2] } else { sample(size, all_up_to) }
}

/// Members to run of very many: those at the ends and beside powers of two, and some in between.
pub fn sample(size: usize, all_up_to: usize) -> Vec<usize> {
    if size <= all_up_to {
        return (0..size).collect();
    }
    let powers = (0..usize::BITS).map(|bit| 1usize << bit).take_while(|power| *power <= size);
    let beside = powers.flat_map(|power| [power - 1, power, power + 1, size - power]);
    let between = (0..all_up_to).map(|i| i * (size / all_up_to) + i * i % 97);
    beside.chain(between).filter(|member| *member < size).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Runs some members of a group and gives the most that one of them does.
pub fn most(row: &Row, size: usize, members: &[usize]) -> Most {
    members.iter().map(|me| part(row, *me, size)).fold(Most::default(), |most, one| {
        let events = one.events.borrow();
        let sent = events.iter().filter(|event| matches!(event, Event::Send { .. })).count();
        let received = events.iter().filter(|event| matches!(event, Event::Receive { .. })).count();
        Most {
            sent: most.sent.max(sent),
            received: most.received.max(received),
            operations: most.operations.max(*one.puts.borrow()),
            bytes: most.bytes.max(*one.bytes.borrow()),
        }
    })
}

/// PEs whose addresses a member needs for all of these collectives: those that it sends to or reads from, and the next
/// one, with which it compares versions.
pub fn addresses(size: usize, me: usize) -> usize {
    let mut peers = BTreeSet::from([(me + 1) % size]);
    for row in ROWS.iter().filter(|row| !row.long || size <= 1024) {
        for event in part(row, me, size).events.borrow().iter() {
            if let Event::Send { to, .. } = event {
                peers.insert(*to);
            }
        }
    }
    peers.len()
}

/// Runs all members together: every message that is waited for is sent, and none is left. Gives the length of the
/// longest chain of messages and round trips, each of which waits for the one before.
pub fn depth(row: &Row, size: usize) -> usize {
    let events: Vec<Vec<Event>> = (0..size).map(|me| part(row, me, size).events.into_inner()).collect();
    let mut next = vec![0; size];
    let mut time = vec![0usize; size];
    let mut sent: HashMap<(usize, usize, u32), usize> = HashMap::new();
    let mut waiting: HashMap<(usize, usize, u32), usize> = HashMap::new();
    let mut ready: Vec<usize> = (0..size).collect();
    while let Some(me) = ready.pop() {
        while let Some(event) = events[me].get(next[me]) {
            match *event {
                Event::Send { to, step } => {
                    let message = (me, to, step);
                    assert!(sent.insert(message, time[me] + 1).is_none(), "{} sends {message:?} twice", row.name);
                    ready.extend(waiting.remove(&message));
                }
                Event::Receive { from, step } => {
                    let message = (from, me, step);
                    let Some(came) = sent.get(&message) else {
                        waiting.insert(message, me);
                        break;
                    };
                    time[me] = time[me].max(*came);
                    sent.insert(message, usize::MAX);
                }
                Event::Trip => time[me] += 1,
            }
            next[me] += 1;
        }
    }
    for me in 0..size {
        assert_eq!(next[me], events[me].len(), "{}: member {me} of {size} waits for ever", row.name);
    }
    assert!(sent.values().all(|time| *time == usize::MAX), "{}: messages are left", row.name);
    time.into_iter().max().unwrap_or(0)
}

/// Messages that a member may send or receive: see [`Row::messages`].
pub fn bound(row: &Row, size: usize, most: &Most) -> usize {
    row.messages * doublings(size) + most.bytes / PART
}

/// Rounds of doubling that make a number.
pub fn doublings(size: usize) -> usize {
    size.next_power_of_two().trailing_zeros() as usize
}
