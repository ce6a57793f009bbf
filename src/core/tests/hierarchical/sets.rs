//! Active sets on several hosts.

use crate::job::{HEAP, Pe, Shape, run};
use crate::random::Random;
use pellucid_core::collectives::active::{self, ActiveSet};
use pellucid_core::collectives::kernel::Number;

const DEST: usize = 64;
const SOURCE: usize = HEAP / 2;
/// A work array for each set: another set may be at work at the same time.
const PSYNC: usize = HEAP - (64 << 10);

fn value(call: u64, pe: i32, i: usize) -> i64 {
    call as i64 * 1_000_003 + i64::from(pe) * 10_007 + i as i64
}

fn bytes(values: impl Iterator<Item = i64>) -> Vec<u8> {
    values.flat_map(i64::to_ne_bytes).collect()
}

fn one(pe: &Pe, call: u64, set: ActiveSet<'_>, members: &[i32], kind: u64, n: usize, random: &mut Random) {
    let (w, size) = (&pe.w, members.len());
    let me = members.iter().position(|member| *member == pe.me()).unwrap();
    let (dest, source) = (pe.at(DEST), pe.at(SOURCE));
    let give = |n: usize| pe.write(SOURCE, &bytes((0..n).map(|i| value(call, pe.me(), i))));
    pe.write(DEST, &vec![0xee; n * size * 2 * 8 + 8]);
    let expected = match kind {
        0 => {
            active::barrier(w, set).unwrap();
            Vec::new()
        }
        1 => {
            let root = random.below(size as u64) as usize;
            give(n);
            active::broadcast(w, set, dest, source, n * 8, root as i32).unwrap();
            if root == me { vec![0xee; n * 8] } else { bytes((0..n).map(|i| value(call, members[root], i))) }
        }
        2 => {
            give(n);
            active::fcollect(w, set, dest, source, n * 8).unwrap();
            bytes(members.iter().flat_map(|pe| (0..n).map(|i| value(call, *pe, i))))
        }
        3 => {
            let count = |member: usize| if member % 3 == 1 { 0 } else { n / (member + 1) };
            give(count(me));
            active::collect(w, set, dest, source, count(me) * 8).unwrap();
            bytes(
                (0..size).flat_map(|from| (0..count(from)).map(|i| value(call, members[from], i)).collect::<Vec<_>>()),
            )
        }
        4 => {
            give(n * size);
            active::alltoall(w, set, dest, source, n * 8).unwrap();
            bytes(members.iter().flat_map(|pe| (0..n).map(move |i| value(call, *pe, me * n + i))))
        }
        5 => {
            give(n * size * 3);
            active::alltoalls(w, set, dest, source, 2, 3, n, 8).unwrap();
            let all = members.iter().flat_map(|pe| (0..n).map(move |i| value(call, *pe, (me * n + i) * 3)));
            let mut all: Vec<u8> = all.flat_map(|v| [v.to_ne_bytes(), [0xee; 8]].concat()).collect();
            all.truncate((n * size * 2).saturating_sub(1) * 8);
            all
        }
        _ => {
            give(n);
            if kind == 7 {
                pe.write(DEST, &pe.read(SOURCE, n * 8));
            }
            let source = if kind == 7 { dest } else { source };
            active::reduce(w, set, dest, source, n as i32, i64::SUM_KERNEL).unwrap();
            bytes((0..n).map(|i| members.iter().map(|pe| value(call, *pe, i)).sum()))
        }
    };
    assert_eq!(pe.read(DEST, expected.len()), expected, "call {call} of kind {kind}, {n} elements, {set:?}, PE {me}");
    assert_eq!(pe.read(DEST + expected.len(), 8), [0xee; 8], "call {call} of kind {kind}, {n} elements, {set:?}");
}

#[test]
fn every_call_on_every_set() {
    for (hosts, npes) in [(&[0u32, 1, 2][..], 3), (&[0, 2, 3], 6), (&[0, 4], 8), (&[0, 3, 6, 9], 11)] {
        run(&Shape::new(hosts, npes), |pe| {
            let mut random = Random::new(4);
            let npes = pe.w.map.npes;
            for call in 0..150 {
                let log_stride = random.below(3) as i32;
                let start = random.below(npes as u64) as i32;
                let most = (npes - start + (1 << log_stride) - 1) >> log_stride;
                let size = 1 + random.below(most as u64) as i32;
                let psync = PSYNC + 32 * ((start * 3 + log_stride) * 16 + size) as usize;
                let set = active::set(start, log_stride, size, pe.at(psync).cast());
                let (kind, n) = (random.below(8), [0, 1, 7, 300, 5000][random.below(5) as usize]);
                let offset = pe.me() - start;
                let member = offset >= 0 && offset % (1 << log_stride) == 0 && (offset >> log_stride) < size;
                let mut inner = Random::new(random.next());
                let members: Vec<i32> = (0..size).map(|i| start + (i << log_stride)).collect();
                if member {
                    // A root may run ahead of the others by many calls.
                    let repeat = if kind == 1 { 40 } else { 1 };
                    for again in 0..repeat {
                        one(pe, call * 100 + again, set, &members, kind, n, &mut inner);
                    }
                }
            }
        });
    }
}
