//! Many nonblocking collectives at a time, on groups that overlap, begun in another order on each PE.

use crate::job::{HEAP, Pe, Shape, run};
use crate::random::Random;
use pellucid_core::collectives::kernel::Number;
use pellucid_core::collectives::nonblocking::{self, Group};
use pellucid_core::collectives::{asets, requests};
use pellucid_core::request::{Request, RequestState};
use pellucid_core::team::aset::{self, Opaque};
use pellucid_core::{collectives, request};

const AT_A_TIME: usize = 48;
/// Bytes of an operation's object.
const ROOM: usize = HEAP / 2 / AT_A_TIME / 16 * 16;
const PSYNC: usize = HEAP - 4096;

fn value(call: usize, pe: i32, i: usize) -> i64 {
    call as i64 * 1_000_003 + i64::from(pe) * 10_007 + i as i64
}

fn bytes(values: impl Iterator<Item = i64>) -> Vec<u8> {
    values.flat_map(i64::to_ne_bytes).collect()
}

/// One collective that all PEs draw alike.
struct Call {
    set: *mut Opaque,
    members: Vec<i32>,
    kind: u64,
    n: usize,
    root: usize,
}

fn draw(pe: &Pe, random: &mut Random) -> Call {
    let npes = pe.w.map.npes;
    let mut list: Vec<i32> = (0..npes).collect();
    for i in (1..list.len()).rev() {
        list.swap(i, random.below(i as u64 + 1) as usize);
    }
    list.truncate(1 + random.below(npes as u64) as usize);
    let set = aset::create_generic(pe.w, list.as_ptr(), list.len() as i32).unwrap();
    let root = random.below(list.len() as u64) as usize;
    let most = (ROOM - 128) / 8 / npes as usize;
    let n = [1, 3, 40, 900, most][random.below(5) as usize].min(most);
    Call { set, members: list, kind: random.below(5), n, root }
}

fn begin(pe: &Pe, number: usize, call: &Call) -> Option<Request> {
    let set = aset::get(call.set).unwrap();
    set.me?;
    let (at, from) = (number * ROOM, HEAP / 2 + number * (ROOM - 128));
    let count = if call.kind == 3 { call.n * call.members.len() } else { call.n };
    pe.write(from, &bytes((0..count).map(|i| value(number, pe.me(), i))));
    let (dest, source, w) = (pe.at(at), pe.at(from).cast_const(), pe.w);
    let group = Group::Set(&set, pe.at(PSYNC + 8 * number).cast_const().cast());
    let begun = match call.kind {
        0 => nonblocking::barrier(w, group, false),
        1 => nonblocking::broadcast(w, group, dest, source, call.n * 8, call.root as i32),
        2 => nonblocking::fcollect(w, group, dest, source, call.n * 8),
        3 => nonblocking::alltoall(w, group, dest, source, call.n * 8),
        _ => nonblocking::reduce(w, group, dest, source, call.n, i64::SUM_KERNEL),
    };
    Some(begun.unwrap().expect("a set is a group"))
}

fn check(pe: &Pe, number: usize, call: &Call) {
    let mine = call.members.iter().position(|member| *member == pe.me()).unwrap();
    let (members, n) = (&call.members, call.n);
    let expected = match call.kind {
        0 => return,
        1 if mine == call.root => return,
        1 => bytes((0..n).map(|i| value(number, members[call.root], i))),
        2 => bytes(members.iter().flat_map(|pe| (0..n).map(|i| value(number, *pe, i)))),
        3 => bytes(members.iter().flat_map(|pe| (0..n).map(move |i| value(number, *pe, mine * n + i)))),
        _ => bytes((0..n).map(|i| members.iter().map(|pe| value(number, *pe, i)).sum())),
    };
    assert!(pe.read(number * ROOM, expected.len()) == expected, "call {number} of kind {}, {n} elements", call.kind);
}

fn round(pe: &Pe, seed: u64) {
    let mut random = Random::new(seed);
    let calls: Vec<Call> = (0..AT_A_TIME).map(|_| draw(pe, &mut random)).collect();
    let mut own = Random::new(seed * 1000 + pe.me() as u64);
    let mut order: Vec<usize> = (0..AT_A_TIME).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, own.below(i as u64 + 1) as usize);
    }
    let mut begun: Vec<(usize, Request)> =
        order.iter().filter_map(|number| Some((*number, begin(pe, *number, &calls[*number])?))).collect();
    while !begun.is_empty() {
        let (number, mut request) = begun.swap_remove(own.below(begun.len() as u64) as usize);
        assert_eq!(requests::wait(pe.w, &raw mut request), Ok(0));
        check(pe, number, &calls[number]);
        assert_ne!(request::state(request), RequestState::Pending);
    }
    calls.iter().for_each(|call| aset::delete(call.set).unwrap());
    collectives::sync_all(pe.w).unwrap();
}

/// Blocking collectives of sets, with a work array and without one.
fn blocking(pe: &Pe, seed: u64) {
    let mut random = Random::new(seed);
    for number in 0..AT_A_TIME {
        let call = draw(pe, &mut random);
        let with = random.below(2) == 0;
        if aset::get(call.set).unwrap().me.is_some() {
            let (dest, from) = (pe.at(number * ROOM), HEAP / 2 + number * (ROOM - 128));
            let count = if call.kind == 3 { call.n * call.members.len() } else { call.n };
            pe.write(from, &bytes((0..count).map(|i| value(number, pe.me(), i))));
            let source = pe.at(from).cast_const();
            let psync = if with { pe.at(PSYNC + 64 * number).cast() } else { std::ptr::null_mut() };
            let (w, set, n) = (pe.w, call.set.cast_const(), call.n);
            match call.kind {
                0 => asets::barrier(w, set, psync),
                1 => asets::broadcast(w, set, psync, dest, source, n * 8, call.root as i32),
                2 => asets::fcollect(w, set, psync, dest, source, n * 8),
                3 => asets::alltoall(w, set, psync, dest, source, n * 8),
                _ => asets::reduce(w, set, psync, dest, source, n as i32, i64::SUM_KERNEL),
            }
            .unwrap();
            check(pe, number, &call);
        }
        aset::delete(call.set).unwrap();
    }
    collectives::sync_all(pe.w).unwrap();
}

#[test]
fn blocking_on_sets_of_any_order() {
    for (hosts, npes) in [(&[0u32][..], 1), (&[0], 6), (&[0, 1], 2), (&[0, 3, 6, 9], 13)] {
        run(&Shape { mail: true, ..Shape::new(hosts, npes) }, |pe| (20..24).for_each(|seed| blocking(pe, seed)));
    }
}

#[test]
fn outstanding_in_any_order() {
    for (hosts, npes) in [(&[0u32][..], 1), (&[0, 1], 2), (&[0, 1, 2], 3), (&[0, 2, 3], 6), (&[0, 3, 6, 9], 13)] {
        for mail in [false, true] {
            run(&Shape { mail, ..Shape::new(hosts, npes) }, |pe| (1..5).for_each(|seed| round(pe, seed)));
        }
    }
    // All on one host.
    run(&Shape { mail: true, ..Shape::new(&[0], 8) }, |pe| (5..9).for_each(|seed| round(pe, seed)));
}
