//! Blocking collectives on explicit active sets (extensions, section 3.1): with a work array as the deprecated
//! routines, without one by messages, in the order of the calls.

use super::active::{self, ActiveSet};
use super::kernel::Kernel;
use super::nonblocking::{self, Group, complete, give};
use crate::base::Fault;
use crate::context::order;
use crate::request::Request;
use crate::team::World;
use crate::team::aset::{self, Aset, Opaque};
use std::sync::Arc;

/// Completes all stores and waits for the set.
pub fn barrier(w: &'static World, set: *const Opaque, psync: *mut i64) -> Result<(), Fault> {
    w.map.ready()?;
    let later = order::quiet_before(&w.map)?;
    synchronize(w, set, psync, true)?;
    order::told(later)
}

/// Waits for the set.
pub fn sync(w: &'static World, set: *const Opaque, psync: *mut i64) -> Result<(), Fault> {
    w.map.ready()?;
    synchronize(w, set, psync, false)
}

/// As [`sync`]; `completes`: in a barrier.
fn synchronize(w: &'static World, set: *const Opaque, psync: *mut i64, completes: bool) -> Result<(), Fault> {
    let set = aset::get(set)?;
    if psync.is_null() {
        return complete(w, nonblocking::synchronize(w, Group::Set(&set, psync), completes));
    }
    active::synchronize(w, ActiveSet::Explicit(&set, psync), completes)
}

/// Copies from member `root` to all others; the root's own `dest` is not written.
pub fn broadcast(
    w: &'static World,
    set: *const Opaque,
    psync: *mut i64,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
) -> Result<(), Fault> {
    w.map.ready()?;
    let set = aset::get(set)?;
    if psync.is_null() {
        return complete(w, nonblocking::broadcast(w, Group::Set(&set, psync), dest, source, bytes, root));
    }
    active::broadcast(w, ActiveSet::Explicit(&set, psync), dest, source, bytes, root)
}

macro_rules! gathers {
    ($($what:literal, $name:ident;)*) => { $(
        #[doc = $what]
        pub fn $name(
            w: &'static World,
            set: *const Opaque,
            psync: *mut i64,
            dest: *mut u8,
            source: *const u8,
            bytes: usize,
        ) -> Result<(), Fault> {
            w.map.ready()?;
            let set = aset::get(set)?;
            if psync.is_null() {
                return complete(w, nonblocking::$name(w, Group::Set(&set, psync), dest, source, bytes));
            }
            active::$name(w, ActiveSet::Explicit(&set, psync), dest, source, bytes)
        }
    )* };
}

gathers! {
    "Concatenates what each member gives; sizes may differ.", collect;
    "Concatenates as many bytes of each member.", fcollect;
    "Block `i` of each member's `source` goes to member `i`.", alltoall;
}

/// Combines elements of all members into `dest` on each; `dest` may be `source`.
pub fn reduce(
    w: &'static World,
    set: *const Opaque,
    psync: *mut i64,
    dest: *mut u8,
    source: *const u8,
    nreduce: i32,
    kernel: Kernel,
) -> Result<(), Fault> {
    w.map.ready()?;
    let set = aset::get(set)?;
    if psync.is_null() {
        let nelems = nonblocking::count(nreduce)?;
        return complete(w, nonblocking::reduce(w, Group::Set(&set, psync), dest, source, nelems, kernel));
    }
    active::reduce(w, ActiveSet::Explicit(&set, psync), dest, source, nreduce, kernel)
}

/// The set of a nonblocking call.
fn ready(w: &World, set: *const Opaque) -> Result<Arc<Aset>, Fault> {
    w.map.ready()?;
    aset::get(set)
}

/// Nonblocking [`barrier`]. So for the next ones.
pub fn barrier_nb(w: &'static World, set: *const Opaque, psync: *mut i64, request: *mut Request) -> Result<(), Fault> {
    give(request, nonblocking::barrier(w, Group::Set(&*ready(w, set)?, psync), true)).map(drop)
}

/// Nonblocking [`sync`].
pub fn sync_nb(w: &'static World, set: *const Opaque, psync: *mut i64, request: *mut Request) -> Result<(), Fault> {
    give(request, nonblocking::barrier(w, Group::Set(&*ready(w, set)?, psync), false)).map(drop)
}

/// Nonblocking [`broadcast`].
#[allow(clippy::too_many_arguments)] // the paper's own list
pub fn broadcast_nb(
    w: &'static World,
    set: *const Opaque,
    psync: *mut i64,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
    request: *mut Request,
) -> Result<(), Fault> {
    give(request, nonblocking::broadcast(w, Group::Set(&*ready(w, set)?, psync), dest, source, bytes, root)).map(drop)
}

/// Nonblocking [`reduce`].
#[allow(clippy::too_many_arguments)] // the paper's own list
pub fn reduce_nb(
    w: &'static World,
    set: *const Opaque,
    psync: *mut i64,
    dest: *mut u8,
    source: *const u8,
    nreduce: i32,
    kernel: Kernel,
    request: *mut Request,
) -> Result<(), Fault> {
    let nelems = nonblocking::count(nreduce)?;
    give(request, nonblocking::reduce(w, Group::Set(&*ready(w, set)?, psync), dest, source, nelems, kernel)).map(drop)
}

macro_rules! nonblocking_gathers {
    ($($name:ident, $of:ident;)*) => { $(
        #[doc = concat!("Nonblocking [`", stringify!($of), "`].")]
        pub fn $name(
            w: &'static World,
            set: *const Opaque,
            psync: *mut i64,
            dest: *mut u8,
            source: *const u8,
            bytes: usize,
            request: *mut Request,
        ) -> Result<(), Fault> {
            give(request, nonblocking::$of(w, Group::Set(&*ready(w, set)?, psync), dest, source, bytes)).map(drop)
        }
    )* };
}

nonblocking_gathers! {
    collect_nb, collect;
    fcollect_nb, fcollect;
    alltoall_nb, alltoall;
}
