//! Where tables look for a key first.

/// Fibonacci hashing: the key times 2^64 divided by the golden ratio, whose high bits depend on all bits of the key.
#[inline(always)]
pub(crate) const fn fibonacci(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
