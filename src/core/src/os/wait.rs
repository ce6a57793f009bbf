//! How a PE waits for memory to change: spin briefly, then yield, then sleep.

use super::stall::Noted;
use super::{cpu, reentry};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Looks before the processor is told that this is a loop that waits: that takes 40 to 140 cycles, as long as a partner
/// that is nearly there.
const EAGER: u32 = 64;
/// Spins before the first yield where every PE has a core: about the time of a few cache-line transfers.
const SPINS: u32 = 2000;
/// Yields between looks at the clock.
const YIELDS: u32 = 64;
/// A wait of this length begins to sleep: whoever waits so long has a partner that computes.
const PATIENCE: Duration = Duration::from_millis(20);
const FIRST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// As [`SPINS`], where each turn looks at the network, too.
const SPINS_WITH_HOOK: u32 = 100;

/// What waiters do at every turn: a `fn()`, or null.
static HOOK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Has every waiter call this at each turn: whoever waits for the network moves it on.
pub fn set_hook(hook: fn()) {
    HOOK.store(hook as *mut (), Ordering::Release);
}

/// Whether waiters have a reason to look around at every yield: on a busy machine each may take long.
static HURRY: AtomicBool = AtomicBool::new(false);

/// Has every waiter look around more often than now and then, or not any more.
pub fn hurry(now: bool) {
    HURRY.store(now, Ordering::Relaxed);
}

/// The calling thread is the library's own: what waiters do is for the program's threads, whose handlers it runs.
pub fn leave_alone() {
    reentry::set_helper();
}

/// Calls the hook, where there is one.
#[inline]
#[allow(unsafe_code)]
pub fn assist() -> bool {
    let hook = HOOK.load(Ordering::Acquire);
    if hook.is_null() || reentry::is_helper() {
        return false;
    }
    // SAFETY: only `set_hook` stores here, and what it stores is a `fn()`.
    unsafe { std::mem::transmute::<*mut (), fn()>(hook)() };
    true
}

/// Who stamps waits that go beyond some turns, and after how many.
static STAMP: OnceLock<fn()> = OnceLock::new();
static STAMPED_AT: AtomicU32 = AtomicU32::new(u32::MAX);

/// Has a wait that goes beyond some turns call this, once: for a time stamp that is taken while there is nothing else
/// to do. Gives how long these turns take.
pub fn stamp_with(stamp: fn()) -> Duration {
    const TURNS: u32 = EAGER + 8;
    let took = (0..9).map(|_| turns_take(TURNS)).min().unwrap_or_default();
    let _ = STAMP.set(stamp);
    STAMPED_AT.store(TURNS, Ordering::Release);
    took
}

fn turns_take(turns: u32) -> Duration {
    let begin = Instant::now();
    let (mut backoff, word) = (Backoff::new(false), AtomicU64::new(0));
    while std::hint::black_box(&word).load(Ordering::Acquire) == 0 && backoff.turns < turns {
        backoff.step();
    }
    begin.elapsed()
}

#[cold]
fn stamp() {
    if let Some(stamp) = STAMP.get() {
        stamp();
    }
}

/// The state of one wait.
pub struct Backoff {
    turns: u32,
    spins: u32,
    /// The turn at which a stamp is taken.
    stamped_at: u32,
    since: Option<Instant>,
    nap: Duration,
    /// The PE that is waited for, where it is one alone.
    pe: Option<u32>,
    /// Since when, whatever has moved on meanwhile.
    begun: Option<Instant>,
    /// Once the wait is long, and has been told of.
    noted: Option<Option<Noted>>,
}

impl Backoff {
    /// `oversubscribed`: there are more PEs than cores, so that spinning only delays the one who is waited for.
    #[inline]
    pub fn new(oversubscribed: bool) -> Self {
        let spins = if oversubscribed { 1 } else { SPINS };
        // At the latest before the first yield.
        let stamped_at = STAMPED_AT.load(Ordering::Acquire);
        let stamped_at = if oversubscribed && stamped_at != u32::MAX { 1 } else { stamped_at };
        Self { turns: 0, spins, stamped_at, since: None, nap: FIRST_NAP, pe: None, begun: None, noted: None }
    }

    /// Whether the wait is about to be noted as a long one, and it is time for [`Self::waits_for`].
    pub fn becomes_long(&self) -> bool {
        self.nap > FIRST_NAP && self.noted.is_none()
    }

    /// Who has to do something, where it is known to be one PE: for whoever looks at a job that hangs.
    pub fn waits_for(&mut self, pe: Option<u32>) {
        self.pe = pe;
    }

    /// Something has moved on, if not what is waited for.
    #[inline]
    pub fn restart(&mut self, oversubscribed: bool) {
        self.turns = 0;
        self.spins = if oversubscribed { 1 } else { SPINS };
        self.since = None;
        self.nap = FIRST_NAP;
    }

    /// One turn of waiting. Gives whether the wait has become slow: now and then there is time for a look around.
    #[inline]
    pub fn step(&mut self) -> bool {
        self.turns += 1;
        if self.turns == self.stamped_at {
            stamp();
        }
        if assist() {
            self.spins = self.spins.min(SPINS_WITH_HOOK);
        }
        if self.turns <= self.spins {
            if self.turns > EAGER {
                std::hint::spin_loop();
            }
            false
        } else {
            self.slow()
        }
    }

    #[cold]
    fn slow(&mut self) -> bool {
        if !self.turns.is_multiple_of(YIELDS) {
            cpu::yield_now();
            return HURRY.load(Ordering::Relaxed);
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        let begun = *self.begun.get_or_insert(since);
        let waited = since.elapsed();
        if waited < PATIENCE {
            cpu::yield_now();
        } else {
            if self.becomes_long() {
                self.noted = Some(Noted::since(begun, self.pe));
            }
            // From here each turn is a nap: a twentieth of the time waited so far at most.
            self.turns -= 1;
            std::thread::sleep(self.nap);
            self.nap = (self.nap * 2).min(LONGEST_NAP);
        }
        true
    }
}

/// Waits until `ready` gives a value.
#[inline]
pub fn until<R>(oversubscribed: bool, mut ready: impl FnMut() -> Option<R>) -> R {
    let mut backoff = Backoff::new(oversubscribed);
    loop {
        if let Some(value) = ready() {
            return value;
        }
        backoff.step();
    }
}

/// As [`until`], unless there is a reason to give up, which is looked for now and then once the wait is slow.
#[inline]
pub fn until_or<R, E>(
    oversubscribed: bool,
    mut ready: impl FnMut() -> Option<R>,
    mut hopeless: impl FnMut() -> Option<E>,
) -> Result<R, E> {
    let mut backoff = Backoff::new(oversubscribed);
    loop {
        if let Some(value) = ready() {
            return Ok(value);
        }
        if backoff.step()
            && let Some(why) = hopeless()
        {
            // It may have come meanwhile.
            return ready().ok_or(why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_passes_through_all_stages() {
        let start = Instant::now();
        until(true, || (start.elapsed() > PATIENCE + Duration::from_millis(10)).then_some(()));
        assert!(start.elapsed() >= PATIENCE);
    }
}
