//! Sets of CPUs.
#![allow(unsafe_code)]

/// Enough for 8192 CPUs, the most that Linux is built for.
const WORDS: usize = 128;

/// A set of CPUs, in the form the kernel takes.
#[derive(Clone, PartialEq, Eq)]
pub struct CpuSet([u64; WORDS]);

impl CpuSet {
    /// The set of these CPUs.
    pub fn of(cpus: &[usize]) -> Self {
        let mut set = Self([0; WORDS]);
        for cpu in cpus.iter().filter(|cpu| **cpu < WORDS * 64) {
            set.0[cpu / 64] |= 1 << (cpu % 64);
        }
        set
    }

    /// The CPUs that this process may use; empty where the kernel does not say.
    pub fn of_this_process() -> Self {
        Self::of_process(0)
    }

    /// The CPUs that a process may use; empty where it has ended or the kernel does not say.
    pub fn of_process(pid: i32) -> Self {
        let mut set = Self([0; WORDS]);
        // SAFETY: the set is writable for the size given.
        unsafe { libc::sched_getaffinity(pid, size_of_val(&set.0), set.0.as_mut_ptr().cast()) };
        set
    }

    /// Confines the calling thread. Async-signal-safe. A refusal is of no consequence: the PE then runs anywhere.
    pub fn confine(&self) {
        // SAFETY: the set is readable for the size given.
        unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), self.0.as_ptr().cast()) };
    }

    /// Its CPUs in ascending order.
    pub fn list(&self) -> Vec<usize> {
        (0..WORDS * 64).filter(|cpu| self.0[cpu / 64] >> (cpu % 64) & 1 == 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_lists_what_it_was_made_of() {
        assert_eq!(CpuSet::of(&[70, 3, 8191, 9000]).list(), [3, 70, 8191]);
        assert!(!CpuSet::of_this_process().list().is_empty());
    }
}
