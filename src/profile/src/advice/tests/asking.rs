//! Waiting by asking, and what one PE that has something else to do leaves to be saved.

use super::*;
use crate::tables::{LastPhase, Lock, Phase};

/// Four PEs of one second, of which all but the first call this routine for so long.
fn but_one(name: &str, class: Class, calls: u64, ns: u64) -> Profile {
    let mut all = profile(&[], 0.25);
    for pe in &mut all.pes[1..] {
        pe.routines = vec![routine(name, class, calls, 8, ns)];
        let object = (1, 64);
        let line = HotLine { peer: 0, object, routine: name.into(), calls, ns };
        pe.tables.lines = vec![line];
        let traffic = Traffic { calls, bytes: 8 * calls };
        pe.tables.peers = vec![Peer { pe: Some(0), get: traffic, ..Peer::default() }];
    }
    all
}

/// While one PE has something else to do all the time, it is that one's work that is waited for, however the others do
/// so.
#[test]
fn who_works_while_others_ask_is_the_one() {
    for (name, class) in [
        ("shmem_long_atomic_fetch", Class::Amo),
        ("shmem_long_g", Class::Get),
        ("shmem_long_get", Class::Get),
        ("shmem_test_lock", Class::Lock),
    ] {
        let asked = but_one(name, class, 1_000_000, 800 * MS);
        let found = findings(&asked);
        assert_eq!(names(&asked), ["serial-pe"], "{name}: {found:?}");
        assert!(found[0].1.what.starts_with("PE 0 works alone for 800 ms"), "{found:?}");
        // Where that one asks as well, it can be saved.
        let mut all = asked.clone();
        all.pes[0].routines = all.pes[1].routines.clone();
        let found = findings(&all);
        assert_eq!(names(&all), ["polling"], "{name}: {found:?}");
        assert!(found[0].1.evidence.contains(", most of memory of PE 0"), "{name}: {found:?}");
    }
}

/// Gets of more than an element are no flag.
#[test]
fn gets_of_blocks_do_not_ask() {
    let mut blocks = but_one("shmem_getmem", Class::Get, 100_000, 400 * MS);
    blocks.pes.iter_mut().flat_map(|pe| &mut pe.routines).for_each(|r| r.bytes[2] = 200 * r.calls[2]);
    assert!(!names(&blocks).contains(&"polling"), "{:?}", findings(&blocks));
}

/// Fetches of data, as of a table, are no flag: where samples know words at all, none of them has many calls. Flags of
/// some neighbours are few words.
#[test]
fn fetches_of_many_words_do_not_ask() {
    let name = "shmem_long_atomic_fetch";
    let fetch = routine(name, Class::Amo, 1_000_000, 8, 400 * MS);
    let old = profile(std::slice::from_ref(&fetch), 0.25);
    assert_eq!(names(&old), ["polling"], "earlier versions know no words: {:?}", findings(&old));
    let mut table = old.clone();
    let rate = Rate { routine: name.into(), class: 4, distance: 2, calls: 1_000_000, ns: 400 * MS, ..Rate::default() };
    table.pes.iter_mut().for_each(|pe| pe.tables.rates = vec![rate.clone()]);
    let found = findings(&table);
    assert_eq!(names(&table), ["small-gets"], "{found:?}");
    assert_eq!(found[0].1.what, "1000000 atomic fetches a PE, one after another");
    assert_eq!(Merged::from(&table).pes[0].asks, 0);
    let mut flags = table.clone();
    for pe in &mut flags.pes {
        let line = |peer| HotLine { peer, object: (1, 64), routine: name.into(), calls: 240_000, ns: 90 * MS };
        pe.tables.lines = (0..4).map(line).collect();
    }
    assert_eq!(names(&flags), ["polling"], "{:?}", findings(&flags));
    assert_eq!(Merged::from(&flags).pes[0].asks, 1_000_000);
}

/// Gets that return before they are complete are under way together, whoever completes them.
#[test]
fn gets_with_requests_do_not_come_one_after_another() {
    let of = |name: &str| names(&profile(&[routine(name, Class::Get, 100_000, 8, 150 * MS)], 0.25));
    assert_eq!(of("shmem_long_get"), ["small-gets"]);
    for name in ["shmem_long_get_nbi", "shmemx_long_get_nb"] {
        assert!(!of(name).contains(&"small-gets"), "{name}");
    }
}

/// A lock that somebody made of swaps: it is set back far less often than it is tried.
#[test]
fn a_lock_of_swaps_is_polled() {
    let name = "shmem_long_atomic_swap";
    let swap = routine(name, Class::Amo, 1_000_000, 8, 200 * MS);
    let set = |calls| routine("shmem_long_atomic_set", Class::Amo, calls, 8, MS);
    let of = |sets| of_one_word(&[swap.clone(), set(sets)], name);
    assert_eq!(names(&of(1000)), ["polling"], "{:?}", findings(&of(1000)));
    assert!(!names(&of(900_000)).contains(&"polling"));
}

/// Locks that one PE hardly waits for cost no more than what that one leaves; who holds them is named.
#[test]
fn locks_cost_what_the_busiest_pe_leaves() {
    let mut one = but_one("shmem_set_lock", Class::Lock, 900, 600 * MS);
    assert!(!names(&one).contains(&"locks"), "{:?}", findings(&one));
    one.pes[0].routines = vec![routine("shmem_set_lock", Class::Lock, 900, 0, 300 * MS)];
    for pe in &mut one.pes {
        let held_ns = if pe.pe == 2 { 300 * MS } else { 10 * MS };
        pe.tables.locks = vec![Lock { object: Some((1, 64)), taken: 900, held_ns, ..Lock::default() }];
    }
    let found = findings(&one);
    let (_, locks) = found.iter().find(|(name, _)| *name == "locks").expect("locks");
    assert!((locks.share - 0.3).abs() < 1e-9, "{locks:?}");
    assert!(locks.evidence.contains("; PE 2 holds them for 300 ms of 330 ms"), "{locks:?}");
}

/// First PE 0 works while the others ask whether it is through, then PE 2 while they wait at a barrier: neither has
/// much more to do than the other.
fn alone_in_a_phase() -> Profile {
    let mut phases = profile(&[], 0.25);
    let op = op("shmem_barrier_all").unwrap();
    for pe in &mut phases.pes {
        let (first, second) = (pe.pe == 0, pe.pe == 2);
        let asks = if first { 0 } else { 480 * MS };
        let barrier = if second { 0 } else { 480 * MS };
        pe.routines = vec![
            routine("shmem_long_atomic_fetch", Class::Amo, if first { 0 } else { 1_000_000 }, 8, asks),
            routine("shmem_barrier_all", Class::Barrier, 2, 0, barrier),
        ];
        pe.tables.teams = vec![Team { stride: 1, size: 4, calls: 2, ..Team::default() }];
        pe.tables.sync_every = 1;
        let sync = |number: u64, arrived_ns: u64, library_ns: u64| {
            let from = (number > 0).then_some((number, op));
            let phase = Phase { from, begin_ns: 1 + number * 500 * MS, library_ns, waits_ns: 0 };
            let (address, left_ns) = (number + 1, (number + 1) * 500 * MS);
            Sync { op, address, number, arrived_ns, left_ns, phase, ..Sync::default() }
        };
        let late = if second { 1000 * MS } else { 520 * MS };
        pe.tables.syncs = vec![sync(0, 500 * MS, asks), sync(1, late, 0)];
        let phase = Phase { from: Some((2, op)), begin_ns: 1000 * MS, ..Phase::default() };
        pe.tables.last_phases = vec![LastPhase { phase, end_ns: 1000 * MS }];
    }
    phases
}

#[test]
fn who_works_alone_in_a_phase_is_named() {
    let phases = alone_in_a_phase();
    let found = findings(&phases);
    let (_, serial) = found.iter().find(|(name, _)| *name == "serial-pe").expect("serial-pe");
    assert!(serial.what.starts_with("PE 0 works alone for 480 ms between the start and "), "{serial:?}");
    assert!(!names(&phases).contains(&"polling"), "{found:?}");
}

/// Where the compiler has made several places of a line, PEs that call from any of them go the same way.
#[test]
fn places_of_one_line_are_one() {
    let said = |profile: &Profile| {
        let found = super::super::findings(&Merged::from(profile), &LinesOf64);
        let serial = found.iter().find(|(name, _)| *name == "serial-pe");
        serial.unwrap_or_else(|| panic!("no serial-pe: {found:?}")).1.what.clone()
    };
    let mut doubled = alone_in_a_phase();
    doubled.pes.iter_mut().for_each(in_a_file);
    assert_eq!(
        said(&doubled),
        "PE 0 works alone for 480 ms between the start and ph.c:0 while others ask whether it is through"
    );
    let once = said(&doubled);
    let tables = &mut doubled.pes[3].tables;
    let froms = tables
        .syncs
        .iter_mut()
        .map(|sync| &mut sync.phase)
        .chain(tables.last_phases.iter_mut().map(|last| &mut last.phase));
    froms.filter_map(|phase| phase.from.as_mut()).for_each(|from| from.0 += 64);
    tables.syncs.iter_mut().for_each(|sync| sync.address += 64);
    assert_eq!(said(&doubled), once);
}

/// Four PEs of one second, of which all but the first call a test so often and sleep between two of these; the first
/// computes for so long and sets their flags.
fn asleep(tests: u64, works: u64) -> Profile {
    let mut all = profile(&[], 0.25);
    for pe in &mut all.pes {
        let is_first = pe.pe == 0;
        pe.routines = match is_first {
            true => vec![routine("shmem_long_p", Class::Put, 180, 8, MS)],
            false => vec![routine("shmem_long_test", Class::Test, tests, 0, 5 * MS)],
        };
        (pe.host, pe.tables.system.cores) = ("vm".into(), 8);
        let on_core = if is_first { works } else { 30 * MS };
        (pe.tables.system.usage.user_ns, pe.tables.system.queued_ns) = (on_core, Some(0));
    }
    all
}

/// Who sleeps between two tests waits as who spins does, whether the one that works is the reason or not.
#[test]
fn who_sleeps_between_two_tests_waits() {
    let one_works = asleep(3000, 1000 * MS);
    let found = findings(&one_works);
    assert_eq!(names(&one_works), ["serial-pe"], "{found:?}");
    assert!(found[0].1.what.starts_with("PE 0 works alone for 974 ms while others wait"), "{found:?}");
    assert!(found[0].1.evidence.contains("who wait 2.92 s together, 2.91 s of it asleep between tests"), "{found:?}");
    // All sleep.
    let mut all = asleep(3000, 1000 * MS);
    let (tests, system) = (all.pes[1].routines.clone(), all.pes[1].tables.system);
    (all.pes[0].routines, all.pes[0].tables.system) = (tests, system);
    let found = findings(&all);
    assert_eq!(names(&all), ["polling"], "{found:?}");
    assert_eq!(found[0].1.what, "waiting by asking: 12000 tests, fetches and the like");
    assert!(found[0].1.evidence.starts_with("20.0 ms in them, 3.88 s asleep between them"), "{found:?}");
    assert!(found[0].1.try_this.contains("a PE that sleeps comes back later"), "{found:?}");
    // Tests most of which succeed, and a few of them: what it sleeps for is something else.
    all.pes[0].routines = vec![routine("shmem_long_p", Class::Put, 9000, 8, MS)];
    assert!(!names(&all).contains(&"polling"), "{:?}", findings(&all));
    assert!(!names(&asleep(20, 1000 * MS)).contains(&"serial-pe"));
    // One sleep each time, and a barrier, are enough.
    let mut few = asleep(120, 1000 * MS);
    few.pes.iter_mut().for_each(|pe| pe.routines.push(routine("shmem_barrier_all", Class::Barrier, 60, 0, MS)));
    few.pes[0].routines[0].calls[2] = 180;
    assert_eq!(names(&few), ["serial-pe"], "{:?}", findings(&few));
}

/// The factors know calls only.
#[test]
fn the_view_of_factors_says_that_who_sleeps_between_tests_waits() {
    let view = crate::report::VIEWS.iter().find(|view| view.name == "efficiency").unwrap();
    let options = crate::report::Options { view, ..crate::report::Options::default() };
    let text = |profile: &Profile| crate::report::text(&Merged::from(profile), &options, &NoSymbols).replace('\n', " ");
    let said = text(&asleep(3000, 1000 * MS));
    assert!(said.contains("PEs slept for 2.91 s between tests, outside of the library"), "{said}");
    assert!(!text(&asleep(20, 1000 * MS)).contains("PEs slept"));
}

/// A loop that computes and looks at the best that others have found waits for nothing.
#[test]
fn who_computes_between_two_looks_may_only_look() {
    let said = |ns| findings(&of_one_word(&[routine("shmem_long_g", Class::Get, 1_000_000, 8, ns)], "shmem_long_g"));
    let looks = said(200 * MS);
    assert_eq!(looks[0].0, "polling");
    assert!(looks[0].1.what.starts_with("asking again and again"), "{looks:?}");
    assert!(looks[0].1.try_this.contains("a copy in the memory of each"), "{looks:?}");
    let waits = said(800 * MS);
    assert!(waits[0].1.what.starts_with("waiting by asking"), "{waits:?}");
    // A test looks into the PE's own memory.
    let tests = findings(&profile(&[routine("shmem_long_test", Class::Test, 1_000_000, 0, 200 * MS)], 0.25));
    assert!(tests[0].1.what.starts_with("waiting by asking"), "{tests:?}");
}

/// Of two PEs, too.
#[test]
fn who_holds_a_lock_of_two_is_named() {
    let said = |held: [u64; 2]| {
        let mut two = profile(&[routine("shmem_set_lock", Class::Lock, 900, 0, 400 * MS)], 0.25);
        two.pes.truncate(2);
        for (pe, held_ns) in two.pes.iter_mut().zip(held) {
            pe.tables.locks =
                vec![Lock { object: Some((1, 64)), taken: 900, held_ns: held_ns * MS, ..Lock::default() }];
        }
        findings(&two).into_iter().find(|(name, _)| *name == "locks").expect("locks").1.evidence
    };
    assert!(said([10, 200]).contains("; PE 1 holds them for 200 ms of 210 ms"), "{}", said([10, 200]));
    assert!(!said([100, 110]).contains("holds them"), "{}", said([100, 110]));
}
