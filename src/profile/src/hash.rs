//! Where tables look for a key first, and what tells texts apart.

/// Fibonacci hashing: the key times 2^64 divided by the golden ratio, whose high bits depend on all bits of the key.
#[inline(always)]
pub(crate) const fn fibonacci(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// FNV-1a, 64 bits, of some bytes: the same in every version of everything.
pub const fn fnv1a(bytes: &[u8]) -> u64 {
    fnv1a_on(0xcbf2_9ce4_8422_2325, bytes)
}

/// As [`fnv1a`], of bytes behind those that gave `sum`.
pub(crate) const fn fnv1a_on(mut sum: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        sum = fnv1a_step(sum, bytes[at] as u64);
        at += 1;
    }
    sum
}

/// As [`fnv1a_on`], of one number.
pub(crate) const fn fnv1a_step(sum: u64, number: u64) -> u64 {
    (sum ^ number).wrapping_mul(0x0000_0100_0000_01b3)
}
