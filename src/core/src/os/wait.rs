//! How a PE waits for memory to change: spin briefly, then yield, then sleep.

use super::meanwhile::{self, Meanwhile, Stay};
use super::stall::Noted;
use super::{cpu, futex, reentry};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

/// Looks before the processor is told that this is a loop that waits: that takes 40 to 140 cycles, as long as a partner
/// that is nearly there.
const EAGER: u32 = 64;
/// The same where nothing else is to be done between two looks: for some 50 ns, as long as a word takes from a core
/// close by. Looking longer costs a partner on the same core more than it gains those further away.
const EAGER_LOOKS: u32 = 96;
/// Looks that would have been made in the time of [`Meanwhile::first`]: the turns after them then come when they would
/// have.
const LOOKS_MEANWHILE: u32 = 24;
/// Spins before the first yield where every PE has a core: about the time of a few cache-line transfers.
const SPINS: u32 = 2000;
/// Yields between looks at the clock.
const YIELDS: u32 = 64;
/// Yields before a wait sleeps that its partner ends, unless one of them takes a time slice: mostly it ends before,
/// which is cheaper for both.
const YIELDS_BEFORE_SLEEP: u32 = 16;
/// A wait of this length begins to sleep: whoever waits so long has a partner that computes.
const PATIENCE: Duration = Duration::from_millis(20);
/// The same where a yield gives the core to nobody, and takes from the time that all PEs may have on cores: about what
/// it takes to sleep and to wake up.
const PATIENCE_WITH_QUOTA: Duration = Duration::from_micros(100);
/// A yield that takes so long has given a time slice to somebody who computes, on the same core.
const SLICE: Duration = Duration::from_micros(500);
/// Naps in place of yields before one of these is tried again: at first, and after many that took long.
const NAPS: (u32, u32) = (16, 1024);
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

/// Whether waiters nap where they would yield. Beside somebody who computes on the same core, a yield ends with their
/// time slice, some milliseconds; after a nap the system prefers whoever has slept.
struct Naps {
    /// So many more, then a yield is tried again.
    left: AtomicU32,
    /// So many after the next yield that takes long.
    next: AtomicU32,
}

static IN_PLACE_OF_YIELDS: Naps = Naps::new();

impl Naps {
    const fn new() -> Self {
        Self { left: AtomicU32::new(0), next: AtomicU32::new(NAPS.0) }
    }

    /// Whether to nap now. Threads that ask at once may take one of these twice.
    fn take(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// A yield took so long.
    fn yielded(&self, took: Duration) {
        let next = self.next.load(Ordering::Relaxed);
        if took >= SLICE {
            self.left.store(next, Ordering::Relaxed);
            self.next.store((2 * next).min(NAPS.1), Ordering::Relaxed);
        } else if next > NAPS.0 {
            // It may have met another PE that waits.
            self.next.store(next / 2, Ordering::Relaxed);
        }
    }
}

/// Whether PEs use up a quota of CPU time.
static SAVES_TIME: AtomicBool = AtomicBool::new(false);

/// Has every waiter sleep soon: PEs have more cores to run on than time on them, and who waits without a sleep stops
/// those who compute.
pub fn save_cpu_time() {
    SAVES_TIME.store(true, Ordering::Relaxed);
}

/// Whether waiters have a reason to look around at every yield: on a busy machine each may take long.
static HURRY: AtomicBool = AtomicBool::new(false);

/// Has every waiter look around more often than now and then, or not any more.
pub fn hurry(now: bool) {
    HURRY.store(now, Ordering::Relaxed);
}

/// What waiters look for once they are slow.
static LOOK: OnceLock<fn()> = OnceLock::new();

/// Has every slow waiter call this now and then. The first caller wins.
pub fn set_look(look: fn()) {
    let _ = LOOK.set(look);
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

/// The turn at which there is something to do first.
static FIRST_AT: AtomicU32 = AtomicU32::new(u32::MAX);
/// The turn at which there is something to do later: after some 400 ns.
const LATER: u32 = EAGER + 14;

/// Has each wait do this, once. Gives how long the turns before [`Meanwhile::later`] take.
pub fn meanwhile(what: Meanwhile) -> Duration {
    let took = (0..9).map(|_| turns_take(LATER)).min().unwrap_or_default();
    meanwhile::set(what);
    FIRST_AT.store(1, Ordering::Release);
    took
}

fn turns_take(turns: u32) -> Duration {
    let begin = Instant::now();
    let (mut backoff, word) = (Backoff::new(false), AtomicU64::new(0));
    let mut ready = || (std::hint::black_box(&word).load(Ordering::Acquire) != 0).then_some(());
    let mut found = backoff.eagerly(&mut ready);
    while found.is_none() && backoff.turns < turns {
        backoff.step();
        found = ready();
    }
    begin.elapsed()
}

/// The state of one wait.
pub struct Backoff {
    turns: u32,
    spins: u32,
    /// The turn of what is done meanwhile.
    meanwhile_at: u32,
    since: Option<Instant>,
    nap: Duration,
    /// The next nap in place of a yield.
    rest: Duration,
    /// The PE that is waited for, where it is one alone.
    pe: Option<u32>,
    /// Since when, whatever has moved on meanwhile.
    begun: Option<Instant>,
    /// How long it takes so far, as of the last look at the clock.
    waited: Duration,
    /// Once the wait is not over at once.
    stay: Option<Stay>,
}

impl Backoff {
    /// `oversubscribed`: there are more PEs than cores, so that spinning only delays the one who is waited for.
    #[inline]
    pub fn new(oversubscribed: bool) -> Self {
        let spins = if oversubscribed { 1 } else { SPINS };
        let meanwhile_at = FIRST_AT.load(Ordering::Acquire);
        let (nap, rest) = (FIRST_NAP, FIRST_NAP);
        let (since, begun, waited) = (None, None, Duration::ZERO);
        Self { turns: 0, spins, meanwhile_at, since, nap, rest, pe: None, begun, waited, stay: None }
    }

    /// Whether the wait is about to be noted as a long one, and it is time for [`Self::waits_for`].
    pub fn becomes_long(&self) -> bool {
        self.waited >= PATIENCE && self.stay.as_ref().is_none_or(|stay| stay.noted.is_none())
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
        (self.since, self.waited) = (None, Duration::ZERO);
        (self.nap, self.rest) = (FIRST_NAP, FIRST_NAP);
    }

    /// The first turns: the fewer instructions between two looks, the sooner one sees what has come.
    #[inline(always)]
    pub fn eagerly<R>(&mut self, ready: &mut impl FnMut() -> Option<R>) -> Option<R> {
        let found = ready();
        if found.is_some() {
            return found;
        }
        let mut looks = EAGER_LOOKS;
        if self.meanwhile_at == 1 {
            self.turns = 1;
            if self.do_meanwhile() {
                looks -= LOOKS_MEANWHILE;
            }
        }
        // The others have a turn to do at each look, or no core to look from.
        if self.spins > 1 && HOOK.load(Ordering::Acquire).is_null() {
            for _ in 0..looks {
                let found = ready();
                if found.is_some() {
                    return found;
                }
            }
            self.turns = EAGER;
        }
        None
    }

    /// One turn of waiting. Gives whether the wait has become slow: now and then there is time for a look around.
    #[inline]
    pub fn step(&mut self) -> bool {
        let assisted = assist();
        self.go_on(assisted)
    }

    /// As [`Self::step`], for whoever moves the network on between two turns, and holds what handlers of messages may
    /// have to wait for: runs none.
    pub fn step_alone(&mut self) -> bool {
        self.go_on(true)
    }

    #[inline(always)]
    fn go_on(&mut self, with_hook: bool) -> bool {
        self.turns += 1;
        if self.turns == self.meanwhile_at {
            self.do_meanwhile();
        }
        if with_hook {
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

    /// Gives whether there was anything to do first.
    #[cold]
    fn do_meanwhile(&mut self) -> bool {
        let Some(meanwhile) = meanwhile::get() else { return false };
        let mut did = false;
        if self.turns < LATER {
            did = (meanwhile.first)();
            self.meanwhile_at = LATER;
        }
        // At the latest before the first yield.
        if self.turns == LATER || self.spins == 1 {
            self.stay.get_or_insert_default().later(meanwhile);
            self.meanwhile_at = u32::MAX;
        }
        did
    }

    #[cold]
    fn slow(&mut self) -> bool {
        self.stay.get_or_insert_default().goes_on();
        if !self.turns.is_multiple_of(YIELDS) {
            self.give_way();
            return HURRY.load(Ordering::Relaxed);
        }
        self.look_at_clock();
        let patience = if SAVES_TIME.load(Ordering::Relaxed) { PATIENCE_WITH_QUOTA } else { PATIENCE };
        if self.waited < patience {
            self.give_way();
        } else {
            // From here each turn is a nap: a twentieth of the time waited so far at most, but for a quota.
            self.turns -= 1;
            doze(&mut self.nap);
        }
        true
    }

    /// Finds how long the wait takes so far, and notes one that was long at the look before: it had time since for
    /// [`Self::waits_for`].
    fn look_at_clock(&mut self) {
        let since = *self.since.get_or_insert_with(Instant::now);
        let begun = *self.begun.get_or_insert(since);
        if self.becomes_long() {
            let stay = self.stay.get_or_insert_default();
            stay.noted = Some(Noted::since(begun, self.pe));
            // It may show something else now.
            stay.goes_on();
        }
        self.waited = since.elapsed();
        if let Some(look) = LOOK.get() {
            look();
        }
    }

    /// One turn of a wait for a store that is [told](wake), where PEs outnumber cores. As [`Self::step`].
    #[cold]
    fn step_or_sleep(&mut self, word: &AtomicU64, seen: u64, sleepers: &AtomicU64) -> bool {
        // Whoever moves the network on does not sleep.
        if assist() {
            return self.go_on(true);
        }
        self.turns += 1;
        if self.turns == self.meanwhile_at {
            self.do_meanwhile();
        }
        self.stay.get_or_insert_default().goes_on();
        // Beside somebody who computes, yields are as dear here as in other waits.
        if self.turns <= YIELDS_BEFORE_SLEEP && !IN_PLACE_OF_YIELDS.take() {
            if yield_takes() >= SLICE {
                self.turns = YIELDS_BEFORE_SLEEP;
            }
            return HURRY.load(Ordering::Relaxed);
        }
        self.look_at_clock();
        sleepers.fetch_add(1, Ordering::SeqCst);
        futex::wait(low_half(word), seen as u32, PATIENCE);
        sleepers.fetch_sub(1, Ordering::Relaxed);
        true
    }

    /// Lets others have the core.
    fn give_way(&mut self) {
        if IN_PLACE_OF_YIELDS.take() {
            doze(&mut self.rest);
        } else {
            yield_takes();
        }
    }
}

/// Lets others have the core. Gives how long that took.
fn yield_takes() -> Duration {
    let begin = Instant::now();
    cpu::yield_now();
    let took = begin.elapsed();
    IN_PLACE_OF_YIELDS.yielded(took);
    took
}

/// Naps, the next time for longer.
fn doze(nap: &mut Duration) {
    std::thread::sleep(*nap);
    *nap = (*nap * 2).min(LONGEST_NAP);
}

/// Waits until `ready` gives a value.
#[inline]
pub fn until<R>(oversubscribed: bool, mut ready: impl FnMut() -> Option<R>) -> R {
    let mut backoff = Backoff::new(oversubscribed);
    let mut found = backoff.eagerly(&mut ready);
    loop {
        if let Some(value) = found {
            return value;
        }
        backoff.step();
        found = ready();
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
    let mut found = backoff.eagerly(&mut ready);
    loop {
        if let Some(value) = found {
            return Ok(value);
        }
        let is_slow = backoff.step();
        found = ready();
        if is_slow
            && found.is_none()
            && let Some(why) = hopeless()
        {
            // It may have come meanwhile.
            return ready().ok_or(why);
        }
    }
}

/// Waits until `is_there` says so of what is stored to `word`, whose writer [tells](wake) of it; `sleepers` is how many
/// sleep until then. For where PEs outnumber cores: waiters sleep soon. Gives up as [`until_or`] does.
pub fn until_told<E>(
    (word, sleepers): (&AtomicU64, &AtomicU64),
    mut is_there: impl FnMut(u64) -> bool,
    mut hopeless: impl FnMut() -> Option<E>,
) -> Result<(), E> {
    let mut backoff = Backoff::new(true);
    loop {
        let seen = word.load(Ordering::Acquire);
        if is_there(seen) {
            return Ok(());
        }
        if backoff.step_or_sleep(word, seen, sleepers)
            && !is_there(word.load(Ordering::Acquire))
            && let Some(why) = hopeless()
        {
            return if is_there(word.load(Ordering::Acquire)) { Ok(()) } else { Err(why) };
        }
    }
}

/// Wakes those who sleep in [`until_told`] until this word is stored to, which it has been.
#[inline]
pub fn wake(word: &AtomicU64, sleepers: &AtomicU64) {
    // Whoever counts itself in after this finds what was stored.
    fence(Ordering::SeqCst);
    if sleepers.load(Ordering::Relaxed) != 0 {
        futex::wake_all(low_half(word));
    }
}

/// What the kernel waits on of a word: its lower half, which changes with each store of numbers that follow each other.
#[allow(unsafe_code)]
fn low_half(word: &AtomicU64) -> &AtomicU32 {
    const LOW: usize = if cfg!(target_endian = "little") { 0 } else { 1 };
    // SAFETY: within the word, and aligned as it is; it is used as an address by the kernel, which reads it.
    unsafe { &*std::ptr::from_ref(word).cast::<AtomicU32>().add(LOW) }
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

    #[test]
    fn naps_follow_yields_that_take_long_and_the_more_do_the_more() {
        let naps = Naps::new();
        let taken = || (0..).take_while(|_| naps.take()).count() as u32;
        naps.yielded(SLICE - Duration::from_nanos(1));
        assert_eq!(taken(), 0);
        for times in 0..12 {
            naps.yielded(SLICE);
            assert_eq!(taken(), (NAPS.0 << times).min(NAPS.1));
        }
        for times in (0..6).rev() {
            naps.yielded(Duration::ZERO);
            assert_eq!((taken(), naps.next.load(Ordering::Relaxed)), (0, NAPS.0 << times));
        }
        naps.yielded(Duration::ZERO);
        naps.yielded(Duration::from_secs(1));
        assert_eq!(taken(), NAPS.0);
    }
}
