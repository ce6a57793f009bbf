//! Random collectives one after the other on one team or another, against what they must give.

use crate::job::{HEAP, Pe, Shape, run};
use crate::random::Random;
use pellucid_core::collectives::kernel::Number;
use pellucid_core::collectives::table;
use pellucid_core::collectives::{self, Kernel, Op, Scalar};
use pellucid_core::team::{self, Handle};
use std::sync::Mutex;

/// Where the objects of all calls lie: one place, so that a call which writes to a member too early is found.
const DEST: usize = 64;
const SOURCE: usize = HEAP / 2 + 64;

/// A team as everyone knows it: its members, by world number, and this PE's handle where it is one.
pub struct Known {
    pub handle: Handle,
    pub members: Vec<i32>,
}

impl Known {
    pub fn world(pe: &Pe) -> Self {
        Self { handle: Handle::WORLD, members: (0..pe.w.map.npes).collect() }
    }

    pub fn shared(pe: &Pe) -> Self {
        let first = pe.w.map.first_pe;
        Self { handle: Handle::SHARED, members: (first..first + pe.w.map.local_pes as i32).collect() }
    }

    /// `start + stride * i` of this one, for its members.
    pub fn split(&self, pe: &Pe, start: i32, stride: i32, size: i32) -> Option<Self> {
        let mut handle = Handle::INVALID;
        let status =
            team::split_strided(pe.w, self.handle, start, stride, size, std::ptr::null(), 0, &raw mut handle).unwrap();
        let members: Vec<i32> = (0..size).map(|i| self.members[(start + stride * i) as usize]).collect();
        assert_eq!(status != 0 || handle == Handle::INVALID, !members.contains(&pe.me()));
        (status == 0 && handle != Handle::INVALID).then_some(Self { handle, members })
    }

    fn me(&self, pe: &Pe) -> usize {
        self.members.iter().position(|member| *member == pe.me()).unwrap()
    }
}

/// Element `i` that a member gives in a call.
fn value(call: u64, member: usize, i: usize) -> i64 {
    (call as i64 * 7919 + member as i64 * 104_729 + i as i64 * 31) ^ 0x5555
}

fn bytes(values: impl Iterator<Item = i64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.for_each(|value| bytes.extend_from_slice(&value.to_ne_bytes()));
    bytes
}

/// First one map x -> ax + b, then another.
fn after(left: [i64; 2], right: [i64; 2]) -> [i64; 2] {
    [left[0].wrapping_mul(right[0]), left[1].wrapping_mul(right[0]).wrapping_add(right[1])]
}

unsafe fn compose(acc: *mut u8, src: *const u8, n: usize) {
    for i in 0..n {
        // SAFETY: n elements each, says the caller.
        unsafe {
            let at = acc.cast::<[i64; 2]>().add(i);
            at.write_unaligned(after(at.read_unaligned(), src.cast::<[i64; 2]>().add(i).read_unaligned()));
        }
    }
}

const AFFINE: Kernel = Kernel { elem: 16, scalar: Scalar::Integer, op: Op::Prod, combine: compose };

/// Says where results differ without printing all of them.
fn same(what: &str, pe: &Pe, got: &[u8], expected: &[u8]) {
    assert_eq!(got.len(), expected.len());
    if got != expected {
        let at = (0..got.len()).find(|i| got[*i] != expected[*i]).unwrap();
        panic!("{what} on PE {}: byte {at} of {} is wrong", pe.me(), got.len());
    }
}

/// Bits of floating-point results by call: the same on everyone.
type Results = Mutex<std::collections::HashMap<(u64, i32), Vec<u8>>>;

fn sizes(random: &mut Random, members: usize) -> usize {
    let n = match random.below(8) {
        0 => 0,
        1..=3 => 1 + random.below(6) as usize,
        4 | 5 => random.below(3000) as usize,
        6 => random.below(10_000) as usize,
        _ => random.below(50_000) as usize,
    };
    n.min(HEAP / 2 / 8 / members - 16)
}

fn one(pe: &Pe, team: &Known, call: u64, random: &mut Random, results: &Results) {
    let (w, size, me) = (&pe.w, team.members.len(), team.me(pe));
    let n = sizes(random, size);
    let in_place = random.below(2) == 0;
    let mine = |n: usize| bytes((0..n).map(|i| value(call, me, i)));
    let other = |member: usize, n: usize| bytes((0..n).map(move |i| value(call, member, i)));
    let (dest, source) = (pe.at(DEST), pe.at(SOURCE));
    let clear = |n: usize| pe.write(DEST, &vec![0xee; n * 8 + 8]);
    let kind = random.below(13);
    let what = format!("call {call}, kind {kind}, {n} elements, {size} members, in place {in_place}");
    match kind {
        0 => assert_eq!(collectives::team_sync(w, team.handle).unwrap(), 0),
        1 => {
            let root = random.below(size as u64) as i32;
            pe.write(SOURCE, &mine(n));
            clear(n);
            collectives::broadcast(w, team.handle, dest, source, n * 8, root).unwrap();
            same(&what, pe, &pe.read(DEST, n * 8), &other(root as usize, n));
            same(&what, pe, &pe.read(DEST + n * 8, 8), &[0xee; 8]);
        }
        2 | 3 => {
            clear(n);
            let source = if in_place { dest } else { source };
            pe.write(if in_place { DEST } else { SOURCE }, &mine(n));
            let (kernel, op): (Kernel, fn(i64, i64) -> i64) =
                if kind == 2 { (i64::SUM_KERNEL, i64::wrapping_add) } else { (i64::MAX_KERNEL, i64::max) };
            collectives::reduce(w, team.handle, dest, source, n, kernel).unwrap();
            let all = |i| (0..size).map(|member| value(call, member, i)).reduce(op).unwrap();
            same(&what, pe, &pe.read(DEST, n * 8), &bytes((0..n).map(all)));
            same(&what, pe, &pe.read(DEST + n * 8, 8), &[0xee; 8]);
        }
        4 => {
            // Rounding makes the order of additions visible.
            let values: Vec<u8> =
                (0..n).flat_map(|i| (1.0 / (1.0 + value(call, me, i) as f64)).to_ne_bytes()).collect();
            pe.write(SOURCE, &values);
            collectives::reduce(w, team.handle, dest, source, n, f64::SUM_KERNEL).unwrap();
            let got = pe.read(DEST, n * 8);
            let mut results = results.lock().unwrap();
            same(&what, pe, &got, results.entry((call, team.members[0])).or_insert_with(|| got.clone()));
        }
        5 => {
            pe.write(SOURCE, &mine(n));
            clear(n * size);
            collectives::fcollect(w, team.handle, dest, source, n * 8).unwrap();
            let expected: Vec<u8> = (0..size).flat_map(|member| other(member, n)).collect();
            same(&what, pe, &pe.read(DEST, n * size * 8), &expected);
            same(&what, pe, &pe.read(DEST + n * size * 8, 8), &[0xee; 8]);
        }
        6 => {
            let count =
                |member: usize| if (member + call as usize).is_multiple_of(3) { 0 } else { n * (member + 1) / size };
            pe.write(SOURCE, &mine(count(me)));
            clear(n * size);
            collectives::collect(w, team.handle, dest, source, count(me) * 8).unwrap();
            let expected: Vec<u8> = (0..size).flat_map(|member| other(member, count(member))).collect();
            same(&what, pe, &pe.read(DEST, expected.len()), &expected);
            same(&what, pe, &pe.read(DEST + expected.len(), 8), &[0xee; 8]);
        }
        7 => {
            pe.write(SOURCE, &mine(n * size));
            clear(n * size);
            collectives::alltoall(w, team.handle, dest, source, n * 8).unwrap();
            let expected = bytes((0..size).flat_map(|from| (0..n).map(move |i| value(call, from, me * n + i))));
            same(&what, pe, &pe.read(DEST, n * size * 8), &expected);
        }
        8 => {
            let (n, dst, sst) = (n / 6, 1 + random.below(3) as usize, 1 + random.below(3) as usize);
            pe.write(SOURCE, &mine(n * size * sst));
            clear(n * size * dst);
            collectives::alltoalls(w, team.handle, dest, source, dst as isize, sst as isize, n, 8).unwrap();
            let got = pe.read(DEST, n * size * dst * 8);
            for (i, element) in got.chunks_exact(8).enumerate() {
                let expected = if i.is_multiple_of(dst) {
                    value(call, i / dst / n, (me * n + i / dst % n) * sst).to_ne_bytes()
                } else {
                    [0xee; 8]
                };
                same(&what, pe, element, &expected);
            }
        }
        11 | 12 => {
            // Results that depend on the order of the members.
            let n = n / 2;
            let of = |member: usize, i: usize| [value(call, member, 2 * i) | 1, value(call, member, 2 * i + 1)];
            pe.write(SOURCE, &mine(n * 2));
            let odd = |i: usize| pe.write(SOURCE + i * 16, &of(me, i)[0].to_ne_bytes());
            (0..n).for_each(odd);
            let call = if kind == 11 { collectives::reduce } else { collectives::inscan };
            call(w, team.handle, dest, source, n, AFFINE).unwrap();
            let all =
                |i| (0..if kind == 11 { size } else { me + 1 }).map(|member| of(member, i)).reduce(after).unwrap();
            same(&what, pe, &pe.read(DEST, n * 16), &bytes((0..n).flat_map(all)));
        }
        _ => {
            clear(n);
            let source = if in_place { dest } else { source };
            pe.write(if in_place { DEST } else { SOURCE }, &mine(n));
            let inclusive = kind == 9;
            let scan = if inclusive { collectives::inscan } else { collectives::exscan };
            scan(w, team.handle, dest, source, n, i64::SUM_KERNEL).unwrap();
            let before = me + usize::from(inclusive);
            let all = |i| (0..before).map(|member| value(call, member, i)).fold(0, i64::wrapping_add);
            same(&what, pe, &pe.read(DEST, n * 8), &bytes((0..n).map(all)));
        }
    }
    // A source may be changed as soon as the call is over.
    pe.write(SOURCE, &[0x33; 4096]);
}

/// A team or two of the world and of each other, then calls on any of them in turn.
pub fn calls(shape: &Shape<'_>, seed: u64, count: u64) {
    let results = Results::default();
    run(shape, |pe| {
        let mut random = Random::new(seed);
        let mut teams = vec![Some(Known::world(pe)), Some(Known::shared(pe))];
        let npes = pe.w.map.npes;
        for _ in 0..2 {
            let size = 1 + random.below(npes as u64) as i32;
            let stride = 1 + random.below(((npes - 1) / (size - 1).max(1)) as u64) as i32;
            let stride = if (size - 1) * stride < npes { stride } else { 1 };
            let (start, stride) = if random.below(2) == 0 { (stride * (size - 1), -stride) } else { (0, stride) };
            let team = Known::world(pe).split(pe, start, stride, size);
            teams.push(team);
        }
        // Members of different teams make different calls: each team has numbers of its own.
        for call in 0..count {
            let (chosen, inner) = (random.below(4) as usize, random.next());
            if let Some(team) = &teams[chosen] {
                let seed = team.members.iter().fold(inner, |sum, pe| sum.wrapping_mul(31).wrapping_add(*pe as u64));
                one(pe, team, call, &mut Random::new(seed), &results);
            }
        }
        for team in teams.drain(..).skip(2).rev().flatten() {
            team::destroy(pe.w, team.handle).unwrap();
        }
        collectives::barrier_all(pe.w).unwrap();
    });
}

const SHAPES: &[(&[u32], u32)] = &[
    (&[0], 3),
    (&[0, 1], 2),
    (&[0, 1, 2], 3),
    (&[0, 2], 4),
    (&[0, 1, 3], 7),
    (&[0, 4, 5, 9], 11),
    (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 13),
    (&[0, 3, 6, 9, 12], 16),
];

#[test]
fn random_calls_give_what_they_must() {
    for (hosts, npes) in SHAPES {
        calls(&Shape::new(hosts, *npes), u64::from(*npes), 60);
    }
}

#[test]
fn with_check_too() {
    calls(&Shape { check: true, ..Shape::new(&[0, 2, 3], 6) }, 5, 60);
}

#[test]
fn many_members() {
    let hosts: Vec<u32> = (0..64).collect();
    calls(&Shape::new(&hosts, 64), 9, 12);
    let hosts: Vec<u32> = (0..40).step_by(3).collect();
    calls(&Shape::new(&hosts, 40), 9, 12);
}

#[test]
fn every_algorithm_between_hosts() {
    for row in table::rows().into_iter().filter(|row| row.collective.starts_with("hosts-")) {
        let algorithms = format!("{}:{}", row.collective, row.name);
        for (hosts, npes) in [(&[0u32, 1, 2, 3, 4][..], 5), (&[0, 2, 5], 6), (&[0, 1, 2, 3, 4, 5, 6, 7], 8)] {
            calls(&Shape { algorithms: &algorithms, ..Shape::new(hosts, npes) }, 3, 30);
        }
    }
}
