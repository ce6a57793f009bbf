//! Locks of a job that goes on without PEs that are lost: a word in PE 0's instance with the number of the holder and
//! 1, or 0. Whoever finds that the holder is lost takes the lock over. Who waits longest is not served first.

use super::amo;
use super::lock::Variable;
use super::{Ctx, order};
use crate::base::Fault;
use crate::memory::Map;
use crate::os::wait::Backoff;

/// This PE as a holder.
fn me<V: Variable>(m: &Map) -> V {
    V::of(m.me as u64 + 1)
}

/// Takes the lock where nobody has it who is there.
pub(super) fn take<V: Variable>(m: &Map, addr: *mut V) -> Result<bool, Fault> {
    let holder = amo::compare_swap(m, Ctx::DEFAULT, addr, V::of(0), me(m), 0)?;
    let pe = holder.bits().checked_sub(1);
    match pe {
        None => Ok(true),
        Some(pe) if m.is_lost(pe as i32) => {
            Ok(amo::compare_swap(m, Ctx::DEFAULT, addr, holder, me(m), 0)?.bits() == holder.bits())
        }
        Some(_) => Ok(false),
    }
}

/// Waits for the lock and takes it.
pub(super) fn set<V: Variable>(m: &Map, addr: *mut V) -> Result<(), Fault> {
    let mut backoff = Backoff::new(m.oversubscribed);
    while !take(m, addr)? {
        backoff.step();
    }
    Ok(())
}

/// Lets the lock go. Error: what stands there, where nobody has it.
pub(super) fn release<V: Variable>(m: &Map, addr: *mut V) -> Result<Result<(), u64>, Fault> {
    let later = order::quiet_before(m)?;
    let holder = amo::swap(m, Ctx::DEFAULT, addr, V::of(0), 0)?.bits();
    order::told(later)?;
    Ok(if holder == 0 { Err(holder) } else { Ok(()) })
}
