//! The flag bytes that each entry point tests before it does anything else.
//!
//! `shmem_X` tests `ARM[op]`, `pshmem_X` tests `PARM[op]`. Where the process has a foreign strong `shmem_X` (a profiling
//! tool) that calls `pshmem_X`, the byte in `PARM` is set instead of the one in `ARM`: each application call is recorded
//! once, whoever is in between.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering::Relaxed};

use crate::op::COUNT;

/// Nonzero: calls that arrive through `shmem_X` are recorded.
pub static ARM: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];

/// Nonzero: calls that arrive through `pshmem_X` are recorded.
pub static PARM: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];

static FOREIGN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
static LEVEL: AtomicI32 = AtomicI32::new(0);

/// Tells whether `shmem_X` of this operation is defined by someone else. Takes effect with the next [`set_level`].
pub fn set_foreign(op: u16, foreign: bool) {
    if let Some(flag) = FOREIGN.get(usize::from(op)) {
        flag.store(foreign, Relaxed);
    }
}

/// Whether `shmem_X` of this operation was said to be defined by someone else.
pub fn is_foreign(op: u16) -> bool {
    FOREIGN.get(usize::from(op)).is_some_and(|flag| flag.load(Relaxed))
}

/// The profiling level in force: 0 or less is off.
pub fn level() -> i32 {
    LEVEL.load(Relaxed)
}

/// Arms or disarms every entry point. Calls that are already inside a routine finish as they began.
pub fn set_level(level: i32) {
    LEVEL.store(level, Relaxed);
    let on = level > 0;
    for op in 0..COUNT {
        let foreign = FOREIGN[op].load(Relaxed);
        ARM[op].store(u8::from(on && !foreign), Relaxed);
        PARM[op].store(u8::from(on && foreign), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_armed_at_exactly_one_entry() {
        let _turn = crate::recorder::tests::TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (own, foreign) = (0, 1);
        set_foreign(foreign, true);
        set_foreign(COUNT as u16, true);
        assert!(is_foreign(foreign) && !is_foreign(own) && !is_foreign(COUNT as u16));
        for on in [1, 2, 7] {
            set_level(on);
            assert_eq!(level(), on);
            for op in 0..COUNT {
                let armed = (ARM[op].load(Relaxed), PARM[op].load(Relaxed));
                assert_eq!(armed, if op == usize::from(foreign) { (0, 1) } else { (1, 0) });
            }
        }
        for off in [0, -1, i32::MIN] {
            set_level(off);
            assert!(ARM.iter().chain(&PARM).all(|flag| flag.load(Relaxed) == 0));
        }
        set_foreign(foreign, false);
    }
}
