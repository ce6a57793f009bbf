//! Handler-safe locks.
//!
//! A lock is two words: its state, which is 0 or 1 (held), and the thread that holds it, to tell what breaks the rules.
//! A holder runs no handlers, so locks are held briefly, and a thread that waits spins and yields.
#![allow(unsafe_code)]

use crate::fail::{Section, context, one_thread, refuse};
use crate::types::code;
use crate::{op, record, thread};
use pellucid_core::os::cpu;
use pellucid_core::runtime;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// `gex_HSL_t`
#[derive(Debug, Default)]
#[repr(C)]
pub struct Lock {
    state: AtomicU32,
    owner: AtomicU32,
}

/// Turns before a waiter yields, where every PE has a core.
const SPINS: u32 = 1000;

/// Of the calling thread, as [`Lock::owner`] has it: an address of its own.
fn mark() -> u32 {
    ((ptr::from_mut(thread::get()) as usize) >> 4) as u32 | 1
}

impl Lock {
    fn try_take(&self) -> bool {
        let taken = self.state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if taken {
            self.owner.store(mark(), Ordering::Relaxed);
            let thread = thread::get();
            if let Some(slot) = thread.held.get_mut(thread.locks as usize) {
                *slot = ptr::from_ref(self).cast();
            }
            thread.locks += 1;
            thread.restricted += 1;
        }
        taken
    }

    fn is_mine(&self) -> bool {
        self.state.load(Ordering::Relaxed) != 0 && self.owner.load(Ordering::Relaxed) == mark()
    }

    #[cold]
    fn wait(&self) {
        if self.is_mine() {
            refuse("gex_HSL_Lock", format!("this thread holds the lock at {self:p} already: called {}", context()))
        }
        let take = || {
            let mut turns = if runtime::map().oversubscribed { SPINS } else { 0 };
            while !(self.state.load(Ordering::Relaxed) == 0 && self.try_take()) {
                turns = turns.saturating_add(1);
                if turns < SPINS { std::hint::spin_loop() } else { cpu::yield_now() }
            }
        };
        // What runs a handler, or a client's function of a reduction, has the time.
        let is_within = !thread::get().token.is_null() || thread::get().section == Section::Reduction as u32;
        if is_within {
            record::timed(op!(HSL_WITHIN), -1, 0, 0, take);
        } else {
            record::timed(op!(HSL_WAIT), -1, 0, 0, take);
        }
    }

    fn release(&self) {
        let thread = thread::get();
        if !self.is_mine() {
            refuse("gex_HSL_Unlock", format!("this thread does not hold the lock at {self:p}: called {}", context()))
        }
        let last = thread.locks as usize - 1;
        if thread.held.get(last).is_some_and(|held| !ptr::eq(*held, ptr::from_ref(self).cast())) {
            refuse(
                "gex_HSL_Unlock",
                format!("the lock at {self:p} is not the last that was locked: they are unlocked in reverse order"),
            )
        }
        thread.locks -= 1;
        thread.restricted -= 1;
        self.owner.store(0, Ordering::Relaxed);
        self.state.store(0, Ordering::Release);
    }
}

/// `gex_HSL_Init`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_HSL_Init(lock: *mut Lock) {
    // SAFETY: room for a lock, says the caller.
    unsafe { lock.write(Lock::default()) };
}

/// `gex_HSL_Destroy`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_HSL_Destroy(lock: *mut Lock) {
    // SAFETY: a lock, says the caller; so below.
    if unsafe { (*lock).state.load(Ordering::Relaxed) } != 0 {
        refuse("gex_HSL_Destroy", format!("the lock at {lock:p} is held"))
    }
}

/// `gex_HSL_Lock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_HSL_Lock(lock: *mut Lock) {
    one_thread("gex_HSL_Lock");
    // SAFETY: see above.
    let lock = unsafe { &*lock };
    if !lock.try_take() {
        lock.wait();
    }
}

/// `gex_HSL_Unlock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_HSL_Unlock(lock: *mut Lock) {
    // SAFETY: see above.
    unsafe { (*lock).release() };
}

/// `gex_HSL_Trylock`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_HSL_Trylock(lock: *mut Lock) -> c_int {
    one_thread("gex_HSL_Trylock");
    // SAFETY: see above.
    let lock = unsafe { &*lock };
    if lock.try_take() {
        return code::OK;
    }
    if lock.is_mine() {
        refuse("gex_HSL_Trylock", format!("this thread holds the lock at {lock:p} already: called {}", context()))
    }
    code::NOT_READY
}
