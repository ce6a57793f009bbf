//! Whether all PEs allocate the same array.
#![allow(unsafe_code)]

use std::ptr::NonNull;

use crate::{Error, Pe, Shmem, ffi};

/// Elements of an array, and bytes of each.
type Shape = [u64; 2];

/// A symmetric block, by which the PEs compare.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Shapes {
    /// This PE's, and its complement: the greatest complement is that of the least.
    own: [Shape; 2],
    /// The greatest of these among all PEs.
    greatest: [Shape; 2],
}

impl Shmem {
    /// Made with the first array, by all PEs, and there until the library is finalized.
    pub(crate) fn shapes(&self) -> Result<NonNull<Shapes>, Error> {
        if let Some(shapes) = self.shapes.get() {
            return Ok(shapes);
        }
        // SAFETY: initialized, as self is there.
        let made = unsafe { ffi::shmem_calloc(1, size_of::<Shapes>()) };
        self.shapes.set(NonNull::new(made.cast()));
        self.shapes.get().ok_or(Error::NoRoom { bytes: size_of::<Shapes>() })
    }

    /// Panics on all PEs where these give different shapes: an index that is checked against this PE's length has to be
    /// one on every PE.
    pub(crate) fn compare_shapes(&self, shapes: NonNull<Shapes>, own: Shape) {
        if all_have(shapes.as_ptr(), own) {
            return;
        }
        let world = self.world();
        let mut all = world.pes().map(|pe| (pe.number(), shape_of(shapes.as_ptr(), pe)));
        let (pe, [len, size]) = all.next().expect("a job has a PE 0");
        let other = all.find(|(_, shape)| *shape != [len, size]);
        // Nobody ends the job before all have read.
        self.sync_all();
        let (other_pe, [other_len, other_size]) = other.expect("one that differs from PE 0");
        panic!(
            "all PEs allocate an array together, but PE {pe} one of {len} elements of {size} bytes, and PE {other_pe} \
             one of {other_len} elements of {other_size} bytes"
        )
    }
}

/// Whether this PE's shape is that of all.
fn all_have(shapes: *mut Shapes, own: Shape) -> bool {
    let complement = own.map(|word| !word);
    // SAFETY: a block of these words on every PE, which nobody writes to meanwhile but the reduction.
    let greatest = unsafe {
        (*shapes).own = [own, complement];
        let (dest, source) = ((&raw mut (*shapes).greatest).cast(), (&raw const (*shapes).own).cast());
        ffi::shmem_uint64_max_reduce(ffi::TEAM_WORLD, dest, source, 4);
        (*shapes).greatest
    };
    greatest == [own, complement]
}

/// What a PE has given.
fn shape_of(shapes: *const Shapes, pe: Pe) -> Shape {
    let mut shape = [0; 2];
    // SAFETY: a block that all PEs have, and as many bytes here.
    unsafe {
        let from = (&raw const (*shapes).own[0]).cast();
        ffi::shmem_ctx_getmem(ffi::CTX_DEFAULT, shape.as_mut_ptr().cast(), from, size_of::<Shape>(), pe.0);
    }
    shape
}
