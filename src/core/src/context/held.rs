//! With `SHMEM_DEBUG`: which locks this PE holds, and in which thread it took them.

use crate::base::{Cause, Fault};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

static HELD: Mutex<Option<HashMap<usize, ThreadId>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<HashMap<usize, ThreadId>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fault: the calling thread has the lock, and would wait for itself. Another thread of the PE may clear it.
pub(super) fn may_set(addr: usize) -> Result<(), Fault> {
    let is_mine = held().as_ref().is_some_and(|held| held.get(&addr) == Some(&thread::current().id()));
    if is_mine { Err(Fault::from(Cause::HeldAlready { addr })) } else { Ok(()) }
}

/// The calling thread took the lock.
pub(super) fn taken(addr: usize) {
    held().get_or_insert_default().insert(addr, thread::current().id());
}

/// A thread of this PE is about to clear the lock. Fault: none has it.
pub(super) fn cleared(addr: usize) -> Result<(), Fault> {
    let was = held().as_mut().and_then(|held| held.remove(&addr));
    was.map(drop).ok_or_else(|| Fault::from(Cause::NotHeld { addr }))
}
