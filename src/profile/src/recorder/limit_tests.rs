//! Call sites and peers that would cost too much are those of samples.

use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::Relaxed;

use super::tests::{Fixture, op_named, routine};
use super::{claim, count, release, sampled, set_exact_sites, tls};
use crate::arm::{self, ARM, PROBE, SITE};
use crate::model::Pe;
use crate::segment::SegmentShape;

/// Return addresses.
const PLACES: [u64; 2] = [0x40_1000, 0x40_2000];
const CALLS: u64 = 400_000;

/// A profile with call sites, of a thread that has run for ten seconds, in which a counted call takes so many
/// nanoseconds.
fn begin(call_ns: u64) -> Fixture {
    let fixture = Fixture::new();
    arm::set_counts_only(false);
    let fd = fixture.fd.as_raw_fd();
    release::map(fd, &SegmentShape::read(fd).unwrap()).unwrap();
    arm::set_level(1);
    call(op_named("shmem_fence"), -1, PLACES[0]);
    let (region, slot) = claim::own().unwrap();
    let ticks = |ns: u64| ((u128::from(ns) << 32) / u128::from(slot.head.clock_mult.load(Relaxed))) as u64;
    let ago = region.head.attach_ticks.load(Relaxed) - ticks(10_000_000_000);
    region.head.attach_ticks.store(ago, Relaxed);
    slot.tables.lives.since.store(ago, Relaxed);
    region.head.call_cost.store(ticks(256 * call_ns), Relaxed);
    fixture
}

/// What an entry does.
fn call(op: u16, peer: i32, from: u64) {
    tls::set_site(from);
    let is_counted = match arm::flag(&ARM, op) {
        SITE => count::sampled::<true, _>(op, (peer, 0x1000, 8), || ()).is_some(),
        PROBE => count::sampled::<false, _>(op, (peer, 0x1000, 8), || ()).is_some(),
        other => panic!("{other}"),
    };
    if !is_counted {
        sampled(op, peer, 0x1000, 8, || ());
    }
}

/// Three of four calls from the first place, each second one to PE 2.
fn make_calls(op: u16) {
    let mut random = 1_u64;
    for _ in 0..CALLS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (from, peer) = ((random >> 40) % 4, (random >> 50) % 4);
        call(op, [0, 1, 2, 2][peer as usize], PLACES[usize::from(from == 3)]);
    }
}

fn end(fixture: &Fixture) -> Pe {
    let pe = fixture.pe();
    arm::set_level(0);
    arm::forget_sampled_sites();
    release::unmap();
    pe
}

/// Calls of a routine by place.
fn by_place(pe: &Pe, name: &str) -> [u64; 2] {
    PLACES.map(|place| {
        let of = |site: &&crate::tables::Site| site.routine == name && site.address == place;
        pe.tables.sites.iter().filter(of).map(|site| site.calls).sum()
    })
}

#[test]
fn sites_and_peers_of_many_calls_are_those_of_samples() {
    // Of ten seconds, 400,000 calls of 1 us are 4 %.
    let fixture = begin(1000);
    let (p, few) = (op_named("shmem_long_p"), op_named("shmem_longlong_p"));
    make_calls(p);
    (0..1000).for_each(|_| call(few, 1, PLACES[0]));
    assert_eq!([p, few].map(|op| arm::flag(&ARM, op)), [PROBE, SITE]);
    let pe = end(&fixture);
    let row = routine(&pe, p);
    assert_eq!((row.all_calls(), row.all_bytes(), row.sampled_sites), (CALLS, 8 * CALLS, true));
    assert!(!routine(&pe, few).sampled_sites);
    let [first, second] = by_place(&pe, "shmem_long_p");
    assert_eq!(first + second, CALLS);
    assert!((0.7..0.8).contains(&(first as f64 / CALLS as f64)), "{first} of {CALLS} calls");
    assert_eq!(by_place(&pe, "shmem_longlong_p"), [1000, 0]);
    let to: Vec<u64> = pe.tables.peers.iter().map(|peer| peer.put.calls).collect();
    assert_eq!(to.iter().sum::<u64>(), CALLS + 1000);
    assert!((0.45..0.55).contains(&(to[2] as f64 / CALLS as f64)), "{to:?}");
    assert_eq!(pe.tables.peers.iter().map(|peer| peer.put.bytes).sum::<u64>(), 8 * (CALLS + 1000));
}

#[test]
fn nonblocking_operations_are_followed_to_their_completion_all_the_same() {
    let fixture = begin(1000);
    let (get, quiet) = (op_named("shmem_long_atomic_fetch_nbi"), op_named("shmem_quiet"));
    const BATCH: u64 = 100;
    const BATCHES: u64 = 4000;
    for _ in 0..BATCHES {
        (0..BATCH).for_each(|_| call(get, 1, PLACES[0]));
        call(quiet, -1, PLACES[1]);
    }
    call(get, 2, PLACES[0]);
    assert_eq!(arm::flag(&ARM, get), PROBE);
    let pe = end(&fixture);
    let (row, calls) = (routine(&pe, get), BATCH * BATCHES);
    assert_eq!((row.all_calls(), row.sampled_sites), (calls + 1, true));
    let sites = by_place(&pe, "shmem_long_atomic_fetch_nbi");
    assert_eq!((sites, routine(&pe, quiet).all_calls()), ([calls + 1, 0], BATCHES));
    let nbi = pe.tables.nbi;
    let told = (nbi.issued, nbi.bytes, nbi.batches, nbi.completed);
    assert_eq!(told, (calls + 1, 8 * (calls + 1), BATCHES, calls), "{nbi:?}");
    assert!(nbi.ns > 0 && nbi.blocked_ns <= nbi.ns, "{nbi:?}");
}

#[test]
fn what_costs_little_is_counted_call_by_call() {
    let fixture = begin(100);
    make_calls(op_named("shmem_long_p"));
    let pe = end(&fixture);
    assert!(!routine(&pe, op_named("shmem_long_p")).sampled_sites);
    assert_eq!(by_place(&pe, "shmem_long_p").iter().sum::<u64>(), CALLS);
}

#[test]
fn routines_that_only_say_what_is_known_are_not_worth_a_site_each() {
    let fixture = begin(1);
    let n_pes = op_named("shmem_n_pes");
    (0..1000).for_each(|_| call(n_pes, -1, PLACES[0]));
    assert_eq!(arm::flag(&ARM, n_pes), SITE);
    make_calls(n_pes);
    assert_eq!(arm::flag(&ARM, n_pes), PROBE);
    let pe = end(&fixture);
    assert_eq!((routine(&pe, n_pes).all_calls(), routine(&pe, n_pes).sampled_sites), (CALLS + 1000, true));
    let [first, second] = by_place(&pe, "shmem_n_pes");
    assert_eq!(first + second, CALLS + 1000);
    assert!((0.7..0.8).contains(&(first as f64 / (CALLS + 1000) as f64)), "{first} of {} calls", CALLS + 1000);
}

#[test]
fn whoever_wants_each_call_gets_it() {
    let fixture = begin(1000);
    set_exact_sites(true);
    make_calls(op_named("shmem_long_p"));
    set_exact_sites(false);
    assert!(!routine(&end(&fixture), op_named("shmem_long_p")).sampled_sites);
}

#[test]
fn where_threads_wait_for_words_each_store_is_noted() {
    let fixture = begin(1000);
    // The reader of other threads' stores sees those of this process, too.
    let (_, slot) = claim::own().unwrap();
    let (p, g) = (op_named("shmem_long_p"), op_named("shmem_long_g"));
    make_calls(p);
    assert_eq!(arm::flag(&ARM, p), PROBE);
    slot.tables.waited.left.store(1, Relaxed);
    make_calls(p);
    make_calls(g);
    assert_eq!([p, g].map(|op| arm::flag(&ARM, op)), [SITE, PROBE]);
    let pe = end(&fixture);
    assert_eq!(by_place(&pe, "shmem_long_p").iter().sum::<u64>(), 2 * CALLS);
    assert_eq!(by_place(&pe, "shmem_long_g").iter().sum::<u64>(), CALLS);
}

#[test]
fn a_call_that_is_no_sample_adds_nothing() {
    let fixture = begin(1000);
    let g = op_named("shmem_long_g");
    make_calls(g);
    let (_, slot) = claim::own().unwrap();
    let row = || slot.tables.peers.iter().map(|peer| peer.kinds[1].calls.load(Relaxed)).sum::<u64>();
    let before = row();
    // Not counted in front, as where a tool is in between.
    tls::set_site(PLACES[0]);
    let next = slot.cell(g).countdown.load(Relaxed);
    (0..next.min(10)).for_each(|_| sampled(g, 1, 0x1000, 8, || ()));
    assert!(next == 0 || row() == before, "{next}");
    assert_eq!(by_place(&end(&fixture), "shmem_long_g").iter().sum::<u64>(), CALLS + u64::from(next.min(10)));
}
