//! Another copy of this library in the process: `libsma` beside a library of GASNet-EX, which has all of it, too.
//!
//! What the program and its tools call is of the copy that the loader finds first. The other one keeps out of it.
#![allow(unsafe_code)]

use super::objects::{self, Object};
use super::{exports, load};
use crate::entry;

/// A name that no other library has: programs may have `shmem_` routines of their own, in a `libsma` of theirs.
const OURS: &str = "pellucid_fortran_my_pe";

/// Whether an object has a copy of this library.
pub fn is_one(object: &Object) -> bool {
    exports::first(object, |name| name == OURS).is_some()
}

/// The object with another copy in which names are found before they are in this one.
pub fn in_front() -> Option<Object> {
    if !load::has_loader() {
        return None;
    }
    let found = load::symbol(libc::RTLD_DEFAULT as usize, OURS);
    let object = objects::all().into_iter().find(|object| object.contains(found))?;
    (!object.contains(entry::first())).then_some(object)
}
