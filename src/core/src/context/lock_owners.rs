//! With `SHMEM_DEBUG`: which locks this PE holds, and in which thread it took them.

use crate::base::{Cause, Fault};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

static OWNERS: Mutex<Option<HashMap<usize, ThreadId>>> = Mutex::new(None);

fn owners() -> MutexGuard<'static, Option<HashMap<usize, ThreadId>>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fault: the calling thread has the lock, and would wait for itself. Another thread of the PE may clear it.
pub(super) fn check_set(addr: usize) -> Result<(), Fault> {
    let is_mine = owners().as_ref().is_some_and(|owners| owners.get(&addr) == Some(&thread::current().id()));
    if is_mine { Err(Fault::from(Cause::HeldAlready { addr })) } else { Ok(()) }
}

/// The calling thread took the lock.
pub(super) fn set_owner(addr: usize) {
    owners().get_or_insert_default().insert(addr, thread::current().id());
}

/// A thread of this PE is about to clear the lock. Fault: none has it.
pub(super) fn clear_owner(addr: usize) -> Result<(), Fault> {
    let was = owners().as_mut().and_then(|owners| owners.remove(&addr));
    was.map(drop).ok_or_else(|| Fault::from(Cause::NotHeld { addr }))
}
