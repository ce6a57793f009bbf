//! Collectives that take an algorithm which another is faster than.

use super::*;
use crate::calibration::AlgorithmPoint;
use crate::tables::Algorithm;

/// What algorithms take on four PEs of the host `timed`.
pub fn algorithms() -> Vec<AlgorithmPoint> {
    let point = |name: &str, bytes, ns| AlgorithmPoint { name: name.into(), bytes, ns, spread: 0.1 };
    vec![
        point("reduce:slow", 8, 1e3),
        point("reduce:slow", 1 << 20, 9e5),
        point("reduce:fast", 8, 9e2),
        point("reduce:fast", 1 << 20, 3e5),
    ]
}

/// Four PEs on the host `timed` that call a reduction 100 times each, which takes this algorithm.
pub fn reductions(bytes: u64, algorithm: &str) -> Profile {
    let name = "shmem_long_sum_reduce";
    let mut all = profile(&[routine(name, Class::Collective, 100, bytes, 100 * MS)], 0.25);
    for pe in &mut all.pes {
        pe.host = "timed".into();
        pe.tables.algorithms = vec![Algorithm { routine: name.into(), name: algorithm.into(), calls: 100 }];
    }
    all
}

#[test]
fn an_algorithm_is_named_where_another_is_measured_to_be_faster() {
    let found = findings(&reductions(1 << 20, "reduce:slow"));
    let (name, finding) = &found[0];
    assert_eq!((*name, finding.what.contains("reduce:slow, which reduce:fast beats here")), ("algorithm", true));
    // 100 calls of a PE gain 0.6 ms each, of a second.
    assert!((finding.share - 0.06).abs() < 1e-6, "{finding:?}");
    // The other one; a size at which they are near each other; other hosts; choices that nobody can tell apart.
    let elsewhere = || {
        let mut all = reductions(1 << 20, "reduce:slow");
        all.pes.iter_mut().for_each(|pe| pe.host = "another".into());
        all
    };
    let mixed = || {
        let mut all = reductions(1 << 20, "reduce:slow");
        all.pes.iter_mut().for_each(|pe| {
            let other = Algorithm { name: "reduce:fast".into(), calls: 50, ..pe.tables.algorithms[0].clone() };
            pe.tables.algorithms.push(other);
        });
        all
    };
    for clean in [reductions(1 << 20, "reduce:fast"), reductions(8, "reduce:slow"), elsewhere(), mixed()] {
        assert!(!names(&clean).contains(&"algorithm"), "{:?}", findings(&clean));
    }
}
