//! Profiles with known numbers.

use pellucid_profile::model::{End, Job, LastOp, Pe, Profile, Progress, Routine, SizeCount};
use pellucid_profile::op::Class;
use pellucid_profile::size::size_class;

const MS: u64 = 1_000_000;

/// Every profile that has golden reports.
pub fn all() -> Vec<(&'static str, Profile)> {
    vec![("stencil", stencil()), ("killed", killed()), ("crowd", crowd()), ("silent", silent())]
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
        p.errors = u64::from(pe == 1);
        let routines = vec![
            timed("shmem_init", Class::Setup, &[800_000 + pe * 1000]),
            put,
            p,
            sampled("shmem_ctx_uint64_atomic_fetch_compare_swap_nbi", Class::Amo, &[30, 31], 128),
            timed("shmem_long_wait_until", Class::Wait, &[5000, 7000 + pe]),
            timed("shmem_barrier_all", Class::Barrier, &[wait, 2000, 3000 + pe]),
            timed("shmem_double_sum_reduce", Class::Collective, &[9000; 10]),
        ];
        finalized(pe as u32, 400 * MS, routines)
    });
    Profile { pes: pes.collect(), job: job("./stencil", "-n 1024 --steps 50", 4, 410 * MS, 0) }
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
