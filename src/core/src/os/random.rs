//! Numbers that nobody can guess.
#![allow(unsafe_code)]

use crate::base::{Cause, Fault};

/// Words from the kernel's generator.
pub fn words<const N: usize>() -> Result<[u64; N], Fault> {
    let mut words = [0u64; N];
    let bytes = size_of_val(&words);
    // SAFETY: the words are this function's, and take any bytes. The kernel gives up to 256 bytes at once, or none.
    let got = unsafe { libc::getrandom(words.as_mut_ptr().cast(), bytes, 0) };
    if got == bytes as isize {
        return Ok(words);
    }
    let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Err(Fault::from(Cause::Os { what: "asking the kernel for random numbers", error }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_are_alike() {
        let mut all: Vec<u64> = (0..64).flat_map(|_| super::words::<32>().unwrap()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 64 * 32);
        // Every bit is used.
        assert_eq!(all.iter().fold(0, |bits, word| bits | word), u64::MAX);
        assert_eq!(all.iter().fold(u64::MAX, |bits, word| bits & word), 0);
    }
}
