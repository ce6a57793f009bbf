//! The collectives of GASNet-1, which no specification has: as old clients call them, each process one image.
//!
//! Each is complete when it returns. Barriers before and after it are those that its flags ask for.
#![allow(unsafe_code)]

use super::barrier::{Barrier, Name};
use super::{gather_all, run};
use crate::fail::{refuse, unrestricted};
use crate::named_barrier::no_barrier;
use crate::team::Team;
use crate::types::{Rank, Tm};
use crate::{op, record};
use std::ffi::{c_int, c_void};

/// `GASNET_COLL_IN_ALLSYNC` and `GASNET_COLL_OUT_ALLSYNC`
const IN_ALL: c_int = 4;
const OUT_ALL: c_int = 32;

/// Data of a member.
///
/// # Safety
/// Readable for as many bytes.
unsafe fn input<'a>(source: *const c_void, bytes: usize) -> &'a [u8] {
    // SAFETY: the caller's.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(source.cast(), bytes) } }
}

/// # Safety
/// Writable for as many bytes.
unsafe fn output(dest: *mut c_void, at: usize, data: &[u8]) {
    // SAFETY: the caller's; the data may lie there already.
    unsafe { std::ptr::copy(data.as_ptr(), dest.cast::<u8>().add(at), data.len()) };
}

/// A collective: what each gives, and what is done with what all gave.
fn collective(
    routine: &'static str,
    tm: Tm,
    bytes: usize,
    flags: c_int,
    mine: &[u8],
    then: impl FnOnce(&Team, &[Vec<u8>]),
) {
    unrestricted(routine);
    let team = Team::of(routine, tm);
    no_barrier(routine, team);
    record::timed(op!(OLD_COLL), -1, 0, bytes, || {
        let meet = || run(routine, Barrier::new(team, Name::Anonymous).0);
        if flags & IN_ALL != 0 {
            meet();
        }
        let all = gather_all(routine, team, mine);
        let wrong = all.iter().position(|theirs| !theirs.is_empty() && theirs.len() != mine.len() && !mine.is_empty());
        if let Some(rank) = wrong {
            refuse(routine, format!("{} bytes here, and {} of rank {rank}", mine.len(), all[rank].len()))
        }
        then(team, &all);
        if flags & OUT_ALL != 0 {
            meet();
        }
    });
}

fn check_root(routine: &'static str, tm: Tm, root: Rank) -> bool {
    unrestricted(routine);
    let team = Team::of(routine, tm);
    if root >= team.size() {
        refuse(routine, format!("image {root} is none: the team has {}", team.size()))
    }
    team.rank() == root
}

/// `gasnet_coll_broadcast`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_coll_broadcast(
    tm: Tm,
    dest: *mut c_void,
    root: Rank,
    source: *const c_void,
    bytes: usize,
    flags: c_int,
) {
    const R: &str = "gasnet_coll_broadcast";
    let is_root = check_root(R, tm, root);
    // SAFETY: the caller's; so below.
    let mine = if is_root { unsafe { input(source, bytes) } } else { &[] };
    collective(R, tm, bytes, flags, mine, |_, all| {
        // SAFETY: see above.
        unsafe { output(dest, 0, &all[root as usize]) };
    });
}

/// `gasnet_coll_scatter`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_coll_scatter(
    tm: Tm,
    dest: *mut c_void,
    root: Rank,
    source: *const c_void,
    bytes: usize,
    flags: c_int,
) {
    const R: &str = "gasnet_coll_scatter";
    let size = Team::of(R, tm).size() as usize;
    let is_root = check_root(R, tm, root);
    // SAFETY: see above.
    let mine = if is_root { unsafe { input(source, bytes * size) } } else { &[] };
    collective(R, tm, bytes, flags, mine, |team, all| {
        let from = team.rank() as usize * bytes;
        // SAFETY: see above.
        unsafe { output(dest, 0, &all[root as usize][from..from + bytes]) };
    });
}

/// `gasnet_coll_gather`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_coll_gather(
    tm: Tm,
    root: Rank,
    dest: *mut c_void,
    source: *const c_void,
    bytes: usize,
    flags: c_int,
) {
    const R: &str = "gasnet_coll_gather";
    let is_root = check_root(R, tm, root);
    // SAFETY: see above.
    let mine = unsafe { input(source, bytes) };
    collective(R, tm, bytes, flags, mine, |_, all| {
        for (rank, theirs) in all.iter().enumerate().filter(|_| is_root) {
            // SAFETY: see above.
            unsafe { output(dest, rank * bytes, theirs) };
        }
    });
}

/// `gasnet_coll_gather_all`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_coll_gather_all(
    tm: Tm,
    dest: *mut c_void,
    source: *const c_void,
    bytes: usize,
    flags: c_int,
) {
    const R: &str = "gasnet_coll_gather_all";
    // SAFETY: see above.
    let mine = unsafe { input(source, bytes) };
    collective(R, tm, bytes, flags, mine, |_, all| {
        for (rank, theirs) in all.iter().enumerate() {
            // SAFETY: see above.
            unsafe { output(dest, rank * bytes, theirs) };
        }
    });
}

/// `gasnet_coll_exchange`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_coll_exchange(
    tm: Tm,
    dest: *mut c_void,
    source: *const c_void,
    bytes: usize,
    flags: c_int,
) {
    const R: &str = "gasnet_coll_exchange";
    let size = Team::of(R, tm).size() as usize;
    // SAFETY: see above.
    let mine = unsafe { input(source, bytes * size) };
    collective(R, tm, bytes, flags, mine, |team, all| {
        let from = team.rank() as usize * bytes;
        for (rank, theirs) in all.iter().enumerate() {
            // SAFETY: see above.
            unsafe { output(dest, rank * bytes, &theirs[from..from + bytes]) };
        }
    });
}
