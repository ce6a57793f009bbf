//! The whole interface under `oshrun`: this test program starts itself again as a job of several PEs, where there is
//! a launcher beside the library; and runs as one PE in any case.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Barrier;

use pellucid::{Compare, Error, Lock, Options, Shmem, SignalOp};

/// Set in the PEs of a job.
const INSIDE: &str = "PELLUCID_RUST_TEST";

fn oshrun() -> Option<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/pellucid");
    let prefix = std::env::var_os("PELLUCID_PREFIX").map_or(here, PathBuf::from);
    Some(prefix.join("bin/oshrun")).filter(|path| path.is_file())
}

#[test]
fn everything_on_several_pes() {
    if std::env::var_os(INSIDE).is_some() {
        return program().expect("room in the heap");
    }
    for pes in ["1", "2", "3", "8"] {
        let (status, text) = job(pes, "everything_on_several_pes", "1");
        assert_eq!(status, Some(0), "{pes} PEs: {text}");
    }
}

/// Runs a test of this program as a job, with what the variable says; its status and what it has printed.
fn job(pes: &str, test: &str, what: &str) -> (Option<i32>, String) {
    let Some(oshrun) = oshrun() else { panic!("no oshrun: ./x build makes it") };
    let job = Command::new(&oshrun)
        .args(["-n", pes, "--timeout", "60"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, what)
        .output()
        .expect("oshrun runs");
    (job.status.code(), String::from_utf8_lossy(&job.stderr).into_owned() + &String::from_utf8_lossy(&job.stdout))
}

/// Unwinding drops what all PEs drop together: others are in another call, and would wait for ever.
#[test]
fn a_panic_of_one_pe_ends_the_job() {
    if let Ok(what) = std::env::var(INSIDE) {
        return panic_on_the_last(&what).expect("room in the heap");
    }
    for what in ["wait", "team", "finalize"] {
        let (status, text) = job("3", "a_panic_of_one_pe_ends_the_job", what);
        assert_eq!(status, Some(101), "{what}: {text}");
        assert!(text.contains("of the last PE") && text.contains("PE 2: a panic ends the job"), "{what}: {text}");
    }
    // A PE without others drops what it has.
    let (status, text) = job("1", "a_panic_of_one_pe_ends_the_job", "caught");
    assert_eq!(status, Some(0), "{text}");
}

/// Of too many teams, all PEs are told, also those that the last would not have had.
#[test]
fn teams_that_cannot_be_made_are_errors_on_all_pes() {
    if std::env::var_os(INSIDE).is_none() {
        let (status, text) = job("3", "teams_that_cannot_be_made_are_errors_on_all_pes", "1");
        return assert_eq!(status, Some(0), "{text}");
    }
    let shmem = pellucid::init().expect("a job");
    let world = shmem.world();
    let mut made = Vec::new();
    let error = loop {
        match world.split_strided(0, 1, 2) {
            Ok(team) => {
                assert_eq!(team.is_some(), world.rank() < 2);
                made.push(team);
            }
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::NoTeam);
    assert_eq!(world.split_2d(2).err(), Some(Error::NoTeam));
    assert!(made.len() > 100, "{} teams", made.len());
}

fn panic_on_the_last(what: &str) -> Result<(), Error> {
    let shmem = pellucid::init()?;
    let is_last = || assert!(shmem.world().rank() + 1 < shmem.world().size(), "of the last PE");
    match what {
        "wait" => {
            let flag = shmem.alloc::<i64>(1)?;
            is_last();
            shmem.wait_until(&flag, 0, Compare::Equal, 7);
        }
        "team" => {
            let world = shmem.world();
            let team = world.split_strided(0, 1, world.size())?.expect("all are in it");
            is_last();
            loop {
                team.sync();
            }
        }
        "caught" => {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _array = shmem.alloc::<i64>(1).expect("room in the heap");
                is_last();
            }));
            assert!(caught.is_err());
        }
        _ => is_last(),
    }
    Ok(())
}

#[test]
fn lengths_are_compared() {
    if let Ok(what) = std::env::var(INSIDE) {
        let shmem = pellucid::init().expect("the library");
        let _before = shmem.alloc_from(&[1u8, 2]).expect("room in the heap");
        match (what.as_str(), shmem.world().rank()) {
            ("length", 2) => drop(shmem.alloc::<u64>(100_000)),
            ("room", 1) => drop(shmem.alloc::<u64>(1 << 50)),
            ("type", 1) => drop(shmem.alloc::<u32>(10)),
            ("order", rank) => {
                let [a, b] = [1000, 10].map(|len| shmem.alloc::<u64>(len).expect("room in the heap"));
                let _kept = if rank == 0 { (drop(a), b) } else { (drop(b), a) };
                drop(shmem.alloc::<u64>(500));
            }
            _ => drop(shmem.alloc::<u64>(10)),
        }
        println!("all went on");
        return;
    }
    for (what, other) in [
        ("length", "PE 2 one of 100000 elements of 8 bytes"),
        ("room", "PE 1 one of 1125899906842624 elements of 8 bytes"),
        ("type", "PE 1 one of 10 elements of 4 bytes"),
    ] {
        let (status, text) = job("3", "lengths_are_compared", what);
        assert_eq!(status, Some(101), "{what}: {text}");
        assert!(text.contains("PE 0 one of 10 elements of 8 bytes") && text.contains(other), "{what}: {text}");
        assert!(!text.contains("all went on"), "{what}: {text}");
    }
    let (status, text) = job("3", "lengths_are_compared", "order");
    assert_eq!(status, Some(101), "{text}");
    assert!(text.contains("begins elsewhere on PE 0 than on PE 1") && !text.contains("all went on"), "{text}");
    assert_eq!(job("3", "lengths_are_compared", "equal").0, Some(0));
}

#[test]
fn one_of_several_threads_initializes() {
    const THREADS: usize = 8;
    let together = Barrier::new(THREADS);
    let initialize = || {
        together.wait();
        let shmem = pellucid::init();
        // None ends the library while another one begins it.
        together.wait();
        shmem.err()
    };
    let errors: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(initialize)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(errors.iter().filter(|error| error.is_none()).count(), 1, "{errors:?}");
    assert!(errors.iter().flatten().all(|error| *error == Error::Initialized), "{errors:?}");
}

fn program() -> Result<(), Error> {
    let shmem = pellucid::init_threads()?;
    assert_eq!(pellucid::init().err(), Some(Error::Initialized));
    transfers(&shmem)?;
    atomics(&shmem)?;
    teams(&shmem)?;
    collectives(&shmem)?;
    signals_and_locks(&shmem)?;
    threads(&shmem)?;
    refusals(&shmem)?;
    Ok(())
}

fn transfers(shmem: &Shmem) -> Result<(), Error> {
    let world = shmem.world();
    let (me, right, left) = (world.me(), world.neighbour(1), world.neighbour(world.size() - 1));
    assert_eq!(world.neighbour(usize::MAX).number(), (me.number() + usize::MAX % world.size()) % world.size());
    let array = shmem.alloc::<[f32; 2]>(10)?;
    assert!(array.local().iter().all(|pair| pair == [0.0; 2]));
    shmem.sync_all();
    shmem.put(&array, 3, &[[me.number() as f32, 0.5]; 4], right);
    shmem.put_one(&array, 0, [1.0, 2.0], right);
    shmem.barrier_all();
    let there = array.local();
    assert_eq!((there.get(0), there.get(2), there.get(6)), ([1.0, 2.0], [0.0; 2], [left.number() as f32, 0.5]));
    let mut got = [[9.0; 2]; 4];
    shmem.get(&array, 3, &mut got, left);
    let far = world.neighbour(2 * world.size() - 2);
    assert_eq!(got, [[far.number() as f32, 0.5]; 4]);
    assert_eq!(shmem.get_one(&array, 0, me), [1.0, 2.0]);
    if let Some(theirs) = shmem.reach(&array, right) {
        assert_eq!(theirs.get(3), [me.number() as f32, 0.5]);
    }
    shmem.barrier_all();

    let (mut one, mut two) = (vec![[0.0; 2]; 3], [[0.0; 2]; 1]);
    let sent = [[7.0, 8.0]; 2];
    shmem.nonblocking(|scope| {
        scope.get(&array, 3, &mut one, left);
        scope.get(&array, 0, &mut two, left);
        scope.put(&array, 8, &sent, right);
    });
    shmem.barrier_all();
    assert_eq!((one, two), (vec![[far.number() as f32, 0.5]; 3], [[1.0, 2.0]]));
    assert_eq!(array.local().get(9), [7.0, 8.0]);

    let context = world.context(Options::default())?;
    context.put_one(&array, 1, [3.0, 3.0], right);
    context.fence();
    context.put_one(&array, 2, [4.0, 4.0], right);
    context.quiet();
    drop(context);
    shmem.barrier_all();
    assert_eq!(array.local().get(2), [4.0, 4.0]);
    // Nothing is a transfer too.
    shmem.put(&array, 10, &[], right);
    let empty = shmem.alloc::<u8>(0)?;
    assert!(empty.is_empty() && empty.local().to_vec().is_empty());
    Ok(())
}

fn atomics(shmem: &Shmem) -> Result<(), Error> {
    let world = shmem.world();
    let (first, pes) = (world.pe(0).expect("PE 0"), world.size());
    let (counter, seen) = (shmem.alloc::<u32>(2)?, shmem.alloc::<usize>(4 * pes)?);
    for _ in 0..4 {
        let ticket = shmem.fetch_add(&counter, 0, 1, first);
        shmem.add(&seen, ticket as usize, 1, first);
    }
    let mut drawn = 0;
    shmem.nonblocking(|scope| scope.fetch_add(&mut drawn, &counter, 1, 3, first));
    assert!(drawn % 3 == 0 && (drawn as usize) < 3 * pes);
    shmem.barrier_all();
    assert_eq!(shmem.fetch(&counter, 0, first), 4 * pes as u32);
    assert!(world.rank() != 0 || seen.local().iter().all(|count| count == 1));
    let winner = shmem.alloc::<i64>(1)?;
    let me = world.rank() as i64 + 1;
    let is_mine = shmem.compare_swap(&winner, 0, 0, me, first) == 0;
    shmem.barrier_all();
    assert_eq!(shmem.fetch(&winner, 0, first) == me, is_mine);
    let real = shmem.alloc::<f64>(1)?;
    shmem.set(&real, 0, 2.5, world.me());
    assert_eq!(shmem.swap(&real, 0, 3.5, world.me()), 2.5);
    let mut now = 0.0;
    shmem.nonblocking(|scope| scope.fetch(&mut now, &real, 0, world.me()));
    assert_eq!(now, 3.5);
    Ok(())
}

fn teams(shmem: &Shmem) -> Result<(), Error> {
    let world = shmem.world();
    let pes = world.size();
    assert_eq!(world.pes().map(|pe| pe.number()).collect::<Vec<_>>(), (0..pes).collect::<Vec<_>>());
    assert!(world.pe(pes).is_none() && shmem.shared().rank_of(world.me()).is_some());
    let even = world.split_strided(0, 2, pes.div_ceil(2))?;
    assert_eq!(even.is_some(), world.rank().is_multiple_of(2));
    let array = shmem.alloc::<i32>(1)?;
    if let Some(even) = &even {
        assert_eq!((even.rank(), even.size()), (world.rank() / 2, pes.div_ceil(2)));
        assert_eq!(even.neighbour(1).number(), (even.rank() + 1) % even.size() * 2);
        let context = even.context(Options::default())?;
        context.put_one(&array, 0, even.rank() as i32, even.neighbour(1));
        drop(context);
        even.sync();
        assert_eq!(array.local().get(0) as usize, (even.rank() + even.size() - 1) % even.size());
        if pes > 1 {
            assert_eq!(even.rank_of(world.pe(1).expect("PE 1")), None);
        }
    }
    drop(even);
    let (row, column) = world.split_2d(2)?;
    assert_eq!((row.rank(), column.rank()), (world.rank() % 2, world.rank() / 2));
    assert_eq!(world.split_strided(0, 1, pes + 1).err(), Some(Error::NoTeam));
    assert_eq!(world.split_2d(0).err(), Some(Error::NoTeam));
    Ok(())
}

fn collectives(shmem: &Shmem) -> Result<(), Error> {
    let world = shmem.world();
    let (rank, pes) = (world.rank(), world.size());
    let mine = shmem.alloc_from(&[rank as i64, 1, -(rank as i64)])?;
    let result = shmem.alloc::<i64>(3)?;
    let total = (pes * (pes - 1) / 2) as i64;
    world.sum(&result, &mine);
    assert_eq!(result.local().to_vec(), [total, pes as i64, -total]);
    world.max(&result, &mine);
    assert_eq!(result.local().to_vec(), [pes as i64 - 1, 1, 0]);
    world.min(&result, &mine);
    assert_eq!(result.local().get(2), 1 - pes as i64);
    world.exclusive_scan(&result, &mine);
    assert_eq!(result.local().get(1), rank as i64);
    world.inclusive_scan(&result, &mine);
    assert_eq!(result.local().get(1), rank as i64 + 1);
    world.or(&result, &mine);
    assert_eq!(result.local().get(1), 1);
    // In place.
    world.product(&mine, &mine);
    assert_eq!(mine.local().get(1), 1);
    let (from, all) = (shmem.alloc_from(&[rank as u16; 3])?, shmem.alloc::<u16>(3 * pes)?);
    world.gather_all(&all, &from);
    assert_eq!(all.local().to_vec(), (0..pes).flat_map(|pe| [pe as u16; 3]).collect::<Vec<_>>());
    world.gather_some(&all, &from, rank % 3);
    let expected: Vec<_> = (0..pes).flat_map(|pe| vec![pe as u16; pe % 3]).collect();
    assert_eq!(all.local().to_vec()[..expected.len()], expected);
    let last = world.pe(pes - 1).expect("a PE");
    let copy = shmem.alloc::<u16>(3)?;
    world.broadcast(&copy, &from, last);
    assert_eq!(copy.local().to_vec(), [pes as u16 - 1; 3]);
    let blocks: Vec<u8> = (0..pes).map(|pe| (10 * rank + pe) as u8).collect();
    let (blocks, got) = (shmem.alloc_from(&blocks)?, shmem.alloc::<u8>(pes)?);
    world.exchange_all(&got, &blocks);
    assert_eq!(got.local().to_vec(), (0..pes).map(|pe| (10 * pe + rank) as u8).collect::<Vec<_>>());
    Ok(())
}

fn signals_and_locks(shmem: &Shmem) -> Result<(), Error> {
    let world = shmem.world();
    let right = world.neighbour(1);
    let (data, signal) = (shmem.alloc::<u64>(4)?, shmem.signal()?);
    shmem.put_signal(&data, 1, &[5, 6], &signal, SignalOp::Add, 2, right);
    assert_eq!(shmem.wait_signal(&signal, Compare::GreaterOrEqual, 2), 2);
    assert_eq!(data.local().to_vec(), [0, 5, 6, 0]);
    shmem.barrier_all();
    shmem.update_signal(&signal, SignalOp::Add, 1, right);
    shmem.wait_signal(&signal, Compare::Equal, 3);
    // Nobody replaces it before all have seen it.
    shmem.barrier_all();
    let sent = [8, 9];
    shmem.nonblocking(|scope| scope.put_signal(&data, 2, &sent, &signal, SignalOp::Set, 7, right));
    shmem.wait_signal(&signal, Compare::Equal, 7);
    assert_eq!((data.local().get(3), shmem.signal_value(&signal)), (9, 7));
    let flags = shmem.alloc::<i32>(3)?;
    for at in 0..3 {
        shmem.set(&flags, at, 4, right);
    }
    assert!(shmem.wait_until_any(&flags, 0..3, Compare::Equal, 4).is_some());
    shmem.wait_until_all(&flags, 0..3, Compare::Greater, 3);
    assert!(shmem.test(&flags, 2, Compare::NotEqual, 0) && !shmem.test(&flags, 2, Compare::Less, 4));
    assert_eq!(shmem.wait_until(&flags, 1, Compare::LessOrEqual, 4), 4);

    let (mut lock, total) = (shmem.lock()?, shmem.alloc::<u64>(1)?);
    let first = world.pe(0).expect("PE 0");
    for _ in 0..20 {
        let _held = lock.acquire();
        let now = shmem.get_one(&total, 0, first);
        shmem.put_one(&total, 0, now + 1, first);
    }
    shmem.barrier_all();
    assert_eq!(shmem.get_one(&total, 0, first), 20 * world.size() as u64);
    tried_locks(shmem, &mut lock);
    Ok(())
}

/// One PE has the lock, which no other gets, however often it asks.
fn tried_locks(shmem: &Shmem, lock: &mut Lock<'_>) {
    let me = shmem.world().rank();
    for turn in 0..shmem.world().size() {
        if me == turn {
            let _held = lock.try_acquire().expect("nobody has it");
            shmem.barrier_all();
            shmem.barrier_all();
        } else {
            shmem.barrier_all();
            for _ in 0..2 {
                assert!(lock.try_acquire().is_none(), "PE {turn} has it");
            }
            shmem.barrier_all();
        }
        shmem.barrier_all();
    }
}

fn threads(shmem: &Shmem) -> Result<(), Error> {
    let counter = shmem.alloc::<u64>(1)?;
    let shared = shmem.share()?;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let world = shared.world();
                assert_eq!(world.rank_of(world.me()), Some(world.rank()));
                assert_eq!(world.pes().count(), world.size());
                let context = world.context(Options::default()).expect("a context");
                for _ in 0..100 {
                    context.add(&counter, 0, 1, world.neighbour(1));
                }
            });
        }
    });
    shmem.barrier_all();
    assert_eq!(counter.local().get(0), 300);
    Ok(())
}

fn refusals(shmem: &Shmem) -> Result<(), Error> {
    assert!(matches!(shmem.alloc::<u64>(usize::MAX / 16), Err(Error::NoRoom { .. })));
    let error = Error::NoRoom { bytes: 7 };
    assert!(error.to_string().contains("7 bytes"));
    shmem.barrier_all();
    Ok(())
}
