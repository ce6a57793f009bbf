//! The functions of the API.
#![allow(unsafe_code)]

use super::barrier::{Barrier, Name};
use super::begin;
use super::reduce::{Operation, ReduceFn, USER_NC};
use super::tree::{Tree, Ways};
use crate::fail::{refuse, unrestricted};
use crate::named_barrier::no_barrier;
use crate::team::Team;
use crate::types::{Dt, EventHandle, Flags, Op, Rank, Tm};
use crate::{op, record};
use std::ffi::c_void;

/// `gex_Coll_BarrierNB`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Coll_BarrierNB(tm: Tm, _: Flags) -> EventHandle {
    const R: &str = "gex_Coll_BarrierNB";
    unrestricted(R);
    let team = Team::of(R, tm);
    no_barrier(R, team);
    record::sampled(op!(BARRIER), -1, 0, 0, || begin(Box::new(Barrier::new(team, Name::Anonymous).0)))
}

/// Memory of the client's that a collective writes when it is complete.
#[derive(Clone, Copy)]
struct Output(*mut c_void);

// SAFETY: the client keeps it until the collective is complete, whichever thread completes it.
unsafe impl Send for Output {}

impl Output {
    fn write(self, data: &[u8]) {
        if !self.0.is_null() && !data.is_empty() {
            // SAFETY: room for the result, says the caller of the collective.
            unsafe { std::ptr::copy(data.as_ptr(), self.0.cast(), data.len()) };
        }
    }
}

fn check_root(routine: &'static str, team: &Team, root: Rank) {
    if root >= team.size() {
        refuse(routine, format!("root = {root} is no rank of the team: it has {} members", team.size()))
    }
}

/// Where a member both gives and is given data, its buffers are one or do not overlap.
fn check_overlap(routine: &'static str, dest: *const c_void, source: *const c_void, bytes: usize) {
    let distance = (dest as usize).abs_diff(source as usize);
    if distance > 0 && distance < bytes {
        refuse(
            routine,
            format!("src and dst, of {bytes} bytes, begin {distance} bytes apart: they may not overlap in part"),
        )
    }
}

/// What a member gives, of so many bytes, as `argument` has it.
///
/// # Safety
/// Readable for as many bytes.
unsafe fn input(routine: &'static str, argument: &str, source: *const c_void, bytes: usize) -> Vec<u8> {
    let mut data = Vec::new();
    if data.try_reserve_exact(bytes).is_err() {
        refuse(routine, format!("{argument}: there is no memory for {bytes} bytes"))
    }
    if bytes > 0 {
        // SAFETY: the caller's.
        data.extend_from_slice(unsafe { std::slice::from_raw_parts(source.cast::<u8>(), bytes) });
    }
    data
}

/// `gex_Coll_BroadcastNB`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Coll_BroadcastNB(
    tm: Tm,
    root: Rank,
    dest: *mut c_void,
    source: *const c_void,
    bytes: usize,
    _: Flags,
) -> EventHandle {
    const R: &str = "gex_Coll_BroadcastNB";
    unrestricted(R);
    let team = Team::of(R, tm);
    no_barrier(R, team);
    check_root(R, team, root);
    let is_root = team.rank() == root;
    if is_root {
        check_overlap(R, dest, source, bytes);
    }
    // SAFETY: the root's source, says the caller.
    let data = if is_root { unsafe { input(R, &format!("nbytes = {bytes}"), source, bytes) } } else { Vec::new() };
    let output = Output(dest);
    let finish = move |data: Vec<u8>| {
        if data.len() != bytes {
            refuse(R, format!("nbytes = {bytes} here and {} on the root", data.len()))
        }
        output.write(&data);
    };
    let nothing = |_: &mut Vec<u8>, _: Vec<u8>| ();
    record::sampled(op!(BROADCAST), -1, 0, bytes, || {
        begin(Box::new(Tree::new(team, root, Ways::Down, data, nothing, finish)))
    })
}

/// `gex_Coll_ReduceToOneNB`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Coll_ReduceToOneNB(
    tm: Tm,
    root: Rank,
    dest: *mut c_void,
    source: *const c_void,
    dt: Dt,
    dt_bytes: usize,
    count: usize,
    op: Op,
    user: Option<ReduceFn>,
    cdata: *mut c_void,
    _: Flags,
) -> EventHandle {
    const R: &str = "gex_Coll_ReduceToOneNB";
    unrestricted(R);
    check_root(R, Team::of(R, tm), root);
    // SAFETY: the caller's.
    record::sampled(op!(REDUCE_ONE), -1, 0, dt_bytes.saturating_mul(count), || unsafe {
        reduce(R, tm, root, Ways::Up, dest, source, dt, dt_bytes, count, op, user, cdata)
    })
}

/// `gex_Coll_ReduceToAllNB`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_Coll_ReduceToAllNB(
    tm: Tm,
    dest: *mut c_void,
    source: *const c_void,
    dt: Dt,
    dt_bytes: usize,
    count: usize,
    op: Op,
    user: Option<ReduceFn>,
    cdata: *mut c_void,
    _: Flags,
) -> EventHandle {
    const R: &str = "gex_Coll_ReduceToAllNB";
    unrestricted(R);
    // SAFETY: the caller's.
    record::sampled(op!(REDUCE_ALL), -1, 0, dt_bytes.saturating_mul(count), || unsafe {
        reduce(R, tm, 0, Ways::Both, dest, source, dt, dt_bytes, count, op, user, cdata)
    })
}

unsafe fn reduce(
    routine: &'static str,
    tm: Tm,
    root: Rank,
    ways: Ways,
    dest: *mut c_void,
    source: *const c_void,
    dt: Dt,
    dt_bytes: usize,
    count: usize,
    op: Op,
    user: Option<ReduceFn>,
    cdata: *mut c_void,
) -> EventHandle {
    let team = Team::of(routine, tm);
    no_barrier(routine, team);
    let operation = Operation::of(routine, dt, dt_bytes, op, user, cdata);
    let Some(bytes) = dt_bytes.checked_mul(count) else {
        refuse(routine, format!("dt_cnt = {count} elements of {dt_bytes} bytes are no object"))
    };
    if bytes == 0 {
        refuse(routine, format!("dt_sz = {dt_bytes} and dt_cnt = {count}: neither may be 0"))
    }
    if ways == Ways::Both || team.rank() == root {
        check_overlap(routine, dest, source, bytes);
    }
    // SAFETY: the caller's.
    let data = unsafe { input(routine, &format!("dt_sz = {dt_bytes} and dt_cnt = {count}"), source, bytes) };
    let output = Output(dest);
    let combine = move |left: &mut Vec<u8>, right: Vec<u8>| operation.combine(left, &right);
    // A tree combines operands in the order of ranks from its root on; what does not commute begins with rank 0.
    let is_ordered = op == USER_NC && ways == Ways::Up;
    let (top, ways) = if is_ordered { (0, Ways::Both) } else { (root, ways) };
    let has_result = !is_ordered || team.rank() == root;
    let finish = move |data: Vec<u8>| {
        if has_result {
            output.write(&data);
        }
    };
    begin(Box::new(Tree::new(team, top, ways, data, combine, finish)))
}
