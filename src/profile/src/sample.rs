//! Which meetings of a team are kept where there are too many: the same ones in every PE.

/// Whether the meeting with this number is among the one in `every` (a power of two) that are kept. What is kept with
/// one value of `every` contains what is kept with a larger one.
///
/// The number is hashed: numbers that are multiples of `every` would always be the same barrier of a loop that has an
/// even number of them.
pub(crate) fn is_kept(number: u64, every: u64) -> bool {
    // The finalizer of MurmurHash3: each bit of the number has a say in the lowest bits.
    let mixed = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (mixed ^ mixed >> 33) & (every - 1) == 0
}

#[cfg(test)]
mod tests {
    use super::is_kept;

    #[test]
    fn each_place_in_a_loop_has_its_share() {
        for places in 1..=16_u64 {
            for every in [1_u64, 2, 4, 16, 64] {
                let mut kept = vec![0_u64; places as usize];
                let turns = 4096 * every;
                for number in (0..turns * places).filter(|&number| is_kept(number, every)) {
                    kept[(number % places) as usize] += 1;
                }
                // 4,096 are expected of each; the standard deviation is below 64.
                assert!(kept.iter().all(|&n| (3750..4450).contains(&n)), "one in {every} of {places}: {kept:?}");
            }
        }
    }

    #[test]
    fn fewer_are_some_of_more() {
        for number in 0..10_000 {
            assert!(!is_kept(number, 64) || is_kept(number, 32));
        }
    }
}
