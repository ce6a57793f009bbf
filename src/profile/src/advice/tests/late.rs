//! PEs that others wait for in calls of all.

use super::*;
use crate::tables::{Phase, Region, Site};

/// A PE that comes last to the meetings of its own team is late as often as it can be.
#[test]
fn who_is_late_in_its_own_team_is_late() {
    let mut teams = with_barriers(profile(&[], 0.25), Some(1));
    for pe in &mut teams.pes {
        let start = (pe.pe & 2) as i32;
        pe.tables.teams = vec![Team { id: 3, start, stride: 1, size: 2, calls: 10, ..Team::default() }];
    }
    let found = findings(&teams);
    assert!(found.iter().any(|(name, _)| *name == "barrier-late"), "{found:?}");
    assert!(found[0].1.what.ends_with("waits for PE 1: it was last 10 of 10 times"), "{found:?}");
}

/// A line that loses little in each of many regions loses as much as one in none.
#[test]
fn who_is_late_in_each_of_many_regions_is_late() {
    let mut steps = with_barriers(profile(&[], 0.25), Some(1));
    let alone = findings(&steps);
    for pe in &mut steps.pes {
        let region = |number: usize| Region { name: format!("step {number}"), ..Region::default() };
        pe.tables.regions = (0..11).map(region).collect();
        pe.tables.syncs.iter_mut().for_each(|sync| sync.region = sync.number as u8 + 1);
    }
    assert_eq!(findings(&steps), alone);
    assert_eq!(alone[0].0, "barrier-late");
}

/// A PE that waits for the flag of another before it comes is not the one to have less work.
#[test]
fn who_waits_itself_before_a_barrier_is_not_blamed_for_it() {
    let mut late = with_barriers(profile(&[], 0.25), Some(2));
    late.pes[2].routines = vec![routine("shmem_long_wait_until", Class::Wait, 10, 0, 550 * MS)];
    assert!(!names(&late).contains(&"barrier-late"), "{:?}", findings(&late));
    // As the others do.
    let wait = late.pes[2].routines.clone();
    late.pes.iter_mut().for_each(|pe| pe.routines = wait.clone());
    assert!(names(&late).contains(&"barrier-late"), "{:?}", findings(&late));
}

/// What is waited for others at barriers is waited elsewhere without them.
#[test]
fn barriers_do_not_cost_what_late_pes_do() {
    let barrier = routine("shmem_barrier_all", Class::Barrier, 5000, 0, 500 * MS);
    let all = with_barriers(profile(&[barrier], 0.25), None);
    // Four PEs, 500 ms each; of these 10 times 180 ms for one that comes late.
    let merged: Merged = (&all).into();
    assert_eq!(merged.late.iter().map(|late| late.lost_ns).sum::<u64>(), 1800 * MS);
    assert!(!names(&all).contains(&"barriers-per-byte"), "{:?}", findings(&all));
}

/// With two PEs that each come last half of the time, the one that works longer is the one that is waited for.
#[test]
fn who_is_late_now_and_then_works_longer() {
    let late = |own: [u64; 2]| {
        let mut all = profile(&[], 0.25);
        all.pes.truncate(2);
        for pe in &mut all.pes {
            pe.tables.teams = vec![Team { stride: 1, size: 2, calls: 20, ..Team::default() }];
            pe.tables.sync_every = 1;
            // In every third turn PE 1 comes 50 ms later, in the others PE 0 a bit.
            let after = |number: u64| match (pe.pe, number % 3) {
                (1, 0) => 50 * MS,
                (0, 1 | 2) => MS / 10,
                _ => 0,
            };
            let at = |number: u64| number * 50 * MS + after(number);
            let op = op("shmem_barrier_all").unwrap();
            pe.tables.syncs =
                (0..20).map(|number| Sync { op, number, arrived_ns: at(number), ..Sync::default() }).collect();
            let waits = 1000 * MS - own[pe.pe as usize];
            pe.routines = vec![routine("shmem_barrier_all", Class::Barrier, 20, 0, waits)];
        }
        all
    };
    assert_eq!(names(&late([600 * MS, 950 * MS])), ["barrier-late"]);
    assert!(!names(&late([800 * MS, 800 * MS])).contains(&"barrier-late"));
}

/// Four PEs that meet ten times at one line, to which PE 1 comes so much later than the others, and at another one, to
/// which PE 2 does.
fn at_two_lines(first: u64, second: u64) -> Profile {
    let mut late = profile(&[], 0.25);
    for pe in &mut late.pes {
        pe.tables.teams = vec![Team { stride: 1, size: 4, calls: 20, ..Team::default() }];
        pe.tables.sync_every = 1;
        let after = |number: u64| match (pe.pe, number / 10) {
            (1, 0) => first,
            (2, 1) => second,
            _ => 0,
        };
        let sync = |number: u64| {
            let begin_ns = number * 45 * MS + 1;
            let phase = Phase { begin_ns, ..Phase::default() };
            Sync { address: number / 10, phase, ..barrier_at(number, begin_ns + after(number)) }
        };
        pe.tables.syncs = (0..20).map(sync).collect();
        let waits = match pe.pe {
            1 => 10 * second,
            2 => 10 * first,
            _ => 10 * (first + second),
        };
        pe.routines = vec![routine("shmem_barrier_all", Class::Barrier, 20, 0, waits)];
        let path = "/bin/x".into();
        pe.tables.modules = vec![Module { start: 0, end: 100, path, ..Module::default() }];
    }
    late
}

/// Another line, with another PE, that loses as much as a finding is for, is named with the first.
#[test]
fn who_is_late_at_another_line_is_named_too() {
    let late = at_two_lines(44 * MS, 21 * MS);
    let found = findings(&late);
    let (name, finding) = &found[0];
    assert_eq!((*name, found.len()), ("barrier-late", 1), "{found:?}");
    assert!(finding.what.contains("waits for PE 1: it was last 10 of 10 times"), "{finding:?}");
    assert!(finding.evidence.contains("; and shmem_barrier_all waits for PE 2"), "{finding:?}");
    assert!(finding.evidence.ends_with(", up to 16 %"), "{finding:?}");
}

/// Two PEs that work longer than the others, each at a line of its own, are not several with more to do.
#[test]
fn who_is_late_alone_at_a_line_is_named_alone() {
    let late = at_two_lines(44 * MS, 42 * MS);
    assert_eq!(names(&late), ["barrier-late"], "{:?}", findings(&late));
}

/// Nor is one that works by itself as long as the others run, and never meets them.
#[test]
fn who_meets_nobody_has_nobody_wait_for_it() {
    let mut late = profile(&[], 0.25);
    for pe in &mut late.pes[..3] {
        pe.tables.teams = vec![Team { stride: 1, size: 3, calls: 10, ..Team::default() }];
        pe.tables.sync_every = 1;
        let sync = |number: u64| {
            let begin_ns = number * 90 * MS + 1;
            let phase = Phase { begin_ns, ..Phase::default() };
            let after = if pe.pe == 1 { 60 * MS } else { 0 };
            Sync { phase, ..barrier_at(number, begin_ns + after) }
        };
        pe.tables.syncs = (0..10).map(sync).collect();
        let waits = if pe.pe == 1 { 200 } else { 900 };
        pe.routines = vec![routine("shmem_team_sync", Class::Barrier, 10, 0, waits * MS)];
    }
    assert_eq!(names(&late), ["barrier-late"], "{:?}", findings(&late));
}

/// Several that read or sleep do not work.
#[test]
fn several_that_are_on_no_core_are_said_to_be() {
    let said = |on_core_ms: u64| {
        let mut all = halves(800 * MS, 200 * MS);
        for pe in &mut all.pes {
            let system = &mut pe.tables.system;
            let ns = if pe.pe % 2 == 1 { on_core_ms } else { 1000 } * MS;
            (system.usage.user_ns, system.queued_ns) = (ns, Some(0));
        }
        let found = findings(&all);
        assert_eq!(found[0].0, "uneven-work", "{found:?}");
        (found[0].1.what.clone(), found[0].1.try_this.contains("it is on no core there"))
    };
    let (what, is_asleep) = said(50);
    assert!(what.starts_with("PEs 1, 3 are outside of the library for longer than the others") && is_asleep, "{what}");
    assert!(!said(1000).1);
}

/// A PE that comes late since it is in puts has not too much to compute.
#[test]
fn who_is_late_by_its_puts_is_said_to_be() {
    let mut late = with_barriers(profile(&[], 0.25), Some(2));
    assert!(findings(&late)[0].1.try_this.starts_with("give that PE less work"));
    let name = "shmem_putmem";
    late.pes[2].routines = vec![routine(name, Class::Put, 160, 1 << 22, 590 * MS)];
    let site = Site { routine: name.into(), calls: 160, total_ns: Some(590 * MS), address: 16, ..Site::default() };
    late.pes[2].tables.sites = vec![site];
    late.pes[2].tables.modules = vec![Module { start: 0, end: 100, path: "/bin/x".into(), ..Module::default() }];
    let (name, finding) = findings(&late).remove(0);
    assert_eq!(name, "barrier-late", "{finding:?}");
    let said = "; PE 2 is in shmem_putmem and the like for 590 ms longer than the others, most at x+0x10";
    assert!(finding.evidence.contains(said), "{finding:?}");
    assert!(finding.try_this.starts_with("let the others send"), "{finding:?}");
}

/// The two lines between which one PE works are those of the view `phases`, however often the compiler has made a call.
#[test]
fn places_of_one_line_are_one_for_who_works_alone() {
    let mut all = profile(&[], 0.25);
    let (name, op) = ("shmem_barrier_all", op("shmem_barrier_all").unwrap());
    for pe in &mut all.pes {
        let own = 64 * u64::from(pe.pe);
        let is_it = pe.pe == 1;
        pe.routines = vec![routine(name, Class::Barrier, 3, 0, if is_it { 400 } else { 900 } * MS)];
        pe.tables.teams = vec![Team { stride: 1, size: 4, calls: 3, ..Team::default() }];
        pe.tables.sync_every = 1;
        // Work of 1, 500 or 0, and 20 ms.
        let works = [1, if is_it { 500 } else { 0 }, if is_it { 21 } else { 20 }];
        let (addresses, begins) = ([11, 16 + own, 19], [1, 100 * MS, 620 * MS]);
        let sync = |at: usize| {
            let from = at.checked_sub(1).map(|before| (addresses[before], op));
            let phase = Phase { from, begin_ns: begins[at], ..Phase::default() };
            let left_ns = begins.get(at + 1).copied().unwrap_or(700 * MS);
            let (address, arrived_ns) = (addresses[at], begins[at] + works[at] * MS);
            Sync { op, address, number: at as u64, arrived_ns, left_ns, phase, ..Sync::default() }
        };
        pe.tables.syncs = (0..3).map(sync).collect();
        in_a_file(pe);
    }
    let found = super::super::findings(&Merged::from(&all), &LinesOf64);
    let serial = found.iter().find(|(name, _)| *name == "serial-pe").unwrap_or_else(|| panic!("{found:?}"));
    assert!(serial.1.evidence.ends_with(", most of it between ph.c:10 and ph.c:15"), "{serial:?}");
}

/// Collectives of single values take their latency, unless PEs come late to them.
#[test]
fn small_collectives_are_told_from_late_and_large_ones() {
    let of = |bytes, late: Option<u32>| {
        let sums = routine("shmem_long_sum_reduce", Class::Collective, 1000, bytes, 400 * MS);
        let mut all = profile(&[sums], 0.25);
        if late.is_some() {
            all = with_barriers(all, late);
            let sum = op("shmem_long_sum_reduce").unwrap();
            all.pes.iter_mut().flat_map(|pe| &mut pe.tables.syncs).for_each(|sync| sync.op = sum);
        }
        let found = findings(&all);
        found.iter().find(|(name, _)| *name == "library-time").is_some_and(|(_, f)| f.try_this.contains("latency"))
    };
    assert!(of(8, None) && !of(1 << 16, None) && !of(8, Some(2)));
}

/// Two PEs that are late in turn cost more than they have to do more in all.
#[test]
fn late_in_turn_is_lost_each_time() {
    let mut turns = halves(400 * MS, 200 * MS);
    for pe in &mut turns.pes {
        let late = |number: u64| u64::from(pe.pe) == 1 + 2 * (number % 2);
        let at = |number: u64| number * 100 * MS + if late(number) { 80 * MS } else { 0 };
        pe.tables.syncs = (0..10).map(|number| barrier_at(number, at(number))).collect();
    }
    let found = findings(&turns);
    assert_eq!(found[0].0, "uneven-work", "{found:?}");
    assert!((found[0].1.share - 0.6).abs() < 0.01, "{found:?}");
}

/// One that is late once, for long, is late by what it does then.
#[test]
fn who_is_late_once_is_late_now_and_then() {
    let mut late = with_barriers(profile(&[], 0.25), Some(2));
    for pe in &mut late.pes {
        pe.tables.teams[0].calls = 40;
        let op = op("shmem_barrier_all").unwrap();
        let at = |number: u64| number * MS + if (pe.pe, number) == (2, 30) { 200 * MS } else { u64::from(pe.pe) };
        let sync = |number: u64| Sync { op, number, arrived_ns: at(number), ..Sync::default() };
        pe.tables.syncs = (0..40).map(sync).collect();
        let waits = if pe.pe == 2 { 0 } else { 200 * MS };
        pe.routines = vec![routine("shmem_barrier_all", Class::Barrier, 40, 0, waits)];
    }
    let found = findings(&late);
    let (name, finding) = &found[0];
    assert_eq!(*name, "barrier-late", "{found:?}");
    assert!(finding.what.ends_with("waits for PE 2 now and then: 1 of 40 times it is very late"), "{finding:?}");
    assert!(
        finding.evidence.contains(", 600 ms of it in 1 of them, the worst 230 ms after the job began"),
        "{finding:?}"
    );
}

/// Where a few barriers take most, for cores or late PEs, the others are what barriers cost.
#[test]
fn barriers_cost_what_half_of_them_take() {
    let with = |slow: bool| {
        let mut barrier = routine("shmem_barrier_all", Class::Barrier, 5000, 0, 200 * MS);
        barrier.latency.record(if slow { 40_000 } else { 100 }, 4000);
        barrier.latency.record(1_000_000, 1000);
        barrier.max_ns = MS;
        profile(&[barrier], 0.25)
    };
    assert!(names(&with(true)).contains(&"barriers-per-byte"), "{:?}", findings(&with(true)));
    assert!(!names(&with(false)).contains(&"barriers-per-byte"), "{:?}", findings(&with(false)));
}

/// Of many meetings a sample is kept; where a few took much longer than most, it says nothing of them.
#[test]
fn meetings_that_do_not_stand_for_the_others_blame_nobody() {
    let of = |took: u64| {
        let barriers = [routine("shmem_barrier_all", Class::Barrier, 40, 0, 600 * MS)];
        let mut all = with_barriers(profile(&barriers, 0.25), Some(2));
        // Whoever is late does not wait: as long together.
        all.pes.iter_mut().for_each(|pe| pe.routines[0].total_ns = if pe.pe == 2 { 0 } else { 800 * MS });
        for pe in &mut all.pes {
            pe.tables.sync_every = 4;
            pe.tables.syncs.iter_mut().for_each(|sync| sync.number *= 4);
            pe.tables.syncs.iter_mut().for_each(|sync| sync.left_ns = sync.arrived_ns + took);
        }
        all
    };
    assert!(names(&of(15 * MS)).contains(&"barrier-late"), "{:?}", findings(&of(15 * MS)));
    for took in [5 * MS, 50 * MS] {
        assert!(!names(&of(took)).contains(&"barrier-late"), "{:?}", findings(&of(took)));
    }
}

/// What is waited in allocations for a PE that comes late is no cost of allocating.
#[test]
fn waiting_in_allocations_is_for_the_late_pe() {
    let allocations = [routine("shmem_malloc", Class::Memory, 500, 0, 200 * MS)];
    let mut late = with_barriers(profile(&allocations, 0.25), Some(2));
    late.pes[2].routines[0].total_ns = MS;
    late.pes.iter_mut().flat_map(|pe| &mut pe.tables.syncs).for_each(|sync| sync.op = op("shmem_malloc").unwrap());
    let found = findings(&late);
    assert_eq!(names(&late), ["barrier-late"], "{found:?}");
    assert!(found[0].1.what.starts_with("shmem_malloc waits for PE 2"), "{found:?}");
    late.pes.iter_mut().for_each(|pe| pe.tables.syncs.clear());
    assert_eq!(names(&late), ["heap"]);
}

/// A PE that has a bit more to do before each barrier is found once.
#[test]
fn who_is_late_each_time_does_not_work_alone() {
    let mut late = with_barriers(uneven(900 * MS, 100 * MS), Some(0));
    assert_eq!(names(&late), ["barrier-late"]);
    late.pes.iter_mut().for_each(|pe| pe.tables.syncs.clear());
    assert_eq!(names(&late), ["serial-pe"]);
}

/// Four PEs of one second that pass something on: each works so long and then waits, while its predecessor works so
/// long of it and waits itself else.
pub(super) fn ring(own: u64, others: u64) -> Profile {
    let mut ring = profile(&[], 0.25);
    let place = |routine: &str| CodePlace { routine: routine.into(), ..CodePlace::default() };
    for pe in &mut ring.pes {
        let waited = 1000 * MS - own;
        pe.routines = vec![routine("shmem_long_wait_until", Class::Wait, 100, 0, waited)];
        let by = Releaser {
            pe: (pe.pe + 3) % 4,
            place: place("shmem_long_p"),
            from: Some(place("shmem_long_wait_until")),
            work_ns: others,
            own_ns: others,
            ..Releaser::default()
        };
        let routine = "shmem_long_wait_until".into();
        pe.tables.causes = vec![Cause { routine, waits: 100, ns: waited, by: Some(by), ..Cause::default() }];
    }
    ring
}

/// PEs whose work is even work one after another, unless what they wait for is the network, or a core, or one works
/// for longer.
#[test]
fn who_works_one_after_another_is_told_so() {
    let is_told = |profile: &Profile| names(profile).contains(&"serialized");
    let found = findings(&ring(250 * MS, 250 * MS));
    assert_eq!(found[0].0, "serialized");
    assert!(found[0].1.what.ends_with("not at the same time: 1.0 of 4 work"), "{found:?}");
    assert!((found[0].1.share - 0.75).abs() < 0.01, "{found:?}");
    // Nobody works while others wait; all work most of the time; hardly anybody ever does.
    assert!(!is_told(&ring(250 * MS, 10 * MS)));
    assert!(!is_told(&ring(700 * MS, 250 * MS)));
    assert!(!is_told(&ring(100 * MS, 100 * MS)));
    let mut starved = ring(250 * MS, 250 * MS);
    starved.pes[1].tables.system.queued_ns = Some(300 * MS);
    assert!(!is_told(&starved));
    assert!(!is_told(&uneven(900 * MS, 100 * MS)));
}

/// Barriers to which another PE comes late each time, and the rest of their time.
#[test]
fn barriers_for_one_after_another_are_told_as_such() {
    let barriers = |work: u64| {
        let barrier = routine("shmem_barrier_all", Class::Barrier, 10, 0, 1000 * MS - work);
        with_barriers(profile(&[barrier], 0.25), None)
    };
    assert_eq!(names(&barriers(300 * MS))[0], "serialized", "{:?}", findings(&barriers(300 * MS)));
    assert!(!names(&barriers(800 * MS)).contains(&"serialized"));
}

/// One of two has more to do, and both are late in turn: more is lost than even work would save.
#[test]
fn who_works_one_after_another_may_have_more_to_do() {
    let mut turns = profile(&[], 0.25);
    turns.pes.truncate(2);
    for pe in &mut turns.pes {
        let own = if pe.pe == 1 { 49 } else { 26 };
        pe.routines = vec![routine("shmem_barrier_all", Class::Barrier, 20, 0, (1000 - 10 * own) * MS)];
        pe.tables.teams = vec![Team { stride: 1, size: 2, calls: 20, ..Team::default() }];
        pe.tables.sync_every = 1;
        let after = |number: u64| if number % 2 == u64::from(pe.pe) { own * MS } else { 0 };
        pe.tables.syncs = (0..20_u64).map(|number| barrier_at(number, number * 50 * MS + after(number))).collect();
    }
    let found = findings(&turns);
    let (_, serialized) = found.iter().find(|(name, _)| *name == "serialized").unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(serialized.what, "PEs work one after another: 0.8 of 2 at a time, in the mean");
    assert!((serialized.share - 0.375).abs() < 0.01, "{found:?}");
}

/// Four PEs of one second, of which two are outside of the library for `more`, and two for `less`; to ten barriers each
/// of the two comes last in turn.
pub(super) fn halves(more: u64, less: u64) -> Profile {
    let mut halves = profile(&[], 0.25);
    for pe in &mut halves.pes {
        let works = if pe.pe % 2 == 1 { more } else { less };
        pe.routines = vec![routine("shmem_barrier_all", Class::Barrier, 10, 0, 1000 * MS - works)];
        pe.tables.teams = vec![Team { stride: 1, size: 4, calls: 10, ..Team::default() }];
        pe.tables.sync_every = 1;
        let after = |number: u64| match pe.pe {
            1 | 3 => (more - less) / 10 + if u64::from(pe.pe / 2) == number % 2 { MS } else { 0 },
            _ => 0,
        };
        pe.tables.syncs = (0..10_u64).map(|number| barrier_at(number, number * 100 * MS + after(number))).collect();
    }
    halves
}

/// Four PEs of one second with twenty barriers, to each of which another one comes `later` than the others.
pub(super) fn steps(later: u64) -> Profile {
    let mut steps = profile(&[], 0.25);
    for pe in &mut steps.pes {
        pe.routines = vec![routine("shmem_barrier_all", Class::Barrier, 20, 0, 15 * later)];
        pe.tables.teams = vec![Team { stride: 1, size: 4, calls: 20, ..Team::default() }];
        pe.tables.sync_every = 1;
        let after = |number: u64| if number % 4 == u64::from(pe.pe) { later } else { 0 };
        pe.tables.syncs = (0..20_u64).map(|number| barrier_at(number, number * 50 * MS + after(number))).collect();
    }
    steps
}

fn barrier_at(number: u64, arrived_ns: u64) -> Sync {
    Sync { op: op("shmem_barrier_all").unwrap(), number, arrived_ns, ..Sync::default() }
}

/// Several PEs with more to do are named together: none of them works alone, and to have less would help none alone.
#[test]
fn several_with_more_to_do_are_named_together() {
    let found = findings(&halves(800 * MS, 200 * MS));
    assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["uneven-work"], "{found:?}");
    assert!(found[0].1.what.starts_with("PEs 1, 3 have more to do than the others"), "{found:?}");
    assert!((found[0].1.share - 0.3).abs() < 0.01, "{found:?}");
    // One of them always comes a bit after the other.
    let mut last = halves(800 * MS, 200 * MS);
    last.pes[3].tables.syncs.iter_mut().for_each(|sync| sync.arrived_ns += 5 * MS);
    assert_eq!(names(&last), ["uneven-work"]);
    assert!(!names(&halves(500 * MS, 450 * MS)).contains(&"uneven-work"));
    let mut starved = halves(800 * MS, 200 * MS);
    starved.pes[1].tables.system.queued_ns = Some(300 * MS);
    assert!(!names(&starved).contains(&"uneven-work"));
}

/// As well in a crowd, as far as it is known who stood in line for how long, and a core was free in the end.
#[test]
fn several_with_more_to_do_are_named_together_in_a_crowd() {
    let crowd = |cores, less_ms| {
        let mut crowd = halves(800 * MS, 200 * MS);
        for pe in &mut crowd.pes {
            (pe.host, pe.tables.system.cores) = ("vm".into(), cores);
            let (on_core, queued) = if pe.pe % 2 == 1 { (400, 400) } else { (less_ms, less_ms) };
            (pe.tables.system.usage.user_ns, pe.tables.system.queued_ns) = (on_core * MS, Some(queued * MS));
        }
        crowd
    };
    let found = findings(&crowd(2, 100));
    let found = found.iter().find(|(name, _)| *name == "uneven-work").unwrap_or_else(|| panic!("{found:?}"));
    assert!(found.1.evidence.contains("without what they stood in line for a core"), "{found:?}");
    // One core, which is always taken; others that are on cores as long, or of which that is not known.
    assert!(!names(&crowd(1, 100)).contains(&"uneven-work"));
    assert!(!names(&crowd(2, 350)).contains(&"uneven-work"));
    let mut unknown = crowd(2, 100);
    unknown.pes[0].tables.system.queued_ns = None;
    assert!(!names(&unknown).contains(&"uneven-work"));
}

/// Another PE comes last each time: not where one does mostly, nor a bit late, nor for waits of its own.
#[test]
fn another_pe_comes_last_each_time() {
    let found = findings(&steps(20 * MS));
    assert_eq!(found[0].0, "uneven-steps", "{found:?}");
    assert!(found[0].1.what.starts_with("shmem_barrier_all waits for another PE each time"), "{found:?}");
    assert!((found[0].1.share - 0.3).abs() < 0.01, "{found:?}");
    assert!(!names(&steps(5 * MS)).contains(&"uneven-steps"));
    let mut waiting = steps(20 * MS);
    let wait = routine("shmem_long_wait_until", Class::Wait, 20, 0, 200 * MS);
    waiting.pes.iter_mut().for_each(|pe| pe.routines.push(wait.clone()));
    assert!(!names(&waiting).contains(&"uneven-steps"), "{:?}", findings(&waiting));
}

/// The same where the others wait for flags of these two.
#[test]
fn several_with_more_to_do_are_named_together_for_flags() {
    let mut flags = halves(800 * MS, 200 * MS);
    let place = |routine: &str| CodePlace { routine: routine.into(), ..CodePlace::default() };
    for pe in &mut flags.pes {
        pe.tables.syncs.clear();
        pe.routines.clear();
        if pe.pe % 2 == 0 {
            pe.routines = vec![routine("shmem_long_wait_until", Class::Wait, 20, 0, 800 * MS)];
            let by = |pe: u32, ns: u64| Cause {
                routine: "shmem_long_wait_until".into(),
                waits: 10,
                ns,
                by: Some(Releaser { pe, place: place("shmem_long_p"), work_ns: ns, own_ns: ns, ..Releaser::default() }),
                ..Cause::default()
            };
            // More of it for one of them: it comes last of both.
            pe.tables.causes = vec![by(1, 250 * MS), by(3, 550 * MS)];
        }
    }
    assert_eq!(names(&flags), ["uneven-work"], "{:?}", findings(&flags));
}

/// Three PEs that wait for each other's flags, and one that works by itself all the time.
fn with_a_loner(by: fn(u32) -> u32) -> Profile {
    let mut token = profile(&[], 0.25);
    let place = |routine: &str| CodePlace { routine: routine.into(), ..CodePlace::default() };
    for pe in token.pes.iter_mut().filter(|pe| pe.pe != 2) {
        let ns = 550 * MS;
        pe.routines = vec![routine("shmem_long_wait_until", Class::Wait, 100, 0, ns)];
        let by =
            Releaser { pe: by(pe.pe), place: place("shmem_long_p"), work_ns: ns, own_ns: ns, ..Releaser::default() };
        let routine = "shmem_long_wait_until".into();
        pe.tables.causes = vec![Cause { routine, waits: 100, ns, by: Some(by), ..Cause::default() }];
    }
    token
}

/// Of a job that broke off nobody knows how long each would have worked.
#[test]
fn nobody_works_alone_in_a_job_that_broke_off() {
    let mut broken = uneven(900 * MS, 100 * MS);
    broken.job.exit_status = Some(0);
    assert!(names(&broken).contains(&"serial-pe"));
    broken.job.exit_status = Some(1);
    broken.pes[3].progress = Progress::Initialized;
    assert!(!names(&broken).contains(&"serial-pe"), "{:?}", findings(&broken));
}

/// It is not the one that the others wait for, however little it waits.
#[test]
fn a_pe_that_nobody_waits_for_is_not_blamed() {
    let said = |profile: &Profile| {
        let merged = Merged::from(profile);
        let text = crate::report::text(&merged, &crate::report::Options::default(), &NoSymbols);
        [names(profile).contains(&"serial-pe"), text.contains("PE 2 waits least"), text.contains("because PE 2")]
    };
    let (alone, waited_for) = (with_a_loner(|pe| if pe == 0 { 1 } else { 0 }), with_a_loner(|_| 2));
    assert_eq!(said(&alone), [false; 3], "{:?}", findings(&alone));
    assert_eq!(said(&waited_for)[..2], [true; 2], "{:?}", findings(&waited_for));
    // Where it is not known who ended the waits, nothing speaks against it.
    let mut unknown = alone;
    unknown.pes.iter_mut().flat_map(|pe| &mut pe.tables.causes).for_each(|cause| cause.by = None);
    assert_eq!(said(&unknown)[..2], [true; 2], "{:?}", findings(&unknown));
}

/// Four PEs, initialized at once, that come to finalization after so many milliseconds.
fn ends(ms: [u64; 4]) -> Profile {
    let mut all = profile(&[routine("shmem_barrier_all", Class::Barrier, 1, 0, 1)], 0.25);
    all.pes.iter_mut().zip(ms).for_each(|(pe, ms)| pe.finalize_ns = ms * MS);
    all
}

/// Finalization is a meeting as others are: half of the time is lost in it to two PEs, or to each in turn.
#[test]
fn what_is_lost_in_finalization_is_lost() {
    let said = |profile: &Profile| {
        let text = crate::report::text(&Merged::from(profile), &crate::report::Options::default(), &NoSymbols);
        text.lines().last().unwrap_or_default().to_owned()
    };
    let two = ends([1100, 1100, 100, 100]);
    let found = findings(&two);
    assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["uneven-work"], "{found:?}");
    let Finding { what, evidence, share, .. } = &found[0].1;
    assert_eq!(what, "PEs 0, 1 have more to do than the others, which wait for them");
    assert!(evidence.contains("with less, which waits 2.00 s in all; most in shmem_finalize"), "{evidence}");
    assert!((share - 5.0 / 11.0).abs() < 1e-9, "{share}");
    assert_eq!(said(&two), "45 % of PE time waits in shmem_finalize for PEs 0, 1; see --view efficiency");
    // One that comes early, and one after another.
    assert_eq!(
        findings(&ends([1100, 1100, 1100, 100]))[0].1.what,
        "PE 3 has less to do than the others, for which it waits"
    );
    let ramp = ends([400, 600, 850, 1000]);
    let found = findings(&ramp);
    assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["library-time"], "{found:?}");
    assert!(found[0].1.what.ends_with("most in shmem_finalize"), "{found:?}");
    assert_eq!(said(&ramp), "29 % of PE time waits in shmem_finalize; see --view efficiency");
    // Less is not worth a word.
    assert_eq!(names(&ends([900, 950, 980, 1000])), [""; 0]);
}
