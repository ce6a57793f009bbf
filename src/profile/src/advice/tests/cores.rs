//! PEs that had no core, had nothing to do with one, or waited for one that worked.

use super::*;

/// More PEs than cores, of which one works at a time: more cores do not help.
#[test]
fn turns_in_which_one_works_do_not_lack_cores() {
    let in_turn = |calls| {
        let mut crowd = profile(&[routine("shmem_long_wait_until", Class::Wait, calls, 0, 760 * MS)], 0.25);
        crowd.pes.iter_mut().for_each(|pe| (pe.host, pe.tables.system.cores) = ("vm".into(), 2));
        names(&crowd)
    };
    // Who is waited for is not known here.
    assert_eq!(in_turn(100), ["library-time"]);
    // Turns of microseconds are lost while whoever has the next one stands in line.
    assert_eq!(in_turn(20_000), ["oversubscribed"]);
}

/// A thread that does nothing but wait wants no core.
#[test]
fn threads_that_only_wait_do_not_count() {
    let mut service = profile(&[routine("shmem_long_wait_until", Class::Wait, 1, 0, 999 * MS)], 0.25);
    for pe in &mut service.pes {
        (pe.host, pe.tables.system.cores) = ("vm".into(), 4);
        pe.tables.system.threads_ns = 2000 * MS;
        pe.tables.system.usage.user_ns = 1000 * MS;
    }
    assert!(!names(&service).contains(&"oversubscribed"), "{:?}", findings(&service));
}

/// A PE that sleeps or reads while the others stand in line for what cores there are is on none, and works alone.
#[test]
fn one_pe_that_is_on_no_core_works_alone_in_a_crowd() {
    let mut crowd = uneven(900 * MS, 100 * MS);
    for pe in &mut crowd.pes {
        (pe.host, pe.tables.system.cores) = ("vm".into(), 2);
        let (on_core, queued) = if pe.pe == 0 { (20, 10) } else { (500, 400) };
        (pe.tables.system.usage.user_ns, pe.tables.system.queued_ns) = (on_core * MS, Some(queued * MS));
    }
    let found = findings(&crowd);
    assert_eq!(found[0].0, "serial-pe", "{found:?}");
    assert!(found[0].1.what.starts_with("PE 0 is outside of the library alone for 790 ms"), "{found:?}");
}

/// Where PEs stand in line for cores, what one was on a processor for says that it works alone.
#[test]
fn one_pe_works_alone_in_a_crowd() {
    let mut crowd = uneven(700 * MS, 650 * MS);
    for pe in &mut crowd.pes {
        (pe.host, pe.tables.system.cores) = ("vm".into(), 2);
        pe.tables.system.usage.user_ns = if pe.pe == 0 { 300 * MS } else { 50 * MS };
    }
    // Much of the time a core is free.
    assert_eq!(names(&crowd), ["serial-pe", "oversubscribed"]);
    crowd.pes.iter_mut().for_each(|pe| pe.tables.system.usage.user_ns = 450 * MS);
    assert_eq!(names(&crowd), ["oversubscribed"]);
}

/// Threads that wait at the same time want a core each, and no other program is to blame.
#[test]
fn threads_share_cores_as_pes_do() {
    let mut many = profile(&[routine("shmem_long_wait_until", Class::Wait, 400, 0, 3000 * MS)], 0.25);
    for pe in &mut many.pes {
        (pe.host, pe.tables.system.cores) = ("vm".into(), 4);
        pe.tables.system.threads_ns = 4000 * MS;
        (pe.tables.system.usage.user_ns, pe.tables.system.usage.involuntary_switches) = (1000 * MS, 9000);
    }
    let found = findings(&many);
    assert_eq!(found[0].0, "oversubscribed");
    assert!(found[0].1.what.starts_with("4 PEs with 16 threads share 4 cores on vm"), "{:?}", found[0].1);
    // There are cores for the PEs.
    assert!(found[0].1.try_this.starts_with("start fewer threads in each PE"), "{:?}", found[0].1);
    many.pes.iter_mut().for_each(|pe| pe.tables.system.cores = 2);
    assert!(findings(&many)[0].1.try_this.starts_with("start as many PEs as there are cores"));
}

/// Threads of a PE that are in the library for longer together than the PE runs do work outside of it, too.
#[test]
fn what_a_pe_works_alone_is_what_its_threads_do() {
    let mut threaded = uneven(1000 * MS, 0);
    for pe in &mut threaded.pes {
        // A thread that waits for two, of which one works; of PE 0 it does so all the time.
        (pe.threads, pe.tables.system.threads_ns) = (3, 3000 * MS);
        let waits = if pe.pe == 0 { 0 } else { 1300 * MS };
        pe.routines = vec![routine("shmem_team_sync", Class::Barrier, 10, 0, waits)];
    }
    let found = findings(&threaded);
    assert_eq!(found[0].0, "serial-pe", "{found:?}");
    assert!(found[0].1.what.starts_with("PE 0 works alone for 1.00 s"), "{found:?}");
    let evidence = "3.00 s outside of the library with all its threads, 1.70 s in the mean of the others";
    assert!(found[0].1.evidence.starts_with(evidence), "{found:?}");
}

/// What a thread that waits for the others of its PE has of the run is nothing to divide by, and those that are in the
/// library at the same time lose no more than there is.
#[test]
fn costs_are_shares_of_what_pes_run_whatever_their_threads() {
    let threaded = |ns| {
        let mut all = profile(&[routine("shmem_long_g", Class::Get, 100_000, 8, ns)], 0.25);
        all.pes.iter_mut().for_each(|pe| (pe.threads, pe.tables.system.threads_ns) = (4, 4000 * MS));
        let share = findings(&all).iter().find(|(name, _)| *name == "small-gets").map(|(_, found)| found.share);
        let run = Merged::from(&all).efficiencies.run;
        (share, run.savings(4)[1] / MS, run.factors(4).map(|factors| (100.0 * factors.transfer).round()))
    };
    assert_eq!(threaded(900 * MS), (Some(0.9), 900, Some(10.0)));
    assert_eq!(threaded(3000 * MS), (Some(1.0), 1000, Some(0.0)));
}

/// As many cores as there are help nobody whose container may take the time of a few.
#[test]
fn a_quota_is_what_pes_share() {
    let mut few = profile(&[routine("shmem_long_wait_until", Class::Wait, 400, 0, 3000 * MS)], 0.25);
    for pe in &mut few.pes {
        (pe.host, pe.tables.system.cores, pe.tables.system.quota) = ("vm".into(), 2, 2);
        pe.tables.system.usage.user_ns = 500 * MS;
    }
    let (name, finding) = findings(&few).into_iter().next().expect("a finding");
    assert_eq!(name, "oversubscribed");
    assert!(
        finding.what.starts_with("4 PEs with 12 threads share the time of 2 cores on vm, which is their quota"),
        "{finding:?}"
    );
    assert!(finding.try_this.contains("--cpus"), "{finding:?}");
}

/// More cores cannot help a program in which one PE works all the time.
#[test]
fn a_crowd_that_waits_for_one_that_works_has_cores_enough() {
    let mut crowd = uneven(950 * MS, 100 * MS);
    for pe in &mut crowd.pes {
        (pe.host, pe.tables.system.cores) = ("vm".into(), 2);
        pe.tables.system.usage.user_ns = if pe.pe == 0 { 950 * MS } else { 100 * MS };
    }
    assert_eq!(names(&crowd), ["serial-pe"]);
}

/// A PE that sleeps or reads is on no core either: the run queue tells who stood in line for one.
#[test]
fn who_stood_in_line_is_told_from_who_was_away() {
    let mut away = uneven(950 * MS, 100 * MS);
    for pe in &mut away.pes {
        (pe.host, pe.tables.system.cores) = ("vm".into(), 4);
        (pe.tables.system.usage.user_ns, pe.tables.system.usage.involuntary_switches) = (50 * MS, 9000);
        pe.tables.system.queued_ns = Some(MS);
    }
    let found = findings(&away);
    assert_eq!(found.iter().map(|(rule, _)| *rule).collect::<Vec<_>>(), ["serial-pe"]);
    assert!(found[0].1.what.starts_with("PE 0 is outside of the library alone"), "{:?}", found[0].1);
    away.pes[0].tables.system.usage.user_ns = 950 * MS;
    assert!(findings(&away)[0].1.what.starts_with("PE 0 works alone"));
    // Others had its core.
    away.pes[0].tables.system.usage.user_ns = 50 * MS;
    away.pes[0].tables.system.queued_ns = Some(900 * MS);
    assert_eq!(names(&away), ["oversubscribed"]);
    // While it waited itself.
    away.pes[0].tables.system.off_core_ns = 880 * MS;
    assert!(names(&away).contains(&"serial-pe"), "{:?}", findings(&away));
}

/// Where PEs share cores, who waits stands in line: that is nothing that others wait for.
#[test]
fn standing_in_line_while_it_waits_is_no_excuse() {
    let mut crowd = uneven(700 * MS, 100 * MS);
    for pe in &mut crowd.pes {
        (pe.host, pe.tables.system.cores) = ("vm".into(), 2);
        (pe.tables.system.usage.user_ns, pe.tables.system.queued_ns) = (500 * MS, Some(600 * MS));
    }
    assert!(!names(&crowd).contains(&"serial-pe"), "{:?}", findings(&crowd));
    crowd.pes.iter_mut().for_each(|pe| pe.tables.system.off_core_ns = 550 * MS);
    assert!(names(&crowd).contains(&"serial-pe"), "{:?}", findings(&crowd));
}

/// Time in line counts whether or not anybody waited meanwhile.
#[test]
fn programs_that_are_starved_are_told_so() {
    let mut starved = profile(&[routine("shmem_long_g", Class::Get, 100, 8, MS)], 0.25);
    for pe in &mut starved.pes {
        (pe.host, pe.tables.system.cores) = ("vm".into(), 4);
        (pe.tables.system.usage.user_ns, pe.tables.system.queued_ns) = (20 * MS, Some(970 * MS));
    }
    let found = findings(&starved);
    assert_eq!(found[0].0, "oversubscribed");
    assert!(found[0].1.evidence.contains("in line for a core"), "{:?}", found[0].1);
    starved.pes.iter_mut().for_each(|pe| pe.tables.system.quota = 4);
    let found = findings(&starved);
    assert!(found[0].1.what.starts_with("a quota of 4 cores, or other programs, take the cores of vm"), "{found:?}");
    assert!(found[0].1.try_this.contains("nr_throttled"), "{found:?}");
}

/// Four PEs on two cores that work one at a time, as far as is known, while all stand in line for cores that others
/// have.
#[test]
fn who_takes_the_cores_of_a_crowd_is_told() {
    let crowd = |on_core_ms: u64, queued_ms: u64| {
        let mut crowd = super::late::ring(250 * MS, 250 * MS);
        for pe in &mut crowd.pes {
            let system = &mut pe.tables.system;
            (pe.host, system.cores, system.allowed) = ("vm".into(), 2, 2);
            (system.usage.user_ns, system.queued_ns) = (on_core_ms * MS, Some(queued_ms * MS));
            system.off_core_ns = queued_ms * MS;
        }
        crowd
    };
    // Somebody stands in line for 70 % of the run; the PEs have 0.8 of the two cores.
    let found = findings(&crowd(200, 700));
    assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["oversubscribed"], "{found:?}");
    let Finding { what, evidence, try_this, share } = &found[0].1;
    assert!(what.starts_with("other programs take the cores of vm"), "{what}");
    let said = "4 PEs on processors for 800 ms in all, in line for one for 2.80 s: others had 2 cores for 40 % of";
    assert!(evidence.starts_with(said), "{evidence}");
    assert!(try_this.contains("as many PEs as there are cores"), "{try_this}");
    assert!((share - 0.4).abs() < 0.01, "{share}");
    // They have the cores themselves, or nobody stands in line, or each is bound to one.
    assert!(names(&crowd(250, 0)).contains(&"serialized"), "{:?}", findings(&crowd(250, 0)));
    let is_told = |profile: &Profile| findings(profile).iter().any(|(_, found)| found.what.contains("other programs"));
    assert!(!is_told(&crowd(500, 500)) && !is_told(&crowd(250, 0)));
    let mut bound = crowd(200, 700);
    bound.pes.iter_mut().for_each(|pe| pe.tables.system.allowed = 1);
    assert!(!is_told(&bound));
}

/// PEs of a run of 1 s, which the first `whole` of them work in or wait, while the others come to their end after so
/// many milliseconds.
fn with_short_runs(mut all: Profile, whole: usize, short_ms: u64) -> Profile {
    for pe in &mut all.pes {
        pe.finalize_ns = 1000 * MS;
    }
    for pe in &mut all.pes[whole..] {
        (pe.finalize_ns, pe.routines) = (short_ms * MS, Vec::new());
    }
    all
}

/// Of PEs that end at once, what they stand in line for is a moment of the run.
#[test]
fn a_moment_in_line_of_a_short_run_is_no_lack_of_cores() {
    let mut ends = with_short_runs(profile(&[], 0.25), 2, 1);
    for pe in &mut ends.pes {
        let system = &mut pe.tables.system;
        (pe.host, system.cores, system.allowed) = ("vm".into(), 2, 2);
        (system.usage.user_ns, system.queued_ns) = (MS / 10, Some(9 * MS / 10));
    }
    assert!(!names(&ends).contains(&"oversubscribed"), "{:?}", findings(&ends));
    // All of the run is a lack.
    for pe in &mut ends.pes[..2] {
        pe.tables.system.queued_ns = Some(900 * MS);
    }
    assert_eq!(findings(&ends)[0].0, "oversubscribed");
}

/// Nor is a PE that works all of the moment for which it runs what the run takes at least.
#[test]
fn a_short_run_without_waits_leaves_room_for_what_others_save() {
    let gets = || routine("shmem_long_g", Class::Get, 1_000_000, 8, 900 * MS);
    let locks = || routine("shmem_set_lock", Class::Lock, 900, 0, 600 * MS);
    for (rule, of) in [("small-gets", gets()), ("locks", locks())] {
        let mut all = with_short_runs(profile(std::slice::from_ref(&of), 0.25), 2, 20);
        assert!(names(&all).contains(&rule), "{rule}: {:?}", findings(&all));
        // One that works for as long as the others run does.
        all.pes[2].finalize_ns = 1000 * MS;
        assert!(!names(&all).contains(&rule), "{rule}: {:?}", findings(&all));
    }
}
