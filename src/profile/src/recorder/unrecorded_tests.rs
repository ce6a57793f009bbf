//! Time at level 0.

use std::time::Duration;

use super::tests::Fixture;
use super::{Mark, mark, region_begin, region_end, set_level, timed};
use crate::model::Pe;
use crate::op;
use crate::timeline::{UNRECORDED, WAITS};

/// What passes at level 0 is of no time that shares are of, and what began before is that much shorter.
#[test]
fn time_at_level_0_is_no_part_of_the_run() {
    let fixture = Fixture::new();
    set_level(1);
    mark(Mark::Initialized);
    let meet = || timed(op::find("shmem_barrier_all").unwrap_or(0), -1, 0, 0, || ());
    meet();
    assert!(region_begin("all"));
    let pass = || std::thread::sleep(Duration::from_millis(50));
    set_level(0);
    assert!(region_begin("inner"));
    pass();
    assert!(region_end(Some("inner")));
    let open = fixture.pe();
    set_level(1);
    meet();
    let once = fixture.pe();
    set_level(0);
    pass();
    mark(Mark::Finalizing);
    mark(Mark::Finalized);
    let pe = fixture.pe();
    assert_eq!(pe.level_changes, 3);
    let unrecorded = [&open, &once, &pe].map(|pe| pe.tables.system.unrecorded_ns / 1_000_000);
    assert!(unrecorded[0] >= 50 && unrecorded[1] >= unrecorded[0] && unrecorded[2] >= 100, "{unrecorded:?}");
    let all = |pe: &Pe| pe.finalize_ns - pe.init_ns;
    assert_eq!(pe.main_ns() + pe.tables.system.unrecorded_ns, all(&pe));
    let tables = &pe.tables;
    // What had begun and ended before stays where it was.
    let first = [&open, &once, &pe].map(|pe| &pe.tables.syncs[0]);
    assert!(first.iter().all(|sync| **sync == *first[0] && sync.phase.from.is_none()), "{first:?}");
    for (what, ns) in [
        ("threads", tables.system.threads_ns),
        ("region", tables.regions[1].total_ns),
        ("inner region", tables.regions[2].total_ns),
        ("own time of the region", tables.regions[1].own_ns),
        ("phase", tables.syncs[1].arrived_ns - tables.syncs[1].phase.begin_ns),
    ] {
        assert!(ns <= pe.main_ns() + 1000, "{what}: {ns} ns of {}", pe.main_ns());
    }
}

/// It is on the time line as what it is: what was recorded before it is not spread over it.
#[test]
fn time_at_level_0_is_on_the_time_line() {
    let fixture = Fixture::new();
    let pass = |ms| std::thread::sleep(Duration::from_millis(ms));
    let wait = |ms| timed(op::find("shmem_long_wait_until").unwrap_or(0), -1, 0, 8, || pass(ms));
    set_level(1);
    mark(Mark::Initialized);
    wait(5);
    set_level(0);
    pass(40);
    let open = fixture.pe();
    set_level(1);
    wait(5);
    mark(Mark::Finalizing);
    mark(Mark::Finalized);
    let pe = fixture.pe();
    let all = |pe: &Pe, kind: usize| pe.tables.timeline.slices.iter().map(|slice| slice[kind]).sum::<u64>();
    for pe in [&open, &pe] {
        let unrecorded = pe.tables.system.unrecorded_ns;
        assert!(all(pe, UNRECORDED).abs_diff(unrecorded) < 1000, "{} of {unrecorded}", all(pe, UNRECORDED));
        let both = pe.tables.timeline.slices.iter().filter(|slice| slice[UNRECORDED] > 0 && slice[WAITS] > 0).count();
        assert!(both <= 2, "{:?}", pe.tables.timeline);
    }
    assert!(all(&pe, WAITS) >= 10_000_000);
}
