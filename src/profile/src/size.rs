//! Message size classes and peer distances.

/// Number of size classes: empty, then one per power of two.
pub const SIZE_CLASSES: usize = 48;

/// The size class of a message: 0 for an empty one, `k` for `2^(k-1)` to `2^k - 1` bytes, the last one open-ended.
#[inline(always)]
pub const fn size_class(bytes: usize) -> usize {
    let class = (usize::BITS - bytes.leading_zeros()) as usize;
    if class < SIZE_CLASSES { class } else { SIZE_CLASSES - 1 }
}

/// As [`size_class`], of fewer bytes than half of all there can be, in two instructions.
#[inline(always)]
pub const fn class_of_short(bytes: usize) -> usize {
    (bytes << 1 | 1).ilog2() as usize
}

/// Smallest and largest message of a size class in bytes.
pub const fn size_bounds(class: usize) -> (u64, u64) {
    match class {
        0 => (0, 0),
        _ if class < SIZE_CLASSES - 1 => (1 << (class - 1), (1 << class) - 1),
        _ => (1 << (SIZE_CLASSES - 2), u64::MAX),
    }
}

/// Number of distances.
pub const DISTANCES: usize = 4;

/// How far the target of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Distance {
    /// The call has no single peer (ordering, collectives, local routines).
    None,
    /// The calling PE itself.
    Own,
    /// Another PE of the same host.
    Host,
    /// A PE of another host.
    Remote,
}

impl Distance {
    /// Every distance, in the order of their numbers.
    pub const ALL: [Distance; DISTANCES] = [Distance::None, Distance::Own, Distance::Host, Distance::Remote];

    /// Lower-case name, as reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Distance::None => "none",
            Distance::Own => "self",
            Distance::Host => "host",
            Distance::Remote => "remote",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_powers_of_two() {
        for (bytes, class) in
            [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11), (usize::MAX, SIZE_CLASSES - 1)]
        {
            assert_eq!(size_class(bytes), class, "{bytes} bytes");
        }
        for bytes in (0..100_000).chain([u32::MAX as usize]) {
            assert_eq!(class_of_short(bytes), size_class(bytes), "{bytes} bytes");
        }
        let mut next = 0;
        for class in 0..SIZE_CLASSES {
            let (low, high) = size_bounds(class);
            assert_eq!(low, next);
            assert_eq!(size_class(low as usize), class);
            assert_eq!(size_class(high as usize), class);
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0);
    }
}
