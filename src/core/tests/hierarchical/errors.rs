//! PEs that are not in the same call find out.

use crate::job::{Pe, Shape, run};
use pellucid_core::base::{Cause, Fault};
use pellucid_core::collectives;
use pellucid_core::collectives::kernel::Number;
use pellucid_core::team::Handle;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// What the PEs of a job that cannot go on say, the first of them first.
fn faults(shape: &Shape<'_>, part: impl Fn(&Pe) -> Result<i32, Fault> + Sync) -> Vec<Cause> {
    let found = Mutex::new(Vec::new());
    run(shape, |pe| {
        if let Err(fault) = part(pe) {
            found.lock().unwrap().push(fault.cause().clone());
            pe.hub.stop.store(true, Ordering::Relaxed);
        }
    });
    found.into_inner().unwrap()
}

#[test]
fn different_collectives() {
    let found = faults(&Shape::new(&[0, 1], 2), |pe| match pe.me() {
        0 => collectives::reduce(pe.w, Handle::WORLD, pe.at(0), pe.at(64), 1, i64::SUM_KERNEL),
        _ => collectives::fcollect(pe.w, Handle::WORLD, pe.at(0), pe.at(64), 8),
    });
    let Cause::Mismatch { mine, theirs, pe } = &found[0] else { panic!("{found:?}") };
    assert!((0..2).contains(pe));
    let mut both = [mine.as_str(), theirs.as_str()];
    both.sort_unstable();
    assert_eq!(both, ["a reduction of 8 bytes", "an fcollect of 8 bytes"]);
}

#[test]
fn nothing_needs_no_objects() {
    run(&Shape::new(&[0, 2, 3], 4), |pe| {
        let null = std::ptr::null_mut::<u8>();
        let (w, team) = (&pe.w, Handle::WORLD);
        let sum = i64::SUM_KERNEL;
        for _ in 0..3 {
            assert_eq!(collectives::collect(w, team, null, null, 0), Ok(0));
            assert_eq!(collectives::fcollect(w, team, null, null, 0), Ok(0));
            assert_eq!(collectives::broadcast(w, team, null, null, 0, 1), Ok(0));
            assert_eq!(collectives::reduce(w, team, null, null, 0, sum), Ok(0));
            assert_eq!(collectives::exscan(w, team, null, null, 0, sum), Ok(0));
            assert_eq!(collectives::alltoall(w, team, null, null, 0), Ok(0));
            assert_eq!(collectives::alltoalls(w, team, null, null, 1, 1, 0, 8), Ok(0));
        }
    });
}

#[test]
fn different_sizes() {
    let found = faults(&Shape::new(&[0, 1, 2], 3), |pe| {
        let n = if pe.me() == 1 { 100_000 } else { 200_000 };
        collectives::broadcast(pe.w, Handle::WORLD, pe.at(0), pe.at(1 << 20), n, 0)
    });
    assert!(matches!(&found[0], Cause::Mismatch { .. }), "{found:?}");
}

#[test]
fn check_compares_arguments() {
    let shape = Shape { check: true, ..Shape::new(&[0, 1, 2, 3], 4) };
    let found = faults(&shape, |pe| {
        collectives::broadcast(pe.w, Handle::WORLD, pe.at(64), pe.at(512), 8, i32::from(pe.me() == 2))
    });
    let Cause::Mismatch { mine, theirs, .. } = &found[0] else { panic!("{found:?}") };
    assert!(mine.contains("PE_root = ") && theirs.contains("PE_root = ") && mine != theirs, "{found:?}");
}
