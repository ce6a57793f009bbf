//! Which meetings of a team are kept where there are too many: the same ones in every PE.
//!
//! Of each block of 2^k numbers one is kept, whichever a hash says: numbers that are multiples of 2^k would always be
//! the same barrier of a loop that has an even number of them. A block keeps what one of its halves keeps, so that what
//! is kept of larger blocks is kept of smaller ones.

/// Which half of a block of 2^`level` numbers is the one that keeps: 0 or 1.
#[inline]
fn half(level: u32, block: u64) -> u64 {
    // The finalizer of MurmurHash3: each bit has a say in the lowest one.
    let mixed = block ^ u64::from(level) << 58;
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (mixed ^ mixed >> 33) & 1
}

/// Whether the meeting with this number is the one of its block of 2^`shift` that is kept.
pub(crate) fn is_kept(number: u64, shift: u32) -> bool {
    (1..=shift).all(|level| number >> (level - 1) & 1 == half(level, number >> level))
}

/// The first meeting from `number` on that is kept.
pub(crate) fn next_kept(number: u64, shift: u32) -> u64 {
    let of_block = |block| (1..=shift).rev().fold(block, |block, level| 2 * block + half(level, block));
    let kept = of_block(number >> shift);
    if kept >= number { kept } else { of_block((number >> shift) + 1) }
}

#[cfg(test)]
mod tests {
    use super::{is_kept, next_kept};

    #[test]
    fn each_place_in_a_loop_has_its_share() {
        for places in 1..=16_u64 {
            for shift in [0, 1, 2, 4, 6] {
                let mut kept = vec![0_u64; places as usize];
                let turns = 4096 << shift;
                for number in (0..turns * places).filter(|&number| is_kept(number, shift)) {
                    kept[(number % places) as usize] += 1;
                }
                // 4,096 are expected of each; the standard deviation is below 64.
                assert!(kept.iter().all(|&n| (3750..4450).contains(&n)), "one in 2^{shift} of {places}: {kept:?}");
            }
        }
    }

    #[test]
    fn fewer_are_some_of_more() {
        for number in 0..10_000 {
            assert!(!is_kept(number, 6) || is_kept(number, 5));
        }
    }

    #[test]
    fn the_next_one_is_found_at_once() {
        for shift in [0, 1, 3, 7] {
            for number in 0..5_000 {
                let next = (number..).find(|&number| is_kept(number, shift));
                assert_eq!(Some(next_kept(number, shift)), next, "from {number} on, one in 2^{shift}");
            }
        }
    }
}
