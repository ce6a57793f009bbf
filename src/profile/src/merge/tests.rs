//! Sums over PEs: right, whatever the order of the PEs, however they are shared out, and whatever had to be folded.

use super::fold::Fold;
use super::plan::Plan;
use super::*;
use crate::model::Progress;
use crate::op::{self, Class};
use crate::tables::{Algorithm, Marker, Module, PeTables, Peer, Phase, Region, Site, Sync, Team, Traffic};

/// Numbers that look random, the same at each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        (1..list.len()).rev().for_each(|at| list.swap(at, self.below(at as u64 + 1) as usize));
    }
}

const NAMES: [&str; 5] =
    ["shmem_putmem", "shmem_long_p", "shmem_barrier_all", "shmem_long_wait_until", "shmem_set_lock"];

fn pe(number: u32, npes: u32, dice: &mut Dice) -> Pe {
    let base = 0x5555_0000_0000 + 0x10_0000 * u64::from(number);
    let mut routines = Vec::new();
    for name in NAMES {
        if dice.below(4) == 0 {
            continue;
        }
        let mut routine = Routine::new(name, op::get(op::find(name).unwrap()).unwrap().class);
        routine.calls = [0, 1, 2, 3].map(|_| dice.below(1000));
        routine.bytes = routine.calls.map(|calls| 8 * calls);
        (routine.timed_calls, routine.total_ns, routine.max_ns) =
            (dice.below(50), dice.below(1 << 40), dice.below(1 << 30));
        routine.total_variance = dice.below(1 << 50) as f64 / 7.0;
        (0..20).for_each(|_| routine.latency.record(dice.below(1 << 20), 1 + dice.below(9)));
        routines.push(routine);
    }
    let traffic = |dice: &mut Dice| Traffic { calls: dice.below(50), bytes: dice.below(5000) };
    let known = dice.below(npes.into()) as u32;
    let peers = (0..=known)
        .map(|k| Peer { pe: (k < known).then_some(k), put: traffic(dice), get: traffic(dice), amo: traffic(dice) })
        .collect();
    let sites = (0..dice.below(60))
        .map(|_| Site {
            address: base + 0x1000 + dice.below(300),
            routine: NAMES[dice.below(5) as usize].into(),
            region: dice.below(3) as u8,
            calls: 1 + dice.below(9),
            bytes: dice.below(900),
            timed_calls: 1,
            total_ns: (dice.below(5) > 0).then(|| dice.below(100_000)),
            max_ns: dice.below(1000),
            unfinished: 1,
            unfinished_ns: dice.below(1000),
        })
        .collect();
    let syncs = (0..200)
        .map(|number| Sync {
            team: (number % 2) as u8,
            region: dice.below(3) as u8,
            op: op::find("shmem_barrier_all").unwrap(),
            address: base + 0x1000 + dice.below(3),
            number: number / 2,
            arrived_ns: number * 1_000_000 + dice.below(1000),
            left_ns: number * 1_000_000 + 1000 + dice.below(1000),
            phase: Phase {
                from: (number > 1).then(|| (base + 0x1000 + dice.below(3), op::find("shmem_barrier_all").unwrap())),
                begin_ns: number.saturating_sub(1) * 1_000_000 + 2000,
                library_ns: dice.below(2_000_000),
                waits_ns: dice.below(1_000_000),
            },
            caller: [0, base + 0x2000, base + 0x2100][dice.below(3) as usize],
        })
        .collect();
    let regions = ["", "halo", "solve"].map(|name| Region {
        name: name.into(),
        entries: dice.below(9),
        total_ns: dice.below(999),
        own_ns: dice.below(999),
        ..Region::default()
    });
    let pair = number as i32 / 2 * 2;
    let team =
        |start, size| Team { id: if size == 2 { 5 } else { 0 }, start, stride: 1, size, calls: 100, ns: 5, bytes: 8 };
    let tables = PeTables {
        peers,
        sites,
        modules: vec![Module {
            base,
            start: base + 0x1000,
            end: base + 0x9000,
            path: "/bin/x".into(),
            ..Module::default()
        }],
        regions: regions.into(),
        markers: vec![Marker { name: format!("m{}", number % 3), count: 2, sum: 0.3, min: 0.1, max: 0.2, last: 0.2 }],
        teams: vec![team(0, npes as i32), team(pair, 2)],
        syncs,
        sync_every: 1 << (number % 2),
        network: vec![("puts".into(), dice.below(99))],
        algorithms: ["barrier:counter", "barrier:dissemination"]
            .map(|name| Algorithm { routine: "shmem_barrier_all".into(), name: name.into(), calls: 1 + dice.below(99) })
            .into(),
        ..PeTables::default()
    };
    let (host, progress) = (format!("node{}", number / 4), Progress::Finalized);
    Pe { pe: number, host, progress, end_ns: 1 << 40, routines, tables, ..Pe::default() }
}

fn profile(npes: u32, seed: u64) -> Profile {
    let mut dice = Dice(seed);
    let pes = (0..npes).map(|number| pe(number, npes, &mut dice)).collect();
    Profile { job: Job { npes, ..Job::default() }, pes }
}

/// Limits that nothing of such a profile fits into.
fn tight() -> Limits {
    Limits { sites: 7, pairs: 11, meetings: 40, markers: 5, groups: 4 }
}

/// The PEs in a random order, shared out among some heaps that are joined two by two.
fn in_parts(profile: &Profile, limits: Limits, dice: &mut Dice) -> Merged {
    let mut plan = Plan::new(profile, profile.job.npes, "", limits);
    let mut order: Vec<&Pe> = profile.pes.iter().collect();
    dice.shuffle(&mut order);
    let mut sum = |plan: &Plan, add: for<'p> fn(&mut Fold<'p>, &Pe), last: &mut dyn FnMut(Fold<'_>)| {
        let mut heaps: Vec<Fold<'_>> = (0..1 + dice.below(6)).map(|_| Fold::new(plan)).collect();
        let many = heaps.len() as u64;
        order.iter().for_each(|pe| add(&mut heaps[dice.below(many) as usize], pe));
        while heaps.len() > 1 {
            dice.shuffle(&mut heaps);
            let (Some(a), Some(mut b)) = (heaps.pop(), heaps.pop()) else { break };
            b.join(a);
            heaps.push(b);
        }
        heaps.into_iter().for_each(last);
    };
    let (mut merged, mut found) = (Merged::default(), None);
    sum(&plan, |fold, pe| fold.add(pe), &mut |mut fold| {
        found = Some((fold.selection(), fold.told()));
        merged = fold.finish(Some(profile.job.clone()));
    });
    let (selection, told) = found.unwrap();
    plan.sites = selection;
    plan.take(told);
    plan.releasers = merged.causes.releasers();
    sum(&plan, |fold, pe| fold.add_again(pe), &mut |fold| {
        merged.causes = std::mem::take(&mut merged.causes).finish(fold.work());
        let again = fold.finish(None);
        (merged.efficiencies, merged.phases) = (again.efficiencies, again.phases);
        if plan.sites.is_some() {
            (merged.sites, merged.other_sites) = (again.sites, again.other_sites);
        }
    });
    merged
}

#[test]
fn neither_order_nor_sharing_out_changes_anything() {
    let mut dice = Dice(7);
    for (npes, seed) in [(1, 1), (5, 2), (24, 3), (70, 4), (300, 5)] {
        let mut profile = profile(npes, seed);
        for limits in [Limits::default(), tight()] {
            let expected = Merged::with_limits(&profile, limits, |_, _| {});
            for round in 0..if npes > 100 { 3 } else { 12 } {
                assert_eq!(in_parts(&profile, limits, &mut dice), expected, "{npes} PEs, round {round}");
            }
            dice.shuffle(&mut profile.pes);
            assert_eq!(Merged::with_limits(&profile, limits, |_, _| {}), expected, "{npes} PEs, shuffled");
            profile.pes.sort_by_key(|pe| pe.pe);
        }
    }
}

#[test]
fn what_is_folded_keeps_its_sums() {
    let profile = profile(60, 11);
    let (all, few) = (Merged::from(&profile), Merged::with_limits(&profile, tight(), |_, _| {}));
    assert_eq!((few.sites.len(), few.pairs.len(), few.teams.len()), (7, 11, 4));
    let sites = |m: &Merged| {
        let sums = m.sites.iter().map(|row| row.sum).chain([m.other_sites]);
        sums.fold((0, 0, 0), |sum, s| (sum.0 + s.calls, sum.1 + s.bytes, sum.2 + s.known_ns))
    };
    assert_eq!(sites(&few), sites(&all));
    assert_eq!(all.other_sites, SiteSum::default());
    // Those that stay have their whole sums, and are the ones where a PE spent most.
    let most = all.sites.iter().map(|row| row.sum.most.0).max().unwrap();
    assert!(few.sites.iter().any(|row| row.sum.most.0 == most));
    assert!(few.sites.iter().all(|row| all.sites.contains(row)));
    let pairs = |m: &Merged| {
        let all = m.pairs.iter().map(|pair| pair.1.all()).chain([m.other_pairs.1.all()]);
        all.fold((0, 0), |sum, t| (sum.0 + t.calls, sum.1 + t.bytes))
    };
    assert_eq!(pairs(&few), pairs(&all));
    assert_eq!(few.pairs[..11], all.pairs[..11]);
    assert_eq!(few.other_pairs.0, (all.pairs.len() - 11) as u64);
    let teams = |m: &Merged| m.teams.iter().map(|(_, sum)| sum.calls).sum::<u64>();
    let markers = |m: &Merged| m.markers.iter().map(|row| row.marker.count).sum::<u64>();
    assert_eq!((teams(&few), markers(&few)), (teams(&all), markers(&all)));
    assert_eq!((few.matrix(LARGEST), &few.routines, &few.pes), (all.matrix(LARGEST), &all.routines, &all.pes));
}

#[test]
fn sums_are_those_of_adding_up_by_hand() {
    let profile = profile(24, 5);
    let merged = Merged::from(&profile);
    for sum in &merged.routines {
        let mut by_hand = Routine::new(&sum.name, sum.class);
        profile.pes.iter().flat_map(|pe| &pe.routines).filter(|r| r.name == sum.name).for_each(|r| by_hand.merge(r));
        assert!((by_hand.total_variance / sum.total_variance - 1.0).abs() < 1e-12);
        by_hand.total_variance = sum.total_variance;
        assert_eq!(*sum, by_hand);
    }
    let sites: u64 = profile.pes.iter().flat_map(|pe| &pe.tables.sites).map(|site| site.calls).sum();
    assert_eq!(merged.sites.iter().map(|row| row.sum.calls).sum::<u64>(), sites);
    assert_eq!(merged.regions.iter().map(|(_, sum)| sum.calls).sum::<u64>(), sites);
    for (row, pe) in merged.pes.iter().zip(&profile.pes) {
        let spent = |of: fn(Class) -> bool| {
            pe.routines.iter().filter(|r| of(r.class)).fold(0, |sum: u64, r| sum.saturating_add(r.spent_ns()))
        };
        assert_eq!(row.time_ns(|_| true), spent(|_| true));
        assert_eq!(row.time_ns(Class::waits), spent(Class::waits));
    }
}

#[test]
fn a_large_matrix_is_folded_and_loses_nothing() {
    let ring = |npes: u32, hosts: u32| {
        let pe = |pe: u32| {
            let to = Peer { pe: Some((pe + 1) % npes), put: Traffic { calls: 1, bytes: 10 }, ..Peer::default() };
            let tables = PeTables { peers: vec![to], ..PeTables::default() };
            Pe { pe, host: format!("h{}", pe % hosts), tables, ..Pe::default() }
        };
        Merged::from(&Profile { job: Job { npes, ..Job::default() }, pes: (0..npes).map(pe).collect() })
    };
    let m = ring(4, 1).matrix(LARGEST_TEXT);
    assert!(m.by_pe && m.bytes[3][0] == 10 && m.bytes[0][1] == 10 && m.bytes[0][0] == 0);
    for (npes, hosts, rows) in [(100, 4, 4), (100, 1, 8), (9, 9, 5), (4096, 64, 8)] {
        let m = ring(npes, hosts).matrix(LARGEST_TEXT);
        assert_eq!(m.labels.len(), rows, "{npes} PEs on {hosts} hosts");
        assert!(!m.by_pe);
        assert_eq!(m.bytes.iter().flatten().sum::<u64>(), 10 * u64::from(npes));
        assert_eq!(m.calls.iter().flatten().sum::<u64>(), u64::from(npes));
    }
}

fn late(arrivals: &[&[u64]], every: u64) -> (Vec<Late>, u64) {
    let merged = Merged::from(&late_profile(arrivals, every));
    (merged.late, merged.every)
}

fn late_profile(arrivals: &[&[u64]], every: u64) -> Profile {
    let npes = arrivals.len() as i32;
    let pe = |(pe, times): (usize, &&[u64])| {
        let sync =
            |(k, &at): (usize, &u64)| Sync { number: k as u64 * every, arrived_ns: at, op: 0, ..Sync::default() };
        let tables = PeTables {
            teams: vec![Team { stride: 1, size: npes, ..Team::default() }],
            syncs: times.iter().enumerate().map(sync).collect(),
            sync_every: every,
            ..PeTables::default()
        };
        Pe { pe: pe as u32, tables, ..Pe::default() }
    };
    let job = Job { npes: npes as u32, ..Job::default() };
    Profile { job, pes: arrivals.iter().enumerate().map(pe).collect() }
}

#[test]
fn the_last_to_arrive_is_blamed_for_what_the_others_lost() {
    let (list, every) = late(&[&[100, 500], &[100, 900], &[700, 500]], 1);
    assert_eq!((list.len(), every), (1, 1));
    assert_eq!((list[0].meetings, list[0].lost_ns, list[0].max_skew_ns), (2, 600 + 600 + 400 + 400, 600));
    assert_eq!(list[0].worst(), Some((2, 1, 1200)));
}

#[test]
fn kept_meetings_stand_for_the_others_and_incomplete_ones_blame_nobody() {
    let (list, every) = late(&[&[0, 0], &[10]], 4);
    assert_eq!(every, 4);
    assert_eq!((list[0].meetings, list[0].lost_ns), (4, 40));
}

/// The longest meetings are kept beside those that stand for others, by all but the PE that the others waited for.
#[test]
fn who_does_not_keep_a_long_meeting_was_late_to_it() {
    let of = |from_ns: [u64; 3], left_ns: u64| {
        let mut profile = late_profile(&[&[100, 200], &[110, 210], &[]], 8);
        for (pe, from_ns) in profile.pes.iter_mut().zip(from_ns) {
            pe.tables.longest_from_ns = from_ns;
            pe.tables
                .syncs
                .iter_mut()
                .for_each(|sync| sync.left_ns = sync.arrived_ns - sync.arrived_ns % 100 + left_ns);
        }
        Merged::from(&profile)
    };
    let found = of([1000; 3], 5000);
    assert_eq!((found.late.len(), found.late[0].meetings, found.late[0].max_skew_ns), (1, 2, 5000));
    assert_eq!(found.late[0].worst(), Some((2, 2, 2 * (5000 + 4990))));
    // It may have been there for as long as others.
    assert_eq!(of([1000, 1000, 10_000], 5000).late.len(), 0);
    // Short ones stand for others, and PEs that keep all keep these.
    assert_eq!(of([1000; 3], 500).late.len(), 0);
    assert_eq!(of([1000, 1000, 0], 5000).late.len(), 0);
}

/// What is long counts once, whether it is kept for its length or by its number.
#[test]
fn long_meetings_stand_for_themselves() {
    let mut profile = late_profile(&[&[100, 200], &[4000, 210]], 8);
    for pe in &mut profile.pes {
        pe.tables.longest_from_ns = 1000;
        pe.tables.syncs[0].left_ns = 4000;
        pe.tables.syncs[1].left_ns = 210;
    }
    let found = Merged::from(&profile);
    assert_eq!((found.late[0].meetings, found.late[0].lost_ns), (1 + 8, 3900 + 8 * 10));
    assert_eq!(found.meeting_times.kept_and_all().0, 3900 + 8 * 10);
}

/// Where a PE has not recorded all, its numbers are those of other meetings.
#[test]
fn meetings_that_not_all_have_recorded_blame_nobody() {
    let mut profile = late_profile(&[&[0, 500], &[100, 500]], 1);
    for (pe, calls) in profile.pes.iter_mut().zip([2, 5]) {
        (pe.progress, pe.tables.teams[0].calls) = (Progress::Initialized, calls);
    }
    let merged = Merged::from(&profile);
    assert_eq!((merged.late.len(), merged.unpaired), (1, 0), "one may be behind while they run");
    profile.pes.iter_mut().for_each(|pe| pe.progress = Progress::Finalized);
    let merged = Merged::from(&profile);
    assert_eq!((merged.late.len(), merged.unpaired), (0, 1));
    profile.pes[0].tables.teams[0].calls = 5;
    let merged = Merged::from(&profile);
    assert_eq!((merged.late.len(), merged.unpaired), (1, 0));
}

/// Of four meetings the one that was kept was the one with a late PE: it stands for the others only as far as time was
/// spent.
#[test]
fn no_more_is_lost_than_was_spent() {
    let name = op::get(0).unwrap().name();
    for (spent_ns, lost_ns) in [(1000, 40), (30, 30)] {
        let mut profile = late_profile(&[&[0], &[10]], 4);
        let routine = Routine { name: name.to_owned(), total_ns: spent_ns, ..Routine::new(name, Class::Barrier) };
        profile.pes[0].routines.push(routine);
        let list = Merged::from(&profile).late;
        assert_eq!((list[0].lost_ns, list[0].worst()), (lost_ns, Some((1, 4, lost_ns))));
    }
}

/// Seven meetings of which two were kept, each for four.
fn sampled_meetings(calls: [u64; 2]) -> Profile {
    let mut profile = late_profile(&[&[0, 100], &[10, 90]], 4);
    for (pe, calls) in profile.pes.iter_mut().zip(calls) {
        let routine = op::get(0).unwrap().name().to_owned();
        pe.tables.sites.push(Site { routine, calls, ..Site::default() });
    }
    profile
}

#[test]
fn the_calls_of_a_place_say_how_many_meetings_there_were() {
    let late = Merged::from(&sampled_meetings([7, 7])).late;
    assert_eq!((late.len(), late[0].meetings, late[0].lost_ns), (1, 7, 4 * 10 + 4 * 10));
    assert_eq!((late[0].meetings_of(0), late[0].meetings_of(1)), (7, 7));
    assert_eq!(late[0].by_pe.values().map(|(times, _)| *times).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(late[0].by_pe.values().map(|(_, lost)| *lost).collect::<Vec<_>>(), [40, 40]);
}

/// A place at which all met once is one, whether that meeting was kept or not; not where they are of several teams.
#[test]
fn a_place_of_which_no_meeting_was_kept_is_counted() {
    let all = |calls: [u64; 2], teams: u32| {
        let mut profile = sampled_meetings([7, 7]);
        for (pe, calls) in profile.pes.iter_mut().zip(calls) {
            let routine = "shmem_barrier_all".to_owned();
            pe.tables.sites.push(Site { routine, calls, address: 9, ..Site::default() });
            pe.tables.modules = vec![Module { start: 1, end: 100, path: "/bin/x".into(), ..Module::default() }];
            let team = |id| Team { stride: 1, size: 2, id, calls: 8, ..Team::default() };
            pe.tables.teams = (0..teams).map(team).collect();
        }
        let late = Merged::from(&profile).late;
        (late.len(), late.iter().map(|late| late.meetings).sum::<u64>())
    };
    assert_eq!(all([1, 1], 1), (2, 8));
    assert_eq!((all([1, 2], 1), all([1, 1], 2)), ((1, 7), (1, 7)));
}

#[test]
fn where_calls_do_not_say_how_many_meetings_there_were_those_that_are_kept_do() {
    let meetings = |profile: &Profile| Merged::from(profile).late[0].meetings;
    // One of them calls from elsewhere, too.
    assert_eq!(meetings(&sampled_meetings([7, 6])), 8);
    // Members of two teams meet there.
    let mut profile = sampled_meetings([7, 7]);
    for pe in &mut profile.pes {
        pe.tables.teams.push(Team { stride: 1, size: 2, id: 1, ..Team::default() });
        pe.tables.syncs[1].team = 1;
    }
    assert_eq!(meetings(&profile), 8);
    // A third PE calls there, of which nothing else is known.
    let mut profile = sampled_meetings([7, 7]);
    let other = profile.pes[0].tables.sites.clone();
    profile.pes.push(Pe { pe: 2, tables: PeTables { sites: other, ..PeTables::default() }, ..Pe::default() });
    assert_eq!(meetings(&profile), 8);
}

#[test]
fn a_sample_of_meetings_stands_for_all() {
    let profile = profile(4, 9);
    let all = Merged::from(&profile);
    let few = Merged::with_limits(&profile, Limits { meetings: 50, ..Limits::default() }, |_, _| {});
    assert!(few.every > all.every);
    let meetings = |m: &Merged| m.late.iter().map(|late| late.meetings).sum::<u64>() as f64;
    assert!((0.4..2.5).contains(&(meetings(&few) / meetings(&all))), "{} of {}", meetings(&few), meetings(&all));
}
