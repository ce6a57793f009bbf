//! Words of a PE that waits long for others to begin.
//!
//! Under another's launcher a process that ends before its `shmem_init`, or is no OpenSHMEM program, keeps those that
//! have come to theirs there for ever, and only the launcher knows of it.

use crate::os::thread;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long PEs may take to come to `shmem_init` before one of them says a word.
const LONG: Duration = Duration::from_secs(10);

/// What a launcher does about a process that ends before its `shmem_init`, for people.
pub const SRUN: &str = "srun --kill-on-bad-exit=1 ends a job where one fails";
/// The same.
pub const MPIRUN: &str = "mpirun ends a job where one fails, and not where one ends with status 0";
/// The same: PMI-1 has no word for it.
pub const HYDRA: &str = "mpiexec of Hydra does not end a job where one does, whatever its status";

/// Says so, once, unless it is dropped before.
pub struct Reminder(Arc<(Mutex<bool>, Condvar)>);

impl Reminder {
    /// A PE has come. The first and the last of a job speak, of whom one is there as long as any two are. `advice`:
    /// what the launcher does about those that have ended.
    pub fn new(pe: u32, npes: u32, advice: &'static str) -> Option<Self> {
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
                crate::say!("pellucid: {}", text(pe, npes, advice));
            }
        };
        // Without the thread nothing is said.
        thread::spawn(c"pellucid-init", wait).ok().map(|_| reminder)
    }
}

/// Which PEs have come, the launcher alone knows; of two, it is the other one that has not.
fn text(pe: u32, npes: u32, advice: &str) -> String {
    let whom = if npes == 2 { format!("PE {}", 1 - pe) } else { format!("others of the {npes} PEs") };
    format!(
        "PE {pe}: shmem_init has waited {} s for {whom}: one that has ended, or does not call it, keeps the others \
         waiting ({advice})",
        LONG.as_secs()
    )
}

impl Drop for Reminder {
    fn drop(&mut self) {
        let (met, changed) = &*self.0;
        *met.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_pes_it_is_the_other_one() {
        let begin = "PE 0: shmem_init has waited 10 s for ";
        assert!(text(0, 2, SRUN).starts_with(&format!("{begin}PE 1: ")), "{}", text(0, 2, SRUN));
        assert!(text(0, 3, HYDRA).starts_with(&format!("{begin}others of the 3 PEs: ")));
        assert!(text(1, 2, MPIRUN).contains("for PE 0: ") && text(1, 2, MPIRUN).ends_with(&format!("({MPIRUN})")));
    }
}
