//! Calls to words here and there, of many records or of a table, and what a few of them take by chance.

use super::*;

/// Of the words of these routines it is known that none is called often.
fn of_many_words(mut profile: Profile) -> Profile {
    for pe in &mut profile.pes {
        let rate = |r: &Routine| Rate { routine: r.name.clone(), class: 4, distance: 2, calls: 1, ..Rate::default() };
        pe.tables.rates = pe.routines.iter().map(rate).collect();
    }
    profile
}

fn found(profile: &Profile, rule: &str) -> Option<Finding> {
    findings(profile).into_iter().find(|(name, _)| *name == rule).map(|(_, found)| found)
}

/// Of two PEs each gets half of what goes to anybody.
#[test]
fn a_half_of_the_puts_of_two_pes_may_go_anywhere() {
    let two = |to_other: u64| {
        let mut two = profile(&[routine("shmem_long_p", Class::Put, 100_000, 8, 100 * MS)], 0.25);
        two.pes.truncate(2);
        for pe in &mut two.pes {
            let to = |peer, calls| Peer { pe: Some(peer), put: Traffic { calls, bytes: 8 * calls }, ..Peer::default() };
            pe.tables.peers = vec![to(1 - pe.pe, to_other), to(pe.pe, 100_000 - to_other)];
        }
        found(&two, "small-puts")
    };
    assert!(two(90_000).is_some());
    assert!(two(51_000).is_none() && two(70_000).is_none());
    // Of four, half is twice as many as at random.
    let four =
        |share| found(&profile(&[routine("shmem_long_p", Class::Put, 100_000, 8, 100 * MS)], share), "small-puts");
    assert!(four(0.55).is_some() && four(0.45).is_none());
}

/// On one host nothing is gained by many gets under way at once.
#[test]
fn gets_are_to_be_under_way_at_once_over_a_network_only() {
    let get = || profile(&[routine("shmem_long_g", Class::Get, 100_000, 8, 150 * MS)], 0.25);
    let said = |profile: &Profile| found(profile, "small-gets").expect("small-gets").try_this;
    assert!(said(&get()).contains("shmem_ptr") && !said(&get()).contains("_nbi"), "{}", said(&get()));
    assert!(said(&on_network(get(), &[("requests", 9)])).contains("shmem_get_nbi"));
    let fetch = || profile(&[routine("shmem_long_atomic_fetch", Class::Amo, 100_000, 8, 400 * MS)], 0.25);
    let fetch = || of_many_words(fetch());
    assert!(said(&fetch()).contains("shmem_ptr") && !said(&fetch()).contains("_nbi"), "{}", said(&fetch()));
}

/// Half of the calls say what one takes: a few that lose their core make the mean long.
#[test]
fn what_a_few_calls_lose_their_core_for_is_not_contended() {
    let counter = |half_ns| {
        let mut counter = one_counter(10_000_000, 300 * MS);
        for pe in &mut counter.pes {
            let atomics = &mut pe.routines[0];
            atomics.latency.record(half_ns, 9_900_000);
            atomics.latency.record(2000, 100_000);
            atomics.max_ns = 2000;
        }
        counter
    };
    assert_eq!(names(&counter(40))[0], "contended-atomics", "{:?}", findings(&counter(40)));
    assert!(found(&counter(6), "contended-atomics").is_none(), "{:?}", findings(&counter(6)));
}

/// Where a free place of a table is taken, no other atomic operation does it.
#[test]
fn places_of_a_table_are_taken_without_a_read() {
    let table = |swap_ms: u64| {
        let read = routine("shmem_long_g", Class::Get, 120_000, 8, 300 * MS);
        profile(&[read, routine("shmem_long_atomic_compare_swap", Class::Amo, 120_000, 8, swap_ms * MS)], 0.25)
    };
    let told = |profile: &Profile| found(profile, "compare-and-swap").expect("compare-and-swap");
    let (counts, takes) = (told(&table(90)), told(&of_many_words(table(90))));
    assert!(counts.try_this.starts_with("where it adds"), "{counts:?}");
    assert!(
        takes.try_this.starts_with("where it takes a free place in a table: the compare-and-swap without the read")
    );
    // What the read has fetched the swap would have to.
    assert!((takes.share - 0.09).abs() < 1e-9, "{takes:?}");
    assert!(found(&table(10), "compare-and-swap").is_none(), "next to nothing to be saved");
}

/// PEs that poll a flag and never swap feed no swaps of another PE, however alike their numbers are.
#[test]
fn reads_of_pes_that_never_swap_feed_no_swaps() {
    let read = |calls, ms: u64| routine("shmem_long_atomic_fetch", Class::Amo, calls, 8, ms * MS);
    let swap = |ms: u64| routine("shmem_long_atomic_compare_swap", Class::Amo, 120_000, 8, ms * MS);
    let of = |first: [Routine; 2], others: Routine| {
        let mut profile = profile(std::slice::from_ref(&others), 0.25);
        profile.pes[0].routines = first.to_vec();
        profile
    };
    let fed = of([swap(400), read(120_000, 400)], read(10, 0));
    assert!(found(&fed, "compare-and-swap").is_some(), "{:?}", findings(&fed));
    let alone = of([swap(400), read(10, 0)], read(40_000, 400));
    assert!(found(&alone, "compare-and-swap").is_none(), "{:?}", findings(&alone));
    assert!(found(&alone, "polling").is_some(), "{:?}", findings(&alone));
}

/// Locks of many records, each a word that is swapped until it is free and then set back.
#[test]
fn locks_of_many_records_are_polled() {
    let of = |swaps: u64, sets: u64| {
        let swap = routine("shmem_long_atomic_compare_swap", Class::Amo, swaps, 8, 300 * MS);
        let set = routine("shmem_long_atomic_set", Class::Amo, sets, 8, MS);
        // What the lock is for.
        let put = routine("shmem_long_p", Class::Put, 2 * sets, 8, MS);
        of_many_words(profile(&[swap, set, put], 0.25))
    };
    let found = found(&of(9_000_000, 1_000_000), "polling").expect("polling");
    assert!(found.what.starts_with("waiting by asking: 36000000 tests"), "{found:?}");
    assert!(!names(&of(1_100_000, 1_000_000)).contains(&"polling"), "most succeed at once");
    assert!(!names(&of(9_000_000, 0)).contains(&"polling"), "nobody sets them back");
}
