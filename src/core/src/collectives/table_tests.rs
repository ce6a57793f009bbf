//! Tests of the table of algorithms.

use super::*;

/// The name of the algorithm of a call.
fn name<F: Copy>(collective: &Collective<F>, forced: &Forced, shape: &Shape) -> &'static str {
    rows()[usize::from(collective.pick(forced, shape).1)].name
}

#[test]
fn every_row_can_be_forced_and_only_those() {
    for row in rows() {
        let forced = parse(&format!("{}:{}", row.collective, row.name)).unwrap();
        assert_eq!(forced.0.iter().filter(|row| **row != 0).count(), 1, "{row:?}");
    }
    assert_eq!(parse("auto"), Ok(Forced::AUTO));
    assert!(["reduce:magic", "reduce", "magic:tree", "tree"].iter().all(|text| parse(text).is_err()));
    let both = parse("barrier:counter, reduce:tree").unwrap();
    assert_eq!(name(&BARRIER, &both, &Shape::default()), "counter");
    assert_eq!(name(&REDUCE, &both, &Shape::default()), "tree");
}

#[test]
fn places_are_those_of_the_list() {
    let rows = rows();
    let at = |place: crate::team::algorithm::TablePlace| rows[usize::from(place.algorithm)].collective;
    assert_eq!([at(BARRIER.place), at(REDUCE.place), at(SCAN.place)], ["barrier", "reduce", "scan"]);
    assert_eq!(at(HOSTS_ALLTOALL.place), "hosts-alltoall");
    assert_eq!(usize::from(HOSTS_ALLTOALL.next().algorithm), rows.len());
}

#[test]
fn the_last_row_of_a_collective_takes_every_call() {
    fn last<F>(collective: &Collective<F>) {
        let row = collective.rows.last().unwrap();
        for bytes in [0, 8, 1 << 30] {
            let shape = Shape { bytes, members: 1 << 20, remote: 1 << 20, oversubscribed: bytes == 8 };
            assert!((row.fits)(&shape) && (row.pays)(&shape), "{}:{}", collective.name, row.name);
        }
    }
    last(&BARRIER);
    last(&BROADCAST);
    last(&REDUCE);
    last(&FCOLLECT);
    last(&SCAN);
    last(&HOSTS_BROADCAST);
    last(&HOSTS_REDUCE);
    last(&HOSTS_FCOLLECT);
    last(&HOSTS_ALLTOALL);
}

/// The name of what is taken for so many bytes among so many members.
fn taken<F: Copy>(collective: &Collective<F>, forced: &str, bytes: usize, members: usize) -> &'static str {
    name(collective, &parse(forced).unwrap(), &Shape { bytes, members, ..Shape::default() })
}

#[test]
fn sizes_that_an_algorithm_cannot_take_go_to_another() {
    assert_eq!(taken(&REDUCE, "reduce:tree", INLINE, 2), "tree");
    assert_eq!(taken(&REDUCE, "reduce:tree", INLINE + 1, 2), "sliced");
    assert_eq!(taken(&REDUCE, "reduce:flat", 1 << 20, 2), "whole");
    assert_eq!(taken(&REDUCE, "reduce:whole", 8, 99), "whole");
    assert_eq!(taken(&BROADCAST, "broadcast:tree", 1 << 20, 99), "flat");
    assert_eq!(taken(&SCAN, "scan:doubling", 1 << 20, 99), "flat");
    assert_eq!(taken(&HOSTS_BROADCAST, "hosts-broadcast:messages", 1 << 20, 9), "binomial");
    assert_eq!(taken(&HOSTS_BROADCAST, "hosts-broadcast:scatter", 8, 2), "scatter");
    assert_eq!(taken(&HOSTS_FCOLLECT, "hosts-fcollect:messages", 1 << 20, 9), "puts");
    assert_eq!(taken(&HOSTS_ALLTOALL, "hosts-alltoall:passing", 1 << 20, 64), "messages");
}

#[test]
fn sizes_and_members_choose() {
    let among = |members| move |bytes| taken(&REDUCE, "auto", bytes, members);
    assert_eq!([8, INLINE + 1, SLICED_REDUCE - 1, SLICED_REDUCE].map(among(2)), ["flat", "whole", "whole", "sliced"]);
    assert_eq!([8, INLINE + 1, SLICED_REDUCE].map(among(64)), ["tree", "whole", "sliced"]);
    let shared = Shape { bytes: 8, members: 64, oversubscribed: true, ..Shape::default() };
    assert_eq!(name(&REDUCE, &Forced::AUTO, &shared), "flat");
    assert_eq!(name(&BARRIER, &Forced::AUTO, &shared), "counter");
    assert_eq!([1, 24, 25].map(|members| taken(&BARRIER, "auto", 0, members)), ["flat", "flat", "dissemination"]);
    assert_eq!([24, 25].map(|members| taken(&BROADCAST, "auto", 8, members)), ["flat", "tree"]);
    assert_eq!(taken(&HOSTS_BROADCAST, "auto", 8, 99), "messages");
    assert_eq!([2, 9].map(|hosts| taken(&HOSTS_BROADCAST, "auto", 1 << 20, hosts)), ["binomial", "scatter"]);
    assert_eq!([8, 1 << 20].map(|bytes| taken(&HOSTS_REDUCE, "auto", bytes, 9)), ["doubling", "halving"]);
    let alltoall = |bytes, members, remote| {
        name(&HOSTS_ALLTOALL, &Forced::AUTO, &Shape { bytes, members, remote, ..Shape::default() })
    };
    assert_eq!(alltoall(8, 4, 2), "messages");
    assert_eq!([8, 8192, 1 << 20].map(|bytes| alltoall(bytes, 64, 60)), ["passing", "messages", "puts"]);
}
