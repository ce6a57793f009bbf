//! A lock in shared memory that its holder never opens: when the holder's process is about to end, the kernel gives it
//! to whoever waits, before it frees the memory and closes the files of that process. So this one knows before those at
//! the other ends of connections.
#![allow(unsafe_code)]

use super::futex;
use std::cell::UnsafeCell;
use std::mem::zeroed;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The lock. All zeros before it is held.
#[repr(C)]
pub struct Alive {
    lock: UnsafeCell<libc::pthread_mutex_t>,
    /// 1 once the lock is made and held.
    held: AtomicU32,
}

// SAFETY: a mutex that processes share; only its holder makes it.
unsafe impl Sync for Alive {}

impl Alive {
    /// Has the calling thread hold the lock, for as long as it lives. Once for each lock.
    pub fn hold(&self) {
        // SAFETY: the attributes are valid, and nobody looks at the lock before it is held.
        let failed = unsafe {
            let mut attributes: libc::pthread_mutexattr_t = zeroed();
            libc::pthread_mutexattr_init(&raw mut attributes);
            libc::pthread_mutexattr_setpshared(&raw mut attributes, libc::PTHREAD_PROCESS_SHARED);
            libc::pthread_mutexattr_setrobust(&raw mut attributes, libc::PTHREAD_MUTEX_ROBUST);
            let failed = libc::pthread_mutex_init(self.lock.get(), &raw const attributes);
            libc::pthread_mutexattr_destroy(&raw mut attributes);
            failed | libc::pthread_mutex_lock(self.lock.get())
        };
        if failed == 0 {
            self.held.store(1, Ordering::Release);
            futex::wake_all(&self.held);
        }
    }

    /// Waits until somebody holds the lock, for so long at most. Gives whether somebody does.
    pub fn is_held(&self, at_most: Duration) -> bool {
        if self.held.load(Ordering::Acquire) == 0 {
            futex::wait(&self.held, 0, at_most);
        }
        self.held.load(Ordering::Acquire) != 0
    }

    /// Waits until the holder ends, or replaces its program. For one waiter, once the lock is held.
    pub fn outlive(&self) -> bool {
        // SAFETY: a mutex that is made.
        unsafe { libc::pthread_mutex_lock(self.lock.get()) == libc::EOWNERDEAD }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_end_of_the_holder_is_told() {
        // SAFETY: zeros are what it is before it is held.
        let alive: Arc<Alive> = Arc::new(unsafe { zeroed() });
        assert!(!alive.is_held(Duration::ZERO));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let holder = std::thread::spawn({
            let alive = alive.clone();
            move || {
                alive.hold();
                let _ = ended.recv();
            }
        });
        assert!(alive.is_held(Duration::from_secs(60)));
        drop(end);
        assert!(alive.outlive());
        holder.join().unwrap();
    }
}
