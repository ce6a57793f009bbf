//! Each rule fires on what it is for, and none on a clean program.

use pellucid_profile::detail::{Detail, Peer, Sync, Team, Traffic};
use pellucid_profile::model::{Job, Pe, Profile, Routine, SizeCount};
use pellucid_profile::op::{Class, find as op};
use pellucid_profile::report::NoSymbols;
use pellucid_profile::size::size_class;

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
            end_ns: 1000 * MS,
            routines: routines.to_vec(),
            detail: Detail { peers, ..Detail::default() },
            ..Pe::default()
        }
    };
    Profile { job: Job { npes: 4, ..Job::default() }, pes: (0..4).map(pe).collect() }
}

/// Adds barriers to which `late` comes 60 ms later than the others, or a different PE each time.
fn with_barriers(mut profile: Profile, late: Option<u32>) -> Profile {
    for pe in &mut profile.pes {
        pe.detail.teams = vec![Team { stride: 1, size: 4, calls: 10, ..Team::default() }];
        pe.detail.sync_every = 1;
        pe.detail.syncs = (0..10_u64)
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
    super::findings(&profile.into(), &NoSymbols)
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
    ];
    assert_eq!(cases.len(), RULES.len(), "a rule without a test");
    for (name, profile) in cases {
        let found = findings(&profile);
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [name]);
        assert!(found[0].1.share > 0.0 && !found[0].1.evidence.is_empty());
    }
}

#[test]
fn none_fires_where_there_is_nothing_to_gain() {
    let p = |calls, ns| routine("shmem_long_p", Class::Put, calls, 8, ns);
    for (what, profile) in [
        ("nothing", profile(&[], 0.25)),
        ("scattered puts", profile(&[p(10_000_000, 300 * MS)], 0.25)),
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
        ("a few allocations", profile(&[routine("shmem_malloc", Class::Memory, 10, 0, 200 * MS)], 0.25)),
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
