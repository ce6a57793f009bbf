//! Small puts, and what is called between them.

use super::*;
use crate::size::Distance;

#[test]
fn fences_that_nobody_looks_between() {
    let put = routine("shmem_long_p", Class::Put, 20_000, 8, 100 * MS);
    let fence = routine("shmem_fence", Class::Order, 20_000, 0, 100 * MS);
    let wait = routine("shmem_long_wait_until", Class::Wait, 20_000, 0, 10 * MS);
    assert_eq!(names(&profile(&[put.clone(), fence.clone()], 0.25)), ["quiet-often"]);
    assert_eq!(names(&profile(&[put, fence, wait], 0.25)), ["library-time"]);
}

/// Large puts take their time for their bytes.
#[test]
fn small_puts_are_those_of_routines_with_small_ones() {
    let small = routine("shmem_char_p", Class::Put, 20_000, 1, 100 * MS);
    let large = routine("shmem_putmem", Class::Put, 200, 1 << 20, 600 * MS);
    let found = findings(&profile(&[small, large], 0.9));
    assert_eq!(found[0].0, "small-puts");
    assert!((found[0].1.share - 0.1).abs() < 1e-9, "{:?}", found[0].1);
}

/// What somebody waits for, or what stands between two meetings, cannot be sent with the next.
#[test]
fn messages_that_are_awaited_are_not_small_ones_to_be_collected() {
    let put = |calls| routine("shmem_long_put", Class::Put, calls, 32, 150 * MS);
    let wait = |calls| routine("shmem_long_wait_until", Class::Wait, calls, 0, 20 * MS);
    let barrier = |calls| routine("shmem_barrier_all", Class::Barrier, calls, 0, 20 * MS);
    let numbers = [("requests", 8000), ("request_entries", 8100), ("bytes_out", 512_000)];
    let over = |routines: &[Routine]| names(&on_network(profile(routines, 0.25), &numbers));
    assert_eq!(over(&[put(8000), wait(8000)]), [""; 0]);
    assert_eq!(over(&[put(8000), wait(800)]), ["network-small"]);
    let within = |routines: &[Routine]| names(&profile(routines, 0.9));
    assert_eq!(within(&[put(20_000), wait(20_000)]), [""; 0]);
    assert_eq!(within(&[put(20_000), barrier(20_000)]), [""; 0]);
    assert_eq!(within(&[put(20_000), wait(200)]), ["small-puts"]);
}

/// Who sends to its neighbours alone, among many PEs, may collect what goes to each.
#[test]
fn small_puts_to_some_neighbours_are_as_those_to_one() {
    let among = |peers: u32, pes: u32| {
        let mut all = profile(&[routine("shmem_long_p", Class::Put, 100_000, 8, 200 * MS)], 0.9);
        let first = all.pes.remove(0);
        let put = Traffic { calls: 100_000 / u64::from(peers), bytes: 800_000 / u64::from(peers) };
        let peer = |pe: u32| move |next: u32| Peer { pe: Some((pe + 1 + next) % pes), put, ..Peer::default() };
        let pe = |pe: u32| {
            let mut row = Pe { pe, ..first.clone() };
            row.tables.peers = (0..peers).map(peer(pe)).collect();
            row
        };
        all.pes = (0..pes).map(pe).collect();
        names(&all).contains(&"small-puts")
    };
    assert_eq!([among(4, 16), among(6, 16)], [true; 2]);
    // At random, to all others.
    assert_eq!([among(15, 16), among(7, 8), among(4, 5)], [false; 3]);
}

/// Signals belong to puts: one of them may tell of many values.
#[test]
fn puts_with_signals_are_puts() {
    let signals = |name, waits| {
        let put = routine(name, Class::Signal, 20_000, 8, 400 * MS);
        let mut all = profile(&[put, routine("shmem_signal_wait_until", Class::Wait, waits, 0, 10 * MS)], 0.9);
        for pe in &mut all.pes {
            let put = Traffic { calls: 20_000, bytes: 160_000 };
            pe.tables.peers = vec![Peer { pe: Some((pe.pe + 1) % 4), put, ..Peer::default() }];
        }
        all
    };
    for name in ["shmem_long_put_signal", "shmem_putmem_signal_nbi"] {
        let found = findings(&signals(name, 200));
        assert_eq!((found.len(), found[0].0), (1, "small-puts"), "{name}: {found:?}");
        assert!(found[0].1.try_this.contains("one shmem_put_signal"), "{found:?}");
        // Each is a message that somebody waits for.
        assert!(!names(&signals(name, 20_000)).contains(&"small-puts"));
    }
}

/// Within a host an element is a store: packing is no gain. Elements are tiny however many there are.
#[test]
fn strided_transfers_save_what_blocks_save() {
    let found = |name: &str, bytes, distance: Distance| {
        let mut strided = routine(name, Class::Put, 9000, bytes, 200 * MS);
        strided.calls = [0; 4];
        strided.calls[distance as usize] = 9000;
        findings(&profile(&[strided], 0.25)).into_iter().find(|(rule, _)| *rule == "strided").map(|(_, found)| found)
    };
    let near = found("shmem_double_iput", 32, Distance::Host).expect("strided");
    assert!((near.share - 0.12).abs() < 1e-9, "{near:?}");
    assert!(near.try_this.contains("Within a host each element is a store"), "{near:?}");
    let far = found("shmem_double_iput", 32, Distance::Remote).expect("strided");
    assert!((far.share - 0.2).abs() < 1e-9, "{far:?}");
    assert!(far.try_this.contains("unpack them on the other side"), "{far:?}");
    assert!(found("shmem_double_iput", 4096, Distance::Host).is_some());
    assert!(found("shmem_double_ibput", 4096, Distance::Host).is_none());
}

/// Puts with a flag each to the next PE, or to another one than the data; those who wait for them were worked for.
fn flagged(flag_to: u32, work_ns: u64) -> Profile {
    let calls = 4000;
    let mut all = profile(
        &[
            routine("shmem_putmem", Class::Put, calls, 512, 30 * MS),
            routine("shmem_fence", Class::Order, calls, 0, 20 * MS),
            routine("shmem_long_p", Class::Put, calls, 8, 20 * MS),
            routine("shmem_long_wait_until", Class::Wait, calls, 0, 700 * MS),
        ],
        0.25,
    );
    for pe in &mut all.pes {
        let to = |step: u32, bytes: u64| Peer {
            pe: Some((pe.pe + step) % 4),
            put: Traffic { calls, bytes: calls * bytes },
            ..Peer::default()
        };
        pe.tables.peers = vec![to(1, 512), to(flag_to, 8)];
        if flag_to == 1 {
            let put = Traffic { calls: 2 * calls, bytes: 520 * calls };
            pe.tables.peers = vec![Peer { put, ..to(1, 0) }];
        }
        let place = CodePlace { routine: "shmem_long_p".into(), ..CodePlace::default() };
        let by = Releaser { pe: (pe.pe + 3) % 4, place, work_ns, own_ns: work_ns, ..Releaser::default() };
        let routine = "shmem_long_wait_until".into();
        pe.tables.causes = vec![Cause { routine, waits: calls, ns: 700 * MS, by: Some(by), ..Cause::default() }];
    }
    all
}

/// What it gains is no more than what flags and fences take, once where they are made and once where they are waited
/// for, and nothing of what is waited for work.
#[test]
fn flags_gain_no_work_and_go_where_the_data_goes() {
    let share = |profile: &Profile| {
        let found = findings(profile);
        found.iter().find(|(name, _)| *name == "put-then-flag").map(|(_, finding)| finding.share)
    };
    assert!((share(&flagged(1, 0)).unwrap() - 0.08).abs() < 1e-9, "{:?}", findings(&flagged(1, 0)));
    assert!((share(&flagged(1, 700 * MS)).unwrap() - 0.04).abs() < 1e-9, "{:?}", findings(&flagged(1, 700 * MS)));
    assert_eq!(share(&flagged(2, 0)), None);
}

/// Programs that make gets only send no requests.
#[test]
fn nothing_is_said_of_puts_in_messages_where_there_are_none() {
    let get = profile(&[routine("shmem_long_get", Class::Get, 8000, 32, 150 * MS)], 0.25);
    let found = findings(&on_network(get, &[("reads", 8000), ("bytes_in", 256_000)]));
    let small = found.iter().find(|(name, _)| *name == "network-small").unwrap_or_else(|| panic!("{found:?}"));
    assert!(!small.1.evidence.contains("puts and atomics in a message"), "{small:?}");
}
