//! What an entry does where the profile has counts only, read back through a snapshot.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::tests::TURN;
use super::{attach, count, outlined, sampled, set_level, set_site, sized, timed, tls, wait_begins};
use crate::model::{Pe, Routine};
use crate::op::{OPS, SAMPLED_BYTES_ON_HOST, find};
use crate::segment::layout::Slot;
use crate::segment::{JobInfo, Segment, create};
use crate::size::Distance;
use crate::snapshot::{self, Outcome};

/// The PE that calls.
const OWN: i32 = 3;

const fn id(name: &str) -> u16 {
    let mut id = 0;
    loop {
        let (a, b) = (OPS[id].name().as_bytes(), name.as_bytes());
        let mut at = 0;
        while at < a.len() && at < b.len() && a[at] == b[at] {
            at += 1;
        }
        if at == a.len() && at == b.len() {
            return id as u16;
        }
        id += 1;
    }
}

const P: u16 = id("shmem_int_p");
const XOR: u16 = id("shmem_uint_atomic_xor");
const PUT: u16 = id("shmem_putmem");
const NBI: u16 = id("shmem_putmem_nbi");
const TEST: u16 = id("shmem_int_test");
const QUIET: u16 = id("shmem_quiet");
const BARRIER: u16 = id("shmem_barrier_all");

/// Bytes of a put to the same host that is timed.
const LONG: usize = SAMPLED_BYTES_ON_HOST + 1;
/// Calls that went on to the probe.
static PROBED: AtomicU64 = AtomicU64::new(0);

/// As the entries of these routines.
fn p_in<const WITH_SITES: bool>(peer: i32) {
    if count::sampled::<WITH_SITES, _>(P, (peer, 0, 4), || ()).is_none() {
        PROBED.fetch_add(1, Relaxed);
        sampled(P, peer, 0, 4, || ());
    }
}

fn put_in<const WITH_SITES: bool>(peer: i32, bytes: usize) {
    if count::sized::<WITH_SITES, _>(PUT, (peer, 0, bytes), || ()).is_none() {
        PROBED.fetch_add(1, Relaxed);
        sized(PUT, peer, 0, bytes, || ());
    }
}

fn p(peer: i32) {
    p_in::<false>(peer);
}

fn put(peer: i32, bytes: usize) {
    put_in::<false>(peer, bytes);
}

/// The profile of PE 3, one of the PEs 2 to 4 of a host in a job of 6, after a process has run this. Its exit code must
/// be 0.
fn profile_of(body: fn() -> bool) -> Pe {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let job = JobInfo { first_pe: 2, local_pes: Some(3), ..JobInfo::default() };
    let fd = create(6, &job).unwrap();
    // SAFETY: the child calls the recorder and its own body only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_right = attach(fd.as_raw_fd(), OWN as u32, 6, 2, 3).is_ok() && body();
        // SAFETY: ends the child without the harness.
        unsafe { libc::_exit(i32::from(!is_right)) }
    }
    let mut status = -1;
    // SAFETY: our own child.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the child's answer");
    snapshot::take(&Segment::map(fd.as_fd()).unwrap(), &Outcome::default()).pes.remove(0)
}

fn routine(pe: &Pe, op: u16) -> &Routine {
    pe.routines.iter().find(|r| r.name == OPS[usize::from(op)].name()).expect("the routine is in the profile")
}

#[test]
fn every_call_is_counted_once_at_its_distance_whichever_way_it_goes() {
    const ROUNDS: u64 = 100_000;
    assert_eq!((find("shmem_int_p"), find("shmem_putmem")), (Some(P), Some(PUT)));
    let pe = profile_of(|| {
        for _ in 0..ROUNDS {
            [3, 2, 4].into_iter().for_each(p);
            [0, 8, 1024, LONG].into_iter().for_each(|bytes| put(2, bytes));
            put(3, 3);
        }
        // Samples, long puts: most calls never get to the probe.
        let probed = PROBED.load(Relaxed);
        [0, 5].into_iter().for_each(p);
        put(1, 7);
        PROBED.load(Relaxed) == probed + 3 && probed > ROUNDS && probed < ROUNDS + ROUNDS / 4
    });
    let int = routine(&pe, P);
    assert_eq!((int.calls, int.bytes), ([0, ROUNDS, 2 * ROUNDS, 2], [0, 4 * ROUNDS, 8 * ROUNDS, 8]));
    let sizes: Vec<_> = int.sizes.iter().map(|s| (s.distance, s.calls, s.bytes)).collect();
    assert_eq!(sizes, [(1, ROUNDS, 4 * ROUNDS), (2, 2 * ROUNDS, 8 * ROUNDS), (3, 2, 8)]);
    assert!(int.estimated && int.timed_calls > ROUNDS / 200 && int.timed_calls < ROUNDS / 10, "{}", int.timed_calls);
    let mem = routine(&pe, PUT);
    assert_eq!((mem.calls, mem.bytes), ([0, ROUNDS, 4 * ROUNDS, 1], [0, 3 * ROUNDS, 33_801 * ROUNDS, 7]));
}

#[test]
fn a_profile_with_sites_has_each_call_once_by_site_and_by_peer_too() {
    const ROUNDS: u64 = 100_000;
    let pe = profile_of(|| {
        for round in 0..ROUNDS {
            // Two places of the program.
            set_site(0x1000 + (round & 1) * 0x100);
            [3, 2, 4].into_iter().for_each(p_in::<true>);
            [0, 8, LONG].into_iter().for_each(|bytes| put_in::<true>(2, bytes));
        }
        PROBED.load(Relaxed) < 2 * ROUNDS
    });
    let (int, mem) = (routine(&pe, P), routine(&pe, PUT));
    assert_eq!((int.calls, int.bytes), ([0, ROUNDS, 2 * ROUNDS, 0], [0, 4 * ROUNDS, 8 * ROUNDS, 0]));
    assert_eq!((mem.calls, mem.bytes), ([0, 0, 3 * ROUNDS, 0], [0, 0, 32_777 * ROUNDS, 0]));
    let sizes: Vec<_> = mem.sizes.iter().map(|s| (s.class, s.distance, s.calls, s.bytes)).collect();
    assert_eq!(sizes, [(0, 2, ROUNDS, 0), (4, 2, ROUNDS, 8 * ROUNDS), (16, 2, ROUNDS, LONG as u64 * ROUNDS)]);
    let sites: Vec<_> = pe.tables.sites.iter().map(|s| (s.address, s.routine.as_str(), s.calls, s.bytes)).collect();
    for address in [0x1000, 0x1100] {
        assert!(sites.contains(&(address, "shmem_int_p", 3 * ROUNDS / 2, 6 * ROUNDS)), "{sites:x?}");
        assert!(sites.contains(&(address, "shmem_putmem", 3 * ROUNDS / 2, 32_777 * ROUNDS / 2)), "{sites:x?}");
    }
    let peers: Vec<_> = pe.tables.peers.iter().map(|p| (p.pe, p.put.calls, p.put.bytes)).collect();
    assert_eq!(
        peers,
        [(Some(2), 4 * ROUNDS, 32_781 * ROUNDS), (Some(3), ROUNDS, 4 * ROUNDS), (Some(4), ROUNDS, 4 * ROUNDS)]
    );
}

/// More call sites than there are rows, most of whose calls have a flow all the same.
#[test]
fn calls_whose_site_found_no_row_have_a_place_all_the_same() {
    const PLACES: u64 = 3000;
    const ROUNDS: u64 = 20;
    let pe = profile_of(|| {
        for region in 0..2 {
            if region == 1 {
                super::region_begin("inner");
            }
            for place in 0..PLACES / 2 * ROUNDS {
                set_site(0x1000 + place % (PLACES / 2) * 20);
                p_in::<true>(2);
                // Takes rows of call sites, and none of flows.
                timed(BARRIER, -1, 0, 0, || ());
            }
        }
        true
    });
    let of_p: u64 =
        pe.tables.sites.iter().filter(|site| site.routine != "shmem_barrier_all").map(|site| site.calls).sum();
    let lost = routine(&pe, BARRIER).all_calls() - calls_of(&pe, "shmem_barrier_all");
    assert_eq!(of_p, PLACES * ROUNDS + lost, "barriers without a place are among them");
    let without: u64 = pe.tables.sites.iter().filter(|site| site.routine.is_empty()).map(|site| site.calls).sum();
    assert!(without > lost && without - lost < PLACES * ROUNDS / 8, "{without}, of which {lost} are barriers");
}

fn calls_of(pe: &Pe, routine: &str) -> u64 {
    pe.tables.sites.iter().filter(|site| site.routine == routine).map(|site| site.calls).sum()
}

#[test]
fn a_sample_in_a_handler_leaves_the_call_that_it_interrupts_alone() {
    let wait = Duration::from_millis(3);
    let pe = profile_of(|| {
        p_in::<true>(2);
        set_site(0x1000);
        timed(BARRIER, -1, 0, 0, || {
            wait_begins();
            // As a signal handler does: the first calls of a routine are all samples.
            set_site(0x2000);
            (0..5).for_each(|_| p_in::<true>(2));
            std::thread::sleep(Duration::from_millis(3));
        });
        true
    });
    let site = |address, routine: &str| {
        let found = pe.tables.sites.iter().find(|site| site.address == address && site.routine == routine);
        found.unwrap_or_else(|| panic!("{routine} from {address:x}: {:?}", pe.tables.sites))
    };
    let (barrier, in_handler) = (site(0x1000, "shmem_barrier_all"), site(0x2000, "shmem_int_p"));
    assert!(barrier.total_ns >= Some(wait.as_nanos() as u64), "{barrier:?}");
    assert!(in_handler.calls == 5 && in_handler.max_ns < wait.as_nanos() as u64, "{in_handler:?}");
}

#[test]
fn what_was_issued_before_the_profile_was_off_is_no_part_of_a_later_batch() {
    let pe = profile_of(|| {
        let issue = || sized(NBI, 2, 0, 8, || ());
        let quiet = || sampled(QUIET, -1, 0, 0, || ());
        issue();
        quiet();
        issue();
        // A thread that ends without completing what it has issued, and the next one in its slot.
        std::thread::spawn(issue).join().unwrap();
        set_level(0);
        std::thread::sleep(Duration::from_millis(30));
        set_level(1);
        std::thread::spawn(quiet).join().unwrap();
        issue();
        quiet();
        true
    });
    let nbi = pe.tables.nbi;
    assert_eq!((nbi.issued, nbi.batches, nbi.completed), (4, 2, 2));
    assert!(nbi.max_ns < 30_000_000, "{nbi:?}");
}

#[test]
fn batches_that_are_over_at_once_are_counted_and_some_are_timed() {
    const SHORT: u64 = 20_000;
    const LONG: u64 = 20;
    const WAIT: Duration = Duration::from_millis(3);
    let pe = profile_of(|| {
        let issue = || {
            if count::sized::<true, _>(NBI, (2, 0, 8), || ()).is_none() {
                outlined::sized(NBI, 2, 0, 8, || ());
            }
        };
        let quiet = |wait: Duration| {
            let f = || std::thread::sleep(wait);
            if count::sampled::<true, _>(QUIET, (-1, 0, 0), f).is_none() {
                outlined::sampled(QUIET, -1, 0, 0, f);
            }
        };
        for _ in 0..SHORT {
            issue();
            issue();
            if count::sampled::<true, _>(QUIET, (-1, 0, 0), || ()).is_none() {
                outlined::sampled(QUIET, -1, 0, 0, || ());
            }
        }
        // Once one of these is timed, all are.
        for _ in 0..200 + LONG {
            issue();
            quiet(Duration::from_micros(10));
        }
        for _ in 0..LONG {
            issue();
            quiet(WAIT);
        }
        true
    });
    let nbi = pe.tables.nbi;
    let batches = SHORT + 200 + 2 * LONG;
    assert_eq!((nbi.issued, nbi.batches, nbi.completed), (batches + SHORT, batches, batches + SHORT));
    let long = LONG * WAIT.as_nanos() as u64;
    assert!(nbi.max_ns >= WAIT.as_nanos() as u64 && nbi.blocked_ns >= long && nbi.ns >= nbi.blocked_ns, "{nbi:?}");
}

#[test]
fn calls_that_find_no_row_by_site_and_peer_are_counted_all_the_same() {
    // More than there are rows, in two regions.
    const PLACES: u64 = 3000;
    const ROUNDS: u64 = 8;
    let pe = profile_of(|| {
        for region in 0..2 {
            if region == 1 {
                super::region_begin("inner");
            }
            for place in 0..PLACES * ROUNDS {
                set_site(0x1000 + place % PLACES * 20);
                [2, 3].into_iter().for_each(p_in::<true>);
            }
        }
        let in_front = 4 * PLACES * ROUNDS - PROBED.load(Relaxed);
        in_front > ROUNDS * 100 && in_front < 3 * PLACES * ROUNDS
    });
    let calls = PLACES * ROUNDS;
    assert_eq!(
        (routine(&pe, P).calls, routine(&pe, P).bytes),
        ([0, 2 * calls, 2 * calls, 0], [0, 8 * calls, 8 * calls, 0])
    );
    let outside = pe.tables.sites.iter().filter(|site| site.region == 0 && site.address >= 0x1000);
    assert_eq!(outside.filter(|site| site.calls == 2 * ROUNDS).count() as u64, PLACES);
    assert_eq!(pe.tables.sites.iter().map(|site| site.calls).sum::<u64>(), 4 * calls);
    let peers: Vec<_> = pe.tables.peers.iter().map(|p| (p.pe, p.put.calls, p.put.bytes)).collect();
    assert_eq!(peers, [(Some(2), 2 * calls, 8 * calls), (Some(3), 2 * calls, 8 * calls)]);
}

#[test]
fn a_call_on_memory_that_is_not_mapped_is_left_to_the_probe_with_its_sample_as_far_away() {
    const ROUNDS: u64 = 10_000;
    fn call<const WITH_SITES: bool>(peer: i32) -> bool {
        let is_mapped = (2..5).contains(&peer);
        let is_counted = count::sampled_mapped::<WITH_SITES, _>(XOR, (peer, 0, 4), || OWN, || is_mapped.then_some(()));
        if is_counted.is_none() {
            sampled(XOR, peer, 0, 4, || ());
        }
        is_counted.is_some()
    }
    let pe = profile_of(|| {
        set_site(0x1000);
        call::<false>(2);
        let slot = tls::slot().expect("a thread that has called");
        let mut in_front = 0;
        for _ in 0..ROUNDS {
            in_front += [2, 3, 4].into_iter().filter(|peer| call::<false>(*peer)).count() as u64;
            let left = slot.cell(XOR).countdown.load(Relaxed);
            let is_left_out = count::sampled_mapped::<false, ()>(XOR, (5, 0, 4), || OWN, || None).is_none();
            if !is_left_out || slot.cell(XOR).countdown.load(Relaxed) != left {
                return false;
            }
            call::<false>(5);
        }
        in_front > 2 * ROUNDS
    });
    let xor = routine(&pe, XOR);
    assert_eq!(
        (xor.calls, xor.bytes),
        ([0, ROUNDS, 2 * ROUNDS + 1, ROUNDS], [0, 4 * ROUNDS, 8 * ROUNDS + 4, 4 * ROUNDS])
    );
    let pe = profile_of(|| {
        set_site(0x1000);
        (0..ROUNDS).filter(|round| call::<true>(2 + (round % 4) as i32)).count() as u64 > ROUNDS / 2
    });
    assert_eq!(routine(&pe, XOR).calls, [0, ROUNDS / 4, ROUNDS / 2, ROUNDS / 4]);
    assert_eq!(pe.tables.sites.iter().map(|site| site.calls).sum::<u64>(), ROUNDS);
    assert_eq!(pe.tables.peers.iter().map(|peer| peer.amo.calls).collect::<Vec<_>>(), [ROUNDS / 4; 4]);
}

#[test]
fn the_peer_of_atomic_operations_in_a_row_is_not_told() {
    let pe = profile_of(|| {
        sampled(XOR, 5, 0, 4, || ());
        for peer in [2, 4, 2, 4, 4].into_iter().cycle().take(100) {
            if count::sampled::<false, _>(XOR, (peer, 0, 4), || ()).is_none() {
                sampled(XOR, peer, 0, 4, || ());
            }
        }
        // The one that tells is not a sample.
        while count::sampled::<false, _>(XOR, (2, 0, 4), || ()).is_none() {
            sampled(XOR, 2, 0, 4, || ());
        }
        true
    });
    let last = pe.last.as_ref().expect("the thread's last call");
    assert_eq!((last.routine.as_str(), last.peer), ("shmem_uint_atomic_xor", None));
}

#[test]
fn the_peer_of_the_last_put_is_told() {
    let pe = profile_of(|| {
        [2, 4, 2, 4].into_iter().for_each(|peer| (0..100).for_each(|_| put(peer, 16)));
        PROBED.load(Relaxed) < 200
    });
    let last = pe.last.as_ref().expect("the thread's last call");
    assert_eq!((last.routine.as_str(), last.peer), ("shmem_putmem", Some(4)));
}

#[test]
fn calls_without_a_peer_are_counted_in_front_of_the_probe_and_a_quiet_only_where_nothing_is_open() {
    const ROUNDS: u64 = 10_000;
    let pe = profile_of(|| {
        set_site(0x1000);
        let counted = |op: u16| {
            let in_front = count::sampled::<true, _>(op, (-1, 0, 0), || ()).is_some();
            if !in_front {
                outlined::sampled(op, -1, 0, 0, || ());
            }
            u64::from(in_front)
        };
        let tests: u64 = (0..ROUNDS).map(|_| counted(TEST)).sum();
        let quiets: u64 = (0..ROUNDS).map(|_| counted(QUIET)).sum();
        for _ in 0..ROUNDS {
            if count::sized::<true, _>(NBI, (2, 0, 8), || ()).is_none() {
                outlined::sized(NBI, 2, 0, 8, || ());
            }
        }
        let while_open = counted(QUIET);
        let afterwards: u64 = (0..ROUNDS).map(|_| counted(QUIET)).sum();
        [tests, quiets, afterwards].into_iter().all(|calls| calls > ROUNDS / 2 && calls < ROUNDS) && while_open == 0
    });
    assert_eq!(routine(&pe, TEST).calls, [ROUNDS, 0, 0, 0]);
    assert_eq!(routine(&pe, QUIET).calls, [2 * ROUNDS + 1, 0, 0, 0]);
    assert_eq!((routine(&pe, NBI).calls, routine(&pe, NBI).bytes), ([0, 0, ROUNDS, 0], [0, 0, 8 * ROUNDS, 0]));
    assert_eq!((pe.tables.nbi.issued, pe.tables.nbi.bytes), (ROUNDS, 8 * ROUNDS));
    let sites: Vec<_> = pe.tables.sites.iter().map(|s| (s.address, s.routine.as_str(), s.calls)).collect();
    assert!(sites.contains(&(0x1000, "shmem_int_test", ROUNDS)), "{sites:x?}");
    assert!(sites.contains(&(0x1000, "shmem_quiet", 2 * ROUNDS + 1)), "{sites:x?}");
}

#[test]
fn what_is_called_from_the_probe_counts_as_what_is_inlined() {
    const ROUNDS: u64 = 10_000;
    let pe = profile_of(|| {
        for _ in 0..ROUNDS {
            outlined::sampled(P, 2, 0, 4, || ());
            [0, 8, 1024, LONG].into_iter().for_each(|bytes| outlined::sized(PUT, 3, 0, bytes, || ()));
            [1024, 1025].into_iter().for_each(|bytes| outlined::sized(PUT, 5, 0, bytes, || ()));
        }
        // Side by side: the time between two pays for timing one of them.
        (0..ROUNDS).for_each(|_| outlined::timed(BARRIER, -1, 0, 0, || ()));
        true
    });
    let (int, mem, barrier) = (routine(&pe, P), routine(&pe, PUT), routine(&pe, BARRIER));
    assert_eq!((int.calls, int.bytes), ([0, 0, ROUNDS, 0], [0, 0, 4 * ROUNDS, 0]));
    assert_eq!((mem.calls, mem.bytes), ([0, 4 * ROUNDS, 0, 2 * ROUNDS], [0, 33_801 * ROUNDS, 0, 2049 * ROUNDS]));
    // The long one, and the longer one to another host.
    assert!(mem.timed_calls > 2 * ROUNDS && mem.timed_calls < 3 * ROUNDS, "{}", mem.timed_calls);
    // Those that are kept with their number, and samples.
    assert_eq!((barrier.calls, barrier.unfinished), ([ROUNDS, 0, 0, 0], 0));
    assert!((4096..ROUNDS).contains(&barrier.timed_calls), "{}", barrier.timed_calls);
}

#[test]
fn the_last_call_is_the_threads_current_one() {
    let pe = profile_of(|| {
        (0..1000).for_each(|_| put(4, 16));
        let before = PROBED.load(Relaxed);
        (0..1000).for_each(|_| p(2));
        // The one that tells is not a sample.
        while count::sampled::<false, _>(P, (4, 0, 4), || ()).is_none() {
            sampled(P, 4, 0, 4, || ());
        }
        PROBED.load(Relaxed) > before
    });
    let last = pe.last.as_ref().expect("the thread's last call");
    assert_eq!((last.routine.as_str(), last.peer), ("shmem_int_p", Some(4)));
}

#[test]
fn a_call_is_the_current_one_while_it_is_made_and_counted_after_that() {
    let pe = profile_of(|| {
        (0..1000).for_each(|_| p(4));
        let counted = |slot: &Slot| slot.cell(P).calls[Distance::Host as usize].load(Relaxed);
        let slot = tls::slot().expect("a thread that has called");
        let before = counted(slot);
        let within = || (slot.head.current.word.load(Relaxed) as u16, counted(slot));
        let found = loop {
            match count::sampled::<false, _>(P, (4, 0, 4), within) {
                Some(found) => break found,
                None => sampled(P, 4, 0, 4, || ()),
            }
        };
        found.0 == P && counted(slot) == found.1 + 1 && found.1 - before < 1000
    });
    assert!(routine(&pe, P).calls[Distance::Host as usize] > 1000);
}
