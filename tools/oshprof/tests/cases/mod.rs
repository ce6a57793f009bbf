//! Profiles with known numbers.

use pellucid_profile::calibration::{Calibration, Measured, Point};
use pellucid_profile::model::{End, Job, JobIdentity, LastOp, Pe, Profile, Progress, Routine, SizeCount};
use pellucid_profile::op::{Class, find};
use pellucid_profile::size::size_class;
use pellucid_profile::tables::{
    Algorithm, Callers, Cause, CodePlace, Context, Cost, Counter, CounterRegion, CounterRoutine, Counters, HotLine,
    LastPhase, Lock, Marker, Module, Nbi, PeTables, Peer, Phase, Rate, Region, Releaser, Requests, Site, Sync, System,
    Team, Timeline, Traffic,
};

const MS: u64 = 1_000_000;

/// Every profile that has golden reports.
pub fn all() -> Vec<(&'static str, Profile)> {
    vec![("stencil", stencil()), ("killed", killed()), ("crowd", crowd()), ("silent", silent())]
}

/// What puts take on the host of the cases, over its network.
#[allow(dead_code, reason = "some tests make no report")]
pub fn calibration() -> Calibration {
    let point = |bytes, ns| Point { kind: Measured::Put, bytes, ns, spread: 0.3 };
    let points = vec![point(8, 26.0), point(1 << 20, 200_000.0)];
    Calibration::new(["node7".into(), "node7".into()], "verbs;ofi_rxm".into(), points)
}

fn job(program: &str, arguments: &str, npes: u32, wall_ns: u64, exit_status: i32) -> Job {
    Job {
        program: program.into(),
        arguments: arguments.into(),
        directory: "/home/ada/run".into(),
        host: "node7".into(),
        npes,
        start_realtime_ns: 1_750_000_000 * 1_000_000_000,
        wall_ns,
        exit_status: Some(exit_status),
        library: "Pellucid 0.1.0".into(),
        identity: JobIdentity { id: "4711_0".into(), step: "0".into(), launcher: "srun".into() },
        transport: "ofi".into(),
    }
}

fn finalized(pe: u32, wall_ns: u64, routines: Vec<Routine>) -> Pe {
    Pe {
        pe,
        pid: 1000 + pe,
        host: "node7".into(),
        progress: Progress::Finalized,
        end: End::Exited(0),
        start_ns: 2 * MS,
        init_ns: 3 * MS,
        finalize_ns: wall_ns,
        end_ns: wall_ns + 2 * MS,
        level: 1,
        threads: 1,
        routines,
        ..Pe::default()
    }
}

/// A routine of which each call is timed: the given calls in nanoseconds.
fn timed(name: &str, class: Class, calls: &[u64]) -> Routine {
    let mut r = Routine::new(name, class);
    r.calls[0] = calls.len() as u64;
    r.timed_calls = calls.len() as u64;
    r.total_ns = calls.iter().sum();
    r.max_ns = calls.iter().copied().max().unwrap_or(0);
    calls.iter().for_each(|&ns| r.latency.record(ns, 1));
    r
}

fn send(r: &mut Routine, distance: u8, calls: u64, size: u64) {
    let bytes = calls * size;
    r.calls[usize::from(distance)] += calls;
    r.bytes[usize::from(distance)] += bytes;
    r.add_size(SizeCount { class: size_class(size as usize) as u8, distance, calls, bytes });
}

/// Sampled calls of 8 bytes to the host: each of `samples` stands for `weight` calls.
fn sampled(name: &str, class: Class, samples: &[u64], weight: u64) -> Routine {
    let mut r = Routine::new(name, class);
    send(&mut r, 2, samples.len() as u64 * weight, 8);
    r.timed_calls = samples.len() as u64;
    r.total_ns = samples.iter().sum::<u64>() * weight;
    r.estimated = true;
    r.total_variance = 40_000.0;
    r.max_ns = samples.iter().copied().max().unwrap_or(0);
    samples.iter().for_each(|&ns| r.latency.record(ns, weight));
    r
}

/// Four PEs, everything in order; PE 2 comes late to the barriers.
fn stencil() -> Profile {
    let pes = (0..4_u64).map(|pe| {
        let wait = if pe == 2 { MS } else { 40 * MS };
        let mut put = timed("shmem_double_put", Class::Put, &[120_000; 50]);
        put.calls[0] = 0;
        send(&mut put, 2, 48, 65_536);
        send(&mut put, 1, 2, 4096);
        let mut p = sampled("shmem_long_p", Class::Put, &[10, 11, 12, 10, 90], 128);
        (p.errors, p.sampled_sites) = (u64::from(pe == 1), true);
        let routines = vec![
            timed("shmem_init", Class::Setup, &[800_000 + pe * 1000]),
            put,
            p,
            sampled("shmem_ctx_uint64_atomic_compare_swap_nbi", Class::Amo, &[30, 31], 128),
            timed("shmem_long_wait_until", Class::Wait, &[5000, 7000 + pe]),
            timed("shmem_barrier_all", Class::Barrier, &[wait, 2000, 3000 + pe]),
            timed("shmem_double_sum_reduce", Class::Collective, &[9000; 10]),
        ];
        Pe { tables: tables(pe as u32), ..finalized(pe as u32, 400 * MS, routines) }
    });
    Profile { pes: pes.collect(), job: job("./stencil", "-n 1024 --steps 50", 4, 410 * MS, 0) }
}

/// Everything that is not by routine, of PE `pe` of four; PE 2 comes 39 ms late to the first barrier.
fn tables(pe: u32) -> PeTables {
    let (barrier, put) = ("shmem_barrier_all", "shmem_double_put");
    let traffic = |calls, bytes| Traffic { calls, bytes };
    let peer = |to: u32| Peer { pe: Some(to), put: traffic(24, 24 * 65_536), get: traffic(2, 16), amo: traffic(1, 8) };
    let site = |address, routine: &str, region, calls, bytes, ns| Site {
        address,
        routine: routine.into(),
        region,
        calls,
        bytes,
        timed_calls: if ns == 0 { 0 } else { calls },
        total_ns: (ns > 0).then_some(ns),
        max_ns: ns / calls,
        ..Site::default()
    };
    // Each process is loaded at another address; the places in the file are the same.
    let base = 0x5555_0000_0000 + 0x10_0000 * u64::from(pe);
    let arrived =
        |number: u64| 10 * MS + 50 * MS * number + if pe == 2 && number == 0 { 39 * MS } else { u64::from(pe) * 1000 };
    let sync = |number: u64| Sync {
        team: 0,
        region: 1,
        op: find(barrier).unwrap(),
        address: base + 0x1234,
        caller: 0,
        number,
        arrived_ns: arrived(number),
        left_ns: 49 * MS + 50 * MS * number + 5000,
        phase: Phase {
            from: (number > 0).then_some((base + 0x1234, find(barrier).unwrap())),
            begin_ns: if number == 0 { 3 * MS } else { 50 * MS * number - MS + 5000 },
            library_ns: 100_000,
            waits_ns: 4000,
        },
    };
    PeTables {
        peers: vec![peer((pe + 3) % 4), peer((pe + 1) % 4)],
        sites: vec![
            site(base + 0x1234, barrier, 1, 3, 0, if pe == 2 { MS } else { 40 * MS }),
            site(base + 0x1300, put, 1, 48, 48 * 65_536, 5_760_000),
            site(base + 0x1400, "shmem_long_p", 0, 600, 4800, 0),
            site(0, "shmem_long_wait_until", 2, 2, 0, 12_000),
        ],
        modules: vec![Module {
            base,
            start: base + 0x1000,
            end: base + 0x9000,
            path: "/no/such/stencil".into(),
            ..Module::default()
        }],
        regions: vec![
            Region { own_ns: 100 * MS, ..Region::default() },
            Region { name: "step".into(), entries: 50, total_ns: 300 * MS, own_ns: 250 * MS, max_ns: 9 * MS, open: 0 },
            Region {
                name: "step, inner".into(),
                entries: 50,
                total_ns: 50 * MS,
                own_ns: 50 * MS,
                max_ns: 2 * MS,
                open: 0,
            },
        ],
        markers: vec![Marker { name: "residual".into(), count: 4, sum: 1.0, min: 0.125, max: 0.5, last: 0.125 }],
        teams: vec![
            Team { start: 0, stride: 1, size: 4, id: 0, calls: 3, ns: 40 * MS, bytes: 0 },
            Team { start: 0, stride: 2, size: 2, id: 5, calls: 10, ns: 90_000, bytes: 80 },
        ],
        syncs: (0..3).map(sync).collect(),
        sync_every: 1,
        longest_from_ns: 0,
        longest_phase_from_ns: 0,
        last_phases: vec![LastPhase {
            phase: Phase {
                from: Some((base + 0x1234, find(barrier).unwrap())),
                begin_ns: 149 * MS + 5000,
                library_ns: 4 * MS,
                waits_ns: 0,
            },
            end_ns: 400 * MS,
        }],
        causes: causes(pe, base),
        locks: locks(pe),
        lines: lines(pe),
        rates: rates(pe),
        callers: vec![Callers {
            address: base + 0x1300,
            routine: put.into(),
            region: 1,
            returns: vec![base + 0x1700],
            times: 3,
        }],
        requests: vec![Requests {
            routine: "shmemx_long_sum_reduce_nb".into(),
            ended: 50,
            open_ns: 40 * MS,
            waited_ns: if pe == 2 { 30 * MS } else { 10 * MS },
        }],
        errors: if pe == 1 { vec![(9, 3)] } else { Vec::new() },
        open_syncs: Vec::new(),
        nbi: Nbi {
            issued: 100,
            bytes: 6400,
            batches: 10,
            completed: 99,
            ns: 4 * MS,
            blocked_ns: MS,
            max_ns: MS / 2,
            met_ns: MS / 4,
        },
        contexts: vec![Context { handle: 0x10, put: traffic(5, 40), orders: 2, ..Context::default() }],
        algorithms: vec![Algorithm { routine: barrier.into(), name: "barrier:dissemination".into(), calls: 3 }],
        cost: Cost { counted_ns: 2.5, beside_ns: [0.0; 2], timed_ns: 25.0, sample_ns: 30.0 },
        region_errors: u32::from(pe == 3),
        region_error: if pe == 3 { base + 0x1600 } else { 0 },
        left_out: 0,
        trace_dropped: 0,
        // PE 2 computes while the others are in the barrier.
        timeline: Timeline {
            begin_ns: 2 * MS,
            width_ns: 20 * MS,
            slices: (0..20).map(|at| [200_000, 600, if at < 2 && pe != 2 { 20 * MS } else { 0 }, 0]).collect(),
        },
        // Four PEs on two cores.
        system: System { cores: 2, allowed: 2, threads_ns: 397 * MS, ..System::default() },
        counters: counters(pe),
        network: vec![("puts".into(), 48 + u64::from(pe)), ("bytes out".into(), 48 * 65_536), ("retries".into(), 0)],
    }
}

/// PEs 1 and 3 wait for the PE before them; who ended the waits of PE 3 is known for some only.
fn causes(pe: u32, base: u64) -> Vec<Cause> {
    let place = |address| CodePlace { routine: "shmem_long_p".into(), path: "/no/such/stencil".into(), address };
    let by = |pe: u32, work_ns| Releaser {
        pe,
        place: place(0x1400),
        region: "step".into(),
        from: Some(place(0x1234)),
        worked_in: String::new(),
        work_ns,
        library_ns: 1000,
        own_ns: work_ns + 1000,
    };
    let cause = |waits, ns, by| Cause {
        address: base + 0x1500,
        routine: "shmem_long_wait_until".into(),
        region: 1,
        waits,
        ns,
        by,
    };
    match pe {
        1 => vec![cause(2, 11_000, Some(by(0, 9000)))],
        3 => vec![cause(1, 7000, Some(by(2, 2000))), cause(1, 5000, None)],
        _ => Vec::new(),
    }
}

/// A lock on static memory that all take, one in the heap that PE 2 takes.
fn locks(pe: u32) -> Vec<Lock> {
    let lock = |object, taken| Lock {
        object: Some(object),
        taken,
        contended: taken * 3 / 4,
        waited_ns: taken * 4 * MS,
        held_ns: taken * MS,
        max_held_ns: 2 * MS + u64::from(pe),
        handovers: taken * 3 / 4,
        handover_ns: taken * 300,
    };
    let all = lock((1, 0x20), 80 + u64::from(pe));
    if pe == 2 { vec![Lock { contended: 0, handovers: 0, ..lock((0, 0x40), 1) }, all] } else { vec![all] }
}

/// All put to a block of PE 0; each puts to a word of its own in the heap of PE 1, too seldom to be shown.
fn lines(pe: u32) -> Vec<HotLine> {
    let line = |peer, object, routine: &str, calls, ns| HotLine { peer, object, routine: routine.into(), calls, ns };
    vec![
        line(0, (1, 0x48), "shmem_double_put", 42, 5 * MS),
        line(1, (0, 0x1000 * u64::from(pe + 1)), "shmem_long_p", 40, 400),
    ]
}

/// Puts of 64 KiB of which PE 0's touch memory for the first time, and of which half are beside others'; `p` is as fast
/// as it can be.
fn rates(pe: u32) -> Vec<Rate> {
    let rate = |routine: &str, bytes: usize, calls, ns| Rate {
        routine: routine.into(),
        class: size_class(bytes) as u8,
        distance: 2,
        calls,
        ns,
        ..Rate::default()
    };
    let faults = if pe == 0 { 16 * 48 } else { 0 };
    let put = rate("shmem_double_put", 65_536, 48, 48 * 120_000);
    vec![Rate { looks: 48, faults, busy: 24, preempted: 12, ..put }, rate("shmem_long_p", 8, 640, 17_000)]
}

/// Three counters, of which the host has two.
fn counters(pe: u32) -> Counters {
    let counter = |name: &str, total| Counter {
        name: name.into(),
        available: total > 0,
        remark: if total > 0 { String::new() } else { "the processor has none".into() },
        total,
        wanted_ns: 1000,
        counted_ns: if name == "cycles" { 1000 - u64::from(pe == 1) } else { 1000 },
    };
    let routine = |routine: &str, calls, values: [u64; 3]| CounterRoutine {
        routine: routine.into(),
        calls,
        values: values.into(),
    };
    Counters {
        list: vec![
            counter("cycles", 1_500_000 + u64::from(pe)),
            counter("page-faults", 300 + 10 * u64::from(pe)),
            counter("LLC-load-misses", 0),
        ],
        routines: vec![
            routine("shmem_double_put", 48, [900_000, 100, 0]),
            routine("shmem_barrier_all", 3, [60_000, 2, 0]),
        ],
        regions: vec![
            CounterRegion { region: 0, values: vec![400_000, 200, 0], library: vec![160_000, 2, 0] },
            CounterRegion { region: 1, values: vec![1_000_000, 90, 0], library: vec![800_000, 100, 0] },
        ],
    }
}

/// One PE killed in a barrier, one that never got anywhere, one that failed.
fn killed() -> Profile {
    let mut barrier = timed("shmem_barrier_all", Class::Barrier, &[1500]);
    barrier.calls[0] = 2;
    (barrier.unfinished, barrier.unfinished_ns) = (1, 1200 * MS);
    let last = |inside, peer| LastOp { routine: "shmem_barrier_all".into(), inside, peer, since_ns: Some(1200 * MS) };
    let mut first = finalized(0, 1300 * MS, vec![barrier.clone()]);
    (first.progress, first.finalize_ns, first.end, first.last) =
        (Progress::Initialized, 0, End::Killed(9), Some(last(Some(true), None)));
    let mut second = finalized(2, 1300 * MS, vec![barrier]);
    (second.progress, second.finalize_ns, second.end, second.last) =
        (Progress::Initialized, 0, End::Exited(3), Some(last(None, Some(0))));
    (second.overflowed, second.level_changes) = (7, 2);
    let long = "x".repeat(120);
    let mut third = finalized(3, 1300 * MS, vec![timed("shmem_init", Class::Setup, &[900_000])]);
    (third.progress, third.finalize_ns, third.end) = (Progress::Initialized, 0, End::Stopped);
    Profile { job: job("/opt/bin/solver", &long, 4, 1400 * MS, 137), pes: vec![first, second, third] }
}

/// Forty PEs with threads.
fn crowd() -> Profile {
    let pes = (0..40_u64).map(|pe| {
        let mut pe_data = finalized(
            pe as u32,
            1000 * MS,
            vec![
                timed("shmem_barrier_all", Class::Barrier, &[(1 + pe * 7 % 40) * 10 * MS]),
                sampled("shmem_int_g", Class::Get, &[20], 1_000_000_000),
            ],
        );
        (pe_data.threads, pe_data.shared_calls) = (300, 12_345);
        // Each sends to the next one, and PE 13 most of all to PE 7.
        let bytes = if pe == 13 { 1 << 30 } else { 4096 };
        let to = if pe == 13 { 7 } else { (pe as u32 + 1) % 40 };
        pe_data.tables.peers = vec![Peer { pe: Some(to), put: Traffic { calls: 10, bytes }, ..Peer::default() }];
        if pe >= 20 {
            pe_data.host = "node8-with-a-rather-long-name".into();
        }
        pe_data
    });
    Profile { pes: pes.collect(), job: job("crowd", "", 40, 1100 * MS, 0) }
}

/// One PE that calls nothing.
fn silent() -> Profile {
    Profile { pes: vec![finalized(0, 5 * MS, Vec::new())], job: job("silent", "", 1, 8 * MS, 0) }
}
