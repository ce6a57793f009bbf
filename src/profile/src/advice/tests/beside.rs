//! What is said of the time that other findings do not explain; contexts and teams; calls that do not block.

use super::*;

/// Contexts that four PEs of one second make for so long, for each put.
pub(super) fn contexts(ns: u64) -> Profile {
    let create = routine("shmem_ctx_create", Class::Context, 5000, 0, ns * 3 / 4);
    let destroy = routine("shmem_ctx_destroy", Class::Context, 5000, 0, ns / 4);
    profile(&[create, destroy, routine("shmem_ctx_long_put", Class::Put, 5000, 8, MS)], 0.25)
}

#[test]
fn contexts_and_teams_are_made_once() {
    let found = findings(&contexts(400 * MS));
    assert_eq!(found[0].1.what, "contexts are made 5000 times a PE");
    assert!((found[0].1.share - 0.4).abs() < 1e-9, "{found:?}");
    assert!(names(&contexts(40 * MS)).is_empty());
    let teams = |ns| profile(&[routine("shmem_team_split_strided", Class::Team, 500, 0, ns)], 0.25);
    let found = findings(&teams(200 * MS));
    assert_eq!((found[0].0, found[0].1.what.as_str()), ("contexts-and-teams", "teams are made 500 times a PE"));
    // What is waited in them for a PE that comes late is waited without them, too.
    let mut late = with_barriers(teams(150 * MS), Some(2));
    late.pes[2].routines[0].total_ns = MS;
    let op = op("shmem_team_split_strided").unwrap();
    late.pes.iter_mut().flat_map(|pe| &mut pe.tables.syncs).for_each(|sync| sync.op = op);
    assert_eq!(names(&late), ["barrier-late"], "{:?}", findings(&late));
}

/// A small finding does not hide that most of the time goes elsewhere.
#[test]
fn what_findings_do_not_cover_is_told_beside_them() {
    let files = |ns| {
        let mut all = contexts(100 * MS);
        all.pes.iter_mut().for_each(|pe| pe.routines.push(routine("shmemx_file_write", Class::Io, 50, 1 << 20, ns)));
        all
    };
    let found = findings(&files(300 * MS));
    assert_eq!(names(&files(300 * MS)), ["library-time", "contexts-and-teams"], "{found:?}");
    assert!(found[0].1.what.starts_with("30 % of the time is in the library, most in files"), "{found:?}");
    assert_eq!(names(&files(190 * MS)), ["contexts-and-teams"]);
    // Where one PE has something else to do, the run takes what that one does.
    let mut one = files(300 * MS);
    one.pes[3].routines.retain(|r| r.class != Class::Io);
    assert_eq!(names(&one), ["contexts-and-teams"], "{:?}", findings(&one));
}

/// A thread that waits while another one of its PE works loses nothing: whoever it works for has seen it.
#[test]
fn who_serves_while_its_pe_works_loses_nothing() {
    let served = |by: fn(u32) -> u32, work_ns: u64| {
        let mut all = profile(&[routine("shmem_long_wait_until", Class::Wait, 400, 0, 990 * MS)], 0.25);
        for pe in &mut all.pes {
            pe.threads = 2;
            let by = Releaser { pe: by(pe.pe), work_ns, own_ns: work_ns, ..Releaser::default() };
            let routine = "shmem_long_wait_until".into();
            pe.tables.causes = vec![Cause { routine, waits: 400, ns: 990 * MS, by: Some(by), ..Cause::default() }];
        }
        names(&all)
    };
    assert!(served(|pe| pe, 980 * MS).is_empty());
    assert!(!served(|pe| (pe + 1) % 4, 980 * MS).contains(&"library-time"));
    assert_eq!(served(|pe| pe, 100 * MS), ["library-time"]);
}

/// Lines that take a part of it are named, and not those that hardly do.
#[test]
fn lines_beside_the_costliest_are_named() {
    let mut all = profile(&[routine("shmem_long_sum_reduce", Class::Collective, 1000, 8, 900 * MS)], 0.25);
    for pe in &mut all.pes {
        in_a_file(pe);
        let site = |address: u64, ms: u64| Site {
            routine: "shmem_long_sum_reduce".into(),
            address,
            calls: 250,
            timed_calls: 250,
            total_ns: Some(ms * MS),
            ..Site::default()
        };
        pe.tables.sites = [(11, 300), (12, 400), (13, 20), (14, 100), (15, 95)].map(|(at, ms)| site(at, ms)).into();
    }
    let found = super::super::findings(&Merged::from(&all), &LinesOf64);
    let (name, Finding { evidence, .. }) = &found[0];
    assert_eq!(*name, "library-time", "{found:?}");
    assert!(
        evidence.ends_with("; most in main at ph.c:11, then in main at ph.c:10 and in main at ph.c:13"),
        "{evidence}"
    );
}

/// What is next for large transfers is how fast they are, and not how many.
#[test]
fn large_transfers_are_sent_to_their_rates() {
    let next = |bytes| {
        let found = findings(&profile(&[routine("shmem_putmem", Class::Put, 5, bytes, 400 * MS)], 0.25));
        let (_, rest) = found.into_iter().find(|(name, _)| *name == "library-time").expect("library-time");
        rest.try_this
    };
    assert!(next(16 << 20).starts_with("--view rates"), "{}", next(16 << 20));
    assert!(next(4096).starts_with("--view sizes"), "{}", next(4096));
}

/// Small puts and gets cost as much where they do not block, but for what a network makes of them.
#[test]
fn small_calls_that_do_not_block_are_small_calls() {
    let put = |ns| profile(&[routine("shmem_long_put_nbi", Class::Put, 100_000, 8, ns)], 0.9);
    assert_eq!(names(&put(150 * MS)), ["small-puts"]);
    assert!(names(&put(90 * MS)).is_empty());
    let get = |ns| profile(&[routine("shmem_long_get_nbi", Class::Get, 100_000, 8, ns)], 0.25);
    assert_eq!(names(&get(300 * MS)), ["small-gets"]);
    assert!(names(&get(150 * MS)).is_empty());
    let quiet = routine("shmem_quiet", Class::Order, 50_000, 0, 60 * MS);
    let gets = profile(&[routine("shmem_long_get_nbi", Class::Get, 50_000, 8, 60 * MS), quiet], 0.25);
    let found = findings(&gets);
    assert_eq!(names(&gets), ["quiet-often"], "{found:?}");
    assert_eq!(found[0].1.what, "a quiet after nearly every get: 200000 quiets for 200000 gets");
}
