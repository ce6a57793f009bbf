//! Profile directories, sound and damaged.

use std::fs;
use std::path::{Path, PathBuf};

use super::cursor::Cursor;
use super::sections::{SECTIONS, WRITERS, Writer};
use super::{ReadError, read, write};
use crate::model::{End, Job, JobIdentity, LastOp, Pe, Profile, Progress, Routine, SizeCount};
use crate::op::Class;
use crate::output::OutputDir;
use crate::tables::{
    Algorithm, Callers, Cause, CodePlace, Context, Cost, Counter, CounterRegion, CounterRoutine, Counters, HotLine,
    LastPhase, Lock, Marker, Module, Nbi, Outside, PeTables, Peer, Phase, Rate, Region, Releaser, Requests, Site, Sync,
    System, Team, Timeline, Traffic, Usage,
};

/// A directory that is removed at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("pellucid-file-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Scratch(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sample() -> Profile {
    let mut put = Routine::new("shmem_putmem", Class::Put);
    put.calls = [0, 1, 2, 3];
    put.bytes = [0, 10, 20, u64::MAX];
    put.errors = 4;
    (put.timed_calls, put.total_ns, put.estimated, put.total_variance, put.max_ns) = (5, 6000, true, 12.5, 4000);
    [(100, 3), (u64::MAX, 1), (0, 2)].into_iter().for_each(|(ns, n)| put.latency.record(ns, n));
    put.sampled_sites = true;
    put.add_size(SizeCount { class: 4, distance: 2, calls: 2, bytes: 20 });
    put.add_size(SizeCount { class: 47, distance: 3, calls: 3, bytes: u64::MAX });
    let mut barrier = Routine::new("shmem_barrier_all", Class::Barrier);
    barrier.calls[0] = 1;
    (barrier.unfinished, barrier.unfinished_ns) = (1, 99);
    let last = LastOp { routine: "shmem_barrier_all".into(), inside: Some(true), peer: None, since_ns: Some(99) };
    let pe = Pe {
        pe: 0,
        pid: 4711,
        host: "node-ä".into(),
        progress: Progress::Initialized,
        end: End::Killed(9),
        start_ns: 10,
        init_ns: 20,
        end_ns: 1_000_000,
        level: 1,
        level_changes: 2,
        threads: 3,
        shared_calls: 4,
        overflowed: 5,
        last: Some(last),
        routines: vec![put.clone(), barrier],
        tables: tables(),
        ..Pe::default()
    };
    let other = Pe {
        pe: 1,
        end: End::Exited(-3),
        progress: Progress::Finalized,
        finalize_ns: 7,
        end_ns: 9,
        routines: vec![put],
        ..Pe::default()
    };
    let job = Job {
        program: "./isort \"x\"".into(),
        arguments: "-n 4".into(),
        directory: "/tmp".into(),
        host: "node-ä".into(),
        npes: 2,
        start_realtime_ns: 1_700_000_000_000_000_000,
        wall_ns: 2_000_000,
        exit_status: Some(137),
        library: "Pellucid 9.9.9".into(),
        identity: JobIdentity { id: "71_0".into(), step: "0".into(), launcher: "srun".into() },
        transport: "memory".into(),
    };
    Profile { job, pes: vec![pe, other] }
}

fn releaser() -> Releaser {
    let place = CodePlace { routine: "shmem_long_p".into(), path: "/bin/x".into(), address: 0x12 };
    let from = Some(CodePlace { address: 0x14, ..place.clone() });
    Releaser {
        pe: 3,
        place,
        region: "step".into(),
        from,
        worked_in: "inner".into(),
        work_ns: 1,
        library_ns: 2,
        own_ns: 3,
    }
}

/// A row of everything: each section of the format is there.
fn tables() -> PeTables {
    let traffic = Traffic { calls: 3, bytes: u64::MAX };
    let counter = Counter { name: "cycles".into(), available: true, total: 9, ..Counter::default() };
    let missing = Counter { name: "page-faults".into(), remark: "fuer spaeter: \u{e4}".into(), ..Counter::default() };
    let phase = Phase { from: Some((0x1240, 3)), begin_ns: 5, library_ns: u64::MAX, waits_ns: 6 };
    let tables = PeTables {
        peers: vec![
            Peer { pe: Some(1), put: traffic, ..Peer::default() },
            Peer { pe: None, amo: traffic, ..Peer::default() },
        ],
        sites: vec![Site {
            address: 0x1234,
            routine: "shmem_putmem".into(),
            region: 1,
            calls: 6,
            bytes: 30,
            timed_calls: 5,
            total_ns: Some(6000),
            max_ns: 4000,
            unfinished: 1,
            unfinished_ns: 99,
        }],
        modules: vec![Module {
            base: 0x1000,
            start: 0x1000,
            end: 0x2000,
            path: "/bin/x".into(),
            build_id: "0aff".into(),
        }],
        regions: vec![Region::default(), Region { name: "step".into(), entries: 2, ..Region::default() }],
        markers: vec![Marker { name: "m".into(), count: 1, sum: 0.5, min: 0.5, max: 0.5, last: 0.5 }],
        teams: vec![Team { start: 0, stride: 1, size: 2, calls: 1, ..Team::default() }],
        syncs: vec![Sync { op: 0, number: 7, arrived_ns: 8, left_ns: 9, phase, caller: 0x1250, ..Sync::default() }],
        open_syncs: vec![
            Sync { op: 0, number: 8, arrived_ns: 10, left_ns: 11, phase, ..Sync::default() },
            Sync { op: 0, region: 1, number: u64::MAX, ..Sync::default() },
        ],
        longest_from_ns: 77,
        longest_phase_from_ns: 78,
        last_phases: vec![
            LastPhase { phase: Phase { begin_ns: 9, ..Phase::default() }, end_ns: 12 },
            LastPhase { phase, end_ns: u64::MAX },
        ],
        causes: vec![
            Cause {
                address: 0x1236,
                routine: "shmem_long_wait_until".into(),
                ns: 4,
                by: Some(releaser()),
                ..Cause::default()
            },
            Cause { address: 0x1238, region: 1, waits: 2, ns: u64::MAX, ..Cause::default() },
        ],
        locks: vec![
            Lock { object: Some((1, 0x20)), taken: 3, max_held_ns: 4, handover_ns: u64::MAX, ..Lock::default() },
            Lock { contended: 1, ..Lock::default() },
        ],
        lines: vec![HotLine {
            peer: 3,
            object: (1, 0x40),
            routine: "shmem_long_atomic_inc".into(),
            calls: 5,
            ns: u64::MAX,
        }],
        rates: vec![Rate {
            routine: "shmem_putmem".into(),
            class: 47,
            distance: 3,
            calls: 5,
            ns: u64::MAX,
            looks: 4,
            faults: 3,
            busy: 2,
            preempted: 1,
        }],
        callers: vec![Callers {
            address: 0x1236,
            routine: "shmem_long_p".into(),
            region: 1,
            returns: vec![0x1300, u64::MAX],
            times: 7,
        }],
        sync_every: 2,
        nbi: Nbi { issued: 1, bytes: 2, batches: 3, completed: 4, ns: 5, blocked_ns: 6, max_ns: 7, met_ns: 8 },
        requests: vec![Requests { routine: "shmemx_long_put_nb".into(), ended: 2, open_ns: 9, waited_ns: 1 }],
        errors: vec![(11, 3)],
        contexts: vec![Context { handle: 5, put: traffic, orders: 1, team: Some((3, 0, 2, 4)), ..Context::default() }],
        cost: Cost { counted_ns: 1.5, beside_ns: [0.5, 2.5], timed_ns: 20.0, sample_ns: 30.0 },
        region_errors: 3,
        region_error: 0x1242,
        left_out: 7,
        trace_dropped: 5,
        timeline: Timeline { begin_ns: 10, width_ns: 1 << 20, slices: vec![[1, 2, 3, 4], [0, u64::MAX, 0, 0]] },
        system: System {
            cores: 2,
            allowed: 1,
            quota: 3,
            threads_ns: 999_980,
            unrecorded_ns: 11,
            script_ns: 13,
            off_core_ns: 12,
            outside: Some(Outside { work_ns: 40, queued_ns: 5 }),
            helpers_ns: 6,
            queued_ns: Some(7),
            queued_before_ns: 9,
            memory: [0x10_0000, 4096, 0x20_0000, 64],
            heap_used: 8,
            heap_most: 16,
            usage: Usage {
                user_ns: 1,
                system_ns: 2,
                page_faults: 3,
                voluntary_switches: 4,
                involuntary_switches: u64::MAX,
            },
        },
        counters: Counters {
            list: vec![counter, missing],
            routines: vec![CounterRoutine { routine: "shmem_putmem".into(), calls: 5, values: vec![4, 0] }],
            regions: vec![CounterRegion { region: 1, values: vec![3, 0], library: vec![2, 0] }],
        },
        network: vec![("puts".into(), 12), ("bytes out".into(), u64::MAX)],
        algorithms: vec![Algorithm { routine: "shmem_barrier_all".into(), name: "barrier:counter".into(), calls: 7 }],
    };
    for section in &WRITERS {
        assert!(section.payload(&tables).is_some(), "section {} is missing in what is tested", section.tag);
    }
    tables
}

fn write_sample(name: &str) -> Scratch {
    let dir = Scratch::new(name);
    write(&sample(), &OutputDir::take(&dir.0).unwrap()).unwrap();
    dir
}

#[test]
fn what_is_written_is_read() {
    let dir = Scratch::new("round-trip");
    let output = OutputDir::take(&dir.0).unwrap();
    write(&sample(), &output).unwrap();
    let loaded = read(&dir.0).unwrap();
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    assert_eq!(loaded.profile, sample());
    // A smaller profile leaves no files of the larger one behind.
    fs::write(dir.file("mine.txt"), "kept").unwrap();
    let one = Profile { pes: sample().pes.split_off(1), ..sample() };
    write(&one, &output).unwrap();
    assert_eq!(read(&dir.0).unwrap().profile, one);
    assert!(dir.file("mine.txt").exists() && !dir.file("pe-00000.prof").exists());
}

#[test]
fn a_file_of_another_job_is_named() {
    let (dir, other) = (write_sample("own-job"), Scratch::new("other-job"));
    let mut profile = sample();
    profile.job.identity.id = "72_0".to_owned();
    write(&profile, &OutputDir::take(&other.0).unwrap()).unwrap();
    let name = dir.file("pe-00001.prof").file_name().unwrap().to_owned();
    fs::copy(other.0.join(&name), dir.0.join(&name)).unwrap();
    let loaded = read(&dir.0).unwrap();
    let problem = loaded.problems[0].to_string();
    assert!(problem.contains(name.to_str().unwrap()), "{problem}");
    assert!(problem.ends_with("it is a file of job 72_0, and job.json is that of job 71_0"), "{problem}");
    assert_eq!((loaded.problems.len(), loaded.profile.pes.len()), (1, sample().pes.len() - 1));
    // A job that does not say which it is may have any.
    let text = fs::read_to_string(dir.file("job.json")).unwrap();
    fs::write(dir.file("job.json"), text.replace("  \"job_id\": \"71_0\",\n", "")).unwrap();
    assert!(read(&dir.0).unwrap().problems.is_empty());
}

#[test]
fn what_is_no_profile_is_named() {
    let dir = Scratch::new("none");
    let message = |path: &Path| read(path).unwrap_err().to_string();
    assert!(message(&dir.0).ends_with("no such directory"));
    fs::create_dir_all(&dir.0).unwrap();
    assert!(message(&dir.0).contains("neither job.json nor"));
    fs::write(dir.file("x"), "").unwrap();
    assert!(message(&dir.file("x")).contains("not a directory"));
}

#[test]
fn a_damaged_job_file_leaves_the_pes() {
    let dir = write_sample("job");
    let text = fs::read_to_string(dir.file("job.json")).unwrap();
    for (contents, expected) in [
        (text[..100].to_owned(), "truncated at offset 100"),
        (String::new(), "truncated at offset 0"),
        (text.replacen(':', "=", 1), "corrupt at offset"),
        (text.replace("pellucid-profile", "other"), "\"format\" is \"other\""),
        (text.replace("\"pes\": 2", "\"pes\": -2"), "\"pes\" is -2"),
        (text.replace("pe-00000", "../pe-00000"), "\"files\" is"),
        ("[]".to_owned(), "\"format\" is null"),
    ] {
        fs::write(dir.file("job.json"), contents).unwrap();
        let loaded = read(&dir.0).unwrap();
        assert_eq!(loaded.profile.pes, sample().pes);
        assert_eq!((loaded.profile.job.npes, loaded.profile.job.wall_ns), (2, 1_000_000));
        let problem = loaded.problems[0].to_string();
        assert!(problem.contains("job.json") && problem.contains(expected), "{problem}");
    }
    fs::remove_file(dir.file("job.json")).unwrap();
    assert_eq!(read(&dir.0).unwrap().problems.len(), 1);
}

#[test]
fn another_version_is_refused() {
    let dir = write_sample("version");
    let path = dir.file("pe-00001.prof");
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 2;
    fs::write(&path, bytes).unwrap();
    let loaded = read(&dir.0).unwrap();
    assert_eq!(loaded.profile.pes.len(), 1);
    assert!(loaded.problems[0].to_string().contains("pe-00001.prof: written by version 2"), "{}", loaded.problems[0]);
    let text = fs::read_to_string(dir.file("job.json")).unwrap().replace("\"version\": 1", "\"version\": 9");
    fs::write(dir.file("job.json"), text).unwrap();
    assert!(matches!(read(&dir.0), Err(ReadError::Version { found: 9, .. })));
}

#[test]
fn every_truncation_is_reported_and_keeps_what_came_before() {
    let dir = write_sample("truncated");
    let path = dir.file("pe-00000.prof");
    let whole = fs::read(&path).unwrap();
    let mut routines = Vec::new();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let loaded = read(&dir.0).unwrap();
        let problem = loaded.problems.first().unwrap_or_else(|| panic!("{length} bytes pass for a whole file"));
        assert!(matches!(problem, ReadError::Truncated { offset, .. } if *offset == length as u64), "{problem}");
        let pe = loaded.profile.pes.iter().find(|pe| pe.pe == 0);
        routines.push(pe.map_or(0, |pe| pe.routines.len()));
    }
    assert!(routines.is_sorted());
    assert_eq!(routines.last(), Some(&2), "all routines are there when only the end is missing");
    fs::remove_file(&path).unwrap();
    let loaded = read(&dir.0).unwrap();
    assert!(loaded.problems[0].to_string().contains("pe-00000.prof"), "a missing file is named");
}

#[test]
fn one_damaged_routine_costs_only_itself() {
    let dir = write_sample("skip");
    let path = dir.file("pe-00000.prof");
    let mut bytes = fs::read(&path).unwrap();
    let name = b"shmem_putmem";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let loaded = read(&dir.0).unwrap();
    let names: Vec<_> = loaded.profile.pes[0].routines.iter().map(|r| r.name.as_str()).collect();
    assert_eq!((names, loaded.profile.pes[0].pid), (vec!["shmem_barrier_all"], 4711));
    assert!(loaded.problems[0].to_string().contains("checksum does not match"), "{}", loaded.problems[0]);
}

#[test]
fn random_damage_is_noticed_and_never_fatal() {
    let dir = write_sample("fuzz");
    let path = dir.file("pe-00000.prof");
    let whole = fs::read(&path).unwrap();
    let mut seed = 0x5eed_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % below
    };
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random(4) {
            let at = random(bytes.len());
            bytes[at] ^= 1 + random(255) as u8;
        }
        if random(4) == 0 {
            bytes.truncate(random(bytes.len()));
        }
        let (pe, problem) = super::decode::pe_file(&path, &bytes, 0);
        assert!(problem.is_some() || bytes == whole, "damage went unnoticed");
        if let Some(problem) = problem {
            assert!(problem.to_string().contains("pe-00000.prof"));
        }
        assert!(pe.is_none_or(|pe| pe.routines.len() <= 2));
    }
}

#[test]
fn damage_behind_a_right_checksum_is_never_fatal() {
    // What a checksum cannot catch: a writer with a bug. Each byte of each payload takes several values.
    let path = PathBuf::from("pe-00000.prof");
    let whole = super::encode::pe_file(&sample().pes[0], "71_0");
    let mut begin = 12;
    while begin < whole.len() {
        let length = u32::from_le_bytes(whole[begin + 4..begin + 8].try_into().unwrap()) as usize;
        let end = begin + 8 + length;
        for at in begin + 8..end {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let checksum = crc32fast::hash(&bytes[begin..end]);
                bytes[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
                let (pe, _) = super::decode::pe_file(&path, &bytes, 0);
                assert!(pe.is_some());
            }
        }
        begin = end + 4;
    }
}

#[test]
fn a_number_of_pes_that_nobody_has_is_damage() {
    let dir = write_sample("crowd");
    let job = dir.file("job.json");
    let text = fs::read_to_string(&job).unwrap();
    let pes = format!("\"pes\": {}", sample().job.npes);
    assert!(text.contains(&pes), "{text}");
    fs::write(&job, text.replace(&pes, "\"pes\": 4000000000")).unwrap();
    let loaded = read(&dir.0).unwrap();
    assert!(loaded.problems.iter().any(|problem| problem.to_string().contains("\"pes\" is 4000000000")));
    assert!(loaded.profile.job.npes <= 16, "{}", loaded.profile.job.npes);
    // And of a PE's own number: the first of its section, behind tag and length.
    let mut bytes = super::encode::pe_file(&sample().pes[0], "71_0");
    bytes[20..24].copy_from_slice(&[0xff; 4]);
    let end = 20 + u32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
    let checksum = crc32fast::hash(&bytes[12..end]);
    bytes[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
    let (pe, problem) = super::decode::pe_file(&PathBuf::from("pe-00007.prof"), &bytes, 7);
    assert_eq!(pe.unwrap().pe, 7);
    assert!(problem.unwrap().to_string().contains("PE 4294967295"));
}

/// Sums of what each section of [`tables`] is in a file: a section that is there keeps its tag and its fields, since
/// files of earlier versions have them, and is replaced by one of another tag where that does not do.
#[rustfmt::skip]
const FORMAT: [(u32, u32); 43] = [
    (4, 0x76009807), (5, 0xad0bcbea), (6, 0xeabd0c3e), (7, 0x88e2fe4d), (8, 0xc68ebd97),
    (9, 0x8c91324f), (10, 0x859ce2d9), (11, 0x4880a9d2), (12, 0x49b0b1a6), (13, 0xa5b1fc96),
    (14, 0xaa409e78), (15, 0xeef70756), (17, 0x1d7e2f6f), (18, 0xab902518), (19, 0x0755cc41),
    (20, 0x22c801ad), (21, 0x53bf35db), (22, 0x753e2e5a), (23, 0x3b3acea2), (24, 0x2dc2d10d),
    (25, 0x4a72d500), (26, 0xfedb971e), (27, 0x0e6ffc49), (28, 0x80647f70), (29, 0xf82c7643),
    (30, 0xbdce7929), (31, 0x6fe7d670), (32, 0x3861cdb3), (33, 0x33f170f2), (34, 0x3329f43c),
    (35, 0xd7ba0855), (36, 0x4517f421), (37, 0x328dca26), (38, 0xdbf5c05e), (39, 0xc077a103),
    (40, 0xa34dd6ee), (41, 0x59350fb6), (42, 0x3848c33f),
    (43, 0x6fe7d670), (44, 0x7a6dc442), (45, 0x35ff4de1), (46, 0xfe27cab8), (47, 0x112aa186),
];

#[test]
fn sections_are_what_they_were_in_earlier_versions() {
    let tables = tables();
    let sum = |section: &Writer| (section.tag, crc32fast::hash(&section.payload(&tables).unwrap_or_default()));
    let mut sums: Vec<(u32, u32)> = WRITERS.iter().map(sum).collect();
    sums.sort_unstable();
    assert_eq!(sums, FORMAT, "two have a tag, or a field changed");
    let own = [super::TAG_PE, super::TAG_ROUTINE, super::TAG_END, super::TAG_DENIED];
    assert!(sums.iter().all(|(tag, _)| !own.contains(tag)));
}

#[test]
fn nonblocking_operations_of_earlier_versions_are_read() {
    let section = SECTIONS.iter().find(|section| section.tag == 12).unwrap();
    let writer = WRITERS.iter().find(|writer| writer.tag == section.tag).unwrap();
    let bytes = writer.payload(&tables()).unwrap();
    let mut read = PeTables::default();
    let mut without_the_last = Cursor::new(Path::new("old"), &bytes[..bytes.len() - 8]);
    (section.decode)(&mut without_the_last, &mut read).unwrap();
    assert_eq!(read.nbi, Nbi { met_ns: 0, ..tables().nbi });
}
