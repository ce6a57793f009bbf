//! The kernel's counters: opening and reading.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use perf_event::events::{Cache, CacheOp, CacheResult, Event, Hardware, Software, WhichCache};
use perf_event::{Builder, Counter, Group};

use super::{claim, consumers};
use crate::counters::{CounterKind, KNOWN};
use crate::segment::counters::{COUNTER_MISSING, COUNTER_ON, COUNTER_USER, COUNTERS, CounterHead};
use crate::segment::layout::{Region, SLOTS, Slot};

/// Counters of a thread.
struct Set {
    batches: Vec<Batch>,
    thread: u32,
}

/// Counters that count at the same time and are read together.
struct Batch {
    group: Group,
    id: u64,
    /// Those of the group, in the order in which they are read, with their columns.
    members: Vec<(usize, Counter)>,
}

/// `PERF_EVENT_IOC_ID`.
const ID: libc::Ioctl = 0x8008_2407_u32 as libc::Ioctl;

/// What can be counted: column, index of [`KNOWN`], kernel mode included.
type Planned = (usize, usize, bool);

/// One a slot of the profile. Only the thread that owns a slot uses its set.
static SETS: [AtomicPtr<Set>; SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];
static PLAN: Mutex<Vec<Planned>> = Mutex::new(Vec::new());
/// Counters of the whole PE, by column.
static WHOLE: Mutex<Vec<(usize, Counter, u64)>> = Mutex::new(Vec::new());

fn event(name: &str) -> Event {
    let misses = |which| Event::Cache(Cache { which, operation: CacheOp::READ, result: CacheResult::MISS });
    match name {
        "instructions" => Hardware::INSTRUCTIONS.into(),
        "cache-references" => Hardware::CACHE_REFERENCES.into(),
        "cache-misses" => Hardware::CACHE_MISSES.into(),
        "branches" => Hardware::BRANCH_INSTRUCTIONS.into(),
        "branch-misses" => Hardware::BRANCH_MISSES.into(),
        "bus-cycles" => Hardware::BUS_CYCLES.into(),
        "ref-cycles" => Hardware::REF_CPU_CYCLES.into(),
        "stalled-cycles-frontend" => Hardware::STALLED_CYCLES_FRONTEND.into(),
        "stalled-cycles-backend" => Hardware::STALLED_CYCLES_BACKEND.into(),
        "L1-dcache-load-misses" => misses(WhichCache::L1D),
        "LLC-load-misses" => misses(WhichCache::LL),
        "dTLB-load-misses" => misses(WhichCache::DTLB),
        "task-clock" => Software::TASK_CLOCK.into(),
        "page-faults" => Software::PAGE_FAULTS.into(),
        "minor-faults" => Software::PAGE_FAULTS_MIN.into(),
        "major-faults" => Software::PAGE_FAULTS_MAJ.into(),
        "context-switches" => Software::CONTEXT_SWITCHES.into(),
        "cpu-migrations" => Software::CPU_MIGRATIONS.into(),
        "alignment-faults" => Software::ALIGNMENT_FAULTS.into(),
        _ => Hardware::CPU_CYCLES.into(),
    }
}

fn builder<'a>(known: usize, kernel: bool, inherit: bool) -> Builder<'a> {
    let mut builder = Builder::new().kind(event(KNOWN[known].name));
    builder.attrs_mut().set_exclude_kernel(u64::from(!kernel));
    builder.attrs_mut().set_inherit(u64::from(inherit));
    builder
}

/// Opens the PE's counters and finds out which there are. False: none.
pub(super) fn open_all(region: &Region, wanted: &[usize]) -> bool {
    let (mut plan, mut whole) = (lock(&PLAN), lock(&WHOLE));
    if !plan.is_empty() {
        return true;
    }
    for (column, &known) in wanted.iter().enumerate().take(COUNTERS) {
        let head = &region.names.counters[column];
        head.name.set(KNOWN[known].name);
        match open_one(known) {
            Ok((counter, kernel)) => {
                head.state.store(if kernel { COUNTER_ON } else { COUNTER_USER }, Relaxed);
                if !kernel {
                    head.reason.set(&format!("user mode only: {}", paranoid()));
                }
                plan.push((column, known, kernel));
                let id = id(&counter).unwrap_or(0);
                whole.push((column, counter, id));
            }
            Err(error) => missing(head, &reason(known, &error, &paranoid())),
        }
    }
    !plan.is_empty()
}

fn missing(head: &CounterHead, why: &str) {
    head.reason.set(why);
    head.state.store(COUNTER_MISSING, Relaxed);
}

/// A counter of all threads from now on; whether it counts the kernel's part too.
fn open_one(known: usize) -> io::Result<(Counter, bool)> {
    let (mut counter, kernel) = match builder(known, true, true).build() {
        Ok(counter) => (counter, true),
        Err(error) if is_refused(&error) && KNOWN[known].kind != CounterKind::SoftwareInKernel => {
            (builder(known, false, true).build()?, false)
        }
        Err(error) => return Err(error),
    };
    counter.enable()?;
    Ok((counter, kernel))
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// Why there is no such counter; `policy` is what forbids it where something does.
fn reason(known: usize, error: &io::Error, policy: &str) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) if KNOWN[known].kind == CounterKind::Hardware => {
            format!("the processor has none, or the virtual machine does not pass it on ({error})")
        }
        Some(libc::EACCES) => format!("EACCES, {error}: {policy}"),
        Some(libc::EPERM) => format!("EPERM, {error}: {policy}"),
        Some(libc::ENOSYS) => format!("the kernel has no perf events ({error})"),
        _ => error.to_string(),
    }
}

fn paranoid() -> String {
    match std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid") {
        Ok(level) => format!("kernel.perf_event_paranoid is {}", level.trim()),
        Err(_) => "a security policy forbids perf events".to_owned(),
    }
}

/// What the owner of this slot has counted so far.
pub(super) fn read(slot: &Slot) -> Option<[u64; COUNTERS]> {
    let place = SETS.get(claim::slot_index(slot))?;
    let thread = slot.head.owner.load(Relaxed);
    let mut pointer = place.load(Relaxed);
    // SAFETY: null, or a set that only the owner of the slot, this thread, uses and frees.
    if unsafe { pointer.as_ref() }.is_none_or(|set| set.thread != thread) {
        close(slot);
        let plan = lock(&PLAN).clone();
        pointer = Box::into_raw(Box::new(Set::open(&plan, thread, COUNTERS)?));
        slot.tables.counters.last.iter().for_each(|word| word.store(0, Relaxed));
        place.store(pointer, Relaxed);
    }
    // SAFETY: as above; not null.
    unsafe { &*pointer }.read()
}

/// Closes the counters of a slot's owner.
pub(super) fn close(slot: &Slot) {
    let Some(place) = SETS.get(claim::slot_index(slot)) else { return };
    let pointer = place.swap(std::ptr::null_mut(), Relaxed);
    if !pointer.is_null() {
        // SAFETY: made by `read` from a box; whoever swapped it out alone frees it.
        let set = unsafe { Box::from_raw(pointer) };
        if set.is_there() {
            drop(set);
        } else {
            // Its numbers stand for what is the program's.
            std::mem::forget(set);
        }
    }
}

/// The number by which the kernel knows a counter; `None`: the descriptor is of none. That of another file refuses the
/// question, and nothing is read from it.
fn id(counter: &impl AsRawFd) -> Option<u64> {
    let mut id = 0_u64;
    // SAFETY: `id` is a valid place for the answer.
    let answer = unsafe { libc::ioctl(counter.as_raw_fd(), ID, &raw mut id) };
    (answer == 0).then_some(id)
}

/// Whether the program has left the descriptor of a counter alone: daemons and sandboxes close all.
fn is_there(counter: &impl AsRawFd, known: u64) -> bool {
    id(counter) == Some(known)
}

/// The program has closed the counters. Nothing is counted any more, and what stands for something of the program's now
/// is not closed.
fn lose(whole: &mut Vec<(usize, Counter, u64)>) {
    let Some(region) = claim::region() else { return };
    consumers::set(consumers::COUNTERS, false);
    for (column, counter, known) in whole.drain(..) {
        region.names.counters[column].reason.set("lost: the program has closed its descriptor; counted until then");
        if is_there(&counter, known) {
            drop(counter);
        } else {
            std::mem::forget(counter);
        }
    }
}

/// Brings the PE's totals up to date.
pub(super) fn refresh() {
    let Some(region) = claim::region() else { return };
    let mut whole = lock(&WHOLE);
    if whole.iter().any(|(_, counter, known)| !is_there(counter, *known)) {
        lose(&mut whole);
    }
    for (column, counter, _) in whole.iter_mut() {
        if let Ok(now) = counter.read_count_and_time() {
            let head = &region.names.counters[*column];
            head.total.store(scaled(now.count, now.time_enabled, now.time_running), Relaxed);
            head.wanted_ns.store(now.time_enabled, Relaxed);
            head.counted_ns.store(now.time_running, Relaxed);
        }
    }
}

/// What would have been counted, had the counter always had a place.
fn scaled(count: u64, wanted: u64, counted: u64) -> u64 {
    if counted == 0 || counted >= wanted {
        return count;
    }
    (u128::from(count) * u128::from(wanted) / u128::from(counted)) as u64
}

impl Set {
    /// Opens what is planned, `most` counters a batch. The kernel refuses a counter that cannot count together with
    /// those that its group has already: it begins another group, and the groups take turns.
    fn open(plan: &[Planned], thread: u32, most: usize) -> Option<Set> {
        let mut batches: Vec<Batch> = Vec::new();
        for &(column, known, kernel) in plan {
            let last = batches.last_mut().filter(|batch| batch.members.len() < most);
            if last.is_some_and(|batch| batch.add(column, known, kernel)) {
                continue;
            }
            let group = Group::new().ok()?;
            let mut batch = Batch { id: id(&group)?, group, members: Vec::new() };
            if batch.add(column, known, kernel) {
                batches.push(batch);
            }
        }
        batches.iter_mut().try_for_each(|batch| batch.group.enable()).ok()?;
        Some(Set { batches, thread })
    }

    /// Whether the program has closed none of them: the group's own and its members are closed together.
    fn is_there(&self) -> bool {
        self.batches.iter().all(|batch| is_there(&batch.group, batch.id))
    }

    fn read(&self) -> Option<[u64; COUNTERS]> {
        if !self.is_there() {
            lose(&mut lock(&WHOLE));
            return None;
        }
        let mut values = [0; COUNTERS];
        self.batches.iter().try_for_each(|batch| batch.read(&mut values))?;
        Some(values)
    }
}

/// Words of a group that is read: how many counters, wanted and counted time, then a value and an id each; the first
/// counter is the group's own.
type Words = [u64; 3 + 2 * (COUNTERS + 1)];

impl Batch {
    fn add(&mut self, column: usize, known: usize, kernel: bool) -> bool {
        let built = builder(known, kernel, false).group(&mut self.group).build();
        built.map(|counter| self.members.push((column, counter))).is_ok()
    }

    fn read(&self, values: &mut [u64; COUNTERS]) -> Option<()> {
        let mut words: Words = [0; _];
        let bytes = size_of_val(&words);
        // SAFETY: the buffer is valid for its length.
        let got = unsafe { libc::read(self.group.as_raw_fd(), words.as_mut_ptr().cast(), bytes) };
        if got < 24 {
            return None;
        }
        let columns = self.members.iter().map(|(column, _)| *column);
        columns.enumerate().for_each(|(at, column)| values[column] = value(&words, at));
        Some(())
    }
}

/// The value of a member of a group.
fn value(words: &Words, member: usize) -> u64 {
    words.get(3 + 2 * (member + 1)).map_or(0, |&count| scaled(count, words[1], words[2]))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
#[path = "perf_tests.rs"]
mod tests;
