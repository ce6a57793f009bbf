//! How many calls one sample stands for.

use super::cold::MEAN_GAP;
use super::set_sampling;
use super::tests::{Fixture, known_calls, op_named, routine};

/// How many of a million calls of 20 to 27 ns are timed where one in so many is at most.
fn timed_of_a_million(every: u64) -> u64 {
    const CALLS: u64 = 1_000_000;
    let fixture = Fixture::new();
    assert!(set_sampling(Some(every), None));
    let op = op_named("shmem_long_p");
    known_calls(&fixture, op, CALLS - 1, |call| 20 + call % 8);
    assert!(set_sampling(Some(MEAN_GAP), None));
    let pe = fixture.pe();
    let row = routine(&pe, op);
    assert_eq!((row.all_calls(), row.all_bytes()), (CALLS, 8 * CALLS));
    row.timed_calls
}

#[test]
fn the_more_samples_there_are_the_rarer_they_become() {
    // 128 at one in 128, as many at one in 256, 256 at one in 512, and the rest at one in 1024.
    let few = timed_of_a_million(MEAN_GAP);
    assert!((1_000..2_000).contains(&few), "{few} are timed");
    let many = timed_of_a_million(128);
    assert!((6_000..12_000).contains(&many), "{many} are timed");
    // Whoever asks for fewer still gets them from the start.
    let fewest = timed_of_a_million(8 * MEAN_GAP);
    assert!((150..900).contains(&fewest), "{fewest} are timed");
}
