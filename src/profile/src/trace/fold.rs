//! Short calls in a row are folded: how many there were between two time stamps takes the place of an event each.
//!
//! A routine of nanoseconds must not pay tens of them for each event. So an event of a short call (puts and gets of any
//! size included, signals not) is paid for from a budget of run time: one in [`NS_A_SHORT_EVENT`], or up to [`BURST`]
//! in a row after quieter times. A call that finds nothing left there costs what it costs without a trace, since the
//! profile counts it anyway: the countdown to the next sample says how many calls there were since it was last looked
//! at. They are written as one record before the next event of the thread, whichever that is.
//!
//! A call with an event of its own takes the path of a sample. The countdown of its routine is 0 then (`forced`), and
//! what it was is kept here.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::switch;
use super::writer::{self, Hold, WriterGuard};
use crate::op::{self, Class, MAX_OPS};
use crate::segment::layout::{ROW_OVERFLOW, Slot};
use crate::segment::tables::ops_in;
use crate::size::{DISTANCES, size_class};

/// One event of a short call is written in so many nanoseconds, on average.
const NS_A_SHORT_EVENT: u64 = 5000;
/// Events that can be saved up.
const BURST: u64 = 512;
/// No countdown is longer: a greater difference is that of a call interrupted at the wrong moment.
const LONGEST: u32 = 1 << 24;

/// Grows each time that tracing is switched on.
pub(super) static GENERATION: AtomicU32 = AtomicU32::new(0);

/// What becomes of a short call that takes the path of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Short {
    /// It is a sample.
    Sample,
    /// It gets an event, and began now, in ticks; whether it is a sample too.
    Event(bool, u64),
    /// Neither: it is counted like any other.
    Neither,
}

/// Short calls of one operation.
struct Row {
    op: u16,
    /// The next call takes the path of samples though its sample is not due.
    forced: bool,
    /// A call is on that path: its countdown says nothing now.
    inflight: bool,
    /// What the countdown was when calls were last counted.
    base: u32,
    /// What it would be, were it not forced.
    saved: u32,
    /// Folded calls so far.
    pending: u64,
    /// Their bytes, as far as they are not in the total of the operation.
    bytes: u64,
    /// The part of that total which was written.
    seen: u64,
}

/// Short calls of a thread.
pub(super) struct Fold {
    rows: Vec<Row>,
    /// Number of the row plus 1, by operation.
    index: Vec<u16>,
    generation: u32,
    /// Events are paid for up to this time, and the price of one, in ticks.
    paid: u64,
    price: u64,
}

impl Fold {
    pub(super) fn new(slot: &Slot) -> Fold {
        let mult = slot.head.clock_mult.load(Relaxed).max(1);
        // All the room that there may ever be need for: later calls may come from signal handlers.
        Fold {
            rows: Vec::with_capacity(op::TOTAL),
            index: vec![0; MAX_OPS],
            generation: 0,
            paid: 0,
            price: ((u128::from(NS_A_SHORT_EVENT) << 32) / u128::from(mult)) as u64,
        }
    }

    /// Without room: to stand in while the other one is in use.
    pub(super) fn empty() -> Fold {
        Fold { rows: Vec::new(), index: Vec::new(), generation: 0, paid: 0, price: 0 }
    }

    fn row(&mut self, op: u16) -> Option<&mut Row> {
        let number = usize::from(*self.index.get(usize::from(op))?);
        self.rows.get_mut(number.checked_sub(1)?)
    }

    /// The row of an operation; `base` and `own` are its countdown before the call at hand, and the bytes of that call.
    fn add(&mut self, slot: &Slot, op: u16, base: u32, own: u64) -> Option<&mut Row> {
        if self.row(op).is_none() && self.rows.len() < self.rows.capacity() {
            let seen = total(slot, op).saturating_sub(own);
            let (forced, inflight) = (false, false);
            self.rows.push(Row { op, forced, inflight, base, saved: 0, pending: 0, bytes: 0, seen });
            *self.index.get_mut(usize::from(op))? = self.rows.len() as u16;
        }
        self.row(op)
    }

    /// Whether there is an event to be had now.
    fn can_pay(&mut self, now: u64) -> bool {
        self.paid = self.paid.max(now.saturating_sub(self.price * BURST));
        self.paid + self.price <= now
    }

    fn pay(&mut self, now: u64) -> bool {
        let can = self.can_pay(now);
        if can {
            self.paid += self.price;
        }
        can
    }

    /// Tracing was switched on since the last time: counts from here. `inflight` is the operation whose call is at
    /// hand.
    pub(super) fn begin(&mut self, slot: &Slot, inflight: Option<u16>) {
        let generation = GENERATION.load(Relaxed);
        if self.generation == generation {
            return;
        }
        self.generation = generation;
        for row in &mut self.rows {
            if Some(row.op) != inflight {
                row.base = restore(slot, row);
            }
            (row.pending, row.bytes, row.seen) = (0, 0, total(slot, row.op));
        }
        for op in ops_in(&slot.tables.sampled).filter(|op| Some(*op) != inflight) {
            self.add(slot, op, slot.cell(op).countdown.load(Relaxed), 0);
        }
        for row in self.rows.iter_mut().filter(|row| is_always(row.op) && !row.inflight && Some(row.op) != inflight) {
            force(slot, row);
        }
    }

    /// Writes what was folded since the last event, as calls between that and `until`.
    #[inline]
    pub(super) fn flush(&mut self, slot: &Slot, until: u64, mut write: impl FnMut(u16, u64, u64, u64)) {
        for row in &mut self.rows {
            let countdown = slot.cell(row.op).countdown.load(Relaxed);
            // Of the routine whose event this is, `settle` has counted what was before it.
            let calls = row.pending + if row.inflight { 0 } else { u64::from(since(row.base, countdown)) };
            if calls == 0 {
                continue;
            }
            let now = total(slot, row.op);
            let bytes = now.saturating_sub(row.seen) + row.bytes + op::bytes_of_calls(row.op, calls);
            if !row.inflight {
                row.base = countdown;
            }
            (row.pending, row.bytes, row.seen) = (0, 0, now);
            write(row.op, calls, bytes, until);
        }
    }

    /// After a call that was long: the short ones that follow are worth an event each, if there are any to be had.
    pub(super) fn wake(&mut self, slot: &Slot, now: u64) {
        if !self.can_pay(now) {
            return;
        }
        for row in self.rows.iter_mut().filter(|row| !row.forced && !row.inflight) {
            force(slot, row);
        }
    }

    /// A call with an event of its own: its bytes are not folded.
    #[inline]
    pub(super) fn leave_out(&mut self, slot: &Slot, op: u16, bytes: u64) {
        if let Some(row) = self.row(op)
            && in_total(slot, op, bytes)
        {
            row.seen += bytes;
        }
    }
}

/// Calls between two states of a countdown.
fn since(base: u32, countdown: u32) -> u32 {
    let calls = base.wrapping_sub(countdown);
    if calls > LONGEST { 0 } else { calls }
}

/// Sets the countdown to what it is without a trace.
fn restore(slot: &Slot, row: &mut Row) -> u32 {
    let cell = slot.cell(row.op);
    if row.forced {
        row.forced = false;
        cell.countdown.store(row.saved, Relaxed);
    }
    cell.countdown.load(Relaxed)
}

/// Has the next call take the path of samples.
fn force(slot: &Slot, row: &mut Row) {
    let countdown = &slot.cell(row.op).countdown;
    let now = countdown.load(Relaxed);
    row.pending += u64::from(since(row.base, now));
    (row.saved, row.base, row.forced) = (now, 0, true);
    countdown.store(0, Relaxed);
}

/// Bytes of the calls of an operation that are, or could have been, sampled, where they do not follow from the calls.
fn total(slot: &Slot, op: u16) -> u64 {
    let cell = slot.cell(op);
    let mut bytes: u64 = cell.bytes.iter().map(|bytes| bytes.load(Relaxed)).sum();
    let row = cell.row.load(Relaxed);
    if row > ROW_OVERFLOW && op::is_sized(op) {
        let row = slot.row(row);
        let of_class = |class| (0..DISTANCES).map(move |distance| row.size(class, distance).bytes.load(Relaxed));
        bytes += (0..=LAST_CLASS).flat_map(of_class).sum::<u64>();
    }
    bytes
}

/// The class that the longest sampled call is in; longer ones may be in it too.
const LAST_CLASS: usize = size_class(op::SAMPLED_BYTES_ON_HOST);

fn in_total(slot: &Slot, op: u16, bytes: u64) -> bool {
    if !op::is_sized(op) {
        return !op::bytes_follow(op);
    }
    slot.cell(op).row.load(Relaxed) <= ROW_OVERFLOW || size_class(bytes as usize) <= LAST_CLASS
}

/// Signals and puts with one wake up others: each of them has an event.
fn is_always(op: u16) -> bool {
    op::get(op).is_none_or(|row| row.class == Class::Signal)
}

/// A short call takes the path of samples; `left` is what its countdown was.
pub(crate) fn enter(slot: &Slot, op: u16, left: u32, bytes: usize) -> Short {
    if !switch::is_attached_fast() {
        return Short::Sample;
    }
    let on = switch::is_on();
    if on && switch::is_full() {
        return Short::Event(left == 0, crate::recorder::now(slot));
    }
    let mut writer = match if on { writer::hold(slot) } else { writer::hold_made(slot) } {
        Hold::Writer(writer) => writer,
        Hold::Busy => return interrupted(slot, op, left, on),
        Hold::Missing => return Short::Sample,
    };
    let fold = &mut writer.fold;
    if !on {
        return fold.row(op).map_or(Short::Sample, |row| after_all(slot, row));
    }
    fold.begin(slot, Some(op));
    let now = crate::recorder::now(slot);
    let pays = is_always(op) || fold.pay(now);
    let Some(row) = fold.add(slot, op, 0, bytes as u64) else { return Short::Sample };
    if pays {
        row.inflight = true;
        return Short::Event(!row.forced || row.saved == 0, now);
    }
    row.pending += u64::from(row.forced && row.saved != 0);
    after_all(slot, row)
}

/// A signal handler calls while its thread is in the middle of this module: the call is counted as dropped, and the
/// next one takes this path instead.
#[cold]
fn interrupted(slot: &Slot, op: u16, left: u32, on: bool) -> Short {
    slot.cell(op).countdown.store(left, Relaxed);
    if on {
        writer::missed(slot);
    }
    Short::Neither
}

/// A call that was to have an event has none: the countdown is what it is without.
fn after_all(slot: &Slot, row: &mut Row) -> Short {
    if !row.forced || row.saved == 0 {
        // Due anyway; `settle` sees to what comes after.
        if row.forced {
            row.forced = false;
        }
        return Short::Sample;
    }
    row.forced = false;
    row.base = row.saved - 1;
    slot.cell(row.op).countdown.store(row.base, Relaxed);
    Short::Neither
}

/// A call that took the path of samples is over, with or without an event: what was counted beside it is kept.
pub(crate) fn settle(slot: &Slot, op: u16, event: bool) {
    let Some(mut writer) = folding(slot) else { return };
    if let Some(row) = writer.fold.row(op) {
        let countdown = slot.cell(op).countdown.load(Relaxed);
        row.pending += u64::from(since(row.base, countdown)).saturating_sub(u64::from(event));
        (row.base, row.inflight) = (countdown, true);
    }
}

/// The next call of this operation is on the path of samples too, if there is an event to be had for it. `sampled`: the
/// countdown was set anew.
pub(crate) fn rearm(slot: &Slot, op: u16, sampled: bool, now: u64) {
    let Some(mut writer) = folding(slot) else { return };
    let again = switch::is_on() && (is_always(op) || writer.fold.can_pay(now));
    let Some(row) = writer.fold.row(op) else { return };
    let countdown = &slot.cell(op).countdown;
    if row.forced && !sampled {
        countdown.store(row.saved.saturating_sub(1), Relaxed);
    }
    (row.forced, row.base, row.inflight) = (false, countdown.load(Relaxed), false);
    if again {
        force(slot, row);
    }
}

/// The writer of a slot, where calls may be folded.
fn folding(slot: &Slot) -> Option<WriterGuard> {
    if !switch::is_attached_fast() || switch::is_full() {
        return None;
    }
    match writer::hold_made(slot) {
        Hold::Writer(writer) => Some(writer),
        Hold::Busy | Hold::Missing => None,
    }
}

/// A put or get too long to be sampled is over. True: it is folded and gets no event.
pub(crate) fn timed(slot: &Slot, op: u16, bytes: u64, now: u64) -> bool {
    if switch::is_full() || !op::is_sized(op) || is_always(op) {
        return false;
    }
    let Hold::Writer(mut writer) = writer::hold(slot) else { return false };
    let fold = &mut writer.fold;
    fold.begin(slot, None);
    if fold.pay(now) {
        return false;
    }
    let counted = in_total(slot, op, bytes);
    let countdown = slot.cell(op).countdown.load(Relaxed);
    let Some(row) = fold.add(slot, op, countdown, if counted { bytes } else { 0 }) else { return false };
    row.pending += 1;
    row.bytes += if counted { 0 } else { bytes };
    true
}

/// Tracing was switched on by this thread: its calls count from here. Or off: what is folded is written.
pub(super) fn switched(slot: &Slot, on: bool, now: u64) {
    if switch::is_full() {
        return;
    }
    let Hold::Writer(mut writer) = (if on { writer::hold(slot) } else { writer::hold_made(slot) }) else { return };
    if on {
        writer.fold.begin(slot, None);
        writer.fold.wake(slot, now);
    } else {
        writer.flush(slot, now);
        for row in &mut writer.fold.rows {
            row.base = restore(slot, row);
        }
    }
}

/// The owner of a slot ends: what is folded is written.
pub(crate) fn thread_ends(slot: &Slot) {
    if switch::is_on()
        && let Some(mut writer) = folding(slot)
    {
        writer.fold.begin(slot, None);
        writer.flush(slot, crate::recorder::now(slot));
    }
}
