//! Bytes of allocations are those that there was room for.

use std::sync::Barrier;

use super::tests::{Fixture, op_named, routine};
use super::{error, given, timed};
use crate::op;
use crate::segment::layout::SLOTS;

/// What the probe does around a call that asks for `bytes`.
fn allocate(bytes: usize, has_room: bool) {
    let op = op_named("shmem_malloc");
    timed(op, -1, 0, bytes, || ());
    if has_room { given(op, bytes) } else { error(op) }
}

#[test]
fn allocations_without_room_have_no_bytes() {
    let fixture = Fixture::new();
    allocate(1 << 50, false);
    allocate(64, true);
    allocate(1 << 50, false);
    allocate(100, true);
    allocate(0, true);
    let pe = fixture.pe();
    let malloc = routine(&pe, op_named("shmem_malloc"));
    assert_eq!((malloc.all_calls(), malloc.all_bytes(), malloc.errors), (5, 164, 2));
    let sizes: Vec<_> =
        malloc.sizes.iter().filter(|size| size.class > 0).map(|size| (size.calls, size.bytes)).collect();
    assert_eq!(sizes, [(2, 164), (2, 0)], "a call is in the class of what it asked for");
    let sites = pe.tables.sites.iter().filter(|site| site.routine == "shmem_malloc");
    assert_eq!(sites.fold((0, 0), |(calls, bytes), site| (calls + site.calls, bytes + site.bytes)), (5, 164));
}

#[test]
fn what_an_allocation_asks_for_is_not_counted_before_it_has_it() {
    let fixture = Fixture::new();
    let op = op_named("shmem_calloc");
    assert_ne!(op::traits(op) & op::ALLOCATES, 0);
    allocate(8, true);
    timed(op, -1, 0, 64, || {
        let pe = fixture.pe();
        assert_eq!((routine(&pe, op).all_calls(), routine(&pe, op).all_bytes()), (1, 0));
    });
    given(op, 64);
    assert_eq!(routine(&fixture.pe(), op).all_bytes(), 64);
}

#[test]
fn threads_that_share_a_slot_count_them_too() {
    let fixture = Fixture::new();
    let threads = SLOTS + 8;
    let all_here = Barrier::new(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                allocate(16, true);
                all_here.wait();
                allocate(16, true);
                allocate(1 << 40, false);
            });
        }
    });
    let (pe, threads) = (fixture.pe(), threads as u64);
    let malloc = routine(&pe, op_named("shmem_malloc"));
    assert!(pe.shared_calls >= 8, "{} calls in the shared slot", pe.shared_calls);
    assert_eq!((malloc.all_calls(), malloc.all_bytes(), malloc.errors), (3 * threads, 32 * threads, threads));
    let bytes = pe.tables.sites.iter().filter(|site| site.routine == "shmem_malloc").map(|site| site.bytes);
    assert_eq!(bytes.sum::<u64>(), 32 * threads);
}
