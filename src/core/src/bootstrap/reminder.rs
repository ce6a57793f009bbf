//! Words of a PE that waits long for others to begin.
//!
//! Under another's launcher a process that ends before its `shmem_init`, or is no OpenSHMEM program, keeps those that
//! have come to theirs there for ever, and only the launcher knows of it.

use crate::os::thread;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long PEs may take to come to `shmem_init` before one of them says a word.
const LONG: Duration = Duration::from_secs(10);

/// Says so, once, unless it is dropped before.
pub struct Reminder(Arc<(Mutex<bool>, Condvar)>);

impl Reminder {
    /// A PE has come. The first and the last of a job speak, of whom one is there as long as any two are.
    pub fn new(pe: u32, npes: u32) -> Option<Self> {
        if npes == 1 || (pe != 0 && pe != npes - 1) {
            return None;
        }
        let met = Arc::new((Mutex::new(false), Condvar::new()));
        let reminder = Self(met.clone());
        let wait = move || {
            let (met, changed) = &*met;
            let guard = met.lock().unwrap_or_else(PoisonError::into_inner);
            let guard = changed.wait_timeout_while(guard, LONG, |met| !*met).unwrap_or_else(PoisonError::into_inner).0;
            if !*guard {
                crate::say!(
                    "pellucid: PE {pe}: shmem_init has waited {} s for others of the {npes} PEs: one that has ended, \
                     or does not call it, keeps the others waiting (srun --kill-on-bad-exit=1 ends a job where one \
                     fails)",
                    LONG.as_secs()
                );
            }
        };
        // Without the thread nothing is said.
        thread::spawn(c"pellucid-init", wait).ok().map(|_| reminder)
    }
}

impl Drop for Reminder {
    fn drop(&mut self) {
        let (met, changed) = &*self.0;
        *met.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }
}
