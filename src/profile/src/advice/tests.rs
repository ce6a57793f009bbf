//! Each rule fires on what it is for, and none on a clean program. `cores`: the rules that have to know whether a PE
//! had one.

mod algorithm;
mod asking;
mod beside;
mod cores;
mod late;
mod never_returned;
mod outside;
mod puts;
mod scattered;

use crate::calibration::AlgorithmTimes;
use crate::merge::Merged;
use crate::model::{Job, Pe, Profile, Progress, Routine, SizeCount};
use crate::op::{Class, find as op};
use crate::report::{Frame, NoSymbols, Symbols};
use crate::size::size_class;
use crate::tables::{Cause, CodePlace, HotLine, Module, PeTables, Peer, Rate, Releaser, Site, Sync, Team, Traffic};

use super::{Finding, RULES};

const MS: u64 = 1_000_000;

fn routine(name: &str, class: Class, calls: u64, bytes: u64, total_ns: u64) -> Routine {
    let mut r = Routine::new(name, class);
    (r.calls[2], r.bytes[2], r.timed_calls, r.total_ns) = (calls, calls * bytes, calls, total_ns);
    r.add_size(SizeCount { class: size_class(bytes as usize) as u8, distance: 2, calls, bytes: calls * bytes });
    r
}

/// Four PEs of one second with these routines; `share` of their puts go to the next PE.
fn profile(routines: &[Routine], share: f64) -> Profile {
    let puts: u64 = routines.iter().filter(|r| r.class == Class::Put).map(Routine::all_calls).sum();
    let pe = |pe: u32| {
        let to = |to: u32, part: f64| {
            let calls = (puts as f64 * part) as u64;
            Peer { pe: Some(to), put: Traffic { calls, bytes: 8 * calls }, ..Peer::default() }
        };
        let rest = (1.0 - share) / 3.0;
        let peers = (0..4).map(|other| to(other, if other == (pe + 1) % 4 { share } else { rest })).collect();
        Pe {
            pe,
            progress: Progress::Finalized,
            end_ns: 1000 * MS,
            routines: routines.to_vec(),
            tables: PeTables { peers, ..PeTables::default() },
            ..Pe::default()
        }
    };
    Profile { job: Job { npes: 4, ..Job::default() }, pes: (0..4).map(pe).collect() }
}

/// Adds barriers to which `late` comes 60 ms later than the others, or a different PE each time.
fn with_barriers(mut profile: Profile, late: Option<u32>) -> Profile {
    for pe in &mut profile.pes {
        pe.tables.teams = vec![Team { stride: 1, size: 4, calls: 10, ..Team::default() }];
        pe.tables.sync_every = 1;
        pe.tables.syncs = (0..10_u64)
            .map(|number| {
                let is_late = late.unwrap_or((number % 4) as u32) == pe.pe;
                let arrived_ns = number * 90 * MS + if is_late { 60 * MS } else { 0 };
                Sync { op: op("shmem_barrier_all").unwrap(), number, arrived_ns, ..Sync::default() }
            })
            .collect();
    }
    profile
}

fn findings(profile: &Profile) -> Vec<(&'static str, Finding)> {
    let mut merged: Merged = profile.into();
    merged.calibrations.add_algorithms(AlgorithmTimes::new(vec!["timed".into()], 4, algorithm::algorithms()));
    super::findings(&merged, &NoSymbols)
}

/// Lines of a file, each of which the compiler has made several calls of, 64 bytes apart.
struct LinesOf64;

impl Symbols for LinesOf64 {
    fn frames(&self, _: &str, address: u64) -> Vec<Frame> {
        vec![Frame { function: "main".into(), file: "ph.c".into(), line: (address % 64) as u32 }]
    }
}

/// Gives addresses of a PE a file.
fn in_a_file(pe: &mut Pe) {
    pe.tables.modules = vec![Module { start: 0, end: 1000, path: "/bin/ph".into(), ..Module::default() }];
}

fn names(profile: &Profile) -> Vec<&'static str> {
    findings(profile).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn the_page_has_every_rule() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/advice.md")).unwrap();
    let listed: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(listed, super::RULES.iter().map(|rule| rule.name).collect::<Vec<_>>());
}

#[test]
fn each_rule_fires_on_what_it_is_for() {
    let p = |calls| routine("shmem_long_p", Class::Put, calls, 8, 100 * MS);
    let cases = [
        ("small-puts", profile(&[p(100_000)], 0.9)),
        ("quiet-often", profile(&[p(50_000), routine("shmem_quiet", Class::Order, 50_000, 0, 30 * MS)], 0.25)),
        ("barrier-late", with_barriers(profile(&[], 0.25), Some(2))),
        (
            "get-and-wait",
            profile(
                &[
                    routine("shmem_getmem", Class::Get, 1000, 4096, 50 * MS),
                    routine("shmem_long_wait_until", Class::Wait, 1000, 0, 90 * MS),
                ],
                0.25,
            ),
        ),
        ("polling", profile(&[routine("shmem_long_test", Class::Test, 5_000_000, 0, 300 * MS)], 0.25)),
        ("heap", profile(&[routine("shmem_malloc", Class::Memory, 500, 0, 200 * MS)], 0.25)),
        ("contexts-and-teams", beside::contexts(200 * MS)),
        ("serial-pe", uneven(900 * MS, 100 * MS)),
        (
            "barriers-per-byte",
            profile(&[routine("shmem_barrier_all", Class::Barrier, 5000, 0, 300 * MS), p(5000)], 0.25),
        ),
        ("oversubscribed", {
            let mut crowd = profile(&[routine("shmem_long_wait_until", Class::Wait, 400, 0, 300 * MS)], 0.25);
            crowd.pes.iter_mut().for_each(|pe| (pe.host, pe.tables.system.cores) = ("vm".into(), 2));
            crowd
        }),
        ("queries", profile(&[routine("shmem_my_pe", Class::Query, 9_000_000, 0, 50 * MS)], 0.25)),
        (
            "put-then-flag",
            profile(
                &[
                    routine("shmem_putmem", Class::Put, 4000, 512, 30 * MS),
                    routine("shmem_fence", Class::Order, 4000, 0, 40 * MS),
                    p(4000),
                    routine("shmem_long_wait_until", Class::Wait, 4000, 0, 10 * MS),
                ],
                0.25,
            ),
        ),
        ("small-gets", profile(&[routine("shmem_long_g", Class::Get, 100_000, 8, 150 * MS)], 0.25)),
        ("own-memory", of_own_memory(routine("shmem_long_g", Class::Get, 100_000, 8, 150 * MS))),
        ("strided", profile(&[routine("shmem_long_iput", Class::Put, 9000, 512, 90 * MS)], 0.25)),
        ("contended-atomics", one_counter(1_000_000, 180 * MS)),
        (
            "compare-and-swap",
            profile(
                &[
                    routine("shmem_long_g", Class::Get, 120_000, 8, 90 * MS),
                    routine("shmem_long_atomic_compare_swap", Class::Amo, 120_000, 8, 90 * MS),
                ],
                0.25,
            ),
        ),
        ("locks", profile(&[routine("shmem_set_lock", Class::Lock, 900, 0, 400 * MS)], 0.25)),
        ("hot-pe", {
            let mut all = profile(&[routine("shmem_putmem", Class::Put, 9000, 4096, 190 * MS)], 0.25);
            let traffic = Traffic { calls: 9000, bytes: 9000 * 4096 };
            all.pes.iter_mut().for_each(|pe| {
                pe.tables.peers = vec![Peer { pe: Some(u32::from(pe.pe == 0)), put: traffic, ..Peer::default() }];
            });
            all.pes[0].tables.peers[0].put = Traffic { calls: 9, bytes: 72 };
            all
        }),
        ("heap-full", {
            let mut full = profile(&[], 0.25);
            (full.pes[2].tables.system.memory[1], full.pes[2].tables.system.heap_most) = (1000, 950);
            full
        }),
        ("waits-for", late_flags()),
        ("larger-team", {
            let barrier = routine("shmem_barrier_all", Class::Barrier, 500, 0, 150 * MS);
            in_pairs(profile(&[barrier, routine("shmem_putmem", Class::Put, 500, 4096, 20 * MS)], 0.25), |pe| pe ^ 1)
        }),
        ("placement", {
            let put = routine("shmem_putmem", Class::Put, 900, 1 << 16, 190 * MS);
            let mut apart = in_pairs(profile(&[put], 0.25), |pe| pe ^ 2);
            for pe in &mut apart.pes {
                pe.host = if pe.pe < 2 { "a".into() } else { "b".into() };
                let put = &mut pe.routines[0];
                (put.calls[3], put.bytes[3]) = (put.calls[2], put.bytes[2]);
                (put.calls[2], put.bytes[2]) = (0, 0);
            }
            apart
        }),
        ("network-small", {
            let put = routine("shmem_long_put", Class::Put, 8000, 32, 150 * MS);
            on_network(profile(&[put], 0.25), &[("requests", 8000), ("request_entries", 8100), ("bytes_out", 512_000)])
        }),
        ("network-full", {
            let put = routine("shmem_putmem", Class::Put, 9000, 1 << 16, 150 * MS);
            on_network(profile(&[put], 0.25), &[("writes", 9000), ("retries", 4000), ("bytes_out", 590_000_000)])
        }),
        ("first-touch", {
            let mut first = profile(&[routine("shmem_putmem", Class::Put, 64, 1 << 22, 180 * MS)], 0.25);
            let rate = Rate {
                routine: "shmem_putmem".into(),
                class: 23,
                distance: 2,
                calls: 64,
                ns: 180 * MS,
                looks: 32,
                faults: 32 * 4096,
                ..Rate::default()
            };
            first.pes.iter_mut().for_each(|pe| pe.tables.rates = vec![rate.clone()]);
            first
        }),
        ("algorithm", algorithm::reductions(1 << 20, "reduce:slow")),
        ("start-and-end", {
            let mut late = profile(&[], 0.25);
            late.pes.iter_mut().for_each(|pe| pe.finalize_ns = if pe.pe == 1 { 1000 * MS } else { 500 * MS });
            late
        }),
        ("slow-host", with_remote_puts(&[("a", 200), ("b", 210), ("c", 190), ("d", 400)])),
        ("serialized", late::ring(250 * MS, 250 * MS)),
        ("uneven-work", late::halves(800 * MS, 200 * MS)),
        ("uneven-steps", late::steps(20 * MS)),
    ];
    assert_eq!(cases.len(), RULES.len(), "a rule without a test");
    for (name, profile) in cases {
        let found = findings(&profile);
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [name]);
        assert!(found[0].1.share > 0.0 && !found[0].1.evidence.is_empty());
    }
}

/// Calls that are all of the PE's own memory.
fn of_own_memory(mut r: Routine) -> Profile {
    r.calls.swap(1, 2);
    r.bytes.swap(1, 2);
    profile(&[r], 0.25)
}

/// Puts as well; but not where a tenth of them go elsewhere, nor where there is one PE.
#[test]
fn a_pe_reads_and_writes_its_own_memory_itself() {
    let put = || routine("shmem_long_p", Class::Put, 100_000, 8, 150 * MS);
    let is_told = |profile: &Profile| names(profile).contains(&"own-memory");
    assert!(is_told(&of_own_memory(put())));
    let mut mixed = of_own_memory(put());
    mixed.pes.iter_mut().for_each(|pe| pe.routines[0].calls[2] = 20_000);
    let mut alone = of_own_memory(put());
    alone.pes.truncate(1);
    assert!(!is_told(&mixed) && !is_told(&alone) && !is_told(&profile(&[put()], 0.25)));
}

/// Atomics of four PEs of one second, so many a PE, to PE 0.
fn one_counter(calls: u64, ns: u64) -> Profile {
    let mut all = profile(&[routine("shmem_long_atomic_inc", Class::Amo, calls, 8, ns)], 0.25);
    let peers = vec![Peer { pe: Some(0), amo: Traffic { calls, bytes: 8 * calls }, ..Peer::default() }];
    all.pes.iter_mut().for_each(|pe| pe.tables.peers = peers.clone());
    all
}

/// What takes as long as on a line of its own is contended nowhere; a bit more is where PEs do little else.
#[test]
fn atomics_are_contended_by_what_they_take_and_how_many_they_are() {
    let is_told = |calls, ns| names(&one_counter(calls, ns)).contains(&"contended-atomics");
    assert!(is_told(10_000_000, 130 * MS) && !is_told(10_000_000, 110 * MS));
    assert!(is_told(80_000_000, 700 * MS) && !is_told(100_000_000, 700 * MS));
}

/// PEs that put to one other each.
fn in_pairs(mut profile: Profile, partner: fn(u32) -> u32) -> Profile {
    for pe in &mut profile.pes {
        let put = Traffic { calls: 500, bytes: 500 << 16 };
        pe.tables.peers = vec![Peer { pe: Some(partner(pe.pe)), put, ..Peer::default() }];
    }
    profile
}

fn on_network(mut profile: Profile, numbers: &[(&str, u64)]) -> Profile {
    let numbers: Vec<(String, u64)> = numbers.iter().map(|(name, value)| ((*name).into(), *value)).collect();
    profile.pes.iter_mut().for_each(|pe| pe.tables.network = numbers.clone());
    profile
}

/// PEs 1 to 3 wait 300 ms each for PE 0, which works.
fn late_flags() -> Profile {
    let mut profile = profile(&[], 0.25);
    let place = |routine: &str| CodePlace { routine: routine.into(), ..CodePlace::default() };
    for pe in &mut profile.pes[1..] {
        pe.routines = vec![routine("shmem_long_wait_until", Class::Wait, 40, 0, 300 * MS)];
        let by = Releaser {
            pe: 0,
            place: place("shmem_long_p"),
            region: String::new(),
            from: None,
            worked_in: String::new(),
            work_ns: 298 * MS,
            library_ns: MS,
            own_ns: 299 * MS,
        };
        let routine = "shmem_long_wait_until".into();
        pe.tables.causes = vec![Cause { routine, waits: 40, ns: 300 * MS, by: Some(by), ..Cause::default() }];
    }
    // Then it is not the work that tells.
    profile.pes[0].routines = vec![routine("shmem_long_p", Class::Put, 120, 8, MS)];
    profile
}

/// Four PEs of one second of which the first works so long, and each other one so long and then waits.
fn uneven(first: u64, others: u64) -> Profile {
    let mut profile = profile(&[], 0.25);
    for pe in &mut profile.pes {
        let wait = 1000 * MS - if pe.pe == 0 { first } else { others };
        pe.routines = vec![routine("shmem_barrier_all", Class::Barrier, 10, 0, wait)];
    }
    profile
}

/// Through pointers data goes between any PEs of a host, and is counted nowhere.
#[test]
fn nothing_is_said_of_who_exchanges_what_where_pes_have_pointers() {
    let barrier = routine("shmem_barrier_all", Class::Barrier, 5000, 0, 300 * MS);
    let put = |bytes, ns| routine("shmem_putmem", Class::Put, 900, bytes, ns);
    let mut apart = in_pairs(profile(&[put(1 << 16, 190 * MS)], 0.25), |pe| pe ^ 2);
    for pe in &mut apart.pes {
        pe.host = if pe.pe < 2 { "a".into() } else { "b".into() };
        pe.routines[0].bytes.swap(2, 3);
    }
    for (rule, clean) in [
        ("larger-team", in_pairs(profile(&[barrier.clone(), put(8, MS)], 0.25), |pe| pe ^ 1)),
        ("barriers-per-byte", profile(&[barrier, put(8, MS)], 0.25)),
        ("placement", apart),
    ] {
        for name in ["shmem_ptr", "shmem_team_ptr"] {
            let mut pointed = clean.clone();
            assert!(names(&pointed).contains(&rule), "{rule}");
            pointed.pes[1].routines.push(routine(name, Class::Query, 3, 0, 1000));
            let found = names(&pointed);
            assert!(
                !found.iter().any(|name| ["larger-team", "barriers-per-byte", "placement"].contains(name)),
                "{found:?}"
            );
        }
    }
}

/// A meeting of fewer PEs saves nothing while one of them has all the time something to do.
#[test]
fn no_smaller_team_is_faster_than_its_busiest_pe() {
    let barrier = |ns| routine("shmem_barrier_all", Class::Barrier, 500, 0, ns);
    let mut pairs = in_pairs(profile(&[routine("shmem_putmem", Class::Put, 500, 4096, 20 * MS)], 0.25), |pe| pe ^ 1);
    pairs.pes.iter_mut().for_each(|pe| pe.routines.push(barrier(if pe.pe == 3 { 5 * MS } else { 600 * MS })));
    assert!(!names(&pairs).contains(&"larger-team"), "{:?}", findings(&pairs));
}

/// On one host a put has copied all when it returns, and a quiet has nothing to wait for. Over a network it waits for
/// what was put, which takes as long in a batch where it is large, and has none where somebody waits for each.
#[test]
fn a_quiet_after_a_put_is_one_too_many_where_small_ones_could_share_it() {
    let quiet = routine("shmem_quiet", Class::Order, 5000, 0, MS);
    let of = |bytes| profile(&[routine("shmem_putmem", Class::Put, 5000, bytes, 600 * MS), quiet.clone()], 0.25);
    let far = |profile| names(&on_network(profile, &[("writes", 5000)])).contains(&"quiet-often");
    assert!(!names(&of(512)).contains(&"quiet-often"), "{:?}", findings(&of(512)));
    assert!(far(of(512)));
    assert!(!far(of(1 << 18)));
    let mut met = of(512);
    let barrier = routine("shmem_barrier_all", Class::Barrier, 5000, 0, 100 * MS);
    met.pes.iter_mut().for_each(|pe| pe.routines.push(barrier.clone()));
    assert!(!far(met));
}

/// Calls of a routine that all go to one word of PE 0, in each PE but that.
fn of_one_word(routines: &[Routine], which: &str) -> Profile {
    let mut all = profile(routines, 0.25);
    for pe in &mut all.pes[1..] {
        let line = HotLine { peer: 0, object: (1, 64), routine: which.into(), calls: 1_000_000, ns: 200 * MS };
        pe.tables.lines = vec![line];
        let traffic = Traffic { calls: 1_000_000, bytes: 8_000_000 };
        pe.tables.peers = vec![Peer { pe: Some(0), get: traffic, amo: traffic, ..Peer::default() }];
    }
    all
}

/// A loop that gets one word, or tries to swap it, waits for somebody else to change it.
#[test]
fn asking_by_gets_or_swaps_is_polling() {
    let get = routine("shmem_long_g", Class::Get, 1_000_000, 8, 200 * MS);
    assert_eq!(names(&of_one_word(std::slice::from_ref(&get), "shmem_long_g")), ["polling"]);
    // Of many words it is not, nor where it is stored to as often.
    assert!(!names(&profile(std::slice::from_ref(&get), 0.25)).contains(&"polling"));
    let mut stored = of_one_word(&[get], "shmem_long_g");
    for pe in &mut stored.pes[1..] {
        let store = HotLine { routine: "shmem_long_p".into(), ..pe.tables.lines[0].clone() };
        pe.tables.lines.push(store);
    }
    assert!(!names(&stored).contains(&"polling"), "{:?}", findings(&stored));
    let swap = routine("shmem_long_atomic_compare_swap", Class::Amo, 1_000_000, 8, 200 * MS);
    let set = |calls| routine("shmem_long_atomic_set", Class::Amo, calls, 8, MS);
    let of_swaps = |sets| names(&of_one_word(&[swap.clone(), set(sets)], "shmem_long_atomic_compare_swap"));
    assert_eq!(of_swaps(1000), ["polling"]);
    assert!(!of_swaps(900_000).contains(&"polling"));
}

/// PEs on these hosts, each with 200 puts to others that take so many milliseconds together.
fn with_remote_puts(hosts: &[(&str, u64)]) -> Profile {
    let mut all = profile(&[routine("shmem_putmem", Class::Put, 200, 1 << 14, 0)], 0.25);
    for (pe, (host, ms)) in all.pes.iter_mut().zip(hosts) {
        (pe.host, pe.routines[0].total_ns) = ((*host).into(), ms * MS);
        let (class, routine) = (size_class(1 << 14) as u8, "shmem_putmem".to_owned());
        pe.tables.rates = vec![Rate { routine, class, distance: 3, calls: 200, ns: ms * MS, ..Rate::default() }];
    }
    all
}

/// It is one host, where the others are alike, and its cores are not taken.
#[test]
fn a_slow_host_is_named_where_others_can_be_told_from_it() {
    let is_named = |profile: &Profile| names(profile).contains(&"slow-host");
    let slow = with_remote_puts(&[("a", 200), ("b", 210), ("c", 190), ("d", 400)]);
    assert!(findings(&slow)[0].1.what.starts_with("transfers of PEs on d to other hosts take 1.9 times as long"));
    assert!(!is_named(&with_remote_puts(&[("a", 200), ("a", 210), ("d", 390), ("d", 400)])));
    assert!(!is_named(&with_remote_puts(&[("a", 200), ("b", 210), ("c", 390), ("d", 400)])));
    let mut starved = slow.clone();
    starved.pes.iter_mut().for_each(|pe| pe.tables.system.queued_ns = Some(if pe.pe == 3 { 140 * MS } else { 0 }));
    assert!(!is_named(&starved));
}

/// What came of samples that claimed more than had passed is no more than a bound.
#[test]
fn times_that_are_bounds_are_said_to_be() {
    let mut put = routine("shmem_long_p", Class::Put, 100_000, 8, 100 * MS);
    let of = |put: &Routine| findings(&profile(std::slice::from_ref(put), 0.9)).remove(0).1.evidence;
    assert!(of(&put).contains("average, 400 ms in puts"), "{}", of(&put));
    put.denied_ns = 50 * MS;
    assert!(of(&put).contains("average, at most 400 ms in puts"), "{}", of(&put));
}

/// Few operations that are refused for long wait for a slow link, not for room.
#[test]
fn a_network_is_full_of_many_operations() {
    let put = |calls| profile(&[routine("shmem_putmem", Class::Put, calls, 1 << 16, 150 * MS)], 0.25);
    let over = |calls, refused| names(&on_network(put(calls), &[("writes", calls), ("retries", refused)]));
    assert!(!over(900, 900).contains(&"network-full"));
    assert!(!over(9000, 100).contains(&"network-full"));
    assert!(over(9000, 4000).contains(&"network-full"));
}

/// Barriers around little among PEs of groups are barriers of too many first.
#[test]
fn barriers_of_all_that_groups_need_are_found_once() {
    let barrier = routine("shmem_barrier_all", Class::Barrier, 5000, 0, 300 * MS);
    let pairs = in_pairs(profile(&[barrier, routine("shmem_long_p", Class::Put, 5000, 8, MS)], 0.25), |pe| pe ^ 1);
    assert_eq!(names(&pairs), ["larger-team"]);
}

/// Calls that do not wait are a share of the time with a core.
#[test]
fn short_calls_in_a_crowd_are_a_share_of_the_time_on_cores() {
    let mut crowd = profile(&[routine("shmem_long_p", Class::Put, 100_000, 8, 100 * MS)], 0.9);
    crowd.pes.iter_mut().for_each(|pe| (pe.host, pe.tables.system.cores) = ("vm".into(), 1));
    let found = findings(&crowd);
    assert_eq!(found[0].0, "small-puts");
    assert!((found[0].1.share - 0.4).abs() < 1e-9, "{:?}", found[0].1);
}

/// A PE is blamed for what it did while others waited, not for all that they waited.
#[test]
fn a_wait_that_is_explained_in_part_counts_in_part() {
    let mut part = late_flags();
    for pe in &mut part.pes[1..] {
        let by = pe.tables.causes[0].by.as_mut().unwrap();
        (by.work_ns, by.library_ns) = (20 * MS, 60 * MS);
    }
    assert!(!names(&part).contains(&"waits-for"), "{:?}", findings(&part));
}

/// A value and its flag, both stored by `p`; two flags and no data are waited for twice.
#[test]
fn data_of_one_element_is_sent_as_a_flag_is() {
    let of = |waits| {
        let stores = routine("shmem_long_p", Class::Put, 8000, 8, 60 * MS);
        let fences = routine("shmem_fence", Class::Order, 4000, 0, 40 * MS);
        let waits = routine("shmem_long_wait_until", Class::Wait, waits, 0, 10 * MS);
        names(&profile(&[stores, fences, waits], 0.25)).contains(&"put-then-flag")
    };
    assert!(of(4000) && !of(8000));
}

/// More than a fifth of the time is in the library: then there is something to say.
#[test]
fn never_nothing_where_the_library_takes_a_fifth() {
    for (name, class) in [
        ("shmem_barrier_all", Class::Barrier),
        ("shmem_long_sum_reduce", Class::Collective),
        ("shmem_long_wait_until", Class::Wait),
        ("shmem_putmem", Class::Put),
        ("shmem_long_atomic_inc", Class::Amo),
        ("shmem_team_sync", Class::Barrier),
        ("shmem_malloc", Class::Memory),
    ] {
        let much = profile(&[routine(name, class, 20, 1 << 20, 210 * MS)], 0.25);
        let found = findings(&much);
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["library-time"], "{name}");
        assert!(found[0].1.what.starts_with("21 %"), "{:?}", found[0]);
        assert!(names(&profile(&[routine(name, class, 20, 1 << 20, 190 * MS)], 0.25)).is_empty(), "{name}");
    }
    // Nor is it said where a rule explains the time, but where it explains none.
    let mut full = profile(&[routine("shmem_putmem", Class::Put, 20, 1 << 20, 500 * MS)], 0.25);
    (full.pes[2].tables.system.memory[1], full.pes[2].tables.system.heap_most) = (1000, 950);
    assert_eq!(names(&full), ["library-time", "heap-full"]);
}

#[test]
fn none_fires_where_there_is_nothing_to_gain() {
    let p = |calls, ns| routine("shmem_long_p", Class::Put, calls, 8, ns);
    for (what, profile) in [
        ("nothing", profile(&[], 0.25)),
        ("scattered puts", profile(&[p(10_000_000, 190 * MS)], 0.25)),
        ("even work", uneven(830 * MS, 820 * MS)),
        ("a core for each PE", {
            let mut roomy = profile(&[routine("shmem_long_wait_until", Class::Wait, 400, 0, 190 * MS)], 0.25);
            roomy.pes.iter_mut().for_each(|pe| (pe.host, pe.tables.system.cores) = ("vm".into(), 4));
            roomy
        }),
        ("large gets", profile(&[routine("shmem_getmem", Class::Get, 20_000, 1 << 16, 190 * MS)], 0.25)),
        (
            "a flag without a fence",
            profile(&[routine("shmem_putmem", Class::Put, 4000, 512, 30 * MS), p(4000, MS)], 0.25),
        ),
        ("few puts", profile(&[p(1000, 100 * MS)], 0.9)),
        ("cheap puts", profile(&[p(100_000, MS)], 0.9)),
        (
            "a quiet a batch",
            profile(&[p(100_000, 100 * MS), routine("shmem_quiet", Class::Order, 11_000, 0, MS)], 0.25),
        ),
        ("barriers that each waits for in turn", with_barriers(profile(&[], 0.25), None)),
        (
            "signals",
            profile(
                &[
                    routine("shmem_getmem", Class::Get, 1000, 4096, 50 * MS),
                    routine("shmem_signal_wait_until", Class::Wait, 1000, 0, 90 * MS),
                    routine("shmem_putmem_signal", Class::Signal, 1000, 4096, 10 * MS),
                ],
                0.25,
            ),
        ),
        ("one PE that collects", {
            let mut one = profile(&[routine("shmem_long_wait_until", Class::Wait, 400, 0, 20 * MS)], 0.25);
            one.pes[0].routines.push(routine("shmem_getmem", Class::Get, 800, 4096, 200 * MS));
            one
        }),
        ("some tests", profile(&[routine("shmem_long_test", Class::Test, 200_000, 0, 10 * MS)], 0.25)),
        ("a first call that touches a page", {
            let mut first = profile(&[routine("shmem_long_p", Class::Put, 2_000_000, 8, 190 * MS)], 0.25);
            let rate = Rate { routine: "shmem_long_p".into(), class: 4, distance: 2, ..Rate::default() };
            let rate = Rate { calls: 2_000_000, ns: 190 * MS, looks: 1, faults: 1, ..rate };
            first.pes.iter_mut().for_each(|pe| pe.tables.rates = vec![rate.clone()]);
            first
        }),
        ("a few allocations", profile(&[routine("shmem_malloc", Class::Memory, 10, 0, 190 * MS)], 0.25)),
    ] {
        assert_eq!(names(&profile), [""; 0], "{what}");
    }
}

#[test]
fn absurd_counts_of_a_damaged_profile_are_no_end() {
    let absurd = |name: &str| {
        let mut r = Routine::new(name, Class::Put);
        (r.calls, r.bytes, r.timed_calls, r.total_ns) = ([u64::MAX; 4], [u64::MAX; 4], u64::MAX, u64::MAX);
        r
    };
    let mut damaged = profile(&[], 0.25);
    for pe in &mut damaged.pes {
        pe.routines = vec![absurd("shmem_long_p"), absurd("shmem_int_p"), absurd("shmem_quiet")];
    }
    findings(&damaged);
}

#[test]
fn what_is_missing_of_a_pe_is_no_work_of_it() {
    let mut broken = uneven(100 * MS, 100 * MS);
    broken.pes[2].routines.clear();
    assert_eq!(names(&broken), ["serial-pe"]);
    broken.pes[2].incomplete = true;
    assert!(!names(&broken).contains(&"serial-pe"), "{:?}", names(&broken));
}
