//! Distributed locks (9.13), with a note of who holds them for whoever looks at a job that hangs.

use pellucid_core::base::Fault;
use pellucid_core::context::lock::{self, Variable};
use pellucid_core::memory::Map;
use pellucid_profile::recorder;

/// Waits for the lock and takes it.
pub fn set<V: Variable>(m: &Map, addr: *mut V) -> Result<(), Fault> {
    lock::set(m, addr)?;
    recorder::lock_taken(addr.addr());
    Ok(())
}

/// Releases the lock.
pub fn clear<V: Variable>(m: &Map, addr: *mut V) -> Result<(), Fault> {
    // Before the next holder can have it.
    recorder::lock_released(addr.addr());
    lock::clear(m, addr)
}

/// 0 where it took the lock, 1 where another has it.
pub fn test<V: Variable>(m: &Map, addr: *mut V) -> Result<i32, Fault> {
    let taken = lock::test(m, addr)?;
    if taken == 0 {
        recorder::lock_taken(addr.addr());
    }
    Ok(taken)
}
